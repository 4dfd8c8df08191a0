//! Writes of resources: one transaction, one history entry per changed resource.
//!
//! Imports `domain`, `rows.rs`, `read.rs` and `sql.rs`. A new resource needs two
//! methods at the end.

use chrono::{DateTime, Utc};
use sqlx::{Any, AnyConnection, Executor, pool::PoolConnection};

use super::{
    Kind, Store,
    error::StoreError,
    keyring::Keyring,
    postgres, read,
    rows::{Encoded, Raw, Stored, clean},
    sql, sqlite, time_text,
};
use crate::domain::{Device, Mac, Profile, ProfileRef, Tenant};

/// Who writes, when and why: what the history says.
#[derive(Clone, Debug)]
pub struct Author {
    /// When.
    pub at: DateTime<Utc>,
    /// The token's name, or what else wrote.
    pub actor: String,
    /// For people.
    pub message: Option<String>,
}

/// One side of a history entry: body and sealed secrets.
type Side = (Option<String>, Option<Vec<u8>>);

/// A transaction that writes. Until [`Write::commit`] nobody else sees it, and no other write begins; dropping it
/// undoes it. After an error it can only be dropped.
#[derive(Debug)]
pub struct Write {
    connection: PoolConnection<Any>,
    keyring: Keyring,
    author: Author,
    ended: bool,
}

impl Store {
    /// Begins a write, once those before it have ended.
    pub async fn write(&self, author: Author) -> Result<Write, StoreError> {
        let connection = self.writer.acquire().await?;
        let mut write = Write { connection, keyring: self.keyring.clone(), author, ended: false };
        // The driver's own transactions lose count when SQLite rolls back by itself (disk full): no later one could
        // begin on that connection. So they are spelt out here, and a connection that failed is closed.
        match self.kind {
            Kind::Sqlite => {
                write.connection.execute(sqlite::BEGIN).await?;
            }
            Kind::Postgres => {
                write.connection.execute(postgres::BEGIN).await?;
                write.connection.execute(postgres::LOCK).await?;
            }
        }
        Ok(write)
    }
}

impl Write {
    /// Makes everything written last. An error leaves open whether it does: read again.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.connection.execute("COMMIT").await?;
        self.ended = true;
        Ok(())
    }

    /// Undoes everything written. The same as dropping it, but keeps the connection for the next write.
    pub async fn rollback(mut self) -> Result<(), StoreError> {
        self.connection.execute("ROLLBACK").await?;
        self.ended = true;
        Ok(())
    }

    pub(super) fn parts(&mut self) -> (&mut AnyConnection, &Keyring) {
        (&mut self.connection, &self.keyring)
    }

    /// Stores a resource; answers with its revision. What changes nothing stored makes no history entry. A damaged row
    /// is replaced.
    async fn put<T: Stored>(&mut self, resource: &T) -> Result<i64, StoreError> {
        let key = resource.key();
        let after = Encoded::of(resource)?;
        let before = read::raw::<T>(&mut self.connection, &key).await?;
        if let Some(Ok(raw)) = &before
            && let Ok(stored) = raw.decode::<T>(&self.keyring)
            && Encoded::of(&stored)?.is_same(&after)
        {
            return Ok(raw.revision);
        }
        let sealed = after.seal::<T>(&self.keyring, &key)?;
        let body = after.body.to_string();
        let revision = self.next_revision().await?;
        let stored = Raw { key: key.clone(), body, sealed, revision };
        // What could not be read again would be a damaged row: rather no write than a device that gets nothing.
        stored.decode::<T>(&self.keyring).map_err(StoreError::internal)?;
        let Raw { body, sealed, .. } = stored;
        let query = sqlx::query(resource.put()).bind(key.clone()).bind(body.clone()).bind(sealed.clone()).bind(revision);
        resource.bind(query).execute(&mut *self.connection).await.map_err(StoreError::writing(T::TABLE))?;
        let action = if before.is_some() { "replace" } else { "create" };
        let after = Raw { key, body, sealed, revision };
        self.note::<T>(action, revision, before.and_then(Result::ok), Some(after)).await?;
        Ok(revision)
    }

    /// Deletes a resource; `false` when there is none.
    async fn delete<T: Stored>(&mut self, key: &str) -> Result<bool, StoreError> {
        let Some(before) = read::raw::<T>(&mut self.connection, key).await? else { return Ok(false) };
        sqlx::query(T::DELETE).bind(clean(key)).execute(&mut *self.connection).await.map_err(StoreError::writing(T::TABLE))?;
        let revision = self.next_revision().await?;
        let before = before.unwrap_or_else(|_| Raw { key: key.to_owned(), body: String::new(), sealed: None, revision });
        self.note::<T>("delete", revision, Some(before), None).await?;
        Ok(true)
    }

    /// Writers take turns until commit, so the numbers come in the order of commits; a number that was not committed
    /// is given again.
    async fn next_revision(&mut self) -> Result<i64, StoreError> {
        let row = sqlx::query(sql::NEXT_REVISION).fetch_one(&mut *self.connection).await?;
        Ok(sqlx::Row::try_get(&row, "n")?)
    }

    async fn note<T: Stored>(
        &mut self,
        action: &'static str,
        revision: i64,
        before: Option<Raw>,
        after: Option<Raw>,
    ) -> Result<(), StoreError> {
        let key = after.as_ref().or(before.as_ref()).map(|raw| raw.key.clone()).unwrap_or_default();
        let parts = |raw: Option<Raw>| raw.map_or((None, None), |raw| (Some(raw.body), raw.sealed));
        self.enter(revision, action, T::KIND, key, parts(before), parts(after)).await
    }

    /// Notes in the history what changes no resource; answers with the number of the entry.
    pub(super) async fn note_event(
        &mut self,
        action: &'static str,
        kind: &'static str,
        key: &str,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<i64, StoreError> {
        let number = self.next_revision().await?;
        self.enter(number, action, kind, clean(key), (before, None), (after, None)).await?;
        Ok(number)
    }

    /// Notes that the author read secrets of a device in clear: the device keeps its revision.
    pub async fn note_reveal(&mut self, mac: Mac) -> Result<(), StoreError> {
        self.note_event("reveal", Device::KIND, &mac.to_string(), None, None).await?;
        Ok(())
    }

    async fn enter(
        &mut self,
        number: i64,
        action: &'static str,
        kind: &'static str,
        key: String,
        before: Side,
        after: Side,
    ) -> Result<(), StoreError> {
        sqlx::query(sql::ADD_HISTORY)
            .bind(number)
            .bind(time_text(self.author.at))
            .bind(clean(&self.author.actor))
            .bind(action)
            .bind(kind)
            .bind(key)
            .bind(self.author.message.as_deref().map(clean))
            .bind(before.0)
            .bind(before.1)
            .bind(after.0)
            .bind(after.1)
            .execute(&mut *self.connection)
            .await?;
        Ok(())
    }

    /// When it is written.
    pub(super) fn at(&self) -> DateTime<Utc> {
        self.author.at
    }

    /// Creates or replaces a tenant; answers with its revision.
    ///
    /// As with every `put`: what changes nothing stored makes no history entry and keeps the revision; a secret that
    /// is still a placeholder is [`StoreError::Internal`]; a reference that leads nowhere is a conflict.
    pub async fn put_tenant(&mut self, tenant: &Tenant) -> Result<i64, StoreError> {
        self.put(tenant).await
    }

    /// Creates or replaces a profile; answers with its revision.
    pub async fn put_profile(&mut self, profile: &Profile) -> Result<i64, StoreError> {
        self.put(profile).await
    }

    /// Creates or replaces a device; answers with its revision. Its MAC is claimed by that.
    pub async fn put_device(&mut self, device: &Device) -> Result<i64, StoreError> {
        let revision = self.put(device).await?;
        sqlx::query(sql::CLAIM).bind(device.mac.to_string()).execute(&mut *self.connection).await?;
        Ok(revision)
    }

    /// Deletes a tenant; `false` when there is none. A conflict while something refers to it.
    pub async fn delete_tenant(&mut self, id: &str) -> Result<bool, StoreError> {
        sqlx::query(sql::DISOWN_REFUSALS).bind(clean(id)).execute(&mut *self.connection).await?;
        self.delete::<Tenant>(id).await
    }

    /// Deletes a profile; `false` when there is none. A conflict while something refers to it.
    pub async fn delete_profile(&mut self, profile: &ProfileRef) -> Result<bool, StoreError> {
        self.delete::<Profile>(&profile.to_string()).await
    }

    /// Deletes a device and the record of what it was handed; `false` when there is none.
    pub async fn delete_device(&mut self, mac: Mac) -> Result<bool, StoreError> {
        self.delete::<Device>(&mac.to_string()).await
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.ended {
            // Closing undoes the transaction, whatever state it is in.
            self.connection.close_on_drop();
        }
    }
}
