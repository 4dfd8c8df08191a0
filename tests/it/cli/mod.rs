//! The command line: the real program, its exit codes, and what it says.

mod commands;
mod key;
mod serve;
mod settings;
mod token;

use std::process::Output;

use serde_json::{Value, json};

use crate::{
    app::TestApp,
    process::{self, Server},
    provision::{LINPHONE, NOBODY, POLY, YEALINK, served_on},
    store::Db,
};

/// A database with the fleet, and no server on it.
async fn stored() -> Db {
    let db = Db::sqlite();
    let app = served_on(&db).await;
    app.app.close().await;
    db
}

fn run(db: &Db, arguments: &[&str]) -> Output {
    process::run(db, arguments, &[])
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The output of a command that must end with this code.
#[track_caller]
fn ended(output: Output, expected: i32) -> Output {
    assert_eq!(code(&output), expected, "{}{}", out(&output), err(&output));
    output
}
