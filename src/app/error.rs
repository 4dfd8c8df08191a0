//! Why something an administrator asked for was not done. The text is for outsiders; the cause is for the log.

use crate::{domain::FieldError, store::StoreError};

/// Why a request was not done.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// There is no such thing, or none that this token may see.
    #[error("{0} does not exist")]
    NotFound(&'static str),
    /// It exists already, or is still referred to.
    #[error("{0}")]
    Conflict(String),
    /// The document is wrong: everything that is.
    #[error("the document has errors")]
    Invalid(Vec<FieldError>),
    /// `If-Match` or `If-None-Match` does not hold.
    #[error("the resource has changed: its revision is {0}")]
    Stale(i64),
    /// The token's role does not allow it.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The token did something too often.
    #[error("{detail}")]
    TooMany {
        /// What, for outsiders.
        detail: String,
        /// When to try again.
        seconds: u64,
    },
    /// A query parameter makes no sense.
    #[error("{0}")]
    BadQuery(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppError {
    /// One field error.
    pub fn field(path: &str, code: &str, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(path, code, detail)])
    }
}

/// What kind of failure of the store an outsider is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFailure {
    /// Away, locked or full: try again.
    Unavailable,
    /// Another write came first.
    Conflict,
    /// A damaged row.
    Corrupt,
    /// Anything else.
    Internal,
}

impl StoreFailure {
    /// The kind of this error.
    pub fn of(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::Unavailable,
            StoreError::Conflict { .. } => Self::Conflict,
            StoreError::Corrupt(_) => Self::Corrupt,
            _ => Self::Internal,
        }
    }
}
