//! The phones' read: a device with every layer below it, and the chains.

use serde_json::json;

use super::*;

/// Four tenants deep, a chain of profiles at the middle one, and devices with and without a profile of their own.
async fn fleet(store: &Store) {
    // Ids whose order is not the order of the chain, put in an order that is neither.
    put(
        store,
        &[
            json!({"id": "m-root", "salt": "grain"}),
            json!({"id": "z-reseller", "parent": "m-root"}),
            json!({"id": "a-customer", "parent": "z-reseller"}),
            json!({"id": "k-site", "parent": "a-customer"}),
        ],
        &[
            ("z-reseller", json!({"id": "q-base"})),
            ("z-reseller", json!({"id": "b-desk", "extends": "q-base"})),
            ("a-customer", json!({"id": "m-special", "extends": "z-reseller/b-desk"})),
            ("k-site", json!({"id": "own"})),
        ],
        &[
            json!({"mac": "805ec0000003", "tenant": "k-site"}),
            json!({"mac": "805ec0000001", "tenant": "k-site", "profile": "own"}),
            json!({"mac": "805ec0000002", "tenant": "m-root"}),
        ],
    )
    .await;
    put(store, &[json!({"id": "z-reseller", "parent": "m-root", "profile": "b-desk"})], &[], &[]).await;
    put(store, &[json!({"id": "a-customer", "parent": "z-reseller", "profile": "m-special"})], &[], &[]).await;
}

async fn layers(store: &Store, device: &str) -> (Vec<String>, Vec<String>) {
    let (stack, _) = store.stack(mac(device)).await.unwrap().unwrap();
    assert_eq!(stack.device.mac, mac(device));
    (
        stack.tenants.iter().map(|tenant| tenant.id.to_string()).collect(),
        stack.profiles.iter().map(|profile| profile.reference().to_string()).collect(),
    )
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

on_both_databases! {
    async fn a_stack_is_root_first_and_farthest_first(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let tenants = texts(&["m-root", "z-reseller", "a-customer", "k-site"]);
        // The nearest tenant that names a profile wins.
        let inherited = texts(&["z-reseller/q-base", "z-reseller/b-desk", "a-customer/m-special"]);
        assert_eq!(layers(&store, "805ec0000003").await, (tenants.clone(), inherited));
        assert_eq!(layers(&store, "805ec0000001").await, (tenants, texts(&["k-site/own"])));
        assert_eq!(layers(&store, "805ec0000002").await, (texts(&["m-root"]), vec![]));
        let (stack, revision) = store.stack(mac("805ec0000003")).await.unwrap().unwrap();
        assert_eq!(stack.salt(), "grain");
        assert_eq!(revision, store.device(mac("805ec0000003")).await.unwrap().unwrap().revision);
    }

    async fn a_stack_does_not_depend_on_the_order_of_rows(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let before = format!("{:?}", store.stack(mac("805ec0000003")).await.unwrap());
        // Rewritten rows move to the end of the table on PostgreSQL; on SQLite the row ids are turned round.
        for table in ["tenants", "profiles", "devices"] {
            db.tamper(&format!("UPDATE {table} SET revision = revision")).await;
            if db.is_sqlite() {
                db.tamper(&format!("UPDATE {table} SET rowid = -rowid")).await;
            }
        }
        assert_eq!(format!("{:?}", db.connect().await.stack(mac("805ec0000003")).await.unwrap()), before);
    }

    async fn chains_and_trees(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let chain = store.tenant_chain("a-customer").await.unwrap();
        assert_eq!(chain.iter().map(|tenant| tenant.id.as_str()).collect::<Vec<_>>(), ["m-root", "z-reseller", "a-customer"]);
        let chain = store.profile_chain(&reference("a-customer/m-special")).await.unwrap();
        assert_eq!(chain.iter().map(|profile| profile.id.as_str()).collect::<Vec<_>>(), ["q-base", "b-desk", "m-special"]);
        assert_eq!(store.tenant_tree("z-reseller").await.unwrap(), ["a-customer", "k-site", "z-reseller"]);
        assert_eq!(store.tenant_tree("k-site").await.unwrap(), ["k-site"]);
    }

    async fn reach_follows_tenants_and_profiles(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let reach = async |profile: &str| {
            let page = store.devices_in_reach_of_profile(&reference(profile), None, 10).await.unwrap();
            page.items.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(reach("z-reseller/q-base").await, ["805ec0000003"]);
        assert_eq!(reach("a-customer/m-special").await, ["805ec0000003"]);
        assert_eq!(reach("k-site/own").await, ["805ec0000001"]);
        assert_eq!(reach("k-site/none").await, [""; 0]);
        let page = store.devices_in_reach_of_tenant(&slug("m-root"), None, 2).await.unwrap();
        assert_eq!(page.items, [mac("805ec0000001"), mac("805ec0000002")]);
        assert_eq!(page.next.as_deref(), Some("805ec0000002"));
        let page = store.devices_in_reach_of_tenant(&slug("m-root"), Some(mac("805ec0000002")), 2).await.unwrap();
        assert_eq!((page.items, page.next), (vec![mac("805ec0000003")], None));
    }
}
