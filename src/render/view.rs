//! All that a template may see: values that are ready to print.
//!
//! Codes are looked up, units converted, zones resolved; what a layer does not set is `None`, and the
//! template prints nothing for it. Lines and timers are total, keys are total once a layer has given any.

use std::fmt;

use super::{
    Warning, keys, lines,
    timers::{Placer, TimerRow, TimerValue},
};
use crate::{
    domain::{
        FieldError, TimerName,
        merge::{Effective, Stack},
        settings::Settings,
    },
    vendor::Phone,
    zone,
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
    pub(super) fn of(rows: &[TimerRow], line: u32) -> Self {
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
    pub(super) fn new(name: String, value: String) -> Self {
        let (section, key) = name.rsplit_once('/').map_or_else(|| (String::new(), name.clone()), |(s, k)| (s.to_owned(), k.to_owned()));
        let base = name.split_once('[').map_or_else(|| name.clone(), |(base, _)| base.to_owned());
        Self { name, section, key, base, value }
    }
}

/// All that a template may see.
#[derive(Debug)]
pub struct View<'p> {
    phone: &'p Phone<'p>,
    /// 12 lower-case hex digits.
    pub mac: String,
    /// Name of the device.
    pub name: String,
    /// Every account of the model, in order.
    pub lines: Vec<LineView>,
    /// Has any layer given keys? Where not, none is printed.
    pub keys_given: bool,
    /// Every key of the phone and its modules, in order.
    pub keys: Vec<KeyView>,
    /// When to check in.
    pub check_in: CheckInView,
    /// Timers of the whole device.
    pub timers: TimerViews,
    /// Device-wide SIP settings that some vendors have once for all lines: those of the first line in use.
    pub first: LineView,
    /// Time zone.
    pub zone: Option<ZoneView>,
    /// NTP servers.
    pub ntp: Option<Vec<String>>,
    /// By the table `clock_24h` or `bool`.
    pub clock_24h: Option<Code>,
    /// By the table `language`.
    pub language: Option<Code>,
    /// By the table `tones`.
    pub tones: Option<Code>,
    /// Administrator's password.
    pub admin_password: Option<String>,
    /// User's password.
    pub user_password: Option<String>,
    /// By the table `web`.
    pub web: Option<Code>,
    /// Provisioning address.
    pub provisioning_url: Option<UrlView>,
    /// Address of the device's first file below the provisioning address, for phones that fetch one exact URL;
    /// the address itself where it names such a file already.
    pub provisioning_file_url: Option<String>,
    /// Provisioning user name.
    pub provisioning_username: Option<String>,
    /// Provisioning password.
    pub provisioning_password: Option<String>,
    /// By the table `discovery`; a word whose code is empty writes nothing.
    pub discovery: Option<Code>,
    /// The authority's certificate.
    pub ca_url: Option<UrlView>,
    /// By the table `tls_verify` or `bool`.
    pub tls_verify: Option<Code>,
    /// By the table `tls_check_name` or `bool`.
    pub tls_check_name: Option<Code>,
    /// VLAN of the phone.
    pub vlan: Option<VlanView>,
    /// VLAN of the PC port.
    pub pc_vlan: Option<VlanView>,
    /// By the table `lldp` or `bool`.
    pub lldp: Option<Code>,
    /// By the table `cdp` or `bool`.
    pub cdp: Option<Code>,
    /// DSCP of signalling.
    pub qos_sip: Option<u32>,
    /// DSCP of media.
    pub qos_rtp: Option<u32>,
    /// Seconds before the first registration.
    pub boot_delay: Option<u32>,
    /// Remote log.
    pub syslog_server: Option<ServerView>,
    /// By the table `syslog_level`.
    pub syslog_level: Option<Code>,
    /// Code that picks up a monitored call.
    pub pickup_code: Option<String>,
    /// That code for phones that can only dial it before the number (table `pickup` with the word `before`
    /// alone): without a closing `{}`, and absent where it stands elsewhere.
    pub pickup_prefix: Option<String>,
    /// By the table `intercom`.
    pub intercom: Option<Code>,
    /// By the table `call_waiting` or `bool`.
    pub call_waiting: Option<Code>,
    /// Dial plan in the vendor's own syntax.
    pub dial_plan: Option<String>,
    /// Remote phone books.
    pub phonebooks: Option<Vec<PhonebookView>>,
    /// Firmware of this model.
    pub firmware_url: Option<UrlView>,
    /// Its version.
    pub firmware_version: Option<String>,
    /// Raw parameters and resets, to be printed last.
    pub extra: Vec<Extra>,
    pub(super) rows: Vec<TimerRow>,
    pub(super) warnings: Vec<Warning>,
    pub(super) errors: Vec<FieldError>,
}

impl<'p> View<'p> {
    /// The word a flag of the model or dialect has; empty where it has none.
    pub fn flag(&self, name: &str) -> &str {
        self.phone.flag(name).unwrap_or_default()
    }

    /// Has the model or dialect this flag with the word `yes`?
    pub fn is(&self, name: &str) -> bool {
        self.flag(name) == "yes"
    }

    /// The n-th parameter name of a field in an irregular group; `None` where there is none.
    pub fn param(&self, group: &str, field: &str, n: impl std::borrow::Borrow<u32>) -> Option<&str> {
        self.phone.name(group, field, *n.borrow())
    }

    /// 802.1Q id of the phone's VLAN, where one is set.
    pub fn vlan_id(&self) -> Option<u32> {
        self.vlan.as_ref().and_then(|vlan| vlan.id)
    }

    /// Has any key an entry in this numbered list (table `key_list`)?
    pub fn uses_list(&self, list: &str) -> bool {
        self.keys.iter().any(|key| key.list == list)
    }

    /// The vendor's code of a word in a table of the pack; empty where there is none.
    pub fn code(&self, table: &str, word: &str) -> &str {
        self.phone.code(table, word).unwrap_or_default()
    }

    pub(super) fn of(phone: &'p Phone<'p>, stack: &Stack, effective: &Effective) -> Self {
        let mut placer = Placer { phone, effective, salt: stack.salt(), mac: stack.device.mac, warnings: Vec::new() };
        let rows = placer.rows();
        let mut reader = Looker { phone, warnings: placer.warnings, errors: Vec::new() };
        reader.warn_of_unsupported(effective);
        let lines = lines::views(&mut reader, &stack.device, effective, &rows);
        let keys = keys::views(&mut reader, &stack.device, effective, &lines);
        let settings = &effective.settings;
        let first = lines.iter().find(|line| line.on).cloned().unwrap_or_default();
        let mut view = Self {
            phone,
            mac: stack.device.mac.to_string(),
            name: stack.device.name.as_str().to_owned(),
            keys_given: effective.keys.is_some(),
            keys,
            check_in: check_in(&rows),
            timers: TimerViews::of(&rows, 0),
            first,
            lines,
            zone: None,
            ntp: None,
            clock_24h: None,
            language: None,
            tones: None,
            admin_password: None,
            user_password: None,
            web: None,
            provisioning_url: None,
            provisioning_file_url: None,
            provisioning_username: None,
            provisioning_password: None,
            discovery: None,
            ca_url: None,
            tls_verify: None,
            tls_check_name: None,
            vlan: None,
            pc_vlan: None,
            lldp: None,
            cdp: None,
            qos_sip: None,
            qos_rtp: None,
            boot_delay: None,
            syslog_server: None,
            syslog_level: None,
            pickup_code: None,
            pickup_prefix: None,
            intercom: None,
            call_waiting: None,
            dial_plan: None,
            phonebooks: None,
            firmware_url: None,
            firmware_version: None,
            extra: Vec::new(),
            rows,
            warnings: Vec::new(),
            errors: Vec::new(),
        };
        view.fill_time_and_locale(&mut reader, settings);
        view.fill_access(&mut reader, settings);
        view.fill_network(&mut reader, settings);
        view.fill_calling(&mut reader, settings);
        view.fill_firmware(&mut reader, settings);
        view.warnings = reader.warnings;
        view.errors = reader.errors;
        view
    }

    fn fill_time_and_locale(&mut self, look: &mut Looker<'_>, settings: &Settings) {
        if let Some(time) = &settings.time {
            self.zone = time.zone.as_ref().and_then(|name| look.zone(name.as_str()));
            self.ntp = time.ntp.as_ref().map(|hosts| hosts.iter().map(|host| host.as_str().to_owned()).collect());
            self.clock_24h = look.boolean("clock_24h", "time/clock_24h", time.clock_24h);
        }
        if let Some(locale) = &settings.locale {
            self.language = locale.language.as_ref().and_then(|tag| look.tag("language", "locale/language", tag.as_str()));
            self.tones =
                locale.tones.as_ref().and_then(|country| look.tag("tones", "locale/tones", &country.as_str().to_ascii_uppercase()));
        }
    }

    fn fill_access(&mut self, look: &mut Looker<'_>, settings: &Settings) {
        if let Some(access) = &settings.access {
            self.admin_password = access.admin_password.as_ref().map(|s| look.carry(s.expose(), "/settings/access/admin_password"));
            self.user_password = access.user_password.as_ref().map(|s| look.carry(s.expose(), "/settings/access/user_password"));
            self.web = access.web.and_then(|web| look.code("web", "access/web", web.as_str()));
        }
        if let Some(provisioning) = &settings.provisioning {
            self.provisioning_url = provisioning.url.as_ref().map(|url| look.url(url.expose(), "/settings/provisioning/url"));
            let file = look.phone.files().next().map(|file| file.name.replace("{mac}", &self.mac)).unwrap_or_default();
            self.provisioning_file_url = self.provisioning_url.as_ref().map(|url| file_address(&url.full, &file));
            self.provisioning_username = provisioning.username.as_ref().map(|t| look.carry(t.as_str(), "/settings/provisioning/username"));
            self.provisioning_password = provisioning.password.as_ref().map(|s| look.carry(s.expose(), "/settings/provisioning/password"));
            self.discovery = provisioning
                .discovery
                .and_then(|d| look.code("discovery", "provisioning/discovery", d.as_str()))
                .filter(|code| !code.code.is_empty());
        }
        if let Some(tls) = &settings.tls {
            self.ca_url = tls.ca_url.as_ref().map(|url| look.url(url.expose(), "/settings/tls/ca_url"));
            self.tls_verify = look.boolean("tls_verify", "tls/verify", tls.verify);
            self.tls_check_name = look.boolean("tls_check_name", "tls/check_name", tls.check_name);
        }
    }

    fn fill_network(&mut self, look: &mut Looker<'_>, settings: &Settings) {
        if let Some(network) = &settings.network {
            let vlan =
                |vlan: &crate::domain::settings::Vlan| VlanView { id: vlan.id.map(|n| n.get()), priority: vlan.priority.map(|n| n.get()) };
            self.vlan = network.vlan.as_ref().map(vlan);
            self.pc_vlan = network.pc_vlan.as_ref().map(vlan);
            self.lldp = look.boolean("lldp", "network/lldp", network.lldp);
            self.cdp = look.boolean("cdp", "network/cdp", network.cdp);
            self.qos_sip = network.qos.as_ref().and_then(|qos| qos.sip).map(|n| n.get());
            self.qos_rtp = network.qos.as_ref().and_then(|qos| qos.rtp).map(|n| n.get());
            self.boot_delay = network.boot_delay.map(|n| look.at_most("network/boot_delay", n.get()));
        }
        if let Some(syslog) = &settings.syslog {
            self.syslog_server = syslog.server.as_ref().map(|host| ServerView {
                host: host.as_str().to_owned(),
                bracketed: host.bracketed(),
                port: syslog.port.map(|n| n.get()),
                mode: None,
            });
            self.syslog_level = syslog.level.and_then(|level| look.code("syslog_level", "syslog/level", level.as_str()));
        }
    }

    fn fill_calling(&mut self, look: &mut Looker<'_>, settings: &Settings) {
        if let Some(calling) = &settings.calling {
            self.pickup_code = calling.pickup_code.as_ref().map(|t| look.carry(t.as_str(), "/settings/calling/pickup_code"));
            self.pickup_prefix = self.pickup_code.as_deref().and_then(|code| look.pickup_prefix(code));
            self.intercom = calling.intercom.and_then(|i| look.code("intercom", "calling/intercom", i.as_str()));
            self.call_waiting = look.boolean("call_waiting", "calling/call_waiting", calling.call_waiting);
            let plan = calling.dial_plan.as_ref().and_then(|plans| plans.get(&look.phone.pack.id));
            self.dial_plan = plan.map(|plan| look.carry(plan.as_str(), "/settings/calling/dial_plan"));
        }
        self.phonebooks = settings.phonebooks.as_ref().map(|books| {
            books
                .iter()
                .enumerate()
                .map(|(index, book)| PhonebookView {
                    n: index + 1,
                    name: book
                        .name
                        .as_ref()
                        .map(|t| look.carry(t.as_str(), &format!("/settings/phonebooks/{index}/name")))
                        .unwrap_or_default(),
                    url: look.url(
                        book.url.as_ref().map(crate::domain::Url::expose).unwrap_or_default(),
                        &format!("/settings/phonebooks/{index}/url"),
                    ),
                })
                .collect()
        });
    }

    fn fill_firmware(&mut self, look: &mut Looker<'_>, settings: &Settings) {
        let own = |selector: &str| {
            selector
                .split_once('/')
                .is_some_and(|(vendor, model)| vendor.eq_ignore_ascii_case(&look.phone.pack.id) && look.phone.is_model(model))
        };
        let firmware = settings.firmware.as_ref().and_then(|all| all.iter().find(|(selector, _)| own(selector)));
        if let Some((selector, firmware)) = firmware {
            self.firmware_url =
                firmware.url.as_ref().map(|url| look.url(url.expose(), &format!("/settings/firmware/{}/url", selector.replace('/', "~1"))));
            self.firmware_version = firmware.version.as_ref().map(|t| look.carry(t.as_str(), "/settings/firmware"));
        }
    }
}

/// The address of a file below a base URL; the URL itself where it names a file of that kind already.
fn file_address(url: &str, file: &str) -> String {
    let kind = file.rfind('.').map_or("", |dot| &file[dot..]);
    if url.ends_with(kind) || url.contains(['?', '#']) {
        return url.to_owned();
    }
    let slash = if url.ends_with('/') { "" } else { "/" };
    format!("{url}{slash}{file}")
}

fn check_in(rows: &[TimerRow]) -> CheckInView {
    let Some(row) = rows.iter().find(|row| row.timer == TimerName::CheckIn) else { return CheckInView::default() };
    match row.value {
        TimerValue::Clock(time) => {
            let (hour, minute) = (u32::from(time.minutes()) / 60, u32::from(time.minutes()) % 60);
            let next_hour = (hour + 1) % 24;
            CheckInView { clock: Some(ClockView { time: time.to_string(), hour, minute, next_hour }), ..CheckInView::default() }
        }
        TimerValue::Units(0) => CheckInView { off: true, ..CheckInView::default() },
        TimerValue::Units(_) => CheckInView { interval: TimerViews::of(rows, 0).check_in, ..CheckInView::default() },
    }
}

/// Looks words up in the pack and notes what it cannot say.
pub(super) struct Looker<'p> {
    pub phone: &'p Phone<'p>,
    pub warnings: Vec<Warning>,
    pub errors: Vec<FieldError>,
}

impl Looker<'_> {
    pub(super) fn warn(&mut self, code: &str, detail: String) {
        self.warnings.push(Warning::new(code, detail));
    }

    /// Settings that are set and that the vendor's phones do not know, or not per line.
    fn warn_of_unsupported(&mut self, effective: &Effective) {
        let leaves = effective.leaves();
        self.warn_of_device_wide(effective, &leaves);
        for path in leaves.keys() {
            let setting = match crate::domain::merge::line_of(path) {
                Some(_) => {
                    let tail = path.splitn(4, '/').nth(3).unwrap_or_default();
                    if tail.starts_with("sip/") || tail.starts_with("timers/") { tail.to_owned() } else { format!("lines/{tail}") }
                }
                None => path.trim_start_matches("/settings/").to_owned(),
            };
            if let Some(name) = setting.strip_prefix("timers/") {
                self.warn_of_unsupported_timer(name);
            } else if let Some(vendor) = setting.strip_prefix("calling/dial_plan/") {
                if vendor == self.phone.pack.id && !self.phone.supports("calling/dial_plan") {
                    self.unsupported("calling/dial_plan");
                }
            } else if setting.starts_with("firmware/") {
                let own = format!("firmware/{}/", self.phone.pack.id);
                if setting.replace("~1", "/").starts_with(&own) && !self.phone.supports("firmware") {
                    self.unsupported("firmware");
                }
            } else if !self.phone.supports(&setting) {
                self.unsupported(&setting);
            }
        }
    }

    /// Settings of a line that differ from the first line's where the phone has them once for all.
    fn warn_of_device_wide(&mut self, effective: &Effective, leaves: &std::collections::BTreeMap<String, serde_json::Value>) {
        let Some(first) = effective.lines.iter().map(|line| line.line).min() else { return };
        for (path, value) in leaves {
            let Some(line) = crate::domain::merge::line_of(path).filter(|line| *line != first) else { continue };
            let tail = path.splitn(4, '/').nth(3).unwrap_or_default();
            let setting = if tail.starts_with("sip/") { tail.to_owned() } else { format!("lines/{tail}") };
            let once = self.phone.pack.device_wide.iter().any(|pattern| pattern.matches(&setting));
            if once && leaves.get(&format!("/lines/{first}/{tail}")) != Some(value) {
                let detail = format!(
                    "{setting}: {} phones have one for all lines: not line {line}'s but line {first}'s holds",
                    self.phone.pack.name
                );
                self.warn("setting_unsupported", detail);
            }
        }
    }

    fn warn_of_unsupported_timer(&mut self, path: &str) {
        let name = path.split('/').next().unwrap_or_default();
        let known = TimerName::ALL.into_iter().find(|timer| timer.as_str() == name);
        let has = known.is_some_and(|timer| {
            self.phone.timer(timer).is_some() || (timer == TimerName::CheckIn && self.phone.check_in().clock_minutes.is_some())
        });
        if !has {
            self.unsupported(&format!("timers/{name}"));
        }
    }

    fn unsupported(&mut self, setting: &str) {
        self.warn("setting_unsupported", format!("{setting}: {} phones have no such setting, or none that is known", self.phone.pack.name));
    }

    /// The vendor's code of a word; without one the setting is not supported.
    pub(super) fn code(&mut self, table: &str, setting: &str, word: &str) -> Option<Code> {
        let code = self.phone.code(table, word).map(|code| Code { word: word.to_owned(), code: code.to_owned() });
        if code.is_none() && self.phone.supports(setting) {
            self.warn("setting_unsupported", format!("{setting}: {} phones have no code for {word:?}", self.phone.pack.name));
        }
        code
    }

    /// The pickup code where it can be dialled before the number; where the pack's table `pickup` lacks the
    /// word for its place, the setting is not supported.
    fn pickup_prefix(&mut self, code: &str) -> Option<String> {
        self.phone.code_table("pickup")?;
        let prefix = code.strip_suffix("{}").unwrap_or(code);
        let place = if prefix.contains("{}") { "around" } else { "before" };
        self.code("pickup", "calling/pickup_code", place).map(|_| prefix.to_owned())
    }

    /// A switch by its own table, else by the table `bool`, else `1` and `0`.
    pub(super) fn boolean(&mut self, table: &str, setting: &str, value: Option<bool>) -> Option<Code> {
        let value = value?;
        let word = value.to_string();
        let known = self.phone.supports(setting);
        if self.phone.code_table(table).is_some() {
            return self.code(table, setting, &word);
        }
        let code = self.phone.code("bool", &word).unwrap_or(if value { "1" } else { "0" }).to_owned();
        known.then_some(Code { word, code })
    }

    /// A number no greater than the phone takes.
    fn at_most(&mut self, setting: &str, value: u32) -> u32 {
        let Some(limit) = self.phone.pack.limits.get(setting).copied().filter(|limit| value > *limit) else { return value };
        self.warn("value_capped", format!("{setting}: {value} is above the phone's greatest value, {limit}"));
        limit
    }

    /// The code of a tag such as `de-AT`, else of its first part.
    fn tag(&mut self, table: &str, setting: &str, tag: &str) -> Option<Code> {
        let primary = tag.split('-').next().unwrap_or_default();
        if self.phone.code(table, tag).is_none() && self.phone.code(table, primary).is_some() {
            return self.code(table, setting, primary);
        }
        self.code(table, setting, tag)
    }

    /// A text that goes into the file as it is; one that the format cannot carry is an error of the device.
    pub(super) fn carry(&mut self, text: &str, path: &str) -> String {
        let reserved = self.phone.pack.reserved.iter().any(|word| word == text);
        if reserved || !super::registry::value_fits(self.phone.pack, text) {
            let detail = format!(
                "{} files cannot carry this value (leading or trailing spaces, characters the format does not have, or a word that means something else)",
                self.phone.pack.name
            );
            self.errors.push(FieldError::new(path, "not_representable", detail));
        }
        text.to_owned()
    }

    pub(super) fn url(&mut self, url: &str, path: &str) -> UrlView {
        let full = self.carry(url, path);
        let (scheme, rest) = full.split_once("://").unwrap_or(("", &full));
        let authority = rest.find('/').unwrap_or(rest.len());
        let rest = rest[..authority].rfind('@').map_or(rest, |at| &rest[at + 1..]);
        let scheme_code = self.phone.code("scheme", scheme).map(str::to_owned);
        UrlView { scheme: scheme.to_owned(), scheme_code, rest: rest.to_owned(), full: full.clone() }
    }

    /// A zone in the vendor's form; the nearest where the form cannot carry its rule.
    fn zone(&mut self, name: &str) -> Option<ZoneView> {
        let form = self.phone.pack.zone.as_ref()?;
        let Some(zone) = zone::find(name) else {
            self.errors.push(FieldError::new("/settings/time/zone", "unknown_zone", format!("{name:?} is not an IANA zone name")));
            return None;
        };
        let (view, exact) = ZoneView::of(&zone, form);
        if !exact {
            self.warn(
                "zone_approximated",
                format!("time/zone: the form of {} cannot carry the rule of {name}: the nearest is used", self.phone.pack.name),
            );
        }
        Some(view)
    }
}

impl ZoneView {
    /// The zone within what the form can say, and whether that is exact.
    fn of(zone: &zone::Zone, form: &crate::vendor::spec::ZoneForm) -> (Self, bool) {
        let unit = i32::try_from(form.offset_unit_s.max(1)).unwrap_or(1);
        let offset = zone.offset.div_euclid(unit) * unit;
        let mut exact = offset == zone.offset;
        let summer = zone.summer.as_ref().map(|summer| {
            let save = form.save_s.unwrap_or(summer.save);
            exact &= save == summer.save;
            let mut change = |change: &zone::Change| {
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
                start: change(&summer.start),
                end: change(&summer.end),
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
    fn of(change: &zone::Change, time: i32) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_leads_to_the_file_and_an_exact_one_stays() {
        let file = "020000000001.xml";
        let below = "https://prov.example/p/020000000001.xml";
        assert_eq!(file_address("https://prov.example/p/", file), below);
        assert_eq!(file_address("https://prov.example/p", file), below);
        assert_eq!(file_address(below, file), below);
        assert_eq!(file_address("https://prov.example/p?id=7", file), "https://prov.example/p?id=7");
    }
}
