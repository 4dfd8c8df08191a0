//! The record of what phones asked for: check-ins, the contents they were handed, refused requests, MACs that are no
//! device's; and of when tokens were used.
//!
//! Imports `domain` and this module. Nothing here is on a request's path: the caller buffers and hands over batches.
//! Of each file of a phone the last two distinct contents are kept, compressed and sealed; "last" is the order in
//! which they are recorded, not their times, which may tie, or run backwards when a clock is put right.

use std::io::{Read, Write as _};

use chrono::{DateTime, TimeDelta, Utc};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use sqlx::any::AnyRow;

use super::{
    Author, Store, Write,
    error::{Corrupt, StoreError},
    keyring::Keyring,
    rows::{clean, column, fetch, mac, optional_time, pack, time},
    sql, time_text,
};
use crate::domain::Mac;

/// How many refusals are kept.
const REFUSALS: i64 = 10_000;

/// How many MACs are kept that are no device's: those that asked last.
const UNCLAIMED: i64 = 10_000;

/// The last use of a token is written at most this often, in seconds.
pub const TOKEN_USE_S: i64 = 60;

/// The reason of refusals of a MAC that no device has.
pub const UNKNOWN_MAC: &str = "unknown_mac";

/// One thing to record.
#[derive(Clone, Debug)]
pub enum Record {
    /// A phone was answered; with the content when it was handed a whole file.
    CheckIn(Mac, CheckIn, Option<Content>),
    /// A request was refused.
    Refusal(Refusal),
    /// The token with this id was used.
    TokenUse(i64, DateTime<Utc>),
}

/// A phone asked for a file and was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckIn {
    /// When.
    pub at: DateTime<Utc>,
    /// The phone's address.
    pub address: String,
    /// What it calls itself.
    pub user_agent: Option<String>,
    /// The file by its own name.
    pub file: String,
    /// HTTP status of the answer.
    pub status: u16,
}

/// The content of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// Its hash, which names it.
    pub etag: String,
    /// The bytes, secrets and all.
    pub bytes: Vec<u8>,
}

/// A request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// When.
    pub at: DateTime<Utc>,
    /// Where it came from.
    pub address: String,
    /// What the client calls itself.
    pub user_agent: Option<String>,
    /// What it asked for.
    pub path: String,
    /// The MAC in the name, if any.
    pub mac: Option<Mac>,
    /// Why it was refused.
    pub reason: String,
}

/// A MAC that phones asked for and no device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclaimed {
    /// The MAC.
    pub mac: Mac,
    /// When it asked first.
    pub first_at: DateTime<Utc>,
    /// When last.
    pub last_at: DateTime<Utc>,
    /// How often.
    pub count: i64,
    /// Where it asked from the last time.
    pub address: String,
    /// What it called itself the last time.
    pub user_agent: Option<String>,
    /// What it asked for the last time.
    pub path: String,
    /// When a device with this MAC was deleted.
    pub deleted_at: Option<DateTime<Utc>>,
}

/// What a phone was handed of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedFile {
    /// The file by its own name.
    pub file: String,
    /// The content it was handed last.
    pub current: ServedContent,
    /// The one before that differed.
    pub previous: Option<ServedContent>,
}

/// One content that a phone was handed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedContent {
    /// Hash and bytes.
    pub content: Content,
    /// When it was handed over first.
    pub first_at: DateTime<Utc>,
    /// When last.
    pub last_at: DateTime<Utc>,
    /// How often.
    pub count: i64,
    /// The address of the last time.
    pub address: String,
    /// What the phone called itself the last time.
    pub user_agent: Option<String>,
}

impl std::fmt::Debug for Content {
    /// Without the bytes, which hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("etag", &self.etag).field("bytes", &self.bytes.len()).finish()
    }
}

impl Store {
    /// Records a batch, in order, in one transaction. What concerns a device that is gone is left out.
    pub async fn record(&self, batch: &[Record]) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        let author = Author { at: DateTime::UNIX_EPOCH, actor: String::new(), message: None };
        let mut write = self.write(author).await?;
        let mut refused = false;
        for record in batch {
            match record {
                Record::CheckIn(mac, check_in, content) => write.record_check_in(*mac, check_in, content.as_ref()).await?,
                Record::Refusal(refusal) => {
                    refused = true;
                    write.record_refusal(refusal).await?;
                }
                Record::TokenUse(id, at) => write.record_token_use(*id, *at).await?,
            }
        }
        if refused {
            sqlx::query(sql::FORGET_REFUSALS).bind(REFUSALS).execute(write.parts().0).await?;
            sqlx::query(sql::FORGET_UNCLAIMED).bind(UNCLAIMED).execute(write.parts().0).await?;
        }
        write.commit().await
    }

    /// The last time a phone was answered.
    pub async fn check_in(&self, mac: Mac) -> Result<Option<CheckIn>, StoreError> {
        let key = mac.to_string();
        let row = sqlx::query(sql::CHECK_IN).bind(key.clone()).fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.map(|row| check_in(&row, &key)).transpose()?)
    }

    /// What a phone was handed, file by file in order of their names.
    pub async fn served(&self, mac: Mac) -> Result<Vec<ServedFile>, StoreError> {
        let key = mac.to_string();
        let rows = fetch(&mut *self.reader().await?, sqlx::query(sql::SERVED).bind(key.clone()), "served").await?;
        let mut files: Vec<ServedFile> = Vec::new();
        for row in rows {
            let (file, content) = served(&row?, &key, &self.keyring)?;
            match files.last_mut().filter(|last| last.file == file) {
                Some(last) => last.previous = Some(content),
                None => files.push(ServedFile { file, current: content, previous: None }),
            }
        }
        Ok(files)
    }

    /// The latest refusals, newest first, at most `limit`; a damaged one is logged and left out. With `within` only
    /// those of devices that were of these tenants then, or of tenants that are below these now.
    pub async fn refusals(&self, within: Option<&[String]>, limit: u32) -> Result<Vec<Refusal>, StoreError> {
        let query = sqlx::query(sql::REFUSALS).bind(within.map(pack)).bind(i64::from(limit));
        let rows = fetch(&mut *self.reader().await?, query, "refusals").await?;
        let refusals = rows.into_iter().map(|row| refusal(&row?));
        Ok(refusals.filter_map(|refusal| refusal.inspect_err(|corrupt| tracing::error!(%corrupt, "a refusal is left out")).ok()).collect())
    }

    /// The latest refusal of a request that named this MAC; `within` as with [`Store::refusals`].
    pub async fn last_refusal(&self, mac: Mac, within: Option<&[String]>) -> Result<Option<Refusal>, StoreError> {
        let query = sqlx::query(sql::LAST_REFUSAL).bind(mac.to_string()).bind(within.map(pack));
        let row = query.fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.map(|row| refusal(&row)).transpose()?)
    }
}

impl Write {
    async fn record_check_in(&mut self, mac: Mac, check_in: &CheckIn, content: Option<&Content>) -> Result<(), StoreError> {
        let (connection, keyring) = self.parts();
        sqlx::query(sql::PUT_CHECK_IN)
            .bind(mac.to_string())
            .bind(time_text(check_in.at))
            .bind(clean(&check_in.address))
            .bind(check_in.user_agent.as_deref().map(clean))
            .bind(clean(&check_in.file))
            .bind(i64::from(check_in.status))
            .execute(&mut *connection)
            .await?;
        let Some(content) = content else { return Ok(()) };
        let query = |statement| {
            sqlx::query(statement)
                .bind(mac.to_string())
                .bind(clean(&check_in.file))
                .bind(clean(&content.etag))
                .bind(time_text(check_in.at))
                .bind(clean(&check_in.address))
                .bind(check_in.user_agent.as_deref().map(clean))
        };
        if query(sql::SERVE_AGAIN).execute(&mut *connection).await?.rows_affected() > 0 {
            return Ok(());
        }
        let sealed = keyring.seal(&deflate(&content.bytes)?, &identity(&mac.to_string(), &check_in.file, &content.etag));
        query(sql::SERVE_NEW).bind(sealed).execute(&mut *connection).await?;
        sqlx::query(sql::FORGET_SERVED).bind(mac.to_string()).bind(clean(&check_in.file)).execute(connection).await?;
        Ok(())
    }

    async fn record_refusal(&mut self, refusal: &Refusal) -> Result<(), StoreError> {
        let named = refusal.mac.map(|mac| mac.to_string());
        let is_unknown = refusal.reason == UNKNOWN_MAC;
        let user_agent = refusal.user_agent.as_deref().map(clean);
        sqlx::query(sql::ADD_REFUSAL)
            .bind(time_text(refusal.at))
            .bind(clean(&refusal.address))
            .bind(user_agent.clone())
            .bind(clean(&refusal.path))
            .bind(named.clone())
            .bind(clean(&refusal.reason))
            .bind(i64::from(!is_unknown))
            .execute(self.parts().0)
            .await?;
        let Some(mac) = named.filter(|_| is_unknown) else { return Ok(()) };
        sqlx::query(sql::ADD_UNCLAIMED)
            .bind(mac)
            .bind(time_text(refusal.at))
            .bind(clean(&refusal.address))
            .bind(user_agent)
            .bind(clean(&refusal.path))
            .execute(self.parts().0)
            .await?;
        Ok(())
    }

    async fn record_token_use(&mut self, id: i64, at: DateTime<Utc>) -> Result<(), StoreError> {
        let before = at - TimeDelta::seconds(TOKEN_USE_S);
        sqlx::query(sql::USE_TOKEN).bind(id).bind(time_text(at)).bind(time_text(before)).execute(self.parts().0).await?;
        Ok(())
    }
}

fn check_in(row: &AnyRow, key: &str) -> Result<CheckIn, Corrupt> {
    const TABLE: &str = "check_ins";
    let status: i64 = column(row, TABLE, "status", key)?;
    Ok(CheckIn {
        at: time(row, TABLE, "at", key)?,
        address: column(row, TABLE, "address", key)?,
        user_agent: column(row, TABLE, "user_agent", key)?,
        file: column(row, TABLE, "file", key)?,
        status: u16::try_from(status).map_err(|error| Corrupt::new(TABLE, "status", key, error))?,
    })
}

fn served(row: &AnyRow, key: &str, keyring: &Keyring) -> Result<(String, ServedContent), Corrupt> {
    const TABLE: &str = "served";
    let file: String = column(row, TABLE, "file", key)?;
    let etag: String = column(row, TABLE, "etag", key)?;
    let key = format!("{key}/{file}/{etag}");
    let sealed: Vec<u8> = column(row, TABLE, "content", &key)?;
    let deflated = keyring.open(&sealed, &format!("{TABLE}/{key}"));
    let deflated = deflated.ok_or_else(|| Corrupt::new(TABLE, "content", &key, "it does not decrypt"))?;
    let bytes = inflate(&deflated).map_err(|error| Corrupt::new(TABLE, "content", &key, error))?;
    let content = ServedContent {
        content: Content { etag, bytes },
        first_at: time(row, TABLE, "first_at", &key)?,
        last_at: time(row, TABLE, "last_at", &key)?,
        count: column(row, TABLE, "count", &key)?,
        address: column(row, TABLE, "address", &key)?,
        user_agent: column(row, TABLE, "user_agent", &key)?,
    };
    Ok((file, content))
}

fn refusal(row: &AnyRow) -> Result<Refusal, Corrupt> {
    const TABLE: &str = "refusals";
    let path: String = column(row, TABLE, "path", "?")?;
    let named: Option<String> = column(row, TABLE, "mac", &path)?;
    Ok(Refusal {
        at: time(row, TABLE, "at", &path)?,
        address: column(row, TABLE, "address", &path)?,
        user_agent: column(row, TABLE, "user_agent", &path)?,
        mac: named.map(|text| mac(&text, TABLE, "mac")).transpose()?,
        reason: column(row, TABLE, "reason", &path)?,
        path,
    })
}

pub(super) fn unclaimed(row: &AnyRow, key: &str) -> Result<Unclaimed, Corrupt> {
    const TABLE: &str = "unclaimed";
    Ok(Unclaimed {
        mac: mac(key, TABLE, "mac")?,
        first_at: time(row, TABLE, "first_at", key)?,
        last_at: time(row, TABLE, "last_at", key)?,
        count: column(row, TABLE, "count", key)?,
        address: column(row, TABLE, "address", key)?,
        user_agent: column(row, TABLE, "user_agent", key)?,
        path: column(row, TABLE, "path", key)?,
        deleted_at: optional_time(row, TABLE, "deleted_at", key)?,
    })
}

/// The associated data of a content.
fn identity(mac: &str, file: &str, etag: &str) -> String {
    format!("served/{mac}/{}/{}", clean(file), clean(etag))
}

fn deflate(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(StoreError::internal)?;
    encoder.finish().map_err(StoreError::internal)
}

fn inflate(deflated: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut bytes)?;
    Ok(bytes)
}
