//! What README.md says of the product is so.

use toml::{Table, Value};

#[test]
fn the_configuration_table_has_every_setting_with_its_default() {
    let defaults: Table = toml::from_str(include_str!("../../src/config/default.toml")).unwrap();
    let readme = std::fs::read_to_string("README.md").unwrap();
    for (key, value) in defaults {
        let shown = match value {
            Value::String(text) if text.is_empty() => "none".to_owned(),
            Value::String(text) => format!("`{text}`"),
            Value::Array(items) if items.is_empty() => "none".to_owned(),
            Value::Array(items) => format!("`{}`", items.iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(",")),
            other => format!("`{other}`"),
        };
        let row = format!("| `OFFBEAT_{}` | {shown} |", key.to_uppercase());
        assert!(readme.contains(&row), "README.md has no row that begins {row}");
    }
}

#[test]
fn every_key_of_a_pack_is_explained() {
    let document = std::fs::read_to_string("vendors/README.md").unwrap();
    let (explained, _) = document.split_once("<!-- begin support -->").unwrap();
    for source in [include_str!("../../src/vendor/spec.rs"), include_str!("../../src/vendor/effect.rs")] {
        let fields = source.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(": ")).map(|(name, _)| name);
        for field in fields.filter(|name| *name != "known" && !name.contains(' ')) {
            let word = regex::Regex::new(&format!(r"[`\[.]{field}[`\]]|[ `]{field}[,` ]")).unwrap();
            assert!(word.is_match(explained), "{field} is not explained");
        }
    }
}
