//! What the product does; used by `http` and `cli` alike. Speaks domain types, knows no HTTP.
//!
//! One file per thing an administrator, an operator or a phone can ask for. Imports store, render, diff,
//! vendor, spread, zone and domain.

mod actor;
mod check;
mod common;
pub mod device_diff;
pub mod devices;
mod error;
pub mod explain;
pub mod networks;
mod plan;
mod probes;
pub mod profiles;
pub mod provision;
pub mod recorder;
pub mod tenants;
pub mod tokens;
pub mod unclaimed;
pub mod vendors;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::SecretString;

pub use actor::{Actor, Held, Role};
pub use common::{Body, Doc, Listed, Outcome, Precondition, WriteOptions};
pub use error::{AppError, StoreFailure};
pub use plan::Plan;

use crate::store::Store;
use networks::Networks;
use probes::Probes;
use recorder::Recorder;
use tokens::Uses;

/// The clock, given from outside.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The real clock: the one place that reads it.
pub fn system_clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    let clock: Clock = Arc::new(Utc::now);
    clock
}

/// The application: its store and what it was started with. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    clock: Clock,
    recorder: Recorder,
    networks: Networks,
    admin_token: Option<SecretString>,
    uses: Uses,
    probes: Probes,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

impl App {
    /// An application on a store that is up to date. Starts the writer of the record; [`App::close`] ends it.
    pub fn new(store: Store, clock: Clock, networks: Networks, admin_token: Option<SecretString>) -> Self {
        let recorder = Recorder::start(store.clone());
        let (uses, probes) = (Uses::default(), Probes::default());
        Self { inner: Arc::new(Inner { store, clock, recorder, networks, admin_token, uses, probes }) }
    }

    /// Writes what is buffered and closes the database.
    pub async fn close(&self) {
        self.inner.recorder.close().await;
        self.inner.store.close().await;
    }

    /// Does the database answer?
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), AppError> {
        Ok(self.store().ping().await?)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.inner.clock)()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// Who may ask, and whose forwarded header is believed.
    pub fn networks(&self) -> &Networks {
        &self.inner.networks
    }

    fn uses(&self) -> &Uses {
        &self.inner.uses
    }

    fn probes(&self) -> &Probes {
        &self.inner.probes
    }

    pub(crate) fn admin_token(&self) -> Option<&SecretString> {
        self.inner.admin_token.as_ref()
    }
}
