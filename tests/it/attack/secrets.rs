//! Secrets in places that do not look like one.

use super::*;

const SECRET: &str = "hunter2-of-the-attack";

fn keys() -> Value {
    json!([
        {"position": 4, "type": "url", "value": format!("http://user:{SECRET}@host.example/four")},
        {"position": 2, "type": "url", "value": format!("http://user:{SECRET}2@host.example/two")},
        {"position": 3, "type": "url", "value": "http://host.example/plain"},
    ])
}

on_both_databases! {
    async fn the_address_of_a_key_with_user_info_is_write_only(db: &Db) {
        let app = served_on(db).await;
        let written = app.patch(&device(YEALINK), &json!({"keys": keys()})).await.expect(200);
        let shown = written.json();
        assert_eq!((&shown["keys"][0]["value"], &shown["keys"][2]["value"]), (&json!({"set": true}), &json!("http://host.example/plain")));
        let file = app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
        assert_eq!(file.matches(SECRET).count(), 2, "the phone gets it");
        for path in ["", "/diff", &format!("/files/{YEALINK}.cfg")] {
            assert!(!app.get(&format!("/devices/{YEALINK}{path}")).await.expect(200).text().contains(SECRET), "{path}");
        }
        let bodies = "SELECT CAST(COUNT(*) AS BIGINT) FROM history WHERE after_body LIKE '%hunter2%' OR before_body LIKE '%hunter2%'";
        assert_eq!(db.number(bodies).await, 0);

        // Sent back it is kept, by the place of the key; with none there it is refused where it stands.
        let same = app.put(&device(YEALINK), &shown).await.expect(200);
        assert_eq!(same.header("etag"), written.header("etag"));
        let mut turned = shown["keys"].as_array().unwrap().clone();
        turned.reverse();
        app.patch(&device(YEALINK), &json!({"keys": turned})).await.expect(200);
        assert_eq!(app.fetch(&format!("{YEALINK}.cfg")).await.text(), file);
        let strange = json!({"keys": [{"position": 3, "type": "dnd"}, {"position": 9, "type": "url", "value": {"set": true}}]});
        assert_eq!(app.patch(&device(YEALINK), &strange).await.error_paths(), ["/keys/1/value"]);

        // Removed keys are reset by what they were: that tells no secret either.
        app.patch("/tenants/default", &json!({"keys": keys()})).await.expect(200);
        let removed = app.patch("/tenants/default", &json!({"keys": null})).await.expect(200).text();
        assert!(removed.contains("\"/keys\"") && !removed.contains(SECRET), "{removed}");
        app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    }
}

#[tokio::test]
async fn a_raw_parameter_that_calls_itself_a_password_is_a_secret() {
    let app = served().await;
    let parameters = json!({"yealink": {
        "remote_phonebook.data.1.password": SECRET,
        "surely.unknown.Passwd2": SECRET,
        "two.addresses": format!("http://host.example/ http://user:{SECRET}@host.example/"),
    }});
    let shown = app.patch(&device(YEALINK), &json!({"parameters": parameters})).await.expect(200).json();
    for (name, value) in shown["parameters"]["yealink"].as_object().unwrap() {
        assert_eq!(*value, json!({"set": true}), "{name}");
    }
    let masked = app.get(&format!("/devices/{YEALINK}/files/{YEALINK}.cfg")).await.expect(200).text();
    assert!(!masked.contains(SECRET));
    assert_eq!(app.fetch(&format!("{YEALINK}.cfg")).await.text().matches(SECRET).count(), 3);
}

#[tokio::test]
async fn the_address_of_a_phone_book_is_kept_by_its_name() {
    let app = served().await;
    let book = |name: &str| json!({"name": name, "url": format!("http://user:{name}@host.example/{name}")});
    let kept = |name: &str| json!({"name": name, "url": {"set": true}});
    let books = |books: &[Value]| json!({"settings": {"phonebooks": books}});
    let file = async || app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
    app.patch(&device(YEALINK), &books(&[book("one"), book("two")])).await.expect(200);
    app.patch(&device(YEALINK), &books(&[kept("two"), kept("one")])).await.expect(200);
    assert!(file().await.contains("remote_phonebook.data.1.url = http://user:two@host.example/two"), "{}", file().await);
    app.patch(&device(YEALINK), &books(&[kept("one")])).await.expect(200);
    assert!(file().await.contains("remote_phonebook.data.1.url = http://user:one@host.example/one"), "{}", file().await);
    assert_eq!(app.patch(&device(YEALINK), &books(&[kept("three")])).await.error_paths(), ["/settings/phonebooks/0/url"]);
}
