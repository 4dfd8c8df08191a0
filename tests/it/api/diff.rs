//! `/devices/{mac}/diff`: what a device was last served against what it would get now.

use super::*;

async fn diff(app: &TestApp, mac: &str) -> Value {
    let diff = app.get(&format!("/devices/{mac}/diff")).await.expect(200).json();
    let mut members: Vec<_> = diff.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["changes", "effect", "from", "identical", "mac", "to", "unified"]);
    assert_eq!(diff["mac"], mac);
    for change in diff["changes"].as_array().unwrap() {
        let mut members: Vec<_> = change.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        assert_eq!(members, ["certainty", "effect", "file", "from", "parameter", "to"]);
        assert!(["documented", "observed", "assumed"].contains(&change["certainty"].as_str().unwrap()));
    }
    diff
}

fn change<'d>(diff: &'d Value, parameter: &str) -> &'d Value {
    let changes = diff["changes"].as_array().unwrap();
    changes.iter().find(|change| change["parameter"] == parameter).unwrap_or_else(|| panic!("no {parameter} in {diff}"))
}

on_both_databases! {
    async fn a_phone_that_has_what_it_would_get_is_identical(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        for mac in [YEALINK, POLY, LINPHONE] {
            for name in column(&app.get(&format!("/devices/{mac}/files")).await, "name") {
                app.fetch(&name).await.expect(200);
            }
            let diff = diff(&app, mac).await;
            assert_eq!((&diff["identical"], &diff["effect"], &diff["changes"], &diff["unified"]), (&json!(true), &json!("none"), &json!([]), &json!({})));
            assert_eq!((&diff["from"]["what"], &diff["to"]["what"]), (&json!("served"), &json!("current")));
            assert_eq!(diff["from"]["files"], diff["to"]["files"]);
            for (name, tag) in diff["to"]["files"].as_object().unwrap() {
                assert_eq!(app.fetch(name).await.header("etag"), tag.as_str(), "{name}");
            }
            for side in ["from", "to"] {
                assert_eq!(diff[side]["at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap(), app.now());
            }
        }
    }

    async fn an_edit_shows_with_both_values(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        app.patch("/tenants/default", &json!({"settings": {"time": {"zone": "Europe/Berlin"}}})).await.expect(200);
        app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
        let served_at = app.now();
        app.advance(chrono::TimeDelta::hours(2));
        let edit = json!({"settings": {"sip": {"port": 5070}, "time": null}, "resets": []});
        app.patch("/tenants/default", &edit).await.expect(200);
        app.patch("/tenants/default", &json!({"resets": []})).await.expect(200);
        app.patch(&format!("/devices/{YEALINK}"), &json!({"parameters": {"yealink": {"features.dnd_mode": "1"}}})).await.expect(200);
        let diff = diff(&app, YEALINK).await;
        assert_eq!(diff["identical"], false);
        let port = change(&diff, "account.1.sip_server.1.port");
        assert_eq!((&port["from"], &port["to"], &port["file"]), (&json!("5060"), &json!("5070"), &json!(format!("{YEALINK}.cfg"))));
        let added = change(&diff, "features.dnd_mode");
        assert_eq!((&added["from"], &added["to"]), (&Value::Null, &json!("1")));
        let removed = diff["changes"].as_array().unwrap().iter().filter(|change| change["to"].is_null()).count();
        assert!(removed > 0, "the zone's parameters are gone: {diff}");
        assert_eq!(diff["from"]["at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap(), served_at);
        assert_ne!(diff["from"]["files"], diff["to"]["files"]);
        let unified = diff["unified"][format!("{YEALINK}.cfg")].as_str().unwrap();
        assert!(unified.starts_with("--- served\n+++ current\n@@ "), "{unified}");
        assert!(unified.contains("\n-account.1.sip_server.1.port = 5060\n+account.1.sip_server.1.port = 5070\n"), "{unified}");
        let files: Vec<_> = diff["unified"].as_object().unwrap().keys().collect();
        assert_eq!(files.len(), 1, "only files that differ");

        let plain = app.api(Call::api("GET", &format!("/devices/{YEALINK}/diff")).header("accept", "text/plain")).await.expect(200);
        assert!(plain.header("content-type").unwrap().starts_with("text/plain"));
        assert_eq!(plain.text(), unified);
    }

    async fn a_phone_never_served_has_everything_as_a_change(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        app.phone(Call::new("HEAD", &format!("/provision/{YEALINK}.cfg"))).await.expect(200);
        let diff = diff(&app, YEALINK).await;
        assert_eq!((&diff["from"], &diff["identical"]), (&Value::Null, &json!(false)));
        assert!(diff["changes"].as_array().unwrap().iter().all(|change| change["from"].is_null() && !change["to"].is_null()));
        assert_eq!(change(&diff, "account.1.sip_server.1.expires")["to"], "3058");
        assert_eq!(change(&diff, "account.1.password")["to"], "********");
        assert!(!diff.to_string().contains("secret-of-line-1"));
    }
}

#[tokio::test]
async fn the_effect_is_the_worst_of_the_changes() {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    let rank = |effect: &Value| match effect.as_str().unwrap() {
        "none" => 0,
        "live" => 1,
        "reregister" => 2,
        "restart" => 3,
        "reboot" | "unknown" => 4,
        "strand" => 5,
        other => panic!("{other}"),
    };
    let mut effects = std::collections::BTreeSet::new();
    for patch in [
        json!({"lines": [{"line": 1, "user": "100", "password": "secret-of-line-1", "label": "Front"}]}),
        json!({"settings": {"sip": {"port": 5070}}}),
        json!({"settings": {"network": {"vlan": {"id": 7}}}}),
        json!({"settings": {"provisioning": {"url": "https://elsewhere.example/"}}}),
        json!({"parameters": {"yealink": {"nobody.knows": "1"}}}),
    ] {
        app.patch(&format!("/devices/{YEALINK}"), &patch).await.expect(200);
        let diff = diff(&app, YEALINK).await;
        let worst = diff["changes"].as_array().unwrap().iter().map(|change| rank(&change["effect"])).max().unwrap();
        assert!(rank(&diff["effect"]) >= worst, "{diff}");
        effects.insert(diff["effect"].as_str().unwrap().to_owned());
    }
    assert!(effects.contains("strand"), "a new provisioning address may strand a phone: {effects:?}");
    assert_eq!(change(&diff(&app, YEALINK).await, "nobody.knows")["effect"], "unknown");
}

#[tokio::test]
async fn other_sides_of_a_diff_are_not_there_yet() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let path = format!("/devices/{YEALINK}/diff");
    app.get(&format!("{path}?from=served&to=current")).await.expect(200);
    for query in ["from=yesterday", "to=served", "from="] {
        app.get(&format!("{path}?{query}")).await.problem(422);
    }
}

#[tokio::test]
async fn a_faulty_device_has_no_diff_but_its_errors() {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.patch(&format!("/devices/{YEALINK}?accept=errors"), &json!({"settings": {"sip": {"server": ""}}})).await.expect(200);
    for part in ["diff", "timers", "files"] {
        assert!(!app.get(&format!("/devices/{YEALINK}/{part}")).await.errors().is_empty());
    }
}
