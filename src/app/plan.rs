//! Which devices a change reaches and what it does to them, before it is made.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{App, AppError};
use crate::{
    diff::{self, Comparison, Files},
    domain::{FieldError, Mac, ProfileRef, Slug, merge::Stack},
    render::{self, Faulty, Rendered, registry},
    store::{StoreError, Write},
    vendor::{Effect, Phone},
};

/// Devices by what happens to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeviceCounts {
    /// In reach of the write.
    pub total: u32,
    /// Whose files would differ.
    pub changed: u32,
    /// Whose files stay as they are.
    pub unchanged: u32,
    /// Of the changed, those that were never served.
    pub never_served: u32,
    /// That could not be served.
    pub failed: u32,
}

/// One parameter that changes on some devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ParameterChange {
    /// Vendor.
    pub vendor: String,
    /// The vendor's own name.
    pub parameter: String,
    /// The worst it does on any of them.
    pub effect: Effect,
    /// How many devices.
    pub devices: u32,
    /// One of them.
    pub example: Example,
}

/// One device's change of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Example {
    /// The device.
    #[schema(value_type = String)]
    pub mac: Mac,
    /// Before.
    pub from: Option<String>,
    /// After.
    pub to: Option<String>,
}

/// One device and the worst that happens to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sample {
    /// The device.
    #[schema(value_type = String)]
    pub mac: Mac,
    /// The worst.
    pub effect: Effect,
}

/// What a write would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Plan {
    /// Devices by what happens to them.
    pub devices: DeviceCounts,
    /// Changed devices by the worst that happens to each.
    #[schema(value_type = Object)]
    pub effects: BTreeMap<&'static str, u32>,
    /// Changed parameters in order of vendor and name.
    pub parameters: Vec<ParameterChange>,
    /// The worst twenty.
    pub sample: Vec<Sample>,
}

/// How many devices a plan names.
const SAMPLE: usize = 20;

impl Default for Plan {
    fn default() -> Self {
        Self {
            devices: DeviceCounts::default(),
            effects: Effect::ALL.iter().map(|effect| (effect.as_str(), 0)).collect(),
            parameters: Vec::new(),
            sample: Vec::new(),
        }
    }
}

/// A device as it would be answered.
pub(super) fn evaluate(stack: &Stack) -> Result<Rendered, Faulty> {
    let vendor = registry::find(&stack.device.vendor).ok_or_else(|| Faulty {
        errors: vec![FieldError::new("/vendor", "unknown_vendor", super::check::unknown_vendor(&stack.device.vendor))],
        warnings: Vec::new(),
    })?;
    // A tenant that was moved elsewhere must not go on reading the profiles of its former parents.
    let foreign = stack.profiles.iter().find(|profile| stack.tenants.iter().all(|tenant| tenant.id != profile.tenant));
    if let Some(profile) = foreign {
        let error = FieldError::new(
            "/profile",
            "unknown_profile",
            format!("profile {} is not of this tenant or one above it", profile.reference()),
        );
        return Err(Faulty { errors: vec![error], warnings: Vec::new() });
    }
    render::render(vendor, stack)
}

/// The files of a render by name.
pub(super) fn files(rendered: &Rendered) -> Files {
    rendered.files.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
}

/// Compares two renders of a device.
pub(super) fn compare(stack: &Stack, from: &Files, to: &Files) -> Comparison {
    match registry::find(&stack.device.vendor) {
        Some(vendor) => {
            let phone = Phone::find(&vendor.pack, stack.device.model_name(), stack.device.firmware_name()).ok();
            diff::compare(vendor, phone.as_ref(), from, to)
        }
        None => Comparison { identical: from == to, effect: Effect::Unknown, changes: Vec::new(), unified: BTreeMap::new() },
    }
}

/// A damaged row harms its device alone: in a plan it is one that fails, in a list it is not there.
pub(super) fn readable<T>(read: Result<Option<T>, StoreError>) -> Result<Option<T>, AppError> {
    match read {
        Err(StoreError::Corrupt(corrupt)) => {
            tracing::error!(error = %corrupt, "a damaged row is passed over");
            Ok(None)
        }
        read => Ok(read?),
    }
}

/// Which devices a write reaches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach<'a> {
    /// Those of a tenant and of the tenants below it.
    Tenant(&'a Slug),
    /// Those that hold a profile.
    Profile(&'a ProfileRef),
}

/// Devices read at once.
const PAGE: u32 = 500;

/// Judges a write by the devices it reaches: each is compared as the others see it, before the commit, with
/// what this transaction would make of it.
pub(super) struct Judge<'a> {
    app: &'a App,
    dry_run: bool,
    accepts_errors: bool,
    plan: Plan,
}

impl<'a> Judge<'a> {
    pub(super) fn new(app: &'a App, options: &super::WriteOptions) -> Self {
        Self { app, dry_run: options.dry_run, accepts_errors: options.accepts_errors(), plan: Plan::default() }
    }

    /// Looks at every device that holds the layer.
    pub(super) async fn look_at_all(&mut self, write: &mut Write, reach: Reach<'_>) -> Result<(), AppError> {
        let mut after = None;
        loop {
            let page = match reach {
                Reach::Tenant(id) => write.devices_in_reach_of_tenant(id, after, PAGE).await?,
                Reach::Profile(reference) => write.devices_in_reach_of_profile(reference, after, PAGE).await?,
            };
            for mac in &page.items {
                self.look(write, *mac).await?;
            }
            after = page.items.last().copied();
            if page.next.is_none() || after.is_none() {
                return Ok(());
            }
        }
    }

    /// Looks at one device. A write that would break a so far good one is refused.
    pub(super) async fn look(&mut self, write: &mut Write, mac: Mac) -> Result<(), AppError> {
        let after = readable(write.stack(mac).await)?.map(|(stack, _)| stack);
        let made = after.as_ref().map(evaluate);
        let broken = match &made {
            Some(Err(faulty)) if !self.accepts_errors => Some(faulty),
            _ => None,
        };
        if broken.is_none() && !self.dry_run {
            return Ok(());
        }
        let before = readable(self.app.store().stack(mac).await)?.map(|(stack, _)| stack);
        let was = before.as_ref().map(evaluate);
        if let Some(faulty) = broken
            && !matches!(was, Some(Err(_)))
        {
            return Err(AppError::Invalid(faulty.errors.iter().map(|error| named(mac, error)).collect()));
        }
        if self.dry_run {
            self.count(mac, after.as_ref().or(before.as_ref()), was, made).await?;
        }
        Ok(())
    }

    async fn count(
        &mut self,
        mac: Mac,
        stack: Option<&Stack>,
        was: Option<Result<Rendered, Faulty>>,
        made: Option<Result<Rendered, Faulty>>,
    ) -> Result<(), AppError> {
        let devices = &mut self.plan.devices;
        devices.total += 1;
        let (Some(stack), false) = (stack, matches!(made, Some(Err(_)))) else {
            devices.failed += 1;
            return Ok(());
        };
        let served = |stack: &Stack, rendered: Option<Result<Rendered, Faulty>>| match rendered {
            Some(Ok(rendered)) if stack.device.enabled => files(&rendered),
            _ => Files::new(),
        };
        let comparison = compare(stack, &served(stack, was), &served(stack, made));
        if comparison.identical {
            devices.unchanged += 1;
            return Ok(());
        }
        devices.changed += 1;
        if !self.app.store().was_served(mac).await? {
            devices.never_served += 1;
        }
        *self.plan.effects.entry(comparison.effect.as_str()).or_insert(0) += 1;
        self.plan.sample.push(Sample { mac, effect: comparison.effect });
        self.plan.sample.sort_by(|a, b| b.effect.harm().cmp(&a.effect.harm()).then(a.mac.cmp(&b.mac)));
        self.plan.sample.truncate(SAMPLE);
        for change in comparison.changes {
            let key = (stack.device.vendor.clone(), change.parameter.clone());
            let place = self.plan.parameters.binary_search_by(|known| (known.vendor.clone(), known.parameter.clone()).cmp(&key));
            match place {
                Ok(at) => {
                    let known = &mut self.plan.parameters[at];
                    known.devices += 1;
                    if change.effect.harm() > known.effect.harm() {
                        known.effect = change.effect;
                    }
                }
                Err(at) => {
                    let example = Example { mac, from: change.from, to: change.to };
                    self.plan
                        .parameters
                        .insert(at, ParameterChange { vendor: key.0, parameter: key.1, effect: change.effect, devices: 1, example });
                }
            }
        }
        Ok(())
    }

    pub(super) fn plan(self) -> Plan {
        self.plan
    }
}

/// An error of a device that a write to a shared layer would cause names the device.
fn named(mac: Mac, error: &FieldError) -> FieldError {
    FieldError::new(error.path.clone(), &error.code, format!("device {mac}: {}", error.detail))
}
