//! Looks words up in the pack and notes what it cannot say: warnings, and errors of the device.

use super::{
    Warning, registry,
    view::{Code, UrlView, ZoneView},
};
use crate::{
    domain::{FieldError, TimerName, merge::Effective},
    vendor::{Phone, spec::Scope},
    zone,
};

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
    pub(super) fn warn_of_unsupported(&mut self, effective: &Effective) {
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

    /// Settings of a line that differ from the first line's, and timers of one that differ from the device's, where
    /// the phone has them once for all.
    fn warn_of_device_wide(&mut self, effective: &Effective, leaves: &std::collections::BTreeMap<String, serde_json::Value>) {
        let Some(first) = effective.lines.iter().map(|line| line.line).min() else { return };
        for (path, value) in leaves {
            let Some(line) = crate::domain::merge::line_of(path) else { continue };
            let tail = path.splitn(4, '/').nth(3).unwrap_or_default();
            if self.is_device_timer(tail) && leaves.get(&format!("/settings/{tail}")) != Some(value) {
                let vendor = &self.phone.pack.name;
                self.warn(
                    "setting_unsupported",
                    format!("{tail}: {vendor} phones have one for all lines: not line {line}'s but the device's holds"),
                );
            }
            if line == first {
                continue;
            }
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

    /// Is it a number of a timer (`timers/subscription/interval`) that the phone has once for all lines?
    fn is_device_timer(&self, setting: &str) -> bool {
        let name = setting.strip_prefix("timers/").and_then(|tail| tail.split('/').next());
        let timer = TimerName::ALL.into_iter().find(|timer| Some(timer.as_str()) == name).and_then(|timer| self.phone.timer(timer));
        timer.is_some_and(|timer| timer.scope == Scope::Device)
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
    pub(super) fn pickup_prefix(&mut self, code: &str) -> Option<String> {
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
    pub(super) fn at_most(&mut self, setting: &str, value: u32) -> u32 {
        let Some(limit) = self.phone.limit(setting).filter(|limit| value > *limit) else { return value };
        self.warn("value_capped", format!("{setting}: {value} is above the phone's greatest value, {limit}"));
        limit
    }

    /// As many entries of a list as the phone takes.
    pub(super) fn at_most_entries<T>(&mut self, setting: &str, mut list: Vec<T>) -> Vec<T> {
        let limit = self.phone.limit(setting).and_then(|limit| usize::try_from(limit).ok());
        if let Some(limit) = limit.filter(|limit| list.len() > *limit) {
            let detail = format!("{setting}: this phone takes {limit}: the {} beyond are left out", list.len() - limit);
            self.warn("setting_unsupported", detail);
            list.truncate(limit);
        }
        list
    }

    /// Firmware from an address of another protocol than the provisioning address, where the phone has one for both.
    pub(super) fn warn_of_protocol(&mut self, firmware: &UrlView, provisioning: Option<&UrlView>) {
        if self.phone.dialect.one_protocol && provisioning.is_none_or(|url| url.scheme != firmware.scheme) {
            let detail =
                format!("firmware: it is fetched by the protocol of provisioning/url, which is not known to be {}", firmware.scheme);
            self.warn("setting_unsupported", detail);
        }
    }

    /// The code of a tag such as `de-AT`, else of its first part.
    pub(super) fn tag(&mut self, table: &str, setting: &str, tag: &str) -> Option<Code> {
        let primary = tag.split('-').next().unwrap_or_default();
        if self.phone.code(table, tag).is_none() && self.phone.code(table, primary).is_some() {
            return self.code(table, setting, primary);
        }
        self.code(table, setting, tag)
    }

    /// A text that goes into the file as it is; one that the format cannot carry is an error of the device.
    pub(super) fn carry(&mut self, text: &str, path: &str) -> String {
        let reserved = self.phone.pack.reserved.iter().any(|word| word == text);
        if reserved || !registry::value_fits(self.phone.pack, text) {
            let detail = format!(
                "{} files cannot carry this value (leading or trailing spaces, characters the format does not have, or a word that means something else)",
                self.phone.pack.name
            );
            self.errors.push(FieldError::new(path, "not_representable", detail));
        }
        text.to_owned()
    }

    /// An address in its parts; user info that the vendor's files leave out is told.
    pub(super) fn url(&mut self, url: &str, path: &str) -> UrlView {
        let full = self.carry(url, path);
        let (scheme, rest) = full.split_once("://").unwrap_or(("", &full));
        let authority = rest.find('/').unwrap_or(rest.len());
        let user_info = rest[..authority].rfind('@');
        if user_info.is_some() && self.phone.pack.bare_urls {
            let setting = path.trim_start_matches("/settings/");
            let detail = format!("{setting}: {} files have no user and password within an address", self.phone.pack.name);
            self.warn("setting_unsupported", detail);
        }
        let rest = user_info.map_or(rest, |at| &rest[at + 1..]);
        let scheme_code = self.phone.code("scheme", scheme).map(str::to_owned);
        UrlView { scheme: scheme.to_owned(), scheme_code, rest: rest.to_owned(), full: full.clone() }
    }

    /// A zone in the vendor's form; the nearest where the form cannot carry its rule.
    pub(super) fn zone(&mut self, name: &str) -> Option<ZoneView> {
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
