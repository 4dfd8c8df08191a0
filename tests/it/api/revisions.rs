//! Revisions: numbers of the server-wide history, in the order of commits, never reused.

use super::*;

fn revision(answer: &Answer) -> i64 {
    answer.json()["revision"].as_i64().unwrap()
}

on_both_databases! {
    async fn every_write_takes_the_next_number_of_one_history(db: &Db) {
        let app = TestApp::on(db).await;
        let first = revision(&app.put("/tenants/acme", &json!({})).await.expect(201));
        assert_eq!(revision(&app.put("/tenants/acme/profiles/desk", &json!({})).await.expect(201)), first + 1);
        assert_eq!(revision(&app.patch("/tenants/default", &json!({"name": "x"})).await.expect(200)), first + 2);
        // A deletion is an entry too.
        app.delete("/tenants/acme/profiles/desk").await.expect(204);
        assert_eq!(revision(&app.put("/tenants/acme/profiles/desk", &json!({})).await.expect(201)), first + 4);
        assert_eq!(revision(&app.get("/tenants/acme").await), first);
    }

    async fn what_changes_nothing_stored_makes_no_entry(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let path = format!("/devices/{YEALINK}");
        let before = app.get(&path).await;
        let same = phone("80:5E:C0:12:34:56", "yealink", Some("T46S"));
        assert_eq!(revision(&app.put(&path, &same).await.expect(200)), revision(&before));
        assert_eq!(revision(&app.patch(&path, &json!({})).await.expect(200)), revision(&before));
        assert_eq!(revision(&app.patch(&path, &json!({"settings": {"time": null}})).await.expect(200)), revision(&before));
        // A refused and a planned write take no number either.
        app.patch(&path, &json!({"tenant": "nowhere"})).await.problem(422);
        app.patch(&format!("{path}?dry_run=true"), &json!({"name": "x"})).await.expect(200);
        let last = revision(&app.get(&format!("/devices/{LINPHONE}")).await);
        assert_eq!(revision(&app.patch(&path, &json!({"name": "x"})).await.expect(200)), last + 1);
        assert_eq!(db.number("SELECT CAST(COUNT(*) AS BIGINT) FROM history").await, last + 1);
    }

    async fn the_tag_covers_what_is_stored_alone(db: &Db) {
        let app = TestApp::on(db).await;
        fleet(&app).await;
        let path = format!("/devices/{YEALINK}");
        let tag = app.get(&path).await.header("etag").unwrap().to_owned();
        app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
        app.fetch(&format!("{YEALINK}.xml")).await.expect(404);
        app.patch("/tenants/default", &json!({"name": "another"})).await.expect(200);
        let shown = app.get(&path).await;
        assert!(!shown.json()["checked_in"].is_null() && !shown.json()["last_refused"].is_null());
        assert_eq!(shown.header("etag"), Some(tag.as_str()));
    }

    async fn edits_at_once_are_all_stored_each_with_a_number_of_its_own(db: &Db) {
        let app = TestApp::on(db).await;
        let writes = (0..12).map(|n| {
            let (app, path) = (&app, format!("/tenants/t{n}"));
            async move { revision(&app.put(&path, &json!({})).await.expect(201)) }
        });
        let mut numbers = futures(writes).await;
        numbers.sort_unstable();
        assert_eq!(numbers, (numbers[0]..numbers[0] + 12).collect::<Vec<_>>());
    }
}

/// Awaits all at once.
async fn futures<F: Future<Output = i64>>(all: impl Iterator<Item = F>) -> Vec<i64> {
    let mut pending: Vec<_> = all.map(Box::pin).collect();
    let mut done = Vec::new();
    std::future::poll_fn(move |context| {
        pending.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(number) => {
                done.push(number);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() { std::task::Poll::Ready(std::mem::take(&mut done)) } else { std::task::Poll::Pending }
    })
    .await
}
