//! A time zone in the parts vendors print, within what their form can say.

use crate::{vendor::spec::ZoneForm, zone};

/// A time zone in the parts vendors print.
#[derive(Clone, Debug)]
pub struct ZoneView {
    /// IANA name.
    pub name: String,
    /// Abbreviation of standard time.
    pub standard: String,
    /// Seconds east of UTC.
    pub offset_s: i32,
    /// `+1`, `-3:30`, `0`.
    pub offset_hm: String,
    /// POSIX spelling: name, then hours WEST of UTC (`CET-1`, `NST+3:30`).
    pub posix_standard: String,
    /// The same with letters for a name: `STD` where the zone data has a number (`STD-10:30`).
    pub posix_letters: String,
    /// Summer time.
    pub summer: Option<SummerView>,
}

/// Summer time.
#[derive(Clone, Debug)]
pub struct SummerView {
    /// Abbreviation.
    pub name: String,
    /// POSIX spelling: name, then hours WEST of UTC (`CEST-2`).
    pub posix: String,
    /// The same with letters for a name: `DST` where the zone data has a number (`DST-11`).
    pub posix_letters: String,
    /// Seconds the clock is put ahead.
    pub save_s: i32,
    /// Minutes the clock is put ahead.
    pub save_min: i32,
    /// When it begins.
    pub start: ChangeView,
    /// When it ends.
    pub end: ChangeView,
}

/// A change of the clock.
#[derive(Clone, Debug)]
pub struct ChangeView {
    /// 1 to 12.
    pub month: u8,
    /// 1 to 4; 5 is the last.
    pub week: u8,
    /// The last of its kind in the month?
    pub last: bool,
    /// 0 is Sunday.
    pub weekday: u8,
    /// 1 is Monday, 7 is Sunday.
    pub weekday_iso: u8,
    /// 1 is Sunday, 7 is Saturday.
    pub weekday_sunday_1: u8,
    /// First day the n-th week can begin on: 1, 8, 15, 22.
    pub first_day: u8,
    /// Hour, 0 to 23.
    pub hour: i32,
    /// Minute.
    pub minute: i32,
    /// `02:00:00`.
    pub time: String,
}

impl ZoneView {
    /// The zone within what the form can say, and whether that is exact.
    pub(in crate::render) fn of(zone: &zone::Zone, form: &ZoneForm) -> (Self, bool) {
        let unit = i32::try_from(form.offset_unit_s.max(1)).unwrap_or(1);
        let offset = zone.offset.div_euclid(unit) * unit;
        let mut exact = offset == zone.offset;
        let summer = zone.summer.as_ref().map(|summer| {
            let save = form.save_s.unwrap_or(summer.save);
            exact &= save == summer.save;
            let mut change = |change: zone::Change| {
                let unit = i32::try_from(form.change_unit_s.max(1)).unwrap_or(1);
                let time = (change.time.div_euclid(unit) * unit).clamp(form.change_min_s, form.change_max_s);
                exact &= time == change.time;
                ChangeView::of(change, time)
            };
            SummerView {
                posix: format!("{}{}", summer.name, posix_offset(offset + save)),
                posix_letters: format!("{}{}", letters(&summer.name, "DST"), posix_offset(offset + save)),
                name: summer.name.clone(),
                save_s: save,
                save_min: save / 60,
                start: change(summer.start),
                end: change(summer.end),
            }
        });
        let view = Self {
            name: zone.name.to_owned(),
            posix_standard: format!("{}{}", zone.standard, posix_offset(offset)),
            posix_letters: format!("{}{}", letters(&zone.standard, "STD"), posix_offset(offset)),
            standard: zone.standard.clone(),
            offset_s: offset,
            offset_hm: hours_minutes(offset, true),
            summer,
        };
        (view, exact)
    }
}

impl ChangeView {
    fn of(change: zone::Change, time: i32) -> Self {
        let (hour, minute) = (time / 3600, time / 60 % 60);
        Self {
            month: change.month,
            week: change.week,
            last: change.week == 5,
            weekday: change.weekday,
            weekday_iso: if change.weekday == 0 { 7 } else { change.weekday },
            weekday_sunday_1: change.weekday + 1,
            first_day: (change.week.min(4) - 1) * 7 + 1,
            hour,
            minute,
            time: format!("{hour:02}:{minute:02}:{:02}", time % 60),
        }
    }
}

/// `+1`, `-3:30`, `0`; without `plus` only the minus is written.
fn hours_minutes(seconds: i32, plus: bool) -> String {
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    let sign = if seconds < 0 {
        "-"
    } else if plus && seconds > 0 {
        "+"
    } else {
        ""
    };
    if minutes == 0 { format!("{sign}{hours}") } else { format!("{sign}{hours}:{minutes:02}") }
}

/// An abbreviation as it is, or the other where it is not letters alone (`+1030`).
fn letters<'a>(name: &'a str, other: &'a str) -> &'a str {
    if name.bytes().all(|b| b.is_ascii_alphabetic()) { name } else { other }
}

/// POSIX counts west of Greenwich.
fn posix_offset(seconds: i32) -> String {
    hours_minutes(-seconds, true)
}
