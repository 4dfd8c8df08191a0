//! Is the secret key the one that the database was written with?
//!
//! Imports nothing of the crate but this module. The database holds a known text sealed under the key; who starts with
//! another key learns it before anything is read or written.

use sqlx::{AnyConnection, ConnectOptions, Executor, Row};

use super::{Author, Kind, Store, error::StoreError, postgres, rows::column, sql, sqlite};

const KEY: &str = "key_check";
const IDENTITY: &str = "meta/key_check";
const TEXT: &[u8] = b"offbeat";

/// Does the database hold a check value? Asked before there is a key: only while there is none may one be made.
/// Changes nothing and creates no file.
pub async fn has_key_check(url: &str) -> Result<bool, StoreError> {
    sqlx::any::install_default_drivers();
    let (options, exists) = match Kind::of(url)? {
        Kind::Sqlite if !sqlite::sqlite_path(url).is_some_and(|path| path.exists()) => return Ok(false),
        Kind::Sqlite => (sqlite::options(url, "rw")?, sqlite::TABLE_EXISTS),
        Kind::Postgres => (postgres::options(url)?, postgres::TABLE_EXISTS),
    };
    let mut connection = options.connect().await?;
    let found = table_exists(&mut connection, exists, "meta").await? && value(&mut connection).await?.is_some();
    sqlx::Connection::close(connection).await?;
    Ok(found)
}

/// Is a table there?
pub(super) async fn table_exists(connection: &mut AnyConnection, statement: &'static str, table: &'static str) -> Result<bool, StoreError> {
    let row = connection.fetch_one(sqlx::query(statement).bind(table)).await?;
    Ok(row.try_get::<i64, _>(0)? > 0)
}

async fn value(connection: &mut AnyConnection) -> Result<Option<Vec<u8>>, StoreError> {
    let row = sqlx::query(sql::META).bind(KEY).fetch_optional(connection).await?;
    row.map(|row| Ok(column(&row, "meta", "value", KEY)?)).transpose()
}

impl Store {
    /// Holds the key against the database's check value, which is set when there is none.
    /// [`StoreError::WrongKey`] when it was written with another key; nothing is changed then.
    pub async fn check_key(&self) -> Result<(), StoreError> {
        let mut stored = value(&mut *self.reader().await?).await?;
        if stored.is_none() {
            // Under the writers' lock: of two servers that start at once, one sets it and the other is held against it.
            let author = Author { at: chrono::DateTime::UNIX_EPOCH, actor: String::new(), message: None };
            let mut write = self.write(author).await?;
            let (connection, keyring) = write.parts();
            stored = value(connection).await?;
            if stored.is_none() {
                let sealed = keyring.seal(TEXT, IDENTITY);
                sqlx::query(sql::ADD_META).bind(KEY).bind(sealed.clone()).execute(connection).await?;
                stored = Some(sealed);
            }
            write.commit().await?;
        }
        let opened = stored.and_then(|sealed| self.keyring.open(&sealed, IDENTITY));
        if opened.as_deref() == Some(TEXT) { Ok(()) } else { Err(StoreError::WrongKey) }
    }
}
