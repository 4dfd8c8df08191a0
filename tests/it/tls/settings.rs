//! Settings that cannot be: told before a port is bound or a database made.

use std::process::Output;

use super::*;
use crate::process;

/// Runs a command in a directory; the output, which must have this exit code.
#[track_caller]
fn ended(directory: &Path, command: &str, settings: &[(&str, &str)], code: i32) -> Output {
    let output = process::offbeat(directory, &[command], settings).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{settings:?} {told}");
    assert!(!told.contains("listening on"), "{told}");
    assert!(!directory.join("offbeat.db").exists());
    output
}

#[test]
fn a_certificate_without_its_key_is_a_configuration_error() {
    let directory = tempfile::tempdir().unwrap();
    for (set, missing) in [
        ("OFFBEAT_PHONE_TLS_CERT", "phone_tls_key"),
        ("OFFBEAT_PHONE_TLS_KEY", "phone_tls_cert"),
        ("OFFBEAT_ADMIN_TLS_CERT", "admin_tls_key"),
        ("OFFBEAT_ADMIN_TLS_KEY", "admin_tls_cert"),
    ] {
        for command in ["serve", "check"] {
            let output = ended(directory.path(), command, &[(set, "a.pem")], 64);
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(told.contains(set) && told.contains(missing), "{told}");
        }
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let authority = Authority::new();
    let (one, other) = (authority.usual(), authority.usual());
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = one.write(directory.path(), "one");
    let (_, other_key) = other.write(directory.path(), "other");
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).unwrap();
        directory.path().join(name).to_str().unwrap().to_owned()
    };
    let empty = write("empty.pem", "");
    let noise = write("noise.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    let no_certificate = write("no.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let sealed = write("sealed.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let strange = write("strange.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let missing = directory.path().join("missing.pem").to_str().unwrap().to_owned();
    for (certificates, keys, words) in [
        (&missing, &key, [missing.as_str(), "No such file"]),
        (&certificate, &missing, [&missing, "No such file"]),
        (&certificate, &other_key, [&other_key, "is not the key of"]),
        (&empty, &key, [&empty, "no certificate"]),
        (&key, &key, [&key, "no certificate"]),
        (&noise, &key, [&noise, "PEM"]),
        (&no_certificate, &key, [&no_certificate, "cannot be used"]),
        (&certificate, &certificate, [&certificate, "no private key"]),
        (&certificate, &sealed, [&sealed, "encrypted"]),
        (&certificate, &strange, [&strange, "no key that can be used"]),
        (&format!("{certificate},{certificate}"), &format!("{key},{other_key}"), [&other_key, "is not the key of"]),
    ] {
        for (setting, variables) in [
            ("phone_tls_cert", ["OFFBEAT_PHONE_TLS_CERT", "OFFBEAT_PHONE_TLS_KEY"]),
            ("admin_tls_cert", ["OFFBEAT_ADMIN_TLS_CERT", "OFFBEAT_ADMIN_TLS_KEY"]),
        ] {
            let output = ended(directory.path(), "serve", &[(variables[0], certificates), (variables[1], keys)], 1);
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(words.iter().all(|word| told.contains(word)) && told.contains(setting), "{words:?} in {told}");
        }
    }
    // One file may hold both.
    let both = write("both.pem", &format!("{}{}", one.key, one.certificate));
    let variables = [("OFFBEAT_PHONE_TLS_CERT", both.as_str()), ("OFFBEAT_PHONE_TLS_KEY", both.as_str())];
    let output = ended(directory.path(), "check", &variables, 1);
    assert!(String::from_utf8(output.stdout).unwrap().contains(&format!("certificate {both}: fits its key")));
    assert!(String::from_utf8(output.stderr).unwrap().contains("offbeat.db"), "the next thing that is missing");
}
