//! Creating, reading, replacing, patching and deleting: the same for tenants, profiles and devices.

use super::*;

/// A kind of resource: where it is made, where one of them is, and a document of it.
struct Kind {
    list: &'static str,
    one: &'static str,
    id: &'static str,
    document: Value,
}

fn kinds() -> [Kind; 3] {
    let settings = json!({"sip": {"server": "pbx.example.com"}});
    let mut device = phone(YEALINK, "yealink", Some("T46S"));
    device["settings"] = settings.clone();
    device["name"] = json!("Reception");
    [
        Kind {
            list: "/tenants",
            one: "/tenants/acme",
            id: "id",
            document: json!({"id": "acme", "name": "Reception", "settings": settings}),
        },
        Kind {
            list: "/tenants/default/profiles",
            one: "/tenants/default/profiles/desk",
            id: "id",
            document: json!({"id": "desk", "name": "Reception", "settings": settings}),
        },
        Kind { list: "/devices", one: "/devices/805ec0123456", id: "mac", document: device },
    ]
}

fn tag(answer: &Answer) -> String {
    let tag = answer.header("etag").unwrap();
    assert_eq!(tag, format!("\"{}\"", answer.json()["revision"]), "the revision is the tag");
    tag.to_owned()
}

on_both_databases! {
    async fn a_post_creates_once(db: &Db) {
        let app = TestApp::on(db).await;
        for Kind { list, one, document, .. } in kinds() {
            app.get(one).await.problem(404);
            let created = app.post(list, &document).await.expect(201);
            assert_eq!(created.header("content-type"), Some("application/json"));
            assert_eq!(created.json()["name"], "Reception");
            let read = app.get(one).await.expect(200);
            assert_eq!((tag(&read), read.json()), (tag(&created), created.json()));
            app.post(list, &document).await.problem(409);
            assert_eq!(app.get(one).await.json(), created.json());
        }
    }

    async fn a_put_creates_or_replaces_whole(db: &Db) {
        let app = TestApp::on(db).await;
        for Kind { list, one, id, document } in kinds() {
            let created = app.put(one, &document).await.expect(201);
            assert_eq!(app.get(one).await.json(), created.json());
            let mut smaller = document.clone();
            smaller.as_object_mut().unwrap().remove("name");
            smaller.as_object_mut().unwrap().remove(id);
            smaller["settings"] = json!({"sip": {"server": "other.example.com"}, "time": null});
            let replaced = app.put(one, &smaller).await.expect(200).json();
            assert_eq!((&replaced["name"], &replaced["settings"]), (&json!(""), &json!({"sip": {"server": "other.example.com"}})), "{list}");
            assert!(replaced["revision"].as_i64() > created.json()["revision"].as_i64());
        }
    }

    async fn a_patch_merges_and_null_removes(db: &Db) {
        let app = TestApp::on(db).await;
        for Kind { list, one, document, .. } in kinds() {
            app.patch(one, &json!({"name": "x"})).await.problem(404);
            app.post(list, &document).await.expect(201);
            let patch = json!({"settings": {"sip": {"port": 5070, "codecs": ["pcma", "pcmu"]}, "time": {"clock_24h": true}}});
            let patched = app.patch(one, &patch).await.expect(200).json();
            let expected = json!({"sip": {"server": "pbx.example.com", "port": 5070, "codecs": ["pcma", "pcmu"]}, "time": {"clock_24h": true}});
            assert_eq!((&patched["settings"], &patched["name"]), (&expected, &json!("Reception")));
            // Lists replace, null removes.
            let merge = Call::api("PATCH", one).body("application/merge-patch+json", json!({"settings": {"sip": {"port": null, "codecs": ["g722"]}, "time": null}}).to_string());
            let patched = app.api(merge).await.expect(200).json();
            assert_eq!(patched["settings"]["sip"], json!({"server": "pbx.example.com", "codecs": ["g722"]}));
            assert!(patched["settings"].get("time").is_none_or(|time| time == &json!({})), "{}", patched["settings"]);
            assert_eq!(app.get(one).await.json()["settings"], patched["settings"]);
            app.patch(one, &json!(["no", "object"])).await.problem(422);
        }
    }

    async fn a_delete_deletes(db: &Db) {
        let app = TestApp::on(db).await;
        for Kind { list, one, document, .. } in kinds() {
            app.post(list, &document).await.expect(201);
            let answer = app.delete(one).await.expect(204);
            assert_eq!(answer.body, b"");
            app.get(one).await.problem(404);
            app.delete(one).await.problem(404);
            app.post(list, &document).await.expect(201);
        }
    }
}

#[tokio::test]
async fn what_was_read_may_be_sent_back_as_it_is() {
    let app = TestApp::new().await;
    for Kind { list, one, document, .. } in kinds() {
        let created = app.post(list, &document).await.expect(201).json();
        let put = app.put(one, &app.get(one).await.json()).await.expect(200).json();
        assert_eq!(put, created, "and changes nothing");
    }
}

#[tokio::test]
async fn the_document_and_the_path_must_agree() {
    let app = TestApp::new().await;
    for (path, body, pointer) in [
        ("/tenants/acme", json!({"id": "other"}), "/id"),
        ("/tenants/default/profiles/desk", json!({"id": "other"}), "/id"),
        ("/tenants/default/profiles/desk", json!({"id": "desk", "tenant": "other"}), "/tenant"),
        ("/devices/805ec0123456", json!({"mac": "805ec0123457"}), "/mac"),
    ] {
        assert!(app.put(path, &body).await.error_paths().contains(&pointer.to_owned()), "{path}");
    }
    for (path, body, pointer) in
        [("/tenants", json!({}), "/id"), ("/tenants/default/profiles", json!({}), "/id"), ("/devices", json!({}), "/mac")]
    {
        assert!(app.post(path, &body).await.error_paths().contains(&pointer.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn what_is_referred_to_cannot_be_deleted() {
    let app = TestApp::new().await;
    app.put("/tenants/acme", &json!({})).await.expect(201);
    app.put("/tenants/acme/profiles/base", &json!({})).await.expect(201);
    app.put("/tenants/acme/profiles/desk", &json!({"extends": "base", "settings": {"sip": {"server": "a.example"}}})).await.expect(201);
    app.put("/tenants/site", &json!({"parent": "acme", "profile": "acme/desk"})).await.expect(201);
    let mut device = phone(YEALINK, "yealink", Some("T46S"));
    device["tenant"] = json!("site");
    app.post("/devices", &device).await.expect(201);
    for path in ["/tenants/acme", "/tenants/site", "/tenants/acme/profiles/base", "/tenants/acme/profiles/desk", "/tenants/default"] {
        app.delete(path).await.problem(409);
        app.get(path).await.expect(200);
    }
    for path in
        [&format!("/devices/{YEALINK}"), "/tenants/site", "/tenants/acme/profiles/desk", "/tenants/acme/profiles/base", "/tenants/acme"]
    {
        app.delete(path).await.expect(204);
    }
    app.delete("/tenants/default").await.problem(409);
}

#[tokio::test]
async fn a_tenant_default_exists_from_the_start() {
    let app = TestApp::new().await;
    let tenant = app.get("/tenants/default").await.expect(200).json();
    assert_eq!((&tenant["id"], &tenant["parent"], &tenant["salt"]), (&json!("default"), &Value::Null, &Value::Null));
    assert_eq!(column(&app.get("/tenants").await, "id"), ["default"]);
}
