//! `offbeat serve`: listeners, the end, the log, and two servers on one database.

use super::*;
use crate::store::on_both_databases;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_listener_says_where_it_is_and_serves_its_plane_alone() {
    let db = stored().await;
    let server = Server::start(&db, &[]);
    let status = async |listener: &str, path: &str| reqwest::get(server.url(listener, path)).await.unwrap().status().as_u16();
    let file = format!("/provision/{YEALINK}.cfg");
    for (path, phones, admin, ops) in [
        (file.as_str(), 200, 404, 404),
        ("/api/v1/devices", 404, 401, 404),
        ("/openapi.json", 404, 200, 404),
        ("/livez", 404, 404, 200),
        ("/readyz", 404, 404, 200),
        ("/metrics", 404, 404, 200),
    ] {
        assert_eq!((status("phones", path).await, status("admin", path).await, status("ops", path).await), (phones, admin, ops), "{path}");
    }
    let metrics = reqwest::get(server.url("ops", "/metrics")).await.unwrap().text().await.unwrap();
    assert!(metrics.contains("offbeat_requests_total") && !metrics.contains(YEALINK), "a MAC is no label: {metrics}");
    for listener in ["phones", "admin", "ops"] {
        assert!(server.log().contains(&format!("{listener} listening on http://{}\n", server.address(listener))));
    }
    assert!(server.log().contains("OFFBEAT_PHONE_NETWORKS"), "the start says who may fetch: {}", server.log());
    assert_eq!(server.stop().0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_taken_stops_the_start() {
    let db = stored().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let environment =
        [("OFFBEAT_PHONE_LISTEN", "127.0.0.1:0"), ("OFFBEAT_OPS_LISTEN", "127.0.0.1:0"), ("OFFBEAT_ADMIN_LISTEN", address.as_str())];
    let output = ended(process::run(&db, &["serve"], &environment), 1);
    assert!(err(&output).contains(&address) && err(&output).contains("admin_listen"), "{}", err(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_must_not_migrate_refuses_an_old_database() {
    let db = Db::sqlite();
    let environment = [
        ("OFFBEAT_MIGRATE", "false"),
        ("OFFBEAT_PHONE_LISTEN", "127.0.0.1:0"),
        ("OFFBEAT_ADMIN_LISTEN", "127.0.0.1:0"),
        ("OFFBEAT_OPS_LISTEN", "127.0.0.1:0"),
    ];
    let output = ended(process::run(&db, &["serve"], &environment), 1);
    assert!(err(&output).contains("offbeat migrate") && !err(&output).contains("listening on"), "{}", err(&output));
    ended(run(&db, &["migrate"]), 0);
    assert_eq!(Server::start(&db, &[("OFFBEAT_MIGRATE", "false")]).stop().0, Some(0));
}

on_both_databases! {
    async fn two_servers_on_one_database_answer_alike_after_an_edit_through_either(db: &Db) {
        let app = served_on(db).await;
        app.app.close().await;
        let mut servers = vec![Server::start(db, &[("LC_ALL", "de_DE.UTF-8")]), Server::start(db, &[("TZ", "Asia/Kathmandu")])];
        for (number, editor) in [0, 1, 1, 0].into_iter().enumerate() {
            let port = 5070 + number;
            let edit = json!({"settings": {"sip": {"port": port}}});
            assert_eq!(servers[editor].api("PATCH", "/tenants/default", Some(&edit)).await.status(), 200);
            let mut answers = Vec::new();
            for server in &servers {
                let answer = server.fetch(&format!("{YEALINK}.cfg")).await;
                let tag = answer.headers()["etag"].clone();
                answers.push((tag, answer.text().await.unwrap()));
            }
            assert_eq!(answers[0], answers[1]);
            assert!(answers[0].1.contains(&format!("\naccount.1.sip_server.1.port = {port}\n")));
        }
        // What one handed over, the other knows.
        assert_eq!(servers.pop().unwrap().stop().0, Some(0));
        let diff: Value = servers[0].api("GET", &format!("/devices/{YEALINK}/diff"), None).await.json().await.unwrap();
        assert_eq!((&diff["identical"], &diff["from"].is_null()), (&json!(true), &false));
        // One edit from each at once: both are stored, each with a number of its own.
        let third = Server::start(db, &[]);
        let (first, second) = (json!({"id": "one"}), json!({"id": "two"}));
        let (one, two) = tokio::join!(servers[0].api("POST", "/tenants", Some(&first)), third.api("POST", "/tenants", Some(&second)));
        assert_eq!((one.status().as_u16(), two.status().as_u16()), (201, 201));
        let (one, two): (Value, Value) = (one.json().await.unwrap(), two.json().await.unwrap());
        assert_ne!(one["revision"], two["revision"]);
    }

    async fn an_answered_edit_survives_a_server_that_is_killed(db: &Db) {
        let app = served_on(db).await;
        app.app.close().await;
        let server = Server::start(db, &[]);
        let edit = json!({"lines": [{"line": 1, "user": "killed"}]});
        assert_eq!(server.api("PATCH", &format!("/devices/{YEALINK}"), Some(&edit)).await.status(), 200);
        drop(server);
        let rendered = ended(run(db, &["render", YEALINK]), 0);
        assert!(out(&rendered).contains("account.1.user_name = killed\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_never_in_the_log() {
    let db = stored().await;
    let server = Server::start(&db, &[("OFFBEAT_LOG", "trace"), ("OFFBEAT_TRUSTED_PROXIES", "10.0.0.0/8")]);
    let secrets = json!({
        "settings": {
            "sip": {"server": "pbx.example.com"},
            "access": {"admin_password": "hunter2-admin"},
            "provisioning": {"url": "https://u:hunter2-url@host.example/", "password": "hunter2-provisioning"},
        },
        "parameters": {"yealink": {"account.2.password": "hunter2-raw"}},
    });
    assert_eq!(server.api("PATCH", "/tenants/default", Some(&secrets)).await.status(), 200);
    let lines = json!({"lines": [{"line": 1, "user": "100", "password": "hunter2-line"}]});
    assert_eq!(server.api("PATCH", &format!("/devices/{YEALINK}"), Some(&lines)).await.status(), 200);
    let bad = json!({"lines": [{"line": 1, "user": "100", "password": "hunter2\u{7}control"}], "settings": {"provisioning": {"url": "hunter2 is no address"}}});
    let refused = server.api("PATCH", &format!("/devices/{YEALINK}"), Some(&bad)).await;
    assert_eq!(refused.status(), 422);
    assert!(!refused.text().await.unwrap().contains("hunter2"), "nor in an error");
    let file = server.fetch(&format!("{YEALINK}.cfg")).await.text().await.unwrap();
    assert!(file.contains("hunter2-line"));
    for path in ["diff", "files", "timers", &format!("files/{YEALINK}.cfg?reveal=true")] {
        assert_eq!(server.api("GET", &format!("/devices/{YEALINK}/{path}"), None).await.status(), 200);
    }
    let wrong = reqwest::Client::new().get(server.url("admin", "/api/v1/tenants")).bearer_auth("hunter2-wrong-token").send().await.unwrap();
    assert_eq!(wrong.status(), 401);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0));
    assert!(log.contains("answered") && log.len() > 1000, "the log was on");
    for secret in ["hunter2", "secret-of-line-1", crate::app::ADMIN_TOKEN, process::KEY] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_device_and_a_forwarded_header_are_loud_in_the_log() {
    let db = stored().await;
    db.tamper(&format!("UPDATE devices SET body = '{{' WHERE mac = '{YEALINK}'")).await;
    let server = Server::start(&db, &[]);
    assert_eq!(server.fetch(&format!("{YEALINK}.cfg")).await.status(), 404);
    let forwarded =
        reqwest::Client::new().get(server.url("phones", &format!("/provision/{POLY}.cfg"))).header("x-forwarded-for", "10.0.0.1");
    assert_eq!(forwarded.send().await.unwrap().status(), 404);
    let (_, log) = server.stop();
    for words in [["ERROR", "devices", YEALINK], ["ERROR", "forwarded", "127.0.0.1"]] {
        let lines = log.lines().filter(|line| words.iter().all(|word| line.contains(word))).count();
        assert_eq!(lines, 1, "{words:?} in {log}");
    }
}
