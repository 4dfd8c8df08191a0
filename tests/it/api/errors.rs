//! 422: everything that is wrong with a document at once, each with its JSON pointer.

use super::*;

/// The paths of a refusal are exactly these.
#[track_caller]
fn refused(answer: Answer, paths: &[&str]) {
    let mut expected: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
    expected.sort();
    let errors = answer.errors();
    let mut found: Vec<_> = errors.iter().map(|(path, _)| path.clone()).collect();
    found.sort();
    assert_eq!(found, expected, "{errors:?}");
}

#[tokio::test]
async fn every_error_of_a_device_is_told_at_once() {
    let app = TestApp::new().await;
    let document = json!({
        "colour": "red", "tenant": "nowhere", "profile": "none", "name": "a\u{7}b", "enabled": "yes",
        "settings": {
            "sip": {"server": "http://x", "tranport": "udp", "port": 70000, "codecs": ["pcmu", "mp3"], "backup": {"server": "ok.example", "mode": "maybe"}},
            "timers": {
                "registration": {"interval": 30}, "subscription": {"interval": 0}, "keepalive": {"interval": 0}, "phonebook": {"interval": 3599},
                "check_in": {"from": "25:00", "spread": -1}, "failback": {"interval": 1.5}, "registration_retry": {"floor": 2_147_483_648_u32}, "lunch": {},
            },
            "time": {"zone": "Mars/Olympus"}, "locale": {"language": "d", "tones": "DEU"}, "network": {"vlan": {"id": 4095}},
            "phonebooks": [{"name": "no address"}], "firmware": {"no-vendor/T1": {"version": "1"}},
        },
        "lines": [{"line": 1, "user": "a"}, {"line": 1, "user": "b"}, {"user": "c"}, {"line": 0, "user": "d"}, {"line": 2, "user": "e", "shade": 1}],
        "keys": [{"position": 1, "type": "blf"}, {"position": 1, "type": "dnd"}, {"position": 0, "type": "sing"}, {"position": 3, "type": "raw"}],
        "parameters": {"no-vendor": {"x": "y"}, "yealink/T46S": {"a b/c~d": "x"}, "yealink": {"account.1.label": 5}},
    });
    let expected = [
        "/colour",
        "/tenant",
        "/profile",
        "/name",
        "/enabled",
        "/settings/sip/server",
        "/settings/sip/tranport",
        "/settings/sip/port",
        "/settings/sip/codecs/1",
        "/settings/sip/backup/mode",
        "/settings/timers/registration/interval",
        "/settings/timers/subscription/interval",
        "/settings/timers/phonebook/interval",
        "/settings/timers/check_in/from",
        "/settings/timers/check_in/spread",
        "/settings/timers/failback/interval",
        "/settings/timers/registration_retry/floor",
        "/settings/timers/lunch",
        "/settings/time/zone",
        "/settings/locale/language",
        "/settings/locale/tones",
        "/settings/network/vlan/id",
        "/settings/phonebooks/0/url",
        "/settings/firmware/no-vendor~1T1",
        "/lines/1/line",
        "/lines/2/line",
        "/lines/3/line",
        "/lines/4/shade",
        "/keys/1/position",
        "/keys/2/position",
        "/keys/2/type",
        "/keys/3/code",
        "/parameters/no-vendor",
        "/parameters/yealink~1T46S/a b~1c~0d",
        "/parameters/yealink/account.1.label",
    ];
    refused(app.put(&format!("/devices/{YEALINK}"), &document).await, &expected);
    // A bad MAC hides none of the others, nor does a missing one.
    let mut posted = document.clone();
    posted["mac"] = json!("01:00:5e:00:00:01");
    refused(app.post("/devices", &posted).await, &[&expected[..], &["/mac"]].concat());
    refused(app.post("/devices", &document).await, &[&expected[..], &["/mac"]].concat());
    app.get(&format!("/devices/{YEALINK}")).await.problem(404);
}

#[tokio::test]
async fn every_error_of_a_tenant_and_a_profile_is_told_at_once() {
    let app = TestApp::new().await;
    let layer = json!({"settings": {"time": {"zone": "x"}, "timers": {"check_in": {"interval": 60}}}, "parameters": {"no-vendor": {}}, "keys": [{"position": 1}], "x": 1});
    let common = ["/settings/time/zone", "/settings/timers/check_in/interval", "/parameters/no-vendor", "/keys/0/type", "/x"];
    let with = |extra: Value| {
        let mut document = layer.clone();
        document.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        document
    };
    let tenant = with(json!({"parent": "nowhere", "profile": "none", "salt": "ä"}));
    refused(app.put("/tenants/acme", &tenant).await, &[&common[..], &["/parent", "/profile", "/salt"]].concat());
    refused(app.post("/tenants", &with(json!({"id": "Not An Id"}))).await, &[&common[..], &["/id"]].concat());
    refused(app.put("/tenants/default/profiles/desk", &with(json!({"extends": "none"}))).await, &[&common[..], &["/extends"]].concat());
    refused(app.post("/tenants/default/profiles", &with(json!({"id": "a/b"}))).await, &[&common[..], &["/id"]].concat());
}

#[tokio::test]
async fn macs_that_are_no_ones_own_are_refused() {
    let app = TestApp::new().await;
    for mac in
        ["000000000000", "ff:ff:ff:ff:ff:ff", "01005e000001", "805ec012345", "805ec01234567", "", "80 5e c0 12 34 56", "805ec012345g"]
    {
        let mut device = phone(mac, "yealink", None);
        refused(app.post("/devices?accept=errors", &device).await, &["/mac"]);
        device["mac"] = Value::Null;
        if !mac.is_empty() {
            refused(app.put(&format!("/devices/{}?accept=errors", mac.replace(' ', "%20")), &device).await, &["/mac"]);
        }
    }
}

#[tokio::test]
async fn a_vendor_is_required_where_the_prefix_names_none() {
    let app = TestApp::new().await;
    app.patch("/tenants/default", &json!({"settings": {"sip": {"server": "pbx.example.com"}}})).await.expect(200);
    let mut device = phone("020000000001", "", None);
    device["vendor"] = Value::Null;
    refused(app.post("/devices", &device).await, &["/vendor"]);
    device["vendor"] = json!("no-vendor");
    refused(app.post("/devices", &device).await, &["/vendor"]);
    device["mac"] = json!(YEALINK);
    device["vendor"] = Value::Null;
    let stored = app.post("/devices", &device).await.expect(201).json();
    assert_eq!(stored["vendor"], "yealink", "the one that the prefix names is stored");
}

#[tokio::test]
async fn an_interval_below_the_floor_in_force_at_its_own_layer_is_a_decision() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let timers = |numbers: Value| json!({"settings": {"timers": {"registration": numbers}}});
    let path = "/settings/timers/registration/interval";
    refused(app.patch("/tenants/default", &timers(json!({"interval": 59}))).await, &[path]);
    app.patch("/tenants/default", &timers(json!({"interval": 59, "floor": 59}))).await.expect(200);
    app.patch("/tenants/default", &timers(json!({"interval": 2000, "floor": 1800}))).await.expect(200);
    // The floor of the layers below is the one in force.
    refused(app.put("/tenants/default/profiles/desk", &timers(json!({"interval": 1799}))).await, &[path]);
    refused(app.patch(&format!("/devices/{YEALINK}"), &timers(json!({"interval": 1799}))).await, &[path]);
    app.put("/tenants/default/profiles/desk", &timers(json!({"interval": 1799, "floor": 100}))).await.expect(201);
    let line = json!({"lines": [{"line": 7, "user": "a"}, {"line": 3, "user": "b", "timers": {"registration": {"interval": 1799}}}]});
    refused(app.patch(&format!("/devices/{YEALINK}"), &line).await, &["/lines/1/timers/registration/interval"]);
    // The registrar lifts the floor.
    let registrar = json!({"settings": {"sip": {"registrar": {"min_expires": 1900}}, "timers": {"registration": {"interval": 1850}}}});
    refused(app.patch(&format!("/devices/{YEALINK}"), &registrar).await, &[path]);
    // A floor that is raised above an interval of another layer raises that, with a warning.
    app.patch(&format!("/devices/{YEALINK}"), &timers(json!({"floor": 3000}))).await.expect(200);
    assert!(warnings(&app, YEALINK).await.contains(&"interval_raised".to_owned()));
}

#[tokio::test]
async fn off_is_taken_where_a_phone_may_be_without_the_timer() {
    let app = TestApp::new().await;
    for (timer, may) in [
        ("check_in", true),
        ("keepalive", true),
        ("phonebook", true),
        ("mwi_subscription", true),
        ("registration", false),
        ("subscription", false),
        ("registration_lead", false),
        ("registration_retry", false),
        ("check_in_retry", false),
        ("failback", false),
    ] {
        let answer = app.patch("/tenants/default", &json!({"settings": {"timers": {timer: {"interval": 0}}}})).await;
        if may { _ = answer.expect(200) } else { refused(answer, &[&format!("/settings/timers/{timer}/interval")]) }
    }
}

#[tokio::test]
async fn a_value_that_the_format_cannot_carry_is_refused_when_written() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let path = format!("/devices/{YEALINK}");
    for (password, codes) in [(" leading", 422), ("trailing ", 422), ("in the middle # ; = % \\ $ {{x}} ä\"'<>&", 200)] {
        let answer = app.patch(&path, &json!({"lines": [{"line": 1, "user": "100", "password": password}]})).await;
        match codes {
            422 => refused(answer, &["/lines/0/password"]),
            _ => _ = answer.expect(200),
        }
    }
    // Also where the device's line is not the first of the document.
    let lines = json!({"lines": [{"line": 2, "user": "200", "password": " x"}, {"line": 1, "user": "100"}]});
    refused(app.patch(&path, &lines).await, &["/lines/0/password"]);
    for control in ["a\nb", "a\tb", "a\u{0}b", "a\u{7f}b", "a\u{85}b"] {
        refused(
            app.patch(&path, &json!({"parameters": {"yealink": {"account.1.label": control}}})).await,
            &["/parameters/yealink/account.1.label"],
        );
        refused(app.patch(&format!("/devices/{LINPHONE}"), &json!({"lines": [{"line": 1, "user": control}]})).await, &["/lines/0/user"]);
    }
}

#[tokio::test]
async fn a_write_that_would_break_a_good_device_is_refused_unless_errors_are_accepted() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let away = json!({"settings": {"sip": {"server": null}}});
    let problem = app.patch("/tenants/default", &away).await.problem(422);
    let told = problem["errors"][0]["detail"].as_str().unwrap();
    assert!([YEALINK, POLY, LINPHONE].iter().any(|mac| told.contains(mac)), "names the device: {told}");
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    app.patch("/tenants/default?accept=errors", &away).await.expect(200);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(404);
    let shown = app.get(&format!("/devices/{YEALINK}")).await.json();
    let error = &shown["errors"][0];
    assert!(error["path"].is_string() && error["code"].is_string() && error["detail"].is_string(), "{shown}");
    // One that is broken already does not stand in the way.
    app.patch(&format!("/devices/{YEALINK}"), &json!({"name": "still broken"})).await.expect(200);
    app.patch(&format!("/devices/{YEALINK}"), &json!({"settings": {"sip": {"server": "own.example"}}})).await.expect(200);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    app.put(&format!("/devices/{YEALINK}"), &phone(YEALINK, "yealink", Some("T46S"))).await.problem(422);
}
