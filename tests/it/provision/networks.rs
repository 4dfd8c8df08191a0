//! Whose request it is: the peer's address, or behind a trusted proxy the right-most untrusted one.

use super::*;
use crate::app::{Answer, Call};

/// Phones in `10.1.0.0/16` and `2001:db8:1::/48`, proxies in `192.0.2.0/28` and at `::1`.
async fn proxied() -> TestApp {
    let db = Db::sqlite();
    let app = TestApp::with_networks(&db, &["10.1.0.0/16", "2001:db8:1::/48"], &["192.0.2.0/28", "::1/128"]).await;
    fleet(&app).await;
    app.keep(db)
}

async fn ask(app: &TestApp, peer: &str, forwarded: &[(&str, &str)]) -> Answer {
    let call = Call::get(&format!("/provision/{YEALINK}.cfg")).peer(peer);
    app.phone(forwarded.iter().fold(call, |call, (name, value)| call.header(name, value))).await
}

#[tokio::test]
async fn the_peer_decides_where_there_is_no_proxy() {
    let app = proxied().await;
    for (peer, status) in [
        ("10.1.0.9", 200),
        ("::ffff:10.1.0.9", 200),
        ("2001:db8:1::9", 200),
        ("10.2.0.9", 404),
        ("2001:db8:2::9", 404),
        ("127.0.0.1", 404),
        ("203.0.113.1", 404),
    ] {
        assert_eq!(ask(&app, peer, &[]).await.status, status, "{peer}");
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_right_most_untrusted_address_counts() {
    let app = proxied().await;
    for (header, status) in [
        ("10.1.0.9", 200),
        ("10.1.0.9:4711", 200),
        ("[2001:db8:1::9]:4711", 200),
        ("2001:db8:1::9", 200),
        ("203.0.113.9, 10.1.0.9", 200),
        ("10.1.0.9, 192.0.2.2, ::1", 200),
        // What a phone claims of itself stands to the left of where it is.
        ("10.1.0.9, 203.0.113.9", 404),
        ("10.1.0.9, 203.0.113.9, 192.0.2.2", 404),
        ("203.0.113.9", 404),
    ] {
        assert_eq!(ask(&app, "192.0.2.1", &[("x-forwarded-for", header)]).await.status, status, "{header}");
    }
    let lines = [("x-forwarded-for", "10.1.0.9"), ("x-forwarded-for", "203.0.113.9")];
    assert_eq!(ask(&app, "192.0.2.1", &lines).await.status, 404, "lines are one list");
    let lines = [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "10.1.0.9")];
    assert_eq!(ask(&app, "192.0.2.1", &lines).await.status, 200);
    let device = app.get(&format!("/devices/{YEALINK}")).await.json();
    assert_eq!(device["checked_in"]["address"], "10.1.0.9", "the phone's, not the proxy's");
}

#[tokio::test]
async fn a_forwarded_header_that_may_not_be_believed_is_404() {
    let app = proxied().await;
    let unknown = app.phone(Call::get(&format!("/provision/{NOBODY}.cfg")).peer("10.1.0.9")).await.expect(404);
    for (peer, headers) in [
        // From a phone, even one that would be served without it.
        ("10.1.0.9", vec![("x-forwarded-for", "10.1.0.9")]),
        ("10.1.0.9", vec![("forwarded", "for=10.1.0.9")]),
        ("203.0.113.9", vec![("x-forwarded-for", "10.1.0.9")]),
        // None from a trusted proxy, or one that holds no address.
        ("192.0.2.1", vec![]),
        ("192.0.2.1", vec![("x-forwarded-for", "")]),
        ("192.0.2.1", vec![("x-forwarded-for", "unknown")]),
        ("192.0.2.1", vec![("x-forwarded-for", "10.1.0.9, unknown")]),
        ("192.0.2.1", vec![("x-forwarded-for", "192.0.2.2")]),
        ("::1", vec![]),
    ] {
        let answer = ask(&app, peer, &headers).await;
        assert_eq!((answer.status, answer.headers, answer.body.len()), (404, unknown.headers.clone(), 0), "{peer} {headers:?}");
        let reason = app.get("/refusals?limit=1").await.json()["items"][0]["reason"].clone();
        assert_eq!(reason, "untrusted_proxy", "{peer} {headers:?}");
    }
}
