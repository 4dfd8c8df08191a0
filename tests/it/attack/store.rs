//! Damaged rows of the record, files that go away, a buffer that fills.

use std::net::{IpAddr, Ipv4Addr};

use offbeat::app::provision::{Answer, Asker};

use super::*;

on_both_databases! {
    async fn a_damaged_record_harms_no_list_and_no_plan(db: &Db) {
        let app = served_on(db).await;
        app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
        app.fetch(&format!("cfg{YEALINK}.xml")).await.expect(404);
        app.get("/refusals").await.expect(200);
        for damage in ["UPDATE check_ins SET at = 'x'", "UPDATE check_ins SET status = 1000000", "UPDATE refusals SET at = 'x'"] {
            db.tamper(damage).await;
            let listed = app.get("/devices").await.expect(200).json();
            assert_eq!(listed["items"].as_array().unwrap().len(), 3, "{damage}");
            let shown = app.get(&device(YEALINK)).await.expect(200).json();
            let member = if damage.contains("check_ins") { "checked_in" } else { "last_refused" };
            assert_eq!(shown[member], Value::Null, "{damage}");
            let plan = app.patch("/tenants/default?dry_run=true", &json!({"salt": "other"})).await.expect(200).json();
            assert_eq!((&plan["devices"]["total"], &plan["devices"]["failed"]), (&json!(3), &json!(0)), "{damage}");
            // Handed over and on record before the next damage.
            app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
            app.get(&device(YEALINK)).await.expect(200);
        }
    }
}

/// What is written into a file that is no longer there is lost: it must not be answered with 200.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_sqlite_file_that_is_gone_is_a_store_that_is_away() {
    let db = Db::sqlite();
    let app = served_on(&db).await;
    let path = db.directory.as_ref().unwrap().path().join("offbeat.db");
    let away = path.with_extension("away");
    let rename = |name: &str| json!({"name": name});
    for round in 0..3 {
        std::fs::rename(&path, &away).unwrap();
        for _ in 0..8 {
            let file = app.fetch(&format!("{YEALINK}.cfg")).await;
            assert_eq!((file.status, file.body.len(), file.header("retry-after").is_some()), (503, 0, true));
        }
        app.patch(&device(YEALINK), &rename("lost")).await.problem(503);
        app.get(&device(YEALINK)).await.problem(503);
        assert!(!path.exists(), "no empty database takes its place");
        std::fs::rename(&away, &path).unwrap();
        app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
        app.patch(&device(YEALINK), &rename(&format!("round {round}"))).await.expect(200);
    }
    // Another file in its place is what is served, at once.
    app.store.close().await;
    let app = TestApp::on(&db).await;
    std::fs::copy(&path, &away).unwrap();
    app.patch(&device(YEALINK), &rename("newer than the copy")).await.expect(200);
    app.get("/devices?limit=1").await.expect(200);
    for tail in ["-wal", "-shm"] {
        _ = std::fs::remove_file(format!("{}{tail}", path.display()));
    }
    std::fs::rename(&away, &path).unwrap();
    assert_eq!(app.get(&device(YEALINK)).await.expect(200).json()["name"], "round 2");
    app.patch(&device(YEALINK), &rename("into the copy")).await.expect(200);
    assert_eq!(app.get(&device(YEALINK)).await.expect(200).json()["name"], "into the copy");
}

/// While nothing can be written phones go on fetching: what is kept for the record is bounded.
#[tokio::test]
async fn the_buffer_before_the_record_holds_so_many_bytes() {
    let db = Db::sqlite();
    let app = served_on(&db).await;
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let Answer::File(mut served) = app.app.answer(&format!("{YEALINK}.cfg"), address).await else { panic!("no file") };
    served.file.text = "x".repeat(1 << 20);
    for _ in 0..80 {
        // The writer does not get to run in between.
        app.app.record_check_in(&served, Asker { address, user_agent: None }, 200, true);
    }
    assert_eq!(app.get(&device(YEALINK)).await.expect(200).json()["checked_in"]["status"], 200);
    assert_eq!(db.number("SELECT count FROM served").await, 64);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    app.get(&device(YEALINK)).await.expect(200);
    assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM served").await, 2, "there is room again");
}
