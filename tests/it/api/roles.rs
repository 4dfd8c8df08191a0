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
    ]
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
