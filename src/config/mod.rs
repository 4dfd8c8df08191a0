//! Settings: built-in ← `offbeat.toml` ← environment. The one place that reads the environment.
//!
//! `default.toml` is embedded: it is the documentation and the defaults at once. A new setting is a key
//! there and a field here. Imports the domain alone.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use ipnet::IpNet;
use secrecy::SecretString;
use toml::{Table, Value};

const DEFAULTS: &str = include_str!("default.toml");

/// Variables that container platforms inject for a service of this name.
const INJECTED: [&str; 2] = ["OFFBEAT_PORT", "OFFBEAT_SERVICE_"];

/// All settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// Database.
    pub database_url: DatabaseUrl,
    /// Where phones ask.
    pub phone_listen: SocketAddr,
    /// Certificates of the phones' listener; none: plain HTTP.
    pub phone_tls: Vec<CertificateFiles>,
    /// Where administrators ask.
    pub admin_listen: SocketAddr,
    /// Certificates of the administrators' listener; none: plain HTTP.
    pub admin_tls: Vec<CertificateFiles>,
    /// Where operations ask.
    pub ops_listen: SocketAddr,
    /// An administrator's token over all tenants.
    pub admin_token: Option<SecretString>,
    /// Networks whose phones may have a configuration for a MAC alone.
    pub phone_networks: Vec<IpNet>,
    /// Reverse proxies whose forwarded header is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Key of the secrets in the database.
    pub secret_key: KeySource,
    /// Bring the database up to date at the start.
    pub migrate: bool,
    /// Log filter.
    pub log: String,
    /// Log lines as JSON?
    pub log_json: bool,
    /// Were the phone networks left at their default?
    pub phone_networks_are_default: bool,
}

/// A database URL that never prints its password.
#[derive(Clone)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// A URL from its text.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL with its password.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Path of an SQLite database.
    pub fn sqlite_path(&self) -> Option<PathBuf> {
        let rest = self.0.strip_prefix("sqlite:")?;
        let path = rest.strip_prefix("//").unwrap_or(rest);
        Some(PathBuf::from(path.split('?').next().unwrap_or(path)))
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://").filter(|_| self.sqlite_path().is_none()) else { return f.write_str(&self.0) };
        // The options may hold a password too.
        let place = rest.split('?').next().unwrap_or_default();
        match place.rsplit_once('@') {
            Some((_, host)) => write!(f, "{scheme}://********@{host}"),
            None => write!(f, "{scheme}://{place}"),
        }
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Where the key of the secrets comes from.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// Stated.
    Hex(SecretString),
    /// In a file that must be there.
    File(PathBuf),
    /// In a file that is made when the database is new.
    Made(PathBuf),
}

/// A certificate of a TLS listener, with those that lead to its authority, and its key: PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate first, then its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What is wrong with the settings: which, where it was set, what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {key}: {what}")]
pub struct ConfigError {
    /// The setting.
    pub key: String,
    /// Where it was set.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// A value and where it was set.
type Placed = BTreeMap<String, (Value, String)>;

impl Config {
    /// Reads the settings from the process's environment and the file, if one is named or there.
    ///
    /// # Errors
    /// The first setting that is wrong.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
        let environment = environment(std::env::vars_os())?;
        let implied = Path::new("offbeat.toml");
        let file = file.or_else(|| implied.exists().then_some(implied));
        let text = match file {
            Some(path) => Some((
                path.display().to_string(),
                std::fs::read_to_string(path).map_err(|error| ConfigError {
                    key: "--config".into(),
                    place: path.display().to_string(),
                    what: error.to_string(),
                })?,
            )),
            None => None,
        };
        Self::from_parts(text, environment)
    }

    /// Reads the settings from a file's name and text, and from the variables of an environment.
    ///
    /// # Errors
    /// The first setting that is wrong.
    pub fn from_parts(file: Option<(String, String)>, environment: BTreeMap<String, String>) -> Result<Self, ConfigError> {
        // The embedded defaults are read by every test run.
        let defaults: Table = toml::from_str(DEFAULTS).unwrap_or_default();
        let mut values: Placed = defaults.into_iter().map(|(key, value)| (key, (value, "default".to_owned()))).collect();
        if let Some((name, text)) = file {
            let table: Table = toml::from_str(&text).map_err(|error| ConfigError {
                key: "syntax".into(),
                place: name.clone(),
                what: error.to_string(),
            })?;
            for (key, value) in table {
                set(&mut values, &key, value, name.clone())?;
            }
        }
        for (variable, text) in environment {
            if INJECTED.iter().any(|prefix| variable.starts_with(prefix)) {
                continue;
            }
            let key = variable.strip_prefix("OFFBEAT_").unwrap_or(&variable).to_ascii_lowercase();
            set(&mut values, &key, Value::String(text), variable)?;
        }
        Self::read(&values)
    }

    fn read(values: &Placed) -> Result<Self, ConfigError> {
        let database_url = DatabaseUrl(text(values, "database_url")?);
        if database_url.sqlite_path().is_none()
            && !database_url.0.starts_with("postgres://")
            && !database_url.0.starts_with("postgresql://")
        {
            return Err(wrong(values, "database_url", "expected sqlite:<path> or postgres://…"));
        }
        if database_url.sqlite_path().is_some_and(|path| path.as_os_str().is_empty() || path == Path::new(":memory:"))
            || database_url.0.split_once('?').is_some_and(|(_, options)| database_url.0.starts_with("sqlite:") && options != "mode=rwc")
        {
            return Err(wrong(values, "database_url", "expected sqlite:<path of a file>, without options"));
        }
        let log_json = match text(values, "log_format")?.as_str() {
            "text" => false,
            "json" => true,
            _ => return Err(wrong(values, "log_format", "expected text or json")),
        };
        Ok(Self {
            secret_key: key_source(values, &database_url)?,
            database_url,
            phone_listen: address(values, "phone_listen")?,
            phone_tls: certificates(values, "phone_tls_cert", "phone_tls_key")?,
            admin_listen: address(values, "admin_listen")?,
            admin_tls: certificates(values, "admin_tls_cert", "admin_tls_key")?,
            ops_listen: address(values, "ops_listen")?,
            admin_token: admin_token(values)?,
            phone_networks: networks(values, "phone_networks")?,
            trusted_proxies: networks(values, "trusted_proxies")?,
            migrate: boolean(values, "migrate")?,
            log: text(values, "log")?,
            log_json,
            phone_networks_are_default: values.get("phone_networks").is_some_and(|(_, place)| place == "default"),
        })
    }
}

/// The variables that are ours. Those of others may hold any bytes.
fn environment(all: impl Iterator<Item = (OsString, OsString)>) -> Result<BTreeMap<String, String>, ConfigError> {
    let ours = all.filter_map(|(name, value)| Some((name.into_string().ok()?, value))).filter(|(name, _)| name.starts_with("OFFBEAT_"));
    ours.map(|(name, value)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(ConfigError { key: name.clone(), place: "environment".into(), what: "this is no UTF-8 text".into() }),
    })
    .collect()
}

fn set(values: &mut Placed, key: &str, value: Value, place: String) -> Result<(), ConfigError> {
    if !values.contains_key(key) {
        let known = values.keys().cloned().collect::<Vec<_>>().join(", ");
        return Err(ConfigError { key: key.to_owned(), place, what: format!("no such setting; there are {known}") });
    }
    values.insert(key.to_owned(), (value, place));
    Ok(())
}

fn wrong(values: &Placed, key: &str, what: &str) -> ConfigError {
    let place = values.get(key).map_or_else(String::new, |(_, place)| place.clone());
    ConfigError { key: key.to_owned(), place, what: what.to_owned() }
}

fn text(values: &Placed, key: &str) -> Result<String, ConfigError> {
    match values.get(key) {
        Some((Value::String(text), _)) => Ok(text.trim().to_owned()),
        _ => Err(wrong(values, key, "expected a text")),
    }
}

fn boolean(values: &Placed, key: &str) -> Result<bool, ConfigError> {
    match values.get(key).map(|(value, _)| value) {
        Some(Value::Boolean(value)) => Ok(*value),
        Some(Value::String(text)) if text == "true" => Ok(true),
        Some(Value::String(text)) if text == "false" => Ok(false),
        _ => Err(wrong(values, key, "expected true or false")),
    }
}

fn address(values: &Placed, key: &str) -> Result<SocketAddr, ConfigError> {
    text(values, key)?.parse().map_err(|_| wrong(values, key, "expected address:port, such as 0.0.0.0:8080 or [::]:8080"))
}

/// A list in TOML, or comma-separated in a variable.
fn list(values: &Placed, key: &str, of: &str) -> Result<Vec<String>, ConfigError> {
    let expected = || wrong(values, key, &format!("expected a list of {of}"));
    match values.get(key).map(|(value, _)| value) {
        Some(Value::String(text)) => Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(expected)).collect(),
        _ => Err(expected()),
    }
}

fn networks(values: &Placed, key: &str) -> Result<Vec<IpNet>, ConfigError> {
    let network = |item: &String| item.parse::<IpNet>().or_else(|_| item.parse::<std::net::IpAddr>().map(IpNet::from));
    list(values, key, "networks")?
        .iter()
        .map(|item| network(item).map_err(|_| wrong(values, key, &format!("{item:?} is no network; expected 10.0.0.0/8 or 2001:db8::/32"))))
        .collect()
}

/// Certificates and their keys, which stand in the same order.
fn certificates(values: &Placed, certificates: &str, keys: &str) -> Result<Vec<CertificateFiles>, ConfigError> {
    let (files, key_files) = (list(values, certificates, "PEM files")?, list(values, keys, "PEM files")?);
    let (given, missing) = if files.len() > key_files.len() { (certificates, keys) } else { (keys, certificates) };
    if files.len() != key_files.len() {
        let what = format!(
            "{} in {certificates}, but {} in {keys}: {missing} names too few; each certificate needs its key, in the same order",
            files.len(),
            key_files.len()
        );
        return Err(wrong(values, given, &what));
    }
    let pairs = files.into_iter().zip(key_files);
    Ok(pairs.map(|(certificate, key)| CertificateFiles { certificate: certificate.into(), key: key.into() }).collect())
}

fn admin_token(values: &Placed) -> Result<Option<SecretString>, ConfigError> {
    let token = text(values, "admin_token")?;
    match token.is_empty() {
        true => Ok(None),
        false if token.bytes().all(|b| b.is_ascii_graphic()) => Ok(Some(SecretString::from(token))),
        false => Err(wrong(values, "admin_token", "expected printable ASCII without spaces")),
    }
}

fn key_source(values: &Placed, database: &DatabaseUrl) -> Result<KeySource, ConfigError> {
    let (hex, file) = (text(values, "secret_key")?, text(values, "secret_key_file")?);
    match (hex.is_empty(), file.is_empty()) {
        (false, false) => Err(wrong(values, "secret_key", "give either secret_key or secret_key_file")),
        (false, true) if hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()) => Ok(KeySource::Hex(SecretString::from(hex))),
        (false, true) => Err(wrong(values, "secret_key", "expected 64 hex digits")),
        (true, false) => Ok(KeySource::File(PathBuf::from(file))),
        (true, true) => Ok(KeySource::Made(match database.sqlite_path() {
            Some(path) => PathBuf::from(format!("{}.key", path.display())),
            None => PathBuf::from("offbeat.key"),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let environment = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::from_parts((!file.is_empty()).then(|| ("offbeat.toml".to_owned(), file.to_owned())), environment)
    }

    #[test]
    fn the_defaults_are_those_documented() {
        let config = load("", &[]).unwrap();
        assert_eq!(config.database_url.expose(), "sqlite:offbeat.db");
        assert_eq!(config.phone_listen.to_string(), "0.0.0.0:8080");
        assert_eq!(config.admin_listen.to_string(), "127.0.0.1:8081");
        assert_eq!(config.ops_listen.to_string(), "127.0.0.1:9090");
        assert!(config.phone_networks_are_default && config.migrate && config.admin_token.is_none());
        assert!(matches!(config.secret_key, KeySource::Made(path) if path == Path::new("offbeat.db.key")));
    }

    #[test]
    fn the_environment_beats_the_file_which_beats_the_default() {
        let config = load(
            "phone_listen = \"127.0.0.1:1\"\nadmin_listen = \"127.0.0.1:2\"",
            &[("OFFBEAT_PHONE_LISTEN", "127.0.0.1:3"), ("OFFBEAT_PHONE_NETWORKS", "10.0.0.0/8, 2001:db8::/32, 192.0.2.7")],
        )
        .unwrap();
        assert_eq!((config.phone_listen.port(), config.admin_listen.port()), (3, 2));
        assert_eq!(config.phone_networks.len(), 3);
    }

    #[test]
    fn what_is_unknown_or_wrong_is_named() {
        for (file, variable, key) in [
            ("nonsense = 1", None, "nonsense"),
            ("", Some(("OFFBEAT_NONSENSE", "1")), "nonsense"),
            ("", Some(("OFFBEAT_PHONE_LISTEN", "8080")), "phone_listen"),
            ("", Some(("OFFBEAT_PHONE_NETWORKS", "10.0.0.0/33")), "phone_networks"),
            ("", Some(("OFFBEAT_SECRET_KEY", "abc")), "secret_key"),
            ("", Some(("OFFBEAT_DATABASE_URL", "mysql://x")), "database_url"),
            ("migrate = 3", None, "migrate"),
            ("log_format = \"xml\"", None, "log_format"),
        ] {
            let variable: Vec<_> = variable.into_iter().collect();
            assert_eq!(load(file, &variable).unwrap_err().key, key);
        }
        assert!(load("", &[("OFFBEAT_PORT", "tcp://10.0.0.1:8080"), ("OFFBEAT_SERVICE_HOST", "10.0.0.1")]).is_ok());
    }

    #[test]
    fn certificates_and_keys_come_in_pairs() {
        let pair = |certificate: &str, key: &str| CertificateFiles { certificate: certificate.into(), key: key.into() };
        let both = [("OFFBEAT_PHONE_TLS_CERT", "rsa.pem, ec.pem"), ("OFFBEAT_PHONE_TLS_KEY", "rsa.key,ec.key")];
        let config = load("admin_tls_cert = [\"a,b.pem\"]\nadmin_tls_key = \"a.key\"", &both).unwrap();
        assert_eq!(config.phone_tls, [pair("rsa.pem", "rsa.key"), pair("ec.pem", "ec.key")]);
        assert_eq!(config.admin_tls, [pair("a,b.pem", "a.key")]);
        assert_eq!(load("", &[]).unwrap().phone_tls, []);
        for (given, value, missing) in [
            ("phone_tls_cert", "a.pem", "phone_tls_key"),
            ("phone_tls_key", "a.key", "phone_tls_cert"),
            ("admin_tls_cert", "a.pem", "admin_tls_key"),
            ("admin_tls_key", "a.key,b.key", "admin_tls_cert"),
        ] {
            let variable = format!("OFFBEAT_{}", given.to_uppercase());
            let error = load("", &[(&variable, value)]).unwrap_err();
            assert_eq!((error.key.as_str(), error.place), (given, variable));
            assert!(error.what.contains(&format!("{missing} names too few")), "{}", error.what);
        }
        assert_eq!(load("phone_tls_cert = [1]", &[]).unwrap_err().key, "phone_tls_cert");
    }

    #[test]
    fn a_database_password_is_not_printed() {
        let config = load("", &[("OFFBEAT_DATABASE_URL", "postgres://me:geheim@host/db")]).unwrap();
        assert_eq!(config.database_url.to_string(), "postgres://********@host/db");
        assert!(!format!("{config:?}").contains("geheim"));
        for url in ["postgres://host/db?user=me&password=geheim", "postgres://me:ge?heim@host/db", "postgres://me@host/db?password=ge@heim"]
        {
            let shown = DatabaseUrl::new(url).to_string();
            assert!(!shown.contains("heim"), "{shown}");
        }
    }
}
