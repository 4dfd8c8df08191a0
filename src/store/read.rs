//! Reads of resources: the same for [`Store`] and, inside its transaction, for [`Write`].
//!
//! Imports `domain`, `rows.rs`, `chain.rs`, `record.rs`, `tokens.rs` and `sql.rs`. A new read is a function
//! over a connection here and a line in the list of methods at the end.

use sqlx::AnyConnection;

use super::{
    Store, Write,
    chain::{profile_chain, stack, tenant_chain},
    error::{Corrupt, StoreError},
    keyring::Keyring,
    record::{self, Unclaimed},
    rows::{Query, Raw, Stored, clean, column, fetch, fetch_one, like, mac, pack},
    sql,
    tokens::{self, Token},
};
use crate::domain::{Device, Mac, Profile, ProfileRef, Slug, Tenant, merge::Stack};

/// A resource with the number of the history entry that last changed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Versioned<T> {
    /// The resource.
    pub value: T,
    /// Its revision; 0 for what was there from the start.
    pub revision: i64,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// What is usable, in order of the key.
    pub items: Vec<T>,
    /// Damaged rows of this part: they are left out and hide no other.
    pub corrupt: Vec<Corrupt>,
    /// `after` for the next part; `None` at the end.
    pub next: Option<String>,
}

/// Which devices a list holds; what is `None` asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct DeviceFilter {
    /// Of any of these tenants or those below them; give the topmost ones (a list of thousands takes seconds).
    pub tenants: Option<Vec<String>>,
    /// Naming this profile themselves (`"<tenant>/<id>"`).
    pub profile: Option<String>,
    /// Of this vendor.
    pub vendor: Option<String>,
    /// Of this model, spelt as stored.
    pub model: Option<String>,
    /// With this text in MAC, name or model, in any case; a MAC may be spelt with separators.
    pub q: Option<String>,
    /// Enabled, or disabled.
    pub enabled: Option<bool>,
}

/// A longer search text matches nothing (SQLite refuses patterns above 50,000 bytes).
const MAX_SEARCH: usize = 1024;

/// The row of a resource, readable or not.
pub(super) async fn raw<T: Stored>(connection: &mut AnyConnection, key: &str) -> Result<Option<Result<Raw, Corrupt>>, StoreError> {
    match fetch_one(connection, sqlx::query(T::GET).bind(clean(key)), T::TABLE, key).await {
        Ok(row) => Ok(row.map(|row| Raw::of(&row, T::TABLE))),
        Err(StoreError::Corrupt(corrupt)) => Ok(Some(Err(corrupt))),
        Err(error) => Err(error),
    }
}

async fn one<T: Stored>(connection: &mut AnyConnection, keyring: &Keyring, key: &str) -> Result<Option<Versioned<T>>, StoreError> {
    let Some(raw) = raw::<T>(connection, key).await? else { return Ok(None) };
    let raw = raw?;
    Ok(Some(Versioned { value: raw.decode(keyring)?, revision: raw.revision }))
}

async fn tenant(connection: &mut AnyConnection, keyring: &Keyring, id: &str) -> Result<Option<Versioned<Tenant>>, StoreError> {
    one(connection, keyring, id).await
}

async fn profile(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    reference: &ProfileRef,
) -> Result<Option<Versioned<Profile>>, StoreError> {
    one(connection, keyring, &reference.to_string()).await
}

async fn device(connection: &mut AnyConnection, keyring: &Keyring, mac: Mac) -> Result<Option<Versioned<Device>>, StoreError> {
    one(connection, keyring, &mac.to_string()).await
}

/// The page of a statement that was asked for one row more than `limit`, with the key that each item has.
async fn page<T>(
    connection: &mut AnyConnection,
    query: Query,
    table: &'static str,
    limit: u32,
    read: impl Fn(&sqlx::any::AnyRow, &str) -> Result<T, Corrupt>,
) -> Result<Page<T>, StoreError> {
    let limit = limit as usize;
    let mut rows = fetch(connection, query, table).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut page = Page { items: Vec::new(), corrupt: Vec::new(), next: None };
    for row in rows {
        let read = row.and_then(|row| {
            let key: String = column(&row, table, "id", "?")?;
            let item = read(&row, &key);
            page.next = Some(key);
            item
        });
        match read {
            Ok(item) => page.items.push(item),
            Err(corrupt) => {
                tracing::error!(error = %corrupt, "a damaged row is left out of a list");
                page.corrupt.push(corrupt);
            }
        }
    }
    if !more {
        page.next = None;
    }
    Ok(page)
}

fn one_more(limit: u32) -> i64 {
    i64::from(limit) + 1
}

async fn resources<T: Stored>(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    query: Query,
    limit: u32,
) -> Result<Page<Versioned<T>>, StoreError> {
    page(connection, query, T::TABLE, limit, |row, _| {
        let raw = Raw::of(row, T::TABLE)?;
        Ok(Versioned { value: raw.decode(keyring)?, revision: raw.revision })
    })
    .await
}

async fn tenants(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    within: Option<&[String]>,
    after: Option<&str>,
    limit: u32,
) -> Result<Page<Versioned<Tenant>>, StoreError> {
    let query = sqlx::query(sql::TENANTS).bind(clean(after.unwrap_or_default())).bind(within.map(pack)).bind(one_more(limit));
    resources(connection, keyring, query, limit).await
}

async fn profiles(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    tenant: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<Page<Versioned<Profile>>, StoreError> {
    let query = sqlx::query(sql::PROFILES).bind(clean(tenant)).bind(clean(after.unwrap_or_default())).bind(one_more(limit));
    let mut page = resources(connection, keyring, query, limit).await?;
    // The key is "<tenant>/<id>", the cursor the id.
    page.next = page.next.map(|key| key.rsplit('/').next().unwrap_or_default().to_owned());
    Ok(page)
}

async fn devices(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    filter: &DeviceFilter,
    after: Option<&str>,
    limit: u32,
) -> Result<Page<Versioned<Device>>, StoreError> {
    let q = filter.q.as_deref().map(|q| clean(q).to_lowercase());
    if q.as_ref().is_some_and(|q| q.len() > MAX_SEARCH) {
        return Ok(Page { items: Vec::new(), corrupt: Vec::new(), next: None });
    }
    let digits = q.as_deref().map(|q| {
        let spelt = q.bytes().any(|b| b.is_ascii_hexdigit()) && q.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'-' | b'.'));
        if spelt { q.replace([':', '-', '.'], "") } else { q.to_owned() }
    });
    let text = |text: &Option<String>| text.as_deref().map(clean);
    let query = sqlx::query(sql::DEVICES)
        .bind(clean(after.unwrap_or_default()))
        .bind(filter.tenants.as_deref().map(pack))
        .bind(text(&filter.profile))
        .bind(text(&filter.vendor))
        .bind(text(&filter.model))
        .bind(filter.enabled.map(i64::from))
        .bind(q.as_deref().map(like))
        .bind(digits.as_deref().map(like))
        .bind(one_more(limit));
    resources(connection, keyring, query, limit).await
}

async fn tenant_tree(connection: &mut AnyConnection, _: &Keyring, id: &str) -> Result<Vec<String>, StoreError> {
    let rows = fetch(connection, sqlx::query(sql::TENANT_TREE).bind(clean(id)), "tenants").await?;
    rows.into_iter().map(|row| Ok(column(&row?, "tenants", "id", "?")?)).collect()
}

async fn count(connection: &mut AnyConnection, statement: &'static str, key: &str) -> Result<bool, StoreError> {
    let row = sqlx::query(statement).bind(clean(key)).fetch_one(connection).await?;
    Ok(sqlx::Row::try_get::<i64, _>(&row, "n")? > 0)
}

async fn tenant_is_referenced(connection: &mut AnyConnection, _: &Keyring, id: &str) -> Result<bool, StoreError> {
    count(connection, sql::TENANT_REFERENCES, id).await
}

async fn profile_is_referenced(connection: &mut AnyConnection, _: &Keyring, reference: &ProfileRef) -> Result<bool, StoreError> {
    count(connection, sql::PROFILE_REFERENCES, &reference.to_string()).await
}

async fn was_served(connection: &mut AnyConnection, _: &Keyring, mac: Mac) -> Result<bool, StoreError> {
    count(connection, sql::WAS_SERVED, &mac.to_string()).await
}

async fn profile_height(connection: &mut AnyConnection, _: &Keyring, reference: &ProfileRef) -> Result<usize, StoreError> {
    let row = sqlx::query(sql::PROFILE_HEIGHT).bind(reference.to_string()).fetch_one(connection).await?;
    Ok(usize::try_from(sqlx::Row::try_get::<i64, _>(&row, 0)?).unwrap_or_default())
}

async fn macs(
    connection: &mut AnyConnection,
    statement: &'static str,
    key: &str,
    after: Option<Mac>,
    limit: u32,
) -> Result<Page<Mac>, StoreError> {
    let after = after.map(|mac| mac.to_string()).unwrap_or_default();
    let query = sqlx::query(statement).bind(clean(key)).bind(after).bind(one_more(limit));
    page(connection, query, "devices", limit, |_, key| mac(key, "devices", "mac")).await
}

async fn devices_in_reach_of_tenant(
    connection: &mut AnyConnection,
    _: &Keyring,
    id: &Slug,
    after: Option<Mac>,
    limit: u32,
) -> Result<Page<Mac>, StoreError> {
    macs(connection, sql::DEVICES_IN_REACH_OF_TENANT, id.as_str(), after, limit).await
}

async fn devices_in_reach_of_profile(
    connection: &mut AnyConnection,
    _: &Keyring,
    reference: &ProfileRef,
    after: Option<Mac>,
    limit: u32,
) -> Result<Page<Mac>, StoreError> {
    macs(connection, sql::DEVICES_IN_REACH_OF_PROFILE, &reference.to_string(), after, limit).await
}

async fn owner(connection: &mut AnyConnection, _: &Keyring, mac: Mac) -> Result<Option<String>, StoreError> {
    let key = mac.to_string();
    match fetch_one(connection, sqlx::query(sql::OWNER).bind(key.clone()), "devices", &key).await {
        Ok(row) => Ok(row.map(|row| column(&row, "devices", "tenant", &key).unwrap_or_default())),
        Err(StoreError::Corrupt(_)) => Ok(Some(String::new())),
        Err(error) => Err(error),
    }
}

async fn unclaimed(connection: &mut AnyConnection, _: &Keyring, after: Option<&str>, limit: u32) -> Result<Page<Unclaimed>, StoreError> {
    let query = sqlx::query(sql::UNCLAIMED).bind(clean(after.unwrap_or_default())).bind(one_more(limit));
    page(connection, query, "unclaimed", limit, record::unclaimed).await
}

async fn unclaimed_mac(connection: &mut AnyConnection, _: &Keyring, mac: Mac) -> Result<Option<Unclaimed>, StoreError> {
    let key = mac.to_string();
    let row = fetch_one(connection, sqlx::query(sql::UNCLAIMED_ONE).bind(key.clone()), "unclaimed", &key).await?;
    Ok(row.map(|row| record::unclaimed(&row, &key)).transpose()?)
}

async fn token(connection: &mut AnyConnection, _: &Keyring, id: i64) -> Result<Option<Token>, StoreError> {
    let row = fetch_one(connection, sqlx::query(sql::TOKEN).bind(id), tokens::TABLE, &id.to_string()).await?;
    Ok(row.map(|row| tokens::token(&row)).transpose()?)
}

async fn tokens_named(connection: &mut AnyConnection, _: &Keyring, name: &str) -> Result<Vec<Token>, StoreError> {
    let rows = fetch(connection, sqlx::query(sql::TOKENS_NAMED).bind(clean(name)), tokens::TABLE).await?;
    rows.into_iter().map(|row| Ok(tokens::token(&row?)?)).collect()
}

async fn tokens(
    connection: &mut AnyConnection,
    _: &Keyring,
    within: Option<&[String]>,
    after: i64,
    limit: u32,
) -> Result<Page<Token>, StoreError> {
    let query = sqlx::query(sql::TOKENS).bind(after).bind(within.map(pack)).bind(one_more(limit));
    page(connection, query, tokens::TABLE, limit, |row, _| tokens::token(row)).await
}

/// Gives [`Store`] and [`Write`] a method for each read.
macro_rules! reads {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Store {
            $($(#[$doc])*
            pub async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                $name(&mut *self.reader().await?, &self.keyring, $($argument),*).await
            })*
        }

        impl Write {
            $($(#[$doc])*
            ///
            /// Sees what this transaction wrote.
            pub async fn $name(&mut self, $($argument: $type),*) -> Result<$answer, StoreError> {
                let (connection, keyring) = self.parts();
                $name(connection, keyring, $($argument),*).await
            })*
        }
    };
}

reads! {
    /// The phones' read: a device with its tenants (root first) and profiles (farthest first), and the device's
    /// revision, in one statement.
    fn stack(mac: Mac) -> Option<(Stack, i64)>;
    /// A tenant.
    fn tenant(id: &str) -> Option<Versioned<Tenant>>;
    /// Tenants in order of their id, at most `limit`, those behind `after`; with `within` only these and those below
    /// them (give the topmost ones: a list of thousands takes seconds).
    fn tenants(within: Option<&[String]>, after: Option<&str>, limit: u32) -> Page<Versioned<Tenant>>;
    /// A tenant and those above it, root first; empty when there is no such tenant.
    fn tenant_chain(id: &str) -> Vec<Tenant>;
    /// The ids of a tenant and all below it, in order; empty when there is no such tenant.
    fn tenant_tree(id: &str) -> Vec<String>;
    /// Does a tenant below, a profile, a device or a token refer to the tenant?
    fn tenant_is_referenced(id: &str) -> bool;
    /// A profile.
    fn profile(reference: &ProfileRef) -> Option<Versioned<Profile>>;
    /// The profiles of a tenant in order of their id, at most `limit`, those behind `after`.
    fn profiles(tenant: &str, after: Option<&str>, limit: u32) -> Page<Versioned<Profile>>;
    /// A profile and those it extends, farthest first; empty when there is no such profile.
    fn profile_chain(reference: &ProfileRef) -> Vec<Profile>;
    /// Was the phone ever handed a whole file?
    fn was_served(mac: Mac) -> bool;
    /// Does a tenant, another profile or a device refer to the profile?
    fn profile_is_referenced(reference: &ProfileRef) -> bool;
    /// How many profiles the longest chain on top of this one has.
    fn profile_height(reference: &ProfileRef) -> usize;
    /// A device.
    fn device(mac: Mac) -> Option<Versioned<Device>>;
    /// Devices in order of their MAC, at most `limit`, those behind `after`.
    fn devices(filter: &DeviceFilter, after: Option<&str>, limit: u32) -> Page<Versioned<Device>>;
    /// The devices of a tenant and of those below it: all whose stack holds the tenant.
    fn devices_in_reach_of_tenant(id: &Slug, after: Option<Mac>, limit: u32) -> Page<Mac>;
    /// The devices whose stack holds the profile: named, inherited from a tenant, or extended.
    fn devices_in_reach_of_profile(reference: &ProfileRef, after: Option<Mac>, limit: u32) -> Page<Mac>;
    /// The tenant of a device, however damaged the rest of its row is; empty where not even that can be read.
    fn owner(mac: Mac) -> Option<String>;
    /// MACs that phones asked for and no device has, in order, at most `limit`, those behind `after`.
    fn unclaimed(after: Option<&str>, limit: u32) -> Page<Unclaimed>;
    /// One of them.
    fn unclaimed_mac(mac: Mac) -> Option<Unclaimed>;
    /// The token with this id.
    fn token(id: i64) -> Option<Token>;
    /// The tokens of this name, of whatever tenant; `<tenant>/<name>` is one.
    fn tokens_named(name: &str) -> Vec<Token>;
    /// Tokens in order of their id, at most `limit`, those behind `after`; with `within` only those of these tenants
    /// and of those below them.
    fn tokens(within: Option<&[String]>, after: i64, limit: u32) -> Page<Token>;
}
