//! What is printed beyond the template's own lines: raw parameters, and resets of what was taken away.

use std::collections::BTreeMap;

use super::{Draft, Faulty, RenderedFile, Warning, view::Extra};
use crate::{
    domain::{
        FieldError, Reset,
        fields::split_pointer,
        layer::parameter_pointer,
        merge::{Effective, raw_parameter},
        resets::is_left_on_phone,
    },
    vendor::{Effect, spec::Pack},
};

/// Raw parameters and resets in order of their names, each once.
///
/// A reset needs no table from settings to parameters: the device is rendered once more with the setting
/// still there, and what that file holds and the real one does not goes back to the pack's reset value.
pub(super) fn extras(draft: &Draft<'_>, effective: &Effective, plain: &[RenderedFile]) -> Result<(Vec<Extra>, Vec<Warning>), Faulty> {
    let pack = &draft.vendor.pack;
    let mut extras = BTreeMap::new();
    let mut warnings = Vec::new();

    let (left, due): (Vec<&Reset>, Vec<&Reset>) = effective.resets.iter().partition(|reset| is_left_on_phone(&reset.path));
    for reset in left {
        warnings.push(Warning::new("left_on_phone", format!("{} is no longer set; the phone keeps what it has", reset.path)));
    }
    let mut reset = |name: String, value: Option<&str>, warnings: &mut Vec<Warning>| match value {
        Some(value) => _ = extras.insert(name, value.to_owned()),
        None => warnings.push(Warning::new("left_on_phone", format!("{name} has no known default; the phone keeps what it has"))),
    };
    if !due.is_empty() {
        let own = parameters(draft, plain)?;
        let haunted = effective.haunted(&due);
        let ghost = parameters(draft, &draft.files(&draft.view(&haunted))?)?;
        for (name, _) in ghost.into_iter().filter(|(name, _)| !own.contains_key(name)) {
            let value = draft.phone.reset_value(&name);
            reset(name, value, &mut warnings);
        }
        for name in due.iter().filter_map(|due| raw_parameter_of(draft, &due.path)).filter(|name| !own.contains_key(name)) {
            let value = raw_default(draft, &name);
            reset(name, value, &mut warnings);
        }
    }
    for (name, (value, _)) in &effective.parameters {
        if draft.phone.dialect.foreign.iter().any(|pattern| pattern.matches(name)) {
            warnings.push(Warning::new(
                "unknown_parameter",
                format!("{name} is not among those that {} is known to read", draft.phone.model_name()),
            ));
        } else if !is_known(pack, name) {
            warnings.push(Warning::new("unknown_parameter", format!("{name} is not among the parameters known of {}", pack.name)));
        }
        extras.insert(name.clone(), value.expose().to_owned());
    }
    check_values(draft, effective, &extras)?;
    let extras = extras.into_iter().map(|(name, value)| Extra::new(name, value)).collect();
    Ok((extras, warnings))
}

/// What a raw parameter goes back to: never one that could keep the phone from coming back.
fn raw_default<'a>(draft: &'a Draft<'_>, name: &str) -> Option<&'a str> {
    let pack = &draft.vendor.pack;
    let strands = pack
        .effects
        .iter()
        .any(|fact| fact.effect == Effect::Strand && fact.is_for(draft.phone) && draft.phone.fit(&fact.pattern, name).is_some());
    if strands || pack.is_secret(name) {
        return None;
    }
    draft.phone.reset_value(name).or_else(|| pack.known.default_of(name))
}

/// Do the phones know the raw parameter, or what it is a sub-name of?
fn is_known(pack: &Pack, name: &str) -> bool {
    pack.known.contains(name) || keyed(pack, name).is_some_and(|(base, _)| pack.known.contains(base))
}

/// Name and sub-name of a parameter that is given once per sub-name: `name[sub]`.
fn keyed<'n>(pack: &Pack, name: &'n str) -> Option<(&'n str, &'n str)> {
    let (base, sub) = name.strip_suffix(']')?.split_once('[')?;
    pack.keyed.iter().any(|pattern| pattern.matches(base)).then_some((base, sub))
}

/// A raw parameter in the path of a reset, where its selector names this device.
fn raw_parameter_of(draft: &Draft<'_>, path: &str) -> Option<String> {
    let (selector, _) = split_pointer(path.strip_prefix("/parameters")?)?;
    draft.phone.selected_by(&selector, draft.stack.device.model_name())?;
    raw_parameter(path)
}

fn parameters(draft: &Draft<'_>, files: &[RenderedFile]) -> Result<BTreeMap<String, String>, Faulty> {
    let mut all = BTreeMap::new();
    for file in files.iter().filter(|file| file.parameters) {
        all.extend(draft.read(file)?.into_iter().map(|parameter| (parameter.name, parameter.value)));
    }
    Ok(all)
}

/// A raw value that the format cannot carry is an error of the device: never a file that says otherwise.
fn check_values(draft: &Draft<'_>, effective: &Effective, extras: &BTreeMap<String, String>) -> Result<(), Faulty> {
    let pack = &draft.vendor.pack;
    // The sub-name of `name[sub]` stands in the value, `sub:…`: with another it would be another parameter.
    let strays = |name: &str, value: &str| keyed(pack, name).is_some_and(|(_, sub)| value.split(':').next() != Some(sub));
    let bad = |name: &&String| {
        !draft.vendor.name_fits(name) || extras.get(*name).is_some_and(|value| !draft.vendor.value_fits(value) || strays(name, value))
    };
    let errors: Vec<FieldError> = effective
        .parameters
        .keys()
        .filter(bad)
        .map(|name| {
            let path = parameter_pointer(&pack.id, name);
            FieldError::new(path, "not_representable", format!("{} cannot carry this name or value in its files", pack.name))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Faulty { errors, warnings: Vec::new() }) }
}
