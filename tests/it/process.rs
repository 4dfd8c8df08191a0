//! The real program as a child process: commands that end, and servers on free ports.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::Duration,
};

use crate::{app::ADMIN_TOKEN, store::Db};

/// The key that `store::keyring(1)` is.
pub(crate) const KEY: &str = "0000000000000000000000000000000000000000000000000000000000000001";

/// The program with an environment of its own: nothing of the test's leaks in, least of all an `OFFBEAT_` variable.
pub(crate) fn offbeat(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offbeat"));
    command.args(arguments).current_dir(directory).env_clear().envs(environment.iter().copied());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    command
}

/// Runs the program on a database to its end.
pub(crate) fn run(db: &Db, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let mut all = vec![("OFFBEAT_DATABASE_URL", db.url.as_str()), ("OFFBEAT_SECRET_KEY", KEY), ("OFFBEAT_LOG", "warn")];
    all.extend(environment);
    offbeat(directory.path(), arguments, &all).output().unwrap()
}

/// A running server. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    addresses: BTreeMap<String, SocketAddr>,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    _directory: tempfile::TempDir,
}

impl Server {
    /// Starts a server on a database and waits for its three listeners.
    pub(crate) fn start(db: &Db, environment: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut all = vec![
            ("OFFBEAT_DATABASE_URL", db.url.as_str()),
            ("OFFBEAT_SECRET_KEY", KEY),
            ("OFFBEAT_ADMIN_TOKEN", ADMIN_TOKEN),
            ("OFFBEAT_PHONE_LISTEN", "127.0.0.1:0"),
            ("OFFBEAT_ADMIN_LISTEN", "127.0.0.1:0"),
            ("OFFBEAT_OPS_LISTEN", "127.0.0.1:0"),
        ];
        all.extend(environment);
        let mut child = offbeat(directory.path(), &["serve"], &all).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut addresses = BTreeMap::new();
        while addresses.len() < 3 {
            let mut line = String::new();
            let length = lines.read_line(&mut line).unwrap();
            assert!(length > 0, "the server ended: {:?}\n{}", child.wait(), log.lock().unwrap());
            if let Some((name, address)) = line.trim_end().split_once(" listening on http://") {
                addresses.insert(name.to_owned(), address.parse().unwrap());
            }
            log.lock().unwrap().push_str(&line);
        }
        let written = log.clone();
        let reader = std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
                written.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self { child, addresses, log, reader: Some(reader), _directory: directory }
    }

    pub(crate) fn address(&self, listener: &str) -> SocketAddr {
        self.addresses[listener]
    }

    pub(crate) fn url(&self, listener: &str, path: &str) -> String {
        format!("http://{}{path}", self.address(listener))
    }

    /// Everything said on standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// What a phone gets for a name, over a real socket.
    pub(crate) async fn fetch(&self, file: &str) -> reqwest::Response {
        reqwest::get(self.url("phones", &format!("/provision/{file}"))).await.unwrap()
    }

    /// Asks the API as the unscoped administrator; the path is below `/api/v1`.
    pub(crate) async fn api(&self, method: &str, path: &str, body: Option<&serde_json::Value>) -> reqwest::Response {
        let method = method.parse().unwrap();
        let mut request = reqwest::Client::new().request(method, self.url("admin", &format!("/api/v1{path}"))).bearer_auth(ADMIN_TOKEN);
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await.unwrap()
    }

    /// SIGTERM; the exit code and everything that was said.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let status = self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        (status.code(), self.log())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Sends exact bytes, which must ask for the connection to be closed, and reads the answer until it is.
pub(crate) fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    answer
}
