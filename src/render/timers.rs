//! Each periodic timer of a device: numbers, hash, value in the vendor's unit, and which layer set what.

use serde::Serialize;
use utoipa::ToSchema;

use super::Warning;
use crate::{
    domain::{
        Mac, TimerName, TimerSetting,
        merge::{Effective, Source},
        settings::Sip,
        timer::{CheckInMode, CheckInSetting, TimeOfDay, Timers},
    },
    spread::{self, Numbers, Place},
    vendor::{
        Phone,
        spec::{Scope, Timer},
    },
};

/// Key of the clock mode's hash.
const SLOT_KEY: &str = "check_in_slot";

/// Which layer set each number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sources {
    /// Of the interval.
    #[schema(value_type = String)]
    pub interval: Source,
    /// Of the spread.
    #[schema(value_type = String)]
    pub spread: Source,
    /// Of the floor.
    #[schema(value_type = String)]
    pub floor: Source,
    /// Of the ceiling.
    #[schema(value_type = String)]
    pub ceiling: Source,
}

/// One timer of a device, with everything needed to redo it by hand.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TimerRow {
    /// Which timer.
    pub timer: TimerName,
    /// Its key in the hash.
    pub key: String,
    /// Salt in force.
    pub salt: String,
    /// First eight bytes of the SHA-256, 16 hex digits.
    pub hash: String,
    /// Parameter that carries it.
    pub parameter: String,
    /// Seconds per vendor unit.
    pub unit_s: u32,
    /// Least value the phone takes, in its unit.
    pub vendor_min: Option<u32>,
    /// Greatest value the phone takes, in its unit.
    pub vendor_max: Option<u32>,
    /// Configured interval in seconds.
    pub interval: u32,
    /// Configured spread in seconds.
    pub spread: u32,
    /// Floor in seconds.
    pub floor: u32,
    /// Ceiling in seconds.
    pub ceiling: Option<u32>,
    /// Distinct values.
    pub steps: u32,
    /// Units (clock mode: grid steps) away from the interval (from the window's begin).
    pub offset: u32,
    /// The value in the vendor's unit; clock mode: `HH:MM`; off: 0.
    #[schema(value_type = serde_json::Value)]
    pub value: TimerValue,
    /// The value in seconds; clock mode: seconds after midnight.
    pub value_s: u32,
    /// Which layer set each number.
    pub source: Sources,
    /// The line, 0 for one of the whole device.
    #[serde(skip)]
    pub line: u32,
    /// What stands in the file.
    #[serde(skip)]
    pub written: String,
    /// The ceiling within what the phone takes as the cap of a back-off.
    #[serde(skip)]
    pub cap: Option<u32>,
}

/// The value of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TimerValue {
    /// In the vendor's unit; 0 is off.
    Units(u32),
    /// A time of day.
    Clock(TimeOfDay),
}

/// The timers of one device being placed.
pub(super) struct Placer<'a> {
    pub phone: &'a Phone<'a>,
    pub effective: &'a Effective,
    pub salt: &'a str,
    pub mac: Mac,
    pub warnings: Vec<Warning>,
}

/// The four numbers of a timer once all layers have spoken, and where they come from.
struct Configured {
    interval: u32,
    spread: u32,
    floor: u32,
    ceiling: Option<u32>,
    source: Sources,
}

impl Placer<'_> {
    /// Every timer that is emitted, in order of name and line.
    pub(super) fn rows(&mut self) -> Vec<TimerRow> {
        let mut rows = Vec::new();
        for name in TimerName::ALL {
            let Some(timer) = self.phone.timer(name) else { continue };
            match timer.scope {
                Scope::Device => rows.extend(self.row(timer, 0)),
                Scope::Line => {
                    let lines: Vec<u32> = self.effective.lines.iter().map(|line| line.line).collect();
                    rows.extend(lines.into_iter().filter_map(|line| self.row(timer, line)));
                }
            }
        }
        if self.phone.timer(TimerName::CheckIn).is_none()
            && !self.phone.check_in().interval
            && self.phone.check_in().clock_minutes.is_some()
        {
            rows.insert(0, self.clock_row(&self.check_in_setting(), None));
        }
        rows
    }

    fn row(&mut self, timer: &Timer, line: u32) -> Option<TimerRow> {
        let name = timer.timer;
        let parameter = self.phone.timer_parameter(timer, line)?;
        if !self.is_wanted(name, line) {
            return None;
        }
        let configured = self.configured(name, line);
        if name == TimerName::CheckIn {
            let setting = self.check_in_setting();
            if setting.mode == Some(CheckInMode::Clock) && configured.interval != 0 {
                if self.phone.check_in().clock_minutes.is_some() {
                    return Some(self.clock_row(&setting, Some((timer, configured))));
                }
                self.warn("mode_unsupported", "this phone cannot check in by the clock: the interval is used".into());
            }
        }
        Some(self.interval_row(timer, line, parameter, configured))
    }

    /// Is the timer emitted? The lead only once set or where expiry is coarser than a second, the
    /// fail-back only with a backup.
    fn is_wanted(&self, name: TimerName, line: u32) -> bool {
        match name {
            TimerName::RegistrationLead => {
                let coarse = self.phone.timer(TimerName::Registration).is_some_and(|timer| timer.unit_s > 1);
                coarse || self.timers(line).is_some_and(|timers| timers.get(name) != TimerSetting::default())
            }
            TimerName::Failback => {
                let has_backup = |sip: Option<&Sip>| sip.and_then(|sip| sip.backup.as_ref()).is_some_and(|backup| backup.server.is_some());
                match line {
                    0 => self.effective.lines.iter().any(|line| has_backup(line.sip.as_ref())),
                    line => has_backup(self.line(line).and_then(|line| line.sip.as_ref())),
                }
            }
            _ => true,
        }
    }

    fn interval_row(&mut self, timer: &Timer, line: u32, parameter: String, mut configured: Configured) -> TimerRow {
        let name = timer.timer;
        let key = if line == 0 { name.as_str().to_owned() } else { format!("{}/{line}", name.as_str()) };
        let off = configured.interval == 0 && name.may_be_off();
        let can_be_off = timer.off.is_some() || (name == TimerName::CheckIn && self.phone.check_in().off);
        if off && !can_be_off {
            // The row says what was used, so that the value can be redone by hand.
            (configured.interval, configured.source.interval) = (name.defaults().interval, Source::Default);
            self.warn("no_off", format!("{key}: this phone cannot be without it, {} s is used", configured.interval));
        }
        let numbers = Numbers {
            interval: configured.interval,
            spread: configured.spread,
            floor: configured.floor,
            ceiling: configured.ceiling,
            unit: timer.unit_s,
            vendor_min: timer.min,
            vendor_max: timer.max,
        };
        let is_off = off && can_be_off;
        let place = if is_off {
            Place { hash: spread::hash(self.salt, &key, self.mac), steps: 0, offset: 0, value: 0 }
        } else {
            spread::place(self.salt, &key, self.mac, &numbers)
        };
        if !is_off {
            self.warn_of_limits(&key, &numbers, &place, &configured.source);
            self.warn_of_cap(&key, timer, &configured);
        }
        let written = match &timer.off {
            Some(word) if is_off => word.clone(),
            _ => (u64::from(place.value) * u64::from(timer.times)).to_string(),
        };
        TimerRow {
            timer: name,
            key,
            salt: self.salt.to_owned(),
            hash: format!("{:016x}", place.hash),
            parameter,
            unit_s: timer.unit_s,
            vendor_min: timer.min,
            vendor_max: timer.max,
            interval: configured.interval,
            spread: configured.spread,
            floor: configured.floor,
            ceiling: configured.ceiling,
            steps: place.steps,
            offset: place.offset,
            value: TimerValue::Units(place.value),
            value_s: place.value.saturating_mul(timer.unit_s),
            source: configured.source,
            line,
            written,
            cap: configured.ceiling.or(timer.cap_max).map(|cap| cap.min(timer.cap_max.unwrap_or(cap)).max(timer.cap_min.unwrap_or(0))),
        }
    }

    /// A minute of the day of the device's own.
    fn clock_row(&mut self, setting: &CheckInSetting, known: Option<(&Timer, Configured)>) -> TimerRow {
        let check_in = self.phone.check_in();
        let resolution = check_in.clock_minutes.unwrap_or(1);
        let window = |time: Option<TimeOfDay>, hour: u32| time.unwrap_or_else(|| TimeOfDay::from_minutes(hour * 60));
        let (from, until) = (window(setting.from, 1), window(setting.until, 5));
        let timer = known.as_ref().map(|(timer, _)| *timer);
        if timer.is_none() && setting.mode != Some(CheckInMode::Clock) {
            self.warn("mode_unsupported", format!("this phone checks in by the clock alone: it has a slot between {from} and {until}"));
        }
        let configured = known.map_or_else(|| self.configured(TimerName::CheckIn, 0), |(_, configured)| configured);
        let hash = spread::hash(self.salt, SLOT_KEY, self.mac);
        let slot = spread::slot(self.salt, SLOT_KEY, self.mac, from, until, resolution);
        let span = match (u32::from(until.minutes()) + 1440 - u32::from(from.minutes())) % 1440 {
            0 => 1440,
            span => span,
        };
        let steps = (span / resolution).max(1);
        TimerRow {
            timer: TimerName::CheckIn,
            key: SLOT_KEY.to_owned(),
            salt: self.salt.to_owned(),
            hash: format!("{hash:016x}"),
            parameter: check_in
                .clock_parameter
                .as_ref()
                .map(|p| p.replace("{static}", self.phone.flag("static").unwrap_or_default()))
                .unwrap_or_default(),
            unit_s: resolution * 60,
            vendor_min: None,
            vendor_max: None,
            interval: configured.interval,
            spread: configured.spread,
            floor: configured.floor,
            ceiling: configured.ceiling,
            steps,
            offset: u32::try_from(hash % u64::from(steps)).unwrap_or_default(),
            value: TimerValue::Clock(slot),
            value_s: u32::from(slot.minutes()) * 60,
            source: configured.source,
            line: 0,
            written: if check_in.clock_hour { (slot.minutes() / 60).to_string() } else { slot.to_string() },
            cap: None,
        }
    }

    fn check_in_setting(&self) -> CheckInSetting {
        self.effective.settings.timers.as_ref().and_then(|timers| timers.check_in.clone()).unwrap_or_default()
    }

    fn line(&self, number: u32) -> Option<&crate::domain::Line> {
        self.effective.lines.iter().find(|line| line.line == number)
    }

    fn timers(&self, line: u32) -> Option<&Timers> {
        match line {
            0 => self.effective.settings.timers.as_ref(),
            line => self.line(line).and_then(|line| line.timers.as_ref()),
        }
    }

    fn configured(&self, name: TimerName, line: u32) -> Configured {
        let setting = self.timers(line).map_or_else(TimerSetting::default, |timers| timers.get(name));
        let defaults = name.defaults();
        let base = if line == 0 { String::from("/settings") } else { format!("/lines/{line}") };
        let source = |number: &str| self.effective.source(&format!("{base}/timers/{}/{number}", name.as_str()));
        let mut floor = setting.floor.map_or(defaults.floor, |n| n.get());
        let mut floor_source = source("floor");
        if name.heeds_registrar() {
            let sip = if line == 0 { self.effective.settings.sip.as_ref() } else { self.line(line).and_then(|line| line.sip.as_ref()) };
            let least = sip.and_then(|sip| sip.registrar.as_ref()).and_then(|registrar| registrar.min_expires).map_or(0, |n| n.get());
            if least > floor {
                floor = least;
                floor_source = self.effective.source(&format!("{base}/sip/registrar/min_expires"));
            }
        }
        Configured {
            interval: setting.interval.map_or(defaults.interval, |n| n.get()),
            spread: setting.spread.map_or(defaults.spread, |n| n.get()),
            floor,
            ceiling: match setting.ceiling.map(|n| n.get()) {
                None => defaults.ceiling,
                Some(0) => None,
                ceiling => ceiling,
            },
            source: Sources { interval: source("interval"), spread: source("spread"), floor: floor_source, ceiling: source("ceiling") },
        }
    }

    /// What an administrator asked for and does not get. Built-in numbers that meet a vendor's limit are no news.
    fn warn_of_limits(&mut self, key: &str, numbers: &Numbers, place: &Place, source: &Sources) {
        let capped = numbers.vendor_max.filter(|max| numbers.interval.min(numbers.ceiling.unwrap_or(u32::MAX)) / numbers.unit > *max);
        if let Some(max) = capped.filter(|_| source.interval != Source::Default) {
            self.warn(
                "value_capped",
                format!("{key}: {} s is above the phone's greatest value, {max} units of {} s", numbers.interval, numbers.unit),
            );
        }
        let asked = numbers.interval.min(numbers.ceiling.unwrap_or(u32::MAX));
        let raised = numbers.interval < numbers.floor || numbers.vendor_min.is_some_and(|min| asked / numbers.unit < min);
        if raised && [&source.interval, &source.floor, &source.ceiling].into_iter().any(|s| *s != Source::Default) {
            let value = place.value.saturating_mul(numbers.unit);
            self.warn("interval_raised", format!("{key}: {asked} s is below what is allowed and becomes {value} s"));
        }
        let wanted = (numbers.spread / numbers.unit).max(1);
        let set = [&source.interval, &source.spread, &source.floor, &source.ceiling].into_iter().any(|s| *s != Source::Default);
        if place.steps < wanted && set {
            self.warn("spread_narrowed", format!("{key}: there is room for {} of {wanted} steps above the floor", place.steps));
        }
    }

    /// The ceiling of a back-off is a parameter of its own, with limits of its own.
    fn warn_of_cap(&mut self, key: &str, timer: &Timer, configured: &Configured) {
        let Some(ceiling) = configured.ceiling.filter(|_| configured.source.ceiling != Source::Default) else { return };
        if let Some(max) = timer.cap_max.filter(|max| ceiling > *max) {
            self.warn("value_capped", format!("{key}: a ceiling of {ceiling} s is above the phone's greatest cap, {max} s"));
        }
        if let Some(min) = timer.cap_min.filter(|min| ceiling < *min) {
            self.warn("interval_raised", format!("{key}: a ceiling of {ceiling} s is below the phone's least cap and becomes {min} s"));
        }
    }

    fn warn(&mut self, code: &str, detail: String) {
        self.warnings.push(Warning::new(code, detail));
    }
}
