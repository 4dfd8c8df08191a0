//! `?dry_run=true`: nothing is stored, and the answer is the plan in the shape of the contract's section 6.

use super::*;

const EFFECTS: [&str; 7] = ["live", "none", "reboot", "reregister", "restart", "strand", "unknown"];
/// In rising order of harm; unknown ranks with reboot.
const HARM: [&[&str]; 6] = [&["none"], &["live"], &["reregister"], &["restart"], &["reboot", "unknown"], &["strand"]];

fn harm(effect: &Value) -> usize {
    HARM.iter().position(|rank| rank.contains(&effect.as_str().unwrap())).unwrap()
}

fn members(value: &Value) -> Vec<&str> {
    let mut members: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// A plan, once its shape and sums are as they must be.
#[track_caller]
fn plan(answer: Answer) -> Value {
    let plan = answer.expect(200).json();
    assert_eq!(members(&plan), ["devices", "effects", "parameters", "sample"]);
    let devices = &plan["devices"];
    assert_eq!(members(devices), ["changed", "failed", "never_served", "total", "unchanged"]);
    assert_eq!(members(&plan["effects"]), EFFECTS);
    let [changed, unchanged, failed, total, never] =
        ["changed", "unchanged", "failed", "total", "never_served"].map(|member| number(&devices[member]));
    assert_eq!(changed + unchanged + failed, total);
    assert!(never <= changed);
    assert_eq!(EFFECTS.iter().map(|effect| number(&plan["effects"][*effect])).sum::<u64>(), changed);
    let parameters = plan["parameters"].as_array().unwrap();
    for parameter in parameters {
        assert_eq!(members(parameter), ["devices", "effect", "example", "parameter", "vendor"]);
        assert_eq!(members(&parameter["example"]), ["from", "mac", "to"]);
        assert!((1..=changed).contains(&number(&parameter["devices"])));
        assert_ne!(parameter["example"]["from"], parameter["example"]["to"]);
    }
    let names: Vec<_> = parameters.iter().map(|p| (p["vendor"].as_str().unwrap(), p["parameter"].as_str().unwrap())).collect();
    assert!(names.is_sorted(), "{names:?}");
    let sample = plan["sample"].as_array().unwrap();
    assert_eq!(sample.len() as u64, changed.min(20));
    assert!(sample.iter().all(|device| members(device) == ["effect", "mac"]));
    let harms: Vec<_> = sample.iter().map(|device| harm(&device["effect"])).collect();
    assert!(harms.iter().rev().is_sorted(), "the worst first: {harms:?}");
    plan
}

async fn planned(app: &TestApp, method: &str, path: &str, body: &Value) -> Value {
    plan(app.api(Call::api(method, &format!("{path}?dry_run=true")).json(body)).await)
}

on_both_databases! {
    async fn nothing_is_stored_and_the_plan_is_what_then_happens(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let edit = json!({"settings": {"sip": {"port": 5070}}});
        let before = app.get("/tenants/default").await;
        let file = app.fetch(&format!("{YEALINK}.cfg")).await;
        let plan = planned(&app, "PATCH", "/tenants/default", &edit).await;
        assert_eq!(plan["devices"], json!({"total": 3, "changed": 3, "unchanged": 0, "never_served": 2, "failed": 0}));
        let after = app.get("/tenants/default").await;
        assert_eq!((after.json(), after.header("etag")), (before.json(), before.header("etag")));
        assert_eq!(app.fetch(&format!("{YEALINK}.cfg")).await.body, file.body);
        let parameter = plan["parameters"].as_array().unwrap().iter().find(|p| p["parameter"] == "account.1.sip_server.1.port").unwrap();
        assert_eq!((&parameter["vendor"], &parameter["devices"]), (&json!("yealink"), &json!(1)));
        assert_eq!(parameter["example"], json!({"mac": YEALINK, "from": "5060", "to": "5070"}));
        // Then it is done: the device's diff says the same.
        app.patch("/tenants/default", &edit).await.expect(200);
        let diff = app.get(&format!("/devices/{YEALINK}/diff")).await.json();
        let in_sample = plan["sample"].as_array().unwrap().iter().find(|device| device["mac"] == YEALINK).unwrap();
        assert_eq!(diff["effect"], in_sample["effect"]);
        let changed: Vec<_> = diff["changes"].as_array().unwrap().iter().map(|change| change["parameter"].as_str().unwrap()).collect();
        let planned: Vec<_> = plan["parameters"].as_array().unwrap().iter().filter(|p| p["vendor"] == "yealink").map(|p| p["parameter"].as_str().unwrap()).collect();
        assert_eq!(changed, planned);
    }

    async fn every_kind_of_write_takes_it(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let none = json!({"total": 0, "changed": 0, "unchanged": 0, "never_served": 0, "failed": 0});
        for (method, path, body) in [
            ("POST", "/tenants", json!({"id": "acme"})),
            ("PUT", "/tenants/acme", json!({})),
            ("POST", "/tenants/default/profiles", json!({"id": "desk"})),
            ("PUT", "/tenants/default/profiles/desk", json!({})),
        ] {
            assert_eq!(planned(&app, method, path, &body).await["devices"], none, "{method} {path}");
        }
        assert_eq!(column(&app.get("/tenants").await, "id"), ["default"]);
        assert_eq!(column(&app.get("/tenants/default/profiles").await, "id"), [""; 0]);
        let new = phone("805ec0000001", "yealink", Some("T46S"));
        let one = json!({"total": 1, "changed": 1, "unchanged": 0, "never_served": 1, "failed": 0});
        for (method, path) in [("POST", "/devices"), ("PUT", "/devices/805ec0000001")] {
            let plan = planned(&app, method, path, &new).await;
            assert_eq!(plan["devices"], one);
            assert!(plan["parameters"].as_array().unwrap().iter().all(|parameter| parameter["example"]["from"].is_null()), "all of it is new");
            assert!(!plan.to_string().contains("secret-of-line-1"));
        }
        app.get("/devices/805ec0000001").await.problem(404);
        let gone = planned(&app, "DELETE", &format!("/devices/{YEALINK}"), &Value::Null).await;
        assert_eq!(gone["devices"], one);
        app.get(&format!("/devices/{YEALINK}")).await.expect(200);
        // Conditions and errors are those of the write itself.
        app.api(Call::api("PUT", "/tenants/default?dry_run=true").json(&json!({})).header("if-match", "\"999\"")).await.problem(412);
        app.post("/devices?dry_run=true", &phone(YEALINK, "yealink", None)).await.problem(409);
        assert_eq!(app.patch("/tenants/default?dry_run=true", &json!({"x": 1})).await.error_paths(), ["/x"]);
    }
}

#[tokio::test]
async fn what_changes_no_byte_is_unchanged() {
    let app = TestApp::new().await;
    fleet(&app).await;
    for (path, body, total) in [
        ("/tenants/default", json!({"name": "x"}), 3),
        ("/devices/805ec0123456", json!({"name": "x"}), 1),
        ("/devices/805ec0123456", json!({}), 1),
    ] {
        let plan = planned(&app, "PATCH", path, &body).await;
        assert_eq!(plan["devices"], json!({"total": total, "changed": 0, "unchanged": total, "never_served": 0, "failed": 0}));
        assert_eq!((&plan["parameters"], &plan["sample"]), (&json!([]), &json!([])));
    }
}

#[tokio::test]
async fn never_served_is_who_was_handed_no_whole_file() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let never = async || {
        planned(&app, "PATCH", "/tenants/default", &json!({"settings": {"sip": {"port": 5070}}})).await["devices"]["never_served"].clone()
    };
    assert_eq!(never().await, 3);
    app.phone(Call::new("HEAD", &format!("/provision/{YEALINK}.cfg"))).await.expect(200);
    app.phone(Call::get(&format!("/provision/{POLY}.cfg")).header("if-none-match", "*")).await.expect(304);
    app.fetch("805ec0999999.cfg").await.expect(404);
    assert_eq!(never().await, 3, "a HEAD and a 304 are check-ins only");
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    assert_eq!(never().await, 2, "at once, whatever is buffered");
}

#[tokio::test]
async fn a_device_that_would_fail_is_counted_where_errors_are_accepted() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let away = json!({"settings": {"sip": {"server": null}}});
    app.patch("/tenants/default?dry_run=true", &away).await.problem(422);
    let plan = plan(app.patch("/tenants/default?dry_run=true&accept=errors", &away).await);
    assert_eq!(plan["devices"], json!({"total": 3, "changed": 0, "unchanged": 0, "never_served": 0, "failed": 3}));
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
}

#[tokio::test]
async fn a_plan_reaches_the_devices_below_and_names_twenty() {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.put("/tenants/site", &json!({"parent": "default"})).await.expect(201);
    app.put("/tenants/other", &json!({"settings": {"sip": {"server": "o.example"}}})).await.expect(201);
    for n in 0..25 {
        let mut device = phone(&format!("805ec00000{n:02x}"), "yealink", Some("T46S"));
        device["tenant"] = json!(if n < 22 { "site" } else { "other" });
        app.post("/devices", &device).await.expect(201);
    }
    let plan = planned(&app, "PATCH", "/tenants/default", &json!({"settings": {"sip": {"port": 5070}}})).await;
    assert_eq!(plan["devices"]["total"], 25, "three at the top, 22 below");
    assert_eq!(plan["sample"].as_array().unwrap().len(), 20);
    let port = plan["parameters"].as_array().unwrap().iter().find(|p| p["parameter"] == "account.1.sip_server.1.port").unwrap();
    assert_eq!(port["devices"], 23);
}

#[tokio::test]
async fn a_misspelt_parameter_of_a_write_stores_nothing() {
    let app = TestApp::new().await;
    let before = app.get("/tenants/default").await.expect(200).json();
    for query in ["dryrun=true", "dry_run=yes", "dry_run=true&acept=errors"] {
        app.patch(&format!("/tenants/default?{query}"), &json!({"name": "changed"})).await.expect(422);
    }
    assert_eq!(app.get("/tenants/default").await.expect(200).json(), before);
}
