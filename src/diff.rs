//! Two sets of files of one device → what changed, and what each change does to the phone.
//!
//! Compared by bytes first; where bytes differ, by parameter. Secrets are masked on both sides, and a
//! changed secret is still a change. Imports render, vendor and format.

use std::collections::BTreeMap;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use utoipa::ToSchema;

use crate::{
    format::Parameter,
    render::registry::Vendor,
    vendor::{Certainty, Effect, EffectFact, Phone, spec::AnyChange},
};

/// What stands in place of a secret.
pub const MASK: &str = "********";

/// One changed parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Change {
    /// File it stands in.
    pub file: String,
    /// The vendor's own name.
    pub parameter: String,
    /// Value before; null where it was not there.
    pub from: Option<String>,
    /// Value after; null where it is no longer there.
    pub to: Option<String>,
    /// What the change does.
    pub effect: Effect,
    /// How sure that is.
    pub certainty: Certainty,
}

/// What two sets of files differ in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// All files equal, byte by byte?
    pub identical: bool,
    /// The worst effect.
    pub effect: Effect,
    /// Changed parameters in order of file and name.
    pub changes: Vec<Change>,
    /// Unified text by file, for the files that differ.
    pub unified: BTreeMap<String, String>,
}

/// Files of a device by name, each with its text.
pub type Files = BTreeMap<String, String>;

/// Compares two sets of files of one device.
///
/// A text that cannot be read back (a foreign or damaged record) is compared by bytes alone.
pub fn compare(vendor: &Vendor, phone: Option<&Phone<'_>>, from: &Files, to: &Files) -> Comparison {
    let mut comparison = Comparison { identical: true, effect: Effect::None, changes: Vec::new(), unified: BTreeMap::new() };
    let names: std::collections::BTreeSet<_> = from.keys().chain(to.keys()).collect();
    for name in names {
        let (old, new) = (from.get(name).map(String::as_str), to.get(name).map(String::as_str));
        if old == new {
            continue;
        }
        comparison.identical = false;
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let (before, after) = (parameters(vendor, old), parameters(vendor, new));
        let changes = changes(vendor, phone, name, &before, &after);
        // Phones that apply or restart on any new file do so whatever the parameters say.
        let mut worst = any_change(vendor, phone);
        for change in &changes {
            if change.effect.harm() > worst.harm() {
                worst = change.effect;
            }
        }
        if worst.harm() > comparison.effect.harm() {
            comparison.effect = worst;
        }
        comparison.changes.extend(changes);
        comparison.unified.insert(name.clone(), unified(vendor, (old, &before), (new, &after)));
    }
    comparison
}

/// The text with every secret masked.
pub fn masked(vendor: &Vendor, text: &str) -> String {
    mask(vendor, text, &parameters(vendor, text))
}

fn parameters(vendor: &Vendor, text: &str) -> Vec<Parameter> {
    if text.is_empty() { Vec::new() } else { vendor.read(text).unwrap_or_default() }
}

fn mask(vendor: &Vendor, text: &str, parameters: &[Parameter]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for parameter in parameters.iter().filter(|parameter| !parameter.value_at.is_empty() && vendor.is_secret(parameter)) {
        masked.push_str(&text[from..parameter.value_at.start]);
        masked.push_str(MASK);
        from = parameter.value_at.end;
    }
    masked.push_str(&text[from..]);
    masked
}

fn any_change(vendor: &Vendor, phone: Option<&Phone<'_>>) -> Effect {
    let holds = |rule: &&AnyChange| match phone {
        Some(phone) => {
            let model = rule.models.is_empty() || rule.models.iter().any(|pattern| pattern.matches(phone.model_name()));
            model && rule.firmware.as_ref().is_none_or(|range| range.contains(phone.firmware))
        }
        None => rule.models.is_empty() && rule.firmware.is_none(),
    };
    vendor.pack.any_change.iter().find(holds).map_or(Effect::Unknown, |rule| rule.effect)
}

fn changes(vendor: &Vendor, phone: Option<&Phone<'_>>, file: &str, before: &[Parameter], after: &[Parameter]) -> Vec<Change> {
    let by_name = |all: &[Parameter]| all.iter().map(|parameter| (parameter.name.clone(), parameter.clone())).collect::<BTreeMap<_, _>>();
    let (before, after) = (by_name(before), by_name(after));
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let shown = |parameter: Option<&Parameter>| {
        parameter.map(|p| if vendor.is_secret(p) && !p.value.is_empty() { MASK.to_owned() } else { p.value.clone() })
    };
    let differs = |name: &&&String| before.get(**name).map(|p| &p.value) != after.get(**name).map(|p| &p.value);
    let changed: Vec<&str> = names.iter().filter(differs).map(|name| name.as_str()).collect();
    names
        .iter()
        .filter(differs)
        .map(|name| {
            let to = after.get(*name).map(|parameter| parameter.value.as_str());
            let fact = phone.and_then(|phone| EffectFact::find(&vendor.pack.effects, name, to, &changed, phone));
            let (effect, certainty) = fact.map_or((Effect::Unknown, Certainty::Assumed), |fact| (fact.effect, fact.certainty));
            Change {
                file: file.to_owned(),
                parameter: (*name).clone(),
                from: shown(before.get(*name)),
                to: shown(after.get(*name)),
                effect,
                certainty,
            }
        })
        .collect()
}

/// A unified diff of the clear texts, printed with the secrets masked: a changed secret shows as a changed line.
fn unified(vendor: &Vendor, (old, before): (&str, &[Parameter]), (new, after): (&str, &[Parameter])) -> String {
    use std::fmt::Write as _;
    let diff = TextDiff::from_lines(old, new);
    let (masked_old, masked_new) = (mask(vendor, old, before), mask(vendor, new, after));
    let (old_lines, new_lines): (Vec<_>, Vec<_>) = (masked_old.split_inclusive('\n').collect(), masked_new.split_inclusive('\n').collect());
    let mut text = String::from("--- served\n+++ current\n");
    for group in diff.grouped_ops(3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old_range, new_range) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let start = |range: &std::ops::Range<usize>| if range.is_empty() { range.start } else { range.start + 1 };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "@@ -{},{} +{},{} @@", start(&old_range), old_range.len(), start(&new_range), new_range.len());
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, line) = match change.tag() {
                ChangeTag::Delete => ('-', change.old_index().and_then(|index| old_lines.get(index))),
                ChangeTag::Insert => ('+', change.new_index().and_then(|index| new_lines.get(index))),
                ChangeTag::Equal => (' ', change.new_index().and_then(|index| new_lines.get(index))),
            };
            let line = line.copied().unwrap_or_default();
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::registry;

    fn files(text: &str) -> Files {
        Files::from([("805ec0123456.cfg".to_owned(), text.to_owned())])
    }

    #[test]
    fn a_changed_secret_is_a_change_that_shows_nothing() {
        let vendor = registry::find("yealink").unwrap();
        let (old, new) =
            (files("#!version:1.0.0.1\naccount.1.password = alpha\n"), files("#!version:1.0.0.1\naccount.1.password = beta\n"));
        let comparison = compare(vendor, None, &old, &new);
        assert!(!comparison.identical);
        assert_eq!(comparison.changes.len(), 1);
        assert_eq!((comparison.changes[0].from.as_deref(), comparison.changes[0].to.as_deref()), (Some(MASK), Some(MASK)));
        let unified = &comparison.unified["805ec0123456.cfg"];
        assert_eq!(
            unified,
            "--- served\n+++ current\n@@ -1,2 +1,2 @@\n #!version:1.0.0.1\n-account.1.password = ********\n+account.1.password = ********\n"
        );
    }

    #[test]
    fn equal_bytes_are_identical_and_a_comment_is_not() {
        let vendor = registry::find("yealink").unwrap();
        let old = files("#!version:1.0.0.1\na.b = 1\n");
        assert!(compare(vendor, None, &old, &old).identical);
        let comparison = compare(vendor, None, &old, &files("#!version:1.0.0.1\n\na.b = 1\n"));
        assert!(!comparison.identical && comparison.changes.is_empty());
        assert_ne!(comparison.effect, Effect::None, "phones apply any new file");
    }

    #[test]
    fn a_check_in_that_goes_over_to_another_mode_strands_nobody_and_one_that_goes_off_does() {
        let vendor = registry::find("yealink").unwrap();
        let phone = Phone::find(&vendor.pack, "T46S", "66.86.0.15").unwrap();
        let modes = |repeat: u8, flexible: u8| {
            let name = "static.auto_provision";
            files(&format!("#!version:1.0.0.1\n{name}.repeat.enable = {repeat}\n{name}.flexible.enable = {flexible}\n"))
        };
        let effect = |from: (u8, u8), to: (u8, u8)| compare(vendor, Some(&phone), &modes(from.0, from.1), &modes(to.0, to.1)).effect;
        let (interval, clock, off) = ((1, 0), (0, 1), (0, 0));
        assert_eq!((effect(interval, clock), effect(clock, interval), effect(off, clock)), (Effect::Live, Effect::Live, Effect::Live));
        assert_eq!((effect(interval, off), effect(clock, off)), (Effect::Strand, Effect::Strand));
    }

    #[test]
    fn an_old_phone_reboots_on_any_new_file_and_so_may_one_of_unknown_firmware() {
        let vendor = registry::find("yealink").unwrap();
        let effect = |model: &str, firmware: &str| {
            let phone = Phone::find(&vendor.pack, model, firmware).unwrap();
            compare(vendor, Some(&phone), &files("#!version:1.0.0.1\n"), &files("#!version:1.0.0.1\n\n")).effect
        };
        assert_eq!(
            (effect("T28P", "2.60.0.110"), effect("T28P", "2.73.0.50"), effect("T28P", "")),
            (Effect::Reboot, Effect::Live, Effect::Reboot)
        );
        assert_eq!((effect("T46S", ""), effect("W52P", "25.30.0.2")), (Effect::Live, Effect::Live));
    }

    #[test]
    fn what_is_unknown_is_said_to_be() {
        let vendor = registry::find("yealink").unwrap();
        let comparison = compare(vendor, None, &files("a.b = 1\n"), &files("a.c = 1\n"));
        let changes: Vec<_> =
            comparison.changes.iter().map(|c| (c.parameter.as_str(), c.from.as_deref(), c.to.as_deref(), c.effect)).collect();
        assert_eq!(changes, [("a.b", Some("1"), None, Effect::Unknown), ("a.c", None, Some("1"), Effect::Unknown)]);
        assert_eq!(comparison.effect, Effect::Unknown);
    }
}
