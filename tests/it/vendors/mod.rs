//! The vendor packs: what their facts must have, and the tables made from them.

mod facts;
mod tables;
