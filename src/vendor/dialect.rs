//! Which dialect and which numbers hold for one phone.

use super::{
    pattern::Pattern,
    spec::{CheckIn, Dialect, File, Model, Names, Pack, ResetFact, Timer},
};
use crate::domain::TimerName;

/// A phone as its pack sees it: the model's numbers and the dialect its firmware speaks.
#[derive(Clone, Debug)]
pub struct Phone<'p> {
    /// Its pack.
    pub pack: &'p Pack,
    /// Its model, or the pack's generic numbers.
    pub model: &'p Model,
    /// Its dialect.
    pub dialect: &'p Dialect,
    /// Its firmware as stored; empty where unknown.
    pub firmware: &'p str,
    /// What was not known and had to be assumed.
    pub doubt: Option<String>,
}

/// Why a phone's numbers or dialect cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The model is missing or not in the pack.
    Model,
    /// The firmware is missing and the model speaks several dialects.
    Firmware,
}

impl<'p> Phone<'p> {
    /// Finds model and dialect.
    ///
    /// # Errors
    /// What is missing, where the pack is not `generic_safe`.
    pub fn find(pack: &'p Pack, model: &str, firmware: &'p str) -> Result<Self, Unknown> {
        let known =
            pack.models.iter().find(|m| m.name.eq_ignore_ascii_case(model) || m.aliases.iter().any(|a| a.eq_ignore_ascii_case(model)));
        let (found, mut doubt) = match (known, &pack.generic) {
            (Some(found), _) => (found, None),
            // A pack without models has the same numbers for all its phones: there is nothing to doubt.
            (None, Some(generic)) if pack.models.is_empty() => (generic, None),
            (None, Some(generic)) if pack.generic_safe => {
                let said = if model.is_empty() { "no model is stated".to_owned() } else { format!("model {model:?} is not known") };
                (generic, Some(format!("{said}: general numbers are used")))
            }
            _ => return Err(Unknown::Model),
        };
        let spoken: Vec<&Dialect> = found.dialects.iter().filter_map(|id| pack.dialects.iter().find(|d| d.id == *id)).collect();
        let by_firmware = spoken
            .iter()
            .find(|d| d.firmware.as_ref().is_some_and(|range| range.contains(firmware)))
            // A dialect without a range holds for whatever firmware the others do not claim.
            .or_else(|| spoken.iter().find(|d| spoken.len() > 1 && d.firmware.is_none()));
        let dialect = match (by_firmware, spoken.as_slice()) {
            (Some(dialect), _) => *dialect,
            (None, [only]) => *only,
            // The newest is the last.
            (None, [.., last]) if pack.generic_safe || !firmware.is_empty() => {
                doubt.get_or_insert_with(|| format!("firmware {firmware:?} is not known: the newest dialect of {} is used", found.name));
                *last
            }
            _ => return Err(Unknown::Firmware),
        };
        Ok(Self { pack, model: found, dialect, firmware, doubt })
    }

    /// Name of the model; empty where generic.
    pub fn model_name(&self) -> &'p str {
        &self.model.name
    }

    /// The word a flag has on this phone: the model's, else the dialect's.
    pub fn flag(&self, name: &str) -> Option<&'p str> {
        self.model.flags.get(name).or_else(|| self.dialect.flags.get(name)).map(String::as_str)
    }

    /// The vendor's code of a word.
    pub fn code(&self, table: &str, word: &str) -> Option<&'p str> {
        self.code_table(table)?.get(word).map(String::as_str)
    }

    /// Is the model called so, by its name or another spelling?
    pub fn is_model(&self, name: &str) -> bool {
        let names = std::iter::once(&self.model.name).chain(&self.model.aliases);
        !name.is_empty() && names.into_iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Does a selector of raw parameters mean this phone: `"<vendor>"` (`false`) or `"<vendor>/<model>"` (`true`)?
    /// The model by any of its names, or as it is stored.
    pub fn selected_by(&self, selector: &str, stored: &str) -> Option<bool> {
        match selector.split_once('/') {
            None => (selector == self.pack.id).then_some(false),
            Some((vendor, model)) => {
                let is_own = self.is_model(model) || (!stored.is_empty() && stored.eq_ignore_ascii_case(model));
                (vendor == self.pack.id && is_own).then_some(true)
            }
        }
    }

    /// The n-th (from 1) parameter name of a field.
    pub fn name(&self, group: &str, field: &str, n: u32) -> Option<&'p str> {
        let index = usize::try_from(n).ok()?.checked_sub(1)?;
        let find = |names: &'p super::spec::Names| names.get(group).and_then(|group| group.get(field));
        let name = find(&self.dialect.names).or_else(|| find(&self.pack.names))?.get(index)?;
        Some(name).filter(|name| !name.is_empty()).map(String::as_str)
    }

    /// The code table: the dialect's own, whole, else the pack's.
    pub fn code_table(&self, table: &str) -> Option<&'p std::collections::BTreeMap<String, String>> {
        self.dialect.codes.get(table).or_else(|| self.pack.codes.get(table))
    }

    /// Does it know the setting (pointer without `/settings`)?
    pub fn supports(&self, setting: &str) -> bool {
        self.pack.supports(setting) && !self.dialect.lacks.iter().any(|pattern| pattern.matches(setting))
    }

    /// The greatest value of a setting, of a list the most entries.
    pub fn limit(&self, setting: &str) -> Option<u32> {
        self.dialect.limits.get(setting).or_else(|| self.pack.limits.get(setting)).copied()
    }

    /// Does the pattern speak of the parameter on this phone? `@group.field` are the names of that field.
    /// If so, how much of the name it fixes.
    pub fn fit(&self, pattern: &Pattern, parameter: &str) -> Option<usize> {
        let Some((group, field)) = pattern.as_str().strip_prefix('@').and_then(|text| text.split_once('.')) else {
            return pattern.matches(parameter).then(|| pattern.specificity());
        };
        let find = |names: &'p Names| names.get(group).and_then(|group| group.get(field));
        let names = find(&self.dialect.names).or_else(|| find(&self.pack.names))?;
        names.iter().any(|name| name == parameter).then_some(parameter.len())
    }

    /// What the parameter goes back to: the most specific fact.
    pub fn reset_value(&self, parameter: &str) -> Option<&'p str> {
        let is_mine = |models: &[Pattern]| models.is_empty() || models.iter().any(|pattern| pattern.matches(self.model_name()));
        let facts = self.pack.resets.iter().filter(|fact| in_dialect(&fact.dialects, self.dialect) && is_mine(&fact.models));
        let rank = |fact: &ResetFact| Some((self.fit(&fact.pattern, parameter)?, !fact.models.is_empty(), !fact.dialects.is_empty()));
        let fitting = facts.filter_map(|fact| Some((rank(fact)?, fact)));
        fitting.max_by_key(|(rank, _)| *rank).map(|(_, fact)| fact.value.as_str())
    }

    /// How the phone knows when to check in.
    pub fn check_in(&self) -> &'p CheckIn {
        self.dialect.check_in.as_ref().unwrap_or(&self.pack.check_in)
    }

    /// The timer in the vendor's unit, where the phone has it.
    pub fn timer(&self, name: TimerName) -> Option<&'p Timer> {
        let lacks = |timer: &Timer| timer.not_on.iter().any(|pattern| pattern.matches(self.model_name()));
        self.pack.timers.iter().find(|timer| timer.timer == name && in_dialect(&timer.dialects, self.dialect) && !lacks(timer))
    }

    /// The parameter that carries a timer; `None` where the phone lacks it for that line.
    pub fn timer_parameter(&self, timer: &'p Timer, line: u32) -> Option<String> {
        match timer.parameter.strip_prefix('@') {
            Some(field) => self.name("line", field, line.max(1)).map(str::to_owned),
            None => Some(
                timer
                    .parameter
                    .replace("{line}", &line.to_string())
                    .replace("{line0}", &line.saturating_sub(1).to_string())
                    .replace("{static}", self.flag("static").unwrap_or_default()),
            ),
        }
    }

    /// The files it asks for, the main one first.
    pub fn files(&self) -> impl Iterator<Item = &'p File> {
        self.pack.files.iter().filter(|file| in_dialect(&file.dialects, self.dialect))
    }
}

fn in_dialect(ids: &[String], dialect: &Dialect) -> bool {
    ids.is_empty() || ids.contains(&dialect.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack() -> Pack {
        Pack::parse(
            r#"
            id = "acme"
            name = "Acme"
            version = 1
            syntax = "lines"
            parameter_names = ".*"
            supports = ["time/zone", "tls/*"]
            sources = []
            timers = []
            check_in = {}
            files = [{ kind = "a", name = "{mac}", media_type = "-", source = "-" }]
            any_change = [{ effect = "live", certainty = "assumed", source = "-" }]
            dialects = [
                { id = "old", lacks = ["tls/*"], names = { line = { user = ["P35", "P404"] } } },
                { id = "new", firmware = { from = "2" }, names = { line = { user = ["P35", "P704"] } } },
            ]
            models = [{ name = "M1", accounts = 2, dialects = ["old", "new"] }]
            resets = [
                { pattern = "P*", value = "any", certainty = "assumed", source = "-" },
                { pattern = "@line.user", value = "user", certainty = "assumed", source = "-" },
                { pattern = "@line.user", dialects = ["new"], value = "new user", certainty = "assumed", source = "-" },
                { pattern = "P404", models = ["M*"], value = "exact", certainty = "assumed", source = "-" },
            ]
            "#,
            "name\n",
        )
        .unwrap()
    }

    #[test]
    fn a_dialect_without_a_range_holds_for_the_firmware_no_other_claims() {
        let pack = pack();
        for (firmware, dialect) in [("", "old"), ("1.9", "old"), ("2.0", "new")] {
            assert_eq!(Phone::find(&pack, "m1", firmware).unwrap().dialect.id, dialect, "{firmware}");
        }
    }

    #[test]
    fn a_field_of_irregular_names_is_a_pattern() {
        let pack = pack();
        let (old, new) = (Phone::find(&pack, "M1", "").unwrap(), Phone::find(&pack, "M1", "2").unwrap());
        assert_eq!(old.fit(&Pattern::new("@line.user"), "P404"), Some(4));
        assert_eq!(new.fit(&Pattern::new("@line.user"), "P404"), None);
        assert_eq!(old.fit(&Pattern::new("@line.other"), "P404"), None);
        let resets = |phone: &Phone<'_>| ["P1", "P35", "P404", "P704", "x"].map(|name| phone.reset_value(name).map(str::to_owned));
        let texts = |all: [Option<&str>; 5]| all.map(|text| text.map(str::to_owned));
        assert_eq!(resets(&old), texts([Some("any"), Some("user"), Some("exact"), Some("any"), None]));
        assert_eq!(resets(&new), texts([Some("any"), Some("new user"), Some("exact"), Some("new user"), None]));
    }

    #[test]
    fn a_dialect_may_lack_what_the_pack_supports() {
        let pack = pack();
        let (old, new) = (Phone::find(&pack, "M1", "").unwrap(), Phone::find(&pack, "M1", "2").unwrap());
        assert!(old.supports("time/zone") && !old.supports("tls/verify") && new.supports("tls/verify") && !new.supports("sip/srtp"));
    }
}
