//! The tables of README.md and vendors/README.md, made from the packs.

use std::{collections::BTreeSet, fmt::Write as _};

use offbeat::{
    domain::{KeyType, Setting, Settings, TimerName},
    render::registry::{self, Vendor},
    vendor::{
        Certainty, Effect, Pack,
        spec::{CheckIn, Dialect, Timer},
    },
};
use utoipa::PartialSchema;

use crate::generated::hold;

#[test]
fn the_tables_of_the_documents_are_those_of_the_packs() {
    hold("README.md", "vendors", &overview());
    let all = [facts(), timers(), check_ins(), settings_table(), keys()].join("\n");
    hold("vendors/README.md", "support", &all);
}

/// A table with a column per vendor.
fn by_vendor(title: &str, head: &str, rows: impl IntoIterator<Item = (String, Vec<String>)>) -> String {
    let names: Vec<&str> = registry::vendors().iter().map(|vendor| vendor.pack.name.as_str()).collect();
    let mut text = format!("### {title}\n\n| {head} | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for (name, cells) in rows {
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

fn each(cell: impl Fn(&Vendor) -> String) -> Vec<String> {
    registry::vendors().iter().map(cell).collect()
}

fn yes(yes: bool) -> String {
    if yes { "✓".into() } else { "–".into() }
}

fn dash(text: String) -> String {
    if text.is_empty() { "–".into() } else { text }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Names of its files, each once.
fn file_names(pack: &Pack) -> String {
    let mut names: Vec<_> = pack.files.iter().map(|file| code(&file.name)).collect();
    names.dedup();
    names.join(", ")
}

/// The short table for those who choose.
fn overview() -> String {
    let mut text =
        String::from("| vendor | models | files a phone asks for | timers | keys | settings | check-in |\n|---|---|---|---|---|---|---|\n");
    let settings = settings();
    for vendor in registry::vendors() {
        let pack = &vendor.pack;
        let files = file_names(pack);
        let timers: BTreeSet<_> = pack.timers.iter().map(|timer| timer.timer.as_str()).collect();
        let known = settings.iter().filter(|setting| pack.supports(setting)).count();
        let check_ins: Vec<_> = check_ins_of(pack).map(|(_, check_in)| check_in).collect();
        let interval = check_ins.iter().any(|check_in| check_in.interval);
        let clock = check_ins.iter().any(|check_in| check_in.clock_minutes.is_some());
        let check_in = match (interval, clock) {
            (true, true) => "interval or time of day",
            (true, false) => "interval",
            (false, true) => "time of day",
            (false, false) => "at start only",
        };
        let models = if pack.models.is_empty() { "any".to_owned() } else { pack.models.len().to_string() };
        let keys = key_types().iter().filter(|word| *word != "none" && !key_dialects(pack, word).is_empty()).count();
        let keys = if keys == 0 { "–".to_owned() } else { format!("{keys} types") };
        let _ = writeln!(
            text,
            "| {} | {models} | {} | {} | {keys} | {known} of {} | {check_in} |",
            pack.name,
            files.replace("{mac}", "<mac>"),
            timers.len(),
            settings.len()
        );
    }
    text
}

/// What else there is to know of each.
fn facts() -> String {
    let count = |n: usize| dash(if n == 0 { String::new() } else { n.to_string() });
    let by = |pack: &Pack, certainty| pack.effects.iter().filter(|fact| fact.certainty == certainty).count();
    let effects = |pack: &Pack| {
        format!(
            "{}: {} documented, {} observed, {} assumed",
            pack.effects.len(),
            by(pack, Certainty::Documented),
            by(pack, Certainty::Observed),
            by(pack, Certainty::Assumed)
        )
    };
    let any_change = |pack: &Pack| {
        let rules = pack.any_change.iter().map(|rule| {
            let models: Vec<_> = rule.models.iter().map(offbeat::vendor::Pattern::as_str).collect();
            let firmware = rule.firmware.as_ref().map(|range| {
                let from = range.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
                let below = range.below.as_ref().map(|below| format!(" below {below}")).unwrap_or_default();
                format!(" firmware{from}{below}")
            });
            match (models.is_empty(), firmware) {
                (true, None) => rule.effect.as_str().to_owned(),
                (_, firmware) => format!("{} ({}{})", rule.effect.as_str(), models.join(", "), firmware.unwrap_or_default()),
            }
        });
        rules.collect::<Vec<_>>().join("; ")
    };
    let rows = [
        ("id", each(|v| code(&v.pack.id))),
        ("files", each(|v| file_names(&v.pack))),
        (
            "uploads taken and dropped",
            each(|v| dash(v.pack.uploads.iter().map(|upload| code(&upload.name)).collect::<Vec<_>>().join(", "))),
        ),
        ("syntax", each(|v| v.pack.syntax.clone())),
        ("dialects", each(|v| v.pack.dialects.iter().map(|dialect| dialect.id.as_str()).collect::<Vec<_>>().join(", "))),
        ("models", each(|v| count(v.pack.models.len()))),
        ("expansion modules", each(|v| count(v.pack.modules.len()))),
        ("MAC prefixes", each(|v| count(v.pack.prefixes.len()))),
        ("a phone of unknown model or firmware is served", each(|v| yes(v.pack.generic_safe))),
        ("answered with 304", each(|v| yes(v.pack.conditional))),
        ("any different byte does at least", each(|v| any_change(&v.pack))),
        ("facts about effects", each(|v| effects(&v.pack))),
        ("of them strand", each(|v| count(v.pack.effects.iter().filter(|fact| fact.effect == Effect::Strand).count()))),
        ("reset values", each(|v| count(v.pack.resets.len()))),
        ("secret raw parameters", each(|v| count(v.pack.secrets.len()))),
        ("parameters known by name", each(|v| count(v.pack.known.len()))),
    ];
    by_vendor("Facts", "", rows.map(|(name, cells)| (name.to_owned(), cells)))
}

fn timers() -> String {
    let rows = TimerName::ALL.map(|name| {
        let cell = |vendor: &Vendor| {
            let pack = &vendor.pack;
            let known = pack.timers.iter().filter(|timer| timer.timer == name);
            in_dialects(pack, known.map(|timer| (timer_cell(pack, timer), ids(pack, &timer.dialects))))
        };
        (code(name.as_str()), each(cell))
    });
    by_vendor("Timers", "timer", rows)
        + "\nUnit and limits, as the phone takes them. \"off\": can be switched off. \"(x)\": in dialect x alone. \"?\": the limits are believed, not documented.\n"
}

/// A limit from here on (a signed number of 32 bits, in whole seconds or milliseconds) says nothing.
const NO_LIMIT: u64 = 2_147_483_000;

fn timer_cell(pack: &Pack, timer: &Timer) -> String {
    let scale = |value: u32| u64::from(value) * u64::from(timer.times);
    let unit = match (timer.unit_s, timer.times) {
        (1, 1000) => "ms".to_owned(),
        (1, _) => "s".to_owned(),
        (60, _) => "min".to_owned(),
        (3600, _) => "h".to_owned(),
        (86400, _) => "d".to_owned(),
        (other, _) => format!("{other} s"),
    };
    let limits = match (timer.min, timer.max.filter(|max| scale(*max) < NO_LIMIT)) {
        (None, None) => String::new(),
        (Some(min), None) => format!(" ≥ {}", scale(min)),
        (None, Some(max)) => format!(" ≤ {}", scale(max)),
        (Some(min), Some(max)) => format!(" {}–{}", scale(min), scale(max)),
    };
    let off = timer.off.is_some() || timer.timer == TimerName::CheckIn && pack.check_in.off;
    let doubt = if timer.certainty == Certainty::Assumed { " ?" } else { "" };
    format!("{unit}{limits}{}{doubt}", if off { ", off" } else { "" })
}

/// The dialects of a list; an empty list means all.
fn ids<'p>(pack: &'p Pack, list: &'p [String]) -> Vec<&'p str> {
    let all = || pack.dialects.iter().map(|dialect| &dialect.id).collect();
    let named: Vec<&String> = if list.is_empty() { all() } else { list.iter().collect() };
    named.into_iter().map(String::as_str).collect()
}

/// What holds for which dialects, each once; those that hold for all without their names.
fn in_dialects<'p>(pack: &Pack, facts: impl Iterator<Item = (String, Vec<&'p str>)>) -> String {
    let mut merged: Vec<(String, Vec<&str>)> = Vec::new();
    for (text, ids) in facts {
        match merged.iter_mut().find(|(known, _)| *known == text) {
            Some((_, known)) => known.extend(ids),
            None => merged.push((text, ids)),
        }
    }
    let shown = merged.iter().map(|(text, ids)| {
        let all = ids.len() == pack.dialects.len();
        if all { text.clone() } else { format!("{text} ({})", ids.join(", ")) }
    });
    dash(shown.collect::<Vec<_>>().join("<br>"))
}

/// How the phones of each dialect know when to check in.
fn check_ins_of(pack: &Pack) -> impl Iterator<Item = (&str, &CheckIn)> {
    pack.dialects.iter().map(|dialect| (dialect.id.as_str(), dialect.check_in.as_ref().unwrap_or(&pack.check_in)))
}

fn check_ins() -> String {
    let cell = |show: &dyn Fn(&CheckIn) -> String| {
        each(|vendor| in_dialects(&vendor.pack, check_ins_of(&vendor.pack).map(|(id, check_in)| (show(check_in), vec![id]))))
    };
    let grid = |check_in: &CheckIn| check_in.clock_minutes.map_or("–".to_owned(), |minutes| format!("every {minutes} min"));
    let rows = [
        ("counts an interval".to_owned(), cell(&|check_in| yes(check_in.interval))),
        ("knows a time of day, on a grid of".to_owned(), cell(&grid)),
        ("can be switched off".to_owned(), cell(&|check_in| yes(check_in.off))),
    ];
    by_vendor("Check-in", "", rows)
}

/// Every setting by its pointer without `/settings`; timers have their own table.
pub(super) fn settings() -> Vec<String> {
    let mut all = Vec::new();
    Settings::sample().leaves(&mut String::new(), &mut |path, _| all.push(path.trim_start_matches('/').to_owned()));
    all.retain(|path| !path.starts_with("timers/"));
    // Maps, whose keys are vendors' names.
    all.extend(["calling/dial_plan".to_owned(), "firmware".to_owned()]);
    // Those of a line that a phone may lack.
    all.extend(["lines/voicemail_number", "lines/blf_list_uri", "lines/shared"].map(str::to_owned));
    all
}

fn settings_table() -> String {
    let rows = settings().into_iter().map(|setting| {
        let cell = |vendor: &Vendor| {
            let pack = &vendor.pack;
            if !pack.supports(&setting) {
                return yes(false);
            }
            let lacking = |id: &&Dialect| id.lacks.iter().any(|pattern| pattern.matches(&setting));
            let without: Vec<_> = pack.dialects.iter().filter(lacking).map(|dialect| dialect.id.as_str()).collect();
            let wide = pack.device_wide.iter().any(|pattern| pattern.matches(&setting));
            let once = if wide { " once" } else { "" };
            if without.is_empty() { format!("✓{once}") } else { format!("✓{once}, not {}", without.join(", ")) }
        };
        (code(&setting), each(cell))
    });
    by_vendor("Settings", "setting", rows) + "\n\"once\": all lines of a phone share it. \"not x\": phones of dialect x lack it.\n"
}

/// Words of keys that need a code of the vendor.
fn key_types() -> Vec<String> {
    let schema = serde_json::to_value(KeyType::schema()).unwrap();
    let words = schema["enum"].as_array().or_else(|| schema["oneOf"].as_array()).expect("an enum of words");
    let word = |word: &serde_json::Value| word.as_str().or_else(|| word["enum"][0].as_str()).unwrap().to_owned();
    words.iter().map(word).filter(|word| !matches!(word.as_str(), "inherit" | "raw")).collect()
}

/// Dialects in which a key of this type is known.
fn key_dialects<'p>(pack: &'p Pack, word: &str) -> Vec<&'p str> {
    let blocks = pack.models.iter().flat_map(|model| &model.key_blocks).map(|block| block.codes.as_str());
    let tables: BTreeSet<&str> = blocks.chain(["key"]).collect();
    let knows = |dialect: &&Dialect| {
        let table = |name: &str| dialect.codes.get(name).or_else(|| pack.codes.get(name));
        tables.iter().any(|name| table(name).is_some_and(|codes| codes.contains_key(word)))
    };
    pack.dialects.iter().filter(knows).map(|dialect| dialect.id.as_str()).collect()
}

fn keys() -> String {
    let rows = key_types().into_iter().map(|word| {
        let cell = |vendor: &Vendor| {
            let known = key_dialects(&vendor.pack, &word);
            if known.is_empty() { yes(false) } else { in_dialects(&vendor.pack, std::iter::once((yes(true), known))) }
        };
        (code(&word), each(cell))
    });
    by_vendor("Keys", "type", rows)
}
