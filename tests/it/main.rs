//! Integration tests: one binary, folders mirror what is tested.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics, in its helpers too")]

mod api;
mod app;
mod attack;
mod cli;
mod demo;
mod documents;
mod generated;
mod golden;
mod layers;
mod ops;
mod postgres;
mod process;
mod provision;
mod store;
mod tls;
mod vendors;
