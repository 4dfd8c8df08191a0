//! Programmable keys of a phone and its expansion modules.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Reader, Setting, push_pointer},
    secret::{MaybeSecret, Secret},
};

/// Keys of one layer: as many as there are places.
const MAX_KEYS: usize = 17_000;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    /// An appearance of a line.
    Line,
    /// Busy lamp of an extension.
    Blf,
    /// Busy lamp from the server's list.
    BlfList,
    /// Dials a number.
    SpeedDial,
    /// Monitors a parking slot: idle parks, lit retrieves.
    Park,
    /// Picks up a call of an extension.
    Pickup,
    /// Picks up a call of the group.
    GroupPickup,
    /// Message waiting and voicemail.
    Voicemail,
    /// Sends digits in a call.
    Dtmf,
    /// Calls with immediate answer.
    Intercom,
    /// Transfers the call.
    Transfer,
    /// Holds the call.
    Hold,
    /// Starts a conference.
    Conference,
    /// Forwards calls.
    Forward,
    /// Do not disturb.
    Dnd,
    /// Records the call.
    Record,
    /// An appearance of a shared line.
    SharedLine,
    /// Opens the directory.
    Directory,
    /// Dials a prefix and waits for more.
    Prefix,
    /// Fetches a URL.
    Url,
    /// Nothing: the key is cleared.
    None,
    /// As the layers below have it.
    Inherit,
    /// The vendor's own code.
    Raw,
}

impl KeyType {
    /// The word in documents and in the code tables of the vendor packs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Blf => "blf",
            Self::BlfList => "blf_list",
            Self::SpeedDial => "speed_dial",
            Self::Park => "park",
            Self::Pickup => "pickup",
            Self::GroupPickup => "group_pickup",
            Self::Voicemail => "voicemail",
            Self::Dtmf => "dtmf",
            Self::Intercom => "intercom",
            Self::Transfer => "transfer",
            Self::Hold => "hold",
            Self::Conference => "conference",
            Self::Forward => "forward",
            Self::Dnd => "dnd",
            Self::Record => "record",
            Self::SharedLine => "shared_line",
            Self::Directory => "directory",
            Self::Prefix => "prefix",
            Self::Url => "url",
            Self::None => "none",
            Self::Inherit => "inherit",
            Self::Raw => "raw",
        }
    }
}

/// One programmable key.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Key {
    /// 0 is the phone itself, 1.. its expansion modules.
    #[schema(required = false)]
    pub module: u32,
    /// From 1.
    pub position: u32,
    /// What it does.
    #[serde(rename = "type")]
    pub kind: KeyType,
    /// With type `raw`: the vendor's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The line it uses, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The number, extension, slot, digits or URL; a URL with user info is a secret as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<MaybeSecret>,
    /// Text beside the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Code that picks up the monitored call, in place of `calling.pickup_code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pickup: Option<String>,
    /// Leave the key out on the device whose own line it would monitor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_self: Option<bool>,
}

impl Key {
    /// Reads one key.
    pub fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let mut object = reader.object(value)?;
        let module = object.take(reader, "module", |v, r| r.integer(v, 0, 16)).unwrap_or(0);
        let position = object.require(reader, "position", |v, r| r.integer(v, 1, 1000));
        let kind = object.require(reader, "type", |v, r| r.choice::<KeyType>(v));
        let code = object.take(reader, "code", |v, r| r.text(v, 64));
        let line = object.take(reader, "line", |v, r| r.integer(v, 1, 1000));
        let text = object.take(reader, "value", |v, r| MaybeSecret::read_short(v, r, 512));
        let label = object.take(reader, "label", |v, r| r.text(v, 128));
        let pickup = object.take(reader, "pickup", |v, r| r.text(v, 64));
        let skip_self = object.take(reader, "skip_self", <bool as Setting>::read);
        object.finish(reader);
        let kind = kind?;
        if (kind == KeyType::Raw) != code.is_some() {
            reader.at("code", |r| r.fail("code_and_type", "a code goes with the type \"raw\", and with no other"));
        }
        Some(Self { module, position: position?, kind, code, line, value: text, label, pickup, skip_self })
    }

    /// Visits the value where it is a secret, below `/keys/<module>/<position>`: it is kept by the place of the key.
    pub fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        let length = path.len();
        push_pointer(path, &self.module.to_string());
        push_pointer(path, &self.position.to_string());
        push_pointer(path, "value");
        if let Some(value) = &mut self.value {
            value.secrets(path, visit);
        }
        path.truncate(length);
    }

    /// Reads the keys of one layer; two on one position are refused.
    pub fn read_list(value: &Value, reader: &mut Reader) -> Option<Vec<Self>> {
        let mut seen = std::collections::BTreeSet::new();
        reader.list(value, MAX_KEYS, |item, r| {
            let key = Self::read(item, r)?;
            if !seen.insert((key.module, key.position)) {
                r.at("position", |r| r.fail("duplicate_key", format!("module {} has two keys on position {}", key.module, key.position)));
            }
            Some(key)
        })
    }
}
