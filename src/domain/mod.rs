//! What the product speaks of: MACs, settings, timers, tenants, profiles, devices.
//!
//! Pure types and rules: no IO, no async, no HTTP, no SQL, no vendor. Imports nothing of the crate.
//! A new setting is one line in [`settings`]; a new leaf type implements [`fields::Setting`].

pub mod device;
pub mod fields;
pub mod key;
pub mod layer;
pub mod line;
pub mod mac;
pub mod merge;
pub mod profile;
pub mod resets;
pub mod secret;
pub mod settings;
pub mod tenant;
pub mod text;
pub mod timer;

pub use device::{Device, Fill};
pub use fields::{FieldError, Setting};
pub use key::{Key, KeyType};
pub use layer::{Layer, Parameters, Reset};
pub use line::Line;
pub use mac::Mac;
pub use profile::{Profile, ProfileRef};
pub use secret::{MaybeSecret, Secret};
pub use settings::Settings;
pub use tenant::Tenant;
pub use text::{Host, Slug, Text, Url};
pub use timer::{TimerName, TimerSetting};
