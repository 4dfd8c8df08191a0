//! What is kept: tenants, profiles, devices, tokens, their history, and the record of what phones were handed.
//!
//! Imports `domain` alone; the only place that knows SQL. One implementation serves SQLite and PostgreSQL: each
//! statement stands once in `sql.rs`, what differs in `sqlite.rs` and `postgres.rs`. A new read is a function in
//! `read.rs` and a line in its list of methods; a new resource implements `rows::Stored`; a new table is a migration
//! in both folders of `migrations/`.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use sqlx::{Any, AnyPool, pool::PoolConnection};

mod chain;
mod error;
mod key_check;
mod keyring;
mod migrate;
mod postgres;
pub mod random;
mod read;
mod record;
mod rows;
mod sql;
mod sqlite;
mod tokens;
mod write;

pub use error::{Corrupt, StoreError, Violation};
pub use key_check::has_key_check;
pub use keyring::{KeyError, Keyring};
pub use migrate::all_migrations;
pub use read::{DeviceFilter, Page, Versioned};
pub use record::{CheckIn, Content, Record, Refusal, ServedContent, ServedFile, TOKEN_USE_S, UNKNOWN_MAC, Unclaimed};
pub use sqlite::sqlite_path;
pub use tokens::{NewToken, Token};
pub use write::{Author, Write};

/// How long a request waits for a connection, and a writer for the writers before it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The database. Cheap to clone; all clones share the connections.
#[derive(Clone)]
pub struct Store {
    url: Arc<str>,
    kind: Kind,
    /// One connection: writers take turns.
    writer: AnyPool,
    readers: AnyPool,
    keyring: Keyring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    fn of(url: &str) -> Result<Self, StoreError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => Ok(Self::Sqlite),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres),
            _ => Err(StoreError::Url("a database URL is sqlite:<path> or postgres://user:password@host/database".into())),
        }
    }
}

impl Store {
    /// Opens the database `sqlite:<path>` (created when missing) or `postgres://…`. Changes nothing in it: see
    /// [`Store::migrate`] and [`Store::check_key`].
    pub async fn connect(url: &str, keyring: Keyring) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let kind = Kind::of(url)?;
        let (writer, readers) = match kind {
            Kind::Sqlite => sqlite::pools(url).await?,
            Kind::Postgres => (postgres::writer(url).await?, postgres::readers(url).await?),
        };
        Ok(Self { url: url.into(), kind, writer, readers, keyring })
    }

    /// Is the database there, and can it be read? For readiness.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query(sql::REVISION).fetch_one(&mut *self.reader().await?).await?;
        Ok(())
    }

    /// Closes every connection, once those in use are done.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn reader(&self) -> Result<PoolConnection<Any>, StoreError> {
        Ok(self.readers.acquire().await?)
    }
}

impl std::fmt::Debug for Store {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// A time as it is stored: always as long, so that texts sort as times do.
fn time_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}
