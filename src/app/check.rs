//! What a document must hold to beyond its own shape: names of vendors, raw parameters, zones, and timers
//! that stay above their floor.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    domain::{
        Device, FieldError, Layer, Line, MaybeSecret, Setting, Settings, TimerName,
        fields::{overlay_field, push_pointer, split_pointer},
        layer::parameter_pointer,
        merge::Source,
        settings::{Phonebook, Sip},
        timer::Timers,
    },
    render::registry,
    zone,
};

/// Checks a layer against the packs, and marks raw parameters that are secrets.
pub(super) fn layer(layer: &mut Layer, errors: &mut Vec<FieldError>) {
    parameters(layer, errors);
    settings(&layer.settings, errors);
}

fn parameters(layer: &mut Layer, errors: &mut Vec<FieldError>) {
    for (selector, named) in &mut layer.parameters {
        let vendor = match selected_vendor(selector) {
            Ok(vendor) => vendor,
            Err(id) => {
                let mut path = String::from("/parameters");
                push_pointer(&mut path, selector);
                errors.push(FieldError::new(path, "unknown_vendor", unknown_vendor(id)));
                continue;
            }
        };
        for (name, value) in named.iter_mut() {
            let path = parameter_pointer(selector, name);
            if !vendor.name_fits(name) {
                errors.push(FieldError::new(path, "not_a_parameter", format!("this is no name of a {} parameter", vendor.pack.name)));
                continue;
            }
            if !vendor.value_fits(value.expose()) {
                errors.push(FieldError::new(path, "not_representable", format!("{} files cannot carry this value", vendor.pack.name)));
            }
            if vendor.pack.is_secret(name) && !value.expose().is_empty() {
                let plain = std::mem::replace(value, MaybeSecret::Plain(String::new()));
                *value = plain.into_secret();
            }
        }
    }
}

/// What a wrong vendor name is answered with.
pub(super) fn unknown_vendor(id: &str) -> String {
    let known: Vec<_> = registry::vendors().iter().map(|vendor| vendor.pack.id.as_str()).collect();
    format!("{id:?} is no vendor; there are {}", known.join(", "))
}

fn settings(settings: &Settings, errors: &mut Vec<FieldError>) {
    if let Some(name) = settings.time.as_ref().and_then(|time| time.zone.as_ref()).filter(|name| !name.as_str().is_empty())
        && zone::find(name.as_str()).is_none()
    {
        errors.push(FieldError::new(
            "/settings/time/zone",
            "unknown_zone",
            format!("{:?} is not an IANA zone name such as Europe/Berlin", name.as_str()),
        ));
    }
    if let Some(locale) = &settings.locale {
        if locale.language.as_ref().is_some_and(|tag| !is_language(tag.as_str())) {
            errors.push(FieldError::new(
                "/settings/locale/language",
                "not_a_language",
                "expected a language tag (BCP 47) such as de or en-GB",
            ));
        }
        if locale.tones.as_ref().is_some_and(|code| !matches!(code.as_str().len(), 0 | 2) || !is_letters(code.as_str())) {
            errors.push(FieldError::new(
                "/settings/locale/tones",
                "not_a_country",
                "expected a country code (ISO 3166 alpha-2) such as DE",
            ));
        }
    }
    for (index, book) in settings.phonebooks.iter().flatten().enumerate() {
        if book.url.as_ref().is_none_or(|url| url.expose().is_empty() && !url.is_kept()) {
            errors.push(FieldError::new(format!("/settings/phonebooks/{index}/url"), "required", "a phone book needs a url"));
        }
    }
    for id in settings.calling.iter().filter_map(|calling| calling.dial_plan.as_ref()).flat_map(BTreeMap::keys) {
        if registry::find(id).is_none() {
            let mut path = "/settings/calling/dial_plan".to_owned();
            push_pointer(&mut path, id);
            errors.push(FieldError::new(path, "unknown_vendor", unknown_vendor(id)));
        }
    }
    for selector in settings.firmware.iter().flat_map(BTreeMap::keys) {
        let mut path = "/settings/firmware".to_owned();
        push_pointer(&mut path, selector);
        match selected_vendor(selector) {
            Err(id) => errors.push(FieldError::new(path, "unknown_vendor", unknown_vendor(id))),
            Ok(_) if !selector.contains('/') => {
                errors.push(FieldError::new(path, "not_a_selector", "firmware is that of a model: expected \"<vendor>/<model>\""));
            }
            Ok(_) => {}
        }
    }
}

/// The vendor that a selector (`"<vendor>"` or `"<vendor>/<model>"`) names, or the name of none.
fn selected_vendor(selector: &str) -> Result<&'static registry::Vendor, &str> {
    let (id, model) = selector.split_once('/').map_or((selector, None), |(id, model)| (id, Some(model)));
    if model.is_some_and(str::is_empty) {
        return Err(selector);
    }
    registry::find(id).ok_or(id)
}

fn is_letters(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let primary = parts.next().unwrap_or_default();
    tag.is_empty()
        || ((2..=3).contains(&primary.len())
            && is_letters(primary)
            && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())))
}

/// An interval that a layer sets must not be below the floor in force there, so that it is a decision; 0 is
/// off, where a phone may be without the timer. `layers` end with the written one.
pub(super) fn timers(layers: &[(Source, &Layer)], device: Option<&Device>, errors: &mut Vec<FieldError>) {
    let mut merged = Settings::default();
    for (_, layer) in layers {
        merged.overlay(&layer.settings, &mut String::new(), &mut |_| {});
    }
    let Some((_, own)) = layers.last() else { return };
    own_timers("/settings", own.settings.timers.as_ref(), merged.timers.as_ref(), merged.sip.as_ref(), errors);
    for (index, line) in device.iter().flat_map(|device| device.lines.iter().enumerate()) {
        let (timers, sip) = of_line(&merged, line);
        own_timers(&format!("/lines/{index}"), line.timers.as_ref(), timers.as_ref(), sip.as_ref(), errors);
    }
}

fn of_line(settings: &Settings, line: &Line) -> (Option<Timers>, Option<Sip>) {
    let mut ignore = |_: &str| {};
    let (mut timers, mut sip) = (settings.timers.clone(), settings.sip.clone());
    overlay_field(&mut timers, line.timers.as_ref(), "timers", &mut String::new(), &mut ignore);
    overlay_field(&mut sip, line.sip.as_ref(), "sip", &mut String::new(), &mut ignore);
    (timers, sip)
}

fn own_timers(base: &str, own: Option<&Timers>, merged: Option<&Timers>, sip: Option<&Sip>, errors: &mut Vec<FieldError>) {
    let (Some(own), Some(merged)) = (own, merged) else { return };
    for name in TimerName::ALL {
        let Some(interval) = own.get(name).interval.map(|n| n.get()) else { continue };
        let path = format!("{base}/timers/{}/interval", name.as_str());
        if interval == 0 {
            if !name.may_be_off() {
                errors.push(FieldError::new(path, "cannot_be_off", format!("{} cannot be off; expected at least 1 s", name.as_str())));
            }
            continue;
        }
        let mut floor = merged.get(name).floor.map_or(name.defaults().floor, |n| n.get());
        if name.heeds_registrar() {
            let least = sip.and_then(|sip| sip.registrar.as_ref()).and_then(|registrar| registrar.min_expires).map_or(0, |n| n.get());
            floor = floor.max(least);
        }
        if interval < floor {
            errors.push(FieldError::new(
                path,
                "below_floor",
                format!("{interval} s is below the floor in force here, {floor} s; lower the floor as well if this is meant"),
            ));
        }
    }
}

/// Where the lines of a document stand as it was sent; a device holds them in the order of their numbers.
pub(super) struct SentLines(Vec<Option<u64>>);

impl SentLines {
    /// The lines of a device's document.
    pub(super) fn of(body: &Value) -> Self {
        Self(body["lines"].as_array().into_iter().flatten().map(|line| line["line"].as_u64()).collect())
    }

    /// Errors whose pointers name lines by their number, with pointers into what was sent.
    pub(super) fn by_number(&self, errors: Vec<FieldError>) -> Vec<FieldError> {
        self.turn(errors, Some)
    }

    /// Errors whose pointers name lines by their place on the device, with pointers into what was sent.
    pub(super) fn by_place(&self, device: &Device, errors: Vec<FieldError>) -> Vec<FieldError> {
        self.turn(errors, |place| device.lines.get(place).and_then(|line| usize::try_from(line.line).ok()))
    }

    fn turn(&self, mut errors: Vec<FieldError>, number: impl Fn(usize) -> Option<usize>) -> Vec<FieldError> {
        for error in &mut errors {
            let Some((name, tail)) = error.path.strip_prefix("/lines").and_then(split_pointer) else { continue };
            let number = name.parse().ok().and_then(&number).and_then(|number| u64::try_from(number).ok());
            if let Some(place) = self.0.iter().position(|sent| sent.is_some() && *sent == number) {
                error.path = format!("/lines/{place}{tail}");
            }
        }
        errors
    }
}

/// Fills every `{"set": true}` from the stored document, or says which has nothing stored. A line is known by its
/// number, a key by its place, a phone book by its name.
pub(super) fn keep_secrets<T>(
    new: &mut T,
    old: Option<&mut T>,
    layer: impl Fn(&T) -> &Layer,
    visit: impl Fn(&mut T, &mut dyn FnMut(&str, &mut crate::domain::Secret)),
    errors: &mut Vec<FieldError>,
) {
    let (mut stored, mut books) = (BTreeMap::new(), Vec::new());
    if let Some(old) = old {
        visit(old, &mut |path, secret| _ = stored.insert(path.to_owned(), secret.expose().to_owned()));
        books = layer(old).settings.phonebooks.clone().unwrap_or_default();
    }
    let (renamed, keys) = (same_books(&books, layer(new)), key_places(layer(new)));
    visit(new, &mut |path, secret| {
        if !secret.is_kept() {
            return;
        }
        let known = match path.strip_prefix(PHONEBOOKS) {
            Some(_) => renamed.get(path).and_then(|path| stored.get(path)),
            None => stored.get(path),
        };
        match known {
            Some(text) => secret.keep(text),
            None => errors.push(FieldError::new(
                keys.get(path).map_or(path, String::as_str),
                "no_secret_stored",
                "{\"set\": true} keeps a stored secret, and there is none here: send the secret itself",
            )),
        }
    });
}

const PHONEBOOKS: &str = "/settings/phonebooks/";

/// The pointer of each phone book's address in a layer to that of the stored one of the same name; where several
/// have the name, of the one in the same place.
fn same_books(stored: &[Phonebook], layer: &Layer) -> BTreeMap<String, String> {
    let pointer = |index: usize| format!("{PHONEBOOKS}{index}/url");
    let same = |(index, book): (usize, &Phonebook)| {
        let mut named = stored.iter().enumerate().filter(|(_, known)| known.name == book.name).map(|(index, _)| index);
        let place = if named.clone().any(|known| known == index) { index } else { named.next().filter(|_| named.next().is_none())? };
        Some((pointer(index), pointer(place)))
    };
    layer.settings.phonebooks.iter().flatten().enumerate().filter_map(same).collect()
}

/// Where each key's value stands in the document, by the pointer that its place gives it.
fn key_places(layer: &Layer) -> BTreeMap<String, String> {
    let keys = layer.keys.iter().flatten().enumerate();
    keys.map(|(index, key)| (format!("/keys/{}/{}/value", key.module, key.position), format!("/keys/{index}/value"))).collect()
}
