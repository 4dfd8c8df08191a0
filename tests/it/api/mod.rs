//! The admin plane; files mirror the URLs and what holds for all of them.

mod crud;
mod devices;
mod diff;
mod docs;
mod dry_run;
mod errors;
mod files;
mod layers;
mod lists;
mod preconditions;
mod problems;
mod resets;
mod revisions;
mod roles;
mod secrets;
mod timers;
mod tokens;
mod unclaimed;

use serde_json::{Value, json};

use crate::{
    app::{Answer, Call, TestApp},
    provision::{LINPHONE, POLY, YEALINK, fleet, phone},
    store::{Db, on_both_databases},
};

/// A Grandstream, whose timers are in minutes.
const GRANDSTREAM: &str = "000b82123456";

/// The fleet and a Grandstream.
async fn four_vendors() -> TestApp {
    let app = TestApp::new().await;
    fleet(&app).await;
    app.post("/devices", &phone(GRANDSTREAM, "grandstream", Some("GXP2170"))).await.expect(201);
    app
}

/// Codes of a device's warnings, sorted and each once.
async fn warnings(app: &TestApp, mac: &str) -> Vec<String> {
    let shown = app.get(&format!("/devices/{mac}")).await.expect(200).json();
    let codes: std::collections::BTreeSet<_> =
        shown["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect();
    codes.into_iter().collect()
}

/// A member of each item of a list.
fn column(answer: &Answer, member: &str) -> Vec<String> {
    answer.json()["items"].as_array().unwrap().iter().map(|item| item[member].as_str().unwrap().to_owned()).collect()
}
