//! What an agent's commands may use: `[sandbox]`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The box that an agent's commands work in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSettings {
    /// The image that commands find; without it the one that ships.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Memory of all commands together.
    pub memory: Size,
    /// Processors, fractions allowed.
    pub cpus: f64,
    /// Processes and threads at a time.
    pub processes: u32,
    /// Room of the workspace on the disk.
    pub disk: Size,
    /// The longest that one command may run, in seconds.
    pub timeout_seconds: u32,
    /// Hosts that commands may reach: `packages.example.org`, `packages.example.org:443`, `*.example.org`. None: no network.
    pub hosts: Vec<String>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            image: None,
            memory: Size(2 << 30),
            cpus: 2.0,
            processes: 512,
            disk: Size(10 << 30),
            timeout_seconds: 600,
            hosts: Vec::new(),
        }
    }
}

impl SandboxSettings {
    /// Whether nothing of it was said. What says nothing leaves an agent's hash as it was.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A number of bytes, written with its unit: `2GiB`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size(pub u64);

/// What is no size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a size is a whole number with KiB, MiB, GiB or TiB behind it, as in 2GiB")]
pub struct NoSize;

/// The units, the largest first.
const UNITS: [(&str, u64); 4] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, unit): &&(&str, u64)| self.0 >= *unit && self.0.is_multiple_of(*unit);
        match UNITS.iter().find(whole) {
            Some((name, unit)) => write!(out, "{}{name}", self.0 / unit),
            // Less than the smallest unit is told in it, and never as nothing.
            None => write!(out, "{}KiB", self.0.div_ceil(1 << 10)),
        }
    }
}

impl FromStr for Size {
    type Err = NoSize;

    fn from_str(text: &str) -> Result<Self, NoSize> {
        let named = |(name, unit): &(&str, u64)| Some((text.strip_suffix(name)?.trim_end(), *unit));
        let (digits, unit) = UNITS.iter().find_map(named).ok_or(NoSize)?;
        // A sign would be taken as a part of the number.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NoSize);
        }
        let number: u64 = digits.parse().map_err(|_| NoSize)?;
        number.checked_mul(unit).map(Self).ok_or(NoSize)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes, written with its unit: `2GiB`.",
            "type": "string",
            "pattern": "^[0-9]+ *[KMGT]iB$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_written_in_the_largest_unit_that_it_fills() {
        for text in ["2GiB", "1536MiB", "1TiB", "7KiB"] {
            let size: Size = text.parse().expect("it is a size");
            assert_eq!(size.to_string(), text);
        }
        assert_eq!("1024 MiB".parse(), Ok(Size(1 << 30)));
    }

    #[test]
    fn what_has_no_unit_or_no_whole_number_is_no_size() {
        for text in ["", "2", "GiB", "2GB", "-1GiB", "1.5GiB", "99999999999TiB"] {
            assert_eq!(text.parse::<Size>(), Err(NoSize), "{text}");
        }
    }
}
