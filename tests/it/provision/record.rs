//! The record: who asked when for what, and what was handed over as a whole.

use super::*;
use crate::{app::Call, store::on_both_databases};

async fn device(app: &TestApp) -> Value {
    app.get(&format!("/devices/{YEALINK}")).await.expect(200).json()
}

async fn was_served(app: &TestApp) -> bool {
    !app.get(&format!("/devices/{YEALINK}/diff")).await.expect(200).json()["from"].is_null()
}

fn call(method: &str) -> Call {
    Call::new(method, &format!("/provision/{YEALINK}.cfg")).header("user-agent", "Yealink SIP-T46S 66.85.0.5 80:5e:c0:12:34:56")
}

on_both_databases! {
    async fn a_check_in_is_shown_with_all_that_is_known_of_it(db: &Db) {
        let app = served_on(db).await;
        assert_eq!((&device(&app).await["checked_in"], &device(&app).await["last_refused"]), (&Value::Null, &Value::Null));
        app.phone(call("GET")).await.expect(200);
        let shown = device(&app).await;
        let checked_in = &shown["checked_in"];
        assert_eq!(checked_in["at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap(), app.now());
        assert_eq!(checked_in["address"], "127.0.0.1");
        assert_eq!(checked_in["user_agent"], "Yealink SIP-T46S 66.85.0.5 80:5e:c0:12:34:56");
        assert_eq!((&checked_in["file"], &checked_in["status"]), (&json!(format!("{YEALINK}.cfg")), &json!(200)));
        assert_eq!(shown["reported"], json!({"model": "T46S", "firmware": "66.85.0.5"}));
        app.advance(chrono::TimeDelta::hours(1));
        app.phone(Call::get(&format!("/provision/{YEALINK}.boot"))).await.expect(200);
        let later = device(&app).await;
        assert_eq!(later["checked_in"]["file"], format!("{YEALINK}.boot"));
        assert_eq!(later["checked_in"]["at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap(), app.now());
        assert!(was_served(&app).await);
    }

    async fn a_head_is_a_check_in_only(db: &Db) {
        let app = served_on(db).await;
        app.phone(call("HEAD")).await.expect(200);
        assert_eq!(device(&app).await["checked_in"]["status"], 200);
        assert!(!was_served(&app).await);
    }

    async fn a_304_is_a_check_in_only(db: &Db) {
        let app = served_on(db).await;
        app.phone(call("GET").header("if-none-match", "*")).await.expect(304);
        assert_eq!(device(&app).await["checked_in"]["status"], 304);
        assert!(!was_served(&app).await);
    }
}

#[tokio::test]
async fn a_body_that_nobody_took_was_not_served() {
    use tower::ServiceExt;
    let app = served().await;
    let router = offbeat::http::phone_router(app.app.clone());
    let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 4711));
    let mut request = axum::http::Request::get(format!("/provision/{YEALINK}.cfg")).body(axum::body::Body::empty()).unwrap();
    request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    let response = router.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    drop(response);
    assert!(!was_served(&app).await);
}

#[tokio::test]
async fn what_a_phone_reports_is_shown_and_never_rendered() {
    let app = served().await;
    let before = app.fetch(&format!("{YEALINK}.cfg")).await.body;
    app.patch(&format!("/devices/{YEALINK}"), &json!({"firmware": "66.86.0.15"})).await.expect(200);
    app.phone(call("GET")).await.expect(200);
    let shown = device(&app).await;
    assert_eq!(shown["firmware"], "66.86.0.15");
    assert_eq!(shown["reported"]["firmware"], "66.85.0.5");
    let codes: Vec<_> = shown["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect();
    assert_eq!(codes, ["firmware_differs"]);
    assert_eq!(app.phone(call("GET")).await.body, before);
}

#[tokio::test]
async fn the_record_of_a_served_device_goes_with_it() {
    let app = served().await;
    app.phone(call("GET")).await.expect(200);
    app.delete(&format!("/devices/{YEALINK}")).await.expect(204);
    app.post("/devices", &phone(YEALINK, "yealink", Some("T46S"))).await.expect(201);
    assert_eq!(device(&app).await["checked_in"], Value::Null);
    assert!(!was_served(&app).await);
}
