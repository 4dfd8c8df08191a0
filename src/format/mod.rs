//! Reads a rendered file back into parameters, one module per syntax.
//!
//! The same readers serve the diff (what changed), the renderer (a raw parameter beats the template's own
//! line) and the tests (what was written is what is read). Imports the domain alone; a new syntax is a
//! module and a line in [`Syntax`].

mod attributes;
mod lines;
mod lpconfig;
mod pvalues;

use std::ops::Range;

/// A parameter as a phone's parser reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The vendor's own name.
    pub name: String,
    /// The value, unescaped.
    pub value: String,
    /// Where the whole assignment stands, so that it can be cut out cleanly.
    pub span: Range<usize>,
    /// Where the value alone stands, as it is written; empty where nothing is.
    pub value_at: Range<usize>,
}

/// Why a file cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{syntax} cannot be read at byte {at}: {what}")]
pub struct FormatError {
    /// Which syntax.
    pub syntax: &'static str,
    /// Where.
    pub at: usize,
    /// What is wrong.
    pub what: String,
}

/// A syntax of configuration files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `name = value`, one per line.
    Lines,
    /// XML, one element per P-value, or `<item name="…">`.
    PValues,
    /// XML, parameters are attributes of any element.
    Attributes,
    /// XML, `<section name="…"><entry name="…">`.
    Lpconfig,
}

impl Syntax {
    /// The syntax a pack names.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "lines" => Some(Self::Lines),
            "pvalues" => Some(Self::PValues),
            "attributes" => Some(Self::Attributes),
            "lpconfig" => Some(Self::Lpconfig),
            _ => None,
        }
    }

    /// Reads a file. `keyed` tells which parameters hold part of their name in the value (`admin:…`).
    ///
    /// # Errors
    /// Where the text is not of this syntax.
    pub fn read(self, text: &str, keyed: &dyn Fn(&str) -> bool) -> Result<Vec<Parameter>, FormatError> {
        let mut parameters = match self {
            Self::Lines => lines::read(text),
            Self::PValues => pvalues::read(text),
            Self::Attributes => attributes::read(text),
            Self::Lpconfig => lpconfig::read(text),
        }?;
        for parameter in parameters.iter_mut().filter(|parameter| keyed(&parameter.name)) {
            if let Some((key, _)) = parameter.value.split_once(':') {
                parameter.name = format!("{}[{key}]", parameter.name);
            }
        }
        Ok(parameters)
    }
}

/// Cuts out every assignment but the last of each name: the last stands for what an administrator said.
pub fn keep_last(text: &str, parameters: &[Parameter]) -> String {
    let mut last = std::collections::BTreeMap::new();
    for (index, parameter) in parameters.iter().enumerate() {
        last.insert(parameter.name.as_str(), index);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (index, parameter) in parameters.iter().enumerate() {
        if last.get(parameter.name.as_str()) != Some(&index) {
            kept.push_str(&text[from..parameter.span.start]);
            from = parameter.span.end;
        }
    }
    kept.push_str(&text[from..]);
    kept
}

/// Widens a span to the whole line when nothing else stands on it.
fn whole_line(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    let alone = text[start..span.start].trim().is_empty() && text[span.end..end].trim().is_empty();
    if alone { start..end } else { span }
}

/// Offset of a part of `text` in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Unescapes a raw XML text.
fn unescape(raw: &str) -> Result<String, String> {
    quick_xml::escape::unescape(raw).map(std::borrow::Cow::into_owned).map_err(|error| error.to_string())
}

/// The value of one attribute of a tag.
fn attribute(tag: &quick_xml::events::BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_ref() == name {
            return unescape(&attribute.value).map(Some);
        }
    }
    Ok(None)
}

/// Adds what a text event holds; other events hold none.
fn append_text(value: &mut String, event: &quick_xml::events::Event<'_>) -> Result<(), String> {
    use quick_xml::events::Event;
    match event {
        Event::Text(text) => value.push_str(text),
        Event::CData(text) => value.push_str(text),
        Event::GeneralRef(reference) => value.push_str(&unescape(&format!("&{};", &**reference))?),
        _ => {}
    }
    Ok(())
}
