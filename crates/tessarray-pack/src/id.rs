//! Names that no other writer picks: when they were made, in milliseconds since 1970 (48 bits), and 80 random bits,
//! written as 32 hexadecimal digits. They sort by time, and what nobody names can be told to be old.

use crate::error::{PackError, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use tessarray_store::StoreError;

/// A name.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 16]);

impl Id {
    /// A new one of this moment, in milliseconds since 1970.
    pub(crate) fn random_at(millis: u64) -> Result<Self> {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        getrandom::fill(&mut bytes[6..]).map_err(|error| {
            let message = format!("no random number: {error}");
            PackError::Store(StoreError::Other { key: String::new(), message })
        })?;
        Ok(Self(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// When it was made: milliseconds since 1970, by the maker's clock.
    pub fn millis(&self) -> u64 {
        self.0[..6].iter().fold(0, |millis, &byte| millis << 8 | u64::from(byte))
    }

    /// Its random half as a number below 2^62, leaving room to count on from it.
    pub fn number(&self) -> u64 {
        self.0[8..].iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte)) >> 2
    }

    /// From its 32 digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return None;
        }
        let mut bytes = [0; 16];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("expected 32 hexadecimal digits, found {text:?}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_are_inverse() {
        let id = Id::random().unwrap();
        assert_eq!(Id::parse(&id.to_string()), Some(id));
        assert_ne!(Id::random().unwrap(), id);
        for text in ["", "0", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert_eq!(Id::parse(text), None);
        }
        assert!(id.number() < 1 << 62);
        assert!(id.millis() > 1_700_000_000_000 && Id::random().unwrap().millis() >= id.millis());
    }
}
