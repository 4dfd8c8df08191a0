//! Odd requests of both planes.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_of_their_own_making_are_one_label() {
    let db = Db::sqlite();
    served_on(&db).await.app.close().await;
    let server = Server::start(&db, &[]);
    for n in 0..20 {
        let request = format!("ODD{n} /provision/{YEALINK}.cfg HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(process::exchange(server.address("phones"), request.as_bytes()).starts_with(b"HTTP/1.1 405 "));
    }
    let metrics = reqwest::get(server.url("ops", "/metrics")).await.unwrap().text().await.unwrap();
    assert!(!metrics.contains("ODD"), "{metrics}");
    assert!(metrics.lines().any(|line| line.contains("method=\"other\"") && line.ends_with(" 20")), "{metrics}");
}

/// A phone that stalls is told so; 503 is for a store that is away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_stalls_ends_as_one() {
    let db = Db::sqlite();
    served_on(&db).await.app.close().await;
    let server = Server::start(&db, &[]);
    let address = server.address("phones");
    let request = format!("PUT /provision/{POLY}-app.log HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
    let answer = tokio::task::spawn_blocking(move || process::exchange(address, request.as_bytes())).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn if_match_takes_a_tag_as_it_is_given_and_no_other_spelling() {
    let app = served().await;
    let tag = app.get(&device(YEALINK)).await.header("etag").unwrap().to_owned();
    let revision = tag.trim_matches('"');
    let patch = |tags: &[&str]| {
        let call = Call::api("PATCH", &device(YEALINK)).json(&json!({}));
        tags.iter().fold(call, |call, tag| call.header("if-match", tag))
    };
    for tags in [&[tag.as_str()][..], &["\"0\"", &tag], &[&format!("\"0\", {tag}")], &["*"]] {
        app.api(patch(tags)).await.expect(200);
    }
    for odd in [format!("\"+{revision}\""), format!("\"0{revision}\""), format!("W/{tag}"), format!("\"\"{revision}\"\""), String::new()] {
        assert_eq!(app.api(patch(&[&odd])).await.status, 412, "{odd}");
    }
}
