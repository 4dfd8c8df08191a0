//! Tokens of the admin plane: their hashes, never the tokens.
//!
//! Imports nothing of the crate but this module. The caller makes and hashes the clear token.

use chrono::{DateTime, Utc};

use super::{
    Author, Store,
    error::StoreError,
    rows::{clean, column, time},
    sql, time_text,
};

const TABLE: &str = "tokens";

/// What a token may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// For people, unique; the actor in the history.
    pub name: String,
    /// Its role, by name.
    pub role: String,
    /// The tenant it is confined to, with those below; `None` means all.
    pub tenant: Option<String>,
    /// May it see clear secrets?
    pub reveal: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

impl Store {
    /// Stores a token by its hash. A conflict when the name is taken or the tenant does not exist.
    pub async fn create_token(&self, token: &Token, hash: &str) -> Result<(), StoreError> {
        let author = Author { at: token.created_at, actor: token.name.clone(), message: None };
        let mut write = self.write(author).await?;
        sqlx::query(sql::ADD_TOKEN)
            .bind(clean(&token.name))
            .bind(hash.to_owned())
            .bind(token.role.clone())
            .bind(token.tenant.as_deref().map(clean))
            .bind(i64::from(token.reveal))
            .bind(time_text(token.created_at))
            .execute(write.parts().0)
            .await
            .map_err(StoreError::writing(TABLE))?;
        write.commit().await
    }

    /// The token with this hash.
    pub async fn token_by_hash(&self, hash: &str) -> Result<Option<Token>, StoreError> {
        let row = sqlx::query(sql::TOKEN_BY_HASH).bind(clean(hash)).fetch_optional(&mut *self.reader().await?).await?;
        let Some(row) = row else { return Ok(None) };
        let name: String = column(&row, TABLE, "name", "?")?;
        Ok(Some(Token {
            role: column(&row, TABLE, "role", &name)?,
            tenant: column(&row, TABLE, "tenant", &name)?,
            reveal: column::<i64>(&row, TABLE, "reveal", &name)? != 0,
            created_at: time(&row, TABLE, "created_at", &name)?,
            name,
        }))
    }
}
