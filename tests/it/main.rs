//! Integration tests: one binary, folders mirror what is tested.

mod demo;
mod documents;
mod generated;
mod golden;
mod postgres;
mod store;
mod vendors;
