//! One history entry per change, in commit order; writers take turns.

use serde_json::json;

use super::*;

on_both_databases! {
    async fn revisions_rise_by_one_and_a_write_of_nothing_makes_none(db: &Db) {
        let store = db.store().await;
        assert_eq!(store.tenant("default").await.unwrap().unwrap().revision, 0);
        let value = device(&secretive("805ec0123456"));
        let mut write = store.write(author()).await.unwrap();
        assert_eq!(write.put_tenant(&tenant(&json!({"id": "acme"}))).await.unwrap(), 1);
        assert_eq!(write.put_device(&value).await.unwrap(), 2);
        assert_eq!(write.put_device(&value).await.unwrap(), 2);
        write.commit().await.unwrap();

        let mut changed = value.clone();
        changed.lines[1].password = Some(offbeat::domain::Secret::new("another"));
        let mut write = store.write(author()).await.unwrap();
        assert_eq!(write.put_device(&value).await.unwrap(), 2, "nothing changed");
        assert_eq!(write.put_device(&changed).await.unwrap(), 3, "a secret alone changed");
        assert!(write.delete_tenant("acme").await.unwrap());
        write.commit().await.unwrap();

        assert_eq!(db.number("SELECT n FROM revision").await, 4);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history").await, 4);
        assert_eq!(db.number("SELECT n FROM history WHERE kind = 'device' AND action = 'create' AND before_body IS NULL AND after_sealed IS NOT NULL").await, 2);
        assert_eq!(db.number("SELECT n FROM history WHERE kind = 'device' AND action = 'replace' AND before_sealed IS NOT NULL").await, 3);
        assert_eq!(db.number("SELECT n FROM history WHERE kind = 'tenant' AND action = 'delete' AND id = 'acme' AND after_body IS NULL").await, 4);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE actor = 'tester' AND at = '2023-11-14T22:13:20.000000Z'").await, 4);
    }

    async fn what_is_dropped_or_rolled_back_never_was(db: &Db) {
        let store = db.store().await;
        let value = device(&json!({"mac": "805ec0123456"}));
        for explicit in [false, true] {
            let mut write = store.write(author()).await.unwrap();
            assert_eq!(write.put_device(&value).await.unwrap(), 1);
            assert!(write.device(value.mac).await.unwrap().is_some(), "a write sees itself");
            assert!(write.stack(value.mac).await.unwrap().is_some());
            assert!(store.device(value.mac).await.unwrap().is_none(), "nobody else sees it");
            if explicit { write.rollback().await.unwrap() } else { drop(write) }
            assert!(store.device(value.mac).await.unwrap().is_none());
            assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history").await, 0);
        }
        let mut write = store.write(author()).await.unwrap();
        assert_eq!(write.put_device(&value).await.unwrap(), 1);
        write.commit().await.unwrap();
    }

    async fn a_conflict_leaves_the_store_usable(db: &Db) {
        let store = db.store().await;
        let mut write = store.write(author()).await.unwrap();
        write.put_tenant(&tenant(&json!({"id": "acme"}))).await.unwrap();
        write.put_device(&device(&json!({"mac": "805ec0123456", "tenant": "nobody"}))).await.unwrap_err();
        drop(write);
        assert!(store.tenant("acme").await.unwrap().is_none());
        put(&store, &[json!({"id": "acme"})], &[], &[]).await;
        assert_eq!(store.tenant("acme").await.unwrap().unwrap().revision, 1);
    }

    async fn writers_of_two_servers_take_turns(db: &Db) {
        const WRITES: i64 = 20;
        let servers = [db.store().await, db.connect().await];
        let writers = servers.clone().into_iter().enumerate().map(|(index, store)| tokio::spawn(async move {
            for number in 0..WRITES {
                let mut write = store.write(author()).await.unwrap();
                // Reads what the others committed, and counts on: a lost update would show.
                let mut shared = write.tenant("default").await.unwrap().unwrap().value;
                let count: i64 = shared.salt.as_deref().unwrap_or("0").parse().unwrap();
                shared.salt = Some((count + 1).to_string());
                let before = write.put_tenant(&shared).await.unwrap();
                let own = write.put_tenant(&tenant(&json!({"id": format!("t{index}-{number}")}))).await.unwrap();
                assert_eq!(own, before + 1, "no other writer comes between");
                write.commit().await.unwrap();
            }
        }));
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        assert_eq!(servers[0].tenant("default").await.unwrap().unwrap().value.salt, Some((2 * WRITES).to_string()));
        assert_eq!(db.number("SELECT n FROM revision").await, 4 * WRITES);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history").await, 4 * WRITES);
    }

    async fn a_server_sees_what_another_committed(db: &Db) {
        let (one, two) = (db.store().await, db.connect().await);
        for number in 0..5 {
            let id = format!("t{number}");
            assert!(two.tenant(&id).await.unwrap().is_none());
            put(&one, &[json!({"id": id})], &[], &[]).await;
            assert!(two.tenant(&id).await.unwrap().is_some());
        }
    }

    async fn readers_do_not_wait_for_a_writer(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": "805ec0123456"})]).await;
        let mut write = store.write(author()).await.unwrap();
        write.put_device(&device(&json!({"mac": "805ec0123456", "name": "new"}))).await.unwrap();
        let read = tokio::time::timeout(std::time::Duration::from_secs(2), store.stack(mac("805ec0123456"))).await.unwrap();
        assert_eq!(read.unwrap().unwrap().0.device.name.as_str(), "");
    }
}
