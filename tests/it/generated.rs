//! Parts of documents that are made from the product: held against it, and rewritten by `UPDATE_GOLDEN=1`.
//!
//! A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`.

use std::sync::{Mutex, PoisonError};

/// Two parts of one document may be rewritten by two tests at once.
static DOCUMENTS: Mutex<()> = Mutex::new(());

/// Holds the part of a document against what it should be.
pub(crate) fn hold(path: &str, name: &str, part: &str) {
    let _guard = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let from = text.find(&begin).unwrap_or_else(|| panic!("{path} has no line {begin}")) + begin.len();
    let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("{path} has no line {end}"));
    let part = format!("{}\n", part.trim_end());
    if updating() {
        std::fs::write(path, format!("{}{part}{}", &text[..from], &text[to..])).unwrap();
    } else if text[from..to] != part {
        let diff = similar::TextDiff::from_lines(&text[from..to], part.as_str());
        panic!("{path}: the part {name:?} is out of date (UPDATE_GOLDEN=1 rewrites)\n{}", diff.unified_diff());
    }
}

fn updating() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the product")]
    std::env::var("UPDATE_GOLDEN").is_ok_and(|value| value == "1")
}
