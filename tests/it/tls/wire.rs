//! What goes over the wire: versions, protocols, bytes that are no TLS.

use super::*;
use crate::{app::ADMIN_TOKEN, process};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_fetched_over_tls_1_2_and_1_3() {
    let authority = Authority::new();
    let (db, server, _files) = started(&[&authority.usual()], &[]).await;
    let address = server.address("phones");
    assert!(server.log().contains(&format!("phones listening on https://{address}\n")), "{}", server.log());
    assert!(server.log().contains("admin listening on http://"), "the other listeners are as they were");
    let rendered = String::from_utf8(process::run(&db, &["render", YEALINK], &[]).stdout).unwrap();
    for version in [&TLS12, &TLS13] {
        let mut stream = authority.client().version(version).connect(address, "phones.example.com").unwrap();
        let (head, body) = ask(&mut stream, &get_file());
        assert_eq!(stream.conn.protocol_version(), Some(version.version));
        assert!(head.starts_with("http/1.1 200 ok"), "{head}");
        assert_eq!(body, rendered);
        for header in ["strict-transport-security", "location", "server"] {
            assert!(!head.contains(&format!("\n{header}:")), "{head}");
        }
        // A refusal on the same connection, and the file once more.
        assert!(ask(&mut stream, "GET /provision/805ec0999999.cfg HTTP/1.1").0.starts_with("http/1.1 404"));
        assert_eq!(ask(&mut stream, &get_file()).1, rendered);
    }
    assert_eq!(server.stop().0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_address_of_the_phone_is_known_behind_tls() {
    let authority = Authority::new();
    for (networks, status) in [("127.0.0.0/8", "200"), ("10.0.0.0/8", "404")] {
        let (_db, server, _files) = started(&[&authority.usual()], &[("OFFBEAT_PHONE_NETWORKS", networks)]).await;
        let mut stream = authority.client().connect(server.address("phones"), "127.0.0.1").unwrap();
        let (head, _) = ask(&mut stream, &get_file());
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{networks}: {head}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn administrators_have_certificates_of_their_own() {
    let (phones, admins) = (Authority::new(), Authority::new());
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = admins.usual().write(directory.path(), "admin");
    let settings = [("OFFBEAT_ADMIN_TLS_CERT", certificate.as_str()), ("OFFBEAT_ADMIN_TLS_KEY", key.as_str())];
    let (_db, server, _files) = started(&[&phones.usual()], &settings).await;
    assert!(server.log().contains("admin listening on https://") && server.log().contains("ops listening on http://"));
    let mut stream = admins.client().connect(server.address("admin"), "127.0.0.1").unwrap();
    let (head, body) = ask(&mut stream, &format!("GET /api/v1/devices/{YEALINK} HTTP/1.1\r\nAuthorization: Bearer {ADMIN_TOKEN}"));
    assert!(head.starts_with("http/1.1 200") && body.contains(YEALINK), "{head}{body}");
    assert!(phones.client().connect(server.address("admin"), "127.0.0.1").is_err(), "not the phones'");
    assert!(ask(&mut phones.client().connect(server.address("phones"), "127.0.0.1").unwrap(), &get_file()).0.contains(" 200 "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_1_1_is_the_only_protocol() {
    let authority = Authority::new();
    let (_db, server, _files) = started(&[&authority.usual()], &[]).await;
    let connect = |protocols: &[&str]| authority.client().alpn(protocols).connect(server.address("phones"), "127.0.0.1");
    for (offered, chosen) in [(&[][..], None), (&["h2", "http/1.1"], Some(&b"http/1.1"[..])), (&["http/1.1"], Some(b"http/1.1"))] {
        let mut stream = connect(offered).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), chosen);
        assert!(ask(&mut stream, &get_file()).0.starts_with("http/1.1 200"));
    }
    assert!(connect(&["h2"]).is_err());
}

/// The first message of a client that knows nothing newer than TLS 1.0 or 1.1.
fn old_hello(minor: u8) -> Vec<u8> {
    let mut hello = vec![3, minor];
    hello.extend([7; 32]);
    // No session; AES-128-CBC with SHA and RSA; no compression.
    hello.extend([0, 0, 2, 0, 0x2f, 1, 0]);
    let length = u8::try_from(hello.len()).unwrap();
    [&[22, 3, 1, 0, length + 4, 1, 0, 0, length][..], &hello].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_tls_1_2_is_closed_and_harms_nobody() {
    let authority = Authority::new();
    let (_db, server, _files) = started(&[&authority.usual()], &[]).await;
    let address = server.address("phones");
    let mut kept = authority.client().connect(address, "127.0.0.1").unwrap();
    for bytes in [
        format!("{}\r\nHost: a\r\n\r\n", get_file()).into_bytes(),
        vec![0; 4096],
        vec![0xff; 1 << 20],
        b"\x16\x03\x01\xff\xff".repeat(5000),
        old_hello(1),
        old_hello(2),
    ] {
        let mut stream = tcp(address);
        // The server may have closed before all was sent.
        _ = stream.write_all(&bytes);
        let answer = until_closed(&mut stream);
        // Nothing, or one fatal alert.
        assert!(answer.is_empty() || (answer[0] == 21 && answer.len() == 7), "{answer:?}");
        let is_old = bytes[0] == 22 && bytes.len() < 100;
        assert!(
            !is_old || matches!(answer.get(6), Some(40 | 70)),
            "an old client is told that there is no way (RFC 8446, 6.2): {answer:?}"
        );
    }
    assert!(ask(&mut kept, &get_file()).0.starts_with("http/1.1 200"));
    let metrics = reqwest::get(server.url("ops", "/metrics")).await.unwrap().text().await.unwrap();
    assert!(metrics.contains("offbeat_handshakes_failed_total{listener=\"phones\"} 6"), "{metrics}");
    assert!(metrics.contains("offbeat_connections{listener=\"phones\"} 1"), "each gave its place back: {metrics}");
    // And TLS at a listener without.
    let mut stream = tcp(server.address("ops"));
    stream.write_all(&old_hello(3)).unwrap();
    assert!(!until_closed(&mut stream).starts_with(b"HTTP/1.1 2"));
}
