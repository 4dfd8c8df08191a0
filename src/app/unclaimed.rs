//! MACs that phones asked for and no device has: shown with a guess of what they are, and made devices.
//!
//! The phone's answer stays the refusal, whatever is known of it here.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Actor, App, AppError, Body, Listed, Outcome, Role, WriteOptions, explain::time};
use crate::{
    domain::Mac,
    render::registry::{self, Vendor},
    store::Unclaimed,
};

const WHAT: &str = "this unclaimed MAC";

/// What a phone seems to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Guess {
    /// Vendor pack.
    pub vendor: String,
    /// The pack's name of the model that the phone reports, where it knows it.
    pub model: Option<String>,
    /// What speaks for the vendor: `user_agent`, `prefix`, `name`.
    pub by: Vec<String>,
}

/// A MAC that phones asked for and no device has.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes the document")]
pub struct UnclaimedView {
    /// The MAC.
    mac: String,
    /// When it asked first.
    first_at: String,
    /// When last.
    last_at: String,
    /// How often.
    count: i64,
    /// Where it asked from the last time.
    address: String,
    /// What it called itself the last time.
    user_agent: Option<String>,
    /// What it asked for the last time.
    path: String,
    /// When a device with this MAC was deleted.
    deleted_at: Option<String>,
    /// What it seems to be.
    guess: Option<Guess>,
    /// Model and firmware in the phone's own words.
    reported: Option<Value>,
}

impl App {
    /// MACs that phones asked for and no device has, in order, for operators over all tenants: whose they are is not
    /// known yet.
    ///
    /// # Errors
    /// When the actor may not, or the store fails.
    pub async fn list_unclaimed(&self, actor: &Actor, after: Option<&str>, limit: u32) -> Result<Listed, AppError> {
        may_claim(actor)?;
        self.recorder().drain().await;
        let page = self.store().unclaimed(after, limit).await?;
        Ok(Listed { items: page.items.iter().map(document).collect(), next: page.next })
    }

    /// Makes a device of a MAC that a phone asked for; vendor and model are the guessed ones where the document
    /// names none.
    ///
    /// # Errors
    /// When no phone asked for it, and as with any device that is written.
    pub async fn claim(&self, actor: &Actor, mac: Mac, body: &Value, options: &WriteOptions) -> Result<Outcome, AppError> {
        may_claim(actor)?;
        self.recorder().drain().await;
        let unclaimed = self.store().unclaimed_mac(mac).await?.ok_or(AppError::NotFound(WHAT))?;
        let mut body = body.clone();
        if let Value::Object(body) = &mut body {
            let is_absent = |value: Option<&Value>| value.is_none_or(|value| value.is_null() || value == "");
            if body.get("mac").is_some_and(|own| !own.is_null() && own.as_str().and_then(|own| own.parse().ok()) != Some(mac)) {
                return Err(AppError::field("/mac", "id_differs", "the MAC of the document differs from the MAC of the path"));
            }
            body.insert("mac".into(), json!(mac));
            if let Some(guess) = guess(&unclaimed) {
                if is_absent(body.get("vendor")) {
                    body.insert("vendor".into(), guess.vendor.clone().into());
                }
                if is_absent(body.get("model")) && body.get("vendor").is_some_and(|vendor| *vendor == guess.vendor) {
                    body.insert("model".into(), json!(guess.model));
                }
            }
        }
        let mut options = options.clone();
        options.precondition.absent = true;
        self.write_device(actor, None, Body::Whole(&body), &options).await
    }
}

/// What is nobody's yet is for those over all tenants.
fn may_claim(actor: &Actor) -> Result<(), AppError> {
    actor.must_be(Role::Operator, false)?;
    if actor.sees_all() { Ok(()) } else { Err(AppError::Forbidden("this takes a token over all tenants")) }
}

fn document(unclaimed: &Unclaimed) -> Value {
    json!({
        "mac": unclaimed.mac,
        "first_at": time(unclaimed.first_at),
        "last_at": time(unclaimed.last_at),
        "count": unclaimed.count,
        "address": unclaimed.address,
        "user_agent": unclaimed.user_agent,
        "path": unclaimed.path,
        "deleted_at": unclaimed.deleted_at.map(time),
        "guess": guess(unclaimed),
        "reported": reported(unclaimed).map(|(_, model, firmware)| json!({"model": model, "firmware": firmware})),
    })
}

/// The vendor whose phones call themselves so, with model and firmware in the phone's words.
fn reported(unclaimed: &Unclaimed) -> Option<(&'static Vendor, Option<String>, Option<String>)> {
    let agent = unclaimed.user_agent.as_deref()?;
    registry::vendors().iter().find_map(|vendor| vendor.reported(agent).map(|(model, firmware)| (vendor, model, firmware)))
}

/// The one vendor that most speaks for: what the phone calls itself, then the prefix of its MAC, then the name it
/// asked for.
fn guess(unclaimed: &Unclaimed) -> Option<Guess> {
    let all = || registry::vendors().iter();
    let agent = unclaimed.user_agent.as_deref().unwrap_or_default();
    let request = registry::request(&unclaimed.path);
    let evidence: [(&str, Vec<&Vendor>); 3] = [
        ("user_agent", all().filter(|vendor| vendor.reported(agent).is_some()).collect()),
        ("prefix", all().filter(|vendor| vendor.has_prefix(unclaimed.mac)).collect()),
        ("name", all().filter(|vendor| request.as_ref().is_some_and(|request| vendor.has_name(request))).collect()),
    ];
    let is = |a: &Vendor, b: &Vendor| a.pack.id == b.pack.id;
    let mut left: Vec<&Vendor> = Vec::new();
    for (_, found) in &evidence {
        let both: Vec<&Vendor> = left.iter().copied().filter(|vendor| found.iter().any(|other| is(vendor, other))).collect();
        if left.is_empty() {
            left.clone_from(found);
        } else if !both.is_empty() {
            left = both;
        }
    }
    let [vendor] = left.as_slice() else { return None };
    let by = evidence.iter().filter(|(_, found)| found.iter().any(|other| is(vendor, other))).map(|(what, _)| (*what).to_owned());
    let model = vendor.reported(agent).and_then(|(model, _)| vendor.model_named(&model?).map(str::to_owned));
    Some(Guess { vendor: vendor.pack.id.clone(), model, by: by.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unclaimed(mac: &str, agent: &str, path: &str) -> Unclaimed {
        let at = chrono::DateTime::UNIX_EPOCH;
        let user_agent = (!agent.is_empty()).then(|| agent.to_owned());
        let (address, path) = ("192.0.2.7".to_owned(), path.to_owned());
        Unclaimed { mac: mac.parse().unwrap(), first_at: at, last_at: at, count: 1, address, user_agent, path, deleted_at: None }
    }

    fn guessed(mac: &str, agent: &str, path: &str) -> Option<(String, Option<String>, String)> {
        guess(&unclaimed(mac, agent, path)).map(|guess| (guess.vendor, guess.model, guess.by.join(" ")))
    }

    #[test]
    fn what_the_phone_calls_itself_goes_before_its_prefix_and_that_before_the_name() {
        let of = |vendor: &str, model: Option<&str>, by: &str| Some((vendor.to_owned(), model.map(str::to_owned), by.to_owned()));
        let agent = "Yealink SIP-T46S 66.86.0.15 80:5e:c0:99:99:99";
        assert_eq!(guessed("805ec0999999", agent, "805ec0999999.boot"), of("yealink", Some("T46S"), "user_agent prefix name"));
        assert_eq!(guessed("805ec0999999", "curl/8", "805ec0999999.cfg"), of("yealink", None, "prefix"));
        assert_eq!(guessed("64167f999999", agent, "64167f999999.cfg"), of("yealink", Some("T46S"), "user_agent"));
        assert_eq!(guessed("805ec0999999", "", "cfg805ec0999999.xml"), of("yealink", None, "prefix"));
        assert_eq!(guessed("020000999999", "", "cfg020000999999.xml"), of("grandstream", None, "name"));
        assert_eq!(guessed("020000999999", "", "020000999999.cfg"), None, "every phone may ask so");
    }

    #[test]
    fn a_model_that_the_pack_does_not_know_is_reported_and_not_guessed() {
        let phone = unclaimed("805ec0999999", "Yealink SIP-T999X 1.2.3.4", "805ec0999999.cfg");
        assert_eq!(guess(&phone).unwrap().model, None);
        assert_eq!(document(&phone)["reported"], json!({"model": "T999X", "firmware": "1.2.3.4"}));
    }
}
