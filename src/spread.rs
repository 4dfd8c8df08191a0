//! The one formula: where a device's timer sits between its interval and the floor, and which minute of
//! the day is its own. Pure; imports the domain alone.

use sha2::{Digest, Sha256};

use crate::domain::{Mac, timer::TimeOfDay};

/// What a timer is configured with. Seconds, but for the vendor's limits, which are in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Configured interval.
    pub interval: u32,
    /// Width of the spread.
    pub spread: u32,
    /// Never below this.
    pub floor: u32,
    /// Never above this.
    pub ceiling: Option<u32>,
    /// Seconds per vendor unit, at least 1.
    pub unit: u32,
    /// Least value the phone takes, in its unit; 1 where not stated.
    pub vendor_min: Option<u32>,
    /// Greatest value the phone takes, in its unit.
    pub vendor_max: Option<u32>,
}

/// The place of one device's timer, with everything needed to redo it by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// First eight bytes of the SHA-256, big endian.
    pub hash: u64,
    /// Distinct values there are.
    pub steps: u32,
    /// Units subtracted.
    pub offset: u32,
    /// The value, in the vendor's unit; never 0.
    pub value: u32,
}

/// The hash of a timer: SHA-256 over `spread-v1`, salt, key and MAC, one per line.
pub fn hash(salt: &str, key: &str, mac: Mac) -> u64 {
    let digest = Sha256::digest(format!("spread-v1\n{salt}\n{key}\n{mac}"));
    digest[..8].iter().fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// Places a timer: only ever subtracted from the interval, within floor, ceiling and the vendor's limits.
///
/// The spread shrinks to the room above the floor *before* the hash is applied: clamping after the
/// subtraction would pile the fleet up on the floor.
pub fn place(salt: &str, key: &str, mac: Mac, numbers: &Numbers) -> Place {
    let unit = u64::from(numbers.unit.max(1));
    let vendor_max = numbers.vendor_max.map_or(u64::MAX, u64::from);
    let vendor_min = u64::from(numbers.vendor_min.unwrap_or(1).max(1));
    let ceiling = numbers.ceiling.map_or(u64::MAX, u64::from);

    let hi = (u64::from(numbers.interval).min(ceiling) / unit).min(vendor_max);
    let lo = u64::from(numbers.floor).div_ceil(unit).min(ceiling / unit).max(vendor_min).min(vendor_max);
    let hi = hi.max(lo);
    let steps = (u64::from(numbers.spread) / unit).min(hi - lo + 1).max(1);
    let hash = hash(salt, key, mac);
    let offset = hash % steps;
    // Each of them is at most 2^31 units, since interval, floor and spread are.
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Place { hash, steps: narrow(steps), offset: narrow(offset), value: narrow(hi - offset) }
}

/// The minute of the day that is the device's own, in a window of local time.
///
/// `resolution` is the grid in minutes; one of an hour rounds `from` up to it.
pub fn slot(salt: &str, key: &str, mac: Mac, from: TimeOfDay, until: TimeOfDay, resolution: u32) -> TimeOfDay {
    let resolution = resolution.max(1);
    let from = u32::from(from.minutes());
    let until = u32::from(until.minutes());
    let span = match (until + 1440 - from) % 1440 {
        0 => 1440,
        span => span,
    };
    let from = from.div_ceil(resolution) * resolution;
    let slots = (span / resolution).max(1);
    let step = u32::try_from(hash(salt, key, mac) % u64::from(slots)).unwrap_or_default();
    TimeOfDay::from_minutes(from + step * resolution)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn numbers(interval: u32, spread: u32, floor: u32, unit: u32) -> Numbers {
        Numbers { interval, spread, floor, ceiling: None, unit, vendor_min: None, vendor_max: None }
    }

    fn fleet(count: u64) -> impl Iterator<Item = Mac> {
        (0..count).map(|n| format!("805ec0{n:06x}").parse().unwrap())
    }

    fn optional(field: &str) -> Option<u32> {
        (!field.is_empty()).then(|| field.parse().unwrap())
    }

    #[test]
    fn the_vectors_hold() {
        let mut reader = csv::Reader::from_path("tests/golden/spread-vectors.csv").unwrap();
        let mut checked = 0;
        for row in reader.records() {
            let row = row.unwrap();
            let numbers = Numbers {
                interval: row[3].parse().unwrap(),
                spread: row[4].parse().unwrap(),
                floor: row[5].parse().unwrap(),
                ceiling: optional(&row[6]),
                unit: row[7].parse().unwrap(),
                vendor_min: optional(&row[8]),
                vendor_max: optional(&row[9]),
            };
            let place = place(&row[0], &row[1], row[2].parse().unwrap(), &numbers);
            assert_eq!((place.steps.to_string(), place.value.to_string()), (row[10].into(), row[11].into()), "{row:?}");
            assert_eq!((place.value * numbers.unit).to_string(), row[12], "{row:?}");
            checked += 1;
        }
        assert_eq!(checked, 53);
    }

    #[test]
    fn the_slot_vectors_hold() {
        let mut reader = csv::Reader::from_path("tests/golden/slot-vectors.csv").unwrap();
        let mut checked = 0;
        for row in reader.records() {
            let row = row.unwrap();
            let slot = slot(
                &row[0],
                "check_in_slot",
                row[1].parse().unwrap(),
                row[2].parse().unwrap(),
                row[3].parse().unwrap(),
                row[4].parse().unwrap(),
            );
            assert_eq!(slot.to_string(), row[6], "{row:?}");
            checked += 1;
        }
        assert_eq!(checked, 25);
    }

    #[test]
    fn ten_thousand_sequential_macs_fill_the_range_evenly() {
        let mut counts = BTreeMap::new();
        for mac in fleet(10_000) {
            *counts.entry(place("", "registration/1", mac, &numbers(3600, 600, 60, 1)).value).or_insert(0u32) += 1;
        }
        assert_eq!((counts.len(), *counts.first_key_value().unwrap().0, *counts.last_key_value().unwrap().0), (600, 3001, 3600));
        let expected = 10_000.0 / 600.0;
        let chi_square: f64 = counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // 599 degrees of freedom: 99.9 % of even distributions stay below 711.
        assert!(chi_square < 711.0, "chi-square {chi_square}");
    }

    #[test]
    fn timers_and_lines_of_a_phone_are_uncorrelated() {
        let offsets =
            |key: &str| fleet(10_000).map(|mac| f64::from(place("", key, mac, &numbers(3600, 600, 60, 1)).offset)).collect::<Vec<_>>();
        let correlation = |a: &[f64], b: &[f64]| {
            let mean = |v: &[f64]| v.iter().sum::<f64>() / 10_000.0;
            let (ma, mb) = (mean(a), mean(b));
            let sum = |f: &dyn Fn(usize) -> f64| (0..a.len()).map(f).sum::<f64>();
            sum(&|i| (a[i] - ma) * (b[i] - mb)) / (sum(&|i| (a[i] - ma).powi(2)) * sum(&|i| (b[i] - mb).powi(2))).sqrt()
        };
        let keys = ["registration/1", "registration/2", "subscription/1", "check_in", "keepalive"];
        for (i, a) in keys.iter().enumerate() {
            for b in &keys[i + 1..] {
                let r = correlation(&offsets(a), &offsets(b));
                assert!(r.abs() < 0.04, "{a} and {b}: {r}"); // four standard errors of 10,000 pairs
            }
        }
    }

    proptest! {
        #[test]
        fn within_interval_floor_and_limits(
            octets: [u8; 5], interval in 0..=i32::MAX as u32, spread in 0..=i32::MAX as u32, floor in 0..=i32::MAX as u32,
            ceiling in proptest::option::of(0..=i32::MAX as u32), unit in prop::sample::select(vec![1u32, 20, 60, 3600, 86400]),
            vendor_min in proptest::option::of(1..100u32), span in proptest::option::of(0..100_000u32),
        ) {
            let mac: Mac = format!("02{}", hex::encode(octets)).parse().unwrap();
            let vendor_max = span.map(|span| vendor_min.unwrap_or(1) + span);
            let numbers = Numbers { interval, spread, floor, ceiling, unit, vendor_min, vendor_max };
            let place = place("salt", "check_in", mac, &numbers);
            let seconds = u64::from(place.value) * u64::from(unit);
            prop_assert!(place.value >= 1);
            prop_assert!(place.value >= vendor_min.unwrap_or(1));
            prop_assert!(vendor_max.is_none_or(|max| place.value <= max));
            // Above the interval only where the floor or the vendor's least value is above it.
            let least = u64::from(vendor_min.unwrap_or(1)) * u64::from(unit);
            let raised = u64::from(floor).div_ceil(u64::from(unit)) * u64::from(unit);
            prop_assert!(seconds <= u64::from(interval).max(raised).max(least));
            prop_assert!(ceiling.is_none_or(|ceiling| seconds <= u64::from(ceiling).max(least)));
            // Below the floor only where the ceiling or the vendor's greatest value is.
            let top = u64::from(ceiling.unwrap_or(u32::MAX)).min(vendor_max.map_or(u64::MAX, |max| u64::from(max) * u64::from(unit)));
            prop_assert!(seconds >= u64::from(floor) || seconds + u64::from(unit) > top);
        }
    }
}
