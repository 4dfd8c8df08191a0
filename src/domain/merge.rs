//! Layers on top of each other: built-in defaults ← tenants ← profiles ← device ← line.
//!
//! Objects merge key by key, lists and scalars replace, keys merge by module and position. Every leaf
//! remembers the layer it came from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{
    device::Device,
    fields::{Reader, Setting, overlay_field, split_pointer},
    key::{Key, KeyType},
    layer::{Layer, Reset},
    line::Line,
    profile::{Profile, ProfileRef},
    secret::MaybeSecret,
    settings::Settings,
    tenant::Tenant,
    text::Slug,
};

/// The layer that a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Built in.
    #[default]
    Default,
    /// A tenant.
    Tenant(Slug),
    /// A profile.
    Profile(ProfileRef),
    /// The device itself.
    Device,
    /// The line of the device.
    Line,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Tenant(id) => write!(f, "tenant:{id}"),
            Self::Profile(profile) => write!(f, "profile:{profile}"),
            Self::Device => f.write_str("device"),
            Self::Line => f.write_str("line"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A device with every layer below it, as one read of the store gives it.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Root first.
    pub tenants: Vec<Tenant>,
    /// Farthest first.
    pub profiles: Vec<Profile>,
    /// The device.
    pub device: Device,
}

impl Stack {
    /// The shared layers, farthest first.
    pub fn shared_layers(&self) -> Vec<(Source, &Layer)> {
        shared_layers(&self.tenants, &self.profiles)
    }

    /// The salt in force: the nearest tenant that has one, else empty.
    pub fn salt(&self) -> &str {
        self.tenants.iter().rev().find_map(|tenant| tenant.salt.as_deref()).unwrap_or_default()
    }
}

/// The layers of a chain of tenants (root first) and a chain of profiles (farthest first).
pub fn shared_layers<'a>(tenants: &'a [Tenant], profiles: &'a [Profile]) -> Vec<(Source, &'a Layer)> {
    let tenants = tenants.iter().map(|tenant| (Source::Tenant(tenant.id.clone()), &tenant.layer));
    let profiles = profiles.iter().map(|profile| (Source::Profile(profile.reference()), &profile.layer));
    tenants.chain(profiles).collect()
}

/// Does a selector of raw parameters mean the device: for its vendor (`false`), or for its model (`true`)?
pub type Selects<'a> = dyn Fn(&str) -> Option<bool> + 'a;

/// What a device is configured with once all layers have spoken.
#[derive(Clone, Debug)]
pub struct Effective {
    /// Device-wide settings.
    pub settings: Settings,
    /// Lines in order of their number, each with the device's SIP settings and timers below its own.
    pub lines: Vec<Line>,
    /// Keys by module and position; `None` while no layer has given any.
    pub keys: Option<BTreeMap<(u32, u32), Key>>,
    /// Raw parameters that apply to this vendor and model.
    pub parameters: BTreeMap<String, (MaybeSecret, Source)>,
    /// Where each leaf came from, by pointer (`/settings/…`, `/lines/<line>/…`).
    pub sources: BTreeMap<String, Source>,
    /// Settings that are to go back to the phone's default: stored resets that nothing sets again, and
    /// explicit nones.
    pub resets: Vec<Reset>,
}

impl Effective {
    /// Merges all layers of a device. `selects` tells which selectors of raw parameters mean it.
    pub fn of(stack: &Stack, selects: &Selects<'_>) -> Self {
        let device = &stack.device;
        let mut layers = stack.shared_layers();
        layers.push((Source::Device, &device.layer));

        let mut sources = BTreeMap::new();
        let mut settings = Settings::default();
        let mut keys: Option<BTreeMap<(u32, u32), Key>> = None;
        let mut parameters = BTreeMap::new();
        for (source, layer) in &layers {
            settings.overlay(&layer.settings, &mut String::from("/settings"), &mut |leaf| {
                sources.insert(leaf.to_owned(), source.clone());
            });
            merge_keys(&mut keys, layer.keys.as_deref());
            merge_parameters(&mut parameters, selects, source, layer);
        }
        let mut lines: Vec<Line> = device.lines.iter().map(|line| merge_line(&settings, line, &mut sources)).collect();

        let mut resets = take_explicit_nones(&mut settings, &mut lines);
        let mut effective = Self { settings, lines, keys, parameters, sources, resets: Vec::new() };
        let set = effective.leaves();
        let stored = layers.iter().flat_map(|(_, layer)| &layer.resets);
        let mut known: BTreeSet<String> = resets.iter().map(|reset| reset.path.clone()).collect();
        for reset in stored.filter(|reset| effective.lacks(&set, &reset.path)) {
            if known.insert(reset.path.clone()) {
                resets.push(reset.clone());
            }
        }
        effective.resets = resets;
        effective
    }

    /// Every leaf that is set, by pointer.
    pub fn leaves(&self) -> BTreeMap<String, Value> {
        let mut leaves = BTreeMap::new();
        let mut visit = |path: &str, value: Value| {
            leaves.insert(path.to_owned(), value);
        };
        self.settings.leaves(&mut String::from("/settings"), &mut visit);
        for line in &self.lines {
            line.leaves(&mut String::new(), &mut visit);
        }
        leaves
    }

    /// The layer that set a leaf.
    pub fn source(&self, pointer: &str) -> Source {
        self.sources.get(pointer).cloned().unwrap_or_default()
    }

    /// Is nothing in force at the pointer of a reset?
    fn lacks(&self, set: &BTreeMap<String, Value>, path: &str) -> bool {
        if path == "/keys" {
            return self.keys.is_none();
        }
        if let Some(name) = raw_parameter(path) {
            return !self.parameters.contains_key(&name);
        }
        match line_of(path) {
            Some(number) => self.lines.iter().any(|line| line.line == number) && !set.contains_key(path),
            None => !set.contains_key(path),
        }
    }

    /// This device as it would be with the reset settings still there: what a file of it holds and a file
    /// of the real one does not is what has to be reset.
    #[must_use]
    pub fn haunted(&self, resets: &[&Reset]) -> Self {
        let mut ghost = self.clone();
        for reset in resets {
            let mut ignore = |_: &str| {};
            if let Some(pointer) = reset.path.strip_prefix("/settings") {
                // Of these only a word that is known reaches the phone.
                let known = match pointer {
                    "/time/zone" => Some("Europe/Berlin"),
                    "/locale/language" => Some("en"),
                    "/locale/tones" => Some("US"),
                    _ => None,
                };
                let known = known.map(Value::from);
                let Some(planted) = Settings::plant(pointer, reset.was.as_ref().or(known.as_ref())) else { continue };
                ghost.settings.overlay(&planted, &mut String::new(), &mut ignore);
                for line in &mut ghost.lines {
                    overlay_field(&mut line.sip, planted.sip.as_ref(), "sip", &mut String::new(), &mut ignore);
                    overlay_field(&mut line.timers, planted.timers.as_ref(), "timers", &mut String::new(), &mut ignore);
                }
            } else if let Some(number) = line_of(&reset.path) {
                let pointer = reset.path.splitn(4, '/').nth(3).unwrap_or_default();
                for line in ghost.lines.iter_mut().filter(|line| line.line == number) {
                    line.plant(&format!("/{pointer}"), reset.was.as_ref());
                }
            } else if reset.path == "/keys" {
                let read = reset.was.as_ref().and_then(|was| Key::read_list(was, &mut Reader::default()));
                merge_keys(&mut ghost.keys, Some(&read.unwrap_or_default()));
            }
        }
        ghost
    }
}

/// The name in `/parameters/<selector>/<name>`.
pub fn raw_parameter(path: &str) -> Option<String> {
    let (_, tail) = split_pointer(path.strip_prefix("/parameters")?)?;
    split_pointer(tail).map(|(name, _)| name)
}

/// The number in `/lines/<number>/…`.
pub fn line_of(path: &str) -> Option<u32> {
    split_pointer(path.strip_prefix("/lines")?)?.0.parse().ok()
}

pub(super) fn merge_keys(keys: &mut Option<BTreeMap<(u32, u32), Key>>, layer: Option<&[Key]>) {
    let Some(layer) = layer else { return };
    let keys = keys.get_or_insert_default();
    if layer.is_empty() {
        keys.clear();
    }
    for key in layer.iter().filter(|key| key.kind != KeyType::Inherit) {
        keys.insert((key.module, key.position), key.clone());
    }
}

fn merge_parameters(parameters: &mut BTreeMap<String, (MaybeSecret, Source)>, selects: &Selects<'_>, source: &Source, layer: &Layer) {
    for specific in [false, true] {
        let named = layer.parameters.iter().filter(|(selector, _)| selects(selector) == Some(specific));
        for (name, value) in named.flat_map(|(_, named)| named) {
            parameters.insert(name.clone(), (value.clone(), source.clone()));
        }
    }
}

/// A line with the device's SIP settings and timers below its own.
pub(super) fn merge_line(settings: &Settings, line: &Line, sources: &mut BTreeMap<String, Source>) -> Line {
    let prefix = format!("/lines/{}", line.line);
    let inherited: Vec<_> = sources
        .iter()
        .filter_map(|(path, source)| {
            let tail = path.strip_prefix("/settings")?;
            (tail.starts_with("/sip/") || tail.starts_with("/timers/")).then(|| (format!("{prefix}{tail}"), source.clone()))
        })
        .collect();
    sources.extend(inherited);
    let mut merged = line.clone();
    let mut note = |leaf: &str| {
        sources.insert(leaf.to_owned(), Source::Line);
    };
    let mut path = prefix;
    merged.sip.clone_from(&settings.sip);
    overlay_field(&mut merged.sip, line.sip.as_ref(), "sip", &mut path, &mut note);
    merged.timers.clone_from(&settings.timers);
    overlay_field(&mut merged.timers, line.timers.as_ref(), "timers", &mut path, &mut note);
    merged
}

/// Takes `""` and `[]` out and returns them as resets: an explicit none sends the phone back.
fn take_explicit_nones(settings: &mut Settings, lines: &mut [Line]) -> Vec<Reset> {
    let mut nones = Vec::new();
    let mut visit = |path: &str, value: Value| {
        if value == Value::String(String::new()) || value == Value::Array(Vec::new()) {
            nones.push(Reset { path: path.to_owned(), was: None });
        }
    };
    settings.leaves(&mut String::from("/settings"), &mut visit);
    for line in &*lines {
        line.leaves(&mut String::new(), &mut visit);
    }
    for none in &nones {
        if let Some(pointer) = none.path.strip_prefix("/settings") {
            settings.prune(pointer);
        } else if let Some(number) = line_of(&none.path) {
            let pointer = none.path.splitn(4, '/').nth(3).unwrap_or_default();
            for line in lines.iter_mut().filter(|line| line.line == number) {
                line.prune(&format!("/{pointer}"));
            }
        }
    }
    nones
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tenant(value: &Value) -> Tenant {
        let mut reader = Reader::default();
        let read = Tenant::read(value, None, &mut reader);
        assert_eq!(reader.errors, []);
        read.unwrap().0
    }

    fn device(value: &Value) -> Device {
        let mut reader = Reader::default();
        let read = Device::read(value, None, &mut reader);
        assert_eq!(reader.errors, []);
        read.unwrap().0
    }

    fn effective(tenants: &[Value], device_value: &Value) -> Effective {
        let tenants = tenants.iter().map(tenant).collect();
        Effective::of(&Stack { tenants, profiles: Vec::new(), device: device(device_value) }, &|_| None)
    }

    #[test]
    fn a_layer_that_names_a_server_starts_the_route_afresh() {
        let provider = json!({"id": "a", "settings": {"sip": {"server": "one.example", "port": 5070, "transport": "tls",
            "outbound_proxy": {"server": "proxy.example"}, "dtmf": "info"}}});
        let effective = effective(&[provider], &json!({"mac": "805ec0123456", "settings": {"sip": {"server": "two.example"}}}));
        let sip = effective.settings.sip.unwrap();
        assert_eq!(sip.server.unwrap().as_str(), "two.example");
        assert!(sip.port.is_none() && sip.transport.is_none() && sip.outbound_proxy.is_none());
        assert!(sip.dtmf.is_some(), "what is no route is inherited");
    }

    #[test]
    fn an_explicit_none_is_a_reset_and_no_setting() {
        let provider =
            json!({"id": "a", "settings": {"sip": {"outbound_proxy": {"server": "proxy.example"}}, "time": {"ntp": ["ntp.example"]}}});
        let effective = effective(
            &[provider],
            &json!({"mac": "805ec0123456", "settings": {"sip": {"outbound_proxy": {"server": ""}}, "time": {"ntp": []}}}),
        );
        let paths: Vec<_> = effective.resets.iter().map(|r| r.path.as_str()).collect();
        assert_eq!(paths, ["/settings/sip/outbound_proxy/server", "/settings/time/ntp"]);
        assert!(effective.settings.time.unwrap().ntp.is_none());
    }

    #[test]
    fn each_leaf_knows_its_layer() {
        let provider = json!({"id": "a", "settings": {"timers": {"registration": {"interval": 1800, "spread": 60}}}});
        let effective = effective(
            &[provider],
            &json!({"mac": "805ec0123456", "settings": {"timers": {"registration": {"spread": 90}}},
                "lines": [{"line": 1, "user": "100", "timers": {"registration": {"floor": 70}}}]}),
        );
        assert_eq!(effective.source("/lines/1/timers/registration/interval").to_string(), "tenant:a");
        assert_eq!(effective.source("/lines/1/timers/registration/spread").to_string(), "device");
        assert_eq!(effective.source("/lines/1/timers/registration/floor").to_string(), "line");
        assert_eq!(effective.source("/lines/1/timers/registration/ceiling").to_string(), "default");
    }

    #[test]
    fn keys_merge_by_position_and_an_empty_list_clears() {
        let provider = json!({"id": "a", "keys": [{"position": 1, "type": "dnd"}, {"position": 2, "type": "hold"}]});
        let near = json!({"id": "b", "keys": [{"position": 2, "type": "blf", "value": "101"}]});
        let merged = effective(&[provider.clone(), near.clone()], &json!({"mac": "805ec0123456"}));
        let kinds: Vec<_> = merged.keys.unwrap().values().map(|key| key.kind).collect();
        assert_eq!(kinds, [KeyType::Dnd, KeyType::Blf]);
        let cleared = effective(&[provider, near], &json!({"mac": "805ec0123456", "keys": []}));
        assert_eq!(cleared.keys, Some(BTreeMap::new()));
    }

    proptest! {
        #[test]
        fn merging_is_associative(a in 0..5000u32, b in proptest::option::of(0..5000u32), c in proptest::option::of(0..5000u32)) {
            let layer = |interval: Option<u32>, spread: Option<u32>| {
                let mut timer = serde_json::Map::new();
                timer.extend(interval.map(|n| ("interval".to_owned(), json!(n))));
                timer.extend(spread.map(|n| ("spread".to_owned(), json!(n))));
                Settings::read(&json!({"timers": {"check_in": timer}}), &mut Reader::default()).unwrap()
            };
            let (x, y, z) = (layer(Some(a), None), layer(b, c), layer(None, b));
            let over = |base: &Settings, top: &Settings| {
                let mut merged = base.clone();
                merged.overlay(top, &mut String::new(), &mut |_| {});
                merged
            };
            prop_assert_eq!(over(&over(&x, &y), &z), over(&x, &over(&y, &z)));
        }
    }
}
