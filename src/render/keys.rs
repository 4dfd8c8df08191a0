//! The programmable keys of a phone and its modules: total once a layer has given any.

use std::collections::BTreeMap;

use super::look::Looker;
use super::view::{Code, KeyView, LineView};
use crate::{
    domain::{Device, Fill, Key, KeyType, MaybeSecret, merge::Effective},
    vendor::Phone,
};

/// Every key in order of module and position; empty while no layer has given keys.
pub(super) fn views(look: &mut Looker<'_>, device: &Device, effective: &Effective, lines: &[LineView]) -> Vec<KeyView> {
    let Some(keys) = &effective.keys else { return Vec::new() };
    let sizes = sizes(look, device, keys);
    for key in keys.values() {
        let size = usize::try_from(key.module).ok().and_then(|module| sizes.get(module)).copied().unwrap_or(0);
        if key.position > size {
            let detail = format!("module {} position {} is beyond what {} has ({size})", key.module, key.position, look.phone.model_name());
            look.warn("key_beyond_model", detail);
        }
    }
    let pickup_code =
        effective.settings.calling.as_ref().and_then(|calling| calling.pickup_code.as_ref()).map(|text| text.as_str().to_owned());
    let mut free_lines = appearances(keys, lines);
    let mut views = Vec::new();
    let (mut index, mut number) = (0, 0);
    for (module, size) in (0u32..).zip(&sizes) {
        index = if module <= 1 { 0 } else { index };
        for position in 1..=*size {
            index += 1;
            number += 1;
            let key = keys.get(&(module, position)).filter(|key| !monitors_itself(key, lines));
            let named = keys.contains_key(&(module, position));
            let place = Place { number, ..Place::of(look.phone, module, position, index) };
            let takes_line = look.phone.code(place.codes, KeyType::Line.as_str()).is_some();
            let fill = (module == 0 && !named && takes_line && device.fill == Fill::Lines).then(|| free_lines.next()).flatten();
            views.push(match (key, fill) {
                (Some(key), _) => view(look, key, place, pickup_code.as_deref()),
                (None, Some(line)) => bare(look, place, KeyType::Line, line),
                (None, None) => bare(look, place, KeyType::None, 1),
            });
        }
    }
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for key in views.iter_mut().filter(|key| !key.list.is_empty()) {
        let end = ends.entry(key.list.clone()).or_default();
        *end += 1;
        key.ordinal = *end;
    }
    views
}

/// How many keys the phone (first) and each module have. Of an unknown size, as many as are named.
fn sizes(look: &mut Looker<'_>, device: &Device, keys: &BTreeMap<(u32, u32), Key>) -> Vec<u32> {
    let named = |module: u32| keys.keys().filter(|(m, _)| *m == module).map(|(_, position)| *position).max().unwrap_or(0);
    let model = look.phone.model;
    let mut sizes = vec![if model.name.is_empty() && model.keys == 0 { named(0) } else { model.keys }];
    for (number, name) in (1u32..).zip(&device.modules) {
        let known = look.phone.pack.modules.iter().find(|module| module.name.eq_ignore_ascii_case(name.as_str()));
        if known.is_none() {
            look.warn("unknown_model", format!("expansion module {:?} is not known: as many keys as are named", name.as_str()));
        } else if number > model.max_modules && !model.name.is_empty() {
            look.warn("key_beyond_model", format!("{} takes {} expansion modules", model.name, model.max_modules));
            continue;
        }
        sizes.push(known.map_or_else(|| named(number), |module| module.keys));
    }
    sizes
}

/// The lines that fill free positions: one key per appearance, less those that are placed by name.
fn appearances<'a>(keys: &'a BTreeMap<(u32, u32), Key>, lines: &'a [LineView]) -> impl Iterator<Item = u32> + 'a {
    let placed = |line: u32| {
        keys.values().filter(|key| matches!(key.kind, KeyType::Line | KeyType::SharedLine) && key.line.unwrap_or(1) == line).count()
    };
    lines.iter().filter(|line| line.on).flat_map(move |line| {
        let wanted = usize::try_from(line.appearances).unwrap_or(1);
        std::iter::repeat_n(line.n, wanted.saturating_sub(placed(line.n)))
    })
}

/// A key that would show the phone its own line is left out where it says so.
fn monitors_itself(key: &Key, lines: &[LineView]) -> bool {
    key.skip_self == Some(true) && lines.iter().any(|line| line.on && key.value.as_ref().is_some_and(|value| value.expose() == line.user))
}

/// Where a key is, and by which names and codes it goes.
#[derive(Clone, Copy)]
struct Place<'p> {
    module: u32,
    position: u32,
    index: u32,
    number: u32,
    group: &'p str,
    n: u32,
    codes: &'p str,
}

impl<'p> Place<'p> {
    fn of(phone: &Phone<'p>, module: u32, position: u32, index: u32) -> Self {
        if module > 0 {
            return Self { module, position, index, number: 0, group: "module", n: index, codes: "key" };
        }
        let mut before = 0;
        for block in &phone.model.key_blocks {
            if position <= before + block.keys {
                let n = block.first + position - before - 1;
                return Self { module, position, index, number: 0, group: &block.group, n, codes: &block.codes };
            }
            before += block.keys;
        }
        Self { module, position, index, number: 0, group: "key", n: position, codes: "key" }
    }
}

fn view(look: &mut Looker<'_>, key: &Key, place: Place<'_>, pickup_code: Option<&str>) -> KeyView {
    let word = key.kind.as_str();
    let kind = if let Some(code) = &key.code {
        Code { word: word.to_owned(), code: look.carry(code, "/keys") }
    } else {
        let Some(code) = look.phone.code(place.codes, word) else {
            let at = format!("module {} position {}", place.module, place.position);
            look.warn("setting_unsupported", format!("keys: {} phones have no key of type {word:?} at {at}", look.phone.pack.name));
            return bare(look, place, KeyType::None, 1);
        };
        Code { word: word.to_owned(), code: code.to_owned() }
    };
    let mut text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| look.carry(text, "/keys"));
    let (value, label) = (text(key.value.as_ref().map(MaybeSecret::expose)), text(key.label.as_deref()));
    let is_monitored = matches!(key.kind, KeyType::Blf | KeyType::BlfList | KeyType::Park | KeyType::SharedLine);
    let differs = key.pickup.as_deref().is_some_and(|own| own != pickup_code.unwrap_or_default());
    if is_monitored && differs && !look.phone.supports("keys/pickup") {
        let at = format!("module {} position {}", place.module, place.position);
        look.warn("setting_unsupported", format!("keys: {} phones have no pickup code of a key's own ({at})", look.phone.pack.name));
    }
    let pickup = key
        .pickup
        .as_deref()
        .or(pickup_code)
        .filter(|code| !code.is_empty())
        .zip(value.as_deref())
        .filter(|_| is_monitored || key.kind == KeyType::Pickup);
    let pickup = pickup.map(|(code, number)| if code.contains("{}") { code.replace("{}", number) } else { format!("{code}{number}") });
    KeyView {
        module: place.module,
        position: place.position,
        index: place.index,
        number: place.number,
        list: look.phone.code("key_list", word).unwrap_or_default().to_owned(),
        ordinal: 0,
        group: place.group.to_owned(),
        n: place.n,
        kind,
        line: key.line.unwrap_or(1),
        has_line: key.line.is_some() || matches!(key.kind, KeyType::Line | KeyType::SharedLine),
        value,
        label,
        pickup,
    }
}

fn bare(look: &Looker<'_>, place: Place<'_>, kind: KeyType, line: u32) -> KeyView {
    let code = look.phone.code(place.codes, kind.as_str()).unwrap_or_default().to_owned();
    KeyView {
        module: place.module,
        position: place.position,
        index: place.index,
        number: place.number,
        list: look.phone.code("key_list", kind.as_str()).unwrap_or_default().to_owned(),
        ordinal: 0,
        group: place.group.to_owned(),
        n: place.n,
        kind: Code { word: kind.as_str().to_owned(), code },
        line,
        has_line: kind == KeyType::Line,
        value: None,
        label: None,
        pickup: None,
    }
}
