//! Tokens of the admin plane.

use offbeat::store::{StoreError, Token, Violation};
use serde_json::json;

use super::*;

fn token(name: &str, tenant: Option<&str>) -> Token {
    Token { name: name.into(), role: "operator".into(), tenant: tenant.map(str::to_owned), reveal: true, created_at: at(5) }
}

on_both_databases! {
    async fn a_token_is_found_by_its_hash(db: &Db) {
        let store = db.store().await;
        put(&store, &[json!({"id": "acme"})], &[], &[]).await;
        store.create_token(&token("one", Some("acme")), "hash-1").await.unwrap();
        store.create_token(&token("two", None), "hash-2").await.unwrap();
        assert_eq!(store.token_by_hash("hash-1").await.unwrap(), Some(token("one", Some("acme"))));
        assert_eq!(store.token_by_hash("hash-2").await.unwrap(), Some(token("two", None)));
        assert_eq!(store.token_by_hash("hash\0").await.unwrap(), None);
        assert!(store.tenant_is_referenced("acme").await.unwrap());

        let error = store.create_token(&token("one", None), "hash-3").await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "tokens", violation: Violation::Unique }), "{error:?}");
        let error = store.create_token(&token("three", Some("nobody")), "hash-3").await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "tokens", violation: Violation::Reference }), "{error:?}");
        store.create_token(&token("three", None), "hash-3").await.unwrap();
    }
}
