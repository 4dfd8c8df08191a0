//! Which settings a write takes away, so that phones go back to their own default.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    device::Device,
    fields::Setting,
    layer::{Layer, Reset, parameter_pointer},
    merge::{Source, line_of, merge_keys},
    secret::is_marker,
    settings::Settings,
};

/// Groups that are never reset by a removal: a phone must not lose its way back.
pub const NEVER_RESET: [&str; 5] =
    ["/settings/provisioning", "/settings/access", "/settings/firmware", "/settings/tls", "/settings/network"];

/// Is the setting at `path` left on the phone when it is removed?
pub fn is_left_on_phone(path: &str) -> bool {
    NEVER_RESET.iter().any(|group| path.strip_prefix(group).is_some_and(|tail| tail.is_empty() || tail.starts_with('/')))
}

/// Every leaf that a chain of layers sets, with its value; secrets and nothing else stand as markers.
pub fn chain_leaves(layers: &[(Source, &Layer)], device: Option<&Device>) -> BTreeMap<String, Value> {
    let mut settings = Settings::default();
    let mut leaves = BTreeMap::new();
    let mut keys = None;
    for (_, layer) in layers {
        settings.overlay(&layer.settings, &mut String::new(), &mut |_| {});
        for (selector, named) in &layer.parameters {
            for (name, value) in named {
                leaves.insert(parameter_pointer(selector, name), serde_json::json!(value));
            }
        }
        merge_keys(&mut keys, layer.keys.as_deref());
    }
    leaves.extend(keys.map(|keys| ("/keys".to_owned(), serde_json::json!(keys.values().collect::<Vec<_>>()))));
    let mut visit = |path: &str, value: Value| {
        leaves.insert(path.to_owned(), value);
    };
    settings.leaves(&mut String::from("/settings"), &mut visit);
    for line in device.iter().flat_map(|device| &device.lines) {
        line.leaves(&mut String::new(), &mut visit);
    }
    leaves
}

/// The resets a layer holds after a write: those it had and nothing sets again, and what the write took away.
pub fn after_write(
    kept: &[Reset],
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
    device: Option<&Device>,
) -> Vec<Reset> {
    let mut resets: Vec<Reset> = kept.iter().filter(|reset| !is_set(after, &reset.path)).cloned().collect();
    for (path, value) in before {
        if is_set(after, path) || resets.iter().any(|reset| reset.path == *path) {
            continue;
        }
        let line_is_gone = line_of(path).is_some_and(|number| device.is_some_and(|d| d.lines.iter().all(|line| line.line != number)));
        if line_is_gone {
            continue; // an account that is gone is switched off, which says it all
        }
        let was = (!is_marker(value) && !value.is_null() && !path.starts_with("/parameters")).then(|| value.clone());
        resets.push(Reset { path: path.clone(), was });
    }
    resets.sort_by(|a, b| a.path.cmp(&b.path));
    resets
}

/// Set at this path, or, for a line, by the device for all lines.
fn is_set(leaves: &BTreeMap<String, Value>, path: &str) -> bool {
    leaves.contains_key(path)
        || line_of(path).is_some_and(|_| {
            let tail = path.splitn(4, '/').nth(3).unwrap_or_default();
            leaves.contains_key(&format!("/settings/{tail}"))
        })
}
