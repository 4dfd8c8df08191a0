//! How often a token may find out that another tenant holds what it asked for.
//!
//! MACs, and ids of tenants, are unique in the server: a write of one that is taken fails, and that tells a token of
//! another tenant that it is there. It is not named, it is counted, and a token that has met too many of them is
//! refused before anything is looked up, taken or free.

use std::{collections::BTreeMap, sync::Mutex};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Actor, App, AppError};

/// So many within an hour, by one token and those that it made, on each server.
const PER_HOUR: u32 = 30;
/// Families of tokens that are counted at once; the one that began first is forgotten for another.
const FAMILIES: usize = 10_000;

/// Counts by family of tokens, each with the beginning of its hour.
#[derive(Debug, Default)]
pub(super) struct Probes(Mutex<BTreeMap<i64, (DateTime<Utc>, u32)>>);

impl Probes {
    /// Seconds to wait for a family that has met too many.
    fn wait(&self, family: i64, now: DateTime<Utc>) -> Option<u64> {
        let counted = self.lock();
        let (began, count) = *counted.get(&family)?;
        let left = (began + TimeDelta::hours(1) - now).num_seconds();
        // A beginning that lies ahead is of a clock that was put back.
        (count >= PER_HOUR && began <= now && left > 0).then_some(left.unsigned_abs())
    }

    fn count(&self, family: i64, now: DateTime<Utc>) {
        let mut counted = self.lock();
        let is_over = |began: DateTime<Utc>| began > now || began + TimeDelta::hours(1) <= now;
        if counted.len() >= FAMILIES && !counted.contains_key(&family) {
            counted.retain(|_, (began, _)| !is_over(*began));
            if counted.len() >= FAMILIES {
                let first = counted.iter().min_by_key(|(_, (began, _))| *began).map(|(family, _)| *family);
                first.map(|first| counted.remove(&first));
            }
        }
        let entry = counted.entry(family).or_insert((now, 0));
        if is_over(entry.0) {
            *entry = (now, 0);
        }
        entry.1 = entry.1.saturating_add(1);
    }

    /// Nothing panics while the lock is held.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<i64, (DateTime<Utc>, u32)>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl App {
    /// Refuses to write over what another tenant holds; `is_own`: the actor sees who holds it, `is_held`: somebody
    /// does.
    pub(super) fn check_taken(&self, actor: &Actor, is_own: bool, is_held: bool, what: &str) -> Result<(), AppError> {
        let Some(token) = actor.token.as_ref().filter(|_| actor.tenants.is_some() && !is_own) else { return Ok(()) };
        if let Some(seconds) = self.probes().wait(token.family, self.now()) {
            return Err(AppError::TooMany {
                detail: "this token met too many MACs or ids of others: what it does not hold yet it may write again later".into(),
                seconds,
            });
        }
        if is_held {
            self.probes().count(token.family, self.now());
            metrics::counter!("offbeat_taken_by_others_total").increment(1);
            return Err(AppError::Conflict(format!("{what} is taken")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + seconds)
    }

    #[test]
    fn a_family_waits_for_the_end_of_its_hour() {
        let probes = Probes::default();
        for number in 0..30 {
            assert_eq!(probes.wait(1, at(number)), None);
            probes.count(1, at(number));
        }
        assert_eq!((probes.wait(1, at(60)), probes.wait(2, at(60))), (Some(3540), None));
        assert_eq!(probes.wait(1, at(3600)), None);
        probes.count(1, at(3600));
        assert_eq!(probes.wait(1, at(3600)), None, "a new hour");
        assert_eq!(probes.wait(1, at(-60)), None, "a clock that was put back");
    }

    #[test]
    fn memory_is_bounded() {
        let probes = Probes::default();
        for family in 0..11_000 {
            probes.count(family, at(family / 100));
        }
        assert_eq!(probes.lock().len(), FAMILIES);
        assert!(probes.lock().contains_key(&10_999) && !probes.lock().contains_key(&0));
    }
}
