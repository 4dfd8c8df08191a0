//! Linphone's XML: `<section name="proxy_0"><entry name="reg_expires" overwrite="true">…`, named
//! `section/entry`.

use quick_xml::{Reader, events::Event};

use super::{FormatError, Parameter, whole_line};

pub(super) fn read(text: &str) -> Result<Vec<Parameter>, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut parameters = Vec::new();
    let mut section = String::new();
    let mut open: Option<(String, String, usize, usize)> = None; // name, value so far, start, start of the value
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fail = |what: String| FormatError { syntax: "lpconfig XML", at: start, what };
        let event = reader.read_event().map_err(|error| fail(error.to_string()))?;
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Event::Start(tag) if tag.name().as_ref() == "section" => {
                section = super::attribute(&tag, "name").map_err(fail)?.ok_or_else(|| fail("a section without name=".into()))?;
            }
            Event::Start(tag) if tag.name().as_ref() == "entry" => {
                let name = super::attribute(&tag, "name").map_err(fail)?.ok_or_else(|| fail("an entry without name=".into()))?;
                open = Some((format!("{section}/{name}"), String::new(), start, end));
            }
            Event::Empty(tag) if tag.name().as_ref() == "entry" => {
                let name = super::attribute(&tag, "name").map_err(fail)?.ok_or_else(|| fail("an entry without name=".into()))?;
                parameters.push(Parameter {
                    name: format!("{section}/{name}"),
                    value: String::new(),
                    span: whole_line(text, start..end),
                    value_at: end..end,
                });
            }
            Event::End(tag) if tag.name().as_ref() == "entry" => {
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
                    super::append_text(value, &event).map_err(fail)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_section() {
        let text = "<config xmlns=\"http://www.linphone.org/xsds/lpconfig.xsd\">\n<section name=\"auth_info_0\">\n<entry name=\"ha1\" overwrite=\"true\"></entry>\n<entry name=\"passwd\" overwrite=\"true\">&lt;a&gt;&#39;</entry>\n</section>\n</config>";
        let plain: Vec<_> = read(text).unwrap().into_iter().map(|p| (p.name, p.value)).collect();
        assert_eq!(plain, [("auth_info_0/ha1".into(), String::new()), ("auth_info_0/passwd".into(), "<a>'".into())]);
    }
    #[test]
    fn a_section_given_again_leaves_the_last_entry_of_a_name() {
        let text = "<config>\n<section name=\"sip\">\n<entry name=\"a\" overwrite=\"true\">1</entry>\n<entry name=\"b\" overwrite=\"true\">2</entry>\n</section>\n<section name=\"sip\">\n<entry name=\"a\" overwrite=\"true\"> &amp; </entry>\n</section>\n</config>\n";
        let kept = crate::format::keep_last(text, &read(text).unwrap());
        let plain: Vec<_> = read(&kept).unwrap().into_iter().map(|p| (p.name, p.value)).collect();
        assert_eq!(plain, [("sip/b".into(), "2".into()), ("sip/a".into(), " & ".into())]);
        assert!(roxmltree::Document::parse(&kept).is_ok());
    }
}
