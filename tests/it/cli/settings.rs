//! Settings: built-in ← file ← environment; what is wrong is 64, before any port is bound or database made.

use super::*;

/// A directory of the command's own, a settings file in it, and variables.
fn start(arguments: &[&str], file: Option<(&str, &str)>, environment: &[(&str, &str)]) -> (Output, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    if let Some((name, text)) = file {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let output = process::offbeat(directory.path(), arguments, environment).output().unwrap();
    let made = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let made = made.filter(|name| file.is_none_or(|(own, _)| own != name)).collect();
    (output, made)
}

/// Refused with 64, which names the culprit; nothing was bound and nothing made.
#[track_caller]
fn refused(started: (Output, Vec<String>), culprit: &str) {
    let (output, made) = started;
    let told = err(&ended(output, 64));
    assert!(told.to_lowercase().contains(&culprit.to_lowercase()), "{culprit} in {told}");
    assert!(!told.contains("listening on"), "{told}");
    assert_eq!(made, [""; 0], "{culprit}");
}

#[test]
fn an_unknown_variable_or_key_is_an_error_before_anything_else() {
    for command in [vec!["serve"], vec!["migrate"], vec!["check"], vec!["render", YEALINK], vec!["token", "create", "--name", "x"]] {
        refused(start(&command, None, &[("OFFBEAT_NONSENSE", "1")]), "nonsense");
        refused(start(&command, Some(("offbeat.toml", "nonsense = 1\n")), &[]), "nonsense");
    }
    refused(start(&["--config", "own.toml", "serve"], Some(("own.toml", "phone_lisen = \"127.0.0.1:0\"\n")), &[]), "phone_lisen");
    refused(start(&["--config", "missing.toml", "serve"], None, &[]), "missing.toml");
    refused(start(&["serve"], Some(("offbeat.toml", "this is no toml")), &[]), "offbeat.toml");
    refused(start(&["serve"], Some(("offbeat.toml", "[phone_listen]\nx = 1\n")), &[]), "phone_listen");
}

#[test]
fn a_value_that_is_none_is_an_error_too() {
    for (variable, value) in [
        ("OFFBEAT_PHONE_LISTEN", "8080"),
        ("OFFBEAT_ADMIN_LISTEN", "localhost"),
        ("OFFBEAT_OPS_LISTEN", "127.0.0.1:99999"),
        ("OFFBEAT_PHONE_NETWORKS", "10.0.0.0/33"),
        ("OFFBEAT_TRUSTED_PROXIES", "everyone"),
        ("OFFBEAT_SECRET_KEY", "abc"),
        ("OFFBEAT_DATABASE_URL", "mysql://x"),
        ("OFFBEAT_MIGRATE", "perhaps"),
    ] {
        refused(start(&["serve"], None, &[(variable, value)]), variable);
    }
}

#[test]
fn bad_usage_is_64_and_help_is_not() {
    for arguments in [
        vec![],
        vec!["sing"],
        vec!["serve", "--loud"],
        vec!["render"],
        vec!["render", "no-mac"],
        vec!["render", "000000000000"],
        vec!["diff", "ffffffffffff"],
        vec!["why"],
    ] {
        let (output, made) = start(&arguments, None, &[]);
        ended(output, 64);
        assert_eq!(made, [""; 0]);
    }
    for arguments in [vec!["--help"], vec!["--version"], vec!["token", "--help"]] {
        let (output, _) = start(&arguments, None, &[]);
        assert!(!out(&ended(output, 0)).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_container_platforms_inject_is_ignored() {
    let db = stored().await;
    let injected = [
        ("OFFBEAT_PORT", "tcp://10.0.0.1:80"),
        ("OFFBEAT_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("OFFBEAT_SERVICE_HOST", "10.0.0.1"),
        ("OFFBEAT_SERVICE_PORT_HTTP", "80"),
    ];
    ended(process::run(&db, &["render", YEALINK], &injected), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_beats_the_file() {
    let db = stored().await;
    let directory = tempfile::tempdir().unwrap();
    let text = format!("database_url = \"sqlite:/nowhere/at/all.db\"\nsecret_key = \"{}\"\n", process::KEY);
    std::fs::write(directory.path().join("own.toml"), text).unwrap();
    let arguments = ["render", YEALINK, "--config", "own.toml"];
    ended(process::offbeat(directory.path(), &arguments, &[]).output().unwrap(), 1);
    let environment = [("OFFBEAT_DATABASE_URL", db.url.as_str())];
    ended(process::offbeat(directory.path(), &arguments, &environment).output().unwrap(), 0);
}
