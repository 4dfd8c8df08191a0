//! Golden files: `tests/golden/<vendor>/<case>/input.toml` and, beside it, each file with the name its
//! phone asks for.
//!
//! `input.toml` holds the documents as the API takes them: `[[tenants]]`, `[[profiles]]`, `[device]`; then
//! what the case must show, worked out from the source of the fact: `[expect."<file>"]` (parameter = value,
//! `false` where it must be absent), `warnings = ["code"]`, or `refuses = ["code"]` where there is no file.

mod removal;
mod render;
mod serve;
mod values;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use offbeat::domain::{Device, Profile, ProfileRef, Slug, Tenant, fields::Reader, merge::Stack};
use serde_json::Value;

/// One case.
pub(crate) struct Case {
    pub(crate) vendor: String,
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) tenants: Vec<Value>,
    pub(crate) profiles: Vec<Value>,
    pub(crate) device: Value,
    /// File → parameter → value; `None` must be absent.
    pub(crate) expect: BTreeMap<String, BTreeMap<String, Option<String>>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) refuses: Vec<String>,
}

/// Every case, sorted.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for vendor in folders(Path::new("tests/golden")) {
        for folder in folders(&vendor) {
            cases.push(Case::read(&vendor, folder));
        }
    }
    assert!(!cases.is_empty());
    cases
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

impl Case {
    fn read(vendor: &Path, folder: PathBuf) -> Self {
        let text = std::fs::read_to_string(folder.join("input.toml")).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut input: toml::Table = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut take = |key: &str| input.remove(key).map(|value| serde_json::to_value(value).unwrap());
        let list = |value: Option<Value>| value.map(|v| v.as_array().unwrap().clone()).unwrap_or_default();
        let words = |value: Option<Value>| list(value).iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        let tenants = list(take("tenants"));
        let profiles = list(take("profiles"));
        let device = take("device").unwrap();
        let (warnings, refuses) = (words(take("warnings")), words(take("refuses")));
        let expect = take("expect").map(|v| v.as_object().unwrap().clone()).unwrap_or_default();
        let expect = expect
            .into_iter()
            .map(|(file, parameters)| {
                let parameters =
                    parameters.as_object().unwrap().iter().map(|(name, value)| (name.clone(), value.as_str().map(str::to_owned)));
                (file, parameters.collect())
            })
            .collect();
        assert!(input.is_empty(), "{}: unknown keys {:?}", folder.display(), input.keys().collect::<Vec<_>>());
        Self { vendor: name(vendor), name: name(&folder), folder, tenants, profiles, device, expect, warnings, refuses }
    }

    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.vendor, self.name)
    }

    /// The golden files of the case by name.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| name(path) != "input.toml").map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
    }

    /// The device with its layers, as a store would give them.
    pub(crate) fn stack(&self) -> Stack {
        let mut reader = Reader::default();
        let tenants: Vec<Tenant> = self
            .tenants
            .iter()
            .filter_map(|t| Tenant::read(t, None, &mut reader))
            .map(with_resets)
            .map(|(mut t, r)| {
                t.layer.resets = r;
                t
            })
            .collect();
        let profiles: Vec<Profile> = self
            .profiles
            .iter()
            .filter_map(|p| {
                let tenant = Slug::parse(p["tenant"].as_str().unwrap_or("default"))?;
                Profile::read(p, &tenant, None, &mut reader)
            })
            .map(with_resets)
            .map(|(mut p, r)| {
                p.layer.resets = r;
                p
            })
            .collect();
        let device = Device::read(&self.device, None, &mut reader).map(with_resets);
        assert_eq!(reader.errors, [], "{}", self.title());
        let (mut device, resets) = device.unwrap();
        device.layer.resets = resets;

        let mut chain = Vec::new();
        let mut next = Some(device.tenant.clone());
        while let Some(id) = next.take() {
            let Some(tenant) = tenants.iter().find(|tenant| tenant.id == id) else { break };
            next.clone_from(&tenant.parent);
            chain.insert(0, tenant.clone());
        }
        let mut next: Option<ProfileRef> = device.profile.clone().or_else(|| chain.iter().rev().find_map(|tenant| tenant.profile.clone()));
        let mut own = Vec::new();
        while let Some(reference) = next.take() {
            let profile = profiles
                .iter()
                .find(|profile| profile.reference() == reference)
                .unwrap_or_else(|| panic!("{}: no profile {reference}", self.title()));
            next.clone_from(&profile.extends);
            own.insert(0, profile.clone());
        }
        Stack { tenants: chain, profiles: own, device }
    }
}

fn with_resets<T>((value, resets): (T, Option<Vec<offbeat::domain::Reset>>)) -> (T, Vec<offbeat::domain::Reset>) {
    (value, resets.unwrap_or_default())
}
