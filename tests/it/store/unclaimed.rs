//! MACs that phones asked for and no device has.

use offbeat::store::{Record, Refusal, Unclaimed};
use serde_json::json;

use super::*;

const PHONE: &str = "805ec0123456";

fn asked(seconds: i64, phone: Mac, reason: &str) -> Record {
    Record::Refusal(Refusal {
        at: at(seconds),
        address: format!("192.0.2.{}", seconds % 250),
        user_agent: (seconds % 2 == 0).then(|| "Yealink\0".into()),
        path: format!("{phone}.cfg"),
        mac: Some(phone),
        reason: reason.into(),
    })
}

fn numbered(number: u32) -> Mac {
    mac(&format!("805e{number:08x}"))
}

async fn all(store: &Store) -> Vec<Unclaimed> {
    store.unclaimed(None, 20_000).await.unwrap().items
}

on_both_databases! {
    async fn the_first_the_last_and_the_number_of_times_are_kept(db: &Db) {
        let store = db.store().await;
        store.record(&[asked(0, mac(PHONE), "unknown_mac"), asked(7, mac(PHONE), "unknown_mac")]).await.unwrap();
        store.record(&[asked(9, numbered(1), "unknown_mac"), asked(20, mac(PHONE), "unknown_mac")]).await.unwrap();
        for reason in ["outside_networks", "disabled", "untrusted_proxy", "faulty: unknown_mac"] {
            store.record(&[asked(30, numbered(2), reason), asked(30, mac(PHONE), reason)]).await.unwrap();
        }
        let expected = Unclaimed {
            mac: mac(PHONE),
            first_at: at(0),
            last_at: at(20),
            count: 3,
            address: "192.0.2.20".into(),
            user_agent: Some("Yealink\u{fffd}".into()),
            path: format!("{PHONE}.cfg"),
            deleted_at: None,
        };
        assert_eq!(store.unclaimed_mac(mac(PHONE)).await.unwrap(), Some(expected.clone()));
        let listed = all(&store).await;
        assert_eq!((listed.len(), &listed[1], listed[0].user_agent.as_deref()), (2, &expected, None));
        let page = store.unclaimed(None, 1).await.unwrap();
        assert_eq!((page.items[0].mac, page.next.as_deref()), (numbered(1), Some("805e00000001")));
        let page = store.unclaimed(page.next.as_deref(), 1).await.unwrap();
        assert_eq!((page.items[0].mac, page.next), (mac(PHONE), None));
    }

    async fn a_mac_that_is_made_a_device_is_claimed(db: &Db) {
        let store = db.store().await;
        store.record(&[asked(0, mac(PHONE), "unknown_mac"), asked(0, numbered(1), "unknown_mac")]).await.unwrap();
        // Not before it is committed.
        let mut write = store.write(author()).await.unwrap();
        write.put_device(&device(&json!({"mac": PHONE}))).await.unwrap();
        assert!(write.unclaimed_mac(mac(PHONE)).await.unwrap().is_none());
        write.rollback().await.unwrap();
        assert_eq!(all(&store).await.len(), 2);
        put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
        assert_eq!(all(&store).await.iter().map(|unclaimed| unclaimed.mac).collect::<Vec<_>>(), [numbered(1)]);
        // One that asked before and is written after is not listed either.
        store.record(&[asked(1, mac(PHONE), "unknown_mac")]).await.unwrap();
        assert!(store.unclaimed_mac(mac(PHONE)).await.unwrap().is_none());
    }

    async fn a_device_that_was_deleted_says_so(db: &Db) {
        let store = db.store().await;
        for seconds in [100, 200] {
            put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
            let mut write = store.write(Author { at: at(seconds), ..author() }).await.unwrap();
            write.delete_device(mac(PHONE)).await.unwrap();
            write.commit().await.unwrap();
        }
        assert_eq!(all(&store).await, [], "it has not asked");
        store.record(&[asked(300, mac(PHONE), "unknown_mac")]).await.unwrap();
        assert_eq!(all(&store).await[0].deleted_at, Some(at(200)));
    }

    async fn those_that_asked_last_are_kept(db: &Db) {
        let store = db.store().await;
        let batch: Vec<_> = (0..10_000).map(|number| asked(number.into(), numbered(number), "unknown_mac")).collect();
        store.record(&batch).await.unwrap();
        store.record(&[asked(20_000, numbered(0), "unknown_mac"), asked(20_001, numbered(10_000), "unknown_mac"),
            asked(20_002, numbered(10_001), "unknown_mac")]).await.unwrap();
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM unclaimed").await, 10_000);
        for (number, is_kept) in [(0, true), (1, false), (2, false), (3, true), (10_001, true)] {
            assert_eq!(store.unclaimed_mac(numbered(number)).await.unwrap().is_some(), is_kept, "{number}");
        }
    }

    async fn a_damaged_row_hides_no_other(db: &Db) {
        let store = db.store().await;
        store.record(&[asked(0, mac(PHONE), "unknown_mac"), asked(0, numbered(1), "unknown_mac")]).await.unwrap();
        db.tamper("UPDATE unclaimed SET last_at = 'soon' WHERE mac = '805e00000001'").await;
        let page = store.unclaimed(None, 9).await.unwrap();
        assert_eq!((page.items.len(), page.corrupt[0].column), (1, "last_at"));
    }
}
