//! Limits of a listener, with and without TLS: times of each step, and the number of connections.

use std::time::Instant;

use axum::{
    Router,
    body::Bytes,
    routing::{get, post},
};
use offbeat::{
    config::CertificateFiles,
    server::{self, Limits, Listener},
    telemetry,
};

use super::*;

const SHORT: Duration = Duration::from_millis(500);

/// One listener in this process, until dropped.
struct Served {
    address: SocketAddr,
    authority: Authority,
    tls: bool,
    limits: Limits,
    _end: tokio::sync::oneshot::Sender<()>,
}

impl Served {
    fn start(name: &'static str, tls: bool, limits: Limits) -> Self {
        let authority = Authority::new();
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = authority.usual().write(directory.path(), "one");
        let files = [CertificateFiles { certificate: certificate.into(), key: key.into() }];
        let certificates = tls.then(|| server::Tls::load(&files).unwrap());
        let socket = server::bind(name, "127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let router = Router::new()
            .route("/", get(|| async { "here" }).post(|body: Bytes| async move { body }))
            .route("/large", get(|| async { vec![0_u8; 64 << 20] }))
            .route("/deaf", post(|| async { "not read" }));
        let (end, ended) = tokio::sync::oneshot::channel();
        let listener = Listener { name, socket, router, tls: certificates, limits };
        tokio::spawn(server::serve(vec![listener], async move { _ = ended.await }));
        Self { address, authority, tls, limits, _end: end }
    }

    /// A connection that is ready for requests.
    fn connect(&self) -> io::Result<Box<dyn Stream>> {
        if self.tls {
            return Ok(Box::new(self.authority.client().connect(self.address, "127.0.0.1")?));
        }
        Ok(Box::new(tcp(self.address)))
    }

    /// A connection that is answered.
    fn answered(&self) -> Box<dyn Stream> {
        let mut stream = self.connect().unwrap();
        assert_eq!(ask(&mut stream, "GET / HTTP/1.1").1, "here");
        stream
    }

    /// A connection that is closed with no answer.
    #[track_caller]
    fn refused(&self) {
        let begun = Instant::now();
        let mut stream = tcp(self.address);
        _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(until_closed(&mut stream), b"");
        assert!(begun.elapsed() < self.limits.handshake, "at once, not after its time");
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn counted(words: &[&str]) -> Vec<String> {
    let metrics = telemetry::start_metrics().render();
    metrics.lines().filter(|line| words.iter().all(|word| line.contains(word))).map(str::to_owned).collect()
}

/// Waits until the metrics have a line.
fn wait_for(line: &str) {
    let begun = Instant::now();
    while !telemetry::start_metrics().render().lines().any(|counted| counted == line) {
        assert!(begun.elapsed() < Duration::from_secs(10), "no {line} in {:?}", counted(&["listener"]));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_handshake_times_out_and_frees_its_place() {
    telemetry::start_metrics();
    let served = Served::start("half", true, Limits { per_source: 2, handshake: Duration::from_secs(3), ..Limits::PHONES });
    // One says nothing, one the beginning of a hello.
    let (mut silent, mut half) = (tcp(served.address), tcp(served.address));
    half.write_all(&[22, 3, 1, 2, 0, 1, 0]).unwrap();
    wait_for("offbeat_connections{listener=\"half\"} 2");
    served.refused();
    let begun = Instant::now();
    assert_eq!((until_closed(&mut silent), until_closed(&mut half)), (vec![], vec![]));
    assert!(begun.elapsed() < Duration::from_secs(9));
    wait_for("offbeat_connections{listener=\"half\"} 0");
    served.answered();
    assert_eq!(counted(&["handshakes_failed", "\"half\""]), ["offbeat_handshakes_failed_total{listener=\"half\"} 2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_surplus_is_closed_at_once_and_counted() {
    telemetry::start_metrics();
    for (name, tls, reason, limits) in [
        ("cap-source-plain", false, "source", Limits { per_source: 3, ..Limits::PHONES }),
        ("cap-source-tls", true, "source", Limits { per_source: 3, ..Limits::PHONES }),
        ("cap-all-plain", false, "all", Limits { connections: 3, ..Limits::PHONES }),
        ("cap-all-tls", true, "all", Limits { connections: 3, ..Limits::PHONES }),
    ] {
        let served = Served::start(name, tls, limits);
        let mut open = vec![served.answered(), served.answered(), served.answered()];
        served.refused();
        served.refused();
        for stream in &mut open {
            assert_eq!(ask(stream, "GET / HTTP/1.1").1, "here", "those within go on");
        }
        drop(open.pop());
        wait_for(&format!("offbeat_connections{{listener=\"{name}\"}} 2"));
        open.push(served.answered());
        served.refused();
        let line = format!("offbeat_connections_refused_total{{listener=\"{name}\",reason=\"{reason}\"}} 3");
        assert_eq!(counted(&["refused", name]), [line]);
        assert_eq!(counted(&["handshakes_failed", name]), [""; 0], "a refusal is no failed handshake");
        drop(open);
        wait_for(&format!("offbeat_connections{{listener=\"{name}\"}} 0"));
    }
}

/// A site of 2,000 phones behind one address, each with a connection that it keeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_phones_of_one_address_pass() {
    server::raise_open_files();
    let served = Served::start("campus", false, Limits::PHONES);
    let phones: Vec<_> = (0..2000).map(|_| tcp(served.address)).collect();
    for mut phone in phones.iter().rev() {
        assert_eq!(ask(&mut phone, "GET / HTTP/1.1").1, "here");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_step_of_a_connection_has_its_time() {
    telemetry::start_metrics();
    for (name, tls) in [("slow-plain", false), ("slow-tls", true)] {
        let served = Served::start(name, tls, Limits { head: SHORT, body: SHORT, stall: SHORT, ..Limits::PHONES });
        let begun = Instant::now();
        // A head that never ends, also of a second request.
        for first in [None, Some("GET / HTTP/1.1")] {
            let mut stream = served.connect().unwrap();
            first.map(|head| ask(&mut stream, head));
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").unwrap();
            stream.flush().unwrap();
            let answer = until_closed(&mut stream);
            assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 408 "), "{:?}", String::from_utf8_lossy(&answer));
        }
        // Nothing, on a connection that is kept.
        assert_eq!(until_closed(&mut served.answered()), b"");
        // A body that never ends, read or not.
        for path in ["/", "/deaf"] {
            let mut stream = served.connect().unwrap();
            stream.write_all(format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345").as_bytes()).unwrap();
            stream.flush().unwrap();
            let answer = until_closed(&mut stream);
            let expected = if path == "/" { "HTTP/1.1 4" } else { "HTTP/1.1 200" };
            assert!(answer.starts_with(expected.as_bytes()), "{path} {:?}", String::from_utf8_lossy(&answer));
        }
        // An answer that nobody takes.
        let mut stream = served.connect().unwrap();
        stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        stream.flush().unwrap();
        wait_for(&format!("offbeat_connections{{listener=\"{name}\"}} 0"));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        // One that is taken as it comes is whole, however long it is.
        let mut stream = served.connect().unwrap();
        stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        stream.flush().unwrap();
        assert!(until_closed(&mut stream).len() > 64 << 20);
    }
}
