//! Lists: filters, order, pages.

use offbeat::store::DeviceFilter;
use serde_json::json;

use super::*;

async fn found(store: &Store, filter: &DeviceFilter) -> Vec<String> {
    let page = store.devices(filter, None, 100).await.unwrap();
    assert!(page.corrupt.is_empty() && page.next.is_none());
    page.items.iter().map(|device| device.value.mac.to_string()[8..].to_owned()).collect()
}

fn q(text: &str) -> DeviceFilter {
    DeviceFilter { q: Some(text.into()), ..DeviceFilter::default() }
}

async fn fleet(store: &Store) {
    put(
        store,
        &[json!({"id": "acme"}), json!({"id": "site_1", "parent": "acme"}), json!({"id": "site.1", "parent": "acme"})],
        &[("acme", json!({"id": "desk"}))],
        &[
            json!({"mac": "805ec0000004", "tenant": "acme", "profile": "desk", "vendor": "yealink", "model": "T46U", "name": "50% off!"}),
            json!({"mac": "805ec0000003", "tenant": "site_1", "vendor": "yealink", "model": "T54W", "name": "Zürich ÄÖ_ü"}),
            json!({"mac": "805ec0000002", "vendor": "poly", "model": "VVX450", "name": "50 pct", "enabled": false}),
            json!({"mac": "805ec0000001", "tenant": "acme", "vendor": "poly", "name": "back\\slash 'quoted'"}),
        ],
    )
    .await;
}

on_both_databases! {
    async fn devices_are_found_by_what_they_are(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        let all = DeviceFilter::default();
        let tenants = |ids: &[&str]| DeviceFilter { tenants: Some(ids.iter().map(|id| (*id).to_owned()).collect()), ..DeviceFilter::default() };
        assert_eq!(found(&store, &all).await, ["0001", "0002", "0003", "0004"]);
        assert_eq!(found(&store, &tenants(&["acme"])).await, ["0001", "0003", "0004"]);
        assert_eq!(found(&store, &tenants(&["site.1"])).await, [""; 0]);
        assert_eq!(found(&store, &tenants(&["site_1", "default"])).await, ["0002", "0003"]);
        assert_eq!(found(&store, &tenants(&[])).await, [""; 0]);
        assert_eq!(found(&store, &tenants(&["nobody", "no\0body", "ö", &"x".repeat(70)])).await, [""; 0]);
        assert_eq!(found(&store, &DeviceFilter { profile: Some("acme/desk".into()), ..all.clone() }).await, ["0004"]);
        assert_eq!(found(&store, &DeviceFilter { vendor: Some("poly".into()), ..all.clone() }).await, ["0001", "0002"]);
        assert_eq!(found(&store, &DeviceFilter { model: Some("T54W".into()), ..all.clone() }).await, ["0003"]);
        assert_eq!(found(&store, &DeviceFilter { enabled: Some(false), ..all.clone() }).await, ["0002"]);
        assert_eq!(found(&store, &DeviceFilter { enabled: Some(true), vendor: Some("poly".into()), ..all }).await, ["0001"]);
    }

    async fn a_search_takes_every_character_for_itself_and_no_heed_of_case(db: &Db) {
        let store = db.store().await;
        fleet(&store).await;
        assert_eq!(found(&store, &q("50%")).await, ["0004"]);
        assert_eq!(found(&store, &q("50 ")).await, ["0002"]);
        assert_eq!(found(&store, &q("_")).await, ["0003"]);
        assert_eq!(found(&store, &q("off!")).await, ["0004"]);
        assert_eq!(found(&store, &q("\\")).await, ["0001"]);
        assert_eq!(found(&store, &q("'QUOTED'")).await, ["0001"]);
        assert_eq!(found(&store, &q("ZÜRICH äö")).await, ["0003"]);
        assert_eq!(found(&store, &q("t46u")).await, ["0004"]);
        assert_eq!(found(&store, &q("80:5E:C0:00:00:03")).await, ["0003"]);
        assert_eq!(found(&store, &q("c000-0003")).await, ["0003"]);
        assert_eq!(found(&store, &q("")).await.len(), 4);
        assert_eq!(found(&store, &q("no\0such")).await, [""; 0]);
        assert_eq!(found(&store, &q(&"x%".repeat(60_000))).await, [""; 0]);
    }

    async fn pages_follow_each_other_in_the_order_of_bytes(db: &Db) {
        let store = db.store().await;
        let ids = ["a", "a-b", "a.b", "a_b", "ab", "a1", "default", "b"];
        put(&store, &ids.map(|id| json!({"id": id})), &ids.map(|id| ("default", json!({"id": id}))), &[]).await;
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let (mut tenants, mut profiles) = (Vec::new(), Vec::new());
        let mut after: Option<String> = None;
        loop {
            let page = store.tenants(None, after.as_deref(), 3).await.unwrap();
            tenants.extend(page.items.iter().map(|tenant| tenant.value.id.to_string()));
            after = page.next;
            if after.is_none() { break; }
        }
        loop {
            let page = store.profiles("default", after.as_deref(), 4).await.unwrap();
            profiles.extend(page.items.iter().map(|profile| profile.value.id.to_string()));
            after = page.next;
            if after.is_none() { break; }
        }
        assert_eq!(tenants, sorted);
        assert_eq!(profiles, sorted);
        put(&store, &[json!({"id": "below", "parent": "ab"})], &[], &[]).await;
        let within = store.tenants(Some(&["ab".into(), "a".into()]), None, 10).await.unwrap();
        assert_eq!(within.items.iter().map(|tenant| tenant.value.id.as_str()).collect::<Vec<_>>(), ["a", "ab", "below"]);
        assert!(store.tenants(None, Some("no\0such"), 10).await.is_ok());
    }
}
