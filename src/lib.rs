//! Offbeat: an HTTP provisioning server for SIP desk phones.
pub mod app;
pub mod cli;
pub mod config;
pub mod diff;
pub mod domain;
pub mod format;
pub mod http;
pub mod render;
pub mod server;
pub mod spread;
pub mod store;
pub mod telemetry;
pub mod vendor;
pub mod zone;
