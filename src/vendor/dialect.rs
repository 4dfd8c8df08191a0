//! Which dialect and which numbers hold for one phone.

use super::{
    pattern::Pattern,
    spec::{CheckIn, Dialect, File, Model, Names, Pack, Timer},
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
        let find = |codes: &'p super::spec::Codes| codes.get(table).and_then(|table| table.get(word));
        find(&self.dialect.codes).or_else(|| find(&self.pack.codes)).map(String::as_str)
    }

    /// The n-th (from 1) parameter name of a field.
    pub fn name(&self, group: &str, field: &str, n: u32) -> Option<&'p str> {
        let index = usize::try_from(n).ok()?.checked_sub(1)?;
        let find = |names: &'p super::spec::Names| names.get(group).and_then(|group| group.get(field));
        let name = find(&self.dialect.names).or_else(|| find(&self.pack.names))?.get(index)?;
        Some(name).filter(|name| !name.is_empty()).map(String::as_str)
    }

    /// The code table: the dialect's own, else the pack's.
    pub fn code_table(&self, table: &str) -> Option<&'p std::collections::BTreeMap<String, String>> {
        self.dialect.codes.get(table).or_else(|| self.pack.codes.get(table))
    }

    /// Does it know the setting (pointer without `/settings`)?
    pub fn supports(&self, setting: &str) -> bool {
        self.pack.supports(setting) && !self.dialect.lacks.iter().any(|pattern| pattern.matches(setting))
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
        let facts = self.pack.resets.iter().filter(|fact| in_dialect(&fact.dialects, self.dialect));
        let fitting = facts.filter_map(|fact| Some(((self.fit(&fact.pattern, parameter)?, !fact.dialects.is_empty()), fact)));
        fitting.max_by_key(|(rank, _)| *rank).map(|(_, fact)| fact.value.as_str())
    }

    /// How the phone knows when to check in.
    pub fn check_in(&self) -> &'p CheckIn {
        self.dialect.check_in.as_ref().unwrap_or(&self.pack.check_in)
    }

    /// The timer in the vendor's unit, where the phone has it.
    pub fn timer(&self, name: TimerName) -> Option<&'p Timer> {
        self.pack.timers.iter().find(|timer| timer.timer == name && in_dialect(&timer.dialects, self.dialect))
    }

    /// The parameter that carries a timer; `None` where the phone lacks it for that line.
    pub fn timer_parameter(&self, timer: &'p Timer, line: u32) -> Option<String> {
        match timer.parameter.strip_prefix('@') {
            Some(field) => self.name("line", field, line.max(1)).map(str::to_owned),
            None => Some(timer.parameter.replace("{line}", &line.to_string()).replace("{static}", self.flag("static").unwrap_or_default())),
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
