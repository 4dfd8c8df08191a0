//! Poly's XML: parameters are attributes, whatever the element.

use quick_xml::{Reader, events::Event};

use super::{FormatError, Parameter, offset, whole_line};

pub(super) fn read(text: &str) -> Result<Vec<Parameter>, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut parameters = Vec::new();
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fail = |what: String| FormatError { syntax: "attribute XML", at, what };
        match reader.read_event().map_err(|error| fail(error.to_string()))? {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let attribute = attribute.map_err(|error| fail(error.to_string()))?;
                    let name = attribute.key.as_ref().to_owned();
                    if name.starts_with("xml") || name.starts_with("xsi:") {
                        continue;
                    }
                    let value = super::unescape(&attribute.value).map_err(fail)?;
                    let start = offset(text, &attribute.value);
                    let value_at = start..start + attribute.value.len();
                    parameters.push(Parameter { name, value, span: span(text, attribute.key.as_ref(), &attribute.value), value_at });
                }
            }
            Event::Eof => return Ok(parameters),
            _ => {}
        }
    }
}

/// From the white space before the name to the closing quote.
fn span(text: &str, key: &str, value: &str) -> std::ops::Range<usize> {
    let name = offset(text, key);
    let end = offset(text, value) + value.len() + 1;
    let start = text[..name].trim_end_matches([' ', '\t']).len();
    let line = whole_line(text, name..end);
    if line.start < name || line.end > end { line } else { start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_can_be_cut_out() {
        let text = "<?xml version=\"1.0\"?>\n<polycomConfig>\n  <reg\n    reg.1.address=\"10&quot;0\"\n    reg.1.label='x' reg.2.label=\"\"/>\n</polycomConfig>\n";
        let read = read(text).unwrap();
        let plain: Vec<_> = read.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(plain, [("reg.1.address", "10\"0"), ("reg.1.label", "x"), ("reg.2.label", "")]);
        let mut cut = text.to_owned();
        for parameter in read.iter().rev() {
            cut.replace_range(parameter.span.clone(), "");
        }
        assert_eq!(cut.split_whitespace().collect::<String>(), "<?xmlversion=\"1.0\"?><polycomConfig><reg/></polycomConfig>");
        assert_eq!(super::read(&cut).unwrap(), []);
    }

    #[test]
    fn a_later_element_beats_an_earlier_attribute() {
        let text = "<a>\n  <reg\n    reg.1.label=\"x\"\n    reg.1.address=\"1\"\n  />\n  <parameters\n    reg.1.label=\"y\"\n  />\n</a>\n";
        let kept = super::super::keep_last(text, &read(text).unwrap());
        assert_eq!(kept, "<a>\n  <reg\n    reg.1.address=\"1\"\n  />\n  <parameters\n    reg.1.label=\"y\"\n  />\n</a>\n");
    }

    #[test]
    fn an_attribute_twice_in_one_element_is_an_error() {
        // The phone's XML parser refuses the whole file.
        assert!(read("<reg reg.1.label=\"x\" reg.1.label=\"y\"/>").is_err());
    }
}
