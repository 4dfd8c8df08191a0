//! Secrets are write-only: read back as `{"set": true}`, which may be sent back to keep them.

use super::*;

const SET: &str = "hunter2";

fn set() -> Value {
    json!({"set": true})
}

/// A layer with a secret in every place that may hold one.
fn layer() -> Value {
    json!({
        "settings": {
            "access": {"admin_password": "hunter2-admin", "user_password": "hunter2-user"},
            "provisioning": {"url": "https://u:hunter2-url@host.example/p", "username": "u", "password": "hunter2-provisioning"},
            "phonebooks": [{"name": "open", "url": "http://book.example/"}, {"name": "closed", "url": "http://u:hunter2-book@book.example/"}],
            "tls": {"ca_url": "https://u:hunter2-ca@ca.example/ca.pem"},
        },
        "parameters": {"yealink": {"account.1.password": "hunter2-raw", "account.1.label": "open", "ldap.base": "ldap://u:hunter2-ldap@x.example"}},
    })
}

fn masked(document: &Value) {
    let settings = &document["settings"];
    for secret in [
        &settings["access"]["admin_password"],
        &settings["access"]["user_password"],
        &settings["provisioning"]["url"],
        &settings["provisioning"]["password"],
        &settings["phonebooks"][1]["url"],
        &settings["tls"]["ca_url"],
        &document["parameters"]["yealink"]["account.1.password"],
        &document["parameters"]["yealink"]["ldap.base"],
    ] {
        assert_eq!(*secret, set(), "{document}");
    }
    assert_eq!(settings["phonebooks"][0]["url"], "http://book.example/");
    assert_eq!(document["parameters"]["yealink"]["account.1.label"], "open");
    assert!(!document.to_string().contains(SET), "{document}");
}

fn device() -> Value {
    let mut device = phone(YEALINK, "yealink", Some("T46S"));
    device.as_object_mut().unwrap().extend(layer().as_object().unwrap().clone());
    device["settings"]["sip"] = json!({"server": "pbx.example.com"});
    device["lines"] = json!([
        {"line": 1, "user": "101", "password": "hunter2-one"}, {"line": 2, "user": "102", "password": "hunter2-two"}, {"line": 4, "user": "104"},
    ]);
    device
}

/// The bytes a phone gets, which hold the clear secrets.
async fn file(app: &TestApp) -> String {
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text()
}

on_both_databases! {
    async fn a_secret_is_never_read_back(db: &Db) {
        let app = TestApp::on(db).await;
        for (list, one, document) in [
            ("/tenants", "/tenants/acme".to_owned(), json!({"id": "acme"})),
            ("/tenants/default/profiles", "/tenants/default/profiles/desk".to_owned(), json!({"id": "desk"})),
            ("/devices", format!("/devices/{YEALINK}"), device()),
        ] {
            let mut document = document;
            document.as_object_mut().unwrap().extend(layer().as_object().unwrap().clone());
            if list == "/devices" {
                document = device();
            }
            masked(&app.post(list, &document).await.expect(201).json());
            masked(&app.get(&one).await.json());
            masked(&app.patch(&one, &json!({"name": "x"})).await.expect(200).json());
            let listed = app.get(list).await.text();
            assert!(listed.contains("{\"set\":true}") && !listed.contains(SET), "{listed}");
        }
    }

    async fn the_marker_sent_back_keeps_the_secret(db: &Db) {
        let app = TestApp::on(db).await;
        app.post("/devices", &device()).await.expect(201);
        let before = file(&app).await;
        let created = app.get(&format!("/devices/{YEALINK}")).await.json();
        for secret in ["hunter2-one", "hunter2-two", "hunter2-raw"] {
            assert_eq!(before.contains(secret), secret != "hunter2-one", "the raw parameter beats the line's own: {before}");
        }
        let path = format!("/devices/{YEALINK}");
        assert_eq!(app.put(&path, &created).await.expect(200).json(), created, "not even a new revision");
        assert_eq!(app.patch(&path, &created).await.expect(200).json(), created);
        assert_eq!(file(&app).await, before);
    }

    async fn secrets_of_lines_are_matched_by_line_not_by_place(db: &Db) {
        let app = TestApp::on(db).await;
        let mut document = device();
        document["parameters"] = json!({});
        app.post("/devices", &document).await.expect(201);
        let lines = json!([
            {"line": 4, "user": "104"}, {"line": 2, "user": "202", "password": set()}, {"line": 1, "user": "101", "password": set()},
        ]);
        app.patch(&format!("/devices/{YEALINK}"), &json!({"lines": lines})).await.expect(200);
        let text = file(&app).await;
        for line in ["account.1.password = hunter2-one", "account.2.password = hunter2-two", "account.2.user_name = 202"] {
            assert!(text.contains(&format!("\n{line}\n")), "{line} in {text}");
        }
    }
}

#[tokio::test]
async fn a_marker_where_nothing_is_stored_is_422() {
    let app = TestApp::new().await;
    app.post("/devices", &device()).await.expect(201);
    let path = format!("/devices/{YEALINK}");
    let lines = json!([{"line": 5, "user": "x", "password": set()}, {"line": 4, "user": "104", "password": set()}, {"line": 1, "user": "101", "password": set()}]);
    assert_eq!(app.patch(&path, &json!({"lines": lines})).await.error_paths(), ["/lines/0/password", "/lines/1/password"]);
    let layer = json!({
        "settings": {"access": {"admin_password": set()}, "provisioning": {"url": set()}, "phonebooks": [{"url": set()}]},
        "parameters": {"yealink": {"account.1.password": set()}},
    });
    let expected = [
        "/parameters/yealink/account.1.password",
        "/settings/access/admin_password",
        "/settings/phonebooks/0/url",
        "/settings/provisioning/url",
    ];
    for path in ["/tenants/acme", "/tenants/default/profiles/desk"] {
        let mut paths = app.put(path, &layer).await.error_paths();
        paths.sort();
        assert_eq!(paths, expected);
    }
    // What only looks like the marker is no secret.
    for other in [json!({"set": false}), json!({"set": true, "x": 1}), json!({}), json!(true)] {
        assert_eq!(
            app.patch(&path, &json!({"settings": {"provisioning": {"password": other}}})).await.status,
            if other == json!({}) { 200 } else { 422 }
        );
    }
}

#[tokio::test]
async fn omitted_in_put_or_null_clears() {
    let app = TestApp::new().await;
    let path = format!("/devices/{YEALINK}");
    let created = app.post("/devices", &device()).await.expect(201).json();
    let without = |change: &dyn Fn(&mut Value)| {
        let mut document = created.clone();
        change(&mut document);
        document
    };
    let omitted = without(&|document| _ = document["lines"][1].as_object_mut().unwrap().remove("password"));
    let shown = app.put(&path, &omitted).await.expect(200).json();
    assert_eq!((&shown["lines"][0]["password"], &shown["lines"][1]["password"]), (&set(), &Value::Null));
    assert!(!file(&app).await.contains("hunter2-two"));
    let null = without(&|document| {
        document["lines"][0]["password"] = Value::Null;
        document["lines"][1]["password"] = Value::Null;
    });
    let shown = app.put(&path, &null).await.expect(200).json();
    assert_eq!(shown["lines"][0]["password"], Value::Null, "unset is null");
    let cleared = app.patch(&path, &json!({"settings": {"access": {"admin_password": null}}})).await.expect(200).json();
    assert!(cleared["settings"]["access"]["admin_password"].is_null());
    assert_eq!(cleared["settings"]["access"]["user_password"], set());
}

#[tokio::test]
async fn a_changed_secret_is_a_change_and_shows_nowhere() {
    let app = TestApp::new().await;
    let path = format!("/devices/{YEALINK}");
    app.post("/devices", &device()).await.expect(201);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    let plan =
        app.patch(&format!("{path}?dry_run=true"), &json!({"settings": {"access": {"admin_password": "hunter2-new"}}})).await.expect(200);
    assert!(!plan.text().contains(SET), "{}", plan.text());
    assert_eq!(plan.json()["devices"]["changed"], 1);
    let lines = json!({"lines": [{"line": 1, "user": "101"}, {"line": 2, "user": "102", "password": "hunter2-changed"}, {"line": 4, "user": "104"}]});
    let before = app.get(&path).await.json()["revision"].clone();
    assert_ne!(app.patch(&path, &lines).await.expect(200).json()["revision"], before);
    let diff = app.get(&format!("{path}/diff")).await.expect(200);
    assert!(!diff.text().contains(SET), "{}", diff.text());
    let changes = diff.json()["changes"].as_array().unwrap().clone();
    let change = changes.iter().find(|change| change["parameter"] == "account.2.password").unwrap();
    assert_eq!((&change["from"], &change["to"]), (&json!("********"), &json!("********")));
    assert!(
        diff.json()["unified"][format!("{YEALINK}.cfg")]
            .as_str()
            .unwrap()
            .contains("-account.2.password = ********\n+account.2.password = ********")
    );
}
