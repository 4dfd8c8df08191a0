//! IANA zone names to the rule that holds from now on.
//!
//! The rule is the last line of the bundled zone data (the POSIX rule), never dates of a year and never
//! the system's zone files, so that a file is the same in every year and on every server. Imports nothing
//! of the crate.

use tz::timezone::{RuleDay, TransitionRule};

/// A zone's rule: standard offset and, where clocks change, when and by how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// IANA name as bundled.
    pub name: &'static str,
    /// Abbreviation of standard time.
    pub standard: String,
    /// Seconds east of UTC of standard time: the smaller of the two offsets.
    pub offset: i32,
    /// Summer time, where there is any.
    pub summer: Option<Summer>,
}

/// Summer time: always ahead of standard time, whatever the zone data calls it (Dublin's winter is the
/// exception there, and means the same clock).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summer {
    /// Abbreviation.
    pub name: String,
    /// Seconds the clock is ahead of standard time.
    pub save: i32,
    /// When it begins, by the clock before the change.
    pub start: Change,
    /// When it ends, by the clock before the change.
    pub end: Change,
}

/// A moment of the year: the n-th weekday of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// 1 to 12.
    pub month: u8,
    /// 1 to 4; 5 is the last.
    pub week: u8,
    /// 0 is Sunday.
    pub weekday: u8,
    /// Seconds after midnight, local; may be negative or beyond a day.
    pub time: i32,
}

/// Looks a zone up by its IANA name. `None` for a name that is not in the zone data.
pub fn find(name: &str) -> Option<Zone> {
    let bundled = tzdb_data::TZ_NAMES.iter().find(|known| **known == name)?;
    let zone = tzdb_data::find_tz(name.as_bytes())?;
    match zone.extra_rule() {
        Some(TransitionRule::Alternate(rule)) => {
            let (first, second) = (rule.std(), rule.dst());
            let (start, end) = (change(*rule.dst_start(), rule.dst_start_time())?, change(*rule.dst_end(), rule.dst_end_time())?);
            let ahead = second.ut_offset() > first.ut_offset();
            let (standard, summer, start, end) = if ahead { (first, second, start, end) } else { (second, first, end, start) };
            let summer = Summer { name: designation(summer), save: summer.ut_offset() - standard.ut_offset(), start, end };
            Some(Zone { name: bundled, standard: designation(standard), offset: standard.ut_offset(), summer: Some(summer) })
        }
        Some(TransitionRule::Fixed(only)) => Some(fixed(bundled, only)),
        None => zone.local_time_types().last().map(|only| fixed(bundled, only)),
    }
}

fn fixed(name: &'static str, only: &tz::LocalTimeType) -> Zone {
    Zone { name, standard: designation(only), offset: only.ut_offset(), summer: None }
}

fn designation(time: &tz::LocalTimeType) -> String {
    time.time_zone_designation().to_owned()
}

/// Only the form every zone with rules uses today: month, week, weekday.
fn change(day: RuleDay, time: i32) -> Option<Change> {
    match day {
        RuleDay::MonthWeekDay(day) => Some(Change { month: day.month(), week: day.week(), weekday: day.week_day(), time }),
        RuleDay::Julian0WithLeap(_) | RuleDay::Julian1WithoutLeap(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summer(name: &str) -> (i32, i32, Change, Change) {
        let zone = find(name).unwrap();
        let summer = zone.summer.unwrap();
        (zone.offset, summer.save, summer.start, summer.end)
    }

    #[test]
    fn north_south_and_odd_rules() {
        let at = |month, week, weekday, time| Change { month, week, weekday, time };
        assert_eq!(summer("Europe/Berlin"), (3600, 3600, at(3, 5, 0, 7200), at(10, 5, 0, 10800)));
        assert_eq!(summer("America/New_York"), (-18000, 3600, at(3, 2, 0, 7200), at(11, 1, 0, 7200)));
        assert_eq!(summer("Australia/Sydney"), (36000, 3600, at(10, 1, 0, 7200), at(4, 1, 0, 10800)));
        assert_eq!(summer("Australia/Lord_Howe"), (37800, 1800, at(10, 1, 0, 7200), at(4, 1, 0, 7200)));
        // Summer begins on the last Sunday of March at 01:00 GMT and ends on the last of October at 02:00 IST.
        assert_eq!(summer("Europe/Dublin"), (0, 3600, at(3, 5, 0, 3600), at(10, 5, 0, 7200)));
    }

    #[test]
    fn zones_without_summer_time() {
        for (name, offset) in
            [("Asia/Kolkata", 19800), ("Pacific/Tongatapu", 46800), ("Asia/Kathmandu", 20700), ("UTC", 0), ("America/Phoenix", -25200)]
        {
            let zone = find(name).unwrap();
            assert_eq!((zone.offset, zone.summer), (offset, None), "{name}");
        }
    }

    #[test]
    fn unknown_names_and_spellings_are_none() {
        for name in ["", "Mars/Base", "europe/berlin", "Europe/Berlin "] {
            assert_eq!(find(name), None, "{name}");
        }
    }

    #[test]
    fn every_bundled_zone_has_a_rule() {
        for name in tzdb_data::TZ_NAMES {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
