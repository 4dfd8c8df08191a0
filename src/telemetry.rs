//! Log lines and metrics. Imports nothing of the crate.

use std::io::IsTerminal;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// Starts logging to standard error by a filter, as JSON or for people. A second call changes nothing.
///
/// # Errors
/// When the filter cannot be read.
pub fn start_log(filter: &str, json: bool) -> Result<(), String> {
    let filter = EnvFilter::builder().parse(filter).map_err(|error| format!("log: {error}"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let started = if json { builder.json().try_init() } else { builder.try_init() };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
    Ok(())
}

/// Starts the metrics; the handle prints them. Within one process there is one set of metrics.
pub fn start_metrics() -> PrometheusHandle {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let recorder = PrometheusBuilder::new().build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("metrics were started before: /metrics stays empty");
            }
            handle
        })
        .clone()
}
