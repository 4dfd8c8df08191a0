//! PUT: a Poly's logs are taken and dropped, all else is 405.

use super::*;
use crate::app::Call;

fn upload(name: &str, bytes: usize) -> Call {
    Call::new("PUT", &format!("/provision/{name}")).body("text/plain", vec![b'x'; bytes])
}

#[tokio::test]
async fn a_polys_logs_are_taken_and_dropped() {
    let app = served().await;
    for name in [format!("{POLY}-app.log"), format!("{POLY}-boot.log"), format!("{}-APP.LOG", POLY.to_uppercase())] {
        let answer = app.phone(upload(&name, 1000)).await.expect(204);
        assert_eq!(answer.body, b"");
        app.fetch(&name).await.expect(404);
    }
    let shown = app.get(&format!("/devices/{POLY}")).await.json();
    assert_eq!(shown["checked_in"], Value::Null, "an upload is no check-in");
}

#[tokio::test]
async fn a_log_is_at_most_a_mebibyte() {
    let app = served().await;
    let name = format!("{POLY}-app.log");
    app.phone(upload(&name, 1 << 20)).await.expect(204);
    let answer = app.phone(upload(&name, (1 << 20) + 1)).await.expect(413);
    assert_eq!(answer.body, b"");
    app.phone(upload(&name, 1)).await.expect(204);
}

#[tokio::test]
async fn a_phone_may_drop_a_few_a_minute() {
    let app = served().await;
    let name = format!("{POLY}-app.log");
    let mut taken = 0;
    let last = loop {
        let answer = app.phone(upload(&name, 1)).await;
        if answer.status != 204 {
            break answer;
        }
        taken += 1;
        assert!(taken < 100);
    };
    assert!(taken >= 3, "{taken} are not even a few");
    assert_eq!((last.status, last.body.len()), (429, 0));
    // Its own files are not held back, nor are other phones' logs.
    app.fetch(&format!("{POLY}.cfg")).await.expect(200);
    app.post("/devices", &phone("64167f0a0b02", "poly", Some("VVX 250"))).await.expect(201);
    app.phone(upload("64167f0a0b02-app.log", 1)).await.expect(204);
}

#[tokio::test]
async fn all_other_uploads_are_405() {
    let app = served().await;
    let mut off = phone("64167f0a0b03", "poly", Some("VVX 250"));
    off["enabled"] = json!(false);
    app.post("/devices", &off).await.expect(201);
    let names = [
        format!("{POLY}.cfg"),
        format!("{POLY}-config.cfg"),
        format!("{POLY}-phone.cfg"),
        format!("{YEALINK}.cfg"),
        // Whether there is such a device, such a phone, or such a name makes no difference.
        format!("{YEALINK}-app.log"),
        format!("{NOBODY}-app.log"),
        format!("{NOBODY}.cfg"),
        "64167f0a0b03-app.log".into(),
        "anything".into(),
        "../x".into(),
        "%ff".into(),
    ];
    let mut answers = Vec::new();
    for name in &names {
        let answer = app.phone(upload(name, 10)).await;
        assert_eq!((answer.status, answer.body.len()), (405, 0), "{name}");
        answers.push(answer.headers);
    }
    assert!(answers.iter().all(|headers| *headers == answers[0]));
    assert_eq!(answers[0]["allow"], "GET, HEAD");
}

#[tokio::test]
async fn other_methods_are_405() {
    let app = served().await;
    for method in ["POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
        for path in [format!("/provision/{YEALINK}.cfg"), format!("/provision/{NOBODY}.cfg"), "/".into()] {
            let answer = app.phone(Call::new(method, &path)).await;
            assert_eq!((answer.status, answer.body.len()), (405, 0), "{method} {path}");
        }
    }
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
}

#[tokio::test]
async fn strangers_may_not_drop_logs() {
    let app = served().await;
    let answer = app.phone(upload(&format!("{POLY}-app.log"), 10).peer("192.0.2.7")).await;
    assert_ne!(answer.status, 204);
    assert_eq!(answer.body, b"");
}
