//! Grandstream's XML: `<P271>1</P271>`, or `<item name="account.1.enable">Yes</item>`.

use quick_xml::{Reader, events::Event};

use super::{FormatError, Parameter, whole_line};

pub(super) fn read(text: &str) -> Result<Vec<Parameter>, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut parameters = Vec::new();
    let mut open: Option<(String, String, usize, usize)> = None; // name, value so far, start, start of the value
    loop {
        let start = position(&reader);
        let event = reader.read_event().map_err(|error| fail(position(&reader), &error.to_string()))?;
        let end = position(&reader);
        match event {
            Event::Start(tag) => {
                let tag_name = tag.name().as_ref().to_owned();
                if tag_name == "item" {
                    open = Some((attribute(&tag, "name", start)?, String::new(), start, end));
                } else if is_p_value(&tag_name) {
                    open = Some((tag_name, String::new(), start, end));
                }
            }
            Event::Empty(tag) => {
                let tag_name = tag.name().as_ref().to_owned();
                let name =
                    if tag_name == "item" { Some(attribute(&tag, "name", start)?) } else { Some(tag_name).filter(|name| is_p_value(name)) };
                parameters.extend(name.map(|name| Parameter {
                    name,
                    value: String::new(),
                    span: whole_line(text, start..end),
                    value_at: end..end,
                }));
            }
            Event::End(_) => {
                parameters.extend(open.take().map(|(name, value, from, begin)| Parameter {
                    name,
                    value,
                    span: whole_line(text, from..end),
                    value_at: begin..start,
                }));
            }
            Event::Eof => return Ok(parameters),
            event => {
                if let Some((_, value, _, _)) = &mut open {
                    super::append_text(value, &event).map_err(|what| fail(start, &what))?;
                }
            }
        }
    }
}

fn attribute(tag: &quick_xml::events::BytesStart<'_>, name: &str, at: usize) -> Result<String, FormatError> {
    super::attribute(tag, name).map_err(|what| fail(at, &what))?.ok_or_else(|| fail(at, &format!("an element without {name}=")))
}

fn is_p_value(name: &str) -> bool {
    name.strip_prefix('P').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

fn fail(at: usize, what: &str) -> FormatError {
    FormatError { syntax: "P-value XML", at, what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_is_read_as_it_was_written(value in "[^\\p{Cc}\u{fffe}\u{ffff}]{0,60}", number in 0u32..99999) {
            let escaped = quick_xml::escape::escape(value.as_str());
            let text = format!("<config>\n    <P{number}>{escaped}</P{number}>\n    <item name=\"a.{number}\">{escaped}</item>\n</config>");
            let read: Vec<_> = read(&text).unwrap().into_iter().map(|p| (p.name, p.value)).collect();
            prop_assert_eq!(read, [(format!("P{number}"), value.clone()), (format!("a.{number}"), value)]);
        }
    }

    #[test]
    fn both_forms_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<gs_provision version=\"1\">\n<config version=\"1\">\n  <P34>a&amp;b&lt;</P34>\n  <P35/>\n  <item name=\"account.1.enable\">Yes</item>\n</config>\n</gs_provision>\n";
        let read = read(text).unwrap();
        let plain: Vec<_> = read.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(plain, [("P34", "a&b<"), ("P35", ""), ("account.1.enable", "Yes")]);
        assert_eq!(&text[read[0].span.clone()], "  <P34>a&amp;b&lt;</P34>\n");
    }
}
