//! The periodic timers that are spread, and what a layer may say about each.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::fields::{group, numbers, words};

/// A periodic timer of a phone; the spread's key is its name, with `/<line>` where it is per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimerName {
    /// How often the phone asks for its configuration.
    CheckIn,
    /// Wait after a failed check-in.
    CheckInRetry,
    /// REGISTER expiry.
    Registration,
    /// How long before expiry the phone registers again.
    RegistrationLead,
    /// Wait after a registration that timed out or met a 5xx.
    RegistrationRetry,
    /// BLF / dialog SUBSCRIBE expiry.
    Subscription,
    /// Message-waiting SUBSCRIBE expiry, where it is a parameter of its own.
    MwiSubscription,
    /// Return to the primary server.
    Failback,
    /// NAT keep-alive.
    Keepalive,
    /// Phone book refresh.
    Phonebook,
}

/// The numbers of a timer before any layer speaks, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerDefaults {
    /// Configured interval.
    pub interval: u32,
    /// Width of the spread.
    pub spread: u32,
    /// Never below this.
    pub floor: u32,
    /// Never above this.
    pub ceiling: Option<u32>,
}

impl TimerName {
    /// Every timer.
    pub const ALL: [Self; 10] = [
        Self::CheckIn,
        Self::CheckInRetry,
        Self::Registration,
        Self::RegistrationLead,
        Self::RegistrationRetry,
        Self::Subscription,
        Self::MwiSubscription,
        Self::Failback,
        Self::Keepalive,
        Self::Phonebook,
    ];

    /// The name in settings and in the spread's key.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CheckIn => "check_in",
            Self::CheckInRetry => "check_in_retry",
            Self::Registration => "registration",
            Self::RegistrationLead => "registration_lead",
            Self::RegistrationRetry => "registration_retry",
            Self::Subscription => "subscription",
            Self::MwiSubscription => "mwi_subscription",
            Self::Failback => "failback",
            Self::Keepalive => "keepalive",
            Self::Phonebook => "phonebook",
        }
    }

    /// Built-in interval, spread, floor and ceiling in seconds.
    pub fn defaults(self) -> TimerDefaults {
        let (interval, spread, floor, ceiling) = match self {
            Self::CheckIn => (86400, 21600, 3600, None),
            Self::CheckInRetry => (600, 300, 60, None),
            Self::Registration | Self::MwiSubscription | Self::Failback => (3600, 600, 60, None),
            Self::Subscription => (3600, 600, 60, Some(3600)),
            Self::RegistrationLead => (90, 60, 30, None),
            Self::RegistrationRetry => (60, 30, 30, Some(1800)),
            Self::Keepalive => (30, 10, 15, None),
            Self::Phonebook => (21600, 3600, 3600, None),
        };
        TimerDefaults { interval, spread, floor, ceiling }
    }

    /// May a phone be without it (`interval: 0`)?
    pub fn may_be_off(self) -> bool {
        matches!(self, Self::CheckIn | Self::Keepalive | Self::Phonebook | Self::MwiSubscription)
    }

    /// Does `sip.registrar.min_expires` lift its floor?
    pub fn heeds_registrar(self) -> bool {
        matches!(self, Self::Registration | Self::Subscription)
    }
}

numbers! {
    /// Seconds, 0 to 2^31-1.
    Seconds 0..=2_147_483_647,
}

/// How a phone knows when to check in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckInMode {
    /// Every so many seconds, counted by the phone.
    Interval,
    /// Once a day in a minute of its own.
    Clock,
}

words! { CheckInMode = CheckInMode::Clock }

/// A time of day, `HH:MM`, as minutes since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, example = "01:00")]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// Minutes since midnight, 0 to 1439.
    pub fn minutes(self) -> u16 {
        self.0
    }

    /// The time so many minutes after midnight; whole days are dropped.
    pub fn from_minutes(minutes: u32) -> Self {
        // The remainder of a division by 1440 fits.
        Self(u16::try_from(minutes % 1440).unwrap_or_default())
    }
}

impl std::str::FromStr for TimeOfDay {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let bytes = text.as_bytes();
        if bytes.len() != 5 || bytes[2] != b':' || !text.bytes().enumerate().all(|(i, b)| i == 2 || b.is_ascii_digit()) {
            return Err(());
        }
        let hours: u16 = text[..2].parse().map_err(|_| ())?;
        let minutes: u16 = text[3..].parse().map_err(|_| ())?;
        if hours > 23 || minutes > 59 { Err(()) } else { Ok(Self(hours * 60 + minutes)) }
    }
}

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl super::fields::Setting for TimeOfDay {
    fn read(value: &serde_json::Value, reader: &mut super::fields::Reader) -> Option<Self> {
        let read = value.as_str().and_then(|text| text.parse().ok());
        if read.is_none() {
            reader.fail("not_a_time", "expected a time of day as \"HH:MM\"");
        }
        read
    }
    fn leaves(&self, path: &mut String, visit: &mut dyn FnMut(&str, serde_json::Value)) {
        visit(path, serde_json::json!(self));
    }
    fn sample() -> Self {
        Self(60)
    }
}

group! {
    /// What a layer says about one timer. Seconds; `ceiling: 0` is none; `interval: 0` is off where the
    /// phone may be without the timer.
    TimerSetting {
        /// Configured interval.
        interval: Seconds,
        /// How far below the interval phones are spread.
        spread: Seconds,
        /// Never below this.
        floor: Seconds,
        /// Never above this.
        ceiling: Seconds,
    }
}

group! {
    /// What a layer says about the check-in.
    CheckInSetting {
        /// Configured interval.
        interval: Seconds,
        /// How far below the interval phones are spread.
        spread: Seconds,
        /// Never below this.
        floor: Seconds,
        /// Never above this.
        ceiling: Seconds,
        /// By interval, or once a day by the clock.
        mode: CheckInMode,
        /// Clock mode: first minute of the window, local time.
        from: TimeOfDay,
        /// Clock mode: end of the window, local time.
        until: TimeOfDay,
    }
}

group! {
    /// The timers of a layer.
    Timers {
        /// How often the phone asks for its configuration.
        check_in: CheckInSetting,
        /// Wait after a failed check-in.
        check_in_retry: TimerSetting,
        /// REGISTER expiry.
        registration: TimerSetting,
        /// How long before expiry the phone registers again.
        registration_lead: TimerSetting,
        /// Wait after a registration that timed out or met a 5xx.
        registration_retry: TimerSetting,
        /// BLF / dialog SUBSCRIBE expiry.
        subscription: TimerSetting,
        /// Message-waiting SUBSCRIBE expiry.
        mwi_subscription: TimerSetting,
        /// Return to the primary server.
        failback: TimerSetting,
        /// NAT keep-alive.
        keepalive: TimerSetting,
        /// Phone book refresh.
        phonebook: TimerSetting,
    }
}

impl Timers {
    /// The numbers that are set for one timer.
    pub fn get(&self, name: TimerName) -> TimerSetting {
        let setting = match name {
            TimerName::CheckIn => {
                return self.check_in.as_ref().map_or_else(TimerSetting::default, |c| TimerSetting {
                    interval: c.interval,
                    spread: c.spread,
                    floor: c.floor,
                    ceiling: c.ceiling,
                });
            }
            TimerName::CheckInRetry => &self.check_in_retry,
            TimerName::Registration => &self.registration,
            TimerName::RegistrationLead => &self.registration_lead,
            TimerName::RegistrationRetry => &self.registration_retry,
            TimerName::Subscription => &self.subscription,
            TimerName::MwiSubscription => &self.mwi_subscription,
            TimerName::Failback => &self.failback,
            TimerName::Keepalive => &self.keepalive,
            TimerName::Phonebook => &self.phonebook,
        };
        setting.clone().unwrap_or_default()
    }
}
