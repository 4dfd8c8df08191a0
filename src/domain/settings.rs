//! Everything a layer may set, by the field's standard names. All optional; absent means inherit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    fields::{group, numbers, words},
    secret::Secret,
    text::{Host, Text, Url},
    timer::Timers,
};

numbers! {
    /// A port, 1 to 65535.
    Port 1..=65535,
    /// A VLAN id, 0 (untagged) to 4094.
    VlanId 0..=4094,
    /// An 802.1p priority, 0 to 7.
    Priority 0..=7,
    /// A DSCP, 0 to 63.
    Dscp 0..=63,
    /// Seconds a phone waits after power-up, 0 to 3600.
    BootDelay 0..=3600,
    /// Seconds of an expiry a registrar insists on.
    Expires 0..=2_147_483_647,
}

/// Declares enums whose words are their wire form.
macro_rules! choices {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? } sample $sample:ident)*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        pub enum $name { $( $(#[$doc])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// The word in documents and in the code tables of the vendor packs.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }
        }

        words! { $name = $name::$sample }
    )* };
}

choices! {
    /// Transport of SIP.
    Transport {
        /// UDP.
        Udp = "udp",
        /// TCP.
        Tcp = "tcp",
        /// TLS over TCP.
        Tls = "tls",
    } sample Tcp
    /// How the server's name is resolved (RFC 3263).
    Dns {
        /// Address records.
        A = "a",
        /// SRV records.
        Srv = "srv",
        /// NAPTR, then SRV.
        Naptr = "naptr",
    } sample Srv
    /// Media encryption.
    Srtp {
        /// None.
        Off = "off",
        /// Offered, not insisted on.
        Optional = "optional",
        /// Calls without it fail.
        Required = "required",
    } sample Optional
    /// How digits travel in a call.
    Dtmf {
        /// RTP events (RFC 2833, RFC 4733).
        Rfc2833 = "rfc2833",
        /// SIP INFO.
        Info = "info",
        /// In the audio.
        Inband = "inband",
    } sample Info
    /// Message waiting.
    Mwi {
        /// Not shown.
        Off = "off",
        /// NOTIFY without a subscription.
        Unsolicited = "unsolicited",
        /// The phone subscribes.
        Subscribe = "subscribe",
    } sample Subscribe
    /// What the backup server is for.
    BackupMode {
        /// Used when the primary fails.
        Failover = "failover",
        /// Registered with at all times.
        RegisterBoth = "register_both",
    } sample RegisterBoth
    /// The phone's own web pages.
    Web {
        /// None.
        Off = "off",
        /// In clear.
        Http = "http",
        /// By TLS.
        Https = "https",
    } sample Http
    /// Where the phone learns its provisioning address.
    Discovery {
        /// As the phone has it.
        Keep = "keep",
        /// From its own setting alone: DHCP options and multicast off.
        Pinned = "pinned",
    } sample Pinned
    /// How intercom calls are taken.
    Intercom {
        /// Answered by itself.
        Allow = "allow",
        /// Rings.
        Ask = "ask",
        /// Refused.
        Deny = "deny",
    } sample Allow
    /// Severity (RFC 5424) from which messages are sent.
    SyslogLevel {
        /// 0.
        Emergency = "emergency",
        /// 1.
        Alert = "alert",
        /// 2.
        Critical = "critical",
        /// 3.
        Error = "error",
        /// 4.
        Warning = "warning",
        /// 5.
        Notice = "notice",
        /// 6.
        Info = "info",
        /// 7.
        Debug = "debug",
    } sample Info
    /// An audio codec by its RTP name.
    Codec {
        /// G.711 µ-law.
        Pcmu = "pcmu",
        /// G.711 A-law.
        Pcma = "pcma",
        /// G.722.
        G722 = "g722",
        /// G.722.1.
        G7221 = "g722.1",
        /// G.723.1.
        G723 = "g723",
        /// G.726 at 32 kbit/s.
        G726 = "g726-32",
        /// G.729.
        G729 = "g729",
        /// iLBC.
        Ilbc = "ilbc",
        /// Opus.
        Opus = "opus",
        /// Speex.
        Speex = "speex",
    } sample Pcmu
}

group! {
    /// Another server on the way: `{"server": ""}` is an explicit none.
    Proxy {
        /// Host.
        server: Host,
        /// Port.
        port: Port,
    }
}

group! {
    /// The server that stands in.
    Backup {
        /// Host; `""` is an explicit none.
        server: Host,
        /// Port.
        port: Port,
        /// What it is for.
        mode: BackupMode,
    }
}

group! {
    /// What the registrar does with the expiry it is asked for.
    Registrar {
        /// It refuses less than this (423): lifts the floor of registration and subscription.
        min_expires: Expires,
        /// It grants this whatever it is asked for.
        granted: Expires,
    }
}

group! {
    /// SIP, for all lines or for one.
    Sip {
        /// Registrar and proxy. Naming it starts port, transport, dns, `outbound_proxy` and backup afresh.
        server: Host,
        /// Its port: 5060, 5061 with TLS, none with SRV or NAPTR.
        port: Port,
        /// Transport: udp.
        transport: Transport,
        /// Resolution: a.
        dns: Dns,
        /// Requests go through this proxy.
        outbound_proxy: Proxy,
        /// The server that stands in.
        backup: Backup,
        /// Codecs in order of preference, all others off.
        codecs: Vec<Codec>,
        /// Media encryption.
        srtp: Srtp,
        /// Digits in a call.
        dtmf: Dtmf,
        /// Message waiting.
        mwi: Mwi,
        /// Symmetric response routing (RFC 3581).
        rport: bool,
        /// Session timers (RFC 4028).
        session_timer: bool,
        /// What the registrar does with expiries.
        registrar: Registrar,
    } before overlay |base, over| {
        // Credentials and routes never travel to another provider's server.
        if over.server.is_some() {
            (base.port, base.transport, base.dns, base.outbound_proxy, base.backup) = (None, None, None, None, None);
        }
    }
}

group! {
    /// Clock and calendar.
    Time {
        /// IANA zone name.
        zone: Text,
        /// NTP servers in order.
        ntp: Vec<Host>,
        /// 24-hour clock.
        clock_24h: bool,
    }
}

group! {
    /// Language and tones.
    Locale {
        /// Language tag (BCP 47).
        language: Text,
        /// Country of the tones (ISO 3166 alpha-2).
        tones: Text,
    }
}

group! {
    /// Who may use the phone's own menus and pages.
    Access {
        /// Administrator's password.
        admin_password: Secret,
        /// User's password.
        user_password: Secret,
        /// The phone's own web pages.
        web: Web,
    }
}

group! {
    /// Where the phone fetches its configuration.
    Provisioning {
        /// Base URL.
        url: Url,
        /// User name.
        username: Text,
        /// Password.
        password: Secret,
        /// Where the phone learns the address.
        discovery: Discovery,
    }
}

group! {
    /// How the phone trusts servers.
    Tls {
        /// Where it loads the authority's certificate.
        ca_url: Url,
        /// Are certificates verified?
        verify: bool,
        /// Must the name match?
        check_name: bool,
    }
}

group! {
    /// A VLAN.
    Vlan {
        /// 802.1Q id; 0 is untagged.
        id: VlanId,
        /// 802.1p priority.
        priority: Priority,
    }
}

group! {
    /// DSCP of what the phone sends.
    Qos {
        /// Signalling.
        sip: Dscp,
        /// Media.
        rtp: Dscp,
    }
}

group! {
    /// The phone's network.
    Network {
        /// VLAN of the phone.
        vlan: Vlan,
        /// VLAN of the PC port.
        pc_vlan: Vlan,
        /// LLDP-MED.
        lldp: bool,
        /// CDP.
        cdp: bool,
        /// DSCP.
        qos: Qos,
        /// Seconds a phone waits before it registers after power-up.
        boot_delay: BootDelay,
    }
}

group! {
    /// Remote log.
    Syslog {
        /// Host; `""` is an explicit none.
        server: Host,
        /// Port.
        port: Port,
        /// Least severity sent.
        level: SyslogLevel,
    }
}

group! {
    /// Call handling.
    Calling {
        /// Code that picks up a monitored call: before the number, or where it says `{}`.
        pickup_code: Text,
        /// How intercom calls are taken.
        intercom: Intercom,
        /// Call waiting.
        call_waiting: bool,
        /// Dial plan by vendor, in the vendor's own syntax.
        dial_plan: BTreeMap<String, Text>,
    }
}

group! {
    /// A remote phone book.
    Phonebook {
        /// Name shown.
        name: Text,
        /// Where it is.
        url: Url,
    }
}

group! {
    /// The firmware of one model.
    Firmware {
        /// Where it is.
        url: Url,
        /// Its version.
        version: Text,
    }
}

group! {
    /// All settings of a layer.
    Settings {
        /// SIP.
        sip: Sip,
        /// Periodic timers.
        timers: Timers,
        /// Clock and calendar.
        time: Time,
        /// Language and tones.
        locale: Locale,
        /// Passwords and web pages of the phone.
        access: Access,
        /// Where the phone fetches its configuration.
        provisioning: Provisioning,
        /// How the phone trusts servers.
        tls: Tls,
        /// The phone's network.
        network: Network,
        /// Remote log.
        syslog: Syslog,
        /// Call handling.
        calling: Calling,
        /// Remote phone books.
        phonebooks: Vec<Phonebook>,
        /// Firmware by `"<vendor>/<model>"`.
        firmware: BTreeMap<String, Firmware>,
    }
}
