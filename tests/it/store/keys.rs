//! The secret key and its check value.

use offbeat::store::{StoreError, has_key_check};

use super::*;

on_both_databases! {
    async fn a_wrong_key_is_told_and_harms_nothing(db: &Db) {
        assert!(!has_key_check(&db.url).await.unwrap());
        assert!(db.directory.as_ref().is_none_or(|directory| !directory.path().join("offbeat.db").exists()), "asking creates nothing");
        let store = db.connect().await;
        store.migrate().await.unwrap();
        assert!(!has_key_check(&db.url).await.unwrap());
        store.check_key().await.unwrap();
        assert!(has_key_check(&db.url).await.unwrap());
        store.check_key().await.unwrap();
        put(&store, &[], &[], &[secretive("805ec0123456")]).await;

        let other = Store::connect(&db.url, keyring(2)).await.unwrap();
        assert!(matches!(other.check_key().await, Err(StoreError::WrongKey)));
        assert!(matches!(other.device(mac("805ec0123456")).await, Err(StoreError::Corrupt(corrupt)) if corrupt.column == "sealed"));
        db.connect().await.check_key().await.unwrap();
        assert!(store.device(mac("805ec0123456")).await.unwrap().is_some());
    }

    async fn of_servers_that_start_at_once_with_different_keys_one_wins(db: &Db) {
        let first = db.connect().await;
        first.migrate().await.unwrap();
        let second = Store::connect(&db.url, keyring(2)).await.unwrap();
        let (one, two) = tokio::join!(first.check_key(), second.check_key());
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    }
}
