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
        // A boot file includes others by lines of their own, some for certain models: `[T46S,T48S]include:config "…"`.
        if line.split_once("include:").is_some_and(|(models, _)| models.is_empty() || (models.starts_with('[') && models.ends_with(']'))) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
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

    #[test]
    fn an_include_is_no_parameter() {
        let text =
            "#!version:1.0.0.1\noverwrite_mode = 0\ninclude:config \"a.cfg?b=c\"\n[T46S,T48S]include:config <d.cfg>\nx = include: y\n";
        let read: Vec<_> = read(text).unwrap().into_iter().map(|parameter| (parameter.name, parameter.value)).collect();
        assert_eq!(read, [("overwrite_mode".into(), "0".into()), ("x".into(), "include: y".into())]);
    }
}
