//! Which settings a write takes away, so that phones go back to their own default.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    device::Device,
    fields::Setting,
    layer::{Layer, Reset, parameter_pointer},
    merge::{Source, line_of, merge_keys, merge_line},
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

/// Every leaf that a chain of layers sets, with its value; secrets and nothing else stand as markers. Those of a
/// line are the effective ones: with what it inherits, without what its own server cuts off.
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
    if let Some(keys) = keys {
        leaves.insert("/keys".to_owned(), serde_json::json!(keys.into_values().collect::<Vec<_>>()));
    }
    let mut visit = |path: &str, value: Value| {
        leaves.insert(path.to_owned(), value);
    };
    settings.leaves(&mut String::from("/settings"), &mut visit);
    for line in device.iter().flat_map(|device| &device.lines) {
        merge_line(&settings, line, &mut BTreeMap::new()).leaves(&mut String::new(), &mut visit);
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
    let mut resets: Vec<Reset> = kept.iter().filter(|reset| !after.contains_key(&reset.path)).cloned().collect();
    let known: BTreeSet<String> = resets.iter().map(|reset| reset.path.clone()).collect();
    let vanished = |path: &str| before.contains_key(path) && !after.contains_key(path);
    for (path, value) in before {
        if !vanished(path) || known.contains(path) {
            continue;
        }
        if let Some(number) = line_of(path) {
            let line_is_gone = device.is_some_and(|d| d.lines.iter().all(|line| line.line != number));
            let tail = path.splitn(4, '/').nth(3).unwrap_or_default();
            // An account that is gone is switched off, which says it all; what all lines lose is one reset.
            if line_is_gone || vanished(&format!("/settings/{tail}")) {
                continue;
            }
        }
        let was = (!is_marker(value) && !path.starts_with("/parameters")).then(|| value.clone());
        resets.push(Reset { path: path.clone(), was });
    }
    resets.sort_by(|a, b| a.path.cmp(&b.path));
    resets
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Tenant, fields::Reader};

    /// The paths a device's write resets, from one list of lines to another below one tenant.
    fn reset_by(tenant: &Value, from: &Value, to: &Value) -> Vec<String> {
        let mut reader = Reader::default();
        let (tenant, _) = Tenant::read(&json!({"id": "a", "settings": tenant}), None, &mut reader).unwrap();
        let mut device = |settings_and_lines: &Value| {
            let mut document = settings_and_lines.clone();
            document["mac"] = json!("805ec0123456");
            Device::read(&document, None, &mut reader).unwrap().0
        };
        let (from, to) = (device(from), device(to));
        assert_eq!(reader.errors, []);
        let leaves = |device: &Device| chain_leaves(&[(Source::Default, &tenant.layer), (Source::Device, &device.layer)], Some(device));
        after_write(&[], &leaves(&from), &leaves(&to), Some(&to)).into_iter().map(|reset| reset.path).collect()
    }

    #[test]
    fn a_line_that_names_its_own_server_resets_the_route_it_had() {
        let tenant = json!({"sip": {"server": "one.example", "outbound_proxy": {"server": "proxy.example"}, "dtmf": "info"}});
        let line = |sip: &Value| json!({"lines": [{"line": 1, "user": "100"}, {"line": 2, "user": "200", "sip": sip}]});
        let paths = reset_by(&tenant, &line(&json!({})), &line(&json!({"server": "two.example"})));
        assert_eq!(paths, ["/lines/2/sip/outbound_proxy/server"]);
        assert_eq!(reset_by(&tenant, &line(&json!({"server": "two.example"})), &line(&json!({}))), Vec::<String>::new());
    }

    #[test]
    fn what_all_lines_lose_is_one_reset_and_what_they_inherit_is_none() {
        let lines = json!([{"line": 1, "user": "100"}, {"line": 2, "user": "200", "sip": {"srtp": "off"}}]);
        let (with, without) = (json!({"settings": {"sip": {"srtp": "required"}}, "lines": lines}), json!({"lines": lines}));
        assert_eq!(reset_by(&json!({}), &with, &without), ["/settings/sip/srtp"]);
        let own = json!({"lines": [{"line": 1, "user": "100", "sip": {"dtmf": "inband"}}]});
        let inherited = json!({"lines": [{"line": 1, "user": "100"}]});
        assert_eq!(reset_by(&json!({"sip": {"dtmf": "info"}}), &own, &inherited), Vec::<String>::new());
        assert_eq!(reset_by(&json!({}), &own, &inherited), ["/lines/1/sip/dtmf"]);
    }
}
