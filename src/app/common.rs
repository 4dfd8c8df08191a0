//! What all resources share: documents out, conditions of a write, pages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Actor, App, AppError, Plan};
use crate::{
    domain::{
        FieldError, Reset,
        fields::{MAX_ERRORS, Reader},
    },
    store::{Author, StoreError, Versioned, Write},
};

/// A resource as it is shown: its document and its revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Doc {
    /// The document, `revision` included.
    pub body: Value,
    /// Its revision.
    pub revision: i64,
}

/// A page of documents.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// In order of their id.
    pub items: Vec<Value>,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// What a write did.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was stored.
    Stored {
        /// The resource as it is now.
        doc: Box<Doc>,
        /// Was it not there before?
        created: bool,
    },
    /// It is gone.
    Deleted,
    /// Nothing was stored: this is what would happen.
    Planned(Box<Plan>),
}

/// What a write is given.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// A whole document.
    Whole(&'a Value),
    /// A merge patch on what is stored.
    Patch(&'a Value),
}

impl Body<'_> {
    /// The whole document; `stored` is what a patch is merged into.
    pub(super) fn whole(self, stored: Option<Value>, what: &'static str) -> Result<Value, AppError> {
        match (self, stored) {
            (Self::Whole(body), _) => Ok(body.clone()),
            (Self::Patch(_), None) => Err(AppError::NotFound(what)),
            (Self::Patch(patch), Some(mut body)) => {
                merge_patch(&mut body, patch);
                Ok(body)
            }
        }
    }

    /// Is it a patch?
    pub(super) fn is_patch(self) -> bool {
        matches!(self, Self::Patch(_))
    }
}

/// What must hold for a write to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// `If-Match`: one of these revisions. `Some(empty)` is `*`: it must be there.
    pub revisions: Option<Vec<i64>>,
    /// `If-None-Match: *`, or a POST: it must not be there.
    pub absent: bool,
}

impl Precondition {
    /// Holds what is stored against a write of something new; `named` is the path's own id, absent for a POST.
    pub(super) fn check_absent(&self, stored: Option<i64>, named: bool, taken: impl FnOnce() -> String) -> Result<(), AppError> {
        match stored {
            Some(revision) if self.absent && named => Err(AppError::Stale(revision)),
            Some(_) if self.absent => Err(AppError::Conflict(taken())),
            _ => Ok(()),
        }
    }

    /// Holds the condition against what is stored.
    pub(super) fn check(&self, stored: Option<i64>) -> Result<(), AppError> {
        match (&self.revisions, stored) {
            (Some(_), None) => Err(AppError::Stale(0)),
            (Some(revisions), Some(stored)) if !revisions.is_empty() && !revisions.contains(&stored) => Err(AppError::Stale(stored)),
            _ => Ok(()),
        }
    }
}

/// How a write is to be done.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// What must hold.
    pub precondition: Precondition,
    /// Store nothing, answer with the plan.
    pub dry_run: bool,
    /// What is accepted that would be refused (`errors`).
    pub accept: BTreeSet<String>,
    /// Why, for the history.
    pub message: Option<String>,
}

impl WriteOptions {
    /// May the write leave devices that cannot be served?
    pub(super) fn accepts_errors(&self) -> bool {
        self.accept.contains("errors")
    }
}

impl App {
    /// Begins a write. A plan tells who was served: what is still buffered of that is written first, since the
    /// record has to wait for the write.
    pub(super) async fn begin(&self, actor: &Actor, options: &WriteOptions) -> Result<Write, AppError> {
        if options.dry_run {
            self.recorder().drain().await;
        }
        let author = Author { at: self.now(), actor: actor.name.clone(), message: options.message.clone() };
        Ok(self.store().write(author).await?)
    }
}

impl Actor {
    /// What is stored before a write. A damaged row counts as nothing where a whole document takes its place, or
    /// none; whose it was cannot be told, so only those who see everything may do that.
    pub(super) fn replaces<T>(
        &self,
        stored: Result<Option<Versioned<T>>, StoreError>,
        is_patch: bool,
        options: &WriteOptions,
    ) -> Result<Option<Versioned<T>>, AppError> {
        match stored {
            Err(StoreError::Corrupt(_)) if options.precondition.absent => Err(AppError::Conflict("this exists already".into())),
            Err(StoreError::Corrupt(_)) if !is_patch && self.tenants.is_none() => Ok(None),
            stored => Ok(stored?),
        }
    }
}

/// Reads a document with `read`; all errors at once.
pub(super) fn read<T>(read: impl FnOnce(&mut Reader) -> Option<T>) -> (Option<T>, Vec<FieldError>) {
    let mut reader = Reader::default();
    let value = read(&mut reader);
    (value, reader.errors)
}

/// Nothing wrong, or everything that is.
pub(super) fn settle(mut errors: Vec<FieldError>) -> Result<(), AppError> {
    errors.sort();
    errors.dedup();
    errors.truncate(MAX_ERRORS);
    if errors.is_empty() { Ok(()) } else { Err(AppError::Invalid(errors)) }
}

/// The resets that a write starts from: those stored, of which a document may take away but not add.
pub(super) fn kept_resets(stored: &[Reset], sent: Option<Vec<Reset>>) -> Vec<Reset> {
    match sent {
        Some(sent) => {
            let sent: BTreeSet<String> = sent.into_iter().map(|reset| reset.path).collect();
            stored.iter().filter(|reset| sent.contains(&reset.path)).cloned().collect()
        }
        None => stored.to_vec(),
    }
}

/// A document with its revision beside the stored fields.
pub(super) fn document<T: serde::Serialize>(value: &T, revision: i64) -> Value {
    // Domain types serialise to objects; a failure would show as a document that holds its revision alone.
    let mut body = serde_json::to_value(value).unwrap_or_default();
    if let Value::Object(map) = &mut body {
        map.insert("revision".to_owned(), revision.into());
    }
    body
}

/// JSON merge patch (RFC 7396).
pub(super) fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            merge_patch(target.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The cases of RFC 7396, appendix A.
    #[test]
    fn merge_patch_is_that_of_the_rfc() {
        for (original, patch, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut target = original;
            merge_patch(&mut target, &patch);
            assert_eq!(target, result);
        }
    }
}
