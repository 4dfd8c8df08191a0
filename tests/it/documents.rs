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
