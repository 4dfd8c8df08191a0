//! Tokens of the admin plane. The clear token is shown once and stored as its hash.

use std::{collections::BTreeMap, sync::Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    Actor, App, AppError, Doc, Listed, Outcome, Role, WriteOptions,
    actor::token_hash,
    common::{read, settle},
};
use crate::{
    domain::{
        FieldError, Slug,
        fields::{Reader, Setting},
    },
    store::{self, Record, StoreError, TOKEN_USE_S, random},
};

const WHAT: &str = "this token";

/// Longest name.
const MAX_NAME: usize = 100;

/// Names of actors that are no tokens.
const RESERVED: [&str; 2] = [super::actor::ADMIN, super::actor::COMMAND_LINE];

/// Tokens whose last use is remembered before those of more than a minute ago are dropped.
const USES: usize = 1_024;

/// What a new token is to be.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// For people, unique in its tenant.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Tenant it is confined to, with those below; `None` is as far as its maker sees.
    pub tenant: Option<Slug>,
    /// May it see clear secrets?
    pub reveal: bool,
    /// How long it is good for; `None` is as long as its maker.
    pub expires: Option<Expiry>,
}

/// When a token ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// So many days from now.
    Days(u32),
    /// Then.
    At(DateTime<Utc>),
}

/// A token to be made.
#[derive(Debug, ToSchema)]
pub struct TokenBody {
    /// For people, unique in its tenant: at most 100 bytes, not digits alone, no `/`.
    #[schema(example = "crm")]
    pub name: String,
    /// What it may do; a viewer where absent.
    pub role: Option<Role>,
    /// Tenant it is confined to, with those below; absent, as far as the token that makes it.
    pub tenant: Option<String>,
    /// May it see clear secrets?
    pub reveal: Option<bool>,
    /// From when on it is good for nothing; absent, as long as the token that makes it.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TokenView {
    /// Its number, never given twice.
    pub id: i64,
    /// For people, unique in its tenant.
    pub name: String,
    /// What it may do.
    pub role: String,
    /// Tenant it is confined to, with those below; null is all.
    pub tenant: Option<String>,
    /// May it see clear secrets?
    pub reveal: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// From when on it is good for nothing; null is never.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was used last, to a minute; null is never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The token itself, in the answer that made it and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl From<store::Token> for TokenView {
    fn from(token: store::Token) -> Self {
        let store::NewToken { name, role, tenant, reveal, expires_at, family: _ } = token.made;
        Self {
            id: token.id,
            name,
            role,
            tenant,
            reveal,
            created_at: token.created_at,
            expires_at,
            last_used_at: token.used_at,
            token: None,
        }
    }
}

impl TokenView {
    fn doc(&self) -> Doc {
        // A struct of plain fields serialises.
        Doc { body: serde_json::to_value(self).unwrap_or_default(), revision: self.id }
    }
}

impl NewToken {
    fn read(value: &Value, reader: &mut Reader) -> Option<Self> {
        let mut object = reader.object(value)?;
        let name = object.require(reader, "name", |v, r| r.text(v, MAX_NAME));
        let role = object.take(reader, "role", |v, r| r.choice(v)).unwrap_or(Role::Viewer);
        let tenant = object.take(reader, "tenant", Slug::read);
        let reveal = object.take(reader, "reveal", <bool as Setting>::read).unwrap_or_default();
        let expires = object.take(reader, "expires_at", |v, r| {
            let at = DateTime::parse_from_rfc3339(&r.text(v, 64)?).map(|at| Expiry::At(at.to_utc()));
            at.map_err(|_| r.fail("not_a_time", "expected a time (RFC 3339) such as 2030-01-31T00:00:00Z")).ok()
        });
        object.finish(reader);
        Some(Self { name: name.unwrap_or_default(), role, tenant, reveal, expires })
    }
}

impl App {
    /// Makes a token of 256 random bits and returns it: the only time it is seen.
    ///
    /// # Errors
    /// When the name is taken, the tenant does not exist, or it would be more than the actor is.
    pub async fn create_token(&self, actor: &Actor, new: &NewToken) -> Result<String, AppError> {
        let made = self.make_token(actor, new, Vec::new(), &WriteOptions::default()).await?;
        made.and_then(|view| view.token).ok_or(AppError::NotFound(WHAT))
    }

    /// Makes a token from a document; the answer holds the token itself.
    ///
    /// # Errors
    /// What is wrong with the document, or as with [`App::create_token`].
    pub async fn post_token(&self, actor: &Actor, body: &Value, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, false)?;
        let (new, errors) = read(|reader| NewToken::read(body, reader));
        let Some(new) = new else { return settle(errors).and(Err(AppError::NotFound(WHAT))) };
        Ok(match self.make_token(actor, &new, errors, options).await? {
            Some(view) => Outcome::Stored { doc: Box::new(view.doc()), created: true },
            None => Outcome::Planned(Box::default()),
        })
    }

    async fn make_token(
        &self,
        actor: &Actor,
        new: &NewToken,
        mut errors: Vec<FieldError>,
        options: &WriteOptions,
    ) -> Result<Option<TokenView>, AppError> {
        actor.must_be(Role::Admin, false)?;
        check_name(new, &mut errors);
        let now = self.now();
        let expires_at = expiry(actor, new.expires, now, &mut errors);
        let mut write = self.begin(actor, options).await?;
        let tenant = new.tenant.as_ref().map(ToString::to_string).or_else(|| actor.scope.clone());
        if let Some(tenant) = &new.tenant
            && (!actor.sees(tenant) || write.tenant_tree(tenant.as_str()).await?.is_empty())
        {
            errors.push(FieldError::new("/tenant", "unknown_tenant", format!("there is no tenant {tenant}")));
        }
        settle(errors)?;
        actor.must_have(new, expires_at)?;

        let token = store::NewToken {
            name: new.name.clone(),
            role: new.role.as_str().to_owned(),
            tenant,
            reveal: new.reveal,
            expires_at,
            family: actor.token.as_ref().map(|token| token.family),
        };
        let clear = format!("offbeat_{}", random::hex::<32>());
        let id = match write.create_token(&token, &token_hash(&clear)).await {
            Err(StoreError::Conflict { .. }) => return Err(AppError::Conflict(format!("a token named {:?} exists already", new.name))),
            stored => stored?,
        };
        if options.dry_run {
            return Ok(None);
        }
        let made = write.token(id).await?.ok_or(AppError::NotFound(WHAT))?;
        write.commit().await?;
        Ok(Some(TokenView { token: Some(clear), ..made.into() }))
    }

    /// Tokens of the actor's tenants, in order of their id. What is buffered of their use is written first.
    ///
    /// # Errors
    /// When the actor is no admin, or the store fails.
    pub async fn list_tokens(&self, actor: &Actor, after: Option<&str>, limit: u32) -> Result<Listed, AppError> {
        actor.must_be(Role::Admin, false)?;
        self.recorder().drain().await;
        let after = after.map_or(Ok(0), str::parse).map_err(|_| AppError::BadQuery("cursor: expected `next` of the page before".into()))?;
        let page = self.store().tokens(actor.within(), after, limit).await?;
        let items = page.items.into_iter().map(|token| TokenView::from(token).doc().body).collect();
        Ok(Listed { items, next: page.next })
    }

    /// One token by name or id.
    ///
    /// # Errors
    /// When there is none, or none the actor sees; when several of its tenants' have this name.
    pub async fn get_token(&self, actor: &Actor, named: &str) -> Result<Doc, AppError> {
        actor.must_be(Role::Admin, false)?;
        self.recorder().drain().await;
        Ok(TokenView::from(self.find_token(actor, named).await?).doc())
    }

    /// Revokes a token: it is good for nothing from the answer on, on every server.
    ///
    /// # Errors
    /// As with [`App::get_token`].
    pub async fn revoke_token(&self, actor: &Actor, named: &str, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Admin, false)?;
        let token = self.find_token(actor, named).await?;
        options.precondition.check(Some(token.id))?;
        let mut write = self.begin(actor, options).await?;
        if !write.delete_token(&token).await? {
            return Err(AppError::NotFound(WHAT));
        }
        if options.dry_run {
            return Ok(Outcome::Planned(Box::default()));
        }
        write.commit().await?;
        Ok(Outcome::Deleted)
    }

    async fn find_token(&self, actor: &Actor, named: &str) -> Result<store::Token, AppError> {
        // No name is digits alone.
        let found = match named.parse() {
            Ok(id) if named.bytes().all(|b| b.is_ascii_digit()) => self.store().token(id).await?.into_iter().collect(),
            _ => self.store().tokens_named(named).await?,
        };
        let mut seen = found.into_iter().filter(|token| actor.sees_all() || actor.owns(token.made.tenant.as_deref()));
        let token = seen.next().ok_or(AppError::NotFound(WHAT))?;
        if seen.next().is_some() {
            return Err(AppError::Conflict(format!("several tokens are named {named:?}: give the id, or <tenant>/<name>")));
        }
        Ok(token)
    }
}

impl Actor {
    /// Refuses to hand out more than the actor has itself.
    fn must_have(&self, new: &NewToken, expires_at: Option<DateTime<Utc>>) -> Result<(), AppError> {
        let own_end = self.token.as_ref().and_then(|token| token.expires_at);
        if new.role > self.role {
            return Err(AppError::Forbidden("this token cannot hand out a role above its own"));
        }
        if new.reveal && !self.reveal {
            return Err(AppError::Forbidden("this token cannot hand out the right `reveal`: it lacks it"));
        }
        if own_end.is_some_and(|own| expires_at.is_none_or(|end| end > own)) {
            return Err(AppError::Forbidden("this token cannot make one that outlives it"));
        }
        Ok(())
    }
}

fn check_name(new: &NewToken, errors: &mut Vec<FieldError>) {
    let name = new.name.as_str();
    let mut fail = |code, detail: &str| errors.push(FieldError::new("/name", code, detail));
    if name.trim().is_empty() {
        fail("required", "this field is required");
    } else if name.len() > MAX_NAME || name.chars().any(|c| c.is_control() || c == '/') || name.bytes().all(|b| b.is_ascii_digit()) {
        fail("not_a_name", "expected at most 100 bytes, not digits alone, without / and control characters");
    } else if RESERVED.contains(&name) {
        fail("reserved", "the history calls another by this name");
    }
}

/// The end of a new token: what was asked for, else that of its maker.
fn expiry(actor: &Actor, asked: Option<Expiry>, now: DateTime<Utc>, errors: &mut Vec<FieldError>) -> Option<DateTime<Utc>> {
    let at = match asked {
        None => return actor.token.as_ref().and_then(|token| token.expires_at),
        Some(Expiry::Days(days)) => now.checked_add_signed(TimeDelta::days(days.into())),
        Some(Expiry::At(at)) => Some(at),
    };
    // Four digits of a year: texts of times sort as times do.
    let latest = DateTime::parse_from_rfc3339("9999-12-31T23:59:59Z").ok().map(|at| at.to_utc());
    match at.filter(|at| *at > now && Some(*at) <= latest) {
        None => {
            errors.push(FieldError::new("/expires_at", "out_of_range", "expected a time to come, before the year 10000"));
            None
        }
        at => at,
    }
}

/// When each token was used last, so that it is written once a minute and not at each request.
#[derive(Debug, Default)]
pub(super) struct Uses(Mutex<BTreeMap<i64, DateTime<Utc>>>);

impl Uses {
    /// Notes a use; the record of it where one is due.
    pub(super) fn note(&self, token: &store::Token, now: DateTime<Utc>) -> Option<Record> {
        let minute = TimeDelta::seconds(TOKEN_USE_S);
        let is_recent = |used: DateTime<Utc>| used <= now && now - used < minute;
        // Nothing panics while the lock is held.
        let mut uses = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if token.used_at.into_iter().chain(uses.get(&token.id).copied()).any(is_recent) {
            return None;
        }
        if uses.len() >= USES {
            uses.retain(|_, used| is_recent(*used));
        }
        uses.insert(token.id, now);
        Some(Record::TokenUse(token.id, now))
    }
}
