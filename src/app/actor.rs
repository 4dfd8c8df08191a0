//! Who asks the admin plane, and what they may.

use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

use super::{App, AppError};
use crate::domain::Slug;

/// What a token may do within its tenant and below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also writes devices and runs plans.
    Operator,
    /// Everything.
    Admin,
}

impl Role {
    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "viewer" => Some(Self::Viewer),
            "operator" => Some(Self::Operator),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Name in the history.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Tenant it is confined to, with those below; `None` is all.
    pub scope: Option<String>,
    /// The tenants of the scope, one by one.
    pub tenants: Option<Vec<String>>,
    /// May it see clear secrets?
    pub reveal: bool,
}

impl Actor {
    /// The command line on the server itself.
    pub fn local() -> Self {
        Self { name: "command line".into(), role: Role::Admin, scope: None, tenants: None, reveal: true }
    }

    /// Does it see the tenant?
    pub fn sees(&self, tenant: &Slug) -> bool {
        self.tenants.as_ref().is_none_or(|seen| seen.iter().any(|id| id == tenant.as_str()))
    }

    /// Refuses a tenant that it does not see, as if it were not there.
    pub(super) fn must_see(&self, tenant: &Slug, what: &'static str) -> Result<(), AppError> {
        if self.sees(tenant) { Ok(()) } else { Err(AppError::NotFound(what)) }
    }

    /// Refuses a role below `least`; a plan needs no more than an operator.
    pub(super) fn must_be(&self, least: Role, dry_run: bool) -> Result<(), AppError> {
        let least = if dry_run { Role::Operator } else { least };
        if self.role >= least {
            return Ok(());
        }
        Err(AppError::Forbidden(match least {
            Role::Admin => "this token's role may not do this: it takes an admin",
            _ => "this token's role may not do this: it takes an operator",
        }))
    }
}

/// Hash under which a token is stored.
pub(super) fn token_hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

impl App {
    /// The actor behind a bearer token; `None` where there is none.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn authenticate(&self, token: &str) -> Result<Option<Actor>, AppError> {
        if let Some(admin) = self.admin_token() {
            // Digests are compared, so that neither length nor content shows in the time it takes.
            let (given, known) = (token_hash(token), token_hash(admin.expose_secret()));
            if bool::from(given.as_bytes().ct_eq(known.as_bytes())) {
                return Ok(Some(Actor { name: "admin token".into(), role: Role::Admin, scope: None, tenants: None, reveal: true }));
            }
        }
        let Some(token) = self.store().token_by_hash(&token_hash(token)).await? else { return Ok(None) };
        let Some(role) = Role::named(&token.role) else { return Ok(None) };
        let tenants = match &token.tenant {
            Some(tenant) => Some(self.store().tenant_tree(tenant).await?),
            None => None,
        };
        Ok(Some(Actor { name: token.name, role, scope: token.tenant, tenants, reveal: token.reveal }))
    }
}
