//! `If-Match` and `If-None-Match` of writes: 412, and nothing is stored.

use super::*;

const PATHS: [&str; 3] = ["/tenants/acme", "/tenants/default/profiles/desk", "/devices/805ec0123456"];

async fn made() -> TestApp {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.put(PATHS[0], &json!({})).await.expect(201);
    app.put(PATHS[1], &json!({})).await.expect(201);
    app
}

async fn rename(app: &TestApp, method: &str, path: &str, header: (&str, &str), name: &str) -> Answer {
    let mut body = app.get(path).await.json();
    body["name"] = json!(name);
    let body = if method == "PATCH" { json!({"name": name}) } else { body };
    app.api(Call::api(method, path).json(&body).header(header.0, header.1)).await
}

#[tokio::test]
async fn a_stale_revision_is_412() {
    let app = made().await;
    for path in PATHS {
        let tag = app.get(path).await.header("etag").unwrap().to_owned();
        let number: i64 = tag.trim_matches('"').parse().unwrap();
        for method in ["PUT", "PATCH"] {
            for stale in [format!("\"{}\"", number - 1), format!("\"{}\"", number + 1), "\"x\"".into(), format!("W/{tag}"), String::new()] {
                rename(&app, method, path, ("if-match", &stale), "stale").await.problem(412);
            }
        }
        for stale in [format!("\"{}\"", number - 1), format!("W/{tag}")] {
            app.api(Call::api("DELETE", path).header("if-match", &stale)).await.problem(412);
        }
        assert_eq!(app.get(path).await.header("etag"), Some(tag.as_str()), "nothing was stored");
    }
}

#[tokio::test]
async fn the_revision_that_is_stored_lets_a_write_pass() {
    let app = made().await;
    for path in PATHS {
        for (method, wrap) in [("PUT", "{}"), ("PATCH", "\"0\", {}"), ("PUT", " {} , \"x\"")] {
            let tag = app.get(path).await.header("etag").unwrap().to_owned();
            rename(&app, method, path, ("if-match", &wrap.replace("{}", &tag)), wrap).await.expect(200);
        }
        rename(&app, "PUT", path, ("if-match", "*"), "star").await.expect(200);
        let tag = app.get(path).await.header("etag").unwrap().to_owned();
        app.api(Call::api("DELETE", path).header("if-match", &tag)).await.expect(204);
    }
}

#[tokio::test]
async fn what_is_not_there_matches_nothing() {
    let app = made().await;
    for (path, body) in [
        ("/tenants/new", json!({})),
        ("/tenants/default/profiles/new", json!({})),
        ("/devices/805ec0123457", phone("805ec0123457", "yealink", None)),
    ] {
        for tag in ["*", "\"1\""] {
            app.api(Call::api("PUT", path).json(&body).header("if-match", tag)).await.problem(412);
        }
        app.get(path).await.problem(404);
        app.api(Call::api("PUT", path).json(&body).header("if-none-match", "*")).await.expect(201);
        app.api(Call::api("PUT", path).json(&body).header("if-none-match", "*")).await.problem(412);
    }
}

#[tokio::test]
async fn of_two_edits_from_one_revision_one_is_412() {
    let app = made().await;
    for path in PATHS {
        let tag = app.get(path).await.header("etag").unwrap().to_owned();
        let one = async |name: &str| app.api(Call::api("PATCH", path).json(&json!({"name": name})).header("if-match", &tag)).await.status;
        let (first, second) = tokio::join!(one("one"), one("two"));
        let mut both = [first, second];
        both.sort_unstable();
        assert_eq!(both, [200, 412]);
    }
}
