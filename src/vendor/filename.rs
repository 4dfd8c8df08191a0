//! The name in a phone's request to what it may mean: a vendor's file and a MAC.

use super::spec::Pack;
use crate::domain::Mac;

/// Longest path that can name a file; longer ones are nobody's.
pub const MAX_PATH: usize = 128;

/// The name that every phone may use: it means the first file of the device, in its vendor's format.
pub const UNIVERSAL: &str = "{mac}.cfg";

/// What a requested path may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose file it is.
    pub mac: Mac,
    /// The patterns of names that it fits.
    patterns: Vec<String>,
}

impl Request {
    /// Reads the path below `/provision/`, already percent-decoded, against the names that the packs know.
    /// `None` where it can be nobody's file.
    ///
    /// Folders before the name are passed over (phones with a base folder ask below it), but none that is
    /// empty or climbs.
    pub fn parse<'p>(path: &str, packs: impl Iterator<Item = &'p Pack>) -> Option<Self> {
        if path.len() > MAX_PATH || !path.is_ascii() || path.bytes().any(|b| b.is_ascii_control()) {
            return None;
        }
        let segments: Vec<&str> = path.split('/').collect();
        let (last, folders) = segments.split_last()?;
        if folders.len() > 3 || !folders.iter().all(|folder| is_plain(folder)) {
            return None;
        }
        let name = last.to_ascii_lowercase();
        let known = packs.flat_map(|pack| pack.files.iter().map(|file| &file.name).chain(pack.uploads.iter().map(|upload| &upload.name)));
        let mut request: Option<Self> = None;
        for pattern in std::iter::once(UNIVERSAL).chain(known.map(String::as_str)) {
            let Some(mac) = mac_in(&name, pattern) else { continue };
            let request = request.get_or_insert_with(|| Self { mac, patterns: Vec::new() });
            if request.mac == mac {
                request.patterns.push(pattern.to_owned());
            }
        }
        request
    }

    /// Does the request mean the file with this pattern (`cfg{mac}.xml`)?
    pub fn is(&self, pattern: &str) -> bool {
        self.patterns.iter().any(|known| known == pattern)
    }
}

/// The name a phone asks for.
pub fn file_name(pattern: &str, mac: Mac) -> String {
    pattern.replace("{mac}", &mac.to_string())
}

/// The MAC in a lower-case name of this pattern.
fn mac_in(name: &str, pattern: &str) -> Option<Mac> {
    let (prefix, suffix) = pattern.split_once("{mac}")?;
    name.strip_prefix(&prefix.to_ascii_lowercase())?.strip_suffix(&suffix.to_ascii_lowercase())?.parse().ok()
}

fn is_plain(folder: &str) -> bool {
    !folder.is_empty() && !folder.starts_with('.') && folder.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The request, and whether it fits each of three patterns.
    fn parse(path: &str) -> Option<(String, [bool; 3])> {
        let pack = Pack::parse(
            r#"
            id = "acme"
            name = "Acme"
            version = 1
            syntax = "lines"
            parameter_names = ".*"
            supports = []
            sources = []
            timers = []
            check_in = {}
            dialects = [{ id = "all" }]
            models = []
            any_change = [{ effect = "live", certainty = "assumed", source = "-" }]
            files = [{ kind = "a", name = "cfg{mac}.xml", media_type = "-", source = "-" }, { kind = "b", name = "spa{mac}-Config.cfg", media_type = "-", source = "-" }]
            "#,
            "name\n",
        )
        .unwrap();
        let request = Request::parse(path, std::iter::once(&pack))?;
        Some((request.mac.to_string(), [UNIVERSAL, "cfg{mac}.xml", "spa{mac}-Config.cfg"].map(|pattern| request.is(pattern))))
    }

    #[test]
    fn names_in_any_spelling() {
        for path in [
            "805ec0123456.cfg",
            "805EC0123456.CFG",
            "80:5e:c0:12:34:56.cfg",
            "80-5E-C0-12-34-56.cfg",
            "805e.c012.3456.cfg",
            "sub/805ec0123456.cfg",
        ] {
            assert_eq!(parse(path), Some(("805ec0123456".into(), [true, false, false])), "{path}");
        }
        assert_eq!(parse("cfg000b82a1b2c3.xml"), Some(("000b82a1b2c3".into(), [false, true, false])));
        assert_eq!(parse("SPA0004F2DEADBE-config.cfg"), Some(("0004f2deadbe".into(), [false, false, true])));
    }

    #[test]
    fn what_is_nobodys_is_none() {
        let long = format!("{}805ec0123456.cfg", "a/".repeat(80));
        let paths = [
            "",
            "y000000000028.cfg",
            "000000000000.cfg",
            "010203040506.cfg",
            "../805ec0123456.cfg",
            "/805ec0123456.cfg",
            "a//805ec0123456.cfg",
            "805ec0123456\0.cfg",
            "805ec01234567.cfg",
            "805ec0123456.cfg/",
            &long,
        ];
        for path in paths {
            assert_eq!(parse(path), None, "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(path in "\\PC{0,200}") {
            let _ = parse(&path);
        }

        #[test]
        fn a_mac_is_found_in_any_known_name(octets: [u8; 6], pattern in prop::sample::select(vec![UNIVERSAL, "cfg{mac}.xml", "spa{mac}-Config.cfg"])) {
            let mac = hex::encode(octets);
            let found = parse(&pattern.replace("{mac}", &mac.to_uppercase())).map(|(mac, _)| mac);
            prop_assert_eq!(found, mac.parse::<Mac>().ok().map(|mac| mac.to_string()));
        }
    }
}
