//! Patterns of parameter names: `*` is a run of digits, or, at the end, any tail.

use serde::{Deserialize, Deserializer};

/// A pattern such as `account.*.sip_server.*.expires` or `static.network.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A pattern from its text.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Does the name fit?
    pub fn matches(&self, name: &str) -> bool {
        fits(&self.0, name)
    }

    /// How much of a name it fixes: the more, the more specific.
    pub fn specificity(&self) -> usize {
        self.0.bytes().filter(|b| *b != b'*').count()
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    if tail.is_empty() {
        return true;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && fits(tail, &rest[digits..])
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_digits_and_at_the_end_any_tail() {
        let account = Pattern::new("account.*.sip_server.*.expires");
        assert!(account.matches("account.1.sip_server.2.expires") && account.matches("account.16.sip_server.1.expires"));
        assert!(!account.matches("account.x.sip_server.2.expires") && !account.matches("account..sip_server.2.expires"));
        let tail = Pattern::new("static.network.*");
        assert!(tail.matches("static.network.vlan.id") && tail.matches("static.network.") && !tail.matches("static.networks"));
        assert!(Pattern::new("P32").matches("P32") && !Pattern::new("P32").matches("P321"));
    }
}
