//! New certificates while the server runs: by SIGHUP, by a change of the files, and not when they are bad.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sighup_takes_new_certificates_and_drops_nothing() {
    let authority = Authority::new();
    let (old, new) = (authority.usual(), authority.usual());
    let (_db, server, files) = started(&[&old], &[]).await;
    let shown = || authority.client().shown(server.address("phones"), "127.0.0.1");
    let mut kept = authority.client().connect(server.address("phones"), "127.0.0.1").unwrap();
    let before = ask(&mut kept, &get_file()).1;
    assert_eq!(shown(), old.der);
    new.write(files.path(), "c0");
    let from = server.log().len();
    server.signal("HUP");
    server.wait_for(from, "the certificates were read again");
    assert_eq!(shown(), new.der);
    assert_eq!(ask(&mut kept, &get_file()).1, before, "the connection of before goes on");
    let from = server.log().len();
    server.signal("HUP");
    server.wait_for(from, "the certificates were read again");
    assert_eq!(server.stop().0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_files_are_taken_by_themselves() {
    let authority = Authority::new();
    let (old, new, newest) = (authority.usual(), authority.usual(), authority.usual());
    let (_db, server, files) = started(&[&old], &[]).await;
    let shown = || authority.client().shown(server.address("phones"), "127.0.0.1");
    let mut kept = authority.client().connect(server.address("phones"), "127.0.0.1").unwrap();
    assert_eq!(shown(), old.der);
    new.write(files.path(), "c0");
    server.wait_for(0, "the certificates were read again");
    assert_eq!(shown(), new.der);
    assert!(ask(&mut kept, &get_file()).0.starts_with("http/1.1 200"));
    // A link that is pointed at other files, as some tools do.
    let (certificate, key) = newest.write(files.path(), "elsewhere");
    let from = server.log().len();
    for (link, target) in [("c0.pem", certificate), ("c0.key", key)] {
        let draft = files.path().join("draft");
        std::os::unix::fs::symlink(target, &draft).unwrap();
        std::fs::rename(draft, files.path().join(link)).unwrap();
    }
    server.wait_for(from, "the certificates were read again");
    assert_eq!(shown(), newest.der);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_new_certificates_leave_the_old_ones_and_are_named_once() {
    let authority = Authority::new();
    let (old, other, good) = (authority.usual(), authority.usual(), authority.usual());
    let (_db, server, files) = started(&[&old], &[]).await;
    let (certificate, key) = (files.path().join("c0.pem"), files.path().join("c0.key"));
    let shown = || authority.client().shown(server.address("phones"), "127.0.0.1");
    let told = |from: usize, named: &Path| {
        server.wait_for(from, "the old ones stay");
        let log = server.log()[from..].to_owned();
        let lines: Vec<_> = log.lines().filter(|line| line.contains("ERROR")).collect();
        assert!(lines.iter().all(|line| line.contains(named.to_str().unwrap()) && line.contains("phones")), "{lines:?}");
        assert_eq!(shown(), old.der);
    };
    // By SIGHUP: a key of another certificate, text, nothing.
    for (path, content) in [(&key, other.key.as_str()), (&key, "no key"), (&certificate, ""), (&certificate, old.key.as_str())] {
        old.write(files.path(), "c0");
        std::fs::write(path, content).unwrap();
        let from = server.log().len();
        server.signal("HUP");
        told(from, path);
    }
    // By itself: a file that is gone is told once, however often it is looked at.
    old.write(files.path(), "c0");
    std::thread::sleep(Duration::from_secs(5));
    std::fs::remove_file(&certificate).unwrap();
    let from = server.log().len();
    told(from, &certificate);
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(server.log()[from..].matches("the old ones stay").count(), 1, "{}", &server.log()[from..]);
    let from = server.log().len();
    good.write(files.path(), "c0");
    server.wait_for(from, "the certificates were read again");
    assert_eq!(shown(), good.der);
    let log = server.log();
    let secret = good.key.lines().nth(1).unwrap();
    assert!(!log.contains(secret) && !log.contains("PRIVATE KEY-----"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sighup_does_not_end_a_server_without_certificates() {
    let db = Db::sqlite();
    served_on(&db).await.app.close().await;
    let server = Server::start(&db, &[]);
    server.signal("HUP");
    server.wait_for(0, "no certificates to read again");
    assert_eq!(server.fetch(&format!("{YEALINK}.cfg")).await.status(), 200);
    assert_eq!(server.stop().0, Some(0));
}
