//! Bringing a database up to date.

use offbeat::store::StoreError;

use super::*;

on_both_databases! {
    async fn migrations_are_pending_then_applied(db: &Db) {
        let store = db.connect().await;
        assert_eq!(store.pending_migrations().await.unwrap(), ["0001 init"]);
        store.migrate().await.unwrap();
        assert!(store.pending_migrations().await.unwrap().is_empty());
        store.migrate().await.unwrap();
        let default = store.tenant("default").await.unwrap().unwrap();
        assert_eq!((default.value, default.revision), (tenant(&serde_json::json!({"id": "default", "name": "Default"})), 0));
    }

    async fn programs_that_migrate_at_once_do_it_once(db: &Db) {
        let start = async || db.connect().await.migrate().await;
        let (one, two, three) = tokio::join!(start(), start(), start());
        for result in [one, two, three] {
            result.unwrap();
        }
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM _sqlx_migrations").await, 1);
    }

    async fn a_newer_database_is_refused(db: &Db) {
        let store = db.store().await;
        let success = if db.is_sqlite() { "1" } else { "TRUE" };
        db.tamper(&format!("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
            VALUES (9999, 'later', {success}, '', 0)")).await;
        assert!(matches!(store.pending_migrations().await, Err(StoreError::NewerDatabase { version: 9999 })));
        let error = store.migrate().await.unwrap_err();
        assert!(matches!(error, StoreError::NewerDatabase { version: 9999 }), "{error:?}");
        assert!(store.tenant("default").await.unwrap().is_some(), "nothing was harmed");
    }
}

#[tokio::test]
async fn a_url_that_cannot_be_used_is_told_without_its_password() {
    for url in ["mysql://u:hunter2@host/db", "offbeat.db", "sqlite::memory:", "postgres://u:hunter2@host:port/db"] {
        let error = Store::connect(url, keyring(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Url(_)), "{url}: {error:?}");
        assert!(!format!("{error:?} {error}").contains("hunter2"));
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable() {
    let directory = tempfile::tempdir().unwrap();
    let missing = format!("sqlite:{}/none/offbeat.db", directory.path().display());
    for url in [missing.as_str(), "postgres://u:hunter2@127.0.0.1:1/db"] {
        let error = Store::connect(url, keyring(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{url}: {error:?}");
        assert!(!format!("{error:?} {error}").contains("hunter2"));
    }
}
