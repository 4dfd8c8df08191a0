//! Tokens of the admin plane. The clear token is shown once and stored as its hash.

use super::{Actor, App, AppError, Role, actor::token_hash};
use crate::{
    domain::Slug,
    store::{StoreError, Token, random},
};

/// What a new token is to be.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// For people, unique.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Tenant it is confined to, with those below.
    pub tenant: Option<Slug>,
    /// May it see clear secrets?
    pub reveal: bool,
}

impl App {
    /// Makes a token of 256 random bits and returns it: the only time it is seen.
    ///
    /// # Errors
    /// When the name is taken or the tenant does not exist.
    pub async fn create_token(&self, actor: &Actor, new: &NewToken) -> Result<String, AppError> {
        actor.must_be(Role::Admin, false)?;
        if new.name.is_empty() || new.name.chars().any(char::is_control) {
            return Err(AppError::field("/name", "required", "a token needs a name without control characters"));
        }
        if let Some(tenant) = &new.tenant {
            self.get_tenant(actor, tenant).await?;
        }
        let clear = format!("offbeat_{}", random::hex::<32>());
        let token = Token {
            name: new.name.clone(),
            role: new.role.as_str().to_owned(),
            tenant: new.tenant.as_ref().map(ToString::to_string),
            reveal: new.reveal,
            created_at: self.now(),
        };
        match self.store().create_token(&token, &token_hash(&clear)).await {
            Err(StoreError::Conflict { .. }) => Err(AppError::Conflict(format!("a token named {:?} exists already", new.name))),
            stored => Ok(stored.map(|()| clear)?),
        }
    }
}
