//! Texts with a rule: free text, host names, URLs, identifiers.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    fields::{Reader, Setting},
    secret::{MaybeSecret, Secret},
};

/// Free text: no control characters, at most 512 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct Text(String);

/// A host name or an IP address (IPv6 without brackets); `""` is an explicit none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Host(String);

/// A URL; with user info it is a secret as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(value_type = MaybeSecret)]
pub struct Url(MaybeSecret);

/// The name of a tenant or profile in paths: lower-case letters, digits, `-`, `_`, `.`; 1 to 64
/// characters, first a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct Slug(String);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Setting for Text {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        reader.text(value, 512).map(Self)
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, Value::String(self.0.clone()));
    }
    fn sample() -> Self {
        Self("x".into())
    }
}

impl Host {
    /// The host as stored: a name, an IPv4 address, or an IPv6 address without brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As it stands in a URI or before a port: IPv6 in brackets (RFC 3986, RFC 3261).
    pub fn bracketed(&self) -> String {
        if self.0.contains(':') { format!("[{}]", self.0) } else { self.0.clone() }
    }
}

impl Setting for Host {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value, 253)?;
        let address = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(&text);
        if address.contains(':') {
            if address.parse::<std::net::Ipv6Addr>().is_ok() {
                return Some(Self(address.to_owned()));
            }
        } else if text.is_empty() || text.split('.').all(is_label) {
            return Some(Self(text));
        }
        reader.fail("not_a_host", "expected a host name or an IP address, without scheme and port");
        None
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        visit(path, Value::String(self.0.clone()));
    }
    fn sample() -> Self {
        Self("none.invalid".into())
    }
}

/// One label of a host name; `_` is taken, since SRV names and some sites use it.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

impl Url {
    /// The clear text, user info included.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl Url {
    /// Does it stand for the one that is stored?
    pub fn is_kept(&self) -> bool {
        self.0.is_kept()
    }
}

impl Setting for Url {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let url = MaybeSecret::read(value, reader)?;
        if let MaybeSecret::Secret(secret) = &url
            && secret.is_kept()
        {
            return Some(Self(url));
        }
        let text = url.expose();
        let known = text.is_empty()
            || text.split_once("://").is_some_and(|(scheme, rest)| {
                matches!(scheme, "http" | "https" | "tftp" | "ftp" | "ftps" | "ldap" | "ldaps")
                    && !rest.is_empty()
                    && !rest.starts_with('/')
            });
        if !known || text.contains([' ', '"', '<', '>']) {
            reader.fail("not_a_url", "expected scheme://host/… with http, https, tftp, ftp, ftps, ldap or ldaps, without spaces");
            return None;
        }
        Some(Self(url))
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, Value)) {
        self.0.leaves(path, visit);
    }
    fn secrets(&mut self, path: &mut String, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.0.secrets(path, visit);
    }
    fn sample() -> Self {
        Self(MaybeSecret::Plain("http://none.invalid/".into()))
    }
}

impl Slug {
    /// Stands in for an identifier that could not be read, so that the rest of its document is: nothing has it.
    pub(super) fn unread() -> Self {
        Self(String::new())
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads an identifier from a path or a reference.
    pub fn parse(text: &str) -> Option<Self> {
        let first = text.bytes().next()?;
        let fits = text.len() <= 64
            && (first.is_ascii_lowercase() || first.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
        fits.then(|| Self(text.to_owned()))
    }

    /// Reads an identifier from a document.
    pub fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let slug = Self::parse(&reader.text(value, 64)?);
        if slug.is_none() {
            reader.fail("not_an_id", "expected 1 to 64 of a-z 0-9 - _ . , first a letter or digit");
        }
        slug
    }
}

impl std::fmt::Display for Slug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn host(text: &str) -> Option<String> {
        Host::read(&json!(text), &mut Reader::default()).map(|h| h.as_str().to_owned())
    }

    #[test]
    fn hosts_are_names_and_addresses_alone() {
        for good in ["pbx.example.com", "10.0.0.1", "pbx", "_sip.example.com", ""] {
            assert_eq!(host(good).as_deref(), Some(good));
        }
        assert_eq!(host("[2001:db8::5]").as_deref(), Some("2001:db8::5"));
        for bad in ["http://pbx", "pbx:5060", "a..b", "-a", "p bx", "2001:db8::g", "pbx\u{7}"] {
            assert_eq!(host(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_url_with_user_info_is_a_secret() {
        let url = Url::read(&json!("https://u:p@host/x"), &mut Reader::default()).unwrap();
        assert_eq!(json!(url), json!({"set": true}));
        assert_eq!(url.expose(), "https://u:p@host/x");
        let plain = Url::read(&json!("https://host/x@y"), &mut Reader::default()).unwrap();
        assert_eq!(json!(plain), json!("https://host/x@y"));
    }
}
