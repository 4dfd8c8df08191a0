//! `offbeat token`: make, list and revoke tokens of the admin plane.

use super::{
    Failure, TokenCommand, found, print,
    start::{self, Missing},
};
use crate::{
    app::{Actor, App, WriteOptions, tokens::NewToken},
    config::Config,
};

/// Items of one read.
const PAGE: u32 = 1000;

const HEAD: [&str; 8] = ["id", "name", "role", "tenant", "reveal", "created", "expires", "last used"];

pub(super) async fn run(config: &Config, command: TokenCommand) -> Result<(), Failure> {
    let missing = if matches!(command, TokenCommand::Create { .. }) { Missing::Make } else { Missing::Refuse };
    let app = start::open(config, missing).await?;
    let actor = Actor::local();
    match command {
        TokenCommand::Create { name, role, tenant, reveal, expires } => {
            let token = found(app.create_token(&actor, &NewToken { name, role, tenant, reveal, expires }).await)?;
            print(&format!("{token}\n"))?;
        }
        TokenCommand::List => list(&app, &actor).await?,
        TokenCommand::Revoke { token } => {
            found(app.revoke_token(&actor, &token, &WriteOptions::default()).await)?;
        }
    }
    app.close().await;
    Ok(())
}

async fn list(app: &App, actor: &Actor) -> Result<(), Failure> {
    let mut rows = vec![HEAD.map(str::to_owned)];
    let mut after = None;
    loop {
        let page = found(app.list_tokens(actor, after.as_deref(), PAGE).await)?;
        for item in &page.items {
            let cell = |member: &str| match &item[member] {
                serde_json::Value::Null => "-".to_owned(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            // Whole seconds are enough for people.
            let second = |member: &str| match cell(member).split_once('.') {
                Some((second, _)) => format!("{second}Z"),
                None => cell(member),
            };
            let [id, name, role, tenant, reveal] = ["id", "name", "role", "tenant", "reveal"].map(cell);
            let [created, expires, used] = ["created_at", "expires_at", "last_used_at"].map(second);
            rows.push([id, name, role, tenant, reveal, created, expires, used]);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut widths = [0; HEAD.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in &rows {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        print(&format!("{}\n", cells.join("  ").trim_end()))?;
    }
    Ok(())
}
