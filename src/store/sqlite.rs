//! What is particular to SQLite: the file, the pragmas, the one writer.
//!
//! Imports nothing of the crate but the errors. Statements that both databases share belong in `sql.rs`.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sqlx::{AnyPool, ConnectOptions, Connection, Executor, any::AnyConnectOptions, any::AnyPoolOptions};

use super::{ACQUIRE_TIMEOUT, error::StoreError};

/// Begins a write: takes the lock of the file at once, so that a write never fails for having read first.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Begins the migrations: nobody else reads or writes meanwhile.
pub(super) const BEGIN_MIGRATION: &str = "BEGIN EXCLUSIVE";

/// Is a table there?
pub(super) const TABLE_EXISTS: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM sqlite_master WHERE type = 'table' AND name = $1";

/// What each connection is set to. `FULL`: an edit that was answered survives a power cut.
const PRAGMAS: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

/// Readers never write, whatever a statement says.
const READER_PRAGMAS: &str = "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA query_only = ON;";

const READERS: u32 = 4;

const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// The file of a URL `sqlite:<path>`; `None` for other URLs.
pub fn sqlite_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    Some(rest.split('?').next().unwrap_or_default().into())
}

/// Connection options for the file, created when `mode` is `rwc`.
pub(super) fn options(url: &str, mode: &str) -> Result<AnyConnectOptions, StoreError> {
    let path = sqlite_path(url).unwrap_or_default();
    let query = url.split_once('?').map(|(_, query)| query);
    if path.as_os_str().is_empty() || path == Path::new(":memory:") || !matches!(query, None | Some("mode=rwc")) {
        return Err(StoreError::Url("a SQLite URL is sqlite:<path of a file>, without options".into()));
    }
    let path = std::path::absolute(path).map_err(sqlx::Error::Io)?;
    let path = path.to_string_lossy();
    Ok(format!("sqlite://{}?mode={mode}", utf8_percent_encode(&path, PATH)).parse()?)
}

/// The pool of one connection that all writes go through, in turn, and the pool of those that read. Creates the
/// file; once it is there, one that has vanished is not made again.
pub(super) async fn pools(url: &str) -> Result<(AnyPool, AnyPool), StoreError> {
    let mut first = options(url, "rwc")?.connect().await?;
    first.execute(PRAGMAS).await?;
    let file = Arc::new(File::at(sqlite_path(url).unwrap_or_default()));
    let writer = pool(1, PRAGMAS, &file).connect_with(options(url, "rw")?).await?;
    let readers = pool(READERS, READER_PRAGMAS, &file).connect_with(options(url, "rw")?).await?;
    // Not before the others are there: the last connection that is closed takes the log of a new file with it.
    first.close().await?;
    Ok((writer, readers))
}

fn pool(size: u32, pragmas: &'static str, file: &Arc<File>) -> AnyPoolOptions {
    let file = file.clone();
    AnyPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .before_acquire(move |_, connection| {
            let is_current = file.is_held_since(connection.age);
            Box::pin(async move { Ok(is_current) })
        })
        .after_connect(move |connection, _| {
            Box::pin(async move {
                connection.execute(pragmas).await?;
                Ok(())
            })
        })
}

/// Which file stands at the path. A connection goes on writing into a file that was removed or replaced, and what it
/// stores there is lost: such a connection is given up, and the next one finds what stands there, or nothing.
#[derive(Debug)]
struct File {
    path: PathBuf,
    /// Device and inode, and when they were first met.
    seen: Mutex<(Option<(u64, u64)>, Instant)>,
}

impl File {
    fn at(path: PathBuf) -> Self {
        let seen = Mutex::new((identity(&path), Instant::now()));
        Self { path, seen }
    }

    /// Is the file the same one as when a connection of this age was made?
    fn is_held_since(&self, age: Duration) -> bool {
        // Nothing panics while the lock is held.
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = identity(&self.path);
        if seen.0 != found {
            *seen = (found, Instant::now());
        }
        found.is_some() && age <= seen.1.elapsed()
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reaches_sqlite_as_it_is_written() {
        for (url, path) in
            [("sqlite:offbeat.db", "offbeat.db"), ("sqlite:///var/a b.db", "/var/a b.db"), ("sqlite:/x.db?mode=rwc", "/x.db")]
        {
            assert_eq!(sqlite_path(url).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(sqlite_path("postgres://localhost/x"), None);
        let url = options("sqlite:/tmp/a b%20c#d.db", "rwc").unwrap().database_url;
        assert_eq!(url.as_str(), "sqlite:///tmp/a%20b%2520c%23d.db?mode=rwc");
        for bad in ["sqlite:", "sqlite::memory:", "sqlite:/x.db?mode=ro"] {
            assert!(matches!(options(bad, "rwc"), Err(StoreError::Url(_))), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_full_disk_is_an_error_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let keyring = super::super::Keyring::from_hex(&"00".repeat(32)).unwrap();
        let url = format!("sqlite:{}", directory.path().join("offbeat.db").display());
        let store = super::super::Store::connect(&url, keyring).await.unwrap();
        store.migrate().await.unwrap();
        let refusal = super::super::Refusal {
            at: chrono::DateTime::UNIX_EPOCH,
            address: String::new(),
            user_agent: None,
            path: "x".repeat(1_000_000),
            mac: None,
            reason: String::new(),
        };
        let batch = [super::super::Record::Refusal(refusal)];
        // The writer's one connection takes no page more; a later connection does.
        store.writer.acquire().await.unwrap().execute("PRAGMA max_page_count = 1").await.unwrap();
        let result = store.record(&batch).await;
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
        assert!(store.refusals(None, 9).await.unwrap().is_empty());
        store.record(&batch).await.unwrap();
        assert_eq!(store.refusals(None, 9).await.unwrap().len(), 1);
    }
}
