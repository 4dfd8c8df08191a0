//! Lists: pages in a stable order, and filters.

use super::*;

/// Walks a list to its end.
async fn walk(app: &TestApp, path: &str, member: &str) -> (Vec<String>, usize) {
    let (mut all, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = app.get(&format!("{path}{cursor}")).await.expect(200);
        all.extend(column(&page, member));
        pages += 1;
        let body = page.json();
        let mut members: Vec<_> = body.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["items", "next"]);
        match body["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (all, pages),
        }
        assert!(pages < 100);
    }
}

on_both_databases! {
    async fn pages_are_in_the_order_of_the_id_and_hold_each_once(db: &Db) {
        let app = TestApp::on(db).await;
        // In an order that is neither theirs nor its reverse; "-" sorts by its byte.
        let mut ids: Vec<String> = (0..25).map(|n| format!("t{}", n * 7 % 25)).chain(["t-1".into(), "t.1".into(), "t_1".into()]).collect();
        for id in &ids {
            app.put(&format!("/tenants/{id}"), &json!({})).await.expect(201);
            app.put(&format!("/tenants/default/profiles/{id}"), &json!({})).await.expect(201);
        }
        let macs: Vec<String> = (0..25).map(|n| format!("805ec00000{:02x}", n * 7 % 25)).collect();
        for mac in &macs {
            app.put(&format!("/devices/{mac}?accept=errors"), &phone(mac, "yealink", None)).await.expect(201);
        }
        ids.sort();
        let mut sorted = macs.clone();
        sorted.sort();
        let with_default: Vec<_> = std::iter::once("default".to_owned()).chain(ids.clone()).collect();
        assert_eq!(walk(&app, "/tenants?limit=10", "id").await, (with_default, 3));
        assert_eq!(walk(&app, "/tenants/default/profiles?limit=7", "id").await, (ids, 4));
        assert_eq!(walk(&app, "/devices?limit=5", "mac").await, (sorted.clone(), 5));
        assert_eq!(walk(&app, "/devices?limit=1000", "mac").await, (sorted.clone(), 1));

        // What comes and goes meanwhile moves nothing else.
        let first = app.get("/devices?limit=5").await;
        app.delete(&format!("/devices/{}", sorted[0])).await.expect(204);
        app.put("/devices/805ec0000000?accept=errors", &phone("805ec0000000", "yealink", None)).await.expect(201);
        app.delete(&format!("/devices/{}", sorted[4])).await.expect(204);
        let next = first.json()["next"].as_str().unwrap().to_owned();
        assert_eq!(column(&app.get(&format!("/devices?limit=5&cursor={next}")).await, "mac"), sorted[5..10]);
    }

    async fn a_page_holds_a_hundred_unless_told(db: &Db) {
        let app = TestApp::on(db).await;
        for n in 0..100 {
            app.put(&format!("/tenants/t{n}"), &json!({})).await.expect(201);
        }
        let page = app.get("/tenants").await.expect(200);
        assert_eq!(column(&page, "id").len(), 100);
        assert_eq!(page.json()["next"], "t98", "the last of the page");
    }

    async fn devices_are_narrowed_by_what_is_asked_for(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        app.put("/tenants/acme", &json!({"settings": {"sip": {"server": "a.example"}}})).await.expect(201);
        app.put("/tenants/site", &json!({"parent": "acme"})).await.expect(201);
        app.put("/tenants/acme/profiles/desk", &json!({})).await.expect(201);
        app.put("/tenants/default/profiles/desk", &json!({})).await.expect(201);
        let mut device = phone("805ec0000001", "yealink", Some("T58A"));
        device.as_object_mut().unwrap().extend(json!({"tenant": "site", "profile": "acme/desk", "name": "Empfang Zürich 100%_"}).as_object().unwrap().clone());
        app.post("/devices", &device).await.expect(201);
        app.patch(&format!("/devices/{YEALINK}"), &json!({"profile": "desk", "enabled": false})).await.expect(200);
        app.patch(&format!("/devices/{POLY}?accept=errors"), &json!({"settings": {"sip": {"server": ""}}})).await.expect(200);
        app.fetch(&format!("{LINPHONE}.cfg")).await.expect(200);
        app.get(&format!("/devices/{LINPHONE}")).await;
        let site = "805ec0000001";
        for (query, expected) in [
            ("tenant=acme", vec![site]),
            ("tenant=site", vec![site]),
            ("tenant=default", vec![LINPHONE, POLY, YEALINK]),
            ("tenant=nothing", vec![]),
            ("profile=acme/desk", vec![site]),
            ("profile=default/desk", vec![YEALINK]),
            ("tenant=acme&profile=desk", vec![site]),
            ("vendor=yealink", vec![site, YEALINK]),
            ("vendor=none", vec![]),
            ("model=T58A", vec![site]),
            ("state=ok", vec![LINPHONE, site]),
            ("state=disabled", vec![YEALINK]),
            ("state=error", vec![POLY]),
            ("state=never_seen", vec![POLY, site, YEALINK]),
            ("q=z%C3%9CRICH", vec![site]),
            ("q=100%25_", vec![site]),
            ("q=%25", vec![site]),
            ("q=T58", vec![site]),
            ("q=80:5E:C0:12", vec![YEALINK]),
            ("q=5ec012", vec![YEALINK]),
            ("q=nothing", vec![]),
            ("vendor=yealink&state=ok", vec![site]),
            ("state=ok&limit=1", vec![LINPHONE]),
        ] {
            assert_eq!(column(&app.get(&format!("/devices?{query}")).await.expect(200), "mac"), expected, "{query}");
        }
        assert_eq!(walk(&app, "/devices?state=never_seen&limit=1", "mac").await.0, [POLY, site, YEALINK]);
    }
}
