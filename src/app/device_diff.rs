//! What a device was last served against what it would get now.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Actor, App, AppError,
    plan::{self, evaluate},
};
use crate::{
    diff::{Change, Files},
    domain::Mac,
    render::etag,
    vendor::Effect,
};

/// One side of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Side {
    /// `served` or `current`.
    pub what: String,
    /// When: of the last file handed over, or now.
    pub at: DateTime<Utc>,
    /// Files with their entity tags.
    pub files: BTreeMap<String, String>,
}

/// What a device was last served against what it would get now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeviceDiff {
    /// The device.
    #[schema(value_type = String)]
    pub mac: Mac,
    /// Equal byte by byte?
    pub identical: bool,
    /// The worst that happens.
    pub effect: Effect,
    /// What was served; null for a phone that never was.
    pub from: Option<Side>,
    /// What it would get now.
    pub to: Side,
    /// Changed parameters, secrets masked.
    pub changes: Vec<Change>,
    /// Unified text by file, secrets masked.
    pub unified: BTreeMap<String, String>,
}

impl App {
    /// The diff of one device. What is still buffered of the record is written first.
    ///
    /// # Errors
    /// When there is no such device, none the actor sees, or it cannot be rendered.
    pub async fn diff_device(&self, actor: &Actor, mac: Mac) -> Result<DeviceDiff, AppError> {
        self.recorder().drain().await;
        let stack = self.visible_stack(actor, mac).await?;
        let rendered = evaluate(&stack).map_err(|faulty| AppError::Invalid(faulty.errors))?;
        let now = plan::files(&rendered);

        let mut served = Files::new();
        let mut at = None;
        for file in self.store().served(mac).await? {
            // Of files it no longer asks for (another vendor before), nothing is said.
            if now.contains_key(&file.file) {
                at = at.max(Some(file.current.last_at));
                served.insert(file.file, String::from_utf8_lossy(&file.current.content.bytes).into_owned());
            }
        }
        // A file that the phone has not asked for yet is no change of those it has.
        let compared: Files = if served.is_empty() {
            now.clone()
        } else {
            now.iter().filter(|(name, _)| served.contains_key(*name)).map(|(n, t)| (n.clone(), t.clone())).collect()
        };
        let comparison = plan::compare(&stack, &served, &compared);
        let tags = |files: &Files| files.iter().map(|(name, text)| (name.clone(), etag(text.as_bytes()))).collect();
        Ok(DeviceDiff {
            mac,
            identical: comparison.identical,
            effect: comparison.effect,
            from: at.map(|at| Side { what: "served".into(), at, files: tags(&served) }),
            to: Side { what: "current".into(), at: self.now(), files: tags(&now) },
            changes: comparison.changes,
            unified: comparison.unified,
        })
    }
}
