//! The facts of one vendor, as `vendors/<id>/vendor.toml` states them. What the keys mean is told in
//! `vendors/README.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    effect::{Certainty, Effect, EffectFact},
    parameter::KnownParameters,
    pattern::Pattern,
};
use crate::domain::TimerName;

/// Code tables: setting → word → the vendor's code.
pub type Codes = BTreeMap<String, BTreeMap<String, String>>;

/// Irregular parameter names: group → field → name of the first, second, … one.
pub type Names = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// All facts of a vendor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// Name in documents and folders.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Raised with every change that alters a byte of a file.
    pub version: u32,
    /// May a phone whose model or firmware is unknown get the general file, with a warning?
    #[serde(default)]
    pub generic_safe: bool,
    /// May a conditional request be answered with 304?
    #[serde(default = "yes")]
    pub conditional: bool,
    /// Syntax of its files: the module of `format` that reads them back.
    pub syntax: String,
    /// Grammar of raw parameter names (a regular expression, anchored).
    pub parameter_names: String,
    /// Grammar of the values its files can carry, where not every text (a regular expression, anchored).
    pub values: Option<String>,
    /// Words that mean something else to the phone where they are a whole value (`%NULL%`); as a raw value they may be meant.
    #[serde(default)]
    pub reserved: Vec<String>,
    /// Parameters given once per sub-name: the value up to the first colon belongs to the name.
    #[serde(default)]
    pub keyed: Vec<Pattern>,
    /// MAC prefixes.
    #[serde(default)]
    pub prefixes: Vec<Prefix>,
    /// How its phones name model and firmware in `User-Agent` (groups `model` and `firmware`).
    #[serde(default)]
    pub user_agents: Vec<String>,
    /// Settings its phones know, by pointer without `/settings` (`sip/srtp`, `lines/shared`); a `*` at the end is any tail.
    pub supports: Vec<Pattern>,
    /// Greatest value its phones take of a setting that is printed as it is (`network/boot_delay`); of a list
    /// (`time/ntp`), the most entries.
    #[serde(default)]
    pub limits: BTreeMap<String, u32>,
    /// Addresses are written without the user info they may hold.
    #[serde(default)]
    pub bare_urls: bool,
    /// Settings of a line that its phones have once for all lines: those of the first line in use hold.
    #[serde(default)]
    pub device_wide: Vec<Pattern>,
    /// Files its phones ask for, the main one first.
    pub files: Vec<File>,
    /// Files its phones upload that are taken and dropped.
    #[serde(default)]
    pub uploads: Vec<Upload>,
    /// Ways of writing the file that differ by firmware or model family.
    pub dialects: Vec<Dialect>,
    /// Models; none where its numbers depend on no model.
    #[serde(default)]
    pub models: Vec<Model>,
    /// Numbers for a phone whose model is not known.
    pub generic: Option<Model>,
    /// Expansion modules.
    #[serde(default)]
    pub modules: Vec<Module>,
    /// Code tables.
    #[serde(default)]
    pub codes: Codes,
    /// Irregular parameter names.
    #[serde(default)]
    pub names: Names,
    /// Timers in the vendor's own unit.
    pub timers: Vec<Timer>,
    /// How the phone knows when to check in.
    pub check_in: CheckIn,
    /// What its time zone form can say; absent where the phone has none.
    pub zone: Option<ZoneForm>,
    /// What each parameter goes back to when it is no longer set.
    #[serde(default)]
    pub resets: Vec<ResetFact>,
    /// Raw parameters that are secrets.
    #[serde(default)]
    pub secrets: Vec<Pattern>,
    /// What any different byte does.
    pub any_change: Vec<AnyChange>,
    /// What a changed parameter does.
    #[serde(default)]
    pub effects: Vec<EffectFact>,
    /// Documents the facts come from.
    pub sources: Vec<String>,
    /// Names its phones know, from `parameters.tsv`.
    #[serde(skip)]
    pub known: KnownParameters,
}

fn yes() -> bool {
    true
}

/// A MAC prefix.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// Six lower-case hex digits.
    pub oui: String,
    /// How sure that is.
    pub certainty: Certainty,
    /// Where it is said.
    pub source: String,
}

/// A file that a phone asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What it is, and the name of its template.
    pub kind: String,
    /// Name with `{mac}`; in any case.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// Dialects whose phones ask for it; all where empty.
    #[serde(default)]
    pub dialects: Vec<String>,
    /// Does it hold the parameters?
    #[serde(default)]
    pub parameters: bool,
    /// Where it is said.
    pub source: String,
}

/// A file that a phone uploads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upload {
    /// Name with `{mac}`; in any case.
    pub name: String,
    /// Where it is said.
    pub source: String,
}

/// A way of writing the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Name.
    pub id: String,
    /// Firmware that speaks it; any where absent.
    pub firmware: Option<Firmware>,
    /// Words the template may print or ask for.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
    /// Code tables that differ from the pack's, each whole: a word it leaves out the dialect does not know.
    #[serde(default)]
    pub codes: Codes,
    /// Names that differ from the pack's.
    #[serde(default)]
    pub names: Names,
    /// Settings that its phones lack though others of the vendor know them, as in `supports`.
    #[serde(default)]
    pub lacks: Vec<Pattern>,
    /// Limits that differ from the pack's.
    #[serde(default)]
    pub limits: BTreeMap<String, u32>,
    /// Raw parameters of the vendor's other dialects, which its phones are not known to read.
    #[serde(default)]
    pub foreign: Vec<Pattern>,
    /// Firmware is fetched by the protocol of the provisioning address: the phone has none of its own for it.
    #[serde(default)]
    pub one_protocol: bool,
    /// Check-in that differs from the pack's.
    pub check_in: Option<CheckIn>,
    /// All lines share the SIP settings of the first: the phone has them once.
    #[serde(default)]
    pub one_server: bool,
    /// Where it is said.
    #[serde(default)]
    pub source: String,
}

/// A range of firmware by one number of its version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Which number of the version counts, from 1; the whole version from there is compared.
    #[serde(default = "one")]
    pub part: usize,
    /// From this version on, e.g. `"81"` or `"1.0.7"`.
    pub from: Option<String>,
    /// Below this version.
    pub below: Option<String>,
}

fn one() -> usize {
    1
}

impl Firmware {
    /// Is the version in the range? An unknown version (empty) is in none.
    pub fn contains(&self, version: &str) -> bool {
        let numbers = |text: &str| -> Vec<u64> { text.split(['.', '-', '_', ' ']).map(|part| part.parse().unwrap_or(0)).collect() };
        if version.is_empty() {
            return false;
        }
        let given: Vec<u64> = numbers(version).into_iter().skip(self.part - 1).collect();
        let reaches = self.from.as_deref().is_none_or(|from| given >= numbers(from));
        let stays = self.below.as_deref().is_none_or(|below| given < numbers(below));
        !given.is_empty() && reaches && stays
    }
}

/// A model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The vendor's own name.
    pub name: String,
    /// Other spellings.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// SIP accounts.
    pub accounts: u32,
    /// Programmable keys of the phone itself; 0 where it has none or nothing is known of them.
    #[serde(default)]
    pub keys: u32,
    /// Runs of its keys in order, where their names or codes differ; together as many as `keys`.
    #[serde(default)]
    pub key_blocks: Vec<KeyBlock>,
    /// Expansion modules it takes, by name.
    #[serde(default)]
    pub modules: Vec<String>,
    /// How many of them.
    #[serde(default)]
    pub max_modules: u32,
    /// Dialects it may speak, by rising firmware.
    pub dialects: Vec<String>,
    /// Words the template may print or ask for; they win over the dialect's.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
    /// How sure the numbers are.
    pub certainty: Option<Certainty>,
    /// Where they are said.
    #[serde(default)]
    pub source: String,
}

/// A run of keys that share names and codes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyBlock {
    /// Group of their names.
    pub group: String,
    /// How many keys.
    pub keys: u32,
    /// Number of the first of them within the group.
    #[serde(default = "first")]
    pub first: u32,
    /// Table of their codes.
    #[serde(default = "key")]
    pub codes: String,
}

fn first() -> u32 {
    1
}

fn key() -> String {
    "key".into()
}

/// An expansion module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// The vendor's own name.
    pub name: String,
    /// Its keys.
    pub keys: u32,
    /// How sure that is.
    pub certainty: Certainty,
    /// Where it is said.
    pub source: String,
}

/// Is a parameter there once, or once per line?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One for the device.
    Device,
    /// One per line.
    Line,
}

/// A timer in the vendor's own unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// Which one.
    pub timer: TimerName,
    /// Once or per line.
    pub scope: Scope,
    /// Parameter that carries it: with `{line}` (from 1) or `{line0}` (from 0), or `@field` from the names of
    /// the group `line`.
    pub parameter: String,
    /// Dialects that have it; all where empty.
    #[serde(default)]
    pub dialects: Vec<String>,
    /// Models that lack it. `*` at the end of a name is any tail.
    #[serde(default)]
    pub not_on: Vec<Pattern>,
    /// Seconds per unit.
    pub unit_s: u32,
    /// Least value, in its unit.
    pub min: Option<u32>,
    /// Greatest value, in its unit.
    pub max: Option<u32>,
    /// What is written is the value times this (1000 for milliseconds).
    #[serde(default = "once")]
    pub times: u32,
    /// What is written when it is off; absent where it cannot be switched off.
    pub off: Option<String>,
    /// Least cap of a back-off that the phone takes, in seconds.
    pub cap_min: Option<u32>,
    /// Greatest cap of a back-off that the phone takes, in seconds; also the cap where no ceiling is set.
    pub cap_max: Option<u32>,
    /// How sure unit and limits are.
    pub certainty: Certainty,
    /// Where they are said.
    pub source: String,
}

fn once() -> u32 {
    1
}

/// How the phone knows when to check in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckIn {
    /// Can it count an interval?
    #[serde(default)]
    pub interval: bool,
    /// Grid of its clock mode in minutes; absent where it has none.
    pub clock_minutes: Option<u32>,
    /// Can it be switched off?
    #[serde(default)]
    pub off: bool,
    /// Parameter that carries the clock slot.
    pub clock_parameter: Option<String>,
    /// Is the slot written as the bare hour, not as `HH:MM`?
    #[serde(default)]
    pub clock_hour: bool,
    /// Where it is said.
    #[serde(default)]
    pub source: String,
}

/// What a time zone form can say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneForm {
    /// Offsets are multiples of this many seconds.
    pub offset_unit_s: u32,
    /// The only length of summer time, in seconds; any where absent.
    pub save_s: Option<i32>,
    /// Changes happen at multiples of this many seconds.
    pub change_unit_s: u32,
    /// Least change time in seconds after midnight.
    #[serde(default)]
    pub change_min_s: i32,
    /// Greatest change time in seconds after midnight.
    #[serde(default = "last_hour")]
    pub change_max_s: i32,
    /// Where it is said.
    pub source: String,
}

fn last_hour() -> i32 {
    23 * 3600
}

/// What a parameter goes back to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetFact {
    /// Parameters it speaks of; `@group.field` are those of an irregular field.
    pub pattern: Pattern,
    /// Models it holds for; all where empty. `*` at the end of a name is any tail.
    #[serde(default)]
    pub models: Vec<Pattern>,
    /// Dialects it holds for; all where empty.
    #[serde(default)]
    pub dialects: Vec<String>,
    /// The phone's own default, as written in the file.
    pub value: String,
    /// How sure that is.
    pub certainty: Certainty,
    /// Where it is said.
    pub source: String,
}

/// What any different byte does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnyChange {
    /// Models it holds for; all where empty.
    #[serde(default)]
    pub models: Vec<Pattern>,
    /// Firmware it holds for.
    pub firmware: Option<Firmware>,
    /// What happens.
    pub effect: Effect,
    /// How sure that is.
    pub certainty: Certainty,
    /// Where it is said.
    pub source: String,
}

impl Pack {
    /// Reads a pack from its two files.
    ///
    /// # Errors
    /// A text that names the pack and what is wrong with it.
    pub fn parse(toml: &str, parameters: &str) -> Result<Self, String> {
        let mut pack: Self = toml::from_str(toml).map_err(|error| error.to_string())?;
        pack.known = KnownParameters::parse(parameters).map_err(|error| format!("{}: parameters.tsv: {error}", pack.id))?;
        pack.check()?;
        Ok(pack)
    }

    /// References within the pack that TOML cannot hold.
    fn check(&self) -> Result<(), String> {
        let fail = |what: String| Err(format!("{}: {what}", self.id));
        if self.dialects.is_empty() || self.files.is_empty() || self.any_change.is_empty() {
            return fail("needs a dialect, a file and an any_change".into());
        }
        for model in self.models.iter().chain(&self.generic) {
            if model.dialects.is_empty() {
                return fail(format!("model {:?} speaks no dialect", model.name));
            }
            if let Some(unknown) = model.dialects.iter().find(|id| self.dialects.iter().all(|d| d.id != **id)) {
                return fail(format!("model {:?} names the unknown dialect {unknown:?}", model.name));
            }
            let blocks: u32 = model.key_blocks.iter().map(|block| block.keys).sum();
            if !model.key_blocks.is_empty() && blocks != model.keys {
                return fail(format!("the key blocks of model {:?} hold {blocks} keys, not {}", model.name, model.keys));
            }
            if let Some(unknown) = model.modules.iter().find(|name| self.modules.iter().all(|m| m.name != **name)) {
                return fail(format!("model {:?} names the unknown module {unknown:?}", model.name));
            }
        }
        for grammar in self.values.iter().chain([&self.parameter_names]).chain(&self.user_agents) {
            if let Err(error) = regex::Regex::new(grammar) {
                return fail(format!("grammar {grammar:?}: {error}"));
            }
        }
        if self.any_change.last().is_some_and(|rule| !rule.models.is_empty() || rule.firmware.is_some()) {
            return fail("the last any_change must hold for all phones".into());
        }
        if self.generic_safe && self.generic.is_none() {
            return fail("generic_safe needs [generic]".into());
        }
        Ok(())
    }

    /// Is the raw parameter a secret? Those of the pack are, and any other that calls itself a password: a name that
    /// the pack does not know yet must not show what it holds.
    pub fn is_secret(&self, parameter: &str) -> bool {
        const WORDS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
        let name = parameter.to_ascii_lowercase();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.secrets.iter().any(|pattern| pattern.matches(parameter)) || WORDS.iter().any(|word| name.ends_with(word))
    }

    /// Do its phones know the setting (pointer without `/settings`)?
    pub fn supports(&self, setting: &str) -> bool {
        self.supports.iter().any(|pattern| pattern.matches(setting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_ranges_count_numbers_not_digits() {
        let yealink = Firmware { part: 2, from: Some("81".into()), below: Some("100".into()) };
        assert!(yealink.contains("66.81.0.15") && yealink.contains("66.86.0.15"));
        assert!(!yealink.contains("28.73.0.50") && !yealink.contains("") && !yealink.contains("66.100.0.1"));
        let gxp = Firmware { part: 1, from: Some("1.0.7".into()), below: None };
        assert!(gxp.contains("1.0.11.6") && gxp.contains("1.0.7") && !gxp.contains("1.0.5.33"));
    }
}
