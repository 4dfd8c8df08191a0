//! The record of what phones asked for and were handed.

use offbeat::store::{CheckIn, Content, Record, Refusal, ServedFile};
use serde_json::json;

use super::*;

const PHONE: &str = "805ec0123456";

fn check_in(seconds: i64) -> CheckIn {
    CheckIn { at: at(seconds), address: "192.0.2.7".into(), user_agent: Some("Yealink\0 T46U".into()), file: "a.cfg".into(), status: 200 }
}

fn handed(seconds: i64, text: &str) -> Record {
    let content = Content { etag: format!("etag-{text}"), bytes: format!("password = hunter2-{text}\r\n").into_bytes() };
    Record::CheckIn(mac(PHONE), check_in(seconds), Some(content))
}

fn refusal(number: i64, device: Option<&str>) -> Record {
    Record::Refusal(Refusal {
        at: at(number),
        address: "2001:db8::7".into(),
        user_agent: None,
        path: format!("/\0{number}"),
        mac: device.map(mac),
        reason: "unknown_mac".into(),
    })
}

/// Etags and counts: current, previous.
fn etags(files: &[ServedFile]) -> Vec<(&str, i64)> {
    let [file] = files else { panic!("{files:?}") };
    std::iter::once(&file.current).chain(&file.previous).map(|served| (served.content.etag.as_str(), served.count)).collect()
}

on_both_databases! {
    async fn the_last_two_contents_are_kept(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
        assert_eq!(store.served(mac(PHONE)).await.unwrap(), []);
        assert_eq!(store.check_in(mac(PHONE)).await.unwrap(), None);

        store.record(&[handed(0, "a"), handed(10, "a")]).await.unwrap();
        assert_eq!(etags(&store.served(mac(PHONE)).await.unwrap()), [("etag-a", 2)]);
        // A tie of times, and a clock that was put back: the order of recording decides.
        store.record(&[handed(10, "b"), handed(5, "c")]).await.unwrap();
        assert_eq!(etags(&store.served(mac(PHONE)).await.unwrap()), [("etag-c", 1), ("etag-b", 1)]);
        // The previous one comes back.
        store.record(&[handed(30, "b")]).await.unwrap();
        let files = db.connect().await.served(mac(PHONE)).await.unwrap();
        assert_eq!(etags(&files), [("etag-b", 2), ("etag-c", 1)]);
        let current = &files[0].current;
        assert_eq!(current.content.bytes, b"password = hunter2-b\r\n");
        assert_eq!((current.first_at, current.last_at), (at(10), at(30)));
        assert_eq!(current.user_agent.as_deref(), Some("Yealink\u{fffd} T46U"));
        // One that was forgotten starts afresh.
        store.record(&[handed(40, "a")]).await.unwrap();
        assert_eq!(etags(&store.served(mac(PHONE)).await.unwrap()), [("etag-a", 1), ("etag-b", 2)]);
        assert!(!format!("{files:?}").contains("hunter2"));
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM served").await, 2);
    }

    async fn files_of_a_phone_are_kept_apart(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
        let content = |text: &str| Some(Content { etag: "same".into(), bytes: text.as_bytes().to_vec() });
        let boot = CheckIn { file: "a.boot".into(), ..check_in(1) };
        store.record(&[Record::CheckIn(mac(PHONE), boot, content("boot")), Record::CheckIn(mac(PHONE), check_in(2), content("cfg"))]).await.unwrap();
        let files = store.served(mac(PHONE)).await.unwrap();
        let held: Vec<_> = files.iter().map(|file| (file.file.as_str(), file.current.content.bytes.as_slice())).collect();
        assert_eq!(held, [("a.boot", &b"boot"[..]), ("a.cfg", b"cfg")]);
    }

    async fn the_last_check_in_is_kept(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
        let last = CheckIn { status: 304, user_agent: None, ..check_in(20) };
        store.record(&[handed(0, "a"), Record::CheckIn(mac(PHONE), last.clone(), None)]).await.unwrap();
        assert_eq!(store.check_in(mac(PHONE)).await.unwrap(), Some(last));
        assert_eq!(etags(&store.served(mac(PHONE)).await.unwrap()), [("etag-a", 1)], "a 304 hands nothing over");
    }

    async fn the_record_goes_with_the_device_and_does_not_mind_one_that_is_gone(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": PHONE}), json!({"mac": "805ec0123457"})]).await;
        store.record(&[handed(0, "a")]).await.unwrap();
        let mut write = store.write(author()).await.unwrap();
        write.delete_device(mac(PHONE)).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM served").await, 0);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM check_ins").await, 0);
        let other = Record::CheckIn(mac("805ec0123457"), check_in(1), Some(Content { etag: "e".into(), bytes: vec![0; 5] }));
        store.record(&[handed(1, "b"), other, handed(2, "c")]).await.unwrap();
        assert_eq!(store.served(mac(PHONE)).await.unwrap(), []);
        assert_eq!(etags(&store.served(mac("805ec0123457")).await.unwrap()), [("e", 1)]);
    }

    async fn contents_are_sealed(db: &Db) {
        let store = db.store().await;
        put(&store, &[], &[], &[json!({"mac": PHONE})]).await;
        store.record(&[handed(0, "a"), handed(1, "b")]).await.unwrap();
        if let Some(directory) = &db.directory {
            for entry in std::fs::read_dir(directory.path()).unwrap() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap();
                assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
            }
        }
        // Not even those of another etag can be passed off.
        db.tamper("UPDATE served SET content = (SELECT s.content FROM served s WHERE s.etag = 'etag-a')").await;
        let error = store.served(mac(PHONE)).await.unwrap_err();
        assert!(error.to_string().contains("served") && error.to_string().contains("etag-b"), "{error}");
    }

    async fn refusals_are_bounded_and_the_newest_come_first(db: &Db) {
        let store = db.store().await;
        let batch: Vec<_> = (0..10_000).map(|number| refusal(number, (number == 9_000).then_some(PHONE))).collect();
        store.record(&batch).await.unwrap();
        store.record(&[refusal(10_000, None), refusal(10_001, Some("805ec0123457"))]).await.unwrap();
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM refusals").await, 10_000);
        let newest = store.refusals(None, 2).await.unwrap();
        assert_eq!(newest.iter().map(|refusal| refusal.path.as_str()).collect::<Vec<_>>(), ["/\u{fffd}10001", "/\u{fffd}10000"]);
        assert_eq!(store.refusals(None, 20_000).await.unwrap().last().unwrap().path, "/\u{fffd}2");
        assert_eq!(store.last_refusal(mac(PHONE), None).await.unwrap().unwrap().at, at(9_000));
        assert!(store.last_refusal(mac("805ec0123458"), None).await.unwrap().is_none());
    }

    async fn refusals_stay_with_the_tenant_that_the_device_was_of(db: &Db) {
        let store = db.store().await;
        let of = |tenant: &str| json!({"mac": PHONE, "tenant": tenant});
        put(&store, &[json!({"id": "acme"}), json!({"id": "site", "parent": "acme"}), json!({"id": "other"})], &[], &[]).await;
        let refused = |number: i64, reason: &str| match refusal(number, Some(PHONE)) {
            Record::Refusal(refusal) => Record::Refusal(Refusal { reason: reason.into(), ..refusal }),
            other => other,
        };
        store.record(&[refused(0, "unknown_mac"), refused(1, "outside_networks")]).await.unwrap();
        put(&store, &[], &[], &[of("site")]).await;
        // One that was asked before the device was made, and written after.
        store.record(&[refused(2, "unknown_mac"), refused(3, "disabled")]).await.unwrap();
        put(&store, &[], &[], &[of("other")]).await;
        store.record(&[refused(4, "faulty")]).await.unwrap();
        for (within, expected) in [("acme", vec![3]), ("site", vec![3]), ("other", vec![4]), ("default", vec![])] {
            let within = [within.to_owned()];
            let seen: Vec<_> = store.refusals(Some(&within), 9).await.unwrap().iter().map(|refusal| refusal.at).collect();
            assert_eq!(seen, expected.iter().map(|number| at(*number)).collect::<Vec<_>>(), "{within:?}");
            assert_eq!(store.last_refusal(mac(PHONE), Some(&within)).await.unwrap().map(|refusal| refusal.at), seen.first().copied());
        }
        assert_eq!(store.refusals(None, 9).await.unwrap().len(), 5);
        // A tenant made later under the same name is another one.
        let mut write = store.write(author()).await.unwrap();
        assert!(write.delete_tenant("site").await.unwrap());
        write.commit().await.unwrap();
        put(&store, &[json!({"id": "site"})], &[], &[]).await;
        assert_eq!(store.refusals(Some(&["site".to_owned()]), 9).await.unwrap(), []);
    }

    async fn whose_a_device_is_can_be_told_however_damaged_it_is(db: &Db) {
        let store = db.store().await;
        put(&store, &[json!({"id": "acme"})], &[], &[json!({"mac": PHONE, "tenant": "acme"})]).await;
        db.tamper("UPDATE devices SET body = '{'").await;
        assert_eq!(store.owner(mac(PHONE)).await.unwrap().as_deref(), Some("acme"));
        assert_eq!(store.owner(mac("805ec0123457")).await.unwrap(), None);
        if db.is_sqlite() {
            db.tamper("PRAGMA foreign_keys = OFF; UPDATE devices SET tenant = x'ff'").await;
            assert_eq!(store.owner(mac(PHONE)).await.unwrap().as_deref(), Some(""));
        }
    }
}
