//! Integration tests: one binary, folders mirror what is tested.

mod api;
mod app;
mod cli;
mod golden;
mod layers;
mod postgres;
mod process;
mod provision;
mod store;
