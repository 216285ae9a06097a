//! The names under which secrets are kept.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The longest name, in letters.
pub const NAME_MAX_LETTERS: usize = 100;

/// The name of one secret: a provider's (`anthropic`), or what `config.toml` calls it
/// (`mcp.exa.token`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(transparent)]
pub struct SecretName(String);

/// A text that can't be the name of a secret.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "“{0}” can't be the name of a secret. Use letters, digits, “-”, “_” and “.”, at most {NAME_MAX_LETTERS}, a letter or a digit first."
)]
pub struct NotAName(pub String);

impl SecretName {
    /// The name of this text.
    ///
    /// # Errors
    /// When it is empty or too long, or has other letters than a keychain on every system takes.
    pub fn new(text: &str) -> Result<Self, NotAName> {
        let sound = text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.len() <= NAME_MAX_LETTERS
            && text
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        if sound {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAName(text.chars().take(NAME_MAX_LETTERS).collect()))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SecretName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_that_every_keychain_takes() {
        for name in ["anthropic", "mcp.exa.token", "open-router_2", "9"] {
            assert_eq!(SecretName::new(name).unwrap().as_str(), name);
        }
        let long = "a".repeat(NAME_MAX_LETTERS + 1);
        for name in ["", ".a", "-a", "a b", "a/b", "a\nb", "é", long.as_str()] {
            assert!(SecretName::new(name).is_err(), "{name}");
        }
    }
}
