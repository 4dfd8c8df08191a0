//! What a vendor is: the facts of one `vendors/<id>/vendor.toml`, and the file names its phones ask for.
//!
//! Knows no template engine and no vendor by name. Imports the domain. A new kind of fact is a field in
//! [`spec`] with the rule that reads it beside it.

pub mod dialect;
pub mod effect;
pub mod filename;
pub mod parameter;
pub mod pattern;
pub mod spec;

pub use dialect::Phone;
pub use effect::{Certainty, Effect, EffectFact};
pub use pattern::Pattern;
pub use spec::Pack;
