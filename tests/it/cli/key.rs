//! The key of the secrets: made once, never replaced, and a wrong one harms nothing.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt, path::Path};

use sha2::{Digest, Sha256};

use super::*;

/// Runs the program on a database in a directory, with the key in its implied place.
fn run_in(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let url = format!("sqlite:{}", directory.join("fleet.db").display());
    let mut all = vec![("OFFBEAT_DATABASE_URL", url.as_str())];
    all.extend(environment);
    process::offbeat(directory, arguments, &all).output().unwrap()
}

/// What the files of a directory hold, by name; the memory that SQLite shares aside.
fn hashes(directory: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    kept.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), hex::encode(Sha256::digest(std::fs::read(&path).unwrap()))))
        .filter(|(name, hash)| !(name.ends_with("-wal") && *hash == hex::encode(Sha256::digest([]))))
        .collect()
}

#[test]
fn the_key_file_is_made_once_and_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    ended(run_in(directory.path(), &["migrate"], &[]), 0);
    let path = directory.path().join("fleet.db.key");
    let key = std::fs::read_to_string(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(key.trim().len() == 64 && key.trim().bytes().all(|b| b.is_ascii_hexdigit()));
    for command in ["migrate", "check"] {
        ended(run_in(directory.path(), &[command], &[]), 0);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), key);
    let names: Vec<_> = hashes(directory.path()).into_keys().collect();
    assert_eq!(names, ["fleet.db", "fleet.db.key"], "nothing else is left");
}

#[test]
fn a_lost_key_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    ended(run_in(directory.path(), &["migrate"], &[]), 0);
    let path = directory.path().join("fleet.db.key");
    std::fs::remove_file(&path).unwrap();
    let before = hashes(directory.path());
    for command in [vec!["serve"], vec!["check"], vec!["migrate"], vec!["render", YEALINK]] {
        let told = err(&ended(run_in(directory.path(), &command, &[]), 1));
        assert!(told.contains("fleet.db.key") && !told.contains("listening on"), "{told}");
    }
    assert!(!path.exists());
    assert_eq!(hashes(directory.path()), before);
}

#[test]
fn a_wrong_key_stops_the_start_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    ended(run_in(directory.path(), &["migrate"], &[]), 0);
    let before = hashes(directory.path());
    let other = "ab".repeat(32);
    std::fs::write(directory.path().join("other.key"), format!("{other}\n")).unwrap();
    for environment in [("OFFBEAT_SECRET_KEY", other.as_str()), ("OFFBEAT_SECRET_KEY_FILE", "other.key")] {
        for command in [vec!["serve"], vec!["check"], vec!["migrate"], vec!["token", "create", "--name", "x"]] {
            let output = ended(run_in(directory.path(), &command, &[environment]), 1);
            let told = err(&output);
            assert!(told.contains("key") && !told.contains("listening on") && !told.contains(&other), "{told}");
            assert!(told.lines().last().unwrap().contains("secret key is not the one"), "{told}");
        }
    }
    std::fs::remove_file(directory.path().join("other.key")).unwrap();
    assert_eq!(hashes(directory.path()), before);
    ended(run_in(directory.path(), &["check"], &[]), 0);
}

#[test]
fn a_key_is_stated_in_one_place() {
    let directory = tempfile::tempdir().unwrap();
    ended(run_in(directory.path(), &["migrate"], &[("OFFBEAT_SECRET_KEY", process::KEY), ("OFFBEAT_SECRET_KEY_FILE", "x")]), 64);
    std::fs::write(directory.path().join("stated.key"), format!("{}\n", process::KEY)).unwrap();
    ended(run_in(directory.path(), &["migrate"], &[("OFFBEAT_SECRET_KEY_FILE", "stated.key")]), 0);
    assert!(!directory.path().join("fleet.db.key").exists());
    ended(run_in(directory.path(), &["check"], &[("OFFBEAT_SECRET_KEY", process::KEY)]), 0);
    let missing = ended(run_in(directory.path(), &["check"], &[("OFFBEAT_SECRET_KEY_FILE", "missing.key")]), 1);
    assert!(err(&missing).contains("missing.key"));
    assert!(!directory.path().join("missing.key").exists(), "a stated file is never made");
}

#[test]
fn commands_that_only_read_make_no_database() {
    let directory = tempfile::tempdir().unwrap();
    for (command, code) in [
        (vec!["check"], 1),
        (vec!["render", YEALINK], 1),
        (vec!["explain", YEALINK], 1),
        (vec!["why", YEALINK], 1),
        (vec!["diff", YEALINK], 2),
    ] {
        let told = err(&ended(run_in(directory.path(), &command, &[]), code));
        assert!(told.contains("fleet.db does not exist"), "{command:?}: {told}");
    }
    let pending = out(&ended(run_in(directory.path(), &["migrate", "--pending"], &[]), 1));
    assert!(pending.contains("0001"), "{pending}");
    assert_eq!(hashes(directory.path()), BTreeMap::new());
}
