//! Values are exact: what a parser of its own reads from a file is what was stored.

use std::collections::BTreeMap;

use offbeat::{
    domain::{Secret, Setting, Text, fields::Reader, merge::Stack},
    render::{self, registry},
};
use proptest::prelude::*;
use serde_json::json;

use super::cases;

/// Parameters of a file as a reader that shares nothing with the product's sees them; of equal names the last.
fn read(text: &str) -> BTreeMap<String, String> {
    if !text.starts_with("<?xml") {
        let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
        return lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    }
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut read = BTreeMap::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let content: String = node.children().filter(roxmltree::Node::is_text).filter_map(|part| part.text()).collect();
        let name = node.tag_name().name();
        match (name, node.attribute("name")) {
            ("entry", Some(entry)) => {
                let section = node.parent().and_then(|parent| parent.attribute("name")).unwrap();
                read.insert(format!("{section}/{entry}"), content);
            }
            ("item", Some(item)) => _ = read.insert(item.to_owned(), content),
            ("section" | "config" | "gs_provision", _) => {}
            _ if name.starts_with('P') && name[1..].bytes().all(|b| b.is_ascii_digit()) => _ = read.insert(name.to_owned(), content),
            _ => read.extend(node.attributes().map(|attribute| (attribute.name().to_owned(), attribute.value().to_owned()))),
        }
    }
    read
}

#[test]
fn an_independent_reader_sees_the_same_parameters() {
    let mut compared = 0;
    for case in cases() {
        let vendor = registry::find(&case.vendor).unwrap();
        let Ok(rendered) = render::render(vendor, &case.stack()) else { continue };
        for file in rendered.files.iter().filter(|file| file.parameters) {
            let base = |name: String| name.split_once('[').map_or(name.clone(), |(base, _)| base.to_owned());
            let ours: BTreeMap<_, _> = vendor.read(&file.text).unwrap().into_iter().map(|p| (base(p.name), p.value)).collect();
            assert_eq!(read(&file.text), ours, "{}", case.title());
            compared += ours.len();
        }
    }
    assert!(compared > 5000, "{compared}");
}

/// The minimal case of each vendor, with a name and a password in place of its own.
fn stacks(name: &str, password: &str) -> Vec<(String, Stack)> {
    let minimal = cases().into_iter().filter(|case| case.name == "minimal");
    minimal
        .map(|case| {
            let mut stack = case.stack();
            let line = &mut stack.device.lines[0];
            line.label = Text::read(&json!(name), &mut Reader::default());
            line.password = Some(Secret::new(password));
            (case.vendor, stack)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_stored_is_read_back_or_refused(
        name in "[^\\p{Cc}\u{fffe}\u{ffff}]{1,40}",
        password in "[ -~]{0,20}[&<>\"'#;=%\\\\$ {}\u{e4}\u{20ac}\u{1f600}]{0,6}[!-~]",
    ) {
        for (id, stack) in stacks(&name, &password) {
            let vendor = registry::find(&id).unwrap();
            match render::render(vendor, &stack) {
                Ok(rendered) => {
                    let text = &rendered.files.iter().find(|file| file.parameters).unwrap().text;
                    let read = read(text);
                    prop_assert!(read.values().any(|value| *value == password), "{}: the password {:?} in\n{}", id, password, text);
                    let knows_labels = vendor.pack.id != "linphone";
                    prop_assert!(!knows_labels || read.values().any(|value| *value == name), "{}: the label {:?} in\n{}", id, name, text);
                }
                Err(faulty) => prop_assert!(faulty.errors.iter().all(|error| error.code == "not_representable"), "{}: {:?}", id, faulty.errors),
            }
        }
    }
}
