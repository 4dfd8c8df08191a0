//! What a changed parameter does to the phone.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{dialect::Phone, pattern::Pattern, spec::Firmware};

/// What a change does, in rising order of harm; `unknown` ranks with `reboot` wherever harm is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    None,
    /// Applied while the phone works.
    Live,
    /// The account registers again.
    Reregister,
    /// The SIP application restarts, half a minute.
    Restart,
    /// The phone reboots, minutes.
    Reboot,
    /// The phone may not come back without a visit.
    Strand,
    /// Nobody knows.
    Unknown,
}

impl Effect {
    /// Every effect, in the order of reports.
    pub const ALL: [Self; 7] = [Self::None, Self::Live, Self::Reregister, Self::Restart, Self::Reboot, Self::Strand, Self::Unknown];

    /// Rank of harm. A known reboot outweighs a mere "unknown" in a tie.
    pub fn harm(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Live => 1,
            Self::Reregister => 2,
            Self::Restart => 3,
            Self::Unknown => 4,
            Self::Reboot => 5,
            Self::Strand => 6,
        }
    }

    /// The word in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Live => "live",
            Self::Reregister => "reregister",
            Self::Restart => "restart",
            Self::Reboot => "reboot",
            Self::Strand => "strand",
            Self::Unknown => "unknown",
        }
    }
}

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Believed, with a reason.
    Assumed,
    /// Seen on phones or in templates others ship.
    Observed,
    /// Stated by a vendor's document or source.
    Documented,
}

/// What the pack knows of one pattern.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectFact {
    /// Parameters it speaks of; `@group.field` are those of an irregular field.
    pub pattern: Pattern,
    /// Models it holds for; all where empty. `*` at the end of a name is any tail.
    #[serde(default)]
    pub models: Vec<Pattern>,
    /// Firmware it holds for.
    pub firmware: Option<Firmware>,
    /// Value the parameter changes to; any, or none at all, where absent.
    pub to: Option<String>,
    /// Holds only where nothing of this pattern changes along with it: one switch may hand over to another.
    pub unless: Option<Pattern>,
    /// What a change does.
    pub effect: Effect,
    /// How sure that is.
    pub certainty: Certainty,
    /// Where it is said.
    pub source: String,
}

impl EffectFact {
    /// Does it speak of this phone?
    pub fn is_for(&self, phone: &Phone<'_>) -> bool {
        let model = self.models.is_empty() || self.models.iter().any(|pattern| pattern.matches(phone.model_name()));
        model && self.firmware.as_ref().is_none_or(|range| range.contains(phone.firmware))
    }

    /// Does it speak of this change, to the value `to`, among all parameters that change?
    fn is_of(&self, to: Option<&str>, changed: &[&str]) -> bool {
        self.to.as_deref().is_none_or(|value| to == Some(value))
            && self.unless.as_ref().is_none_or(|other| !changed.iter().any(|name| other.matches(name)))
    }

    /// The most specific fact of a parameter that changes on this phone: what it changes to, and all that change.
    pub fn find<'a>(facts: &'a [Self], parameter: &str, to: Option<&str>, changed: &[&str], phone: &Phone<'_>) -> Option<&'a Self> {
        let known =
            facts.iter().filter(|fact| phone.fit(&fact.pattern, parameter).is_some() && fact.is_for(phone) && fact.is_of(to, changed));
        // `max_by_key` takes the last of equals; the first in the pack is to win.
        known.rev_max(|fact| {
            let conditions = [!fact.models.is_empty(), fact.firmware.is_some(), fact.to.is_some()];
            (phone.fit(&fact.pattern, parameter), conditions.into_iter().filter(|set| *set).count())
        })
    }
}

/// The first of the greatest.
trait RevMax<'a>: Iterator<Item = &'a EffectFact> + Sized {
    fn rev_max<K: Ord>(self, key: impl Fn(&EffectFact) -> K) -> Option<&'a EffectFact> {
        self.fold(None, |best: Option<&EffectFact>, fact| match best {
            Some(best) if key(best) >= key(fact) => Some(best),
            _ => Some(fact),
        })
    }
}
impl<'a, I: Iterator<Item = &'a EffectFact>> RevMax<'a> for I {}
