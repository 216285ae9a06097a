//! Identifiers. They are given to the core by the driver's ports, never made by it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// Wall-clock milliseconds since the Unix epoch.
pub type Millis = i64;

/// One run: a ULID, so that ids sort by the time of creation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub Ulid);

/// A text that is not a run id.
#[derive(Debug, thiserror::Error)]
#[error("“{0}” is not a run id (26 letters and digits)")]
pub struct NotARunId(pub String);

impl RunId {
    /// Makes an id from a time and 80 bits of randomness, both given.
    pub fn from_parts(at: Millis, random: u128) -> Self {
        Self(Ulid::from_parts(at.max(0) as u64, random))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RunId {
    type Err = NotARunId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ulid::from_string(text)
            .map(Self)
            .map_err(|_| NotARunId(text.to_owned()))
    }
}

impl Serialize for RunId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// One action: `a` and fifteen letters and digits, unique everywhere; people may type a prefix.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Debug)]
#[serde(transparent)]
pub struct ActionId(pub String);

impl ActionId {
    /// Makes an id from 75 bits of randomness.
    pub fn from_random(random: u128) -> Self {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut text = String::with_capacity(16);
        text.push('a');
        for position in 0..15 {
            text.push(LETTERS[(random >> (position * 5)) as usize & 31] as char);
        }
        Self(text)
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One source of a run, written `S12`; numbered from 1 in the order of capture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SourceId(pub u32);

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{}", self.0)
    }
}

/// A text that is not a source id.
#[derive(Debug, thiserror::Error)]
#[error("“{0}” is not a source id (written like S12)")]
pub struct NotASourceId(pub String);

impl FromStr for SourceId {
    type Err = NotASourceId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('S')
            .and_then(|digits| digits.parse().ok())
            .filter(|number| *number > 0)
            .map(Self)
            .ok_or_else(|| NotASourceId(text.to_owned()))
    }
}

impl Serialize for SourceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SourceId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
