//! Log lines and metrics. Imports config.

use std::io::IsTerminal;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Starts logging to standard error. A second call changes nothing.
///
/// # Errors
/// When the filter cannot be read.
pub fn start_log(config: &Config) -> Result<(), String> {
    let filter = EnvFilter::builder().parse(&config.log).map_err(|error| format!("log: {error}"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let started = if config.log_json { builder.json().try_init() } else { builder.try_init() };
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
