//! The parameters a vendor's phones know, from `vendors/<id>/parameters.tsv`.

use std::collections::BTreeMap;

use super::pattern::Pattern;

/// Names the phones know: exact ones, and patterns where a name holds a number.
#[derive(Clone, Debug, Default)]
pub struct KnownParameters {
    exact: BTreeMap<String, Option<String>>,
    patterns: Vec<(Pattern, Option<String>)>,
}

impl KnownParameters {
    /// Reads a tab-separated list with a heading line: the name in the first column, the phone's own default in
    /// the fifth.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn parse(text: &str) -> Result<Self, csv::Error> {
        let mut known = Self::default();
        let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').quoting(false).flexible(true).from_reader(text.as_bytes());
        for row in reader.records() {
            let row = row?;
            let Some(name) = row.get(0).filter(|name| !name.is_empty()) else { continue };
            let default = row.get(4).filter(|text| is_default(text)).map(str::to_owned);
            if name.contains('*') {
                known.patterns.push((Pattern::new(name), default));
            } else {
                known.exact.insert(name.to_owned(), default);
            }
        }
        Ok(known)
    }

    /// Is the name one of them?
    pub fn contains(&self, name: &str) -> bool {
        self.exact.contains_key(name) || self.patterns.iter().any(|(pattern, _)| pattern.matches(name))
    }

    /// The phone's own default of the parameter, where the list has one.
    pub fn default_of(&self, name: &str) -> Option<&str> {
        match self.exact.get(name) {
            Some(default) => default.as_deref(),
            None => self.patterns.iter().find(|(pattern, _)| pattern.matches(name)).and_then(|(_, default)| default.as_deref()),
        }
    }

    /// How many names and patterns there are.
    pub fn len(&self) -> usize {
        self.exact.len() + self.patterns.len()
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A value of the phone itself, not what somebody's template ships, nor words about it.
fn is_default(text: &str) -> bool {
    !text.is_empty() && !text.starts_with("tmpl:") && !text.contains([' ', '(', '[']) && text != "Null"
}
