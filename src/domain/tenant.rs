//! A tenant: provider, reseller, customer or site.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Object, Reader, Setting},
    layer::{Layer, Reset},
    profile::ProfileRef,
    secret::Secret,
    text::{Slug, Text},
};

/// The tenant that exists from the start.
pub const DEFAULT_TENANT: &str = "default";

/// Tenants are at most this deep (provider → reseller → customer → site).
pub const MAX_TENANT_DEPTH: usize = 4;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Tenant {
    /// Name in paths, unique in the server.
    pub id: Slug,
    /// For people.
    #[schema(required = false)]
    pub name: Text,
    /// The tenant above.
    #[schema(nullable)]
    pub parent: Option<Slug>,
    /// Salt of the spread: printable, at most 64 bytes; absent means the nearest ancestor's.
    pub salt: Option<String>,
    /// Profile of devices that name none.
    #[schema(value_type = Option<String>)]
    pub profile: Option<ProfileRef>,
    /// Settings, keys, raw parameters, resets.
    #[serde(flatten)]
    pub layer: Layer,
}

impl Tenant {
    /// Reads a document. The second part is the `resets` that were sent, if any.
    pub fn read(value: &Value, id: Option<&Slug>, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        let mut object = reader.object(value)?;
        let id = read_id(&mut object, value, id, reader);
        let name = object.take(reader, "name", Text::read).unwrap_or_default();
        let parent = object.take(reader, "parent", Slug::read);
        let salt = object.take(reader, "salt", |v, r| {
            let text = r.text(v, 64)?;
            if text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
                return Some(text);
            }
            r.fail("not_printable", "a salt is printable ASCII, at most 64 bytes");
            None
        });
        let profile = object.take(reader, "profile", ProfileRef::reader(Some(&id)));
        let (layer, resets) = Layer::read(&mut object, reader);
        object.ignore(&["revision"]);
        object.finish(reader);
        Some((Self { id, name, parent, salt, profile, layer }, resets))
    }

    /// Visits every secret by its pointer.
    pub fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.layer.secrets(visit);
    }
}

/// The id of a document, which must agree with the id of the path. Where there is none to be had the errors say so.
pub(super) fn read_id(object: &mut Object<'_>, value: &Value, path: Option<&Slug>, reader: &mut Reader) -> Slug {
    let own = object.take(reader, "id", Slug::read);
    let unreadable = own.is_none() && value.get("id").is_some_and(|id| !id.is_null());
    let id = if unreadable { path.cloned() } else { same_id(own, path, reader) };
    id.unwrap_or_else(Slug::unread)
}

/// The id of the path and the id of the document must agree.
pub(super) fn same_id<T: Clone + PartialEq>(own: Option<T>, path: Option<&T>, reader: &mut Reader) -> Option<T> {
    match (own, path) {
        (Some(own), Some(path)) if own != *path => {
            reader.at("id", |r| r.fail("id_differs", "the id of the document differs from the id of the path"));
            None
        }
        (None, None) => {
            reader.at("id", |r| r.fail("required", "this field is required"));
            None
        }
        (own, path) => own.or_else(|| path.cloned()),
    }
}
