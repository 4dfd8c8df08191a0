//! The parts of a view: lines, keys, servers, timers as a template prints them.

use std::fmt;

use crate::{
    domain::TimerName,
    render::timers::{TimerRow, TimerValue},
};

/// The vendor's code of a word. Prints the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The word of the setting (`tls`, `blf`, `true`).
    pub word: String,
    /// The vendor's code.
    pub code: String,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)
    }
}

/// A timer's value as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerView {
    /// Parameter that carries it.
    pub parameter: String,
    /// What is written.
    pub written: String,
    /// Switched off?
    pub off: bool,
    /// Seconds it should never exceed: the cap of a back-off, within what the phone takes.
    pub ceiling: Option<u32>,
}

impl fmt::Display for TimerView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// The timers of a line, or of the whole device. `None`: the phone does not have it there.
#[derive(Clone, Debug, Default)]
pub struct TimerViews {
    /// Check-in by interval.
    pub check_in: Option<TimerView>,
    /// Wait after a failed check-in.
    pub check_in_retry: Option<TimerView>,
    /// REGISTER expiry.
    pub registration: Option<TimerView>,
    /// Lead before expiry.
    pub registration_lead: Option<TimerView>,
    /// Wait after a failed registration.
    pub registration_retry: Option<TimerView>,
    /// SUBSCRIBE expiry.
    pub subscription: Option<TimerView>,
    /// Message-waiting SUBSCRIBE expiry.
    pub mwi_subscription: Option<TimerView>,
    /// Return to the primary server.
    pub failback: Option<TimerView>,
    /// NAT keep-alive.
    pub keepalive: Option<TimerView>,
    /// Phone book refresh.
    pub phonebook: Option<TimerView>,
}

impl TimerViews {
    pub(in crate::render) fn of(rows: &[TimerRow], line: u32) -> Self {
        let view = |name: TimerName| {
            rows.iter().find(|row| row.timer == name && row.line == line && !matches!(row.value, TimerValue::Clock(_))).map(|row| {
                TimerView {
                    parameter: row.parameter.clone(),
                    written: row.written.clone(),
                    off: row.value == TimerValue::Units(0),
                    ceiling: row.cap,
                }
            })
        };
        Self {
            check_in: view(TimerName::CheckIn),
            check_in_retry: view(TimerName::CheckInRetry),
            registration: view(TimerName::Registration),
            registration_lead: view(TimerName::RegistrationLead),
            registration_retry: view(TimerName::RegistrationRetry),
            subscription: view(TimerName::Subscription),
            mwi_subscription: view(TimerName::MwiSubscription),
            failback: view(TimerName::Failback),
            keepalive: view(TimerName::Keepalive),
            phonebook: view(TimerName::Phonebook),
        }
    }
}

/// How the phone knows when to check in. Exactly one of the three holds.
#[derive(Clone, Debug, Default)]
pub struct CheckInView {
    /// Every so often, in the vendor's unit.
    pub interval: Option<TimerView>,
    /// Once a day at this time.
    pub clock: Option<ClockView>,
    /// Not at all.
    pub off: bool,
}

/// A time of day.
#[derive(Clone, Debug)]
pub struct ClockView {
    /// `HH:MM`.
    pub time: String,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// The hour after, 0 to 23.
    pub next_hour: u32,
}

/// A server: host and, where it is to be printed, port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerView {
    /// Host as stored (IPv6 without brackets).
    pub host: String,
    /// IPv6 in brackets.
    pub bracketed: String,
    /// Port, where one applies.
    pub port: Option<u32>,
    /// What it is for (`failover`, `register_both`), for a backup.
    pub mode: Option<Code>,
}

/// A URL and its parts.
#[derive(Clone, Debug)]
pub struct UrlView {
    /// The whole, user info included.
    pub full: String,
    /// `http`, `https`, …
    pub scheme: String,
    /// The vendor's code of the scheme, by the table `scheme`.
    pub scheme_code: Option<String>,
    /// What follows `scheme://`, without user info.
    pub rest: String,
}

/// A programmable key.
#[derive(Clone, Debug)]
pub struct KeyView {
    /// 0 is the phone itself.
    pub module: u32,
    /// From 1, on its module.
    pub position: u32,
    /// From 1, counted on over all modules (module 1 begins at 1).
    pub index: u32,
    /// From 1, counted on over the phone and all its modules.
    pub number: u32,
    /// Group of names it belongs to: that of its block on the model, `module` on a module, else `key`.
    pub group: String,
    /// Its number within that group, from 1.
    pub n: u32,
    /// The vendor's code by the table `key` or that of its block; prints the code.
    pub kind: Code,
    /// The numbered list that holds what the key does, by the table `key_list`; empty where none does.
    pub list: String,
    /// From 1, its place in that list.
    pub ordinal: u32,
    /// Line it uses, from 1.
    pub line: u32,
    /// The line, where one was stated or the type has one.
    pub has_line: bool,
    /// Number, slot, digits or URL.
    pub value: Option<String>,
    /// Text beside the key.
    pub label: Option<String>,
    /// What is dialled to pick up the monitored call.
    pub pickup: Option<String>,
}

/// A codec of the pack's table.
#[derive(Clone, Debug)]
pub struct CodecView {
    /// The word and the vendor's code.
    pub codec: Code,
    /// In use?
    pub on: bool,
    /// 1 is first; 0 is off.
    pub priority: u32,
}

/// One account of the model.
#[derive(Clone, Debug, Default)]
pub struct LineView {
    /// From 1.
    pub n: u32,
    /// From 0.
    pub index: u32,
    /// In use? Where not, nothing below holds.
    pub on: bool,
    /// User part.
    pub user: String,
    /// User part as it stands in a SIP URI (RFC 3261: what it does not allow is percent-encoded).
    pub uri_user: String,
    /// User name for authentication.
    pub auth_user: String,
    /// Password; empty where none is stored.
    pub password: String,
    /// Name shown to others.
    pub display_name: String,
    /// Name shown to others as a quoted string (RFC 3261), quotes included.
    pub quoted_name: String,
    /// Text on the screen.
    pub label: String,
    /// Registrar.
    pub server: Option<ServerView>,
    /// `udp`, `tcp`, `tls`, by the table `transport`.
    pub transport: Option<Code>,
    /// `a`, `srv`, `naptr`, by the table `dns`.
    pub dns: Option<Code>,
    /// Both in one, `udp/a`, by the table `route`, where the vendor has one parameter for both.
    pub route: Option<Code>,
    /// The first line in use with the same servers, ports and transport; its own number where it is that.
    pub route_line: u32,
    /// Outbound proxy.
    pub outbound_proxy: Option<ServerView>,
    /// Stand-in.
    pub backup: Option<ServerView>,
    /// All codecs of the pack's table, those in use first.
    pub codecs: Option<Vec<CodecView>>,
    /// By the table `srtp`.
    pub srtp: Option<Code>,
    /// By the table `dtmf`.
    pub dtmf: Option<Code>,
    /// By the table `mwi`.
    pub mwi: Option<Code>,
    /// By the table `rport` or `bool`.
    pub rport: Option<Code>,
    /// By the table `session_timer` or `bool`.
    pub session_timer: Option<Code>,
    /// Number of the voicemail key.
    pub voicemail_number: Option<String>,
    /// Number of the voicemail key as the user part of a SIP URI.
    pub voicemail_uri_user: Option<String>,
    /// Line keys it takes.
    pub appearances: u32,
    /// By the table `shared`.
    pub shared: Option<Code>,
    /// The server's BLF list.
    pub blf_list_uri: Option<String>,
    /// Its timers.
    pub timers: TimerViews,
}

/// A VLAN.
#[derive(Clone, Debug)]
pub struct VlanView {
    /// 802.1Q id; 0 is untagged.
    pub id: Option<u32>,
    /// 802.1p priority.
    pub priority: Option<u32>,
}

/// A remote phone book.
#[derive(Clone, Debug)]
pub struct PhonebookView {
    /// From 1.
    pub n: usize,
    /// Name shown.
    pub name: String,
    /// Where it is.
    pub url: UrlView,
}

/// A parameter beyond the template's own lines.
#[derive(Clone, Debug)]
pub struct Extra {
    /// The vendor's own name.
    pub name: String,
    /// For names of the form `section/key`: the section.
    pub section: String,
    /// For names of the form `section/key`: the key; else the name.
    pub key: String,
    /// For names of the form `name[sub]`: the name; else the name.
    pub base: String,
    /// The value.
    pub value: String,
}

impl Extra {
    pub(in crate::render) fn new(name: String, value: String) -> Self {
        let (section, key) = name.rsplit_once('/').map_or_else(|| (String::new(), name.clone()), |(s, k)| (s.to_owned(), k.to_owned()));
        let base = name.split_once('[').map_or_else(|| name.clone(), |(base, _)| base.to_owned());
        Self { name, section, key, base, value }
    }
}
