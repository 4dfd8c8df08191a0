//! Secrets at rest: AES-256-GCM, with the identity of the row as associated data, so that a sealed value moved to
//! another row does not open.
//!
//! A sealed value is one byte of format (1), a random nonce of 12 bytes, and the cipher text with its tag. A second
//! key for rotation would be a second cipher here and another format byte.

use aes_gcm::{
    Aes256Gcm, KeyInit, Nonce,
    aead::{Aead, Payload},
};

use super::random;

const FORMAT: u8 = 1;
const NONCE: usize = 12;

/// The key that secrets are stored under.
#[derive(Clone)]
pub struct Keyring {
    cipher: Aes256Gcm,
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret key is 64 hex digits (32 random bytes)")]
pub struct KeyError;

impl Keyring {
    /// Reads a key of 64 hex digits; white space around it is ignored.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let mut key = [0; 32];
        hex::decode_to_slice(text.trim(), &mut key).map_err(|_| KeyError)?;
        Ok(Self { cipher: Aes256Gcm::new(&key.into()) })
    }

    /// Seals a text for the row `identity`.
    pub(super) fn seal(&self, clear: &[u8], identity: &str) -> Vec<u8> {
        let nonce = random::bytes::<NONCE>();
        let payload = Payload { msg: clear, aad: identity.as_bytes() };
        // Fails for texts above 64 GiB alone.
        let cipher_text = self.cipher.encrypt(&Nonce::from(nonce), payload).expect("the text is small");
        [&[FORMAT], &nonce[..], &cipher_text].concat()
    }

    /// Opens what was sealed for the row `identity`; `None` when key, row or bytes are not the same.
    pub(super) fn open(&self, sealed: &[u8], identity: &str) -> Option<Vec<u8>> {
        let (nonce, msg) = sealed.strip_prefix(&[FORMAT])?.split_first_chunk::<NONCE>()?;
        self.cipher.decrypt(&Nonce::from(*nonce), Payload { msg, aad: identity.as_bytes() }).ok()
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyring(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_opens_with_its_key_and_for_its_row_alone() {
        let keyring = Keyring::from_hex(&"a1".repeat(32)).unwrap();
        let sealed = keyring.seal(b"secret", "devices/805ec0123456");
        assert_eq!(keyring.open(&sealed, "devices/805ec0123456").as_deref(), Some(&b"secret"[..]));
        assert_eq!(keyring.open(&sealed, "devices/805ec0123457"), None);
        assert_eq!(Keyring::from_hex(&"a2".repeat(32)).unwrap().open(&sealed, "devices/805ec0123456"), None);
        for length in 0..sealed.len() {
            assert_eq!(keyring.open(&sealed[..length], "devices/805ec0123456"), None);
        }
        assert_ne!(sealed, keyring.seal(b"secret", "devices/805ec0123456"), "each has its own nonce");
    }

    #[test]
    fn a_key_is_64_hex_digits_and_never_printed() {
        for text in ["", "a1", &"a1".repeat(31), &"a1".repeat(33), &"g1".repeat(32)] {
            assert_eq!(Keyring::from_hex(text).err(), Some(KeyError), "{text}");
        }
        let keyring = Keyring::from_hex(&format!("{}\n", "A1".repeat(32))).unwrap();
        assert_eq!(format!("{keyring:?}"), "Keyring(..)");
    }
}
