//! A phone's request: the name → a device → its file, or a refusal that says nothing to the phone and
//! everything to the operator.

use std::net::IpAddr;

use super::{App, AppError, plan::evaluate};
use crate::{
    domain::{Mac, merge::Stack},
    render::{RenderedFile, registry},
    store::{CheckIn, Content, Record, Refusal as StoredRefusal, StoreError, UNKNOWN_MAC},
    vendor::filename::Request,
};

/// Why a request is refused. Nothing tells these apart to a phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The address is outside the phone networks.
    OutsideNetworks,
    /// A forwarded header from a stranger, or none from a trusted proxy.
    UntrustedProxy,
    /// The name is no phone's.
    UnknownName,
    /// No such device.
    UnknownMac,
    /// The device is disabled.
    Disabled,
    /// The device cannot be served; the first of its errors.
    Faulty(String),
    /// The name is another vendor's, or one that this phone does not ask for.
    OtherName,
    /// Its rows are damaged.
    Corrupt,
    /// Not an upload that is taken.
    Method,
}

impl Refusal {
    /// Stable code with its detail, as operators see it.
    pub fn reason(&self) -> String {
        match self {
            Self::OutsideNetworks => "outside_networks".into(),
            Self::UntrustedProxy => "untrusted_proxy".into(),
            Self::UnknownName => "unknown_name".into(),
            Self::UnknownMac => UNKNOWN_MAC.into(),
            Self::Disabled => "disabled".into(),
            Self::Faulty(error) => format!("faulty: {error}"),
            Self::OtherName => "other_name".into(),
            Self::Corrupt => "corrupt".into(),
            Self::Method => "method".into(),
        }
    }
}

/// The answer to a phone.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Its file.
    File(Box<Served>),
    /// Nothing, and why.
    Refused(Refusal, Option<Mac>),
    /// The store is away: try again later.
    Unavailable,
}

/// A file on its way to a phone.
#[derive(Clone, Debug)]
pub struct Served {
    /// The device.
    pub mac: Mac,
    /// The file.
    pub file: RenderedFile,
    /// May a conditional request be answered with 304?
    pub conditional: bool,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Address of the phone.
    pub address: IpAddr,
    /// What it calls itself.
    pub user_agent: Option<String>,
}

impl App {
    /// The file that a phone at an address gets for a path below `/provision/`.
    pub async fn answer(&self, path: &str, address: IpAddr) -> Answer {
        if !self.networks().may_fetch(address) {
            return Answer::Refused(Refusal::OutsideNetworks, registry::request(path).map(|request| request.mac));
        }
        let Some(request) = registry::request(path) else { return Answer::Refused(Refusal::UnknownName, None) };
        let mac = request.mac;
        match self.store().stack(mac).await {
            Ok(Some((stack, _))) => match file(&request, &stack) {
                Ok(served) => Answer::File(Box::new(served)),
                Err(refusal) => Answer::Refused(refusal, Some(mac)),
            },
            Ok(None) => Answer::Refused(Refusal::UnknownMac, Some(mac)),
            Err(StoreError::Corrupt(corrupt)) => {
                tracing::error!(%mac, error = %corrupt, "a device cannot be served");
                Answer::Refused(Refusal::Corrupt, Some(mac))
            }
            Err(error) => {
                tracing::error!(%mac, error = &error as &dyn std::error::Error, "the store does not answer");
                Answer::Unavailable
            }
        }
    }

    /// Is an upload to this path one that is taken and dropped? `Err` is the refusal.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn takes_upload(&self, path: &str, address: IpAddr) -> Result<Result<Mac, (Refusal, Option<Mac>)>, AppError> {
        if !self.networks().may_fetch(address) {
            return Ok(Err((Refusal::OutsideNetworks, None)));
        }
        let Some(request) = registry::request(path) else { return Ok(Err((Refusal::Method, None))) };
        let refused = |refusal| Ok(Err((refusal, Some(request.mac))));
        let stack = match self.store().stack(request.mac).await {
            Err(StoreError::Corrupt(_)) => return refused(Refusal::Corrupt),
            stack => stack?,
        };
        let Some((stack, _)) = stack else { return refused(Refusal::UnknownMac) };
        let taken = stack.device.enabled && registry::find(&stack.device.vendor).is_some_and(|vendor| vendor.takes_upload(&request));
        if taken { Ok(Ok(request.mac)) } else { refused(Refusal::Method) }
    }

    /// Records that a phone was answered; with the bytes when the whole body was handed over.
    pub fn record_check_in(&self, served: &Served, asker: Asker, status: u16, whole: bool) {
        let check_in = CheckIn {
            at: self.now(),
            address: asker.address.to_string(),
            user_agent: asker.user_agent,
            file: served.file.name.clone(),
            status,
        };
        let content = whole.then(|| Content { etag: served.file.etag(), bytes: served.file.text.clone().into_bytes() });
        self.recorder().put(Record::CheckIn(served.mac, check_in, content));
    }

    /// Records that a request was refused.
    pub fn record_refusal(&self, refusal: &Refusal, mac: Option<Mac>, path: &str, asker: Asker) {
        metrics::counter!("offbeat_refusals_total", "reason" => reason_label(refusal)).increment(1);
        let shown: String = path.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        let record = StoredRefusal {
            at: self.now(),
            address: asker.address.to_string(),
            user_agent: asker.user_agent,
            path: shown,
            mac,
            reason: refusal.reason(),
        };
        self.recorder().put(Record::Refusal(record));
    }
}

fn reason_label(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::OutsideNetworks => "outside_networks",
        Refusal::UntrustedProxy => "untrusted_proxy",
        Refusal::UnknownName => "unknown_name",
        Refusal::UnknownMac => UNKNOWN_MAC,
        Refusal::Disabled => "disabled",
        Refusal::Faulty(_) => "faulty",
        Refusal::OtherName => "other_name",
        Refusal::Corrupt => "corrupt",
        Refusal::Method => "method",
    }
}

/// The file of a device that the request means.
pub(super) fn file(request: &Request, stack: &Stack) -> Result<Served, Refusal> {
    if !stack.device.enabled {
        return Err(Refusal::Disabled);
    }
    let rendered = evaluate(stack).map_err(|faulty| {
        Refusal::Faulty(faulty.errors.first().map(|error| format!("{} {}: {}", error.path, error.code, error.detail)).unwrap_or_default())
    })?;
    let mut files = rendered.files.into_iter().enumerate();
    let meant = files.find(|(index, file)| request.is(&file.pattern) || (*index == 0 && request.is(crate::vendor::filename::UNIVERSAL)));
    let (_, file) = meant.ok_or(Refusal::OtherName)?;
    let conditional = registry::find(&stack.device.vendor).is_some_and(|vendor| vendor.pack.conditional);
    Ok(Served { mac: stack.device.mac, file, conditional })
}
