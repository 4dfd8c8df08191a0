//! How many logs a phone may drop here: a few a minute.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use crate::domain::Mac;

/// Uploads of one phone within a minute.
const PER_MINUTE: u32 = 12;

/// Counts uploads by phone. Bounded: a minute's phones.
#[derive(Debug)]
pub(super) struct Uploads(Mutex<(Instant, BTreeMap<Mac, u32>)>);

impl Uploads {
    pub(super) fn new() -> Self {
        Self(Mutex::new((Instant::now(), BTreeMap::new())))
    }

    /// Counts one; `false` when it is one too many.
    pub(super) fn take(&self, mac: Mac) -> bool {
        // Nothing panics while the lock is held.
        let mut counted = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if counted.0.elapsed() > Duration::from_mins(1) {
            *counted = (Instant::now(), BTreeMap::new());
        }
        let count = counted.1.entry(mac).or_insert(0);
        *count += 1;
        *count <= PER_MINUTE
    }
}
