//! Tokens of the admin plane.

use offbeat::store::{NewToken, Record, StoreError, Token, Violation};
use serde_json::json;

use super::*;

fn new(name: &str, tenant: Option<&str>) -> NewToken {
    NewToken { name: name.into(), role: "operator".into(), tenant: tenant.map(str::to_owned), reveal: true, expires_at: None, family: None }
}

async fn create(store: &Store, new: &NewToken, hash: &str) -> Result<i64, StoreError> {
    let mut write = store.write(author()).await.unwrap();
    let id = write.create_token(new, hash).await?;
    write.commit().await.unwrap();
    Ok(id)
}

fn names(tokens: &[Token]) -> Vec<String> {
    tokens.iter().map(|token| token.made.full_name()).collect()
}

async fn tree(store: &Store) {
    put(store, &[json!({"id": "acme"}), json!({"id": "site", "parent": "acme"}), json!({"id": "other"})], &[], &[]).await;
}

on_both_databases! {
    async fn a_token_is_found_by_its_hash(db: &Db) {
        let store = db.store().await;
        tree(&store).await;
        let one = NewToken { expires_at: Some(at(1000)), family: Some(77), ..new("one", Some("acme")) };
        let id = create(&store, &one, "hash-1").await.unwrap();
        let other = create(&store, &new("two", None), "hash-2").await.unwrap();
        let found = store.token_by_hash("hash-1").await.unwrap().unwrap();
        assert_eq!(found, Token { id, made: one, created_at: at(0), used_at: None });
        assert_eq!(found.family(), 77);
        let found = db.connect().await.token_by_hash("hash-2").await.unwrap().unwrap();
        assert_eq!((found.family(), &found.made), (other, &new("two", None)));
        assert_eq!(store.token(other).await.unwrap(), Some(found));
        assert_eq!(store.token_by_hash("hash\0").await.unwrap(), None);
        assert!(store.tenant_is_referenced("acme").await.unwrap());
    }

    async fn a_name_is_unique_in_its_tenant_alone(db: &Db) {
        let store = db.store().await;
        tree(&store).await;
        for (number, tenant) in [Some("acme"), Some("site"), Some("other"), None].into_iter().enumerate() {
            create(&store, &new("crm", tenant), &format!("hash-{number}")).await.unwrap();
            let error = create(&store, &new("crm", tenant), "hash-x").await.unwrap_err();
            assert!(matches!(error, StoreError::Conflict { table: "tokens", violation: Violation::Unique }), "{error:?}");
        }
        let error = create(&store, &new("three", Some("nobody")), "hash-3x").await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "tokens", violation: Violation::Reference }), "{error:?}");
        assert_eq!(names(&store.tokens_named("crm").await.unwrap()), ["acme/crm", "site/crm", "other/crm", "crm"]);
        assert_eq!(names(&store.tokens_named("site/crm").await.unwrap()), ["site/crm"]);
        assert_eq!(names(&store.tokens_named("site/cr\0").await.unwrap()), [""; 0]);
    }

    async fn lists_are_of_a_tree_and_in_pages(db: &Db) {
        let store = db.store().await;
        tree(&store).await;
        for (number, tenant) in [None, Some("site"), Some("other"), Some("acme")].into_iter().enumerate() {
            create(&store, &new(&format!("t{number}"), tenant), &format!("hash-{number}")).await.unwrap();
        }
        let listed = async |within: Option<&str>| {
            let within = within.map(|id| vec![id.to_owned()]);
            names(&store.tokens(within.as_deref(), 0, 9).await.unwrap().items)
        };
        assert_eq!(listed(None).await, ["t0", "site/t1", "other/t2", "acme/t3"]);
        assert_eq!(listed(Some("acme")).await, ["site/t1", "acme/t3"]);
        assert_eq!(listed(Some("site")).await, ["site/t1"]);
        let page = store.tokens(None, 0, 3).await.unwrap();
        let rest = store.tokens(None, page.next.unwrap().parse().unwrap(), 3).await.unwrap();
        assert_eq!((names(&page.items).len(), names(&rest.items), rest.next), (3, vec!["acme/t3".to_owned()], None));
    }

    async fn a_deleted_token_is_gone_and_its_number_is_not_given_again(db: &Db) {
        let store = db.store().await;
        let id = create(&store, &new("one", None), "hash-1").await.unwrap();
        let token = store.token(id).await.unwrap().unwrap();
        let mut write = store.write(author()).await.unwrap();
        assert!(write.delete_token(&token).await.unwrap());
        assert!(!write.delete_token(&token).await.unwrap());
        write.commit().await.unwrap();
        for store in [&store, &db.connect().await] {
            assert_eq!(store.token_by_hash("hash-1").await.unwrap(), None);
        }
        assert!(create(&store, &new("one", None), "hash-1").await.unwrap() > id);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE kind = 'token' AND id = 'one' AND actor = 'tester'").await, 3);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE before_body LIKE '%hash%' OR after_body LIKE '%hash%'").await, 0);
    }

    async fn the_last_use_is_written_once_a_minute(db: &Db) {
        let store = db.store().await;
        let id = create(&store, &new("one", None), "hash-1").await.unwrap();
        let other = create(&store, &new("two", None), "hash-2").await.unwrap();
        let mut seen = Vec::new();
        // Of two servers, each with a clock of its own.
        for seconds in [100, 101, 159, 160, 150, 300] {
            store.record(&[Record::TokenUse(id, at(seconds)), Record::TokenUse(999, at(0))]).await.unwrap();
            seen.push(store.token(id).await.unwrap().unwrap().used_at.unwrap());
        }
        assert_eq!(seen, [100, 100, 100, 160, 160, 300].map(at));
        assert_eq!(store.token(other).await.unwrap().unwrap().used_at, None);
    }

    async fn a_clear_reading_is_in_the_history_and_changes_no_revision(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[secretive("805ec0123456")]).await;
        let revision = store.device(mac("805ec0123456")).await.unwrap().unwrap().revision;
        let mut write = store.write(Author { message: Some("a.cfg".into()), ..author() }).await.unwrap();
        write.note_reveal(mac("805ec0123456")).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(store.device(mac("805ec0123456")).await.unwrap().unwrap().revision, revision);
        assert_eq!(db.number("SELECT n FROM history WHERE action = 'reveal' AND kind = 'device' AND id = '805ec0123456' AND actor = 'tester'
            AND message = 'a.cfg' AND before_body IS NULL AND after_body IS NULL AND after_sealed IS NULL").await, revision + 1);
    }
}
