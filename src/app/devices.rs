//! Devices: what is stored of them, and how they fare.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Actor, App, AppError, Body, Doc, Listed, Outcome, Role, WriteOptions, check,
    common::{document, kept_resets, read, settle},
    plan::{Judge, evaluate, readable},
    profiles::check_reference,
};
use crate::{
    domain::{
        Device, FieldError, Mac, Profile, Slug, Tenant,
        layer::parameter_pointer,
        merge::{Source, Stack, shared_layers},
        resets::{after_write, chain_leaves},
    },
    render::{Rendered, Warning, registry},
    store::{CheckIn, DeviceFilter, StoreError, Write},
    vendor::Phone,
};

const WHAT: &str = "this device";

/// What a list of devices is narrowed by.
#[derive(Clone, Debug, Default)]
pub struct DeviceQuery {
    /// This tenant and those below it.
    pub tenant: Option<Slug>,
    /// Naming this profile, as `"<id>"` of the tenant asked for or `"<tenant>/<id>"`.
    pub profile: Option<String>,
    /// Vendor.
    pub vendor: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// `ok`, `error`, `disabled`, `never_seen`.
    pub state: Option<DeviceState>,
    /// Text in MAC, name or model.
    pub q: Option<String>,
}

/// How a device fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceState {
    /// Enabled and without errors.
    Ok,
    /// Enabled, but faulty: it is served nothing.
    Error,
    /// Disabled.
    Disabled,
    /// Never answered with a file.
    NeverSeen,
}

impl App {
    /// Devices the actor sees, in order of their MAC.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list_devices(&self, actor: &Actor, query: &DeviceQuery, after: Option<&str>, limit: u32) -> Result<Listed, AppError> {
        let Some(filter) = Self::filter(actor, query) else { return Ok(Listed::default()) };
        self.recorder().drain().await;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut listed = Listed { items: Vec::new(), next: after.map(str::to_owned) };
        loop {
            let page = self.store().devices(&filter, listed.next.as_deref(), limit).await?;
            for device in &page.items {
                let mac = device.value.mac;
                if listed.items.len() == wanted {
                    return Ok(listed);
                }
                listed.next = Some(mac.to_string());
                let (body, state) = self.shown(actor, &device.value, device.revision).await?;
                let keep = match query.state {
                    Some(DeviceState::NeverSeen) => body["checked_in"].is_null(),
                    Some(wanted) => state == wanted,
                    None => true,
                };
                if keep {
                    listed.items.push(body);
                }
            }
            listed.next.clone_from(&page.next);
            if page.next.is_none() || listed.items.len() == wanted {
                return Ok(listed);
            }
        }
    }

    /// The store's filter of a query; `None` where nothing can fit.
    fn filter(actor: &Actor, query: &DeviceQuery) -> Option<DeviceFilter> {
        let mut tenants = actor.scope.clone().map(|scope| vec![scope]);
        if let Some(tenant) = &query.tenant {
            if !actor.sees(tenant) {
                return None;
            }
            tenants = Some(vec![tenant.to_string()]);
        }
        let profile = query.profile.as_ref().map(|profile| match (&query.tenant, profile.contains('/')) {
            (Some(tenant), false) => format!("{tenant}/{profile}"),
            (None, false) => format!("{}/{profile}", crate::domain::tenant::DEFAULT_TENANT),
            (_, true) => profile.clone(),
        });
        let enabled = match query.state {
            Some(DeviceState::Disabled) => Some(false),
            Some(DeviceState::Ok | DeviceState::Error) => Some(true),
            _ => None,
        };
        Some(DeviceFilter { tenants, profile, vendor: query.vendor.clone(), model: query.model.clone(), q: query.q.clone(), enabled })
    }

    /// One device.
    ///
    /// # Errors
    /// When there is none, or none the actor sees.
    pub async fn get_device(&self, actor: &Actor, mac: Mac) -> Result<Doc, AppError> {
        actor.must_own(self.store().owner(mac).await?.as_deref(), WHAT)?;
        let stored = self.store().device(mac).await?.ok_or(AppError::NotFound(WHAT))?;
        actor.must_see(&stored.value.tenant, WHAT)?;
        self.recorder().drain().await;
        let (body, _) = self.shown(actor, &stored.value, stored.revision).await?;
        Ok(Doc { body, revision: stored.revision })
    }

    /// A device with its layers, for those who see it.
    pub(super) async fn visible_stack(&self, actor: &Actor, mac: Mac) -> Result<Stack, AppError> {
        actor.must_own(self.store().owner(mac).await?.as_deref(), WHAT)?;
        let (stack, _) = self.store().stack(mac).await?.ok_or(AppError::NotFound(WHAT))?;
        actor.must_see(&stack.device.tenant, WHAT)?;
        Ok(stack)
    }

    /// The document of a device: what is stored, and how it fares. Of refusals before it was of a tenant that the
    /// actor sees, nothing is said.
    async fn shown(&self, actor: &Actor, device: &Device, revision: i64) -> Result<(Value, DeviceState), AppError> {
        let made = match self.store().stack(device.mac).await {
            Ok(Some((stack, _))) => evaluate(&stack).map_err(|faulty| (faulty.errors, faulty.warnings)),
            Ok(None) => Err((Vec::new(), Vec::new())),
            // A damaged layer below harms this device alone.
            Err(StoreError::Corrupt(corrupt)) => {
                Err((vec![FieldError::new("", "corrupt", format!("stored {} is damaged", corrupt.table))], Vec::new()))
            }
            Err(error) => return Err(error.into()),
        };
        let (errors, mut warnings) = match made {
            Ok(Rendered { warnings, .. }) => (Vec::new(), warnings),
            Err(faulty) => faulty,
        };
        let checked_in = readable(self.store().check_in(device.mac).await)?;
        let reported = checked_in.as_ref().and_then(|check_in| reported(&device.vendor, check_in));
        if let (Some((_, Some(firmware))), Some(stored)) = (&reported, &device.firmware)
            && firmware != stored.as_str()
        {
            warnings.push(Warning::new("firmware_differs", format!("the phone reports firmware {firmware}, stored is {stored}")));
        }
        let state = match (device.enabled, errors.is_empty()) {
            (false, _) => DeviceState::Disabled,
            (true, true) => DeviceState::Ok,
            (true, false) => DeviceState::Error,
        };
        let mut body = document(device, revision);
        if let Value::Object(map) = &mut body {
            map.insert("warnings".into(), json!(warnings));
            map.insert("errors".into(), json!(errors));
            map.insert("reported".into(), reported.map_or(Value::Null, |(model, firmware)| json!({"model": model, "firmware": firmware})));
            map.insert("checked_in".into(), checked_in.map_or(Value::Null, |c| check_in_document(&c)));
            let refusal = readable(self.store().last_refusal(device.mac, actor.within()).await)?;
            map.insert("last_refused".into(), refusal.map_or(Value::Null, |r| super::explain::refusal_document(&r)));
        }
        Ok((body, state))
    }

    /// Creates, replaces or patches a device; `mac` is absent for a POST.
    ///
    /// # Errors
    /// What is wrong with the document or stands against the write.
    pub async fn write_device(&self, actor: &Actor, mac: Option<Mac>, body: Body<'_>, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Operator, options.dry_run)?;
        let mut write = self.begin(actor, options).await?;
        let current = match mac.filter(|_| body.is_patch()) {
            Some(mac) => {
                actor.must_own(write.owner(mac).await?.as_deref(), WHAT)?;
                write.device(mac).await?.map(|stored| document(&stored.value, stored.revision))
            }
            None => None,
        };
        let is_patch = body.is_patch();
        let body = body.whole(current, WHAT)?;
        let (parsed, mut errors) = read(|reader| Device::read(&body, mac, reader));
        let Some((mut device, sent_resets)) = parsed else { return settle(errors).and(Err(AppError::NotFound(WHAT))) };
        name_vendor(&mut device, &mut errors);
        check::layer(&mut device.layer, &mut errors);

        let owner = write.owner(device.mac).await?;
        self.check_taken(actor, actor.owns(owner.as_deref()), owner.is_some(), "this MAC")?;
        let stored = actor.replaces(write.device(device.mac).await, is_patch, options)?;
        options.precondition.check(stored.as_ref().map(|s| s.revision))?;
        options
            .precondition
            .check_absent(stored.as_ref().map(|s| s.revision), mac.is_some(), || format!("device {} exists already", device.mac))?;
        let mut old = stored.map(|stored| stored.value);
        let (lines, mut wrong) = (check::SentLines::of(&body), Vec::new());
        check::keep_secrets(&mut device, old.as_mut(), |device| &device.layer, |device, visit| device.secrets(visit), &mut wrong);
        errors.extend(lines.by_number(std::mem::take(&mut wrong)));
        let tenants = if actor.sees(&device.tenant) { write.tenant_chain(device.tenant.as_str()).await? } else { Vec::new() };
        if tenants.is_empty() {
            errors.push(FieldError::new("/tenant", "unknown_tenant", format!("there is no tenant {}", device.tenant)));
        }
        if let Some(reference) = &device.profile {
            check_reference(&mut write, &device.tenant, &tenants, reference, "/profile", &mut errors).await?;
        }

        let profiles = profiles(&mut write, &tenants, &device).await?;
        let before = match &old {
            Some(old) => {
                let tenants = write.tenant_chain(old.tenant.as_str()).await?;
                let profiles = self::profiles(&mut write, &tenants, old).await?;
                device_leaves(&tenants, &profiles, old)
            }
            None => BTreeMap::new(),
        };
        let after = device_leaves(&tenants, &profiles, &device);
        let stored_resets = old.as_ref().map(|old| old.layer.resets.clone()).unwrap_or_default();
        device.layer.resets = after_write(&kept_resets(&stored_resets, sent_resets), &before, &after, Some(&device));
        let mut layers = shared_layers(&tenants, &profiles);
        layers.push((Source::Device, &device.layer));
        check::timers(&layers, Some(&device), &mut wrong);
        errors.extend(lines.by_place(&device, wrong));
        settle(errors)?;

        let revision = write.put_device(&device).await?;
        let mut judge = Judge::new(self, options);
        judge.look(&mut write, device.mac).await.map_err(|error| match error {
            AppError::Invalid(errors) => AppError::Invalid(lines.by_place(&device, errors)),
            error => error,
        })?;
        if options.dry_run {
            return Ok(Outcome::Planned(Box::new(judge.plan())));
        }
        write.commit().await?;
        let (body, _) = self.shown(actor, &device, revision).await?;
        Ok(Outcome::Stored { doc: Box::new(Doc { body, revision }), created: old.is_none() })
    }

    /// Deletes a device and the record of what it was served.
    ///
    /// # Errors
    /// When there is none, or none the actor sees.
    pub async fn delete_device(&self, actor: &Actor, mac: Mac, options: &WriteOptions) -> Result<Outcome, AppError> {
        actor.must_be(Role::Operator, options.dry_run)?;
        let mut write = self.begin(actor, options).await?;
        actor.must_own(write.owner(mac).await?.as_deref(), WHAT)?;
        let stored = actor.replaces(write.device(mac).await, false, options)?;
        if let Some(stored) = &stored {
            actor.must_see(&stored.value.tenant, WHAT)?;
        }
        let revision = stored.map(|stored| stored.revision);
        if !write.delete_device(mac).await? {
            return Err(AppError::NotFound(WHAT));
        }
        options.precondition.check(revision)?;
        let mut judge = Judge::new(self, options);
        judge.look(&mut write, mac).await?;
        if options.dry_run {
            return Ok(Outcome::Planned(Box::new(judge.plan())));
        }
        write.commit().await?;
        Ok(Outcome::Deleted)
    }
}

/// The vendor stated, else the one that the MAC's prefix names.
fn name_vendor(device: &mut Device, errors: &mut Vec<FieldError>) {
    if device.vendor.is_empty() && device.mac != Mac::UNREAD {
        match registry::by_prefix(device.mac) {
            Some(vendor) => device.vendor.clone_from(&vendor.pack.id),
            None => errors.push(FieldError::new(
                "/vendor",
                "required",
                format!("the prefix {} names no vendor: state one", device.mac.prefix()),
            )),
        }
    } else if !device.vendor.is_empty() && registry::find(&device.vendor).is_none() {
        errors.push(FieldError::new("/vendor", "unknown_vendor", check::unknown_vendor(&device.vendor)));
    }
}

/// The profiles of a device, farthest first: its own, else that of the nearest tenant that has one.
async fn profiles(write: &mut Write, tenants: &[Tenant], device: &Device) -> Result<Vec<Profile>, AppError> {
    let inherited = || tenants.iter().rev().find_map(|tenant| tenant.profile.clone());
    match device.profile.clone().or_else(inherited) {
        Some(reference) => Ok(write.profile_chain(&reference).await?),
        None => Ok(Vec::new()),
    }
}

/// What the device is configured with. Raw parameters stand below its vendor, whichever selector gave them: one that
/// a new model is no longer selected for is taken away like one that is removed.
fn device_leaves(tenants: &[Tenant], profiles: &[Profile], device: &Device) -> BTreeMap<String, Value> {
    let mut layers = shared_layers(tenants, profiles);
    layers.push((Source::Device, &device.layer));
    let mut leaves = chain_leaves(&layers, Some(device));
    let vendor = registry::find(&device.vendor);
    if let Some(phone) = vendor.and_then(|vendor| Phone::find(&vendor.pack, device.model_name(), device.firmware_name()).ok()) {
        leaves.retain(|path, _| !path.starts_with("/parameters/"));
        let named = layers.iter().flat_map(|(_, layer)| &layer.parameters);
        let selected = named.filter(|(selector, _)| phone.selected_by(selector, device.model_name()).is_some());
        leaves.extend(selected.flat_map(|(_, named)| named).map(|(name, value)| (parameter_pointer(&device.vendor, name), json!(value))));
    }
    leaves
}

fn check_in_document(check_in: &CheckIn) -> Value {
    json!({
        "at": super::explain::time(check_in.at),
        "address": check_in.address,
        "user_agent": check_in.user_agent,
        "file": check_in.file,
        "status": check_in.status,
    })
}

/// Model and firmware as the phone calls them.
fn reported(vendor: &str, check_in: &CheckIn) -> Option<(Option<String>, Option<String>)> {
    registry::find(vendor)?.reported(check_in.user_agent.as_deref()?)
}
