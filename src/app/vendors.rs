//! What the packs say, for people and programs.

use serde_json::{Value, json};

use crate::{
    render::registry,
    vendor::{Pack, spec::Timer},
};

/// Every vendor in short.
pub fn list() -> Vec<Value> {
    registry::vendors().iter().map(|vendor| summary(&vendor.pack)).collect()
}

/// All facts of a vendor.
pub fn get(id: &str) -> Option<Value> {
    registry::find(id).map(|vendor| facts(&vendor.pack))
}

fn summary(pack: &Pack) -> Value {
    json!({
        "id": pack.id,
        "name": pack.name,
        "version": pack.version,
        "files": pack.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
        "models": pack.models.iter().map(|model| &model.name).collect::<Vec<_>>(),
    })
}

fn facts(pack: &Pack) -> Value {
    json!({
        "id": pack.id,
        "name": pack.name,
        "version": pack.version,
        "generic_safe": pack.generic_safe,
        "conditional": pack.conditional,
        "prefixes": pack.prefixes.iter().map(|prefix| json!({"oui": prefix.oui, "certainty": prefix.certainty, "source": prefix.source})).collect::<Vec<_>>(),
        "files": pack.files.iter().map(|file| json!({"kind": file.kind, "name": file.name, "media_type": file.media_type, "dialects": file.dialects, "source": file.source})).collect::<Vec<_>>(),
        "timers": pack.timers.iter().map(timer).collect::<Vec<_>>(),
        "check_in": json!({"interval": pack.check_in.interval, "clock_minutes": pack.check_in.clock_minutes, "off": pack.check_in.off}),
        "models": pack.models.iter().map(|model| json!({
            "name": model.name, "aliases": model.aliases, "accounts": model.accounts, "keys": model.keys, "modules": model.modules,
            "max_modules": model.max_modules, "dialects": model.dialects, "certainty": model.certainty, "source": model.source,
        })).collect::<Vec<_>>(),
        "modules": pack.modules.iter().map(|module| json!({"name": module.name, "keys": module.keys, "certainty": module.certainty, "source": module.source})).collect::<Vec<_>>(),
        "settings": pack.supports.iter().map(crate::vendor::Pattern::as_str).collect::<Vec<_>>(),
        "any_change": pack.any_change.iter().map(|rule| json!({
            "models": patterns(&rule.models), "effect": rule.effect, "certainty": rule.certainty, "source": rule.source,
        })).collect::<Vec<_>>(),
        "effects": pack.effects.iter().map(|fact| json!({
            "pattern": fact.pattern.as_str(), "models": patterns(&fact.models), "to": fact.to,
            "unless": fact.unless.as_ref().map(crate::vendor::Pattern::as_str), "effect": fact.effect, "certainty": fact.certainty, "source": fact.source,
        })).collect::<Vec<_>>(),
        "sources": pack.sources,
    })
}

fn patterns(patterns: &[crate::vendor::Pattern]) -> Vec<&str> {
    patterns.iter().map(crate::vendor::Pattern::as_str).collect()
}

fn timer(timer: &Timer) -> Value {
    json!({
        "timer": timer.timer,
        "scope": timer.scope,
        "parameter": timer.parameter,
        "dialects": timer.dialects,
        "unit_s": timer.unit_s,
        "min": timer.min,
        "max": timer.max,
        "can_be_off": timer.off.is_some(),
        "certainty": timer.certainty,
        "source": timer.source,
    })
}
