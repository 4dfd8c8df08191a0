//! A device: one phone, adapter, base or client.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Reader, Setting},
    layer::{Layer, Reset},
    line::Line,
    mac::Mac,
    profile::ProfileRef,
    secret::Secret,
    tenant::{DEFAULT_TENANT, same_id},
    text::{Slug, Text},
};

/// What stands on positions that no key names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// One `line` key per appearance, from position 1.
    #[default]
    Lines,
    /// Nothing.
    None,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Device {
    /// Its hardware address, unique in the server.
    #[schema(value_type = String, example = "805ec0123456")]
    pub mac: Mac,
    /// Tenant it belongs to.
    #[schema(required = false)]
    pub tenant: Slug,
    /// Its profile; absent means the tenant's.
    #[schema(value_type = Option<String>)]
    pub profile: Option<ProfileRef>,
    /// Vendor pack.
    #[schema(required = false)]
    pub vendor: String,
    /// Model by the vendor's own name.
    pub model: Option<Text>,
    /// Firmware version, set by administrators.
    pub firmware: Option<Text>,
    /// Expansion modules by name, in order.
    #[schema(required = false)]
    pub modules: Vec<Text>,
    /// For people.
    #[schema(required = false)]
    pub name: Text,
    /// A disabled device is served nothing.
    #[schema(required = false)]
    pub enabled: bool,
    /// What stands on positions that no key names.
    #[schema(required = false)]
    pub fill: Fill,
    /// SIP accounts.
    #[schema(required = false)]
    pub lines: Vec<Line>,
    /// Settings, keys, raw parameters, resets.
    #[serde(flatten)]
    pub layer: Layer,
}

impl Device {
    /// Reads a document. `vendor` may be absent (then empty here, for the caller to fill from the MAC's
    /// prefix). The second part is the `resets` that were sent, if any.
    pub fn read(value: &Value, mac: Option<Mac>, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        let mut object = reader.object(value)?;
        let own = object.take(reader, "mac", read_mac);
        let sent = own.is_some() || value.get("mac").is_none_or(Value::is_null);
        let mac = if sent { same_mac(own, mac, reader) } else { None };
        let tenant = object.take(reader, "tenant", Slug::read).or_else(|| Slug::parse(DEFAULT_TENANT))?;
        let profile = object.take(reader, "profile", ProfileRef::reader(Some(&tenant)));
        let vendor = object.take(reader, "vendor", |v, r| r.text(v, 64)).unwrap_or_default();
        let model = object.take(reader, "model", Text::read).filter(|text| !text.as_str().is_empty());
        let firmware = object.take(reader, "firmware", Text::read).filter(|text| !text.as_str().is_empty());
        let modules = object.take(reader, "modules", |v, r| r.list(v, 16, Text::read)).unwrap_or_default();
        let name = object.take(reader, "name", Text::read).unwrap_or_default();
        let enabled = object.take(reader, "enabled", <bool as Setting>::read).unwrap_or(true);
        let fill = object.take(reader, "fill", |v, r| r.choice(v)).unwrap_or_default();
        let lines = object.take(reader, "lines", Line::read_list).unwrap_or_default();
        let (layer, resets) = Layer::read(&mut object, reader);
        object.ignore(&["revision", "warnings", "errors", "checked_in", "last_refused", "reported"]);
        object.finish(reader);
        let device =
            Self { mac: mac.unwrap_or(Mac::UNREAD), tenant, profile, vendor, model, firmware, modules, name, enabled, fill, lines, layer };
        Some((device, resets))
    }

    /// The model, empty where unknown.
    pub fn model_name(&self) -> &str {
        self.model.as_ref().map_or("", Text::as_str)
    }

    /// The firmware, empty where unknown.
    pub fn firmware_name(&self) -> &str {
        self.firmware.as_ref().map_or("", Text::as_str)
    }

    /// Visits every secret by its pointer; those of lines by line number.
    pub fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.layer.secrets(visit);
        for line in &mut self.lines {
            line.secrets(&mut String::new(), visit);
        }
    }
}

fn read_mac(value: &Value, reader: &mut Reader) -> Option<Mac> {
    let text = reader.text(value, 64)?;
    text.parse().map_err(|error: super::mac::MacError| reader.fail("not_a_mac", error.to_string())).ok()
}

fn same_mac(own: Option<Mac>, path: Option<Mac>, reader: &mut Reader) -> Option<Mac> {
    if own.is_none() && path.is_none() {
        reader.at("mac", |r| r.fail("required", "this field is required"));
        return None;
    }
    if let (Some(own), Some(path)) = (own, path)
        && own != path
    {
        reader.at("mac", |r| r.fail("id_differs", "the MAC of the document differs from the MAC of the path"));
        return None;
    }
    same_id(own, path.as_ref(), reader)
}
