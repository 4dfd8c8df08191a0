//! What is taken away goes back: every setting, on a phone of every dialect that a golden case has.

use std::collections::{BTreeMap, BTreeSet};

use offbeat::{
    domain::{
        Reset, Tenant,
        fields::Reader,
        merge::Stack,
        resets::{chain_leaves, is_left_on_phone},
    },
    render::{
        self,
        registry::{self, Vendor},
    },
    vendor::Phone,
};
use serde_json::{Value, json};

use super::cases;

/// Every setting that a removal resets, with a value that each vendor can say.
fn everything() -> Value {
    json!({
        "sip": {
            "server": "pbx.example.com", "outbound_proxy": { "server": "edge.example.com" }, "backup": { "server": "b.example.com" },
            "codecs": ["pcma"], "srtp": "required", "dtmf": "info", "mwi": "subscribe", "rport": true, "session_timer": true,
        },
        "timers": { "registration_lead": { "interval": 90 } },
        "time": { "zone": "Europe/Berlin", "ntp": ["ntp.example.com"], "clock_24h": true },
        "locale": { "language": "en", "tones": "DE" },
        "syslog": { "server": "log.example.com", "level": "error" },
        "calling": {
            "pickup_code": "*8", "intercom": "allow", "call_waiting": false,
            "dial_plan": { "grandstream": "{ x+ }", "linphone": "x", "poly": "xT", "yealink": "x" },
        },
        "phonebooks": [{ "name": "All", "url": "http://book.example.com/all.xml" }],
    })
}

/// One stack of a phone of each dialect, with these settings and nothing else.
fn stacks(settings: &Value) -> Vec<(&'static Vendor, Stack)> {
    let mut dialects = BTreeSet::new();
    let mut stacks = Vec::new();
    for case in cases().iter().filter(|case| case.refuses.is_empty()) {
        let vendor = registry::find(&case.vendor).unwrap();
        let mut stack = case.stack();
        let dialect = Phone::find(&vendor.pack, stack.device.model_name(), stack.device.firmware_name()).unwrap().dialect.id.clone();
        if !dialects.insert((case.vendor.clone(), dialect)) {
            continue;
        }
        let mut reader = Reader::default();
        let (tenant, _) = Tenant::read(&json!({ "id": "default", "settings": settings }), None, &mut reader).unwrap();
        assert_eq!(reader.errors, []);
        stack.tenants = vec![tenant];
        stack.profiles.clear();
        stack.device.layer = offbeat::domain::Layer::default();
        for line in &mut stack.device.lines {
            (line.sip, line.timers) = (None, None);
        }
        stacks.push((vendor, stack));
    }
    stacks
}

fn parameters(vendor: &Vendor, stack: &Stack) -> (BTreeMap<String, String>, Vec<String>) {
    let rendered = render::render(vendor, stack).unwrap_or_else(|faulty| panic!("{:#?}", faulty.errors));
    let files = rendered.files.iter().filter(|file| file.parameters);
    let read = files.flat_map(|file| vendor.read(&file.text).unwrap()).map(|parameter| (parameter.name, parameter.value)).collect();
    (read, rendered.warnings.into_iter().filter(|warning| warning.code == "left_on_phone").map(|warning| warning.detail).collect())
}

#[test]
fn every_setting_that_is_taken_away_goes_back() {
    let settings = everything();
    let layers = |stack: &Stack| -> BTreeMap<String, Value> {
        let shared: Vec<_> = stack.shared_layers();
        chain_leaves(&shared, None)
    };
    let full = stacks(&settings);
    let mut faults = Vec::new();
    let paths = layers(&full[0].1);
    for (path, was) in paths.iter().filter(|(path, _)| *path != "/settings/sip/server" && !is_left_on_phone(path)) {
        let mut less = settings.clone();
        let (group, field) = path.strip_prefix("/settings").unwrap().rsplit_once('/').unwrap();
        less.pointer_mut(group).unwrap().as_object_mut().unwrap().remove(field);
        for ((vendor, full), (_, mut bare)) in full.iter().zip(stacks(&less)) {
            let (had, _) = parameters(vendor, full);
            let (has, _) = parameters(vendor, &bare);
            bare.tenants[0].layer.resets = vec![Reset { path: path.clone(), was: Some(was.clone()) }];
            let (gets, left) = parameters(vendor, &bare);
            let lost: Vec<_> = had.keys().filter(|name| !has.contains_key(*name) && !gets.contains_key(*name)).collect();
            if !lost.is_empty() || !left.is_empty() {
                faults.push(format!("{} {}: {path}: {lost:?} {left:?}", vendor.pack.id, full.device.model_name()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
