//! Integration tests: one binary, folders mirror what is tested.

mod golden;
mod postgres;
mod store;
