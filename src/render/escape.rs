//! One escaper per format, named in `templates/askama.toml` by the template's extension.
//!
//! Control characters never get here: they are refused wherever a text enters.

use std::fmt::{self, Write};

use askama::filters::Escaper;

/// XML text and attribute values (`.xml`).
#[derive(Clone, Copy, Debug)]
pub struct Xml;

impl Escaper for Xml {
    fn write_escaped_str<W: Write>(&self, mut to: W, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.write_escaped_char(&mut to, c)?;
        }
        Ok(())
    }

    fn write_escaped_char<W: Write>(&self, mut to: W, c: char) -> fmt::Result {
        match c {
            '&' => to.write_str("&amp;"),
            '<' => to.write_str("&lt;"),
            '>' => to.write_str("&gt;"),
            '"' => to.write_str("&quot;"),
            '\'' => to.write_str("&apos;"),
            c => to.write_char(c),
        }
    }
}

/// `name = value` lines (`.cfg`, `.boot`): nothing is escaped, the pack's grammar of values says what can
/// be carried.
#[derive(Clone, Copy, Debug)]
pub struct Line;

impl Escaper for Line {
    fn write_escaped_str<W: Write>(&self, mut to: W, text: &str) -> fmt::Result {
        to.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn xml_is_read_back_as_it_was(text in "[^\\p{Cc}\u{fffe}\u{ffff}]{0,60}") {
            let mut escaped = String::new();
            Xml.write_escaped_str(&mut escaped, &text).unwrap();
            let document = format!("<a b=\"{escaped}\">{escaped}</a>");
            let tree = roxmltree::Document::parse(&document).unwrap();
            prop_assert_eq!(tree.root_element().attribute("b"), Some(text.as_str()));
            prop_assert_eq!(tree.root_element().text().unwrap_or_default(), text);
        }
    }
}
