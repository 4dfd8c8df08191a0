//! `offbeat token`, and the traces that the command line leaves.

use super::*;
use crate::app::Call;

/// The cells of each row of `token list`, between two spaces or more.
fn listed(db: &Db) -> Vec<Vec<String>> {
    let printed = out(&ended(run(db, &["token", "list"]), 0));
    printed.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()).collect()
}

fn made(db: &Db, arguments: &[&str]) -> String {
    let printed = out(&ended(run(db, &[&["token", "create"], arguments].concat()), 0));
    printed.strip_suffix('\n').unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_listed_without_themselves_and_revoked_at_once() {
    let db = stored().await;
    let server = Server::start(&db, &[]);
    let token =
        made(&db, &["--name", "crm of acme", "--role", "operator", "--tenant", "default", "--expires", "2099-01-31T01:00:00+01:00"]);
    let other = made(&db, &["--name", "crm of acme", "--reveal", "--expires", "30"]);
    let status = async |token: &str| {
        let request = reqwest::Client::new().get(server.url("admin", "/api/v1/devices")).bearer_auth(token);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((status(&token).await, status(&other).await), (200, 200));
    server.api("GET", "/tokens", None).await;

    let rows = listed(&db);
    assert_eq!(rows[0], ["id", "name", "role", "tenant", "reveal", "created", "expires", "last used"]);
    assert_eq!(rows[1][1..5], ["crm of acme", "operator", "default", "false"]);
    assert_eq!(rows[1][6], "2099-01-31T00:00:00Z");
    assert!(rows[1][7].ends_with('Z'), "it was used: {rows:?}");
    assert_eq!(rows[2][1..5], ["crm of acme", "viewer", "-", "true"]);
    let days = |cell: &str| cell.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    assert_eq!((days(&rows[2][6]) - days(&rows[2][5]) + chrono::TimeDelta::minutes(1)).num_days(), 30);
    let printed = format!("{rows:?}");
    assert!(!printed.contains(&token[8..]) && !printed.contains(&other[8..]));

    assert!(err(&ended(run(&db, &["token", "revoke", "crm of acme"]), 1)).contains("several"));
    ended(run(&db, &["token", "revoke", "default/crm of acme"]), 0);
    assert_eq!((status(&token).await, status(&other).await), (401, 200));
    ended(run(&db, &["token", "revoke", &rows[2][0]]), 0);
    assert_eq!(status(&other).await, 401);
    ended(run(&db, &["token", "revoke", &rows[2][0]]), 1);
    assert_eq!(listed(&db).len(), 1);
    for expires in ["0", "-1", "tomorrow", "2030-01-31", "1.5"] {
        ended(run(&db, &["token", "create", "--name", "x", &format!("--expires={expires}")]), 64);
    }
    ended(run(&db, &["token", "create", "--name", "x", "--expires", "2001-01-01T00:00:00Z"]), 1);
    ended(run(&db, &["token", "create", "--name", "17"]), 1);
    for bad in [vec!["token", "revoke"], vec!["token", "list", "x"]] {
        ended(run(&db, &bad), 64);
    }
    assert_eq!(server.stop().0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_or_revocation_makes_no_database() {
    let db = Db::sqlite();
    ended(run(&db, &["token", "list"]), 1);
    ended(run(&db, &["token", "revoke", "x"]), 1);
    assert_eq!(std::fs::read_dir(db.directory.as_ref().unwrap().path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rendered_file_is_in_the_history() {
    let db = stored().await;
    let revision = db.number("SELECT n FROM revision").await;
    ended(run(&db, &["render", NOBODY]), 1);
    ended(run(&db, &["render", YEALINK, "--file", "none"]), 1);
    assert_eq!(db.number("SELECT n FROM revision").await, revision);
    assert!(out(&ended(run(&db, &["render", YEALINK]), 0)).contains("secret-of-line-1"));
    let what = format!(
        "SELECT n FROM history WHERE action = 'reveal' AND kind = 'device' AND id = '{YEALINK}' AND actor = 'command line' AND message = '{YEALINK}.cfg'"
    );
    assert_eq!(db.number(&what).await, revision + 1);
    for command in ["explain", "why", "diff"] {
        run(&db, &[command, YEALINK]);
    }
    assert_eq!(db.number("SELECT n FROM revision").await, revision + 1, "these show no secrets");
}

/// What a token found out of others is counted, without a label that names anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn macs_that_others_hold_are_counted() {
    let db = stored().await;
    let app = TestApp::on(&db).await;
    app.put("/tenants/acme", &json!({})).await.expect(201);
    let token = made(&db, &["--name", "a", "--role", "operator", "--tenant", "acme"]);
    app.ask(Call::api("GET", "/devices").token(&token)).await.expect(200);
    let server = Server::start(&db, &[]);
    let metrics = async || reqwest::get(server.url("ops", "/metrics")).await.unwrap().text().await.unwrap();
    assert!(!metrics().await.contains("offbeat_taken_by_others_total"));
    for _ in 0..2 {
        let request = reqwest::Client::new().put(server.url("admin", &format!("/api/v1/devices/{POLY}"))).bearer_auth(&token);
        let body = json!({"mac": POLY, "tenant": "acme", "vendor": "poly"});
        assert_eq!(request.json(&body).send().await.unwrap().status().as_u16(), 409);
    }
    assert!(metrics().await.contains("\noffbeat_taken_by_others_total 2\n"));
    assert_eq!(server.stop().0, Some(0));
}
