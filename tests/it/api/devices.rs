//! What is particular to devices: MACs in any spelling, how they fare, warnings.

use super::*;

#[tokio::test]
async fn a_mac_is_taken_in_any_spelling_and_given_in_one() {
    let app = TestApp::new().await;
    fleet(&app).await;
    for spelling in ["80:5E:C0:12:34:56", "80-5e-c0-12-34-56", "805e.c012.3456", "805EC0123456", "80%3A5e%3Ac0%3a12%3a34%3a56"] {
        assert_eq!(app.get(&format!("/devices/{spelling}")).await.expect(200).json()["mac"], YEALINK, "{spelling}");
        app.get(&format!("/devices/{spelling}/timers")).await.expect(200);
    }
    app.delete(&format!("/devices/{YEALINK}")).await.expect(204);
    assert_eq!(app.post("/devices", &phone("80-5E-C0-12-34-56", "yealink", None)).await.expect(201).json()["mac"], YEALINK);
    app.post("/devices", &phone("80:5e:c0:12:34:56", "yealink", None)).await.problem(409);
}

#[tokio::test]
async fn a_device_is_shown_with_how_it_fares() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let shown = app.get(&format!("/devices/{YEALINK}")).await.json();
    for member in [
        "mac",
        "tenant",
        "profile",
        "vendor",
        "model",
        "firmware",
        "modules",
        "name",
        "enabled",
        "lines",
        "settings",
        "parameters",
        "resets",
        "revision",
        "warnings",
        "errors",
        "checked_in",
        "last_refused",
        "reported",
    ] {
        assert!(shown.get(member).is_some(), "{member} in {shown}");
    }
    assert_eq!((&shown["tenant"], &shown["vendor"], &shown["enabled"]), (&json!("default"), &json!("yealink"), &json!(true)));
    assert_eq!((&shown["warnings"], &shown["errors"]), (&json!([]), &json!([])));
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    let at = app.get(&format!("/devices/{YEALINK}")).await.json()["checked_in"]["at"].as_str().unwrap().to_owned();
    assert!(at.ends_with('Z') && at.parse::<chrono::DateTime<chrono::Utc>>().is_ok(), "{at} is RFC 3339 in UTC");
}

/// Each warning code with a write that must bring it.
#[tokio::test]
async fn each_warning_is_told_under_its_code() {
    let app = four_vendors().await;
    let timers = |timers: Value| json!({"settings": {"timers": timers}});
    for (mac, patch, code) in [
        (YEALINK, json!({"keys": [{"position": 900, "type": "dnd"}]}), "key_beyond_model"),
        (YEALINK, json!({"lines": [{"line": 1, "user": "1"}, {"line": 99, "user": "2"}]}), "line_beyond_model"),
        (YEALINK, json!({"model": "T99X"}), "unknown_model"),
        (YEALINK, json!({"parameters": {"yealink": {"no.such_thing": "1"}}}), "unknown_parameter"),
        (YEALINK, timers(json!({"check_in": {"interval": 3600, "spread": 3600}})), "spread_narrowed"),
        (YEALINK, timers(json!({"mwi_subscription": {"interval": 2_000_000_000}})), "value_capped"),
        (POLY, json!({"settings": {"time": {"zone": "Australia/Lord_Howe"}}}), "zone_approximated"),
        (LINPHONE, json!({"settings": {"network": {"lldp": true}}}), "setting_unsupported"),
    ] {
        let path = format!("/devices/{mac}");
        let before = match mac {
            YEALINK => phone(mac, "yealink", Some("T46S")),
            POLY => phone(mac, "poly", Some("VVX 250")),
            _ => phone(mac, "linphone", None),
        };
        assert!(!warnings(&app, mac).await.contains(&code.to_owned()), "{code} before");
        app.patch(&path, &patch).await.expect(200);
        assert!(warnings(&app, mac).await.contains(&code.to_owned()), "{code} missing: {:?}", warnings(&app, mac).await);
        app.fetch(&format!("{mac}.cfg")).await.expect(200);
        app.delete(&path).await.expect(204);
        app.post("/devices", &before).await.expect(201);
    }
}

#[tokio::test]
async fn a_phone_without_an_interval_or_a_clock_says_so() {
    let app = four_vendors().await;
    // Linphone has no check-in timer of its own: clock mode cannot be had.
    app.patch("/tenants/default", &json!({"settings": {"timers": {"check_in": {"mode": "clock", "from": "01:00", "until": "05:00"}}}}))
        .await
        .expect(200);
    for mac in [YEALINK, POLY, GRANDSTREAM] {
        assert!(!warnings(&app, mac).await.contains(&"mode_unsupported".to_owned()), "{mac} has a clock mode");
    }
}

#[tokio::test]
async fn lines_are_shown_in_order_and_a_disabled_device_keeps_all() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let path = format!("/devices/{YEALINK}");
    let lines = json!({"enabled": false, "lines": [{"line": 3, "user": "c"}, {"line": 1, "user": "a"}]});
    let shown = app.patch(&path, &lines).await.expect(200).json();
    let users: Vec<_> =
        shown["lines"].as_array().unwrap().iter().map(|line| (line["line"].as_u64().unwrap(), line["user"].as_str().unwrap())).collect();
    assert_eq!(users, [(1, "a"), (3, "c")]);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(404);
    app.get(&format!("{path}/timers")).await.expect(200);
    app.patch(&path, &json!({"enabled": true})).await.expect(200);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
}
