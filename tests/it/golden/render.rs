//! The renderer against the golden files.

use std::collections::{BTreeMap, BTreeSet};

use offbeat::render::{self, registry};

use super::{Case, cases};

fn updating() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the product")]
    std::env::var("UPDATE_GOLDEN").is_ok_and(|value| value == "1")
}

/// Compares one case; returns what differs.
fn check(case: &Case) -> Vec<String> {
    let vendor = registry::find(&case.vendor).unwrap_or_else(|| panic!("{}: no such vendor", case.title()));
    let stack = case.stack();
    let golden = case.files();
    let mut faults = Vec::new();
    let rendered = match render::render(vendor, &stack) {
        Ok(rendered) => rendered,
        Err(refused) => {
            let codes: BTreeSet<_> = refused.errors.iter().map(|error| error.code.clone()).collect();
            if codes != case.refuses.iter().cloned().collect() || !golden.is_empty() {
                faults.push(format!("{}: refused with {:#?}", case.title(), refused.errors));
            }
            return faults;
        }
    };
    if !case.refuses.is_empty() {
        faults.push(format!("{}: is not refused", case.title()));
    }
    let codes: BTreeSet<_> = rendered.warnings.iter().map(|warning| warning.code.clone()).collect();
    if codes != case.warnings.iter().cloned().collect() {
        faults.push(format!("{}: warns {:#?}", case.title(), rendered.warnings));
    }
    let files: BTreeMap<_, _> = rendered.files.iter().map(|file| (file.name.clone(), file)).collect();
    if updating() {
        for orphan in golden.keys().filter(|name| !files.contains_key(*name)) {
            std::fs::remove_file(case.folder.join(orphan)).unwrap();
        }
        for (name, file) in &files {
            std::fs::write(case.folder.join(name), &file.text).unwrap();
        }
    } else {
        for orphan in golden.keys().filter(|name| !files.contains_key(*name)) {
            faults.push(format!("{}: {orphan} is rendered by nothing", case.title()));
        }
        for (name, file) in &files {
            if golden.get(name) != Some(&file.text) {
                let old = golden.get(name).map(String::as_str).unwrap_or_default();
                let diff = similar::TextDiff::from_lines(old, file.text.as_str());
                faults.push(format!("{}: {name} differs (UPDATE_GOLDEN=1 rewrites)\n{}", case.title(), diff.unified_diff()));
            }
        }
    }
    for (name, expected) in &case.expect {
        let Some(file) = files.get(name) else {
            faults.push(format!("{}: expects a file {name}", case.title()));
            continue;
        };
        let mut read = BTreeMap::new();
        for parameter in vendor.read(&file.text).unwrap_or_else(|error| panic!("{}: {error}", case.title())) {
            if read.insert(parameter.name.clone(), parameter.value).is_some() {
                faults.push(format!("{}: {} appears twice", case.title(), parameter.name));
            }
        }
        for (parameter, value) in expected {
            if read.get(parameter) != value.as_ref() {
                faults.push(format!("{}: {parameter} is {:?}, expected {value:?}", case.title(), read.get(parameter)));
            }
        }
    }
    // The place of each timer as the file says it.
    for row in &rendered.timers {
        let carried = rendered
            .files
            .iter()
            .filter(|file| file.parameters)
            .flat_map(|file| vendor.read(&file.text).unwrap())
            .find(|p| p.name == row.parameter);
        let overridden = stack.device.layer.parameters.values().any(|named| named.contains_key(&row.parameter))
            || stack.shared_layers().iter().any(|(_, layer)| layer.parameters.values().any(|named| named.contains_key(&row.parameter)));
        if !overridden && carried.as_ref().map(|p| &p.value) != Some(&row.written) {
            faults.push(format!(
                "{}: timer {} should stand in {} as {:?}, found {carried:?}",
                case.title(),
                row.key,
                row.parameter,
                row.written
            ));
        }
    }
    faults
}

#[test]
fn every_case_renders_its_golden_files() {
    let faults: Vec<String> = cases().iter().flat_map(check).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_vendor_has_its_three_folders_and_eight_cases() {
    let cases = cases();
    let ids: Vec<_> = registry::vendors().iter().map(|vendor| vendor.pack.id.clone()).collect();
    assert!(ids.is_sorted());
    for vendor in registry::vendors() {
        let id = &vendor.pack.id;
        let own = cases.iter().filter(|case| case.vendor == *id).count();
        assert!(own >= 8, "{id} has {own} golden cases, at least eight are needed");
        for file in &vendor.pack.files {
            assert!(vendor.kinds().any(|kind| kind == file.kind), "{id}: no template for {:?}", file.kind);
        }
    }
    for folder in ["vendors", "templates", "tests/golden"] {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir()) {
            let name = entry.file_name().into_string().unwrap();
            assert!(ids.contains(&name), "{folder}/{name} belongs to no vendor of the registry");
        }
    }
}
