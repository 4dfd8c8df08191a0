//! Facts that TOML alone cannot hold.

use std::collections::{BTreeMap, BTreeSet};

use offbeat::{
    domain::{
        Layer, Reset, Setting,
        merge::{Stack, line_of},
        resets::{chain_leaves, is_left_on_phone},
    },
    render::{self, registry},
    vendor::{Pack, Pattern},
};

use crate::golden::cases;

/// Prefixes that phones of two vendors have: a MAC of these names no vendor.
const SHARED_PREFIXES: [&str; 0] = [];

fn packs() -> impl Iterator<Item = &'static Pack> {
    registry::vendors().iter().map(|vendor| &vendor.pack)
}

#[test]
fn every_fact_names_its_source() {
    let mut missing = Vec::new();
    for pack in packs() {
        let mut need = |what: String, source: &str| {
            if source.trim().is_empty() || source.trim() == "-" {
                missing.push(format!("{}: {what}", pack.id));
            }
        };
        pack.prefixes.iter().for_each(|fact| need(format!("prefix {}", fact.oui), &fact.source));
        pack.files.iter().for_each(|fact| need(format!("file {}", fact.name), &fact.source));
        pack.uploads.iter().for_each(|fact| need(format!("upload {}", fact.name), &fact.source));
        pack.timers.iter().for_each(|fact| need(format!("timer {}", fact.parameter), &fact.source));
        pack.models.iter().for_each(|fact| need(format!("model {}", fact.name), &fact.source));
        pack.modules.iter().for_each(|fact| need(format!("module {}", fact.name), &fact.source));
        pack.effects.iter().for_each(|fact| need(format!("effect of {}", fact.pattern.as_str()), &fact.source));
        pack.resets.iter().for_each(|fact| need(format!("reset of {}", fact.pattern.as_str()), &fact.source));
        pack.any_change.iter().for_each(|fact| need("any_change".into(), &fact.source));
        pack.zone.iter().for_each(|fact| need("zone".into(), &fact.source));
        let clocks = pack.dialects.iter().filter_map(|dialect| dialect.check_in.as_ref()).chain([&pack.check_in]);
        clocks.filter(|check_in| check_in.clock_minutes.is_some()).for_each(|fact| need("check_in".into(), &fact.source));
        if pack.models.iter().any(|model| model.certainty.is_none()) {
            missing.push(format!("{}: a model without certainty", pack.id));
        }
        if pack.sources.is_empty() || pack.prefixes.is_empty() && !pack.models.is_empty() {
            missing.push(format!("{}: sources or prefixes", pack.id));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_prefix_is_six_digits_and_names_one_vendor() {
    let mut claimed = BTreeMap::new();
    for pack in packs() {
        for prefix in &pack.prefixes {
            let digits = prefix.oui.len() == 6 && prefix.oui.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            assert!(digits, "{}: prefix {:?} is not six lower-case hex digits", pack.id, prefix.oui);
            let other = claimed.insert(&prefix.oui, &pack.id).filter(|_| !SHARED_PREFIXES.contains(&prefix.oui.as_str()));
            assert_eq!(other, None, "{}: prefix {} is claimed twice", pack.id, prefix.oui);
        }
    }
}

#[test]
fn what_a_pack_refers_to_is_there() {
    for pack in packs() {
        let dialects: BTreeSet<&str> = pack.dialects.iter().map(|dialect| dialect.id.as_str()).collect();
        let named = (pack.timers.iter().flat_map(|timer| &timer.dialects))
            .chain(pack.files.iter().flat_map(|file| &file.dialects))
            .chain(pack.resets.iter().flat_map(|reset| &reset.dialects));
        for id in named {
            assert!(dialects.contains(id.as_str()), "{}: there is no dialect {id:?}", pack.id);
        }
        let models = (pack.effects.iter().map(|fact| &fact.models))
            .chain(pack.any_change.iter().map(|fact| &fact.models))
            .chain(pack.resets.iter().map(|fact| &fact.models));
        for patterns in models.filter(|patterns| !patterns.is_empty()) {
            let known = pack.models.iter().any(|model| patterns.iter().any(|pattern| pattern.matches(&model.name)));
            assert!(known, "{}: no model is called {patterns:?}", pack.id);
        }
        let mut called = BTreeSet::new();
        for name in pack.models.iter().flat_map(|model| model.aliases.iter().chain([&model.name])) {
            assert!(called.insert(name.to_ascii_lowercase()), "{}: two models are called {name:?}", pack.id);
        }
    }
}

#[test]
fn every_supported_setting_is_a_setting() {
    let mut settings = super::tables::settings();
    // Those that every phone has, some by another name.
    settings.extend(["auth_user", "password", "display_name", "label", "appearances"].map(|field| format!("lines/{field}")));
    settings.push("keys/pickup".to_owned());
    for pack in packs() {
        let named = pack.supports.iter().chain(&pack.device_wide).chain(pack.dialects.iter().flat_map(|dialect| &dialect.lacks));
        let unknown: Vec<&str> =
            named.filter(|pattern| !settings.iter().any(|setting| pattern.matches(setting))).map(Pattern::as_str).collect();
        assert_eq!(unknown, Vec::<&str>::new(), "{}", pack.id);
    }
}

#[test]
fn every_rendered_parameter_is_among_the_known_ones() {
    let mut unknown = BTreeSet::new();
    for case in cases() {
        let vendor = registry::find(&case.vendor).unwrap();
        let stack = case.stack();
        let own = raw_parameters(&stack);
        for file in render::render(vendor, &stack).into_iter().flat_map(|rendered| rendered.files).filter(|file| file.parameters) {
            for parameter in vendor.read(&file.text).unwrap() {
                if !vendor.pack.known.contains(&parameter.name) && !own.contains(&parameter.name) {
                    unknown.insert(format!("{}: {}", case.vendor, parameter.name));
                }
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}

/// Whatever a phone is sent because a setting asks for it can be taken back once the setting is gone.
#[test]
fn a_removed_setting_leaves_nothing_on_the_phone() {
    let mut left = BTreeSet::new();
    for case in cases() {
        let vendor = registry::find(&case.vendor).unwrap();
        let stack = case.stack();
        let before = render::render(vendor, &stack).map(|rendered| rendered.warnings).unwrap_or_default();
        let mut layers = stack.shared_layers();
        layers.push((offbeat::domain::merge::Source::Device, &stack.device.layer));
        for (path, was) in chain_leaves(&layers, Some(&stack.device)) {
            if is_left_on_phone(&path) || path.starts_with("/parameters") {
                continue;
            }
            let Ok(rendered) = render::render(vendor, &without(&stack, &path, was)) else { continue };
            for warning in rendered.warnings.iter().filter(|warning| warning.code == "left_on_phone" && !before.contains(warning)) {
                left.insert(format!("{} {path}: {}", case.title(), warning.detail));
            }
        }
    }
    assert_eq!(left, BTreeSet::new());
}

/// The stack once nothing sets `path` any more.
fn without(stack: &Stack, path: &str, was: serde_json::Value) -> Stack {
    let mut stack = stack.clone();
    let prune = |layer: &mut Layer| {
        if path == "/keys" {
            layer.keys = None;
        }
        if let Some(pointer) = path.strip_prefix("/settings") {
            layer.settings.prune(pointer);
        }
    };
    stack.tenants.iter_mut().for_each(|tenant| prune(&mut tenant.layer));
    stack.profiles.iter_mut().for_each(|profile| prune(&mut profile.layer));
    prune(&mut stack.device.layer);
    if let Some(line) = line_of(path).and_then(|n| stack.device.lines.iter_mut().find(|line| line.line == n)) {
        let pointer = path.match_indices('/').nth(2).map_or("", |(at, _)| &path[at..]);
        line.prune(pointer);
    }
    let was = (!was.is_null()).then_some(was);
    stack.device.layer.resets.push(Reset { path: path.to_owned(), was });
    stack
}

/// Names that the layers give as raw parameters.
fn raw_parameters(stack: &Stack) -> BTreeSet<String> {
    let mut layers = stack.shared_layers();
    layers.push((offbeat::domain::merge::Source::Device, &stack.device.layer));
    layers.iter().flat_map(|(_, layer)| layer.parameters.values()).flat_map(BTreeMap::keys).cloned().collect()
}
