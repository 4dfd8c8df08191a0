//! Damaged rows: each harms itself alone, and the error names table, column and row.

use offbeat::store::{Corrupt, DeviceFilter, StoreError};
use serde_json::json;

use super::*;

async fn fleet(store: &Store) {
    let devices = [secretive("805ec0000001"), secretive("805ec0000002"), json!({"mac": "805ec0000003"})];
    put(store, &[json!({"id": "acme"}), json!({"id": "site", "parent": "acme"})], &[("default", json!({"id": "desk"}))], &devices).await;
}

fn corrupt<T: std::fmt::Debug>(result: Result<T, StoreError>) -> (&'static str, &'static str, String) {
    match result {
        Err(StoreError::Corrupt(Corrupt { table, column, row, cause })) => {
            assert!(!cause.contains("hunter2"), "{cause}");
            (table, column, row)
        }
        other => panic!("{other:?}"),
    }
}

on_both_databases! {
    async fn a_damaged_row_harms_itself_alone(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let victim = mac("805ec0000001");
        let (sealed, blob) = if db.is_sqlite() { ("x'00'", "x'ff'") } else { ("'\\x00'", "'\\xff'") };
        let mut damages = vec![
            ("body", "body = '{'".to_owned()),
            ("body", "body = '[]'".to_owned()),
            ("body", "body = '{\"mac\": \"805ec0000009\"}'".to_owned()),
            ("body", "body = '{\"surprise\": \"hunter2\"}'".to_owned()),
            ("sealed", format!("sealed = {sealed}")),
            ("sealed", "sealed = NULL".to_owned()),
            // A secret of another row does not open here.
            ("sealed", "sealed = (SELECT other.sealed FROM devices other WHERE other.mac = '805ec0000002')".to_owned()),
        ];
        if db.is_sqlite() {
            damages.extend([
                ("body", format!("body = {blob}")),
                ("body", format!("body = CAST({blob} AS TEXT)")),
                ("sealed", "sealed = 'hunter2'".to_owned()),
                ("revision", "revision = 'hunter2'".to_owned()),
            ]);
        }
        for (column, damage) in damages {
            put(&store, &[], &[], &[secretive("805ec0000001")]).await;
            db.tamper(&format!("UPDATE devices SET {damage} WHERE mac = '805ec0000001'")).await;
            let expected = ("devices", column, "805ec0000001".to_owned());
            assert_eq!(corrupt(store.device(victim).await), expected, "{damage}");
            assert_eq!(corrupt(store.stack(victim).await).2, "805ec0000001", "{damage}");

            assert!(store.stack(mac("805ec0000002")).await.unwrap().is_some());
            let page = store.devices(&DeviceFilter::default(), None, 10).await.unwrap();
            assert_eq!(page.items.len(), 2, "{damage}");
            assert_eq!((page.corrupt[0].table, page.corrupt[0].column), ("devices", column), "{damage}");
        }
        // It can be replaced, and deleted.
        put(&store, &[], &[], &[secretive("805ec0000001")]).await;
        assert_eq!(store.device(victim).await.unwrap().unwrap().value, device(&secretive("805ec0000001")));
        db.tamper("UPDATE devices SET body = '{' WHERE mac = '805ec0000001'").await;
        let mut write = store.write(author()).await.unwrap();
        assert!(write.delete_device(victim).await.unwrap());
        write.commit().await.unwrap();
        assert!(store.device(victim).await.unwrap().is_none());
    }

    async fn a_page_goes_on_behind_a_damaged_row(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        db.tamper("UPDATE devices SET body = '{' WHERE mac = '805ec0000001'").await;
        let page = store.devices(&DeviceFilter::default(), None, 1).await.unwrap();
        assert_eq!((page.items.len(), page.corrupt.len(), page.next.as_deref()), (0, 1, Some("805ec0000001")));
        let page = store.devices(&DeviceFilter::default(), page.next.as_deref(), 1).await.unwrap();
        assert_eq!(page.items[0].value.mac, mac("805ec0000002"));
    }

    async fn a_damaged_layer_harms_the_devices_above_it_alone(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        put(&store, &[], &[], &[json!({"mac": "805ec0000004", "tenant": "site"})]).await;
        db.tamper("UPDATE tenants SET body = '' WHERE id = 'acme'").await;
        assert_eq!(corrupt(store.stack(mac("805ec0000004")).await), ("tenants", "body", "acme".to_owned()));
        assert_eq!(corrupt(store.tenant_chain("site").await), ("tenants", "body", "acme".to_owned()));
        assert!(store.stack(mac("805ec0000003")).await.unwrap().is_some());
        let page = store.tenants(None, None, 10).await.unwrap();
        assert_eq!((page.items.len(), page.corrupt.len()), (2, 1));
    }

    async fn a_circle_ends_and_is_named(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        put(&store, &[], &[("default", json!({"id": "upper", "extends": "desk"}))],
            &[json!({"mac": "805ec0000004", "tenant": "site"}), json!({"mac": "805ec0000005", "profile": "upper"})]).await;
        put(&store, &[json!({"id": "acme", "parent": "site"})], &[("default", json!({"id": "desk", "extends": "upper"}))], &[]).await;
        let (table, column, _) = corrupt(store.stack(mac("805ec0000004")).await);
        assert_eq!((table, column), ("tenants", "parent"));
        let (table, column, _) = corrupt(store.stack(mac("805ec0000005")).await);
        assert_eq!((table, column), ("profiles", "extends"));
        corrupt(store.tenant_chain("site").await);
        corrupt(store.profile_chain(&reference("default/upper")).await);
        assert_eq!(store.tenant_tree("acme").await.unwrap(), ["acme", "site"]);
        let page = store.devices_in_reach_of_profile(&reference("default/desk"), None, 10).await.unwrap();
        assert_eq!(page.items, [mac("805ec0000005")]);
        assert_eq!(store.devices_in_reach_of_tenant(&slug("acme"), None, 10).await.unwrap().items, [mac("805ec0000004")]);
    }

    async fn a_link_that_differs_from_the_body_is_named(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        db.tamper("UPDATE devices SET tenant = 'acme' WHERE mac = '805ec0000003'").await;
        assert_eq!(corrupt(store.stack(mac("805ec0000003")).await), ("devices", "tenant", "805ec0000003".to_owned()));
        db.tamper("UPDATE tenants SET parent = NULL WHERE id = 'site'").await;
        assert_eq!(corrupt(store.tenant_chain("site").await), ("tenants", "parent", "site".to_owned()));
    }
}
