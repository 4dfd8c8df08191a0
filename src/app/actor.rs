//! Who asks the admin plane, and what they may.

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

use super::{App, AppError};
use crate::domain::Slug;

/// The command line in the history.
pub(super) const COMMAND_LINE: &str = "command line";
/// The administrator of the settings in the history.
pub(super) const ADMIN: &str = "admin token";

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
    /// The token by which it asks; `None` for the command line and the administrator of the settings.
    pub token: Option<Held>,
}

/// The token of an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The token that was handed out first of those that made one another.
    pub family: i64,
    /// From when on it is good for nothing.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Actor {
    /// The command line on the server itself.
    pub fn local() -> Self {
        Self::of_all(COMMAND_LINE)
    }

    /// One who may do all.
    fn of_all(name: &str) -> Self {
        Self { name: name.into(), role: Role::Admin, scope: None, tenants: None, reveal: true, token: None }
    }

    /// Does it see the tenant?
    pub fn sees(&self, tenant: &Slug) -> bool {
        self.sees_all() || self.owns(Some(tenant.as_str()))
    }

    /// Does it see every tenant?
    pub(super) fn sees_all(&self) -> bool {
        self.tenants.is_none()
    }

    /// Is this one of its tenants? All are of one that sees all.
    pub(super) fn owns(&self, tenant: Option<&str>) -> bool {
        tenant.is_some_and(|tenant| self.tenants.as_ref().is_none_or(|seen| seen.iter().any(|id| id == tenant)))
    }

    /// The topmost of its tenants, for lists.
    pub(super) fn within(&self) -> Option<&[String]> {
        self.scope.as_ref().map(std::slice::from_ref)
    }

    /// Refuses what is of a tenant that it does not see, as if it were not there, before more is read of it: a row of
    /// another tenant must not show by being damaged either.
    pub(super) fn must_own(&self, tenant: Option<&str>, what: &'static str) -> Result<(), AppError> {
        if self.sees_all() || self.owns(tenant) { Ok(()) } else { Err(AppError::NotFound(what)) }
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
    /// The actor behind a bearer token; `None` where there is none, or it has expired. Asks the store each time: a
    /// token that is revoked on one server is so on all.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn authenticate(&self, token: &str) -> Result<Option<Actor>, AppError> {
        if let Some(admin) = self.admin_token() {
            // Digests are compared, so that neither length nor content shows in the time it takes.
            let (given, known) = (token_hash(token), token_hash(admin.expose_secret()));
            if bool::from(given.as_bytes().ct_eq(known.as_bytes())) {
                return Ok(Some(Actor::of_all(ADMIN)));
            }
        }
        let Some(token) = self.store().token_by_hash(&token_hash(token)).await? else { return Ok(None) };
        let now = self.now();
        let Some(role) = Role::named(&token.made.role) else { return Ok(None) };
        if token.made.expires_at.is_some_and(|end| end <= now) {
            return Ok(None);
        }
        let tenants = match &token.made.tenant {
            Some(tenant) => Some(self.store().tenant_tree(tenant).await?),
            None => None,
        };
        if let Some(used) = self.uses().note(&token, now) {
            self.recorder().put(used);
        }
        let held = Held { family: token.family(), expires_at: token.made.expires_at };
        let name = token.made.full_name();
        Ok(Some(Actor { name, role, scope: token.made.tenant, tenants, reveal: token.made.reveal, token: Some(held) }))
    }
}
