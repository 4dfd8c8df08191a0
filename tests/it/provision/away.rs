//! A store that is away: 503, nothing else, and recovery by itself.

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

use super::*;
use crate::app::Answer;

fn told_to_come_back(answer: &Answer) {
    assert_eq!((answer.status, answer.body.len()), (503, 0));
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds));
    assert_eq!((answer.header("etag"), answer.header("content-type")), (None, None));
}

/// The statements that lock everybody out of a database, and let them in again.
struct Gate {
    server: AnyConnection,
    name: String,
}

impl Gate {
    async fn of(db: &Db) -> Self {
        let server = AnyConnection::connect(&crate::postgres::maintenance().unwrap()).await.unwrap();
        let name = db.url.split('?').next().unwrap().rsplit('/').next().unwrap().to_owned();
        Self { server, name }
    }

    async fn shut(&mut self) {
        let end =
            format!("SELECT CAST(COUNT(pg_terminate_backend(pid, 5000)) AS BIGINT) FROM pg_stat_activity WHERE datname = '{}'", self.name);
        self.set("false").await;
        self.server.execute(AssertSqlSafe(end)).await.unwrap();
    }

    async fn set(&mut self, allowed: &str) {
        let alter = format!("ALTER DATABASE {} ALLOW_CONNECTIONS {allowed}", self.name);
        self.server.execute(AssertSqlSafe(alter)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_503_and_comes_back_by_itself() {
    let Some(db) = Db::postgres().await else { return };
    let app = served_on(&db).await;
    let file = app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).body;
    let mut gate = Gate::of(&db).await;
    gate.shut().await;
    for name in [format!("{YEALINK}.cfg"), format!("{NOBODY}.cfg"), format!("{POLY}-config.cfg")] {
        told_to_come_back(&app.fetch(&name).await);
    }
    // What needs no store to be refused stays refused.
    app.fetch("nobodys-name.txt").await.expect(404);
    let problem = app.patch(&format!("/devices/{YEALINK}"), &json!({"name": "half"})).await.problem(503);
    assert!(!problem.to_string().contains("offbeat@"), "{problem}");
    app.get("/devices").await.problem(503);
    gate.set("true").await;
    assert_eq!(app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).body, file);
    let device = app.get(&format!("/devices/{YEALINK}")).await.expect(200).json();
    assert_eq!(device["name"], "", "nothing was half written");
    app.patch(&format!("/devices/{YEALINK}"), &json!({"name": "whole"})).await.expect(200);
}

#[tokio::test]
async fn a_store_that_is_closed_is_503() {
    let app = served().await;
    app.store.close().await;
    told_to_come_back(&app.fetch(&format!("{YEALINK}.cfg")).await);
    app.get("/devices").await.problem(503);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_sqlite_file_serves_phones_and_refuses_writes_until_it_is_free() {
    let db = Db::sqlite();
    let app = served_on(&db).await;
    let mut other = AnyConnection::connect(&db.url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let renamed = json!({"name": "x"});
    let path = format!("/devices/{YEALINK}");
    let refused = app.patch(&path, &renamed).await;
    assert!(refused.header("retry-after").is_some());
    refused.problem(503);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    other.execute("ROLLBACK").await.unwrap();
    app.patch(&path, &renamed).await.expect(200);
}
