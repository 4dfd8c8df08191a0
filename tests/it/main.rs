//! Everything that is tested from outside of the modules, in one program.

mod postgres;
mod store;
