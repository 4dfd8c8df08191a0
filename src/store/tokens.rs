//! Tokens of the admin plane: their hashes, never the tokens.
//!
//! Imports `rows.rs`, `write.rs` and `sql.rs`; their reads stand in `read.rs`. The caller makes and hashes the clear
//! token.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::any::AnyRow;

use super::{
    Store, Write,
    error::{Corrupt, StoreError},
    rows::{clean, column, optional_time, time},
    sql, time_text,
};

pub(super) const TABLE: &str = "tokens";

/// Its name in the history.
const KIND: &str = "token";

/// What a token may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The number of the history entry that made it: never given twice.
    pub id: i64,
    /// What it was made as.
    pub made: NewToken,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was used last, to a minute.
    pub used_at: Option<DateTime<Utc>>,
}

/// What a token is made as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// For people; unique among those of its tenant, or among those of none. Holds no `/`.
    pub name: String,
    /// Its role, by name.
    pub role: String,
    /// The tenant it is confined to, with those below; `None` means all.
    pub tenant: Option<String>,
    /// May it see clear secrets?
    pub reveal: bool,
    /// From when on it is good for nothing.
    pub expires_at: Option<DateTime<Utc>>,
    /// The family of the token that makes it; `None` starts one.
    pub family: Option<i64>,
}

impl Token {
    /// The token that was handed out first of those that made one another: its own id, or that one's.
    pub fn family(&self) -> i64 {
        self.made.family.unwrap_or(self.id)
    }
}

impl NewToken {
    /// The actor in the history, unique: `<tenant>/<name>`, or the name alone.
    pub fn full_name(&self) -> String {
        match &self.tenant {
            Some(tenant) => format!("{tenant}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The token for the history.
    fn body(&self) -> String {
        let Self { name, role, tenant, reveal, expires_at, family: _ } = self;
        json!({"name": name, "role": role, "tenant": tenant, "reveal": reveal, "expires_at": expires_at.map(time_text)}).to_string()
    }
}

impl Write {
    /// Stores a token by its hash; answers with its id. A conflict when the name is taken or the tenant does not exist.
    pub async fn create_token(&mut self, new: &NewToken, hash: &str) -> Result<i64, StoreError> {
        let id = self.note_event("create", KIND, &new.full_name(), None, Some(new.body())).await?;
        let created_at = time_text(self.at());
        let row = sqlx::query(sql::ADD_TOKEN)
            .bind(id)
            .bind(clean(&new.full_name()))
            .bind(clean(hash))
            .bind(clean(&new.role))
            .bind(new.tenant.as_deref().map(clean))
            .bind(i64::from(new.reveal))
            .bind(created_at)
            .bind(new.expires_at.map(time_text))
            .bind(new.family)
            .fetch_one(self.parts().0)
            .await
            .map_err(StoreError::writing(TABLE))?;
        Ok(sqlx::Row::try_get(&row, "id")?)
    }

    /// Deletes a token; `false` when there is none.
    pub async fn delete_token(&mut self, token: &Token) -> Result<bool, StoreError> {
        let deleted = sqlx::query(sql::DELETE_TOKEN).bind(token.id).execute(self.parts().0).await?;
        if deleted.rows_affected() == 0 {
            return Ok(false);
        }
        self.note_event("delete", KIND, &token.made.full_name(), Some(token.made.body()), None).await?;
        Ok(true)
    }
}

impl Store {
    /// The token with this hash.
    pub async fn token_by_hash(&self, hash: &str) -> Result<Option<Token>, StoreError> {
        let row = sqlx::query(sql::TOKEN_BY_HASH).bind(clean(hash)).fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.map(|row| token(&row)).transpose()?)
    }
}

pub(super) fn token(row: &AnyRow) -> Result<Token, Corrupt> {
    let key: String = column(row, TABLE, "id", "?")?;
    let id = key.parse().map_err(|error| Corrupt::new(TABLE, "id", &key, error))?;
    let tenant: Option<String> = column(row, TABLE, "tenant", &key)?;
    let full: String = column(row, TABLE, "name", &key)?;
    let own = tenant.as_deref().and_then(|tenant| full.strip_prefix(tenant)?.strip_prefix('/'));
    let made = NewToken {
        name: own.unwrap_or(&full).to_owned(),
        role: column(row, TABLE, "role", &key)?,
        reveal: column::<i64>(row, TABLE, "reveal", &key)? != 0,
        expires_at: optional_time(row, TABLE, "expires_at", &key)?,
        family: column(row, TABLE, "family", &key)?,
        tenant,
    };
    Ok(Token { id, made, created_at: time(row, TABLE, "created_at", &key)?, used_at: optional_time(row, TABLE, "used_at", &key)? })
}
