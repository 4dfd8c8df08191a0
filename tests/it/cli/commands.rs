//! What each command prints, and the code that it ends with.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn render_prints_the_bytes_the_phone_would_get() {
    let db = stored().await;
    let app = TestApp::on(&db).await;
    for (arguments, name) in [
        (vec!["render", YEALINK], format!("{YEALINK}.cfg")),
        (vec!["render", "80:5E:C0:12:34:56"], format!("{YEALINK}.cfg")),
        (vec!["render", YEALINK, "--file", "805ec0123456.boot"], format!("{YEALINK}.boot")),
        (vec!["render", POLY, "--file", "64167f0a0b01-config.cfg"], format!("{POLY}-config.cfg")),
        (vec!["render", LINPHONE], format!("{LINPHONE}.xml")),
    ] {
        let rendered = ended(run(&db, &arguments), 0);
        assert_eq!(rendered.stdout, app.fetch(&name).await.expect(200).body, "{arguments:?}");
    }
    ended(run(&db, &["render", NOBODY]), 1);
    ended(run(&db, &["render", YEALINK, "--file", "other.cfg"]), 1);
    app.patch(&format!("/devices/{YEALINK}?accept=errors"), &json!({"settings": {"sip": {"server": ""}}})).await.expect(200);
    let faulty = ended(run(&db, &["render", YEALINK]), 1);
    assert!(err(&faulty).contains("server_required") && out(&faulty).is_empty(), "{}", err(&faulty));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explain_prints_each_timer_with_what_it_was_made_of() {
    let db = stored().await;
    let app = TestApp::on(&db).await;
    app.patch("/tenants/default", &json!({"salt": "grain", "settings": {"timers": {"registration": {"interval": 7200, "floor": 120}}}}))
        .await
        .expect(200);
    let printed = out(&ended(run(&db, &["explain", YEALINK]), 0));
    let rows = app.get(&format!("/devices/{YEALINK}/timers")).await.json();
    for row in rows["items"].as_array().unwrap() {
        let text = |member: &str| row[member].as_str().map_or_else(|| row[member].to_string(), str::to_owned);
        let about = printed.split_once(&format!("{}\n", text("key"))).unwrap_or_else(|| panic!("{printed}")).1;
        for member in ["parameter", "value", "interval", "spread", "floor", "hash", "steps", "salt"] {
            assert!(about.contains(&text(member)), "{member} of {row} in {printed}");
        }
    }
    assert!(printed.contains("tenant:default") && printed.contains("default"), "{printed}");
    ended(run(&db, &["explain", NOBODY]), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_tells_what_this_phone_would_be_answered() {
    let db = stored().await;
    let app = TestApp::on(&db).await;
    let good = out(&ended(run(&db, &["why", YEALINK]), 0));
    assert!(good.contains("200") && good.contains(&format!("{YEALINK}.cfg")), "{good}");
    let unknown = out(&ended(run(&db, &["why", NOBODY]), 1));
    assert!(unknown.contains("404"), "{unknown}");
    app.patch(&format!("/devices/{YEALINK}"), &json!({"enabled": false})).await.expect(200);
    let disabled = out(&ended(run(&db, &["why", YEALINK]), 1));
    assert!(disabled.contains("404") && disabled.contains("disabled"), "{disabled}");
    app.patch(&format!("/devices/{POLY}?accept=errors"), &json!({"settings": {"sip": {"server": ""}}})).await.expect(200);
    let faulty = out(&ended(run(&db, &["why", POLY]), 1));
    assert!(faulty.contains("404") && faulty.contains("server_required"), "{faulty}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn diff_ends_with_0_1_or_2() {
    let db = stored().await;
    let app = TestApp::on(&db).await;
    let never = ended(run(&db, &["diff", YEALINK]), 1);
    assert!(out(&never).contains("account.1.sip_server.1.expires"), "{}", out(&never));
    for name in [format!("{YEALINK}.cfg"), format!("{YEALINK}.boot")] {
        app.fetch(&name).await.expect(200);
    }
    app.get(&format!("/devices/{YEALINK}/diff")).await.expect(200);
    assert_eq!(out(&ended(run(&db, &["diff", YEALINK]), 0)), "");
    app.patch("/tenants/default", &json!({"settings": {"sip": {"port": 5070}}})).await.expect(200);
    let different = out(&ended(run(&db, &["diff", YEALINK]), 1));
    assert!(different.contains("--- served\n+++ current\n@@") && different.contains("+account.1.sip_server.1.port = 5070"), "{different}");
    assert!(!different.contains("secret-of-line-1"));
    ended(run(&db, &["diff", NOBODY]), 2);
    app.patch(&format!("/devices/{YEALINK}?accept=errors"), &json!({"settings": {"sip": {"server": ""}}})).await.expect(200);
    ended(run(&db, &["diff", YEALINK]), 2);
    let other_key = [("OFFBEAT_SECRET_KEY", &"ab".repeat(32)[..])];
    ended(process::run(&db, &["diff", POLY], &other_key), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_shown_once_and_works() {
    use crate::app::Call;
    let db = stored().await;
    let app = TestApp::on(&db).await;
    let token = |arguments: &[&str]| out(&ended(run(&db, &[&["token", "create"], arguments].concat()), 0)).trim_end().to_owned();
    let viewer = token(&["--name", "v"]);
    let operator = token(&["--name", "o", "--role", "operator", "--tenant", "default"]);
    let admin = token(&["--name", "a", "--role", "admin", "--reveal"]);
    assert!(viewer.len() >= 32 && viewer.bytes().all(|b| b.is_ascii_graphic()));
    let edit = |token: &str, path: &str| Call::api("PATCH", path).json(&json!({"name": "x"})).token(token);
    app.ask(Call::api("GET", "/devices").token(&viewer)).await.expect(200);
    app.ask(edit(&viewer, &format!("/devices/{YEALINK}"))).await.problem(403);
    app.ask(edit(&operator, &format!("/devices/{YEALINK}"))).await.expect(200);
    app.ask(edit(&operator, "/tenants/default")).await.problem(403);
    app.ask(edit(&admin, "/tenants/default")).await.expect(200);
    let reveal = |token: &str| Call::api("GET", &format!("/devices/{YEALINK}/files/{YEALINK}.cfg?reveal=true")).token(token);
    app.ask(reveal(&operator)).await.problem(403);
    app.ask(reveal(&admin)).await.expect(200);
    // The database holds none of them.
    for entry in std::fs::read_dir(db.directory.as_ref().unwrap().path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(viewer.len()).any(|window| window == viewer.as_bytes()));
    }
    ended(run(&db, &["token", "create", "--name", "v"]), 1);
    ended(run(&db, &["token", "create", "--name", "n", "--tenant", "nowhere"]), 1);
    for bad in [
        vec!["token", "create"],
        vec!["token"],
        vec!["token", "create", "--name", "n", "--role", "king"],
        vec!["token", "create", "--name", "n", "--tenant", "NO"],
    ] {
        ended(run(&db, &bad), 64);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openapi_prints_what_the_server_serves() {
    let app = TestApp::new().await;
    let directory = tempfile::tempdir().unwrap();
    let printed = process::offbeat(directory.path(), &["openapi"], &[]).output().unwrap();
    let printed: Value = serde_json::from_slice(&ended(printed, 0).stdout).unwrap();
    assert_eq!(printed, app.ask(crate::app::Call::get("/openapi.json")).await.json());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it needs no database and makes none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrate_brings_a_database_up_to_date_and_pending_only_tells() {
    let db = Db::sqlite();
    let pending = ended(run(&db, &["migrate", "--pending"]), 1);
    assert!(out(&pending).contains("0001"), "{}", out(&pending));
    assert_eq!(out(&ended(run(&db, &["migrate", "--pending"]), 1)), out(&pending), "nothing was done");
    let refused = process::run(&db, &["render", YEALINK], &[]);
    assert!(err(&ended(refused, 1)).contains("migrate"));
    let free = ["PHONE", "ADMIN", "OPS"].map(|plane| format!("OFFBEAT_{plane}_LISTEN"));
    let mut environment: Vec<_> = free.iter().map(|name| (name.as_str(), "127.0.0.1:0")).collect();
    environment.push(("OFFBEAT_MIGRATE", "false"));
    assert!(err(&ended(process::run(&db, &["serve"], &environment), 1)).contains("migrate is false"));
    ended(run(&db, &["migrate"]), 0);
    assert_eq!(out(&ended(run(&db, &["migrate", "--pending"]), 0)), "");
    ended(run(&db, &["migrate"]), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_says_what_is_there_or_what_is_wrong() {
    let db = stored().await;
    let good = out(&ended(run(&db, &["check"]), 0));
    for word in ["configuration", "database", "key", "yealink", "linphone", "poly", "grandstream"] {
        assert!(good.contains(word), "{word} in {good}");
    }
    let wrong = process::run(&db, &["check"], &[("OFFBEAT_SECRET_KEY", &"ab".repeat(32))]);
    assert!(err(&ended(wrong, 1)).contains("key"));
    let away = process::run(&db, &["check"], &[("OFFBEAT_DATABASE_URL", "sqlite:/nowhere/at/all.db")]);
    assert!(err(&ended(away, 1)).contains("/nowhere/at/all.db"));
}
