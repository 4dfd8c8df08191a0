//! The one place that provides randomness: nonces, keys, tokens.
//!
//! Imports nothing of the crate. Rendering must never see a random value, so nothing below `store` may ask for one.

/// `N` bytes from the system's random source.
#[expect(clippy::disallowed_methods, reason = "this is the one place that provides randomness")]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without a random source there is no safe way on: a nonce used twice gives secrets away.
    getrandom::fill(&mut bytes).expect("the system provides random bytes");
    bytes
}

/// `N` random bytes as lower-case hex digits: a key (32 bytes) or a token.
pub fn hex<const N: usize>() -> String {
    hex::encode(bytes::<N>())
}
