//! The accounts of a model: those in use with their codes, the others off.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    look::Looker,
    timers::TimerRow,
    view::{Code, CodecView, LineView, ServerView, TimerViews},
};
use crate::domain::{
    Device, FieldError, Line,
    line::Shared,
    merge::Effective,
    settings::{Codec, Dns, Sip, Transport},
};

/// Every account of the model, in order.
pub(super) fn views(look: &mut Looker<'_>, device: &Device, effective: &Effective, rows: &[TimerRow]) -> Vec<LineView> {
    let used = effective.lines.iter().map(|line| line.line).max().unwrap_or(0);
    if look.phone.dialect.one_server {
        refuse_other_servers(look, device, effective);
    }
    let mut lines: Vec<LineView> = Vec::new();
    for n in 1..=look.phone.model.accounts.max(used) {
        let Some(line) = effective.lines.iter().find(|line| line.line == n) else {
            lines.push(LineView { n, index: n.saturating_sub(1), ..LineView::default() });
            continue;
        };
        let index = device.lines.iter().position(|own| own.line == n).unwrap_or_default();
        let mut line = view(look, line, index, rows);
        line.route_line = lines.iter().find(|known| known.on && shares_route(known, &line)).map_or(n, |known| known.n);
        lines.push(line);
    }
    lines
}

/// Do two lines reach the same servers in the same way?
fn shares_route(one: &LineView, other: &LineView) -> bool {
    let route = |line: &LineView| (line.server.clone(), line.transport.clone(), line.route.clone(), line.dns.clone(), line.backup.clone());
    route(one) == route(other)
}

/// A phone that has the SIP settings once cannot give its lines different ones.
fn refuse_other_servers(look: &mut Looker<'_>, device: &Device, effective: &Effective) {
    let Some((first, others)) = effective.lines.split_first() else { return };
    for line in others.iter().filter(|line| line.sip != first.sip) {
        let index = device.lines.iter().position(|own| own.line == line.line).unwrap_or_default();
        look.errors.push(FieldError::new(
            format!("/lines/{index}/sip"),
            "not_representable",
            format!("{} has one set of SIP settings: line {} differs from line {}", look.phone.model_name(), line.line, first.line),
        ));
    }
}

fn view(look: &mut Looker<'_>, line: &Line, index: usize, rows: &[TimerRow]) -> LineView {
    let at = |field: &str| format!("/lines/{index}/{field}");
    let sip = line.sip.clone().unwrap_or_default();
    let user = look.carry(line.user.as_str(), &at("user"));
    // An empty text is none: what has a default goes back to it.
    let text = |look: &mut Looker<'_>, field: &str, text: Option<&crate::domain::Text>| {
        text.filter(|text| !text.as_str().is_empty()).map(|text| look.carry(text.as_str(), &at(field)))
    };
    let auth_user = text(look, "auth_user", line.auth_user.as_ref()).unwrap_or_else(|| user.clone());
    let display_name = text(look, "display_name", line.display_name.as_ref()).unwrap_or_else(|| user.clone());
    let label = text(look, "label", line.label.as_ref()).unwrap_or_else(|| display_name.clone());
    let (transport, dns) = (sip.transport.unwrap_or(Transport::Udp), sip.dns.unwrap_or(Dns::A));
    let server = server(&sip, transport, dns);
    if server.is_none() {
        look.errors.push(FieldError::new(
            at("sip/server"),
            "server_required",
            format!("line {} has no sip.server in any layer", line.line),
        ));
    }
    let route = format!("{}/{}", transport.as_str(), dns.as_str());
    LineView {
        n: line.line,
        index: line.line.saturating_sub(1),
        on: true,
        password: line.password.as_ref().map(|secret| look.carry(secret.expose(), &at("password"))).unwrap_or_default(),
        server,
        transport: look.code("transport", "sip/transport", transport.as_str()),
        dns: table_code(look, "dns", "sip/dns", dns.as_str()),
        route: table_code(look, "route", "sip/transport", &route),
        route_line: line.line,
        outbound_proxy: sip.outbound_proxy.as_ref().and_then(|proxy| {
            let host = proxy.server.as_ref()?;
            Some(ServerView {
                host: host.as_str().to_owned(),
                bracketed: host.bracketed(),
                port: proxy.port.map(|n| n.get()).or_else(|| default_port(transport, dns)),
                mode: None,
            })
        }),
        backup: sip.backup.as_ref().and_then(|backup| {
            let host = backup.server.as_ref()?;
            let mode = backup.mode.map_or("failover", |mode| mode.as_str());
            let mode = table_code(look, "backup_mode", "sip/backup/mode", mode);
            Some(ServerView {
                host: host.as_str().to_owned(),
                bracketed: host.bracketed(),
                port: backup.port.map(|n| n.get()).or_else(|| default_port(transport, dns)),
                mode,
            })
        }),
        // With none that the phone knows it keeps its own: a phone without any codec has no calls.
        codecs: sip.codecs.as_ref().map(|wanted| codecs(look, wanted)).filter(|all| all.iter().any(|codec| codec.on)),
        srtp: sip.srtp.and_then(|srtp| look.code("srtp", "sip/srtp", srtp.as_str())),
        dtmf: sip.dtmf.and_then(|dtmf| look.code("dtmf", "sip/dtmf", dtmf.as_str())),
        mwi: sip.mwi.and_then(|mwi| look.code("mwi", "sip/mwi", mwi.as_str())),
        rport: look.boolean("rport", "sip/rport", sip.rport),
        session_timer: look.boolean("session_timer", "sip/session_timer", sip.session_timer),
        voicemail_uri_user: line.voicemail_number.as_ref().map(|number| uri_user(number.as_str())),
        voicemail_number: text(look, "voicemail_number", line.voicemail_number.as_ref()),
        appearances: line.appearances.unwrap_or(1),
        shared: line.shared.and_then(|shared: Shared| look.code("shared", "lines/shared", shared.as_str())),
        blf_list_uri: text(look, "blf_list_uri", line.blf_list_uri.as_ref()),
        timers: TimerViews::of(rows, line.line),
        uri_user: uri_user(&user),
        quoted_name: quoted(&display_name),
        user,
        auth_user,
        display_name,
        label,
    }
}

/// What a user part of a SIP URI may hold as it is: `unreserved` and `user-unreserved` of RFC 3261, 25.1.
const URI_USER: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b';')
    .remove(b'?')
    .remove(b'/');

/// A text as the user part of a SIP URI.
fn uri_user(text: &str) -> String {
    utf8_percent_encode(text, URI_USER).to_string()
}

/// A text as a `quoted-string` of RFC 3261: quote and backslash escaped.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A code where the pack has the table at all: vendors have either `transport` and `dns` or `route`.
fn table_code(look: &mut Looker<'_>, table: &str, setting: &str, word: &str) -> Option<Code> {
    if look.phone.code_table(table).is_some() { look.code(table, setting, word) } else { None }
}

/// 5060, 5061 with TLS, none where SRV or NAPTR records say it.
fn default_port(transport: Transport, dns: Dns) -> Option<u32> {
    match (dns, transport) {
        (Dns::Srv | Dns::Naptr, _) => None,
        (Dns::A, Transport::Tls) => Some(5061),
        (Dns::A, _) => Some(5060),
    }
}

fn server(sip: &Sip, transport: Transport, dns: Dns) -> Option<ServerView> {
    let host = sip.server.as_ref()?;
    let port = sip.port.map(|n| n.get()).or_else(|| default_port(transport, dns));
    Some(ServerView { host: host.as_str().to_owned(), bracketed: host.bracketed(), port, mode: None })
}

/// All codecs of the pack's table: those wanted by preference, then the others, off.
fn codecs(look: &mut Looker<'_>, wanted: &[Codec]) -> Vec<CodecView> {
    let mut views: Vec<CodecView> = Vec::new();
    for codec in wanted {
        let Some(codec) = look.code("codec", "sip/codecs", codec.as_str()) else { continue };
        if views.iter().all(|view| view.codec.code != codec.code) {
            let priority = u32::try_from(views.len() + 1).unwrap_or(u32::MAX);
            views.push(CodecView { codec, on: true, priority });
        }
    }
    for (word, code) in look.phone.code_table("codec").into_iter().flatten() {
        if views.iter().all(|view| view.codec.code != *code) {
            views.push(CodecView { codec: Code { word: word.clone(), code: code.clone() }, on: false, priority: 0 });
        }
    }
    views
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_parts_and_names_follow_the_grammar_of_sip() {
        assert_eq!(uri_user("*97;a=+1&b,c$?/(x)'~!_-."), "*97;a=+1&b,c$?/(x)'~!_-.");
        assert_eq!(uri_user("a b#é@x%:\"<>[]\\"), "a%20b%23%C3%A9%40x%25%3A%22%3C%3E%5B%5D%5C");
        assert_eq!(quoted(r#"Zoë "x\y" <z>"#), r#""Zoë \"x\\y\" <z>""#);
        assert_eq!(quoted(""), "\"\"");
    }
}
