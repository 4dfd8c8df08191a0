//! The command line. Exit 0 done, 1 not found or failed, 64 bad usage or configuration.
//!
//! Imports everything; nothing imports it but `main`. A new command is a variant of `Command` and a
//! function.

mod demo;
mod key;
mod start;
mod token;

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::Context;
use chrono::DateTime;
use clap::{Parser, Subcommand};
use start::Missing;

use crate::{
    app::{Actor, App, AppError, Role, explain, tokens::Expiry},
    config::Config,
    domain::{Mac, Slug},
    http,
    render::registry,
    store::{self, KeyError, StoreError},
    telemetry,
};

/// Bad usage or configuration (`EX_USAGE` of sysexits).
const USAGE: u8 = 64;

/// HTTP provisioning server for SIP desk phones that spreads every periodic timer.
#[derive(Debug, Parser)]
#[command(name = "offbeat", version, about)]
struct Arguments {
    /// Settings file; offbeat.toml where it is there.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server (brings the database up to date first).
    Serve,
    /// Run a server with a sample fleet in a throw-away database.
    Demo {
        /// Port of the phones' listener; the others take the two after it. 0 binds free ports. [default: 8080, 8081, 9090]
        #[arg(long)]
        port: Option<u16>,
    },
    /// Bring the database up to date.
    Migrate {
        /// Only list what is pending; exit 1 when something is.
        #[arg(long)]
        pending: bool,
    },
    /// Print the bytes a phone would get, secrets in clear; the history notes it.
    Render {
        /// The device.
        mac: Mac,
        /// One of its files by name; the main one where absent.
        #[arg(long, value_name = "NAME")]
        file: Option<String>,
    },
    /// Print each timer: numbers, hash, result, and which layer set it.
    Explain {
        /// The device.
        mac: Mac,
    },
    /// Print what a phone would be answered, and why.
    Why {
        /// The device.
        mac: Mac,
    },
    /// Compare what a device was last served with what it would get now: exit 0 identical, 1 different, 2 trouble.
    Diff {
        /// The device.
        mac: Mac,
    },
    /// Tokens of the admin plane.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Print the OpenAPI description.
    Openapi,
    /// Check configuration, database, key and vendor packs.
    Check,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token and print it: the only time it is shown.
    Create {
        /// For people, unique in its tenant.
        #[arg(long)]
        name: String,
        /// viewer, operator or admin.
        #[arg(long, default_value = "viewer", value_parser = role)]
        role: Role,
        /// Confine it to this tenant and those below.
        #[arg(long, value_parser = tenant)]
        tenant: Option<Slug>,
        /// Let it see clear secrets.
        #[arg(long)]
        reveal: bool,
        /// Let it end after so many days, or at a time such as 2030-01-31T00:00:00Z; never where absent.
        #[arg(long, value_name = "DAYS|TIME", value_parser = expiry)]
        expires: Option<Expiry>,
    },
    /// Print all tokens, without the tokens themselves.
    List,
    /// Revoke a token: it is good for nothing from then on.
    Revoke {
        /// Its name (TENANT/NAME where several are called so), or its id.
        #[arg(value_name = "NAME|ID")]
        token: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| "expected viewer, operator or admin".into())
}

fn expiry(text: &str) -> Result<Expiry, String> {
    let days = text.parse().ok().filter(|days| *days > 0).map(Expiry::Days);
    let at = || DateTime::parse_from_rfc3339(text).ok().map(|at| Expiry::At(at.to_utc()));
    days.or_else(at).ok_or_else(|| "expected a number of days, or a time (RFC 3339) such as 2030-01-31T00:00:00Z".into())
}

fn tenant(text: &str) -> Result<Slug, String> {
    Slug::parse(text).ok_or_else(|| "expected the id of a tenant".into())
}

/// Why a command ended badly.
enum Failure {
    /// Bad configuration.
    Usage(String),
    /// Not found, or failed.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Runs the command line of the process.
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors.
            let code = if error.use_stderr() { USAGE } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&format!("the runtime cannot start: {error}"), 1),
    };
    let trouble = if matches!(arguments.command, Command::Diff { .. }) { 2 } else { 1 };
    match runtime.block_on(dispatch(arguments)) {
        Ok(code) => code,
        Err(Failure::Usage(what)) => complain(&what, USAGE),
        Err(Failure::Failed(error)) => complain(&format!("{error:#}"), if is_configuration(&error) { USAGE } else { trouble }),
    }
}

/// Is it a setting that is wrong, found only once it was used?
fn is_configuration(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<KeyError>() || matches!(cause.downcast_ref(), Some(StoreError::Url(_))))
}

#[expect(clippy::print_stderr, reason = "the command line speaks to people")]
fn complain(what: &str, code: u8) -> ExitCode {
    eprintln!("offbeat: {what}");
    ExitCode::from(code)
}

/// Prints to standard output; a closed pipe is no failure.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

async fn dispatch(arguments: Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Openapi => {
            let description = http::openapi().to_pretty_json().context("the description cannot be written")?;
            print(&format!("{description}\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Demo { port } => {
            demo::run(*port).await?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let config = Config::load(arguments.config.as_deref()).map_err(|error| Failure::Usage(error.to_string()))?;
    telemetry::start_log(&config.log, config.log_json).map_err(Failure::Usage)?;
    match arguments.command {
        Command::Serve => start::serve(&config).await?,
        Command::Migrate { pending } => return migrate(&config, pending).await,
        Command::Check => return start::check(&config).await,
        Command::Demo { .. } | Command::Openapi => {}
        Command::Render { mac, file } => {
            let app = start::open(&config, Missing::Refuse).await?;
            let file = found(app.device_file(&Actor::local(), mac, file.as_deref(), true).await)?;
            print(&file.text)?;
            app.close().await;
        }
        Command::Explain { mac } => {
            let app = start::open(&config, Missing::Refuse).await?;
            print(&explain::table(&found(app.device_timers(&Actor::local(), mac).await)?))?;
            app.close().await;
        }
        Command::Why { mac } => {
            let app = start::open(&config, Missing::Refuse).await?;
            let why = found(app.why(mac).await)?;
            print(&format!("{} {}\n", why.status, why.reason))?;
            app.close().await;
            return Ok(if why.status == 200 { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Command::Diff { mac } => return diff(&start::open(&config, Missing::Refuse).await?, mac).await,
        Command::Token { command } => token::run(&config, command).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The result, or a failure that names every field error.
fn found<T>(result: Result<T, AppError>) -> Result<T, Failure> {
    result.map_err(|error| match error {
        AppError::Invalid(errors) => {
            let lines: Vec<_> = errors.iter().map(|error| format!("{} {}: {}", error.path, error.code, error.detail)).collect();
            Failure::Failed(anyhow::anyhow!("{}", lines.join("; ")))
        }
        error => Failure::Failed(error.into()),
    })
}

async fn migrate(config: &Config, pending: bool) -> Result<ExitCode, Failure> {
    let missing = if pending && !start::exists(config) {
        store::all_migrations()
    } else {
        let store = start::connect(config, Missing::Make).await?;
        let missing = store.pending_migrations().await?;
        if !pending {
            store.migrate().await?;
            store.check_key().await?;
        }
        store.close().await;
        missing
    };
    for name in &missing {
        print(&format!("{} {name}\n", if pending { "pending" } else { "applied" }))?;
    }
    Ok(if pending && !missing.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

async fn diff(app: &App, mac: Mac) -> Result<ExitCode, Failure> {
    let diff = found(app.diff_device(&Actor::local(), mac).await)?;
    for unified in diff.unified.values() {
        print(unified)?;
    }
    for change in &diff.changes {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        print(&format!("{} {}: {} -> {}\n", change.effect.as_str(), change.parameter, shown(&change.from), shown(&change.to)))?;
    }
    app.close().await;
    Ok(if diff.identical { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Vendors and how many models each has, for `check`.
fn packs() -> String {
    let lines = registry::vendors()
        .iter()
        .map(|vendor| format!("vendor pack {}: version {}, {} models\n", vendor.pack.id, vendor.pack.version, vendor.pack.models.len()));
    lines.collect()
}
