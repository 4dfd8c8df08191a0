//! What must hold when the product is attacked: documents beyond every bound, secrets in odd places, rows and files
//! that are damaged or gone, starts that fail.

mod documents;
mod planes;
mod removal;
mod secrets;
mod start;
mod store;

use serde_json::{Value, json};

use crate::{
    app::{Call, TestApp},
    process::{self, Server},
    provision::{POLY, YEALINK, served, served_on},
    store::{Db, on_both_databases},
};

/// Path of a device below `/api/v1`.
fn device(mac: &str) -> String {
    format!("/devices/{mac}")
}
