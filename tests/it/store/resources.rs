//! Tenants, profiles and devices: what is stored comes back, and what refers to each other holds together.

use offbeat::store::{StoreError, Violation};
use serde_json::json;

use super::*;

on_both_databases! {
    async fn a_device_comes_back_with_its_secrets_and_resets(db: &Db) {
        let store = db.store().await;
        let device = device(&secretive("805ec0123456"));
        let mut write = store.write(author()).await.unwrap();
        let revision = write.put_device(&device).await.unwrap();
        write.commit().await.unwrap();
        let read = db.connect().await.device(device.mac).await.unwrap().unwrap();
        assert_eq!(read.value, device);
        assert_eq!(read.revision, revision);
        assert_eq!(read.value.lines[1].password.as_ref().unwrap().expose(), "hunter2-line2");
        assert_eq!(read.value.layer.resets.len(), 2);
    }

    async fn tenants_and_profiles_come_back(db: &Db) {
        let store = db.store().await;
        let tenant = tenant(&json!({"id": "acme", "name": "Acme 'n' \"Söhne\" \\ %", "parent": "default", "salt": "s",
            "settings": {"access": {"admin_password": "hunter2"}}}));
        let profile = profile("acme", &json!({"id": "desk", "name": "Desk", "keys": [],
            "settings": {"access": {"user_password": "hunter3"}}}));
        let mut write = store.write(author()).await.unwrap();
        write.put_tenant(&tenant).await.unwrap();
        write.put_profile(&profile).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(store.tenant("acme").await.unwrap().unwrap().value, tenant);
        assert_eq!(store.profile(&profile.reference()).await.unwrap().unwrap().value, profile);
    }

    async fn clear_secrets_are_nowhere_in_the_database(db: &Db) {
        let store = db.store().await;
        put(&store, &[json!({"id": "acme", "settings": {"access": {"admin_password": "hunter2-tenant"}}})], &[], &[secretive("805ec0123456")]).await;
        if let Some(directory) = &db.directory {
            for entry in std::fs::read_dir(directory.path()).unwrap() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap();
                assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
            }
        }
        for table in ["tenants", "devices"] {
            assert_eq!(db.number(&format!("SELECT CAST(COUNT(*) AS BIGINT) FROM {table} WHERE body LIKE '%hunter2%'")).await, 0);
            assert_eq!(db.number(&format!("SELECT CAST(COUNT(*) AS BIGINT) FROM {table} WHERE sealed IS NOT NULL")).await, 1);
        }
        assert!(!format!("{store:?}").contains("offbeat.db"));
    }

    async fn without_secrets_nothing_is_sealed(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": "805ec0123456", "lines": [{"line": 1, "user": "101", "password": ""}]})]).await;
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM devices WHERE sealed IS NULL").await, 1);
        let read = store.device(mac("805ec0123456")).await.unwrap().unwrap();
        assert_eq!(read.value.lines[0].password.as_ref().unwrap().expose(), "");
    }

    async fn a_placeholder_is_not_stored(db: &Db) {
        let store = db.store().await;
        let device = device(&json!({"mac": "805ec0123456", "settings": {"access": {"admin_password": {"set": true}}}}));
        let mut write = store.write(author()).await.unwrap();
        assert!(matches!(write.put_device(&device).await, Err(StoreError::Internal(_))));
        drop(write);
        assert!(store.device(device.mac).await.unwrap().is_none());
    }

    async fn what_is_absent_is_none(db: &Db) {
        let store = db.store().await;
        assert!(store.tenant("nobody").await.unwrap().is_none());
        assert!(store.tenant("no\0body'; --").await.unwrap().is_none());
        assert!(store.profile(&reference("default/none")).await.unwrap().is_none());
        assert!(store.device(mac("805ec0123456")).await.unwrap().is_none());
        assert!(store.stack(mac("805ec0123456")).await.unwrap().is_none());
        assert!(store.tenant_chain("nobody").await.unwrap().is_empty());
        assert!(store.profile_chain(&reference("default/none")).await.unwrap().is_empty());
        assert!(store.tenant_tree("no\0body").await.unwrap().is_empty());
        assert!(!store.tenant_is_referenced("no\0body").await.unwrap());
        let mut write = store.write(author()).await.unwrap();
        assert!(!write.delete_device(mac("805ec0123456")).await.unwrap());
        assert!(!write.delete_tenant("no\0body").await.unwrap());
        write.commit().await.unwrap();
    }

    async fn a_reference_that_leads_nowhere_is_a_conflict(db: &Db) {
        let store = db.store().await;
        let mut write = store.write(author()).await.unwrap();
        let error = write.put_device(&device(&json!({"mac": "805ec0123456", "tenant": "nobody"}))).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "devices", violation: Violation::Reference }), "{error:?}");
        drop(write);
        let mut write = store.write(author()).await.unwrap();
        let error = write.put_tenant(&tenant(&json!({"id": "acme", "parent": "nobody"}))).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "tenants", violation: Violation::Reference }), "{error:?}");
        drop(write);
        let mut write = store.write(author()).await.unwrap();
        let error = write.put_profile(&profile("default", &json!({"id": "desk", "extends": "none"}))).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "profiles", violation: Violation::Reference }), "{error:?}");
    }

    async fn what_is_referred_to_cannot_be_deleted(db: &Db) {
        let store = db.store().await;
        put(&store,
            &[json!({"id": "acme"}), json!({"id": "site", "parent": "acme"})],
            &[("acme", json!({"id": "base"})), ("site", json!({"id": "desk", "extends": "acme/base"}))],
            &[json!({"mac": "805ec0123456", "tenant": "site", "profile": "desk"})]).await;
        for id in ["acme", "site"] {
            assert!(store.tenant_is_referenced(id).await.unwrap());
            let mut write = store.write(author()).await.unwrap();
            let error = write.delete_tenant(id).await.unwrap_err();
            assert!(matches!(error, StoreError::Conflict { table: "tenants", violation: Violation::Reference }), "{error:?}");
        }
        for id in ["acme/base", "site/desk"] {
            assert!(store.profile_is_referenced(&reference(id)).await.unwrap());
            let mut write = store.write(author()).await.unwrap();
            assert!(matches!(write.delete_profile(&reference(id)).await, Err(StoreError::Conflict { table: "profiles", .. })));
        }
        let mut write = store.write(author()).await.unwrap();
        assert!(write.delete_device(mac("805ec0123456")).await.unwrap());
        assert!(!write.profile_is_referenced(&reference("site/desk")).await.unwrap());
        assert!(write.delete_profile(&reference("site/desk")).await.unwrap());
        assert!(write.delete_profile(&reference("acme/base")).await.unwrap());
        assert!(write.delete_tenant("site").await.unwrap());
        assert!(!write.tenant_is_referenced("acme").await.unwrap());
        assert!(write.delete_tenant("acme").await.unwrap());
        write.commit().await.unwrap();
        assert!(store.tenant("acme").await.unwrap().is_none());
    }
}
