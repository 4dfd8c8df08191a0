//! Certificates of a listener: read from PEM files, chosen by what a client offers, replaced while it is served.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum_server::tls_rustls::RustlsConfig;
use rustls::{
    NamedGroup, ServerConfig, SignatureScheme,
    client::verify_server_name,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    server::{ClientHello, ParsedCertificate, ResolvesServerCert},
    sign::CertifiedKey,
};
use sha2::{Digest, Sha256};
use tokio::{signal::unix::Signal, time::MissedTickBehavior};

use crate::config::CertificateFiles;

/// How often the files are looked at. A change is taken when it is still there at the next look: by then both
/// certificate and key are written.
const LOOK: Duration = Duration::from_secs(2);

/// What is wrong with the certificates.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// With one of the files.
    #[error("{}: {what}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What.
        what: String,
    },
    /// With what is made of them.
    #[error("TLS cannot be set up")]
    Setup(#[from] rustls::Error),
}

/// The certificates of one listener.
#[derive(Debug)]
pub struct Tls {
    files: Vec<CertificateFiles>,
    config: RustlsConfig,
    /// The contents last seen.
    seen: Fingerprint,
    /// The contents last taken or found bad.
    judged: Fingerprint,
}

impl Tls {
    /// Reads certificates and keys.
    ///
    /// # Errors
    /// Names the first file that is wrong.
    pub fn load(files: &[CertificateFiles]) -> Result<Self, TlsError> {
        let contents = Contents::read(files);
        let fingerprint = contents.fingerprint();
        let config = RustlsConfig::from_config(server_config(contents)?);
        Ok(Self { files: files.to_vec(), config, seen: fingerprint, judged: fingerprint })
    }

    /// What the listener serves with; it follows what is read later.
    pub(super) fn config(&self) -> RustlsConfig {
        self.config.clone()
    }

    /// Reads the files again; when they changed, or when told to, serves new connections by what they hold. Where
    /// they are bad, the old certificates stay.
    async fn look(&mut self, listener: &'static str, told: bool) {
        let files = self.files.clone();
        let Ok(contents) = tokio::task::spawn_blocking(move || Contents::read(&files)).await else { return };
        let fingerprint = contents.fingerprint();
        let settled = std::mem::replace(&mut self.seen, fingerprint) == fingerprint;
        if !told && (!settled || self.judged == fingerprint) {
            return;
        }
        self.judged = fingerprint;
        let result = match server_config(contents) {
            Ok(config) => {
                self.config.reload_from_config(config);
                tracing::info!(listener, "the certificates were read again");
                "taken"
            }
            Err(error) => {
                tracing::error!(listener, error = &error as &dyn std::error::Error, "the new certificates are bad: the old ones stay");
                "refused"
            }
        };
        metrics::counter!("offbeat_tls_reloads_total", "listener" => listener, "result" => result).increment(1);
    }
}

/// Keeps the certificates as their files are: looks every few seconds, and at once at a SIGHUP.
pub(super) async fn follow(mut listeners: Vec<(&'static str, Tls)>, mut hangup: Signal) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let told = tokio::select! {
            _ = hangup.recv() => true,
            _ = looks.tick() => false,
        };
        if told && listeners.is_empty() {
            tracing::info!("SIGHUP: there are no certificates to read again");
        }
        for (listener, tls) in &mut listeners {
            tls.look(listener, told).await;
        }
    }
}

type Fingerprint = [u8; 32];

/// What the files hold, or why one cannot be read.
struct Contents(Vec<(PathBuf, io::Result<Vec<u8>>)>);

impl Contents {
    fn read(files: &[CertificateFiles]) -> Self {
        let paths = files.iter().flat_map(|pair| [&pair.certificate, &pair.key]);
        Self(paths.map(|path| (path.clone(), std::fs::read(path))).collect())
    }

    /// Differs where the contents do. Times of files do not tell: a link may be pointed at another file.
    fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for (_, content) in &self.0 {
            match content {
                Ok(bytes) => hash.update(Sha256::digest(bytes)),
                Err(error) => hash.update(Sha256::digest(error.to_string())),
            }
        }
        hash.finalize().into()
    }
}

/// TLS 1.2 and 1.3, HTTP/1.1 alone.
fn server_config(contents: Contents) -> Result<Arc<ServerConfig>, TlsError> {
    let mut certificates = Vec::new();
    let mut files = contents.0.into_iter();
    while let (Some(certificate), Some(key)) = (files.next(), files.next()) {
        certificates.push(Arc::new(certified_key(certificate, key)?));
    }
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Certificates(certificates)));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

type File = (PathBuf, io::Result<Vec<u8>>);

fn certified_key(certificate: File, key: File) -> Result<CertifiedKey, TlsError> {
    let (certificate_path, certificate) = readable(certificate)?;
    let (key_path, key) = readable(key)?;
    let fault = |path: &Path, what: &str| TlsError::File { path: path.to_owned(), what: what.to_owned() };
    let chain = CertificateDer::pem_slice_iter(&certificate)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| fault(&certificate_path, &format!("cannot be read as PEM: {error}")))?;
    if chain.is_empty() {
        return Err(fault(&certificate_path, "holds no certificate (PEM, BEGIN CERTIFICATE)"));
    }
    let der = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|_| fault(&key_path, "holds no private key (PEM, BEGIN PRIVATE KEY; one that is encrypted cannot be read)"))?;
    let signing = ring::sign::any_supported_type(&der)
        .map_err(|_| fault(&key_path, "is no key that can be used: RSA of 2048 to 4096 bits, ECDSA P-256 or P-384, or Ed25519"))?;
    let certified = CertifiedKey::new(chain, signing);
    match certified.keys_match() {
        Ok(()) => Ok(certified),
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err(fault(&key_path, &format!("is not the key of the first certificate in {}", certificate_path.display())))
        }
        Err(error) => Err(fault(&certificate_path, &format!("its first certificate cannot be used: {error}"))),
    }
}

fn readable((path, content): File) -> Result<(PathBuf, Vec<u8>), TlsError> {
    match content {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) => Err(TlsError::File { path, what: error.to_string() }),
    }
}

/// Certificates in the order of the settings.
#[derive(Debug)]
struct Certificates(Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for Certificates {
    /// The first that the client can check and that is for the name it asks for; else the first it can check,
    /// since phones also ask by address or by a name of the site's own. Where it can check none, the handshake
    /// fails with the first.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().and_then(|name| ServerName::try_from(name).ok());
        let named = |certificate: &Arc<CertifiedKey>| name.as_ref().is_some_and(|name| is_for(certificate, name));
        let mut usable = self.0.iter().filter(|certificate| can_check(&hello, certificate));
        let chosen = usable.clone().find(|certificate| named(certificate)).or_else(|| usable.next());
        chosen.or_else(|| self.0.first()).cloned()
    }
}

/// Is the certificate for this name?
fn is_for(certificate: &CertifiedKey, name: &ServerName<'_>) -> bool {
    let parsed = certificate.end_entity_cert().and_then(ParsedCertificate::try_from);
    parsed.is_ok_and(|parsed| verify_server_name(&parsed, name).is_ok())
}

/// Can the client check a signature of this key? What it offers is narrowed by rustls to what its cipher suites allow.
fn can_check(hello: &ClientHello<'_>, certificate: &CertifiedKey) -> bool {
    let Some(signer) = certificate.key.choose_scheme(hello.signature_schemes()) else { return false };
    let curve = match signer.scheme() {
        SignatureScheme::ECDSA_NISTP256_SHA256 => NamedGroup::secp256r1,
        SignatureScheme::ECDSA_NISTP384_SHA384 => NamedGroup::secp384r1,
        _ => return true,
    };
    // Up to TLS 1.2 a scheme names a hash, and the groups say which curves are understood (RFC 8422, 5.1).
    let offers_13 = hello.cipher_suites().iter().any(|suite| suite.as_str().is_some_and(|name| name.starts_with("TLS13_")));
    offers_13 || hello.named_groups().is_none_or(|groups| groups.contains(&curve))
}
