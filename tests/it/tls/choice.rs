//! Which of several certificates a client is shown.

use std::process::Command;

use rcgen::{PKCS_ECDSA_P384_SHA384, PKCS_ED25519};
use rustls::crypto::ring::kx_group;

use super::*;

const P256: SignatureScheme = SignatureScheme::ECDSA_NISTP256_SHA256;
const P384: SignatureScheme = SignatureScheme::ECDSA_NISTP384_SHA384;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_certificate_that_the_client_can_check_is_shown() {
    let authority = Authority::new();
    let issue = |algorithm| authority.issue(algorithm, &["phones.example.com"]);
    let (p384, p256, ed25519) = (issue(&PKCS_ECDSA_P384_SHA384), issue(&PKCS_ECDSA_P256_SHA256), issue(&PKCS_ED25519));
    let (_db, server, _files) = started(&[&p384, &p256, &ed25519], &[]).await;
    for version in [&TLS12, &TLS13] {
        let shown = |client: Client| client.version(version).shown(server.address("phones"), "phones.example.com");
        assert_eq!(shown(authority.client()), p384.der, "all fit: the first of the list");
        // The authority's own signature is checked with P-256, whatever is offered for the handshake.
        for (schemes, expected) in [
            (&[P256][..], &p256),
            (&[P384], &p384),
            (&[SignatureScheme::ED25519], &ed25519),
            (&[P256, SignatureScheme::ED25519], &p256),
            (&[SignatureScheme::RSA_PSS_SHA256, P256], &p256),
        ] {
            assert_eq!(shown(authority.client().schemes(schemes)), expected.der, "{schemes:?}");
        }
        let none = authority.client().version(version).schemes(&[SignatureScheme::RSA_PSS_SHA256]);
        assert!(none.connect(server.address("phones"), "phones.example.com").is_err());
    }
}

/// With TLS 1.2 a scheme names a hash alone; the groups say which curves the client knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tls_1_2_client_is_shown_no_curve_it_does_not_know() {
    let authority = Authority::new();
    let issue = |algorithm| authority.issue(algorithm, &["phones.example.com"]);
    let (p384, p256) = (issue(&PKCS_ECDSA_P384_SHA384), issue(&PKCS_ECDSA_P256_SHA256));
    let (_db, server, _files) = started(&[&p384, &p256], &[]).await;
    let mut client = authority.client();
    client.provider.kx_groups = vec![kx_group::SECP256R1];
    let shown = |client: Client| client.shown(server.address("phones"), "phones.example.com");
    assert_eq!(shown(client.clone()), p384.der, "with TLS 1.3 the groups are about the key exchange alone");
    // One that never heard of TLS 1.3 names none of its suites.
    client.provider.cipher_suites.retain(|suite| suite.tls13().is_none());
    assert_eq!(shown(client.version(&TLS12)), p256.der);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_that_differ_by_name_are_chosen_by_the_name_asked_for() {
    let authority = Authority::new();
    let issue = |names| authority.issue(&PKCS_ECDSA_P256_SHA256, names);
    let (first, second) = (issue(&["one.example.com", "127.0.0.1"]), issue(&["two.example.com", "*.site.example.com"]));
    let newer = authority.issue(&PKCS_ECDSA_P384_SHA384, &["two.example.com"]);
    let (_db, server, _files) = started(&[&first, &second, &newer], &[]).await;
    let shown = |client: Client, name: &str| client.shown(server.address("phones"), name);
    for (name, expected) in
        [("one.example.com", &first), ("TWO.example.com", &second), ("a.site.example.com", &second), ("127.0.0.1", &first)]
    {
        assert_eq!(shown(authority.client(), name), expected.der, "{name}");
    }
    assert_eq!(shown(authority.client().schemes(&[P384]), "two.example.com"), newer.der, "name and scheme");
    // A name that none is for: the first, and the client judges.
    let error = authority.client().connect(server.address("phones"), "other.example.com").unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

/// Keys of RSA are made by openssl; where it is not installed there is nothing to test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_knows_rsa_alone_is_shown_the_rsa_certificate() {
    let made = Command::new("openssl").args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]).output();
    let Ok(made) = made else { return println!("openssl is not installed: choice between RSA and ECDSA is not tested") };
    let key = KeyPair::from_pem(&String::from_utf8(made.stdout).unwrap()).unwrap();
    let authority = Authority::new();
    let (ecdsa, rsa) = (authority.usual(), authority.certify(&key, &["phones.example.com", "127.0.0.1"]));
    let (_db, server, _files) = started(&[&ecdsa, &rsa], &[]).await;
    let shown = |client: Client| client.shown(server.address("phones"), "phones.example.com");
    for version in [&TLS12, &TLS13] {
        let pss = authority.client().version(version).schemes(&[SignatureScheme::RSA_PSS_SHA256]);
        assert_eq!((shown(pss), shown(authority.client().version(version))), (rsa.der.clone(), ecdsa.der.clone()));
    }
    let old = authority.client().version(&TLS12);
    assert_eq!(shown(old.clone().schemes(&[SignatureScheme::RSA_PKCS1_SHA256])), rsa.der);
    // All schemes, but cipher suites for RSA alone.
    let mut suites = old;
    suites.provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()).contains("ECDHE_RSA"));
    assert_eq!(shown(suites), rsa.der);
}
