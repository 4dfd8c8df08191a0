//! A profile: settings that devices share.

use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Reader, Setting},
    layer::{Layer, Reset},
    secret::Secret,
    tenant::read_id,
    text::{Slug, Text},
};

/// A chain of profiles is at most this long.
pub const MAX_PROFILE_DEPTH: usize = 8;

/// A profile by tenant and id. Written `"<id>"` within its own tenant, `"<tenant>/<id>"` of an ancestor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileRef {
    /// Tenant that owns the profile.
    pub tenant: Slug,
    /// Its id there.
    pub id: Slug,
}

impl ProfileRef {
    /// Reads `"<id>"` (of `home`) or `"<tenant>/<id>"`.
    pub fn parse(text: &str, home: Option<&Slug>) -> Option<Self> {
        match text.split_once('/') {
            Some((tenant, id)) => Some(Self { tenant: Slug::parse(tenant)?, id: Slug::parse(id)? }),
            None => Some(Self { tenant: home?.clone(), id: Slug::parse(text)? }),
        }
    }

    /// A reader of references for documents of the tenant `home`.
    pub fn reader(home: Option<&Slug>) -> impl Fn(&Value, &mut Reader) -> Option<Self> + '_ {
        move |value, reader| {
            let text = reader.text(value, 130)?;
            let parsed = Self::parse(&text, home);
            if parsed.is_none() && home.is_some() {
                reader.fail("not_a_profile", "expected \"<id>\" or \"<tenant>/<id>\"");
            }
            parsed
        }
    }
}

impl std::fmt::Display for ProfileRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.tenant, self.id)
    }
}

impl Serialize for ProfileRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Profile {
    /// Tenant it belongs to.
    pub tenant: Slug,
    /// Name in paths, unique in its tenant.
    pub id: Slug,
    /// For people.
    #[schema(required = false)]
    pub name: Text,
    /// The profile below this one.
    #[schema(value_type = Option<String>)]
    pub extends: Option<ProfileRef>,
    /// Settings, keys, raw parameters, resets.
    #[serde(flatten)]
    pub layer: Layer,
}

impl Profile {
    /// Its reference.
    pub fn reference(&self) -> ProfileRef {
        ProfileRef { tenant: self.tenant.clone(), id: self.id.clone() }
    }

    /// Reads a document of `tenant`. The second part is the `resets` that were sent, if any.
    pub fn read(value: &Value, tenant: &Slug, id: Option<&Slug>, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        let mut object = reader.object(value)?;
        let own_tenant = object.take(reader, "tenant", Slug::read);
        if own_tenant.is_some_and(|own| own != *tenant) {
            reader.at("tenant", |r| r.fail("id_differs", "the tenant of the document differs from the tenant of the path"));
        }
        let id = read_id(&mut object, value, id, reader);
        let name = object.take(reader, "name", Text::read).unwrap_or_default();
        let extends = object.take(reader, "extends", ProfileRef::reader(Some(tenant)));
        let (layer, resets) = Layer::read(&mut object, reader);
        object.ignore(&["revision"]);
        object.finish(reader);
        Some((Self { tenant: tenant.clone(), id, name, extends, layer }, resets))
    }

    /// Visits every secret by its pointer.
    pub fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.layer.secrets(visit);
    }
}
