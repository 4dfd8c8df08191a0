//! The key of the secrets: stated, in a file, or made once while the database is new.

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context, bail};
use secrecy::ExposeSecret;

use crate::{
    config::{Config, KeySource},
    store::{Keyring, has_key_check, random},
};

/// The keyring that the settings name.
pub(super) async fn keyring(config: &Config) -> anyhow::Result<Keyring> {
    let hex = match &config.secret_key {
        KeySource::Hex(hex) => hex.expose_secret().to_owned(),
        KeySource::File(path) => read(path)?,
        KeySource::Made(path) => made(config, path).await?,
    };
    Keyring::from_hex(hex.trim()).context("the secret key is not 64 hex digits")
}

fn read(path: &Path) -> anyhow::Result<String> {
    let mode = std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others than its owner may read the secret key: chmod 600");
    }
    std::fs::read_to_string(path).with_context(|| format!("the secret key file {}", path.display()))
}

/// The key in its implied place; made there only while the database holds nothing that another key sealed.
async fn made(config: &Config, path: &Path) -> anyhow::Result<String> {
    if path.exists() {
        return read(path);
    }
    if has_key_check(config.database_url.expose()).await? {
        bail!(
            "the database holds secrets, but their key {} is not there: restore it, or state OFFBEAT_SECRET_KEY or OFFBEAT_SECRET_KEY_FILE",
            path.display()
        );
    }
    let hex = random::hex::<32>();
    // Two servers that start at once must not each make a key, nor read a half-written one: the whole file
    // gets its name by one of them alone.
    let draft = path.with_extension(format!("new-{}", random::hex::<8>()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(format!("{hex}\n").as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::hard_link(&draft, path));
    let _ = std::fs::remove_file(&draft);
    match written {
        Ok(()) => {
            tracing::warn!(path = %path.display(), "made a key for the secrets in the database: back it up with the database");
            Ok(hex)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(error).with_context(|| format!("making the secret key file {}", path.display())),
    }
}
