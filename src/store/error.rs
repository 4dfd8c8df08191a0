//! What can go wrong in the store, sorted by what the caller can do about it.
//!
//! Imports nothing of the crate. A missing row is no error: reads answer `Ok(None)`.

use sqlx::{
    error::{DatabaseError, ErrorKind},
    postgres::PgDatabaseError,
    sqlite::SqliteError,
};

/// Why the store could not do what it was asked for.
///
/// The text tells what happened and holds no secret; the cause is the [source](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is away, locked, full or shutting down: try again later.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// A write breaks a constraint of `table`.
    #[error("{violation} (table {table})")]
    Conflict {
        /// Table that was written.
        table: &'static str,
        /// What it breaks.
        violation: Violation,
    },
    /// A row is damaged; all others are usable.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The database holds secrets under another key.
    #[error("the secret key is not the one this database was written with; nothing was changed")]
    WrongKey,
    /// The database was brought up to date by a newer program.
    #[error("the database is newer than this program: it holds migration {version}, which this program does not know")]
    NewerDatabase {
        /// The migration that is not known here.
        version: i64,
    },
    /// A database URL that cannot be used.
    #[error("{0}")]
    Url(String),
    /// A bug, or a schema that is not the one this program knows.
    #[error("the database refused a statement or a migration")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Which kind of constraint a write breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Another row holds this name.
    #[error("the name is taken")]
    Unique,
    /// The row refers to one that does not exist, or is referred to.
    #[error("a reference would lead nowhere")]
    Reference,
}

/// A damaged row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corrupt row {row:?} in table {table}, column {column}: {cause}")]
pub struct Corrupt {
    /// Table of the row.
    pub table: &'static str,
    /// Column that is damaged.
    pub column: &'static str,
    /// Key of the row.
    pub row: String,
    /// What is wrong with it, without secrets.
    pub cause: String,
}

impl Corrupt {
    /// A damaged column.
    pub(super) fn new(table: &'static str, column: &'static str, row: &str, cause: impl std::fmt::Display) -> Self {
        Self { table, column, row: row.to_owned(), cause: cause.to_string() }
    }
}

impl StoreError {
    /// Something that must not happen.
    pub(super) fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }

    /// Sorts an error of a write to `table`.
    pub(super) fn writing(table: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |error| match error.as_database_error().map(DatabaseError::kind) {
            Some(ErrorKind::UniqueViolation) => Self::Conflict { table, violation: Violation::Unique },
            Some(ErrorKind::ForeignKeyViolation) => Self::Conflict { table, violation: Violation::Reference },
            _ => error.into(),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            // The parser's own words could repeat a password.
            sqlx::Error::Configuration(_) => Self::Url("the database URL holds an address or option that cannot be used".into()),
            error if is_unavailable(&error) => Self::Unavailable(error),
            error => Self::internal(error),
        }
    }
}

/// Could the same statement succeed later, on a database in good health?
fn is_unavailable(error: &sqlx::Error) -> bool {
    use sqlx::Error::{BeginFailed, Database, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
    match error {
        Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed | BeginFailed => true,
        Database(error) => {
            let code = error.code().unwrap_or_default();
            if error.try_downcast_ref::<SqliteError>().is_some() {
                sqlite_is_unavailable(&code)
            } else {
                error.try_downcast_ref::<PgDatabaseError>().is_some() && postgres_is_unavailable(&code)
            }
        }
        _ => false,
    }
}

/// <https://www.sqlite.org/rescode.html>; the low byte of an extended code is the primary one.
fn sqlite_is_unavailable(code: &str) -> bool {
    // BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT FULL CANTOPEN PROTOCOL NOLFS NOTADB
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5..=11 | 13..=15 | 22 | 26))
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
fn postgres_is_unavailable(code: &str) -> bool {
    // Connection, authorization, no such database, serialization and deadlock, out of resources (disk full,
    // too many connections), not in the right state (lock timeout), intervention (shutdown, timeout), system.
    // 25006 is a stand-by, 25P02 and 25P03 follow an earlier failure.
    ["08", "28", "3D", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class))
        || matches!(code, "25006" | "25P02" | "25P03")
}
