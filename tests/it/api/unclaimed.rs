//! `/unclaimed`: MACs that phones asked for and no device has.

use chrono::TimeDelta;
use offbeat::app::Role;

use super::*;
use crate::provision::NOBODY;

const AGENT: &str = "Yealink SIP-T46S 66.86.0.15 80:5e:c0:99:99:99";

async fn served(db: &Db) -> TestApp {
    let app = TestApp::on(db).await;
    fleet(&app).await;
    app
}

async fn asks(app: &TestApp, name: &str) -> Answer {
    app.phone(Call::get(&format!("/provision/{name}")).header("user-agent", AGENT)).await
}

on_both_databases! {
    async fn a_phone_that_asks_in_vain_is_listed_with_what_it_seems_to_be(db: &Db) {
        let app = served(db).await;
        assert_eq!(app.get("/unclaimed").await.expect(200).json(), json!({"items": [], "next": null}));
        asks(&app, &format!("sub/{NOBODY}.boot")).await.expect(404);
        app.advance(TimeDelta::seconds(90));
        asks(&app, &format!("{NOBODY}.cfg")).await.expect(404);
        app.fetch("cfg020000999999.xml").await.expect(404);
        let expected = json!({
            "mac": NOBODY, "first_at": "2023-11-14T22:13:20.000Z", "last_at": "2023-11-14T22:14:50.000Z", "count": 2, "address": "127.0.0.1",
            "user_agent": AGENT, "path": format!("{NOBODY}.cfg"), "deleted_at": null,
            "guess": {"vendor": "yealink", "model": "T46S", "by": ["user_agent", "prefix"]},
            "reported": {"model": "T46S", "firmware": "66.86.0.15"},
        });
        let listed = app.get("/unclaimed").await.expect(200).json();
        assert_eq!((&listed["items"][1], listed["items"].as_array().unwrap().len()), (&expected, 2));
        let other = &listed["items"][0];
        assert_eq!((&other["guess"]["vendor"], &other["guess"]["model"], &other["reported"], &other["user_agent"]),
            (&json!("grandstream"), &Value::Null, &Value::Null, &Value::Null));
        let page = app.get("/unclaimed?limit=1").await.json();
        assert_eq!(column(&app.get(&format!("/unclaimed?limit=1&cursor={}", page["next"].as_str().unwrap())).await, "mac"), [NOBODY]);
    }

    async fn what_is_refused_for_another_reason_is_not_listed(db: &Db) {
        let app = served(db).await;
        app.patch(&format!("/devices/{YEALINK}"), &json!({"enabled": false})).await.expect(200);
        let get = |name: &str| Call::get(&format!("/provision/{name}.cfg"));
        for call in [get(YEALINK), get(NOBODY).peer("192.0.2.7"), get(NOBODY).header("x-forwarded-for", "127.0.0.1"), get("y000000000028")] {
            app.phone(call).await.expect(404);
        }
        assert_eq!(app.get("/refusals").await.json()["items"].as_array().unwrap().len(), 4);
        assert_eq!(column(&app.get("/unclaimed").await, "mac"), [""; 0]);
    }

    async fn a_claimed_mac_is_a_device_and_served(db: &Db) {
        let app = served(db).await;
        let claim = format!("/unclaimed/{NOBODY}/claim");
        let body = json!({"lines": [{"line": 1, "user": "100", "password": "x"}]});
        app.post(&claim, &body).await.problem(404);
        asks(&app, &format!("{NOBODY}.cfg")).await.expect(404);
        app.post(&format!("{claim}?dry_run=true"), &body).await.expect(200);
        assert_eq!(app.post(&claim, &json!({"mac": YEALINK, "lines": []})).await.error_paths(), ["/mac"]);
        assert_eq!(app.post(&claim, &json!({"vendor": "acme", "tenant": "nowhere", "colour": 1})).await.error_paths(), ["/colour", "/tenant", "/vendor"]);
        assert_eq!(column(&app.get("/unclaimed").await, "mac"), [NOBODY]);
        let made = app.post("/unclaimed/80:5E:C0:99:99:99/claim", &body).await.expect(201);
        assert!(made.header("etag").is_some());
        let made = made.json();
        assert_eq!((&made["mac"], &made["vendor"], &made["model"], &made["firmware"]), (&json!(NOBODY), &json!("yealink"), &json!("T46S"), &Value::Null));
        asks(&app, &format!("{NOBODY}.cfg")).await.expect(200);
        assert_eq!(column(&app.get("/unclaimed").await, "mac"), [""; 0]);
        app.post(&claim, &body).await.problem(404);
        // Deleted, it is listed once it asks again, and said to have been there.
        app.delete(&format!("/devices/{NOBODY}")).await.expect(204);
        assert_eq!(column(&app.get("/unclaimed").await, "mac"), [""; 0]);
        app.advance(TimeDelta::hours(1));
        asks(&app, &format!("{NOBODY}.cfg")).await.expect(404);
        let listed = app.get("/unclaimed").await.json();
        assert_eq!((&listed["items"][0]["deleted_at"], &listed["items"][0]["count"]), (&json!("2023-11-14T22:13:20.000Z"), &json!(1)));
        // What the document says goes before the guess; a model is guessed for the guessed vendor alone.
        let made = app.post(&claim, &json!({"vendor": "linphone", "enabled": false})).await.expect(201).json();
        assert_eq!((&made["vendor"], &made["model"]), (&json!("linphone"), &Value::Null));
    }

    async fn it_is_for_operators_over_all_tenants(db: &Db) {
        let app = served(db).await;
        asks(&app, &format!("{NOBODY}.cfg")).await.expect(404);
        app.put("/tenants/site", &json!({})).await.expect(201);
        for (role, tenant) in [(Role::Viewer, None), (Role::Viewer, Some("site")), (Role::Operator, Some("site")), (Role::Admin, Some("default"))] {
            let token = app.token(role, tenant, true).await;
            let ask = async |method: &str, path: &str| app.ask(Call::api(method, path).json(&json!({})).token(&token)).await.problem(403);
            ask("GET", "/unclaimed").await;
            assert_eq!(ask("POST", &format!("/unclaimed/{NOBODY}/claim")).await, ask("POST", "/unclaimed/805ec0999998/claim").await);
        }
        let operator = app.token(Role::Operator, None, false).await;
        assert_eq!(column(&app.ask(Call::api("GET", "/unclaimed").token(&operator)).await, "mac"), [NOBODY]);
        app.ask(Call::api("POST", &format!("/unclaimed/{NOBODY}/claim")).json(&json!({})).token(&operator)).await.expect(201);
    }
}
