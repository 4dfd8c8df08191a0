//! Rows and domain types, either way.
//!
//! A resource is stored as `body`, the JSON of its domain type with `{"set": true}` for each secret, and `sealed`, the
//! secrets by pointer, encrypted for that row. A new resource implements [`Stored`].

use std::{collections::BTreeMap, task::Context};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::{
    Any, AnyConnection, Decode, Row, Type,
    any::{AnyArguments, AnyRow},
};

use super::{
    error::{Corrupt, StoreError},
    keyring::Keyring,
    sql,
};
use crate::domain::{Device, Layer, Mac, Profile, ProfileRef, Reset, Secret, Slug, Tenant, fields::Reader};

/// A statement with its arguments.
pub(super) type Query = sqlx::query::Query<'static, Any, AnyArguments>;

/// A resource with a row of its own.
pub(super) trait Stored: Clone + Serialize + Send + Sync {
    const TABLE: &'static str;
    /// Its name in the history.
    const KIND: &'static str;
    const GET: &'static str;
    const DELETE: &'static str;

    fn key(&self) -> String;
    fn read(key: &str, value: &Value, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)>;
    fn layer(&mut self) -> &mut Layer;
    fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret));
    /// The statement that stores it; `$1` to `$4` are bound already.
    fn put(&self) -> &'static str;
    /// Binds the columns of its own, from `$5`.
    fn bind(&self, query: Query) -> Query;
}

impl Stored for Tenant {
    const TABLE: &'static str = "tenants";
    const KIND: &'static str = "tenant";
    const GET: &'static str = sql::TENANT;
    const DELETE: &'static str = sql::DELETE_TENANT;

    fn key(&self) -> String {
        self.id.to_string()
    }
    fn read(key: &str, value: &Value, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        Self::read(value, Some(&Slug::parse(key)?), reader)
    }
    fn layer(&mut self) -> &mut Layer {
        &mut self.layer
    }
    fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.secrets(visit);
    }
    fn put(&self) -> &'static str {
        sql::PUT_TENANT
    }
    fn bind(&self, query: Query) -> Query {
        query.bind(self.parent.as_ref().map(Slug::to_string)).bind(self.profile.as_ref().map(ProfileRef::to_string))
    }
}

impl Stored for Profile {
    const TABLE: &'static str = "profiles";
    const KIND: &'static str = "profile";
    const GET: &'static str = sql::PROFILE;
    const DELETE: &'static str = sql::DELETE_PROFILE;

    fn key(&self) -> String {
        self.reference().to_string()
    }
    fn read(key: &str, value: &Value, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        let key = ProfileRef::parse(key, None)?;
        Self::read(value, &key.tenant, Some(&key.id), reader)
    }
    fn layer(&mut self) -> &mut Layer {
        &mut self.layer
    }
    fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.secrets(visit);
    }
    fn put(&self) -> &'static str {
        sql::PUT_PROFILE
    }
    fn bind(&self, query: Query) -> Query {
        query.bind(self.tenant.to_string()).bind(self.id.to_string()).bind(self.extends.as_ref().map(ProfileRef::to_string))
    }
}

impl Stored for Device {
    const TABLE: &'static str = "devices";
    const KIND: &'static str = "device";
    const GET: &'static str = sql::DEVICE;
    const DELETE: &'static str = sql::DELETE_DEVICE;

    fn key(&self) -> String {
        self.mac.to_string()
    }
    fn read(key: &str, value: &Value, reader: &mut Reader) -> Option<(Self, Option<Vec<Reset>>)> {
        Self::read(value, Some(key.parse().ok()?), reader)
    }
    fn layer(&mut self) -> &mut Layer {
        &mut self.layer
    }
    fn secrets(&mut self, visit: &mut dyn FnMut(&str, &mut Secret)) {
        self.secrets(visit);
    }
    fn put(&self) -> &'static str {
        sql::PUT_DEVICE
    }
    fn bind(&self, query: Query) -> Query {
        let search = format!("{}\n{}\n{}", self.mac, self.name, self.model_name()).to_lowercase();
        query
            .bind(self.tenant.to_string())
            .bind(self.profile.as_ref().map(ProfileRef::to_string))
            .bind(self.vendor.clone())
            .bind(self.model_name().to_owned())
            .bind(search)
            .bind(i64::from(self.enabled))
    }
}

/// A row of a resource as it stands in the database.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) key: String,
    pub(super) body: String,
    pub(super) sealed: Option<Vec<u8>>,
    pub(super) revision: i64,
}

impl Raw {
    pub(super) fn of(row: &AnyRow, table: &'static str) -> Result<Self, Corrupt> {
        let key: String = column(row, table, "id", "?")?;
        let body = column(row, table, "body", &key)?;
        let sealed = column(row, table, "sealed", &key)?;
        let revision = column(row, table, "revision", &key)?;
        Ok(Self { key, body, sealed, revision })
    }

    /// The resource with its secrets.
    pub(super) fn decode<T: Stored>(&self, keyring: &Keyring) -> Result<T, Corrupt> {
        let corrupt = |column, cause: String| Corrupt::new(T::TABLE, column, &self.key, cause);
        let value = serde_json::from_str(&self.body).map_err(|error| corrupt("body", error.to_string()))?;
        let mut reader = Reader::default();
        let read = T::read(&self.key, &value, &mut reader);
        if let Some(error) = reader.errors.first() {
            return Err(corrupt("body", format!("{}: {}", error.path, error.code)));
        }
        let (mut resource, resets) = read.ok_or_else(|| corrupt("body", "it does not belong to this key".into()))?;
        resource.layer().resets = resets.unwrap_or_default();

        let mut kept = match &self.sealed {
            None => BTreeMap::new(),
            Some(sealed) => {
                let clear = keyring.open(sealed, &identity::<T>(&self.key));
                let clear = clear.ok_or_else(|| corrupt("sealed", "it does not decrypt".into()))?;
                serde_json::from_slice::<BTreeMap<String, String>>(&clear)
                    .map_err(|_| corrupt("sealed", "it is no map of secrets".into()))?
            }
        };
        let mut missing = None;
        resource.secrets(&mut |pointer, secret| {
            if secret.is_kept() {
                match kept.remove(pointer) {
                    Some(clear) => secret.keep(&clear),
                    None => missing = Some(pointer.to_owned()),
                }
            }
        });
        missing.map_or(Ok(resource), |pointer| Err(corrupt("sealed", format!("it holds no secret for {pointer}"))))
    }
}

/// A resource as it is to be stored.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) body: Value,
    clear: BTreeMap<String, String>,
}

impl Encoded {
    /// Fails when a secret is still a placeholder: there is nothing to store for it.
    pub(super) fn of<T: Stored>(resource: &T) -> Result<Self, StoreError> {
        let mut clear = BTreeMap::new();
        let mut placeholder = None;
        resource.clone().secrets(&mut |pointer, secret| {
            if secret.is_kept() {
                placeholder = Some(pointer.to_owned());
            } else if !secret.expose().is_empty() {
                clear.insert(pointer.to_owned(), secret.expose().to_owned());
            }
        });
        if let Some(pointer) = placeholder {
            return Err(StoreError::internal(format!("the secret at {pointer} of {} is a placeholder", resource.key())));
        }
        Ok(Self { body: serde_json::to_value(resource).map_err(StoreError::internal)?, clear })
    }

    /// Do both store the same?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.body == other.body && self.clear == other.clear
    }

    /// The secrets, sealed for the row `key`.
    pub(super) fn seal<T: Stored>(&self, keyring: &Keyring, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if self.clear.is_empty() {
            return Ok(None);
        }
        let clear = serde_json::to_vec(&self.clear).map_err(StoreError::internal)?;
        Ok(Some(keyring.seal(&clear, &identity::<T>(key))))
    }
}

/// The associated data of a row's secrets.
fn identity<T: Stored>(key: &str) -> String {
    format!("{}/{key}", T::TABLE)
}

/// A column of a row.
pub(super) fn column<'r, T>(row: &'r AnyRow, table: &'static str, column: &'static str, key: &str) -> Result<T, Corrupt>
where
    T: Decode<'r, Any> + Type<Any>,
{
    row.try_get(column).map_err(|error| {
        // The driver's words repeat the value, which may be a secret in the wrong column.
        let cause = match error {
            sqlx::Error::ColumnDecode { .. } => "a value of another type".to_owned(),
            other => other.to_string(),
        };
        Corrupt::new(table, column, key, cause)
    })
}

/// A time column.
pub(super) fn time(row: &AnyRow, table: &'static str, name: &'static str, key: &str) -> Result<DateTime<Utc>, Corrupt> {
    read_time(&column::<String>(row, table, name, key)?, table, name, key)
}

/// A time column that may be null.
pub(super) fn optional_time(row: &AnyRow, table: &'static str, name: &'static str, key: &str) -> Result<Option<DateTime<Utc>>, Corrupt> {
    let text: Option<String> = column(row, table, name, key)?;
    text.map(|text| read_time(&text, table, name, key)).transpose()
}

fn read_time(text: &str, table: &'static str, name: &'static str, key: &str) -> Result<DateTime<Utc>, Corrupt> {
    DateTime::parse_from_rfc3339(text).map(|at| at.to_utc()).map_err(|error| Corrupt::new(table, name, key, error))
}

/// A MAC column.
pub(super) fn mac(text: &str, table: &'static str, name: &'static str) -> Result<Mac, Corrupt> {
    text.parse().map_err(|error: crate::domain::mac::MacError| Corrupt::new(table, name, text, error))
}

/// All rows of a statement. A row that the driver cannot read (a text that is no UTF-8) is an error of its own and
/// does not end the list.
pub(super) async fn fetch(
    connection: &mut AnyConnection,
    query: Query,
    table: &'static str,
) -> Result<Vec<Result<AnyRow, Corrupt>>, StoreError> {
    let mut stream = query.fetch(connection);
    let mut rows = Vec::new();
    while let Some(row) = std::future::poll_fn(|context: &mut Context<'_>| stream.as_mut().poll_next(context)).await {
        rows.push(match row {
            Ok(row) => Ok(row),
            Err(error @ (sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. })) => Err(undecodable(table, "?", &error)),
            Err(error) => return Err(error.into()),
        });
    }
    Ok(rows)
}

/// The one row of a statement, if any.
pub(super) async fn fetch_one(
    connection: &mut AnyConnection,
    query: Query,
    table: &'static str,
    key: &str,
) -> Result<Option<AnyRow>, StoreError> {
    query.fetch_optional(connection).await.map_err(|error| match error {
        sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => undecodable(table, key, &error).into(),
        error => error.into(),
    })
}

fn undecodable(table: &'static str, key: &str, _error: &sqlx::Error) -> Corrupt {
    Corrupt::new(table, "body", key, "a text that is not UTF-8")
}

/// A list of ids as one argument of `trees!` in [`sql`]: ids are ASCII, at most 64 bytes, and end in no space.
pub(super) fn pack(ids: &[String]) -> String {
    let mut packed = String::new();
    for id in ids.iter().filter(|id| id.bytes().all(|b| b.is_ascii_graphic()) && id.len() <= 64) {
        packed.push_str(id);
        packed.extend(std::iter::repeat_n(' ', 64 - id.len()));
    }
    packed
}

/// A text from outside, fit to be an argument: PostgreSQL takes no NUL, and no stored name holds U+FFFD in its place.
pub(super) fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The pattern of `LIKE .. ESCAPE '!'` for a text that stands anywhere.
pub(super) fn like(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
