//! What tenants, profiles and devices have in common: settings, keys, raw parameters, resets.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Object, Reader, Setting, push_pointer},
    key::Key,
    secret::{MaybeSecret, Secret},
    settings::Settings,
};

/// Raw parameters by selector (`"<vendor>"` or `"<vendor>/<model>"`), then by the vendor's own name.
pub type Parameters = BTreeMap<String, BTreeMap<String, MaybeSecret>>;

/// A setting that was taken away and is to go back to the phone's own default.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Reset {
    /// JSON pointer of the setting in the layer's document.
    pub path: String,
    /// What it was last, where that is no secret: tells which parameters carried it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub was: Option<Value>,
}

/// One layer of what a device is configured with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Layer {
    /// Typed settings.
    #[schema(required = false)]
    pub settings: Settings,
    /// Programmable keys; absent means untouched, `[]` clears.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<Key>>,
    /// Whatever the typed settings do not cover.
    #[schema(value_type = Object, required = false)]
    pub parameters: Parameters,
    /// Settings that go back to the phone's default.
    #[schema(required = false)]
    pub resets: Vec<Reset>,
}

impl Layer {
    /// Takes the four fields of a layer out of a document. `resets` that are absent stay `None`.
    pub fn read(object: &mut Object<'_>, reader: &mut Reader) -> (Self, Option<Vec<Reset>>) {
        let layer = Self {
            settings: object.take(reader, "settings", Settings::read).unwrap_or_default(),
            keys: object.take(reader, "keys", Key::read_list),
            parameters: object.take(reader, "parameters", read_parameters).unwrap_or_default(),
            resets: Vec::new(),
        };
        let resets = object.take(reader, "resets", |value, r| r.list(value, usize::MAX, read_reset));
        (layer, resets)
    }

    /// Visits every secret of the layer by its pointer.
    pub fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.settings.secrets(&mut String::from("/settings"), visit);
        self.parameters.secrets(&mut String::from("/parameters"), visit);
        for key in self.keys.iter_mut().flatten() {
            key.secrets(&mut String::from("/keys"), visit);
        }
    }
}

fn read_reset(value: &Value, reader: &mut Reader) -> Option<Reset> {
    let mut object = reader.object(value)?;
    let path = object.require(reader, "path", |v, r| r.text(v, 1024));
    let was = object.take(reader, "was", |v, _| Some(v.clone()));
    object.finish(reader);
    Some(Reset { path: path?, was })
}

fn read_parameters(value: &Value, reader: &mut Reader) -> Option<Parameters> {
    Parameters::read(value, reader)
}

/// The pointer of one raw parameter.
pub fn parameter_pointer(selector: &str, name: &str) -> String {
    let mut path = String::from("/parameters");
    push_pointer(&mut path, selector);
    push_pointer(&mut path, name);
    path
}
