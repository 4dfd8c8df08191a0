//! A server with a sample fleet in a throw-away database, and a screenful of commands to try on it.
//!
//! The fleet is in `demo.toml`, the screen in `demo.txt`. Takes no setting from a file or the environment.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Failure, found, print, start};
use crate::{
    app::{Actor, App, Body, WriteOptions},
    config::Config,
    domain::Slug,
    server,
    store::random,
    telemetry,
};

const FLEET: &str = include_str!("demo.toml");
const SCREEN: &str = include_str!("demo.txt");

/// Listeners and their usual ports.
const LISTENERS: [(&str, u16); 3] = [("phones", 8080), ("admin", 8081), ("ops", 9090)];

/// Documents as the API takes them.
#[derive(Deserialize)]
struct Fleet {
    tenants: Vec<Value>,
    profiles: Vec<Value>,
    phones: Vec<Phones>,
}

/// Phones that differ by a number.
#[derive(Deserialize)]
struct Phones {
    count: u32,
    mac: String,
    extension: u32,
    name: String,
    device: Value,
}

/// Runs the demo until it is told to end. `port` is that of the phones, the others take the two after it.
pub(super) async fn run(port: Option<u16>) -> Result<(), Failure> {
    let mut end = std::pin::pin!(told_to_end()?);
    let directory = tempfile::Builder::new().prefix("offbeat-demo-").tempdir().context("a directory for the demo")?;
    let token = format!("demo-{}", random::hex::<8>());
    let config = config(directory.path(), &token)?;
    telemetry::start_log(&config.log, config.log_json).map_err(Failure::Usage)?;
    let (sockets, note) = bind(port)?;
    let addresses = sockets.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;

    let fleet: Fleet = toml::from_str(FLEET).context("the sample fleet")?;
    let app = tokio::select! {
        // Watched from the first moment on: an impatient Ctrl-C must not leave the directory behind.
        biased;
        () = &mut end => return Ok(()),
        loaded = loaded(&config, &fleet) => loaded?,
    };
    let screen = note + &screen(&fleet, &addresses, &token);
    start::serve_on(app, sockets, async {
        // The commands are good from here on, and stand last. Whoever closed standard output reads none.
        let _ = print(&screen);
        end.await;
    })
    .await?;
    directory.close().context("removing the demo's directory")?;
    Ok(())
}

/// Ends with a signal or the terminal. All are watched from this call on.
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut hangup, signalled) = (signal(SignalKind::hangup())?, server::signalled()?);
    Ok(async move {
        tokio::select! {
            () = signalled => {}
            _ = hangup.recv() => {}
        }
    })
}

/// The settings: built in, but for what is thrown away.
fn config(directory: &Path, token: &str) -> Result<Config, Failure> {
    let own = BTreeMap::from([
        ("OFFBEAT_DATABASE_URL".to_owned(), format!("sqlite:{}", directory.join("demo.db").display())),
        ("OFFBEAT_SECRET_KEY".to_owned(), random::hex::<32>()),
        ("OFFBEAT_ADMIN_TOKEN".to_owned(), token.to_owned()),
        ("OFFBEAT_LOG".to_owned(), "warn".to_owned()),
    ]);
    Config::from_parts(None, own).map_err(|error| Failure::Usage(error.to_string()))
}

/// The sockets, on loopback alone. A port that cannot be had is replaced by a free one, which the note says.
fn bind(port: Option<u16>) -> Result<([TcpListener; 3], String), Failure> {
    let mut taken = Vec::new();
    let mut bind = |n: u16| {
        let (name, usual) = LISTENERS[usize::from(n)];
        let wanted = match port {
            None => usual,
            Some(0) => 0,
            Some(port) => port.saturating_add(n),
        };
        let at = |port| server::bind(name, SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        at(wanted).or_else(|_| {
            taken.push(wanted.to_string());
            at(0)
        })
    };
    let sockets = [bind(0)?, bind(1)?, bind(2)?];
    let note = if taken.is_empty() { String::new() } else { format!("Taken here: port {}. Free ones are used.\n", taken.join(", ")) };
    Ok((sockets, note))
}

/// The application with the fleet, written on the path every write takes.
async fn loaded(config: &Config, fleet: &Fleet) -> Result<App, Failure> {
    let app = start::open(config, start::Missing::Make).await?;
    let actor = Actor::local();
    let options = WriteOptions { message: Some("sample fleet".into()), ..WriteOptions::default() };
    for tenant in &fleet.tenants {
        found(app.write_tenant(&actor, None, Body::Whole(tenant), &options).await)?;
    }
    for profile in &fleet.profiles {
        let mut profile = profile.clone();
        let tenant = profile.as_object_mut().and_then(|profile| profile.remove("tenant")).unwrap_or_default();
        let tenant = tenant.as_str().and_then(Slug::parse).context("a sample profile without a tenant")?;
        found(app.write_profile(&actor, &tenant, None, Body::Whole(&profile), &options).await)?;
    }
    for device in fleet.phones.iter().flat_map(Phones::devices) {
        found(app.write_device(&actor, None, Body::Whole(&device), &options).await)?;
    }
    Ok(app)
}

impl Phones {
    /// Each phone as a document.
    fn devices(&self) -> impl Iterator<Item = Value> + '_ {
        // The MAC is a number of 48 bits: it may be counted on.
        let first = u64::from_str_radix(&self.mac, 16).unwrap_or_default();
        (0..self.count).map(move |n| {
            let extension = (self.extension + n).to_string();
            let name = if self.count == 1 { self.name.clone() } else { format!("{} {}", self.name, n + 1) };
            let mut device = self.device.clone();
            device["mac"] = format!("{:012x}", first + u64::from(n)).into();
            device["name"] = name.as_str().into();
            device["lines"] = json!([{ "line": 1, "user": extension, "password": format!("sample-{extension}"), "display_name": name }]);
            device
        })
    }
}

/// What to try, with the addresses and the token in place.
fn screen(fleet: &Fleet, addresses: &[SocketAddr], token: &str) -> String {
    let vendors: std::collections::BTreeSet<_> = fleet.phones.iter().filter_map(|phones| phones.device["vendor"].as_str()).collect();
    let devices: u32 = fleet.phones.iter().map(|phones| phones.count).sum();
    let counted = SCREEN
        .replace("{devices}", &devices.to_string())
        .replace("{vendors}", &vendors.len().to_string())
        .replace("{tenants}", &fleet.tenants.len().to_string())
        .replace("{token}", token);
    LISTENERS
        .iter()
        .zip(addresses)
        .fold(counted, |text, ((name, _), address)| text.replace(&format!("{{{name}}}"), &format!("http://{address}")))
}
