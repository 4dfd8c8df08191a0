//! Removal resets: what a write takes away is sent with the pack's reset value, so that the phone really goes back.

use std::collections::BTreeMap;

use offbeat::{render::registry, vendor::Phone};

use super::*;

type Parameters = BTreeMap<String, String>;

/// The parameters of what the phone gets, over all its files.
async fn parameters(app: &TestApp, mac: &str) -> Parameters {
    let shown = app.get(&format!("/devices/{mac}")).await.json();
    let vendor = registry::find(shown["vendor"].as_str().unwrap()).unwrap();
    let mut all = Parameters::new();
    for name in column(&app.get(&format!("/devices/{mac}/files")).await, "name") {
        let text = app.fetch(&name).await.expect(200).text();
        all.extend(vendor.read(&text).unwrap().into_iter().map(|parameter| (parameter.name, parameter.value)));
    }
    all
}

fn reset_paths(document: &Value) -> Vec<String> {
    document["resets"].as_array().unwrap().iter().map(|reset| reset["path"].as_str().unwrap().to_owned()).collect()
}

/// What the pack says of the fleet's phone of a vendor.
fn phone_of(vendor: &str) -> Phone<'static> {
    let model = match vendor {
        "yealink" => "T46S",
        "poly" => "VVX 250",
        "grandstream" => "GXP2170",
        _ => "",
    };
    Phone::find(&registry::find(vendor).unwrap().pack, model, "").unwrap()
}

/// What a file must be after a removal: as before the setting, plus every parameter that the setting brought and nothing
/// else says, with the pack's reset value, where it knows one.
fn reset_of(vendor: &str, before: &Parameters, with: &Parameters) -> Parameters {
    let phone = phone_of(vendor);
    let mut expected = before.clone();
    for name in with.keys().filter(|name| !before.contains_key(*name)) {
        expected.extend(phone.reset_value(name).map(|value| (name.clone(), value.to_owned())));
    }
    expected
}

/// The parameters are these, or what differs is told.
#[track_caller]
fn same(found: &Parameters, expected: &Parameters, what: &str) {
    let differing: Vec<_> = found
        .keys()
        .chain(expected.keys().filter(|name| !found.contains_key(*name)))
        .filter(|name| found.get(*name) != expected.get(*name))
        .map(|name| format!("{name}: {:?} for {:?}", found.get(name), expected.get(name)))
        .collect();
    assert!(differing.is_empty(), "{what}: {differing:#?}");
}

/// Settings that phones are sent back from; the pointer and a value.
fn settings() -> Vec<(&'static str, Value)> {
    vec![
        ("/settings/time/zone", json!("Europe/Berlin")),
        ("/settings/sip/dtmf", json!("info")),
        ("/settings/sip/srtp", json!("required")),
        ("/settings/syslog/server", json!("log.example.com")),
        ("/settings/locale/language", json!("de")),
        ("/settings/sip/outbound_proxy/server", json!("proxy.example.com")),
        ("/settings/sip/backup/server", json!("backup.example.com")),
        ("/settings/timers/registration_lead/interval", json!(120)),
    ]
}

/// A patch that sets the value at a pointer.
fn patch(pointer: &str, value: &Value) -> Value {
    pointer.rsplit('/').filter(|name| !name.is_empty()).fold(value.clone(), |inner, name| json!({name: inner}))
}

#[tokio::test]
async fn what_is_taken_away_is_sent_with_its_reset_value_until_it_is_cleared_or_set_again() {
    let app = four_vendors().await;
    let vendors = [(YEALINK, "yealink"), (POLY, "poly"), (GRANDSTREAM, "grandstream"), (LINPHONE, "linphone")];
    let mut resets_seen = 0;
    for (pointer, value) in settings() {
        let mut before = BTreeMap::new();
        for (mac, _) in vendors {
            before.insert(mac, parameters(&app, mac).await);
        }
        app.patch("/tenants/default", &patch(pointer, &value)).await.expect(200);
        let mut with = BTreeMap::new();
        for (mac, _) in vendors {
            with.insert(mac, parameters(&app, mac).await);
        }
        let shown = app.patch("/tenants/default", &patch(pointer, &Value::Null)).await.expect(200).json();
        assert_eq!(reset_paths(&shown), [pointer]);
        for (mac, vendor) in vendors {
            let expected = reset_of(vendor, &before[mac], &with[mac]);
            resets_seen += expected.len() - before[mac].len();
            same(&parameters(&app, mac).await, &expected, &format!("{vendor} without {pointer}"));
        }
        // Other writes keep it, a PUT that leaves it out as well.
        let mut document = app.get("/tenants/default").await.json();
        document.as_object_mut().unwrap().remove("resets");
        assert_eq!(reset_paths(&app.put("/tenants/default", &document).await.expect(200).json()), [pointer]);
        // It goes when the setting returns, and when an administrator clears it.
        let shown = app.patch("/tenants/default", &patch(pointer, &value)).await.expect(200).json();
        assert_eq!(reset_paths(&shown), [""; 0]);
        for (mac, vendor) in vendors {
            same(&parameters(&app, mac).await, &with[mac], &format!("{vendor} with {pointer} again"));
        }
        app.patch("/tenants/default", &patch(pointer, &Value::Null)).await.expect(200);
        app.patch("/tenants/default", &json!({"resets": []})).await.expect(200);
        for (mac, vendor) in vendors {
            same(&parameters(&app, mac).await, &before[mac], &format!("{vendor}, cleared of {pointer}"));
        }
    }
    assert!(resets_seen > 20, "the packs know reset values: {resets_seen}");
}

on_both_databases! {
    async fn a_reset_is_stored_at_the_layer_written(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let zone = json!({"settings": {"time": {"zone": "Europe/Berlin"}}});
        let device = format!("/devices/{YEALINK}");
        let profile = "/tenants/default/profiles/desk";
        app.put(profile, &zone).await.expect(201);
        app.patch(&device, &json!({"profile": "desk"})).await.expect(200);
        // The profile loses it.
        let shown = app.patch(profile, &patch("/settings/time/zone", &Value::Null)).await.expect(200).json();
        assert_eq!(shown["resets"], json!([{"path": "/settings/time/zone", "was": "Europe/Berlin"}]));
        assert_eq!(app.get(&device).await.json()["resets"], json!([]));
        app.patch(profile, &zone).await.expect(200);
        // The device loses the profile.
        let shown = app.patch(&device, &json!({"profile": null})).await.expect(200).json();
        assert_eq!(reset_paths(&shown), ["/settings/time/zone"]);
        assert_eq!(app.get(profile).await.json()["resets"], json!([]));
        let shown = app.patch(&device, &json!({"profile": "desk"})).await.expect(200).json();
        assert_eq!(reset_paths(&shown), [""; 0]);
        // A PUT that leaves it out takes it away as well.
        assert_eq!(reset_paths(&app.put(profile, &json!({})).await.expect(200).json()), ["/settings/time/zone"]);
    }
}

#[tokio::test]
async fn what_another_layer_still_sets_is_not_reset() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let zone = |zone: &str| json!({"settings": {"time": {"zone": zone}}});
    let device = format!("/devices/{YEALINK}");
    let none = patch("/settings/time/zone", &Value::Null);
    app.patch("/tenants/default", &zone("Europe/Berlin")).await.expect(200);
    let inherited = parameters(&app, YEALINK).await;
    app.patch(&device, &zone("America/New_York")).await.expect(200);
    let own = parameters(&app, YEALINK).await;
    assert_ne!(own, inherited);
    assert_eq!(reset_paths(&app.patch(&device, &none).await.expect(200).json()), [""; 0], "the tenant's is in force again");
    same(&parameters(&app, YEALINK).await, &inherited, "the phone");
    // And a reset below is silent where a nearer layer sets it.
    app.patch(&device, &zone("America/New_York")).await.expect(200);
    assert_eq!(reset_paths(&app.patch("/tenants/default", &none).await.expect(200).json()), ["/settings/time/zone"]);
    same(&parameters(&app, YEALINK).await, &own, "the phone");
}

#[tokio::test]
async fn what_a_phone_finds_its_way_back_with_is_left_on_it() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let before = parameters(&app, YEALINK).await;
    for (pointer, value) in [
        ("/settings/provisioning/url", json!("https://p.example.com/provision/")),
        ("/settings/access/admin_password", json!("secret-password")),
        ("/settings/access/web", json!("https")),
        ("/settings/tls/verify", json!(true)),
        ("/settings/network/vlan/id", json!(100)),
        ("/settings/firmware/yealink~1T46S", json!({"url": "http://f.example.com/t46.rom", "version": "66.86.0.15"})),
    ] {
        let names: Vec<String> = pointer.split('/').skip(1).map(|name| name.replace("~1", "/")).collect();
        let patch = |value: &Value| names.iter().rev().fold(value.clone(), |inner, name| json!({name.as_str(): inner}));
        app.patch("/tenants/default", &patch(&value)).await.expect(200);
        let with = parameters(&app, YEALINK).await;
        assert_ne!(with, before, "{pointer} is emitted");
        app.patch("/tenants/default", &patch(&Value::Null)).await.expect(200);
        same(&parameters(&app, YEALINK).await, &before, &format!("{pointer} is not reset"));
        assert_eq!(warnings(&app, YEALINK).await, ["left_on_phone"], "{pointer}");
        app.patch("/tenants/default", &json!({"resets": []})).await.expect(200);
        assert_eq!(warnings(&app, YEALINK).await, [""; 0]);
    }
}

#[tokio::test]
async fn raw_parameters_and_keys_are_reset_too() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let path = format!("/devices/{YEALINK}");
    let before = parameters(&app, YEALINK).await;
    let pack = phone_of("yealink");
    let name = "local_time.time_zone_name";
    let name = if pack.reset_value(name).is_some() { name } else { "local_time.time_zone" };
    app.patch(&path, &json!({"parameters": {"yealink": {name: "x"}}})).await.expect(200);
    let shown = app.patch(&path, &json!({"parameters": null})).await.expect(200).json();
    assert_eq!(reset_paths(&shown), [format!("/parameters/yealink/{name}")]);
    assert_eq!(parameters(&app, YEALINK).await.get(name).map(String::as_str), pack.reset_value(name));
    app.patch(&path, &json!({"resets": []})).await.expect(200);
    same(&parameters(&app, YEALINK).await, &before, "the phone");

    app.patch(&path, &json!({"keys": [{"position": 2, "type": "blf", "value": "101"}]})).await.expect(200);
    let with = parameters(&app, YEALINK).await;
    let shown = app.patch(&path, &json!({"keys": null})).await.expect(200).json();
    assert_eq!(reset_paths(&shown), ["/keys"]);
    same(&parameters(&app, YEALINK).await, &reset_of("yealink", &before, &with), "the phone");
}
