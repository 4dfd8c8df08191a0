//! Profiles: settings that devices share.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Actor, App, AppError, Body, Doc, Listed, Outcome, Role, WriteOptions, check,
    common::{document, kept_resets, read, settle},
    plan::{Judge, Reach},
};
use crate::{
    domain::{
        FieldError, Profile, ProfileRef, Slug, Tenant,
        merge::shared_layers,
        profile::MAX_PROFILE_DEPTH,
        resets::{after_write, chain_leaves},
    },
    store::Write,
};

const WHAT: &str = "this profile";

impl App {
    /// Profiles of a tenant, in order of their id.
    ///
    /// # Errors
    /// When there is no such tenant, or none the actor sees.
    pub async fn list_profiles(&self, actor: &Actor, tenant: &Slug, after: Option<&str>, limit: u32) -> Result<Listed, AppError> {
        self.get_tenant(actor, tenant).await?;
        let page = self.store().profiles(tenant.as_str(), after, limit).await?;
        let items = page.items.iter().map(|profile| document(&profile.value, profile.revision)).collect();
        Ok(Listed { items, next: page.next })
    }

    /// One profile.
    ///
    /// # Errors
    /// When there is none, or none the actor sees.
    pub async fn get_profile(&self, actor: &Actor, reference: &ProfileRef) -> Result<Doc, AppError> {
        actor.must_see(&reference.tenant, WHAT)?;
        let stored = self.store().profile(reference).await?.ok_or(AppError::NotFound(WHAT))?;
        Ok(Doc { body: document(&stored.value, stored.revision), revision: stored.revision })
    }

    /// Creates, replaces or patches a profile of `tenant`; `id` is absent for a POST.
    ///
    /// # Errors
    /// What is wrong with the document or stands against the write.
    pub async fn write_profile(
        &self,
        actor: &Actor,
        tenant: &Slug,
        id: Option<&Slug>,
        body: Body<'_>,
        options: &WriteOptions,
    ) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, options.dry_run)?;
        actor.must_see(tenant, "this tenant")?;
        let mut write = self.begin(actor, options).await?;
        let tenants = write.tenant_chain(tenant.as_str()).await?;
        if tenants.is_empty() {
            return Err(AppError::NotFound("this tenant"));
        }
        let current = match id.filter(|_| body.is_patch()) {
            Some(id) => {
                let reference = ProfileRef { tenant: tenant.clone(), id: id.clone() };
                write.profile(&reference).await?.map(|stored| document(&stored.value, stored.revision))
            }
            None => None,
        };
        let is_patch = body.is_patch();
        let body = body.whole(current, WHAT)?;
        let (parsed, mut errors) = read(|reader| Profile::read(&body, tenant, id, reader));
        let Some((mut profile, sent_resets)) = parsed else { return settle(errors).and(Err(AppError::NotFound(WHAT))) };
        check::layer(&mut profile.layer, &mut errors);

        let reference = profile.reference();
        let stored = actor.replaces(write.profile(&reference).await, is_patch, options)?;
        options.precondition.check(stored.as_ref().map(|s| s.revision))?;
        options
            .precondition
            .check_absent(stored.as_ref().map(|s| s.revision), id.is_some(), || format!("profile {reference} exists already"))?;
        let mut old = stored.map(|stored| stored.value);
        check::keep_secrets(&mut profile, old.as_mut(), |profile| &profile.layer, |profile, visit| profile.secrets(visit), &mut errors);
        let below = base_chain(&mut write, &tenants, &profile, &mut errors).await?;

        let before = match &old {
            Some(old) => {
                let below = match &old.extends {
                    Some(base) => write.profile_chain(base).await?,
                    None => Vec::new(),
                };
                layer_leaves(&tenants, &below, old)
            }
            None => BTreeMap::new(),
        };
        let after = layer_leaves(&tenants, &below, &profile);
        let stored_resets = old.as_ref().map(|old| old.layer.resets.clone()).unwrap_or_default();
        profile.layer.resets = after_write(&kept_resets(&stored_resets, sent_resets), &before, &after, None);
        let chain: Vec<Profile> = below.iter().cloned().chain([profile.clone()]).collect();
        check::timers(&shared_layers(&tenants, &chain), None, &mut errors);
        settle(errors)?;

        let revision = write.put_profile(&profile).await?;
        let mut judge = Judge::new(self, options);
        judge.look_at_all(&mut write, Reach::Profile(&reference)).await?;
        if options.dry_run {
            return Ok(Outcome::Planned(Box::new(judge.plan())));
        }
        write.commit().await?;
        let doc = Doc { body: document(&profile, revision), revision };
        Ok(Outcome::Stored { doc: Box::new(doc), created: old.is_none() })
    }

    /// Deletes a profile that nothing refers to.
    ///
    /// # Errors
    /// When it is referred to.
    pub async fn delete_profile(&self, actor: &Actor, reference: &ProfileRef, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, options.dry_run)?;
        actor.must_see(&reference.tenant, WHAT)?;
        let mut write = self.begin(actor, options).await?;
        let stored = write.profile(reference).await?.ok_or(AppError::NotFound(WHAT))?;
        options.precondition.check(Some(stored.revision))?;
        if write.profile_is_referenced(reference).await? {
            return Err(AppError::Conflict(format!("profile {reference} is still used by a tenant, another profile or a device")));
        }
        if options.dry_run {
            return Ok(Outcome::Planned(Box::default()));
        }
        write.delete_profile(reference).await?;
        write.commit().await?;
        Ok(Outcome::Deleted)
    }
}

/// The profiles that `profile` extends, farthest first; a circle or a chain that is too long is an error.
async fn base_chain(
    write: &mut Write,
    tenants: &[Tenant],
    profile: &Profile,
    errors: &mut Vec<FieldError>,
) -> Result<Vec<Profile>, AppError> {
    let Some(base) = &profile.extends else { return Ok(Vec::new()) };
    check_reference(write, &profile.tenant, &tenants[..tenants.len().saturating_sub(1)], base, "/extends", errors).await?;
    let reference = profile.reference();
    let chain = write.profile_chain(base).await?;
    if *base == reference || chain.iter().any(|below| below.reference() == reference) {
        errors.push(FieldError::new("/extends", "circle", format!("{base} is this profile or extends it")));
    } else if chain.len() + 1 + write.profile_height(&reference).await? > MAX_PROFILE_DEPTH {
        errors.push(FieldError::new("/extends", "too_deep", format!("a chain of profiles is at most {MAX_PROFILE_DEPTH} long")));
    }
    Ok(chain)
}

/// A profile that a document of tenant `home` names must be its own or one of a tenant above, and be there.
pub(super) async fn check_reference(
    write: &mut Write,
    home: &Slug,
    above: &[Tenant],
    reference: &ProfileRef,
    path: &str,
    errors: &mut Vec<FieldError>,
) -> Result<(), AppError> {
    let is_near = reference.tenant == *home || above.iter().any(|tenant| tenant.id == reference.tenant);
    if !is_near || write.profile(reference).await?.is_none() {
        errors.push(FieldError::new(path, "unknown_profile", format!("there is no profile {reference} in this tenant or above it")));
    }
    Ok(())
}

/// What the profile sets together with its tenants and the profiles it extends.
fn layer_leaves(tenants: &[Tenant], below: &[Profile], profile: &Profile) -> BTreeMap<String, Value> {
    let chain: Vec<Profile> = below.iter().cloned().chain([profile.clone()]).collect();
    chain_leaves(&shared_layers(tenants, &chain), None)
}
