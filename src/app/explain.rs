//! Why a device gets what it gets: its files, its timers, and what this phone would be answered.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Actor, App, AppError, plan::evaluate, provision};
use crate::{
    diff,
    domain::Mac,
    render::{RenderedFile, TimerRow, registry},
    store::{Author, Refusal},
    vendor::filename::Request,
};

/// A file of a device without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileView {
    /// Name a phone asks for.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// The one that `<mac>.cfg` answers with?
    pub main: bool,
    /// Bytes.
    pub size: usize,
    /// Media type.
    pub media_type: String,
    /// Entity tag.
    pub etag: String,
}

/// What a phone would be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// HTTP status.
    pub status: u16,
    /// In words: the file, or the reason of the refusal.
    pub reason: String,
}

impl App {
    /// The files of a device.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be rendered.
    pub async fn device_files(&self, actor: &Actor, mac: Mac) -> Result<Vec<FileView>, AppError> {
        let files = self.rendered_files(actor, mac).await?;
        let view = |(index, file): (usize, RenderedFile)| FileView {
            etag: file.etag(),
            size: file.text.len(),
            main: index == 0,
            name: file.name,
            kind: file.kind,
            media_type: file.media_type,
        };
        Ok(files.into_iter().enumerate().map(view).collect())
    }

    /// One file of a device by its name; the main one for `None`. Secrets are masked unless `reveal`, and a clear
    /// reading is in the history before it is answered.
    ///
    /// # Errors
    /// When there is no such device or file, it cannot be rendered, or the token may not reveal.
    pub async fn device_file(&self, actor: &Actor, mac: Mac, name: Option<&str>, reveal: bool) -> Result<RenderedFile, AppError> {
        if reveal && !actor.reveal {
            return Err(AppError::Forbidden("this token may not see clear secrets: it lacks the right `reveal`"));
        }
        let stack = self.visible_stack(actor, mac).await?;
        let mut files = self.rendered_files(actor, mac).await?.into_iter();
        let file = match name {
            Some(name) => files.find(|file| file.name.eq_ignore_ascii_case(name)),
            None => files.next(),
        };
        let mut file = file.ok_or(AppError::NotFound("this file"))?;
        if reveal {
            self.note_reveal(actor, mac, &file.name).await?;
        }
        if let Some(vendor) = registry::find(&stack.device.vendor).filter(|_| !reveal) {
            file.text = diff::masked(vendor, &file.text);
        }
        Ok(file)
    }

    async fn note_reveal(&self, actor: &Actor, mac: Mac, file: &str) -> Result<(), AppError> {
        let author = Author { at: self.now(), actor: actor.name.clone(), message: Some(file.to_owned()) };
        let mut write = self.store().write(author).await?;
        write.note_reveal(mac).await?;
        Ok(write.commit().await?)
    }

    async fn rendered_files(&self, actor: &Actor, mac: Mac) -> Result<Vec<RenderedFile>, AppError> {
        let stack = self.visible_stack(actor, mac).await?;
        let rendered = evaluate(&stack).map_err(|faulty| AppError::Invalid(faulty.errors))?;
        Ok(rendered.files)
    }

    /// The timers of a device.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be rendered.
    pub async fn device_timers(&self, actor: &Actor, mac: Mac) -> Result<Vec<TimerRow>, AppError> {
        let stack = self.visible_stack(actor, mac).await?;
        Ok(evaluate(&stack).map_err(|faulty| AppError::Invalid(faulty.errors))?.timers)
    }

    /// What this phone would be answered for its main file, from a phone network, and why.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn why(&self, mac: Mac) -> Result<Why, AppError> {
        let Some((stack, _)) = self.store().stack(mac).await? else {
            return Ok(Why { status: 404, reason: "no device has this MAC".into() });
        };
        let name = registry::find(&stack.device.vendor).map(|vendor| vendor.main_file(mac)).unwrap_or_default();
        let request: Option<Request> = registry::request(&name);
        let answer = request.ok_or(provision::Refusal::UnknownName).and_then(|request| provision::file(&request, &stack));
        Ok(match answer {
            Ok(served) => {
                let mut reason = format!("{} ({} bytes, {})", served.file.name, served.file.text.len(), served.file.media_type);
                // What stands against it may lie with who asked: an address outside the networks, a proxy.
                let answered = self.store().check_in(mac).await?.map(|check_in| check_in.at);
                if let Some(last) = self.store().last_refusal(mac, None).await?.filter(|last| Some(last.at) > answered) {
                    reason = format!("{reason}; last refused {} from {}: {} ({})", time(last.at), last.address, last.reason, last.path);
                }
                Why { status: 200, reason }
            }
            Err(refusal) => Why { status: 404, reason: refusal.reason() },
        })
    }

    /// The latest refused requests, newest first. Those that named no device of a tenant the actor sees, as it was
    /// then, are shown to unscoped tokens alone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn refusals(&self, actor: &Actor, limit: u32) -> Result<Vec<Value>, AppError> {
        self.recorder().drain().await;
        Ok(self.store().refusals(actor.within(), limit).await?.iter().map(refusal_document).collect())
    }
}

/// The timers as a table for people.
pub fn table(rows: &[TimerRow]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for row in rows {
        let value = serde_json::to_string(&row.value).unwrap_or_default();
        let ceiling = row.ceiling.map_or_else(|| "none".to_owned(), |s| format!("{s} s"));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n  {} = {} (unit {} s, {} s)", row.key, row.parameter, value.trim_matches('"'), row.unit_s, row.value_s);
        let _ = writeln!(
            text,
            "  interval {} s ({}), spread {} s ({}), floor {} s ({}), ceiling {ceiling} ({})",
            row.interval, row.source.interval, row.spread, row.source.spread, row.floor, row.source.floor, row.source.ceiling
        );
        if row.vendor_min.is_some() || row.vendor_max.is_some() {
            let limit = |n: Option<u32>, none: &str| n.map_or_else(|| none.to_owned(), |n| n.to_string());
            let _ = writeln!(text, "  the phone takes {} to {}", limit(row.vendor_min, "1"), limit(row.vendor_max, "any"));
        }
        let _ = writeln!(text, "  hash {} mod {} steps = offset {}; salt {:?}", row.hash, row.steps, row.offset, row.salt);
    }
    text
}

/// A time as it is shown.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

pub(super) fn refusal_document(refusal: &Refusal) -> Value {
    json!({
        "at": time(refusal.at),
        "address": refusal.address,
        "user_agent": refusal.user_agent,
        "path": refusal.path,
        "mac": refusal.mac,
        "reason": refusal.reason,
    })
}
