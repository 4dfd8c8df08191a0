//! Bringing a database up to date, under a lock.
//!
//! Imports nothing of the crate but this module. A new migration is a file of the same number and name in
//! `migrations/sqlite` and `migrations/postgres`; one that has landed is never edited.

use sqlx::{
    AnyConnection, ConnectOptions, Connection, Executor, Row,
    migrate::{MigrateError, Migration, Migrator},
};

use super::{Kind, Store, error::StoreError, key_check::table_exists, postgres, sql, sqlite};

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

impl Store {
    /// Applies what is pending. Several programs may try at once: one does it, the others wait and find it done.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match self.kind {
            Kind::Sqlite => {
                // The driver has no lock of its own here, so all of it happens in one transaction of ours.
                let mut connection = sqlite::options(&self.url, "rwc")?.connect().await?;
                connection.execute("PRAGMA busy_timeout = 60000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;").await?;
                let mut transaction = connection.begin_with(sqlite::BEGIN_MIGRATION).await?;
                SQLITE.run_direct(None, &mut *transaction, false).await.map_err(sort)?;
                transaction.commit().await?;
                connection.close().await?;
            }
            Kind::Postgres => {
                // A connection of its own, without the time limits of the pools; it takes an advisory lock.
                let mut connection = postgres::options(&self.url)?.connect().await?;
                POSTGRES.run_direct(None, &mut connection, false).await.map_err(sort)?;
                connection.close().await?;
            }
        }
        Ok(())
    }

    /// The migrations that [`Store::migrate`] would apply, oldest first. Changes nothing.
    /// [`StoreError::NewerDatabase`] when the database holds one that this program does not know.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        let (migrator, exists) = match self.kind {
            Kind::Sqlite => (&SQLITE, sqlite::TABLE_EXISTS),
            Kind::Postgres => (&POSTGRES, postgres::TABLE_EXISTS),
        };
        let mut connection = self.reader().await?;
        let applied = applied(&mut connection, exists).await?;
        if let Some(version) = applied.iter().find(|version| !migrator.version_exists(**version)) {
            return Err(StoreError::NewerDatabase { version: *version });
        }
        let pending = migrator.iter().filter(|migration| !applied.contains(&migration.version));
        Ok(pending.map(name).collect())
    }
}

/// All that a database which is not there yet lacks.
pub fn all_migrations() -> Vec<String> {
    SQLITE.iter().map(name).collect()
}

fn name(migration: &Migration) -> String {
    format!("{:04} {}", migration.version, migration.description)
}

async fn applied(connection: &mut AnyConnection, exists: &'static str) -> Result<Vec<i64>, StoreError> {
    if !table_exists(connection, exists, "_sqlx_migrations").await? {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(sql::APPLIED_MIGRATIONS).fetch_all(connection).await?;
    rows.iter().map(|row| Ok(row.try_get("version")?)).collect()
}

fn sort(error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(version) => StoreError::NewerDatabase { version },
        MigrateError::Execute(error) => error.into(),
        other => StoreError::internal(other),
    }
}
