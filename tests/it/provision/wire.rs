//! Over a real socket, from the real program: exact bytes.

use super::*;
use crate::{process, process::Server};

/// A server of its own process on the fleet's database.
async fn started() -> (Db, Server) {
    let db = Db::sqlite();
    let app = served_on(&db).await;
    app.app.close().await;
    let server = Server::start(&db, &[]);
    (db, server)
}

/// Status line, headers in lower case without the date, body.
fn answer(server: &Server, request: &[u8]) -> (String, Vec<String>, Vec<u8>) {
    let bytes = process::exchange(server.address("phones"), request);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or_else(|| panic!("{:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n").map(str::to_owned);
    let status = lines.next().unwrap();
    let mut headers: Vec<_> = lines.map(|line| line.to_lowercase()).filter(|line| !line.starts_with("date:")).collect();
    headers.sort();
    (status, headers, bytes[end + 4..].to_vec())
}

fn request(method: &str, path: &[u8]) -> Vec<u8> {
    [method.as_bytes(), b" ", path, b" HTTP/1.1\r\nHost: offbeat\r\nConnection: close\r\n\r\n"].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn head_equals_get_without_the_body() {
    let (_db, server) = started().await;
    for mac in [YEALINK, POLY, LINPHONE] {
        let path = format!("/provision/{mac}.cfg").into_bytes();
        let (get_status, get_headers, body) = answer(&server, &request("GET", &path));
        let (head_status, head_headers, nothing) = answer(&server, &request("HEAD", &path));
        assert_eq!((get_status.as_str(), head_status.as_str()), ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"));
        assert_eq!(head_headers, get_headers);
        assert_eq!(nothing, b"");
        assert!(get_headers.contains(&format!("content-length: {}", body.len())), "{get_headers:?}");
        assert!(!get_headers.iter().any(|header| header.starts_with("last-modified") || header.starts_with("transfer-encoding")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_alike_byte_by_byte() {
    let (_db, server) = started().await;
    let (status, headers, body) = answer(&server, &request("GET", format!("/provision/{NOBODY}.cfg").as_bytes()));
    assert_eq!((status.as_str(), body.len()), ("HTTP/1.1 404 Not Found", 0));
    assert!(headers.contains(&"content-length: 0".to_owned()), "{headers:?}");
    let mut paths: Vec<Vec<u8>> = super::names::nobodys().iter().map(|name| format!("/provision/{name}").into_bytes()).collect();
    paths.extend([
        b"/".to_vec(),
        b"//".to_vec(),
        b"/provision/../provision/805ec0123456.cfg".to_vec(),
        b"/provision/805ec0123456.xml".to_vec(),
    ]);
    for path in paths {
        let shown = String::from_utf8_lossy(&path[..path.len().min(80)]).into_owned();
        assert_eq!(answer(&server, &request("GET", &path)), (status.clone(), headers.clone(), body.clone()), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_without_a_body_say_nothing_of_its_length() {
    let (_db, server) = started().await;
    let conditional = format!("GET /provision/{YEALINK}.cfg HTTP/1.1\r\nHost: a\r\nConnection: close\r\nIf-None-Match: *\r\n\r\n");
    let log = format!("PUT /provision/{POLY}-app.log HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nlog");
    for (request, expected) in [(conditional, "HTTP/1.1 304 Not Modified"), (log, "HTTP/1.1 204 No Content")] {
        let (status, headers, body) = answer(&server, request.as_bytes());
        assert_eq!((status.as_str(), body.len()), (expected, 0));
        let lengths = headers.iter().filter(|header| header.starts_with("content-length") || header.starts_with("transfer-encoding"));
        assert_eq!(lengths.count(), 0, "{headers:?}");
    }
}

/// Bytes that are no HTTP at all never reach the product: the connection is refused, and the server goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_request_harm_nobody() {
    let (_db, server) = started().await;
    for path in [&b"/provision/\0.cfg"[..], b"/provision/\xff\xfe.cfg", b"/provision/a b.cfg", b"provision/805ec0123456.cfg", b""] {
        let bytes = process::exchange(server.address("phones"), &request("GET", path));
        let text = String::from_utf8_lossy(&bytes);
        assert!(bytes.is_empty() || text.starts_with("HTTP/1.1 400 ") || text.starts_with("HTTP/1.1 404 "), "{text}");
        assert!(!text.contains('<'), "{text}");
    }
    let huge = [&b"/provision/"[..], &vec![b'a'; 1 << 20]].concat();
    let bytes = process::exchange(server.address("phones"), &request("GET", &huge));
    assert!(!bytes.starts_with(b"HTTP/1.1 2"));
    assert_eq!(server.fetch(&format!("{YEALINK}.cfg")).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_kept_for_the_next_request() {
    let (_db, server) = started().await;
    let path = format!("/provision/{YEALINK}.cfg");
    let one = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let both = [one.as_bytes(), &request("GET", path.as_bytes())].concat();
    let bytes = process::exchange(server.address("phones"), &both);
    let answers = bytes.windows(15).filter(|window| *window == b"HTTP/1.1 200 OK").count();
    assert_eq!(answers, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_handed_over_is_on_record_within_a_second_and_after_the_end() {
    let (db, server) = started().await;
    assert_eq!(server.fetch(&format!("{YEALINK}.cfg")).await.status(), 200);
    let count = "SELECT CAST(COUNT(*) AS BIGINT) FROM served";
    let begun = std::time::Instant::now();
    while db.number(count).await == 0 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "not on record yet");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(server.fetch(&format!("{POLY}.cfg")).await.status(), 200);
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(db.number(count).await, 2);
}
