//! Starts that fail, and leave things as they were.

use std::{ffi::OsStr, net::TcpListener, os::unix::ffi::OsStrExt, path::Path, process::Output};

use super::*;

/// Runs `serve` in a directory, which must end; `environment` beats the usual one.
fn serve(directory: &Path, environment: &[(&str, &str)]) -> Output {
    let mut all = vec![
        ("OFFBEAT_DATABASE_URL", "sqlite:new.db"),
        ("OFFBEAT_PHONE_LISTEN", "127.0.0.1:0"),
        ("OFFBEAT_ADMIN_LISTEN", "127.0.0.1:0"),
        ("OFFBEAT_OPS_LISTEN", "127.0.0.1:0"),
    ];
    all.extend(environment);
    process::offbeat(directory, &["serve"], &all).output().unwrap()
}

/// The start fails with this code, says why, and makes nothing.
#[track_caller]
fn fails(environment: &[(&str, &str)], code: i32, why: &str) {
    let directory = tempfile::tempdir().unwrap();
    let output = serve(directory.path(), environment);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(why) && !told.contains("hunter2") && !told.contains("panicked"), "{told}");
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_database_url_that_cannot_be_used_is_bad_configuration() {
    for url in [
        "sqlite:",
        "sqlite::memory:",
        "sqlite:new.db?mode=ro",
        "postgres://me:hunter2@[::x/db",
        "postgres://me:hunter2@127.0.0.1:1/db?sslmode=hunter2",
    ] {
        fails(&[("OFFBEAT_DATABASE_URL", url), ("OFFBEAT_SECRET_KEY", process::KEY)], 64, "");
        fails(&[("OFFBEAT_DATABASE_URL", url)], 64, "");
    }
}

#[test]
fn a_start_that_fails_makes_neither_key_nor_database() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for listener in ["OFFBEAT_PHONE_LISTEN", "OFFBEAT_ADMIN_LISTEN", "OFFBEAT_OPS_LISTEN"] {
        fails(&[(listener, &address)], 1, &address);
    }
    fails(&[("OFFBEAT_MIGRATE", "false")], 1, "new.db");
    fails(&[("OFFBEAT_OFFBEAT_LOG", "info")], 64, "OFFBEAT_OFFBEAT_LOG");
}

#[test]
fn a_key_file_that_holds_no_key_is_bad_configuration() {
    for content in ["", "00", &"g".repeat(64), &"0".repeat(66)] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("key"), content).unwrap();
        let output = serve(directory.path(), &[("OFFBEAT_SECRET_KEY_FILE", "key")]);
        assert_eq!(output.status.code(), Some(64), "{content:?}");
        assert!(!directory.path().join("new.db").exists());
    }
}

/// Other programs' variables may hold any bytes; ours are texts.
#[test]
fn variables_that_are_no_text_are_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let run = |variable: &str| {
        let environment = [("OFFBEAT_DATABASE_URL", "sqlite:new.db"), ("OFFBEAT_SECRET_KEY", process::KEY)];
        let mut command = process::offbeat(directory.path(), &["migrate"], &environment);
        command.env(variable, OsStr::from_bytes(b"\xff")).output().unwrap().status.code()
    };
    assert_eq!(run("UNRELATED"), Some(0));
    assert_eq!(run("OFFBEAT_LOG"), Some(64));
}
