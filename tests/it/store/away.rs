//! A database that is locked, away or full for a while, and callers that give up: an error, nothing half written, and
//! no help needed afterwards.

use std::time::Duration;

use offbeat::store::StoreError;
use serde_json::json;

use super::*;

const PHONE: &str = "805ec0123456";

/// Writes and reads, as if nothing had been.
async fn works(store: &Store, name: &str) {
    put(store, &[], &[], &[json!({"mac": PHONE, "name": name})]).await;
    assert_eq!(store.stack(mac(PHONE)).await.unwrap().unwrap().0.device.name.as_str(), name);
}

fn unavailable<T: std::fmt::Debug>(result: &Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
}

on_both_databases! {
    async fn a_lock_that_is_held_too_long_is_an_error_for_writers_alone(db: &Db) {
        let store = db.store().await;
        works(&store, "before").await;
        let mut other = AnyConnection::connect(&db.url).await.unwrap();
        if db.is_sqlite() {
            other.execute("BEGIN IMMEDIATE").await.unwrap();
        } else {
            other.execute("SELECT pg_advisory_lock(31356312338391412)").await.unwrap();
        }
        let (write, read) = tokio::join!(store.write(author()), store.stack(mac(PHONE)));
        assert!(read.unwrap().is_some());
        unavailable(&write);
        other.close().await.unwrap();
        works(&store, "after").await;
    }

    async fn callers_that_give_up_leave_nothing_half_written(db: &Db) {
        let store = db.store().await;
        for delay in (0..60).map(|step| Duration::from_micros(step * 500)) {
            let store = store.clone();
            let write = async move {
                let mut write = store.write(author()).await.unwrap();
                write.put_tenant(&tenant(&json!({"id": "default", "salt": format!("{}", delay.as_micros())}))).await.unwrap();
                write.put_device(&device(&json!({"mac": PHONE, "name": format!("{}", delay.as_micros())}))).await.unwrap();
                write.commit().await.unwrap();
            };
            _ = tokio::time::timeout(delay, write).await;
        }
        works(&store, "after").await;
        assert_eq!(db.number("SELECT n FROM revision").await, db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history").await);
        // Both or none, each time.
        let tenants = db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE kind = 'tenant'").await;
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE kind = 'device'").await, tenants + 1);
    }
}

#[tokio::test]
async fn a_server_that_is_away_comes_back_by_itself() {
    let Some(db) = Db::postgres().await else { return };
    let store = db.store().await;
    works(&store, "before").await;
    let mut server = AnyConnection::connect(&crate::postgres::maintenance().unwrap()).await.unwrap();
    let name = db.url.split('?').next().unwrap().rsplit('/').next().unwrap();
    let end = format!("SELECT CAST(COUNT(pg_terminate_backend(pid, 5000)) AS BIGINT) FROM pg_stat_activity WHERE datname = '{name}'");
    let mut write = store.write(author()).await.unwrap();

    server.execute(AssertSqlSafe(end.clone())).await.unwrap();
    unavailable(&write.put_tenant(&tenant(&json!({"id": "acme"}))).await);
    drop(write);
    works(&store, "dropped connections").await;

    server.execute(AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))).await.unwrap();
    server.execute(AssertSqlSafe(end)).await.unwrap();
    unavailable(&store.stack(mac(PHONE)).await);
    unavailable(&store.write(author()).await);
    unavailable(&store.ping().await);
    server.execute(AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"))).await.unwrap();
    works(&store, "after").await;
    assert!(store.tenant("acme").await.unwrap().is_none());
}
