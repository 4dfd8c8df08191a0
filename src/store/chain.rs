//! Chains of layers: a device with its tenants and profiles in one read, and the chains alone.
//!
//! Imports `domain`, `rows.rs` and `sql.rs`. The statements answer with rows in any order and
//! of bounded depth; here they are put in order and held against the links that the bodies name, so that a damaged
//! link or circle is an error that tells its row.

use sqlx::AnyConnection;

use super::{
    error::{Corrupt, StoreError},
    keyring::Keyring,
    rows::{Raw, Stored, clean, column, fetch},
    sql,
};
use crate::domain::{Device, Mac, Profile, ProfileRef, Slug, Tenant, merge::Stack};

/// The rows of one chain, each with its distance from the device.
type Rows = Vec<(i64, Raw)>;

/// Where a link is written: table, column, row.
type Place = (&'static str, &'static str, String);

/// A device with its layers, and its revision.
pub(super) async fn stack(connection: &mut AnyConnection, keyring: &Keyring, mac: Mac) -> Result<Option<(Stack, i64)>, StoreError> {
    let key = mac.to_string();
    let [devices, tenants, profiles] = layers(connection, sql::STACK, &key).await?;
    let Some((_, raw)) = devices.into_iter().next() else { return Ok(None) };
    let device: Device = raw.decode(keyring)?;
    let tenants: Vec<Tenant> = follow(tenants, keyring, ("devices", "tenant", key.clone()), Some(device.tenant.to_string()))?;

    let own = device.profile.as_ref().map(|profile| (("devices", "profile", key), profile.to_string()));
    let start =
        own.or_else(|| tenants.iter().find_map(|t| Some((("tenants", "profile", t.id.to_string()), t.profile.as_ref()?.to_string()))));
    let mut profiles: Vec<Profile> = match start {
        Some((place, profile)) => follow(profiles, keyring, place, Some(profile))?,
        None => Vec::new(),
    };
    let mut tenants = tenants;
    tenants.reverse();
    profiles.reverse();
    Ok(Some((Stack { tenants, profiles, device }, raw.revision)))
}

/// A tenant and those above it, root first; empty when there is no such tenant.
pub(super) async fn tenant_chain(connection: &mut AnyConnection, keyring: &Keyring, id: &str) -> Result<Vec<Tenant>, StoreError> {
    let [_, tenants, _] = layers(connection, sql::TENANT_CHAIN, id).await?;
    let first = tenants.first().map(|(_, raw)| raw.key.clone());
    let mut chain = follow(tenants, keyring, ("tenants", "id", id.to_owned()), first)?;
    chain.reverse();
    Ok(chain)
}

/// A profile and those it extends, farthest first; empty when there is no such profile.
pub(super) async fn profile_chain(
    connection: &mut AnyConnection,
    keyring: &Keyring,
    profile: &ProfileRef,
) -> Result<Vec<Profile>, StoreError> {
    let key = profile.to_string();
    let [_, _, profiles] = layers(connection, sql::PROFILE_CHAIN, &key).await?;
    let first = profiles.first().map(|(_, raw)| raw.key.clone());
    let mut chain = follow(profiles, keyring, ("profiles", "ref", key), first)?;
    chain.reverse();
    Ok(chain)
}

/// The rows of a statement by layer (device, tenants, profiles), each nearest first.
async fn layers(connection: &mut AnyConnection, statement: &'static str, key: &str) -> Result<[Rows; 3], StoreError> {
    const TABLES: [&str; 3] = ["devices", "tenants", "profiles"];
    let mut layers = [Rows::new(), Rows::new(), Rows::new()];
    for row in fetch(connection, sqlx::query(statement).bind(clean(key)), "devices, tenants or profiles").await? {
        let row = row.map_err(|corrupt| Corrupt { row: key.to_owned(), ..corrupt })?;
        let layer: i64 = column(&row, "devices", "layer", key)?;
        let layer = usize::try_from(layer).ok().filter(|layer| *layer < layers.len()).unwrap_or_default();
        layers[layer].push((column(&row, TABLES[layer], "depth", key)?, Raw::of(&row, TABLES[layer])?));
    }
    for rows in &mut layers {
        rows.sort_by_key(|(depth, _)| *depth);
    }
    Ok(layers)
}

/// A resource that leads to another one of its kind.
trait Link: Stored {
    const COLUMN: &'static str;
    fn next(&self) -> Option<String>;
}

impl Link for Tenant {
    const COLUMN: &'static str = "parent";
    fn next(&self) -> Option<String> {
        self.parent.as_ref().map(Slug::to_string)
    }
}

impl Link for Profile {
    const COLUMN: &'static str = "extends";
    fn next(&self) -> Option<String> {
        self.extends.as_ref().map(ProfileRef::to_string)
    }
}

/// Decodes a chain, nearest first; it begins at `next`, which is written at `place`.
fn follow<T: Link>(rows: Rows, keyring: &Keyring, mut place: Place, mut next: Option<String>) -> Result<Vec<T>, Corrupt> {
    let broken = |(table, column, row): &Place, next: Option<&str>| {
        Corrupt::new(table, column, row, format!("it leads to {}, in a circle or nowhere", next.unwrap_or("nothing")))
    };
    let mut chain = Vec::new();
    for (_, raw) in rows {
        if next.as_deref() != Some(&*raw.key) {
            return Err(broken(&place, next.as_deref()));
        }
        let resource: T = raw.decode(keyring)?;
        next = resource.next();
        place = (T::TABLE, T::COLUMN, raw.key);
        chain.push(resource);
    }
    match next {
        Some(next) => Err(broken(&place, Some(&next))),
        None => Ok(chain),
    }
}
