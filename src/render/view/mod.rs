//! All that a template may see: values that are ready to print.
//!
//! Codes are looked up, units converted, zones resolved; what a layer does not set is `None`, and the
//! template prints nothing for it. Lines and timers are total, keys are total once a layer has given any.

mod parts;
mod zone;

pub use parts::{
    CheckInView, ClockView, Code, CodecView, Extra, KeyView, LineView, PhonebookView, ServerView, TimerView, TimerViews, UrlView, VlanView,
};
pub use zone::{ChangeView, SummerView, ZoneView};

use super::{
    Warning, keys, lines,
    look::Looker,
    timers::{Placer, TimerRow, TimerValue},
};
use crate::{
    domain::{
        FieldError, TimerName,
        merge::{Effective, Stack},
        settings::Settings,
    },
    vendor::Phone,
};

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
            let hosts = |hosts: &Vec<crate::domain::Host>| hosts.iter().map(|host| host.as_str().to_owned()).collect();
            self.ntp = time.ntp.as_ref().map(hosts).map(|hosts| look.at_most_entries("time/ntp", hosts));
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
            look.at_most_entries("phonebooks", books.iter().collect::<Vec<_>>())
                .into_iter()
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
            if let Some(url) = &self.firmware_url {
                look.warn_of_protocol(url, self.provisioning_url.as_ref());
            }
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
