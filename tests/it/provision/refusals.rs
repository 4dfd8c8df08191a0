//! 404: the same for everything. A phone learns nothing, the operator the reason.

use super::*;
use crate::{
    app::{Answer, Call},
    store::on_both_databases,
};

const DISABLED: &str = "805ec0000001";
const FAULTY: &str = "805ec0000002";

/// The fleet, a device that is disabled and one that lacks a server.
async fn troubled(app: &TestApp) {
    let mut disabled = phone(DISABLED, "yealink", Some("T46S"));
    disabled["enabled"] = json!(false);
    app.post("/devices", &disabled).await.expect(201);
    app.post("/tenants", &json!({"id": "bare", "parent": null})).await.expect(201);
    let mut faulty = phone(FAULTY, "yealink", Some("T46S"));
    faulty["tenant"] = json!("bare");
    app.post("/devices?accept=errors", &faulty).await.expect(201);
}

/// Each way of being refused: the reason that operators see, the request, the device that it names.
fn refused() -> Vec<(&'static str, Call, Option<&'static str>)> {
    let get = |name: String| Call::get(&format!("/provision/{name}"));
    vec![
        ("unknown_mac", get(format!("{NOBODY}.cfg")), Some(NOBODY)),
        ("disabled", get(format!("{DISABLED}.cfg")), Some(DISABLED)),
        ("faulty", get(format!("{FAULTY}.cfg")), Some(FAULTY)),
        // Names of other vendors, and one that its own phones do not ask for.
        ("other_name", get(format!("{YEALINK}-config.cfg")), Some(YEALINK)),
        ("other_name", get(format!("{YEALINK}.xml")), Some(YEALINK)),
        ("other_name", get(format!("{POLY}.boot")), Some(POLY)),
        ("other_name", get(format!("{LINPHONE}-config.cfg")), Some(LINPHONE)),
        // A name of uploads is no name of downloads.
        ("other_name", get(format!("{POLY}-app.log")), Some(POLY)),
        ("unknown_name", get("y000000000028.cfg".into()), None),
        ("unknown_name", get("../../etc/passwd".into()), None),
        ("outside_networks", get(format!("{YEALINK}.cfg")).peer("192.0.2.7"), Some(YEALINK)),
        ("untrusted_proxy", get(format!("{YEALINK}.cfg")).header("x-forwarded-for", "127.0.0.1"), None),
    ]
}

on_both_databases! {
    async fn nothing_tells_one_refusal_from_another_to_a_phone(db: &Db) {
        let app = served_on(db).await;
        troubled(&app).await;
        let unknown: Answer = app.fetch(&format!("{NOBODY}.cfg")).await.expect(404);
        let mut names: Vec<_> = unknown.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["cache-control", "content-length"]);
        assert_eq!(unknown.header("content-length"), Some("0"));
        for (reason, call, _) in refused() {
            let answer = app.phone(call).await;
            assert_eq!((answer.status, &answer.headers, &answer.body), (404, &unknown.headers, &Vec::new()), "{reason}");
        }
        for (reason, path) in [("disabled", DISABLED), ("faulty", FAULTY), ("unknown_mac", NOBODY)] {
            let head = app.phone(Call::new("HEAD", &format!("/provision/{path}.cfg"))).await;
            assert_eq!((head.status, &head.headers), (404, &unknown.headers), "{reason}");
        }
    }

    async fn the_operator_sees_each_reason(db: &Db) {
        let app = served_on(db).await;
        troubled(&app).await;
        let mut expected = Vec::new();
        for (reason, call, mac) in refused() {
            app.phone(call.header("user-agent", "phone/1")).await.expect(404);
            expected.insert(0, (reason, mac));
        }
        let items = app.get("/refusals").await.expect(200).json()["items"].as_array().unwrap().clone();
        let text = |item: &Value, member: &str| item[member].as_str().map(str::to_owned);
        let seen: Vec<_> = items.iter().map(|item| (text(item, "reason").unwrap(), text(item, "mac"))).collect();
        assert_eq!(seen.len(), expected.len());
        for ((reason, mac), (seen_reason, seen_mac)) in expected.iter().zip(&seen) {
            // A faulty device's reason goes on with the first of its errors.
            assert_eq!(seen_reason.split(':').next(), Some(*reason), "newest first");
            assert!(*reason == "untrusted_proxy" || seen_mac.as_deref() == *mac, "{reason}: {seen_mac:?}");
        }
        for item in &items {
            assert_eq!(item["user_agent"], "phone/1");
            assert_eq!(item["at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap(), app.now());
        }
        assert_eq!(items[1]["address"], "192.0.2.7");
        let faulty = seen.iter().find(|(reason, _)| reason.starts_with("faulty")).unwrap();
        assert!(faulty.0.contains("server"), "{}", faulty.0);
        let device = app.get(&format!("/devices/{FAULTY}")).await.json();
        assert!(device["last_refused"]["reason"].as_str().unwrap().starts_with("faulty"), "{device}");
        assert_eq!(app.get(&format!("/devices/{DISABLED}")).await.json()["last_refused"]["reason"], "disabled");
        assert_eq!(app.get("/refusals?limit=2").await.json()["items"].as_array().unwrap().len(), 2);
    }

    async fn a_damaged_row_harms_its_device_alone(db: &Db) {
        let app = served_on(db).await;
        let unknown = app.fetch(&format!("{NOBODY}.cfg")).await;
        db.tamper(&format!("UPDATE devices SET body = '{{' WHERE mac = '{POLY}'")).await;
        let answer = app.fetch(&format!("{POLY}.cfg")).await.expect(404);
        assert_eq!((answer.headers, answer.body.len()), (unknown.headers, 0));
        for mac in [YEALINK, LINPHONE] {
            app.fetch(&format!("{mac}.cfg")).await.expect(200);
        }
        let refusals = app.get("/refusals").await.json();
        assert_eq!((&refusals["items"][0]["mac"], &refusals["items"][0]["reason"]), (&json!(POLY), &json!("corrupt")));
        // The administrator is told, without what is inside, and the others are listed.
        let problem = app.get(&format!("/devices/{POLY}")).await.problem(500);
        assert!(!problem.to_string().contains("expected") && !problem.to_string().contains("EOF"), "{problem}");
        let listed = app.get("/devices").await.expect(200).json();
        assert_eq!(listed["items"].as_array().unwrap().len(), 2);
        // Written anew it is served again.
        let path = format!("/devices/{POLY}");
        app.post("/devices", &phone(POLY, "poly", Some("VVX 250"))).await.problem(409);
        let status = app.put(&path, &phone(POLY, "poly", Some("VVX 250"))).await.status;
        assert!(matches!(status, 200 | 201), "{status}");
        app.fetch(&format!("{POLY}.cfg")).await.expect(200);
        // Or it is deleted.
        db.tamper(&format!("UPDATE devices SET body = '{{' WHERE mac = '{POLY}'")).await;
        app.delete(&path).await.expect(204);
        app.get(&path).await.problem(404);
    }
}

#[tokio::test]
async fn a_device_that_is_mended_is_served() {
    let app = served().await;
    troubled(&app).await;
    app.patch(&format!("/devices/{DISABLED}"), &json!({"enabled": true})).await.expect(200);
    app.fetch(&format!("{DISABLED}.cfg")).await.expect(200);
    app.patch("/tenants/bare", &json!({"settings": {"sip": {"server": "10.0.0.1"}}})).await.expect(200);
    app.fetch(&format!("{FAULTY}.cfg")).await.expect(200);
}
