//! Integration tests: one binary, folders mirror what is tested.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics, in its helpers too")]

mod demo;
mod documents;
mod generated;
mod golden;
mod postgres;
mod store;
mod vendors;
