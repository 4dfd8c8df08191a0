//! Refusals are problem documents (RFC 9457) with the status that the contract names, never HTML.

use super::*;
use crate::app::ADMIN_TOKEN;

#[tokio::test]
async fn without_a_token_or_with_a_wrong_one_it_is_401() {
    let app = TestApp::new().await;
    for path in ["/tenants", "/tenants/default", "/devices", "/devices/805ec0123456/files/x", "/refusals", "/vendors", "/vendors/yealink"] {
        let bare = app.ask(Call::api("GET", path)).await;
        assert_eq!(bare.header("www-authenticate").map(|value| &value[..6]), Some("Bearer"));
        bare.problem(401);
    }
    for authorization in [
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic YTpi",
        ADMIN_TOKEN,
        &format!("bearer {ADMIN_TOKEN}x"),
        &format!("Bearer x{ADMIN_TOKEN}"),
    ] {
        app.ask(Call::api("GET", "/tenants").header("authorization", authorization)).await.problem(401);
    }
    // Who asks comes before what is asked.
    app.ask(Call::api("PUT", "/tenants/acme").body("text/html", "<")).await.problem(401);
    app.ask(Call::api("GET", "/tenants").header("authorization", &format!("bearer {ADMIN_TOKEN}"))).await.expect(200);
}

#[tokio::test]
async fn a_body_that_is_no_json_is_400() {
    let app = TestApp::new().await;
    let deep = "[".repeat(100_000);
    for body in ["", "{", "{\"name\": }", "nonsense", "{} {}", "\u{feff}{}", deep.as_str()] {
        for (method, path) in
            [("PUT", "/tenants/acme"), ("PATCH", "/tenants/default"), ("POST", "/devices"), ("POST", "/tenants/default/profiles")]
        {
            app.api(Call::api(method, path).body("application/json", body.to_owned())).await.problem(400);
        }
    }
    app.api(Call::api("PUT", "/tenants/acme").body("application/json", vec![b'"', 0xff, b'"'])).await.problem(400);
}

#[tokio::test]
async fn a_body_of_another_type_is_415() {
    let app = TestApp::new().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", ""] {
        app.api(Call::api("PUT", "/tenants/acme").body(kind, "{}")).await.problem(415);
    }
    app.api(Call::api("PUT", "/tenants/acme").body("application/merge-patch+json", "{}")).await.problem(415);
    app.api(Call::api("PUT", "/tenants/acme").body("Application/JSON; charset=utf-8", "{}")).await.expect(201);
    app.api(Call::api("PATCH", "/tenants/acme").body("application/merge-patch+json", "{}")).await.expect(200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413() {
    let app = TestApp::new().await;
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(5 << 20));
    app.api(Call::api("PUT", "/tenants/acme").body("application/json", large.clone())).await.problem(413);
    app.api(Call::api("PUT", "/tenants/acme").body("application/json", large.clone()).header("content-length", &large.len().to_string()))
        .await
        .problem(413);
    app.get("/tenants/acme").await.problem(404);
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let app = TestApp::new().await;
    for path in [
        "/",
        "/nothing",
        "/tenants/none",
        "/tenants/none/profiles",
        "/tenants/default/profiles/none",
        "/devices/805ec0123456",
        "/devices/no-mac",
        "/devices/805ec0123456/files",
        "/devices/805ec0123456/files/x",
        "/devices/805ec0123456/timers",
        "/devices/805ec0123456/diff",
        "/devices/805ec0123456/x",
        "/vendors/none",
        "/tenants/%00",
        "/tenants/%ff",
        "/tenants/UPPER",
        "/devices/%ff",
        "/tenants/",
    ] {
        app.get(path).await.problem(404);
    }
    app.ask(Call::get("/")).await.problem(404);
    app.ask(Call::get("/api/v2/tenants")).await.problem(404);
    app.put("/tenants/none/profiles/x", &json!({})).await.problem(404);
    app.delete("/devices/805ec0123456").await.problem(404);
}

#[tokio::test]
async fn a_method_that_a_path_has_not_is_405() {
    let app = TestApp::new().await;
    for (method, path, allowed) in [
        ("PATCH", "/tenants", "GET,HEAD,POST"),
        ("DELETE", "/devices", "GET,HEAD,POST"),
        ("POST", "/tenants/default", "DELETE,GET,HEAD,PATCH,PUT"),
        ("POST", "/devices/805ec0123456", "DELETE,GET,HEAD,PATCH,PUT"),
        ("PUT", "/devices/805ec0123456/timers", "GET,HEAD"),
        ("POST", "/refusals", "GET,HEAD"),
        ("DELETE", "/vendors/yealink", "GET,HEAD"),
    ] {
        let answer = app.api(Call::api(method, path).json(&json!({}))).await;
        let mut allow: Vec<_> = answer.header("allow").unwrap_or_default().split(',').map(str::trim).collect();
        allow.sort_unstable();
        assert_eq!(allow.join(","), allowed, "{method} {path}");
        answer.problem(405);
    }
}

#[tokio::test]
async fn a_query_that_makes_no_sense_is_422() {
    let app = TestApp::new().await;
    for query in ["limit=0", "limit=1001", "limit=-1", "limit=many", "state=sideways", "limit=1&limit=2"] {
        app.get(&format!("/devices?{query}")).await.problem(422);
    }
    app.patch("/tenants/default?dry_run=perhaps", &json!({})).await.problem(422);
}

/// An error of the inside is told in words for outsiders.
#[tokio::test]
async fn a_500_tells_nothing_of_the_inside() {
    let db = Db::sqlite();
    let app = TestApp::on(&db).await;
    db.tamper("DROP TABLE refusals").await;
    let problem = app.get("/refusals").await.problem(500);
    for inside in ["refusals", "SELECT", "sql", "table"] {
        assert!(!problem.to_string().to_lowercase().contains(&inside.to_lowercase()), "{problem}");
    }
}
