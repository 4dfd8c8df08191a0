//! `name = value`, one per line; a line that begins with `#` is a comment.

use super::{FormatError, Parameter};

pub(super) fn read(text: &str) -> Result<Vec<Parameter>, FormatError> {
    let mut parameters = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        let line = line.trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            // A boot file includes others by lines of their own.
            if line.starts_with("include:") || line.starts_with('[') {
                continue;
            }
            return Err(FormatError { syntax: "name = value", at: span.start, what: "a line without '='".into() });
        };
        let value = value.trim();
        let start = super::offset(text, value);
        let value_at = start..start + value.len();
        parameters.push(Parameter { name: name.trim().to_owned(), value: value.to_owned(), span, value_at });
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_run_to_the_end_of_the_line() {
        let text = "#!version:1.0.0.1\n\naccount.1.password = a=b # c\n# comment\nkey=\n";
        let read = read(text).unwrap();
        assert_eq!((read[0].name.as_str(), read[0].value.as_str()), ("account.1.password", "a=b # c"));
        assert_eq!((read[1].name.as_str(), read[1].value.as_str()), ("key", ""));
        assert_eq!(&text[read[0].span.clone()], "account.1.password = a=b # c\n");
    }
}
