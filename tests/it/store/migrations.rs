//! Bringing a database up to date.

use offbeat::store::StoreError;

use super::*;

on_both_databases! {
    async fn migrations_are_pending_then_applied(db: &Db) {
        let store = db.connect().await;
        assert_eq!(store.pending_migrations().await.unwrap(), ["0001 init", "0002 tokens and unclaimed"]);
        store.migrate().await.unwrap();
        assert!(store.pending_migrations().await.unwrap().is_empty());
        store.migrate().await.unwrap();
        let default = store.tenant("default").await.unwrap().unwrap();
        assert_eq!((default.value, default.revision), (tenant(&serde_json::json!({"id": "default", "name": "Default"})), 0));
    }

    async fn what_the_first_schema_held_is_kept(db: &Db) {
        let folder = if db.is_sqlite() { "sqlite" } else { "postgres" };
        let first = std::fs::read_to_string(format!("migrations/{folder}/0001_init.sql")).unwrap();
        let second = std::fs::read_to_string(format!("migrations/{folder}/0002_tokens_and_unclaimed.sql")).unwrap();
        db.connect().await.close().await;
        db.tamper(&first).await;
        db.tamper("INSERT INTO tenants (id, body, revision) VALUES ('acme', '{}', 1);
            INSERT INTO devices (mac, tenant, vendor, model, search, enabled, body, revision) VALUES ('805ec0123456', 'acme', '', '', '', 1, '{}', 1);
            INSERT INTO tokens (id, name, hash, role, tenant, reveal, created_at) VALUES
                (1, 'crm', 'h1', 'viewer', 'acme', 0, '2023-11-14T22:13:20.000000Z'), (2, 'ops', 'h2', 'admin', NULL, 1, '2023-11-14T22:13:20.000000Z'),
                (7, 'acme/old', 'h3', 'viewer', NULL, 0, '2023-11-14T22:13:20.000000Z'), (8, 'old', 'h4', 'viewer', 'acme', 0, '2023-11-14T22:13:20.000000Z');
            INSERT INTO refusals (id, at, address, path, mac, reason) VALUES
                (1, '2023-11-14T22:13:20.000000Z', '', '', '805ec0123456', 'unknown_mac'), (2, '2023-11-14T22:13:20.000000Z', '', '', '805ec0123456', 'disabled')").await;
        db.tamper(&second).await;
        let store = db.connect().await;
        let mut names = Vec::new();
        for hash in ["h1", "h2", "h3", "h4"] {
            let token = store.token_by_hash(hash).await.unwrap().unwrap();
            names.push((token.id, token.made.name.clone(), token.made.tenant.clone(), token.family()));
        }
        let acme = || Some("acme".to_owned());
        assert_eq!(names, [(1, "crm".into(), acme(), 1), (2, "ops".into(), None, 2), (7, "acme/old".into(), None, 7), (8, "old".into(), acme(), 8)]);
        let refusals = store.refusals(Some(&["acme".to_owned()]), 9).await.unwrap();
        assert_eq!(refusals.iter().map(|refusal| refusal.reason.as_str()).collect::<Vec<_>>(), ["disabled"]);
        // Numbers of before are not given again.
        let mut write = store.write(author()).await.unwrap();
        let new = offbeat::store::NewToken {
            name: "crm".into(), role: "viewer".into(), tenant: None, reveal: false, expires_at: None, family: None,
        };
        assert_eq!(write.create_token(&new, "h5").await.unwrap(), 9);
    }

    async fn programs_that_migrate_at_once_do_it_once(db: &Db) {
        let start = async || db.connect().await.migrate().await;
        let (one, two, three) = tokio::join!(start(), start(), start());
        for result in [one, two, three] {
            result.unwrap();
        }
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM _sqlx_migrations").await, 2);
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
