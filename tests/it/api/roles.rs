//! Roles and scopes: what a token may do, and that it sees nothing outside its tenant.

use offbeat::app::Role;

use super::*;

/// provider → reseller → site, and a stranger; a profile each, a device at the site and one of the stranger's.
async fn world(db: &Db) -> TestApp {
    let app = TestApp::on(db).await;
    let server = json!({"sip": {"server": "pbx.example.com"}});
    for (id, parent) in [("provider", None), ("reseller", Some("provider")), ("site", Some("reseller")), ("stranger", None)] {
        app.put(&format!("/tenants/{id}"), &json!({"parent": parent, "settings": server})).await.expect(201);
        app.put(&format!("/tenants/{id}/profiles/desk"), &json!({})).await.expect(201);
    }
    for (mac, tenant) in [(YEALINK, "site"), (POLY, "stranger")] {
        let vendor = if mac == POLY { "poly" } else { "yealink" };
        let mut device = phone(mac, vendor, None);
        device["tenant"] = json!(tenant);
        app.post("/devices", &device).await.expect(201);
    }
    app
}

/// Every write that there is, with the role it takes at least.
fn writes() -> Vec<(Role, Call)> {
    let call = |method: &str, path: &str, body: Value| Call::api(method, path).json(&body);
    let mut device = phone("805ec0000009", "yealink", None);
    device["tenant"] = json!("site");
    vec![
        (Role::Operator, call("POST", "/devices", device.clone())),
        (Role::Operator, call("PUT", "/devices/805ec0000009", device)),
        (Role::Operator, call("PATCH", "/devices/805ec0000009", json!({"name": "x"}))),
        (Role::Operator, Call::api("DELETE", "/devices/805ec0000009")),
        (Role::Admin, call("POST", "/tenants", json!({"id": "new", "parent": "site"}))),
        (Role::Admin, call("PUT", "/tenants/new", json!({"parent": "site"}))),
        (Role::Admin, call("PATCH", "/tenants/new", json!({"name": "x"}))),
        (Role::Admin, Call::api("DELETE", "/tenants/new")),
        (Role::Admin, call("POST", "/tenants/site/profiles", json!({"id": "new"}))),
        (Role::Admin, call("PUT", "/tenants/site/profiles/new", json!({}))),
        (Role::Admin, call("PATCH", "/tenants/site/profiles/new", json!({"name": "x"}))),
        (Role::Admin, Call::api("DELETE", "/tenants/site/profiles/new")),
        (Role::Admin, call("POST", "/tokens", json!({"name": "new", "tenant": "site"}))),
        (Role::Admin, Call::api("DELETE", "/tokens/site%2Fnew")),
    ]
}

/// Every operation of the description, with each identifier of its path in place.
fn operations(description: &Value, ids: &dyn Fn(&str) -> String) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, operations) in description["paths"].as_object().unwrap() {
        let parts = path.split('/').map(|part| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => ids(name),
            None => part.to_owned(),
        });
        let path = parts.collect::<Vec<_>>().join("/").replace("/api/v1", "");
        let methods =
            operations.as_object().unwrap().keys().filter(|key| ["get", "put", "post", "patch", "delete"].contains(&key.as_str()));
        found.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    found
}

/// A document that fits any path: it names what the path names.
fn document(path: &str, tenant: &str, mac: &str) -> Value {
    match path.split('/').nth(1) {
        Some("tenants") if path.contains("/profiles") => json!({"id": "desk"}),
        Some("tenants") => json!({"id": tenant, "parent": "site"}),
        Some("tokens") => json!({"name": "secret-name", "tenant": tenant}),
        _ => json!({"mac": mac, "tenant": "site", "vendor": "yealink"}),
    }
}

on_both_databases! {
    async fn viewers_read_operators_write_devices_admins_all(db: &Db) {
        let app = world(db).await;
        for scope in [None, Some("reseller")] {
            for role in [Role::Viewer, Role::Operator, Role::Admin] {
                let token = app.token(role, scope, false).await;
                for path in ["/tenants", "/tenants/site", "/tenants/site/profiles/desk", "/devices", &format!("/devices/{YEALINK}/timers"), "/vendors", "/refusals"] {
                    app.ask(Call::api("GET", path).token(&token)).await.expect(200);
                }
                for (number, (least, call)) in writes().into_iter().enumerate() {
                    let answer = app.ask(call.token(&token)).await;
                    if role >= least {
                        assert!(answer.status < 300, "{role:?} {scope:?} write {number}: {}", answer.text());
                    } else {
                        answer.problem(403);
                    }
                }
            }
        }
    }

    async fn a_token_sees_nothing_outside_its_tenant(db: &Db) {
        let app = world(db).await;
        let token = app.token(Role::Admin, Some("reseller"), true).await;
        let ask = async |method: &str, path: &str| app.ask(Call::api(method, path).token(&token)).await;
        assert_eq!(column(&ask("GET", "/tenants").await, "id"), ["reseller", "site"]);
        assert_eq!(column(&ask("GET", "/devices").await, "mac"), [YEALINK]);
        assert_eq!(column(&ask("GET", "/devices?tenant=stranger").await, "mac"), [""; 0]);
        assert_eq!(column(&ask("GET", &format!("/devices?q={POLY}")).await, "mac"), [""; 0]);
        for path in ["/tenants/provider", "/tenants/stranger", "/tenants/default", "/tenants/stranger/profiles", "/tenants/stranger/profiles/desk",
            "/tenants/provider/profiles", "/tenants/provider/profiles/desk"]
        {
            // As if it were not there.
            let hidden = ask("GET", path).await.problem(404);
            let nothing = ask("GET", &path.replace("provider", "nothing").replace("stranger", "nothing").replace("default", "nothing")).await.problem(404);
            assert_eq!(hidden, nothing);
            ask("DELETE", path).await.expect(if path.ends_with("profiles") { 405 } else { 404 });
        }
        for path in ["", "/files", "/timers", "/diff", "/files/x"] {
            ask("GET", &format!("/devices/{POLY}{path}")).await.problem(404);
        }
        ask("DELETE", &format!("/devices/{POLY}")).await.problem(404);
        app.get(&format!("/devices/{POLY}")).await.expect(200);
    }

    async fn on_no_route_does_a_token_tell_what_others_have_from_what_is_not_there(db: &Db) {
        const FREE: &str = "805ec0000001";
        let app = world(db).await;
        app.post("/tokens", &json!({"name": "secret-name", "tenant": "stranger"})).await.expect(201);
        app.post("/tokens", &json!({"name": "above-name", "tenant": "provider"})).await.expect(201);
        for name in [format!("{POLY}.xml"), format!("{FREE}.cfg")] {
            app.phone(Call::get(&format!("/provision/{name}")).header("user-agent", "stranger-phone")).await.expect(404);
        }
        app.get("/unclaimed").await.expect(200);
        let description = app.ask(Call::get("/openapi.json")).await.json();
        let ids = |tenant: &'static str, mac: &'static str, token: &'static str| move |name: &str| match name {
            "tenant" => tenant.to_owned(),
            "id" => "desk".to_owned(),
            "mac" => mac.to_owned(),
            "name" => format!("{mac}.cfg"),
            "token" => token.to_owned(),
            other => panic!("what is {other}?"),
        };
        let theirs = operations(&description, &ids("stranger", POLY, "secret-name"));
        let nobodys = operations(&description, &ids("nothing", FREE, "no-such-name"));
        assert!(theirs.len() > 30, "{theirs:?}");
        for damaged in [false, true] {
            if damaged {
                db.tamper(&format!("UPDATE devices SET body = '{{' WHERE mac = '{POLY}'")).await;
                db.tamper("UPDATE tenants SET body = '{' WHERE id = 'stranger'").await;
                db.tamper("UPDATE profiles SET body = '{' WHERE tenant = 'stranger'").await;
            }
            for role in [Role::Viewer, Role::Operator, Role::Admin] {
                let name = format!("{}-{damaged}", role.as_str());
                let body = json!({"name": name, "role": role.as_str(), "tenant": "reseller", "reveal": true});
                let token = app.post("/tokens", &body).await.expect(201).json()["token"].as_str().unwrap().to_owned();
                for ((method, path), (_, other)) in theirs.iter().zip(&nobodys) {
                    for query in ["", "?dry_run=true", "?reveal=true"] {
                        let call = |path: &str, tenant: &str, mac: &str| {
                            Call::api(method, &format!("{path}{query}")).json(&document(path, tenant, mac)).token(&token)
                        };
                        let shown = app.ask(call(path, "stranger", POLY)).await;
                        let text = shown.text();
                        let what = format!("{role:?} {method} {path}{query} {damaged}: {text}");
                        // That a MAC or the id of a tenant is taken is what a token may learn, counted, of nobody named.
                        let creates = matches!((method.as_str(), path.as_str()), ("PUT" | "POST", "/devices" | "/tenants" | "/tenants/stranger"))
                            || method == "PUT" && *path == format!("/devices/{POLY}");
                        if creates && shown.status == 409 {
                            assert!(text.contains("is taken") && !text.contains("stranger") && !text.contains(POLY), "{what}");
                            continue;
                        }
                        let echo = text.replace("secret-name", "no-such-name").replace("stranger", "nothing").replace(POLY, FREE);
                        if !creates {
                            let hidden = app.ask(call(other, "nothing", FREE)).await;
                            assert_eq!((shown.status, &echo), (hidden.status, &hidden.text()), "{what}");
                        }
                        for secret in ["above-name", "stranger-phone", "provider/desk"] {
                            assert!(!text.contains(secret), "{secret}: {what}");
                        }
                        if method == "GET" {
                            assert!(!text.contains("stranger") && !text.contains(POLY) && !text.contains("secret-name"), "{what}");
                        }
                    }
                }
            }
        }
        // Nothing of it was done.
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE actor LIKE 'reseller/%' AND kind <> 'token'").await, 0);
    }

    async fn what_was_refused_before_is_not_shown_to_a_later_tenant(db: &Db) {
        const MAC: &str = "805ec0000001";
        let app = world(db).await;
        app.fetch(&format!("{MAC}.cfg")).await.expect(404);
        let token = app.token(Role::Admin, Some("reseller"), false).await;
        let mut device = phone(MAC, "yealink", None);
        device["tenant"] = json!("site");
        let made = app.ask(Call::api("POST", "/devices").json(&device).token(&token)).await.expect(201).json();
        assert_eq!(made["last_refused"], Value::Null);
        assert_eq!(column(&app.ask(Call::api("GET", "/refusals").token(&token)).await, "mac"), [""; 0]);
        assert_eq!(app.get(&format!("/devices/{MAC}")).await.json()["last_refused"]["reason"], "unknown_mac");
        app.fetch(&format!("{MAC}.xml")).await.expect(404);
        let shown = app.ask(Call::api("GET", &format!("/devices/{MAC}")).token(&token)).await.expect(200).json();
        assert_eq!(shown["last_refused"]["reason"], "other_name");
        // Nor what follows once the device is another's.
        app.patch(&format!("/devices/{MAC}"), &json!({"tenant": "stranger"})).await.expect(200);
        app.fetch(&format!("{MAC}.xml")).await.expect(404);
        assert_eq!(column(&app.ask(Call::api("GET", "/refusals").token(&token)).await, "mac"), [MAC]);
        let stranger = app.token(Role::Viewer, Some("stranger"), false).await;
        assert_eq!(column(&app.ask(Call::api("GET", "/refusals").token(&stranger)).await, "mac"), [MAC]);
        assert_eq!(column(&app.get("/refusals").await, "mac").len(), 3);
    }

    async fn a_token_writes_nothing_outside_its_tenant(db: &Db) {
        let app = world(db).await;
        let token = app.token(Role::Admin, Some("reseller"), false).await;
        let ask = async |method: &str, path: &str, body: Value| app.ask(Call::api(method, path).json(&body).token(&token)).await;
        // A MAC of another tenant is taken, and nobody is named.
        let mut device = phone(POLY, "poly", None);
        device["tenant"] = json!("site");
        for (method, path) in [("POST", "/devices".to_owned()), ("PUT", format!("/devices/{POLY}"))] {
            let problem = ask(method, &path, device.clone()).await.problem(409);
            assert!(!problem.to_string().contains("stranger"), "{problem}");
        }
        ask("PATCH", &format!("/devices/{POLY}"), json!({"tenant": "site"})).await.problem(404);
        device["mac"] = json!("64167f0a0b99");
        for tenant in ["stranger", "provider", "default", "nothing"] {
            device["tenant"] = json!(tenant);
            assert_eq!(ask("POST", "/devices", device.clone()).await.error_paths(), ["/tenant"], "{tenant}");
            assert_eq!(ask("PATCH", &format!("/devices/{YEALINK}"), json!({"tenant": tenant})).await.error_paths(), ["/tenant"], "{tenant}");
            assert_eq!(ask("PUT", "/tenants/new", json!({"parent": tenant})).await.error_paths(), ["/parent"], "{tenant}");
            assert_eq!(ask("PATCH", "/tenants/site", json!({"parent": tenant})).await.error_paths(), ["/parent"], "{tenant}");
        }
        assert_eq!(ask("PUT", "/tenants/new", json!({})).await.error_paths(), ["/parent"], "no new root");
        assert_eq!(ask("PATCH", "/tenants/site", json!({"parent": null})).await.error_paths(), ["/parent"]);
        for tenant in ["stranger", "provider"] {
            let answer = ask("PUT", &format!("/tenants/{tenant}"), json!({"parent": "reseller"})).await;
            assert!(answer.status == 409 || answer.status == 404, "{}", answer.status);
            ask("PATCH", &format!("/tenants/{tenant}"), json!({"name": "x"})).await.problem(404);
            ask("PUT", &format!("/tenants/{tenant}/profiles/new"), json!({})).await.problem(404);
        }
        // A profile of an ancestor may be named, one of a stranger may not.
        ask("PATCH", &format!("/devices/{YEALINK}"), json!({"profile": "provider/desk"})).await.expect(200);
        assert_eq!(ask("PATCH", &format!("/devices/{YEALINK}"), json!({"profile": "stranger/desk"})).await.error_paths(), ["/profile"]);
        ask("PATCH", "/tenants/reseller", json!({"name": "own"})).await.expect(200);
    }

    async fn refusals_are_seen_by_those_whose_devices_they_are(db: &Db) {
        let app = world(db).await;
        for name in [format!("{YEALINK}.xml"), format!("{POLY}.xml"), "805ec0999999.cfg".into(), "nobody".into()] {
            app.fetch(&name).await.expect(404);
        }
        let token = app.token(Role::Viewer, Some("reseller"), false).await;
        assert_eq!(column(&app.ask(Call::api("GET", "/refusals").token(&token)).await, "mac"), [YEALINK]);
        assert_eq!(column(&app.get("/refusals").await, "path").len(), 4);
        // The stranger's newest ones do not crowd out their own.
        for _ in 0..3 {
            app.fetch(&format!("{POLY}.xml")).await.expect(404);
        }
        assert_eq!(column(&app.ask(Call::api("GET", "/refusals?limit=2").token(&token)).await, "mac"), [YEALINK]);
    }
}

#[tokio::test]
async fn operators_run_plans_of_any_write_and_viewers_none() {
    let db = Db::sqlite();
    let app = world(&db).await;
    let (viewer, operator) = (app.token(Role::Viewer, None, false).await, app.token(Role::Operator, None, false).await);
    for path in ["/tenants/site", "/tenants/site/profiles/desk", &format!("/devices/{YEALINK}")] {
        let call = || Call::api("PATCH", &format!("{path}?dry_run=true")).json(&json!({"name": "x"}));
        app.ask(call().token(&viewer)).await.problem(403);
        app.ask(call().token(&operator)).await.expect(200);
    }
}

#[tokio::test]
async fn clear_secrets_take_the_right_reveal() {
    let db = Db::sqlite();
    let app = world(&db).await;
    let path = format!("/devices/{YEALINK}/files/{YEALINK}.cfg");
    for role in [Role::Viewer, Role::Operator, Role::Admin] {
        for reveal in [false, true] {
            let token = app.token(role, Some("site"), reveal).await;
            let masked = app.ask(Call::api("GET", &path).token(&token)).await.expect(200).text();
            assert!(masked.contains("********") && !masked.contains("secret-of-line-1"));
            let clear = app.ask(Call::api("GET", &format!("{path}?reveal=true")).token(&token)).await;
            if reveal { assert!(clear.expect(200).text().contains("secret-of-line-1")) } else { _ = clear.problem(403) }
        }
    }
    let clear = app.get(&format!("{path}?reveal=true")).await.expect(200);
    assert_eq!(clear.body, app.fetch(&format!("{YEALINK}.cfg")).await.body, "the very bytes");
}
