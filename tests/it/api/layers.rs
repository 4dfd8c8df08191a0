//! Layers over HTTP: parents and extends, their circles and depths, explicit none, and whose profile may be named.

use super::*;

/// The one error of a refusal.
fn only(answer: Answer) -> (String, String) {
    let mut errors = answer.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

fn error(path: &str, code: &str) -> (String, String) {
    (path.to_owned(), code.to_owned())
}

on_both_databases! {
    async fn tenants_are_at_most_four_deep_and_in_no_circle(db: &Db) {
        let app = TestApp::on(db).await;
        for (id, parent) in [("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("c"))] {
            app.put(&format!("/tenants/{id}"), &json!({"parent": parent})).await.expect(201);
        }
        assert_eq!(only(app.put("/tenants/e", &json!({"parent": "d"})).await), error("/parent", "too_deep"));
        app.put("/tenants/e", &json!({"parent": null})).await.expect(201);
        // Also when a whole branch would hang too deep.
        assert_eq!(only(app.patch("/tenants/a", &json!({"parent": "e"})).await), error("/parent", "too_deep"));
        for (child, parent) in [("a", "a"), ("a", "b"), ("a", "d"), ("b", "d")] {
            assert_eq!(only(app.patch(&format!("/tenants/{child}"), &json!({"parent": parent})).await), error("/parent", "circle"), "{child} under {parent}");
        }
        assert_eq!(only(app.put("/tenants/self", &json!({"parent": "self"})).await).0, "/parent");
        app.patch("/tenants/d", &json!({"parent": "e"})).await.expect(200);
    }

    async fn profiles_are_at_most_eight_deep_and_in_no_circle(db: &Db) {
        let app = TestApp::on(db).await;
        let path = |n: u32| format!("/tenants/default/profiles/p{n}");
        for n in 1..=8 {
            app.put(&path(n), &json!({"extends": (n > 1).then(|| format!("p{}", n - 1))})).await.expect(201);
        }
        assert_eq!(only(app.put(&path(9), &json!({"extends": "p8"})).await), error("/extends", "too_deep"));
        app.put(&path(9), &json!({})).await.expect(201);
        assert_eq!(only(app.patch(&path(1), &json!({"extends": "p9"})).await), error("/extends", "too_deep"));
        for (own, base) in [(1, 1), (1, 2), (1, 8), (4, 6)] {
            assert_eq!(only(app.patch(&path(own), &json!({"extends": format!("p{base}")})).await), error("/extends", "circle"), "p{own} on p{base}");
        }
        assert!(app.put(&path(10), &json!({"extends": "p10"})).await.error_paths().iter().all(|path| path == "/extends"));
    }
}

#[tokio::test]
async fn a_profile_is_named_within_its_tenant_or_of_an_ancestor() {
    let app = TestApp::new().await;
    for (id, parent) in [("provider", None), ("site", Some("provider")), ("stranger", None)] {
        app.put(&format!("/tenants/{id}"), &json!({"parent": parent, "settings": {"sip": {"server": "a.example"}}})).await.expect(201);
        app.put(&format!("/tenants/{id}/profiles/{id}-desk"), &json!({})).await.expect(201);
    }
    let mut device = phone(YEALINK, "yealink", None);
    device["tenant"] = json!("site");
    app.post("/devices", &device).await.expect(201);
    let own = format!("/devices/{YEALINK}");
    for (path, member) in [(own.as_str(), "profile"), ("/tenants/site", "profile"), ("/tenants/site/profiles/site-desk", "extends")] {
        for (reference, shown) in
            [("provider/provider-desk", "provider/provider-desk"), ("site-desk", "site/site-desk"), ("site/site-desk", "site/site-desk")]
        {
            if member == "extends" && shown == "site/site-desk" {
                continue;
            }
            let answer = app.patch(path, &json!({member: reference})).await.expect(200).json();
            assert_eq!(answer[member], shown);
        }
        app.patch(path, &json!({member: null})).await.expect(200);
        for reference in ["provider-desk", "stranger/stranger-desk", "nothing", "provider/nothing", "a/b/c", ""] {
            assert_eq!(only(app.patch(path, &json!({member: reference})).await).0, format!("/{member}"), "{reference} at {path}");
        }
    }
    // The tenant's profile is for the devices that name none.
    app.patch("/tenants/site/profiles/site-desk", &json!({"settings": {"sip": {"port": 5071}}})).await.expect(200);
    app.patch("/tenants/site", &json!({"profile": "site-desk"})).await.expect(200);
    assert!(app.fetch(&format!("{YEALINK}.cfg")).await.text().contains("sip_server.1.port = 5071\n"));
    app.patch(&own, &json!({"profile": "provider/provider-desk"})).await.expect(200);
    assert!(app.fetch(&format!("{YEALINK}.cfg")).await.text().contains("sip_server.1.port = 5060\n"));
    // A tenant that moves away must not go on reading its former parents' profiles.
    assert!(app.patch("/tenants/site", &json!({"parent": "stranger"})).await.errors().iter().any(|(path, _)| path == "/profile"));
}

#[tokio::test]
async fn the_nearer_layer_wins_and_lists_replace() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let port = |port: u32| json!({"settings": {"sip": {"port": port}}});
    let text = async || app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
    app.put("/tenants/default/profiles/far", &port(5071)).await.expect(201);
    app.put("/tenants/default/profiles/near", &json!({"extends": "far", "settings": {"sip": {"port": 5072}}})).await.expect(201);
    app.patch("/tenants/default", &port(5070)).await.expect(200);
    assert!(text().await.contains("\naccount.1.sip_server.1.port = 5070\n"));
    let path = format!("/devices/{YEALINK}");
    for (patch, expected) in [
        (json!({"profile": "far"}), 5071),
        (json!({"profile": "near"}), 5072),
        (port(5073), 5073),
        (json!({"lines": [{"line": 1, "user": "100", "sip": {"port": 5074}}]}), 5074),
    ] {
        app.patch(&path, &patch).await.expect(200);
        assert!(text().await.contains(&format!("\naccount.1.sip_server.1.port = {expected}\n")));
    }
    // A layer that names a server starts the route afresh.
    app.patch(&path, &json!({"lines": [{"line": 1, "user": "100", "sip": {"server": "other.example"}}]})).await.expect(200);
    let afresh = text().await;
    assert!(afresh.contains("sip_server.1.address = other.example\n") && afresh.contains("sip_server.1.port = 5060\n"), "{afresh}");
}

#[tokio::test]
async fn an_explicit_none_ends_what_would_be_inherited() {
    let app = TestApp::new().await;
    fleet(&app).await;
    let path = format!("/devices/{YEALINK}");
    app.patch(
        "/tenants/default",
        &json!({"settings": {"sip": {"outbound_proxy": {"server": "proxy.example"}}, "time": {"ntp": ["ntp.example"]}}}),
    )
    .await
    .expect(200);
    let text = async || app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
    assert!(text().await.contains("proxy.example") && text().await.contains("ntp.example"));
    let nones = json!({"settings": {"sip": {"outbound_proxy": {"server": ""}}, "time": {"ntp": []}}});
    let shown = app.patch(&path, &nones).await.expect(200).json();
    assert_eq!(shown["settings"], nones["settings"], "a none is stored and shown");
    assert!(!text().await.contains("proxy.example") && !text().await.contains("ntp.example"));
    app.patch(&path, &json!({"settings": {"sip": null, "time": null}})).await.expect(200);
    assert!(text().await.contains("proxy.example") && text().await.contains("ntp.example"));
}
