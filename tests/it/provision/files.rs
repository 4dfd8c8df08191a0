//! What a phone gets: the whole file with its headers, or 304.

use sha2::{Digest, Sha256};

use super::*;
use crate::app::{Answer, Call};

fn conditional(mac: &str, tag: &str) -> Call {
    Call::get(&format!("/provision/{mac}.cfg")).header("if-none-match", tag)
}

/// Exactly the headers that a whole file has.
fn whole(answer: &Answer, media_type: &str) {
    let mut names: Vec<_> = answer.headers.keys().map(|name| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["cache-control", "content-length", "content-type", "etag"]);
    assert_eq!(answer.header("content-type"), Some(media_type));
    assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    let tag = answer.header("etag").unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 16, "{tag} is strong");
}

#[tokio::test]
async fn a_file_has_its_length_type_and_tag_and_nothing_that_varies() {
    let app = served().await;
    for (mac, media_type) in [(YEALINK, "text/plain; charset=utf-8"), (POLY, "text/xml"), (LINPHONE, "application/xml")] {
        let answer = app.fetch(&format!("{mac}.cfg")).await.expect(200);
        whole(&answer, media_type);
        assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
        assert!(!answer.body.is_empty());
    }
    let text = app.fetch(&format!("{YEALINK}.cfg")).await.text();
    assert!(text.contains("\naccount.1.sip_server.1.expires = 3058\n"), "{text}");
}

#[tokio::test]
async fn a_head_has_the_headers_of_a_get_and_no_body() {
    let app = served().await;
    let get = app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
    let head = app.phone(Call::new("HEAD", &format!("/provision/{YEALINK}.cfg"))).await.expect(200);
    assert_eq!((head.headers, head.body.len()), (get.headers, 0));
}

#[tokio::test]
async fn nothing_is_compressed_whatever_is_accepted() {
    let app = served().await;
    let plain = app.fetch(&format!("{YEALINK}.cfg")).await;
    let asked = Call::get(&format!("/provision/{YEALINK}.cfg")).header("accept-encoding", "gzip, br, zstd, deflate, *");
    let answer = app.phone(asked).await.expect(200);
    assert_eq!((answer.headers, answer.body), (plain.headers, plain.body));
}

#[tokio::test]
async fn the_tag_is_that_of_the_bytes() {
    let app = served().await;
    let name = format!("{YEALINK}.cfg");
    let path = format!("/devices/{YEALINK}");
    let first = app.fetch(&name).await;
    let tag = |answer: &Answer| answer.header("etag").unwrap().to_owned();
    let digest = hex::encode(Sha256::digest(&first.body));
    assert!(digest.starts_with(tag(&first).trim_matches('"')), "{digest}");
    app.patch(&path, &json!({"lines": [{"line": 1, "user": "101"}]})).await.expect(200);
    let second = app.fetch(&name).await;
    assert_ne!((tag(&first), &first.body), (tag(&second), &second.body));
    // What is not in the file is not in the tag: not the revision either.
    app.patch(&path, &json!({"name": "Reception"})).await.expect(200);
    assert_eq!(tag(&app.fetch(&name).await), tag(&second));
    let device = json!({"lines": [{"line": 1, "user": "100", "password": "secret-of-line-1"}]});
    app.patch(&path, &device).await.expect(200);
    assert_eq!(tag(&app.fetch(&name).await), tag(&first));
}

#[tokio::test]
async fn a_phone_that_has_the_file_gets_304() {
    let app = served().await;
    for mac in [YEALINK, POLY] {
        let tag = app.fetch(&format!("{mac}.cfg")).await.header("etag").unwrap().to_owned();
        let matching =
            [tag.clone(), format!("W/{tag}"), "*".into(), format!("\"x\", {tag}"), format!(" W/\"y\" ,W/{tag}"), format!("\"a,b\",{tag}")];
        for value in matching {
            let answer = app.phone(conditional(mac, &value)).await.expect(304);
            assert_eq!(answer.body, b"");
            assert_eq!((answer.header("etag"), answer.header("cache-control")), (Some(tag.as_str()), Some("private, no-cache")), "{value}");
            assert_eq!(answer.header("content-type"), None);
            assert_eq!(answer.header("content-length"), None);
        }
        let two_lines = conditional(mac, "\"x\"").header("if-none-match", &tag);
        app.phone(two_lines).await.expect(304);
        let head = Call::new("HEAD", &format!("/provision/{mac}.cfg")).header("if-none-match", &tag);
        app.phone(head).await.expect(304);
        for other in ["\"x\"", "W/\"x\"", "", tag.trim_matches('"'), &tag.to_uppercase(), "\"*\""] {
            app.phone(conditional(mac, other)).await.expect(200);
        }
        let since = Call::get(&format!("/provision/{mac}.cfg")).header("if-modified-since", "Sat, 29 Oct 2044 19:43:31 GMT");
        app.phone(since).await.expect(200);
    }
}

#[tokio::test]
async fn a_phone_that_takes_304_for_a_failure_never_gets_one() {
    let app = served().await;
    let whole = app.fetch(&format!("{LINPHONE}.cfg")).await;
    let tag = whole.header("etag").unwrap().to_owned();
    for value in [tag.as_str(), "*", &format!("W/{tag}")] {
        let answer = app.phone(conditional(LINPHONE, value)).await.expect(200);
        assert_eq!(answer.body, whole.body);
    }
}

#[tokio::test]
async fn an_edit_is_in_force_for_the_next_request() {
    let app = served().await;
    for port in 5070..5090 {
        app.patch("/tenants/default", &json!({"settings": {"sip": {"port": port}}})).await.expect(200);
        let text = app.fetch(&format!("{YEALINK}.cfg")).await.text();
        assert!(text.contains(&format!("\naccount.1.sip_server.1.port = {port}\n")), "{text}");
    }
    app.delete(&format!("/devices/{YEALINK}")).await.expect(204);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(404);
}

#[tokio::test]
async fn what_else_a_phone_says_of_itself_changes_no_byte() {
    let app = served().await;
    let file = app.fetch(&format!("{YEALINK}.cfg")).await.body;
    let request =
        |agent: &str, host: &str| Call::get(&format!("/provision/{YEALINK}.cfg?x=1")).header("user-agent", agent).header("host", host);
    for (agent, host) in [("Yealink SIP-T58A 58.86.0.20", "a.example"), ("PolycomVVX-VVX_410-UA/5.9", "b.example:8080"), ("", "")] {
        let call = request(agent, host).header("accept-language", "de").header("range", "bytes=0-9").header("accept", "application/json");
        assert_eq!(app.phone(call).await.expect(200).body, file);
    }
    app.advance(chrono::TimeDelta::days(400));
    assert_eq!(app.fetch(&format!("{YEALINK}.cfg")).await.body, file);
}
