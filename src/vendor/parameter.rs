//! The parameters a vendor's phones know, from `vendors/<id>/parameters.tsv`.

use std::collections::BTreeSet;

use super::pattern::Pattern;

/// Names the phones know: exact ones, and patterns where a name holds a number.
#[derive(Clone, Debug, Default)]
pub struct KnownParameters {
    exact: BTreeSet<String>,
    patterns: Vec<Pattern>,
}

impl KnownParameters {
    /// Reads the first column of a tab-separated list with a heading line.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn parse(text: &str) -> Result<Self, csv::Error> {
        let mut known = Self::default();
        let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').quoting(false).flexible(true).from_reader(text.as_bytes());
        for row in reader.records() {
            let row = row?;
            let Some(name) = row.get(0).filter(|name| !name.is_empty()) else { continue };
            if name.contains('*') {
                known.patterns.push(Pattern::new(name));
            } else {
                known.exact.insert(name.to_owned());
            }
        }
        Ok(known)
    }

    /// Is the name one of them?
    pub fn contains(&self, name: &str) -> bool {
        self.exact.contains(name) || self.patterns.iter().any(|pattern| pattern.matches(name))
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
