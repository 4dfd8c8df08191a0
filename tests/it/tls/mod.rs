//! TLS on the phones' and the administrators' listeners, over real sockets, with certificates made for each test.

mod choice;
mod limits;
mod reload;
mod settings;
mod wire;

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256, SignatureAlgorithm};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, SignatureScheme, StreamOwned, SupportedProtocolVersion,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, ServerName},
    version::{TLS12, TLS13},
};

use crate::{
    process::Server,
    provision::{YEALINK, served_on},
    store::Db,
};

/// Who signs the certificates of one test.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

/// A certificate and its key, as PEM.
struct Leaf {
    certificate: String,
    key: String,
    der: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// A certificate for some names, with a new key.
    fn issue(&self, algorithm: &'static SignatureAlgorithm, names: &[&str]) -> Leaf {
        self.certify(&KeyPair::generate_for(algorithm).unwrap(), names)
    }

    fn certify(&self, key: &KeyPair, names: &[&str]) -> Leaf {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().signed_by(key, &self.issuer).unwrap();
        Leaf { certificate: certificate.pem(), key: key.serialize_pem(), der: certificate.der().clone() }
    }

    /// The usual one.
    fn usual(&self) -> Leaf {
        self.issue(&PKCS_ECDSA_P256_SHA256, &["phones.example.com", "127.0.0.1"])
    }

    fn client(&self) -> Client {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        Client { roots, provider: ring::default_provider(), version: &TLS13, alpn: Vec::new() }
    }
}

impl Leaf {
    /// Writes both files; gives the values of the two settings.
    fn write(&self, directory: &Path, name: &str) -> (String, String) {
        let path = |extension: &str| directory.join(format!("{name}.{extension}")).to_str().unwrap().to_owned();
        let (certificate, key) = (path("pem"), path("key"));
        std::fs::write(&key, &self.key).unwrap();
        std::fs::write(&certificate, &self.certificate).unwrap();
        (certificate, key)
    }
}

/// A client that trusts one authority.
#[derive(Clone)]
struct Client {
    roots: RootCertStore,
    provider: CryptoProvider,
    version: &'static SupportedProtocolVersion,
    alpn: Vec<Vec<u8>>,
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

impl Client {
    fn version(mut self, version: &'static SupportedProtocolVersion) -> Self {
        self.version = version;
        self
    }

    /// Offers these schemes alone.
    fn schemes(mut self, schemes: &[SignatureScheme]) -> Self {
        let all = self.provider.signature_verification_algorithms;
        let mapping: Vec<_> = all.mapping.iter().copied().filter(|(scheme, _)| schemes.contains(scheme)).collect();
        assert_eq!(mapping.len(), schemes.len());
        self.provider.signature_verification_algorithms = WebPkiSupportedAlgorithms { all: all.all, mapping: mapping.leak() };
        self
    }

    fn alpn(mut self, protocols: &[&str]) -> Self {
        self.alpn = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        self
    }

    /// A connection whose handshake is done. An IP address as the name sends no SNI.
    fn connect(&self, address: SocketAddr, name: &str) -> io::Result<Tls> {
        let builder = ClientConfig::builder_with_provider(Arc::new(self.provider.clone()));
        let mut config =
            builder.with_protocol_versions(&[self.version]).unwrap().with_root_certificates(self.roots.clone()).with_no_client_auth();
        config.alpn_protocols.clone_from(&self.alpn);
        let mut connection = ClientConnection::new(Arc::new(config), ServerName::try_from(name.to_owned()).unwrap()).unwrap();
        let mut stream = tcp(address);
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(StreamOwned::new(connection, stream))
    }

    /// The certificate that the server shows.
    fn shown(&self, address: SocketAddr, name: &str) -> CertificateDer<'static> {
        self.connect(address, name).unwrap().conn.peer_certificates().unwrap()[0].clone()
    }
}

/// A connection that fails a test rather than hang it.
fn tcp(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Asks on a connection, which is kept; head and body of the answer.
fn ask(stream: &mut (impl Read + Write), head: &str) -> (String, String) {
    stream.write_all(format!("{head}\r\nHost: phones.example.com\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let split = |answer: &[u8]| answer.windows(4).position(|window| window == b"\r\n\r\n");
    let mut bytes = [0; 4096];
    loop {
        if let Some(end) = split(&answer) {
            let text = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
            let length = text.split("content-length: ").nth(1).map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
            if answer.len() >= end + 4 + length {
                return (text, String::from_utf8(answer[end + 4..].to_vec()).unwrap());
            }
        }
        let length = stream.read(&mut bytes).unwrap();
        assert!(length > 0, "closed after {:?}", String::from_utf8_lossy(&answer));
        answer.extend(&bytes[..length]);
    }
}

/// Reads until the other side closes; what it sent.
fn until_closed(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => panic!("still open"),
        _ => bytes,
    }
}

/// A server of its own process on the fleet's database, with certificates on the phones' listener.
async fn started(leaves: &[&Leaf], environment: &[(&str, &str)]) -> (Db, Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let written: Vec<_> = leaves.iter().enumerate().map(|(n, leaf)| leaf.write(directory.path(), &format!("c{n}"))).collect();
    let join = |pick: fn(&(String, String)) -> &str| written.iter().map(pick).collect::<Vec<_>>().join(",");
    let (certificates, keys) = (join(|files| &files.0), join(|files| &files.1));
    let mut all = vec![("OFFBEAT_PHONE_TLS_CERT", certificates.as_str()), ("OFFBEAT_PHONE_TLS_KEY", keys.as_str())];
    all.extend(environment);
    let db = Db::sqlite();
    served_on(&db).await.app.close().await;
    let server = Server::start(&db, &all);
    (db, server, directory)
}

fn get_file() -> String {
    format!("GET /provision/{YEALINK}.cfg HTTP/1.1")
}
