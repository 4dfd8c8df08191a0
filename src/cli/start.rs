//! Starting what the settings describe: store, application, listeners.

use std::{net::TcpListener, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, bail};

use super::{Failure, key, packs, print};
use crate::{
    app::{App, networks::Networks, system_clock},
    config::{CertificateFiles, Config},
    http,
    server::{self, Limits, Listener, Tls},
    store::{Keyring, Store, random},
    telemetry,
};

/// May a command make the database, and the key that goes with it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It is made where it is missing.
    Make,
    /// It must be there.
    Refuse,
}

/// Is the database there, as far as that can be told without connecting?
pub(super) fn exists(config: &Config) -> bool {
    config.database_url.sqlite_path().is_none_or(|path| path.exists())
}

/// Connects to the database with the key in place; a wrong key is found before anything is changed.
pub(super) async fn connect(config: &Config, missing: Missing) -> anyhow::Result<Store> {
    if missing == Missing::Refuse && !exists(config) {
        bail!("{} does not exist: `offbeat serve` or `offbeat migrate` makes it", database(config));
    }
    let keyring = key::keyring(config).await?;
    let holds_check = crate::store::has_key_check(config.database_url.expose()).await.with_context(|| database(config))?;
    let store = Store::connect(config.database_url.expose(), keyring).await.with_context(|| database(config))?;
    if holds_check && let Err(error) = store.check_key().await {
        // Closed in good order, SQLite leaves no file of its own beside the database.
        store.close().await;
        return Err(error.into());
    }
    Ok(store)
}

fn database(config: &Config) -> String {
    format!("database {}", config.database_url)
}

/// The application on a database that is up to date.
pub(super) async fn open(config: &Config, missing: Missing) -> anyhow::Result<App> {
    if !config.migrate {
        refuse_old(config).await?;
    }
    let store = connect(config, missing).await?;
    if config.migrate {
        store.migrate().await?;
    }
    store.check_key().await?;
    Ok(application(config, store))
}

/// Refuses a database that is not up to date, before anything is made: neither the database nor a key.
async fn refuse_old(config: &Config) -> anyhow::Result<()> {
    if !exists(config) {
        bail!("{} does not exist, and migrate is false: run `offbeat migrate`", database(config));
    }
    // Nothing is sealed or opened with this key.
    let keyring = Keyring::from_hex(&random::hex::<32>())?;
    let store = Store::connect(config.database_url.expose(), keyring).await.with_context(|| database(config))?;
    let pending = store.pending_migrations().await;
    store.close().await;
    let pending = pending?;
    if !pending.is_empty() {
        bail!("the database is not up to date ({}), and migrate is false: run `offbeat migrate`", pending.join(", "));
    }
    Ok(())
}

/// The application on a store.
pub(super) fn application(config: &Config, store: Store) -> App {
    let networks = Networks { phones: config.phone_networks.clone(), proxies: config.trusted_proxies.clone() };
    App::new(store, system_clock(), networks, config.admin_token.clone())
}

/// Certificates of the listeners that have some.
#[derive(Default)]
pub(super) struct Certificates {
    phones: Option<Tls>,
    admin: Option<Tls>,
}

/// Reads the certificates that the settings name.
fn certificates(config: &Config) -> anyhow::Result<Certificates> {
    let load = |setting: &'static str, files: &[CertificateFiles]| match files {
        [] => Ok(None),
        files => Tls::load(files).map(Some).context(setting),
    };
    Ok(Certificates { phones: load("phone_tls_cert", &config.phone_tls)?, admin: load("admin_tls_cert", &config.admin_tls)? })
}

/// Runs the server until it is told to end.
pub(super) async fn serve(config: &Config) -> Result<(), Failure> {
    let certificates = certificates(config)?;
    // A database that is there and does not fit is told of first, then ports: before either nothing is made or changed.
    if crate::store::has_key_check(config.database_url.expose()).await.with_context(|| database(config))? {
        connect(config, Missing::Refuse).await?.close().await;
    }
    server::raise_open_files();
    let sockets = [
        server::bind("phone_listen", config.phone_listen)?,
        server::bind("admin_listen", config.admin_listen)?,
        server::bind("ops_listen", config.ops_listen)?,
    ];
    let app = open(config, Missing::Make).await?;
    if config.phone_networks_are_default {
        tracing::warn!("phones are served on the loopback network alone: set OFFBEAT_PHONE_NETWORKS to the networks of your phones");
    }
    if config.admin_token.as_ref().is_some_and(|token| secrecy::ExposeSecret::expose_secret(token).len() < 16) {
        tracing::warn!("the admin token is short: 32 random characters cannot be guessed");
    }
    serve_on(app, sockets, certificates, server::signalled()?).await
}

/// Serves phones, administrators and operations until `shutdown`, drains, and writes what is buffered.
pub(super) async fn serve_on(
    app: App,
    [phones, admin, ops]: [TcpListener; 3],
    certificates: Certificates,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let metrics = telemetry::start_metrics();
    let upkeep = tokio::spawn({
        let metrics = metrics.clone();
        async move {
            // What is measured gathers until somebody asks for it; where nobody does, it is summed up here.
            loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                metrics.run_upkeep();
            }
        }
    });
    let metrics: http::Metrics = Arc::new(move || metrics.render());
    let (phone_router, admin_router) = (http::phone_router(app.clone()), http::admin_router(app.clone()));
    let operators = |name, socket, router, tls| Listener { name, socket, router, tls, limits: Limits::OPERATORS };
    let listeners = vec![
        Listener { name: "phones", socket: phones, router: phone_router, tls: certificates.phones, limits: Limits::PHONES },
        operators("admin", admin, admin_router, certificates.admin),
        operators("ops", ops, http::ops_router(app.clone(), metrics), None),
    ];
    let served = server::serve(listeners, shutdown).await;
    upkeep.abort();
    app.close().await;
    Ok(served.context("serving")?)
}

/// Checks what the settings describe and says what is wrong and where.
pub(super) async fn check(config: &Config) -> Result<ExitCode, Failure> {
    print("configuration: ok\n")?;
    certificates(config)?;
    for pair in config.phone_tls.iter().chain(&config.admin_tls) {
        print(&format!("certificate {}: fits its key\n", pair.certificate.display()))?;
    }
    print(&packs())?;
    let store = connect(config, Missing::Refuse).await?;
    let pending = store.pending_migrations().await?;
    if pending.is_empty() {
        print(&format!("{}: up to date\n", database(config)))?;
        store.check_key().await?;
        print("secret key: fits the database\n")?;
    } else {
        print(&format!("{}: pending {}\n", database(config), pending.join(", ")))?;
    }
    store.close().await;
    Ok(if pending.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
