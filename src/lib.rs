//! Offbeat: an HTTP provisioning server for SIP desk phones that spreads every periodic timer.
//!
//! # The path of one request
//!
//! A phone asks `GET /provision/805ec0123456.cfg`:
//!
//! 1. [`server`] accepts the connection if there are not too many, does TLS, and bounds the time each step may take.
//! 2. [`http`] (`http/mod.rs`): request id, span, panic guard, timeout, concurrency limit.
//! 3. `http/provision.rs`: address of the phone, name of the file.
//! 4. [`app::provision`]: may this address ask; [`vendor::filename`] turns the name into a MAC and a pattern.
//! 5. [`store::Store::stack`]: one read gives the device with its tenants and profiles.
//! 6. [`domain::merge`] lays the layers on top of each other; [`render`] places each timer ([`spread`]),
//!    resolves the zone ([`zone`]), looks codes up in the pack ([`vendor`]) and prints the template.
//! 7. `http/freshness.rs`: 200 with the whole file, or 304. Nothing is written on this path: what was handed
//!    over goes to [`app::recorder`].
//!
//! An administrator edits a profile, `PATCH /api/v1/tenants/default/profiles/desk`:
//!
//! 1. `http/api/profiles.rs`: who asks and the document, by the extractors of `http/extract.rs`.
//! 2. [`app::App::write_profile`]: one transaction reads what is stored, checks the document, finds what was
//!    taken away ([`domain::resets`]), writes, and judges every device in reach (`app/plan.rs`).
//! 3. 200 with the new `ETag`; with `?dry_run=true` the same way ends in the plan instead of the commit.
//!
//! # Who may import whom
//!
//! `domain` ← `spread`, `zone`, `config`, `telemetry` ← `vendor` ← `format`, `store`, `render` ← `diff` ←
//! `app` ← `http` ← `server` ← `cli`. `render` also imports `format`, since it reads its own files back.

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
