//! Offbeat: an HTTP provisioning server for SIP desk phones.
pub mod domain;
pub mod spread;
pub mod store;
pub mod zone;
