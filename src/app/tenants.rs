//! Tenants: provider, reseller, customer, site.

use serde_json::Value;

use super::{
    Actor, App, AppError, Body, Doc, Listed, Outcome, Role, WriteOptions, check,
    common::{document, kept_resets, read, settle},
    plan::{Judge, Reach},
    profiles::check_reference,
};
use crate::{
    domain::{
        FieldError, Profile, Slug, Tenant,
        merge::shared_layers,
        resets::{after_write, chain_leaves},
        tenant::{DEFAULT_TENANT, MAX_TENANT_DEPTH},
    },
    store::Write,
};

const WHAT: &str = "this tenant";

impl App {
    /// Tenants the actor sees, in order of their id.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list_tenants(&self, actor: &Actor, after: Option<&str>, limit: u32) -> Result<Listed, AppError> {
        let page = self.store().tenants(actor.within(), after, limit).await?;
        let items = page.items.iter().map(|tenant| document(&tenant.value, tenant.revision)).collect();
        Ok(Listed { items, next: page.next })
    }

    /// One tenant.
    ///
    /// # Errors
    /// When there is none, or none the actor sees.
    pub async fn get_tenant(&self, actor: &Actor, id: &Slug) -> Result<Doc, AppError> {
        actor.must_see(id, WHAT)?;
        let stored = self.store().tenant(id.as_str()).await?.ok_or(AppError::NotFound(WHAT))?;
        Ok(Doc { body: document(&stored.value, stored.revision), revision: stored.revision })
    }

    /// Creates, replaces or patches a tenant; `id` is absent for a POST.
    ///
    /// # Errors
    /// What is wrong with the document or stands against the write.
    pub async fn write_tenant(
        &self,
        actor: &Actor,
        id: Option<&Slug>,
        body: Body<'_>,
        options: &WriteOptions,
    ) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, options.dry_run)?;
        let mut write = self.begin(actor, options).await?;
        let current = match id.filter(|id| body.is_patch() && actor.sees(id)) {
            Some(id) => write.tenant(id.as_str()).await?.map(|stored| document(&stored.value, stored.revision)),
            None => None,
        };
        let is_patch = body.is_patch();
        let body = body.whole(current, WHAT)?;
        let (parsed, mut errors) = read(|reader| Tenant::read(&body, id, reader));
        let Some((mut tenant, sent_resets)) = parsed else { return settle(errors).and(Err(AppError::NotFound(WHAT))) };
        check::layer(&mut tenant.layer, &mut errors);

        let stored = write.tenant(tenant.id.as_str()).await;
        self.check_taken(actor, actor.sees(&tenant.id), !matches!(stored, Ok(None)), "this id")?;
        let stored = actor.replaces(stored, is_patch, options)?;
        options.precondition.check(stored.as_ref().map(|s| s.revision))?;
        options
            .precondition
            .check_absent(stored.as_ref().map(|s| s.revision), id.is_some(), || format!("tenant {} exists already", tenant.id))?;
        let mut old = stored.map(|stored| stored.value);
        check::keep_secrets(&mut tenant, old.as_mut(), |tenant| &tenant.layer, |tenant, visit| tenant.secrets(visit), &mut errors);
        self.check_parent(actor, &mut write, &tenant, old.as_ref(), &mut errors).await?;
        let (above, above_before) = (
            parents(&mut write, tenant.parent.as_ref()).await?,
            parents(&mut write, old.as_ref().and_then(|old| old.parent.as_ref())).await?,
        );
        if let Some(reference) = &tenant.profile {
            check_reference(&mut write, &tenant.id, &above, reference, "/profile", &mut errors).await?;
        }

        let before = match &old {
            Some(old) => layer_leaves(&mut write, &above_before, old).await?,
            None => std::collections::BTreeMap::new(),
        };
        let after = layer_leaves(&mut write, &above, &tenant).await?;
        let stored_resets = old.as_ref().map(|old| old.layer.resets.clone()).unwrap_or_default();
        tenant.layer.resets = after_write(&kept_resets(&stored_resets, sent_resets), &before, &after, None);
        let chain: Vec<Tenant> = above.iter().cloned().chain([tenant.clone()]).collect();
        check::timers(&shared_layers(&chain, &[]), None, &mut errors);
        settle(errors)?;

        let revision = write.put_tenant(&tenant).await?;
        self.check_depth(&mut write, &tenant.id).await?;
        let mut judge = Judge::new(self, options);
        judge.look_at_all(&mut write, Reach::Tenant(&tenant.id)).await?;
        if options.dry_run {
            return Ok(Outcome::Planned(Box::new(judge.plan())));
        }
        write.commit().await?;
        let doc = Doc { body: document(&tenant, revision), revision };
        Ok(Outcome::Stored { doc: Box::new(doc), created: old.is_none() })
    }

    /// Deletes a tenant that nothing refers to.
    ///
    /// # Errors
    /// When it is referred to, or is the default tenant.
    pub async fn delete_tenant(&self, actor: &Actor, id: &Slug, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, options.dry_run)?;
        actor.must_see(id, WHAT)?;
        let mut write = self.begin(actor, options).await?;
        let stored = write.tenant(id.as_str()).await?.ok_or(AppError::NotFound(WHAT))?;
        options.precondition.check(Some(stored.revision))?;
        if id.as_str() == DEFAULT_TENANT {
            return Err(AppError::Conflict("the default tenant stays".into()));
        }
        if write.tenant_is_referenced(id.as_str()).await? {
            return Err(AppError::Conflict(format!("tenant {id} still has tenants, profiles, devices or tokens")));
        }
        if options.dry_run {
            return Ok(Outcome::Planned(Box::default()));
        }
        write.delete_tenant(id.as_str()).await?;
        write.commit().await?;
        Ok(Outcome::Deleted)
    }

    /// The parent is there, the actor sees it, and it is not below the tenant itself.
    async fn check_parent(
        &self,
        actor: &Actor,
        write: &mut Write,
        tenant: &Tenant,
        old: Option<&Tenant>,
        errors: &mut Vec<FieldError>,
    ) -> Result<(), AppError> {
        let unchanged = old.is_some_and(|old| old.parent == tenant.parent);
        let Some(parent) = &tenant.parent else {
            if actor.tenants.is_some() && !unchanged {
                errors.push(FieldError::new("/parent", "required", "this token may only create tenants below its own: name a parent"));
            }
            return Ok(());
        };
        if !unchanged && (!actor.sees(parent) || write.tenant(parent.as_str()).await?.is_none()) {
            errors.push(FieldError::new("/parent", "unknown_tenant", format!("there is no tenant {parent}")));
        } else if write.tenant_tree(tenant.id.as_str()).await?.contains(&parent.to_string()) || *parent == tenant.id {
            errors.push(FieldError::new("/parent", "circle", format!("{parent} is this tenant or below it")));
        }
        Ok(())
    }

    /// The tenant and those below it stay within the depth.
    async fn check_depth(&self, write: &mut Write, id: &Slug) -> Result<(), AppError> {
        for below in write.tenant_tree(id.as_str()).await? {
            if write.tenant_chain(&below).await?.len() > MAX_TENANT_DEPTH {
                return Err(AppError::field(
                    "/parent",
                    "too_deep",
                    format!("tenants are at most {MAX_TENANT_DEPTH} deep, and {below} would be deeper"),
                ));
            }
        }
        Ok(())
    }
}

/// The tenants above, root first.
async fn parents(write: &mut Write, parent: Option<&Slug>) -> Result<Vec<Tenant>, AppError> {
    match parent {
        Some(parent) => Ok(write.tenant_chain(parent.as_str()).await?),
        None => Ok(Vec::new()),
    }
}

/// What the tenant sets together with those above it and its default profile.
async fn layer_leaves(write: &mut Write, above: &[Tenant], tenant: &Tenant) -> Result<std::collections::BTreeMap<String, Value>, AppError> {
    let chain: Vec<Tenant> = above.iter().cloned().chain([tenant.clone()]).collect();
    let reference = chain.iter().rev().find_map(|tenant| tenant.profile.clone());
    let profiles: Vec<Profile> = match reference {
        Some(reference) => write.profile_chain(&reference).await?,
        None => Vec::new(),
    };
    Ok(chain_leaves(&shared_layers(&chain, &profiles), None))
}
