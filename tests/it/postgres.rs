//! A throw-away PostgreSQL for the tests: started by the first test that needs it, gone with the test process.
//!
//! Without PostgreSQL's programs on the machine the tests that need it say so and pass; with
//! `OFFBEAT_TEST_POSTGRES=required` they fail instead.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test support: it panics, and it reads the environment")]

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

/// Makes a cluster in a directory of its own and runs it until standard input ends, which it does when the test
/// process ends, however it ends. The default collation is a language's, so that a statement that relies on the order
/// of bytes without saying so fails. No durability: it is thrown away.
const SCRIPT: &str = r#"
bin=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/offbeat-postgres.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"
initdb() { "$bin/initdb" -D "$dir/data" -U offbeat -A trust -E UTF8 --no-sync --no-instructions "$@" >>"$dir/log" 2>&1; }
initdb --locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US || { rm -rf "$dir/data"; initdb --locale=C; } || { cat "$dir/log" >&2; exit 1; }
"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c full_page_writes=off -c shared_buffers=32MB \
    -c max_connections=500 >>"$dir/log" 2>&1 &
server=$!
tries=0
until "$bin/pg_isready" -q -h "$dir"; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 $server; then cat "$dir/log" >&2; exit 1; fi
    sleep 0.1
done
echo "$dir"
cat >/dev/null
kill -QUIT $server
wait $server
"#;

/// The running server: its socket's directory, and the process that lives as long as we hold its standard input.
struct Server {
    directory: String,
    _watchdog: Child,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The URL of a new, empty database; `None`, having said why, when there is no PostgreSQL here.
pub(crate) async fn database() -> Option<String> {
    // Starting takes a second or two, in which this thread has nothing better to do.
    let server = SERVER.get_or_init(start).as_ref()?;
    sqlx::any::install_default_drivers();
    let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let mut connection = AnyConnection::connect(&url(server, "postgres")).await.unwrap();
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    connection.close().await.unwrap();
    Some(url(server, &name))
}

/// The URL of the database that the server always has, for statements about the others.
pub(crate) fn maintenance() -> Option<String> {
    Some(url(SERVER.get_or_init(start).as_ref()?, "postgres"))
}

fn url(server: &Server, database: &str) -> String {
    format!("postgres://offbeat@localhost/{database}?host={}", server.directory)
}

fn start() -> Option<Server> {
    let required = std::env::var("OFFBEAT_TEST_POSTGRES").is_ok_and(|value| value == "required");
    let server = programs().ok_or_else(|| "its programs (initdb, postgres) are not on this machine".to_owned()).and_then(|bin| run(&bin));
    match server {
        Ok(server) => Some(server),
        Err(why) if required => panic!("PostgreSQL is required and cannot be started: {why}"),
        Err(why) => {
            // Past the test harness, which shows the output of tests that fail alone.
            std::io::stderr().write_all(format!("SKIPPED on PostgreSQL: {why}\n").as_bytes()).unwrap();
            None
        }
    }
}

/// The directory of the newest version's programs.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let version = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        found.push((version, entry.path().join("bin")));
    }
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = found.into_iter().rev().map(|(_, bin)| bin).chain(std::env::split_paths(&path));
    all.find(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
}

fn run(bin: &Path) -> Result<Server, String> {
    // PostgreSQL refuses to run as root.
    let mut command = if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg("sh");
        command
    } else {
        Command::new("sh")
    };
    command.args(["-c", SCRIPT, "sh"]).arg(bin).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watchdog = command.spawn().map_err(|error| error.to_string())?;
    let mut directory = String::new();
    BufReader::new(watchdog.stdout.take().unwrap()).read_line(&mut directory).map_err(|error| error.to_string())?;
    if directory.is_empty() {
        let output = watchdog.wait_with_output().map_err(|error| error.to_string())?;
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Server { directory: directory.trim().to_owned(), _watchdog: watchdog })
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
