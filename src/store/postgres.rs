//! What is particular to PostgreSQL: the settings of a session, the lock of the writers.
//!
//! Imports nothing of the crate but the errors. Statements that both databases share belong in `sql.rs`.

use sqlx::{AnyPool, Executor, any::AnyConnectOptions, any::AnyPoolOptions};

use super::{ACQUIRE_TIMEOUT, error::StoreError};

/// Begins a write: each statement sees what was committed before it, which holds once [`LOCK`] is taken.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// One writer at a time over all servers, until commit: revisions come in the order of commits. The number is
/// "offbeat" in ASCII.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(31356312338391412)";

/// Is a table there?
pub(super) const TABLE_EXISTS: &str =
    "SELECT CAST(COUNT(*) AS BIGINT) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1";

/// Nobody waits for ever, and a server that hangs in the middle of a write does not hold up the others.
const SESSION: &str = "SET lock_timeout = '5s'; SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'";

const READERS: u32 = 16;

/// Connection options of a URL `postgres://…`.
pub(super) fn options(url: &str) -> Result<AnyConnectOptions, StoreError> {
    // The parser's own words could repeat the password.
    url.parse().map_err(|_| StoreError::Url("a PostgreSQL URL is postgres://user:password@host/database".into()))
}

/// The pool of one connection that all writes of this server go through, in turn: writers that wait for the lock
/// must not take the connections of the phones.
pub(super) async fn writer(url: &str) -> Result<AnyPool, StoreError> {
    Ok(pool(1).connect_with(options(url)?).await?)
}

/// The pool of connections that read.
pub(super) async fn readers(url: &str) -> Result<AnyPool, StoreError> {
    Ok(pool(READERS).connect_with(options(url)?).await?)
}

fn pool(size: u32) -> AnyPoolOptions {
    // Testing each connection first is what brings the store back by itself after the database was away.
    AnyPoolOptions::new().max_connections(size).acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(true).after_connect(|connection, _| {
        Box::pin(async move {
            connection.execute(SESSION).await?;
            Ok(())
        })
    })
}
