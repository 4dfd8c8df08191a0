//! Secrets: write-only at the edge, never printed, encrypted by the store.

use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::fields::{Reader, Setting};

/// A password or other secret text.
///
/// Serialises as `{"set": true}` everywhere (an explicit none as `""`): the clear text leaves only by
/// [`Secret::expose`].
/// A document that sends `{"set": true}` back holds a *kept* secret until [`Secret::keep`] fills it in.
#[derive(Clone, Debug)]
pub struct Secret(Option<SecretString>);

impl Secret {
    /// A secret with this clear text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Some(SecretString::from(text.into())))
    }

    /// The placeholder that stands for "the one you have".
    pub fn kept() -> Self {
        Self(None)
    }

    /// Still a placeholder?
    pub fn is_kept(&self) -> bool {
        self.0.is_none()
    }

    /// Fills a placeholder from the stored secret.
    pub fn keep(&mut self, text: &str) {
        self.0 = Some(SecretString::from(text.to_owned()));
    }

    /// The clear text; empty for a placeholder.
    pub fn expose(&self) -> &str {
        self.0.as_ref().map_or("", ExposeSecret::expose_secret)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.is_kept() == other.is_kept() && self.expose() == other.expose()
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.is_kept() && self.expose().is_empty() {
            return serializer.serialize_str("");
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("set", &true)?;
        map.end()
    }
}

impl utoipa::PartialSchema for Secret {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .description(Some("Write-only: send a string; read back as {\"set\": true}, which may be sent to keep the secret."))
            .schema_type(utoipa::openapi::schema::SchemaType::AnyValue)
            .into()
    }
}
impl utoipa::ToSchema for Secret {}

/// Is this the marker of a stored secret?
pub fn is_marker(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1 && map.get("set") == Some(&Value::Bool(true)))
}

impl Setting for Secret {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        if is_marker(value) {
            return Some(Self::kept());
        }
        reader.text(value, 512).map(Self::new)
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, serde_json::json!(self));
    }
    fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        visit(path, self);
    }
    fn sample() -> Self {
        Self::new("x")
    }
}

/// A text that is a secret in some places: a raw parameter, a URL with user info.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MaybeSecret {
    /// Shown as it is.
    Plain(String),
    /// Shown as `{"set": true}`.
    Secret(Secret),
}

impl utoipa::PartialSchema for MaybeSecret {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        Secret::schema()
    }
}
impl utoipa::ToSchema for MaybeSecret {}

impl MaybeSecret {
    /// Reads a text of at most `max` bytes.
    pub fn read_short(value: &Value, reader: &mut Reader, max: usize) -> Option<Self> {
        if is_marker(value) {
            return Some(Self::Secret(Secret::kept()));
        }
        let text = reader.text(value, max)?;
        Some(if has_user_info(&text) { Self::Secret(Secret::new(text)) } else { Self::Plain(text) })
    }

    /// The clear text.
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }

    /// Does it stand for the one that is stored?
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Secret(secret) if secret.is_kept())
    }

    /// Must it be masked?
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Secret(_))
    }

    /// The same text, marked as a secret.
    #[must_use]
    pub fn into_secret(self) -> Self {
        match self {
            Self::Plain(text) => Self::Secret(Secret::new(text)),
            secret @ Self::Secret(_) => secret,
        }
    }
}

/// Does the text hold a URL with a password in it (`scheme://user:password@host`), wherever it begins?
pub fn has_user_info(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.contains('@')
    })
}

impl Setting for MaybeSecret {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        Self::read_short(value, reader, 4096)
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, serde_json::json!(self));
    }
    fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        if let Self::Secret(secret) = self {
            visit(path, secret);
        }
    }
    fn sample() -> Self {
        Self::Plain("x".into())
    }
}
