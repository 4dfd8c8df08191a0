//! `/tokens`: made as no more than their maker is, shown once, revoked at once.

use chrono::TimeDelta;
use offbeat::app::Role;

use super::*;
use crate::app::ADMIN_TOKEN;

/// provider → reseller → site, and a stranger.
async fn tenants(app: &TestApp) {
    for (id, parent) in [("provider", None), ("reseller", Some("provider")), ("site", Some("reseller")), ("stranger", None)] {
        app.put(&format!("/tenants/{id}"), &json!({"parent": parent})).await.expect(201);
    }
}

async fn ask(app: &TestApp, token: &str, method: &str, path: &str, body: Value) -> Answer {
    app.ask(Call::api(method, path).json(&body).token(token)).await
}

fn clear(answer: Answer) -> String {
    answer.expect(201).json()["token"].as_str().unwrap().to_owned()
}

on_both_databases! {
    async fn a_token_is_shown_once_and_works_until_it_is_revoked(db: &Db) {
        let app = TestApp::on(db).await;
        let other = TestApp::on(db).await;
        tenants(&app).await;
        let body = json!({"name": "crm", "role": "operator", "tenant": "site", "reveal": true, "expires_at": "2030-01-31T01:00:00+01:00"});
        let made = app.post("/tokens", &body).await.expect(201).json();
        let token = made["token"].as_str().unwrap();
        assert!(token.strip_prefix("offbeat_").is_some_and(|bits| bits.len() == 64 && bits.bytes().all(|b| b.is_ascii_hexdigit())));
        let mut shown = made.clone();
        shown.as_object_mut().unwrap().remove("token");
        let id = made["id"].as_i64().unwrap();
        let members = json!({"id": id, "name": "crm", "role": "operator", "tenant": "site", "reveal": true, "created_at": "2023-11-14T22:13:20Z",
            "expires_at": "2030-01-31T00:00:00Z", "last_used_at": null});
        assert_eq!(shown, members);
        for named in ["crm", "site%2Fcrm", &id.to_string()] {
            assert_eq!(app.get(&format!("/tokens/{named}")).await.expect(200).json(), shown);
        }
        assert_eq!(app.get("/tokens").await.expect(200).json(), json!({"items": [shown], "next": null}));
        assert_eq!(db.number(&format!("SELECT CAST(COUNT(*) AS BIGINT) FROM tokens WHERE hash LIKE '%{}%'", &token[8..])).await, 0);

        assert_eq!(column(&ask(&other, token, "GET", "/tenants", json!({})).await.expect(200), "id"), ["site"]);
        app.delete("/tokens/crm").await.expect(204);
        ask(&other, token, "GET", "/tenants", json!({})).await.problem(401);
        ask(&app, token, "GET", "/tenants", json!({})).await.problem(401);
        app.get("/tokens/crm").await.problem(404);
        app.delete(&format!("/tokens/{id}")).await.problem(404);
        assert!(app.post("/tokens", &body).await.expect(201).json()["id"].as_i64().unwrap() > id);
    }

    async fn a_token_ends_when_it_expires(db: &Db) {
        let app = TestApp::on(db).await;
        let token = clear(app.post("/tokens", &json!({"name": "brief", "expires_at": "2023-11-14T22:14:20Z"})).await);
        ask(&app, &token, "GET", "/tenants", json!({})).await.expect(200);
        app.advance(TimeDelta::seconds(59));
        ask(&app, &token, "GET", "/tenants", json!({})).await.expect(200);
        app.advance(TimeDelta::seconds(1));
        let ended = ask(&app, &token, "GET", "/tenants", json!({})).await.problem(401);
        assert_eq!(ended, ask(&app, "offbeat_none", "GET", "/tenants", json!({})).await.problem(401));
        assert_eq!(column(&app.get("/tokens").await, "name"), ["brief"], "still listed");
    }

    async fn only_admins_of_the_tree_and_never_as_more_than_they_are(db: &Db) {
        let app = TestApp::on(db).await;
        tenants(&app).await;
        for (name, tenant) in [("all", None), ("up", Some("provider")), ("far", Some("stranger")), ("site", Some("site"))] {
            app.post("/tokens", &json!({"name": name, "tenant": tenant})).await.expect(201);
        }
        for (role, tenant) in [(Role::Viewer, None), (Role::Operator, None), (Role::Operator, Some("reseller"))] {
            let token = app.token(role, tenant, true).await;
            for (method, path) in [("GET", "/tokens"), ("POST", "/tokens"), ("GET", "/tokens/site"), ("DELETE", "/tokens/site"), ("POST", "/tokens?dry_run=true")] {
                ask(&app, &token, method, path, json!({"name": "x"})).await.problem(403);
            }
        }
        let admin = clear(app.post("/tokens", &json!({"name": "own", "role": "admin", "tenant": "reseller", "expires_at": "2023-12-31T00:00:00Z"})).await);
        let post = async |body: Value| ask(&app, &admin, "POST", "/tokens", body).await;
        assert_eq!(column(&ask(&app, &admin, "GET", "/tokens", json!({})).await.expect(200), "name"), ["site", "operator-Some(Slug(\"reseller\"))-true", "own"]);
        let nothing = ask(&app, &admin, "GET", "/tokens/nothing", json!({})).await.problem(404);
        for hidden in ["all", "up", "far", "stranger%2Ffar", "provider%2Fup", "1", "2", "4", "99"] {
            assert_eq!(ask(&app, &admin, "GET", &format!("/tokens/{hidden}"), json!({})).await.problem(404), nothing, "{hidden}");
            assert_eq!(ask(&app, &admin, "DELETE", &format!("/tokens/{hidden}"), json!({})).await.problem(404), nothing, "{hidden}");
        }
        let nowhere = post(json!({"name": "x", "tenant": "nothing"})).await.problem(422).to_string();
        for tenant in ["stranger", "provider", "default"] {
            assert_eq!(post(json!({"name": "x", "tenant": tenant})).await.problem(422).to_string().replace(tenant, "nothing"), nowhere);
        }
        post(json!({"name": "x", "reveal": true})).await.problem(403);
        post(json!({"name": "x", "expires_at": "2024-01-01T00:00:00Z"})).await.problem(403);
        // What is not said is as its maker, and a name that another tenant has tells nothing.
        let made = post(json!({"name": "far", "role": "admin"})).await.expect(201).json();
        assert_eq!((&made["tenant"], &made["expires_at"]), (&json!("reseller"), &json!("2023-12-31T00:00:00Z")));
        post(json!({"name": "far"})).await.problem(409);
        post(json!({"name": "far", "tenant": "site", "expires_at": "2023-12-01T00:00:00Z"})).await.expect(201);
        // Of two that are called so, one is meant by its tenant or id.
        ask(&app, &admin, "DELETE", "/tokens/far", json!({})).await.problem(409);
        ask(&app, &admin, "DELETE", "/tokens/site%2Ffar", json!({})).await.expect(204);
        ask(&app, &admin, "DELETE", "/tokens/far", json!({})).await.expect(204);
        ask(&app, &admin, "DELETE", "/tokens/site", json!({})).await.expect(204);
        assert_eq!(column(&app.get("/tokens?limit=3").await, "name"), ["all", "up", "far"]);
    }

    async fn the_last_use_is_written_off_the_path_and_once_a_minute(db: &Db) {
        let app = TestApp::on(db).await;
        let other = TestApp::on(db).await;
        let token = clear(app.post("/tokens", &json!({"name": "crm"})).await);
        let used = async || app.get("/tokens/crm").await.json()["last_used_at"].as_str().map(str::to_owned);
        assert_eq!(used().await, None);
        ask(&app, &token, "GET", "/tenants", json!({})).await.expect(200);
        assert_eq!(used().await.as_deref(), Some("2023-11-14T22:13:20Z"));
        for server in [&app, &other] {
            server.advance(TimeDelta::seconds(59));
            ask(server, &token, "GET", "/tenants", json!({})).await.expect(200);
            ask(server, &token, "GET", "/nothing", json!({})).await.problem(404);
        }
        other.get("/tokens").await.expect(200);
        assert_eq!(used().await.as_deref(), Some("2023-11-14T22:13:20Z"));
        other.advance(TimeDelta::seconds(1));
        ask(&other, &token, "DELETE", "/tokens/crm", json!({})).await.problem(403);
        other.get("/tokens").await.expect(200);
        assert_eq!(used().await.as_deref(), Some("2023-11-14T22:14:20Z"), "on any server, also by what is refused");
        // It costs no revision, and no request waits for it.
        let before = db.number("SELECT n FROM revision").await;
        app.advance(TimeDelta::hours(1));
        let writer = app.store.write(crate::store::author()).await.unwrap();
        ask(&app, &token, "GET", "/tenants", json!({})).await.expect(200);
        writer.rollback().await.unwrap();
        assert_eq!(db.number("SELECT n FROM revision").await, before);
    }

    async fn clear_readings_are_in_the_history(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let token = app.token(Role::Viewer, None, true).await;
        let path = format!("/devices/{YEALINK}");
        let revision = app.get(&path).await.header("etag").map(str::to_owned);
        let read = async |query: &str| ask(&app, &token, "GET", &format!("{path}/files/{YEALINK}.cfg{query}"), json!({})).await;
        let entries = "SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE action = 'reveal'";
        read("").await.expect(200);
        ask(&app, &app.token(Role::Admin, None, false).await, "GET", &format!("{path}/files/{YEALINK}.cfg?reveal=true"), json!({})).await.problem(403);
        ask(&app, &token, "GET", &format!("{path}/files/none?reveal=true"), json!({})).await.problem(404);
        assert_eq!(db.number(entries).await, 0);
        assert!(read("?reveal=true").await.expect(200).text().contains("secret-of-line-1"));
        app.advance(TimeDelta::seconds(1));
        read("?reveal=true").await.expect(200);
        assert_eq!(db.number(entries).await, 2);
        let what = format!("{entries} AND actor = 'viewer-None-true' AND kind = 'device' AND id = '{YEALINK}' AND message = '{YEALINK}.cfg'
            AND at LIKE '2023-11-14T22:13:2%' AND before_body IS NULL AND after_body IS NULL AND before_sealed IS NULL AND after_sealed IS NULL");
        assert_eq!(db.number(&what).await, 2);
        assert_eq!(app.get(&path).await.header("etag").map(str::to_owned), revision);
    }

    async fn macs_of_others_are_told_a_few_times_an_hour(db: &Db) {
        let app = TestApp::on(db).await;
        tenants(&app).await;
        app.patch("/tenants/default", &json!({"settings": {"sip": {"server": "pbx.example.com"}}})).await.expect(200);
        app.post("/devices", &phone(POLY, "poly", None)).await.expect(201);
        app.patch("/tenants/reseller", &json!({"settings": {"sip": {"server": "pbx.example.com"}}})).await.expect(200);
        let admin = app.token(Role::Admin, Some("reseller"), false).await;
        let neighbour = app.token(Role::Operator, Some("site"), false).await;
        let write = async |token: &str, mac: &str| {
            let mut device = phone(mac, if mac == POLY { "poly" } else { "yealink" }, None);
            device["tenant"] = json!("site");
            ask(&app, token, "PUT", &format!("/devices/{mac}"), device).await
        };
        write(&admin, YEALINK).await.expect(201);
        // Ids of tenants count as well, and so does what a token that it made finds out.
        ask(&app, &admin, "PUT", "/tenants/stranger", json!({"parent": "reseller"})).await.problem(409);
        for _ in 0..14 {
            write(&admin, POLY).await.problem(409);
        }
        let made = clear(ask(&app, &admin, "POST", "/tokens", json!({"name": "x", "role": "operator"})).await);
        for _ in 0..15 {
            ask(&app, &made, "POST", "/devices?dry_run=true", phone(POLY, "poly", None)).await.problem(409);
        }
        app.advance(TimeDelta::minutes(10));
        // Taken or free, the answer is the same.
        for token in [&admin, &made] {
            let mut problems = Vec::new();
            for mac in [POLY, "805ec0000009"] {
                let answer = write(token, mac).await;
                assert_eq!(answer.header("retry-after"), Some("3000"));
                problems.push(answer.problem(429));
            }
            assert_eq!(problems[0], problems[1]);
            assert_eq!(problems[0]["code"], "too_many");
        }
        for id in ["stranger", "free"] {
            ask(&app, &admin, "PUT", &format!("/tenants/{id}"), json!({"parent": "reseller"})).await.problem(429);
        }
        // What is its own it still writes, and others are not in it.
        write(&admin, YEALINK).await.expect(200);
        ask(&app, &admin, "PATCH", "/tenants/site", json!({"name": "x"})).await.expect(200);
        ask(&app, &made, "PATCH", &format!("/devices/{POLY}"), json!({})).await.problem(404);
        write(&neighbour, "805ec0000008").await.expect(201);
        app.put(&format!("/devices/{POLY}"), &phone(POLY, "poly", None)).await.expect(200);
        app.advance(TimeDelta::minutes(50));
        write(&admin, POLY).await.problem(409);
        write(&admin, "805ec0000009").await.expect(201);
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_token_is_told_at_once() {
    let app = TestApp::new().await;
    let refused = async |body: Value| {
        let mut errors = app.post("/tokens", &body).await.errors();
        errors.sort();
        errors.into_iter().map(|(path, code)| format!("{path} {code}")).collect::<Vec<_>>()
    };
    let wrong = json!({"name": "a/b", "role": "king", "tenant": "nowhere", "reveal": "yes", "expires_at": "soon", "colour": 1});
    let codes = [
        "/colour unknown_field",
        "/expires_at not_a_time",
        "/name not_a_name",
        "/reveal not_a_boolean",
        "/role not_allowed",
        "/tenant unknown_tenant",
    ];
    let found = refused(wrong).await;
    assert_eq!(found.len(), codes.len(), "{found:?}");
    for (found, code) in found.iter().zip(codes) {
        assert!(found == code || code.ends_with("boolean") && found.starts_with("/reveal"), "{found} {code}");
    }
    for (name, code) in
        [(json!(""), "required"), (json!("12"), "not_a_name"), (Value::Null, "required"), (json!("admin token"), "reserved")]
    {
        assert_eq!(refused(json!({"name": name})).await.last(), Some(&format!("/name {code}")));
    }
    for past in ["2023-11-14T22:13:20Z", "1970-01-01T00:00:00Z", "+12023-01-01T00:00:00Z"] {
        assert_eq!(refused(json!({"name": "x", "expires_at": past})).await.len(), 1, "{past}");
    }
    app.post("/tokens", &json!([])).await.problem(422);
    app.post("/tokens", &json!({"name": "+1"})).await.expect(201);
    app.delete("/tokens/+1").await.expect(204);
    app.ask(Call::api("POST", "/tokens").body("text/plain", "{}").token(ADMIN_TOKEN)).await.problem(415);
    app.get("/tokens?cursor=x").await.problem(422);
    app.api(Call::api("PUT", "/tokens/x").json(&json!({}))).await.problem(405);
    assert_eq!(column(&app.get("/tokens").await, "name"), [""; 0]);
}

#[tokio::test]
async fn a_plan_makes_and_revokes_nothing() {
    let app = TestApp::new().await;
    let plan = app.post("/tokens?dry_run=true", &json!({"name": "crm"})).await.expect(200).text();
    assert!(!plan.contains("offbeat_"), "{plan}");
    assert_eq!(column(&app.get("/tokens").await, "name"), [""; 0]);
    app.post("/tokens", &json!({"name": "crm"})).await.expect(201);
    app.delete("/tokens/crm?dry_run=true").await.expect(200);
    let etag = app.get("/tokens/crm").await.expect(200).header("etag").unwrap().to_owned();
    app.api(Call::api("DELETE", "/tokens/crm").header("if-match", "\"9999\"")).await.problem(412);
    app.api(Call::api("DELETE", "/tokens/crm").header("if-match", &etag)).await.expect(204);
}
