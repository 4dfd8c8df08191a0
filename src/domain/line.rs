//! A line of a device: one SIP account.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Reader, Setting, field_leaves, field_secrets, overlay_field, push_pointer, split_pointer},
    secret::Secret,
    settings::Sip,
    text::Text,
    timer::Timers,
};

/// How a line is shared with other phones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// Not shared.
    None,
    /// Shared call appearance (BroadSoft SCA).
    Sca,
    /// Bridged line appearance (draft-anil-sipping-bla).
    Bla,
}

impl Shared {
    /// The word in documents and in the code tables of the vendor packs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sca => "sca",
            Self::Bla => "bla",
        }
    }
}

/// One SIP account of a device.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Line {
    /// From 1, unique on the device.
    pub line: u32,
    /// User part of the address of record.
    pub user: Text,
    /// User name for authentication; the user where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_user: Option<Text>,
    /// Password; write-only; null where none is stored.
    pub password: Option<Secret>,
    /// Name shown to others; the user where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<Text>,
    /// Text on the phone's screen; the display name where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
    /// Number that the voicemail key dials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voicemail_number: Option<Text>,
    /// Line keys the account takes, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appearances: Option<u32>,
    /// How the line is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
    /// Address of the server's BLF list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blf_list_uri: Option<Text>,
    /// SIP settings of this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sip: Option<Sip>,
    /// Timers of this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timers: Option<Timers>,
}

impl Line {
    /// Reads one line.
    pub fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let mut object = reader.object(value)?;
        let line = object.require(reader, "line", |v, r| r.integer(v, 1, 1000));
        let user = object.require(reader, "user", Text::read);
        let read = Self {
            line: line.unwrap_or_default(),
            user: user.clone().unwrap_or_default(),
            auth_user: object.take(reader, "auth_user", Text::read),
            password: object.take(reader, "password", Secret::read),
            display_name: object.take(reader, "display_name", Text::read),
            label: object.take(reader, "label", Text::read),
            voicemail_number: object.take(reader, "voicemail_number", Text::read),
            appearances: object.take(reader, "appearances", |v, r| r.integer(v, 1, 100)),
            shared: object.take(reader, "shared", |v, r| r.choice(v)),
            blf_list_uri: object.take(reader, "blf_list_uri", Text::read),
            sip: object.take(reader, "sip", Sip::read),
            timers: object.take(reader, "timers", Timers::read),
        };
        object.finish(reader);
        if user.is_some_and(|user| user.as_str().is_empty()) {
            reader.at("user", |r| r.fail("required", "a line needs a user"));
        }
        line.map(|_| read)
    }

    /// Reads the lines of a device; two of one number are refused. Stored in order of their number.
    pub fn read_list(value: &Value, reader: &mut Reader) -> Option<Vec<Self>> {
        let mut seen = std::collections::BTreeSet::new();
        let mut lines = reader.list(value, 1000, |item, r| {
            let line = Self::read(item, r)?;
            if !seen.insert(line.line) {
                r.at("line", |r| r.fail("duplicate_line", format!("line {} is given twice", line.line)));
            }
            Some(line)
        })?;
        lines.sort_by_key(|line| line.line);
        Some(lines)
    }

    /// Calls `visit` for each optional leaf that is set, below `/lines/<line>`.
    pub fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        let length = path.len();
        push_pointer(path, "lines");
        push_pointer(path, &self.line.to_string());
        field_leaves(self.voicemail_number.as_ref(), "voicemail_number", path, visit);
        field_leaves(self.blf_list_uri.as_ref(), "blf_list_uri", path, visit);
        if let Some(shared) = self.shared {
            visit(&format!("{path}/shared"), serde_json::json!(shared));
        }
        field_leaves(self.sip.as_ref(), "sip", path, visit);
        field_leaves(self.timers.as_ref(), "timers", path, visit);
        path.truncate(length);
    }

    /// Sets the optional leaf at `pointer` (`/sip/dtmf`) to `value`, or to a sample of its type.
    pub fn plant(&mut self, pointer: &str, value: Option<&Value>) {
        let mut ignore = |_: &str| {};
        let (head, tail) = split_pointer(pointer).unwrap_or_default();
        match head.as_str() {
            "voicemail_number" => self.voicemail_number = Text::plant(tail, value),
            "blf_list_uri" => self.blf_list_uri = Text::plant(tail, value),
            "shared" => self.shared = Some(Shared::Sca),
            "sip" => overlay_field(&mut self.sip, Sip::plant(tail, value).as_ref(), "sip", &mut String::new(), &mut ignore),
            "timers" => overlay_field(&mut self.timers, Timers::plant(tail, value).as_ref(), "timers", &mut String::new(), &mut ignore),
            _ => {}
        }
    }

    /// Takes the optional leaf at `pointer` away.
    pub fn prune(&mut self, pointer: &str) {
        let (head, tail) = split_pointer(pointer).unwrap_or_default();
        match head.as_str() {
            "voicemail_number" => self.voicemail_number = None,
            "blf_list_uri" => self.blf_list_uri = None,
            "shared" => self.shared = None,
            "sip" => _ = self.sip.as_mut().map(|sip| sip.prune(tail)),
            "timers" => _ = self.timers.as_mut().map(|timers| timers.prune(tail)),
            _ => {}
        }
    }

    /// Visits the password below `/lines/<line>`: a secret is kept by line number, not by index.
    pub fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        let length = path.len();
        push_pointer(path, "lines");
        push_pointer(path, &self.line.to_string());
        field_secrets(self.password.as_mut(), "password", path, visit);
        path.truncate(length);
    }
}
