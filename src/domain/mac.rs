//! The hardware address that names a device.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A unicast MAC address.
///
/// Read in any spelling (`:`, `-` or `.` between the digits, either case), always written as 12
/// lower-case hex digits. Addresses that are no one's own (all zero, all ones, multicast) are refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac([u8; 6]);

/// Why a text is not the MAC of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MacError {
    /// Not 12 hex digits with single separators between them.
    #[error("expected 12 hex digits, with or without ':', '-' or '.' between them")]
    Spelling,
    /// All zero, all ones, or a group address.
    #[error("this address belongs to no single device (all zero, all ones or multicast)")]
    NoOnesOwn,
}

impl Mac {
    /// Stands in for an address that could not be read, so that the rest of its document is: nothing has it.
    pub const UNREAD: Self = Self([0; 6]);

    /// The six octets.
    pub fn octets(self) -> [u8; 6] {
        self.0
    }

    /// The first three octets as six lower-case hex digits: the vendor's prefix.
    pub fn prefix(self) -> String {
        hex::encode(&self.0[..3])
    }
}

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let mut digits = Vec::with_capacity(12);
        let mut separated = true; // a separator may not lead
        for byte in text.bytes() {
            if byte.is_ascii_hexdigit() {
                digits.push(byte);
                separated = false;
            } else if matches!(byte, b':' | b'-' | b'.') && !separated {
                separated = true;
            } else {
                return Err(MacError::Spelling);
            }
            if digits.len() > 12 {
                return Err(MacError::Spelling);
            }
        }
        if separated || digits.len() != 12 {
            return Err(MacError::Spelling);
        }
        let mut octets = [0; 6];
        hex::decode_to_slice(&digits, &mut octets).map_err(|_| MacError::Spelling)?;
        if octets == [0; 6] || octets[0] & 1 == 1 {
            return Err(MacError::NoOnesOwn);
        }
        Ok(Self(octets))
    }
}

impl TryFrom<String> for Mac {
    type Error = MacError;
    fn try_from(text: String) -> Result<Self, MacError> {
        text.parse()
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.to_string()
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mac({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_name_one_device() {
        let plain: Mac = "805ec0123456".parse().unwrap();
        for text in ["80:5E:C0:12:34:56", "80-5e-c0-12-34-56", "805e.c012.3456", "805EC0123456"] {
            assert_eq!(text.parse::<Mac>().unwrap(), plain, "{text}");
        }
        assert_eq!(plain.to_string(), "805ec0123456");
        assert_eq!(plain.prefix(), "805ec0");
    }

    #[test]
    fn addresses_of_no_one_are_refused() {
        for text in ["000000000000", "ffffffffffff", "01005e000001", "3333deadbeef"] {
            assert_eq!(text.parse::<Mac>(), Err(MacError::NoOnesOwn), "{text}");
        }
    }

    #[test]
    fn misspellings_are_refused() {
        for text in [
            "",
            "805ec012345",
            "805ec01234567",
            ":805ec0123456",
            "805ec0123456:",
            "80::5ec0123456",
            "80 5ec0123456",
            "805ec012345g",
            "８05ec0123456",
        ] {
            assert_eq!(text.parse::<Mac>(), Err(MacError::Spelling), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_read_comes_back(text in "\\PC{0,24}") {
            if let Ok(mac) = text.parse::<Mac>() {
                prop_assert_eq!(mac.to_string().parse::<Mac>(), Ok(mac));
            }
        }

        #[test]
        fn separators_and_case_change_nothing(octets: [u8; 6], separator in "[:.-]") {
            let plain = hex::encode(octets);
            let spelt = hex::encode_upper(octets).as_bytes().chunks(2)
                .map(|pair| String::from_utf8_lossy(pair).into_owned()).collect::<Vec<_>>().join(&separator);
            prop_assert_eq!(plain.parse::<Mac>(), spelt.parse::<Mac>());
        }
    }
}
