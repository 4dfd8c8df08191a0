//! What the API says of itself: vendors, `/openapi.json`, `/docs`.

use std::collections::BTreeSet;

use super::*;

/// The table of the contract.
const ROUTES: [(&str, &str); 17] = [
    ("/tenants", "get post"),
    ("/tenants/{}", "delete get patch put"),
    ("/tenants/{}/profiles", "get post"),
    ("/tenants/{}/profiles/{}", "delete get patch put"),
    ("/devices", "get post"),
    ("/devices/{}", "delete get patch put"),
    ("/devices/{}/files", "get"),
    ("/devices/{}/files/{}", "get"),
    ("/devices/{}/timers", "get"),
    ("/devices/{}/diff", "get"),
    ("/refusals", "get"),
    ("/tokens", "get post"),
    ("/tokens/{}", "delete get"),
    ("/unclaimed", "get"),
    ("/unclaimed/{}/claim", "post"),
    ("/vendors", "get"),
    ("/vendors/{}", "get"),
];

async fn description(app: &TestApp) -> Value {
    app.ask(Call::get("/openapi.json")).await.expect(200).json()
}

#[tokio::test]
async fn the_description_covers_every_route_and_needs_no_token() {
    let app = TestApp::new().await;
    let description = description(&app).await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3."));
    let paths: BTreeSet<(String, String)> = description["paths"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, operations)| {
            let plain = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect::<Vec<_>>().join("/");
            let mut methods: Vec<_> =
                operations.as_object().unwrap().keys().map(String::as_str).filter(|key| !["parameters", "summary"].contains(key)).collect();
            methods.sort_unstable();
            (plain, methods.join(" "))
        })
        .collect();
    let expected = ROUTES.iter().map(|(path, methods)| (format!("/api/v1{path}"), (*methods).to_owned())).collect();
    assert_eq!(paths, expected);
    // Each of them is there: with a token it is anything but 404 for the path or 405.
    fleet(&app).await;
    app.put("/tenants/default/profiles/x", &json!({})).await.expect(201);
    app.post("/tokens", &json!({"name": "crm"})).await.expect(201);
    for (path, methods) in ROUTES {
        let mut ids = match path.split('/').nth(1) {
            Some("tenants") => ["default", "x"],
            Some("tokens") => ["crm", ""],
            Some("devices") => [YEALINK, "805ec0123456.cfg"],
            _ => ["yealink", ""],
        }
        .into_iter();
        let path: Vec<_> = path.split('/').map(|part| if part == "{}" { ids.next().unwrap() } else { part }).collect();
        if methods.contains("get") {
            app.get(&path.join("/")).await.expect(200);
        }
    }
}

#[tokio::test]
async fn every_reference_of_the_description_leads_somewhere() {
    let app = TestApp::new().await;
    let description = description(&app).await;
    let mut pending = vec![&description];
    let mut seen = 0;
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    assert!(description.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
                    seen += 1;
                }
                pending.extend(map.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    assert!(seen > 20);
    assert_eq!(description["components"]["securitySchemes"]["token"]["scheme"], "bearer");
}

#[tokio::test]
async fn the_pages_work_without_a_token_and_without_the_internet() {
    let app = TestApp::new().await;
    let mut page = app.ask(Call::get("/docs")).await;
    if page.status == 303 || page.status == 308 || page.status == 307 {
        let target = page.header("location").unwrap().to_owned();
        page = app.ask(Call::get(&target)).await;
    }
    let html = page.expect(200).text();
    let assets: Vec<&str> = html.split(['"', '\'']).filter(|part| matches!(part.rsplit_once('.'), Some((_, "js" | "css")))).collect();
    assert!(assets.len() >= 3, "{html}");
    let mut scripts = String::new();
    for asset in assets {
        assert!(!asset.contains("://"), "{asset} is embedded");
        let answer = app.ask(Call::get(&format!("/docs/{}", asset.trim_start_matches("./")))).await.expect(200);
        assert!(!answer.body.is_empty());
        if asset.contains("initializer") {
            scripts = answer.text();
        }
    }
    assert!(scripts.contains("/openapi.json"), "{scripts}");
}

#[tokio::test]
async fn vendors_tell_their_facts() {
    let app = TestApp::new().await;
    assert_eq!(column(&app.get("/vendors").await.expect(200), "id"), ["grandstream", "linphone", "poly", "yealink"]);
    for id in ["grandstream", "linphone", "poly", "yealink"] {
        let facts = app.get(&format!("/vendors/{id}")).await.expect(200).json();
        for member in ["files", "timers", "models", "settings", "effects", "sources"] {
            assert!(facts[member].as_array().is_some_and(|list| !list.is_empty() || member == "models"), "{member} of {id}");
        }
        for timer in facts["timers"].as_array().unwrap() {
            assert!(
                timer["unit_s"].is_u64() && timer["parameter"].is_string() && timer.get("min").is_some() && timer.get("max").is_some(),
                "{timer}"
            );
        }
    }
    app.get("/vendors/acme").await.problem(404);
}
