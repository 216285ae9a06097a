//! A key that never shows itself.

use std::fmt;

use longrein_keys::{Masker, SecretText};

/// A provider's key, beside what masks it. It has no `Display`, its `Debug` is a mask, and its
/// memory is cleared when it goes.
#[derive(Clone)]
pub struct Secret {
    key: SecretText,
    masker: Masker,
}

/// What stands where a secret was.
pub(crate) const MASK: &str = "•••";

impl Secret {
    /// Takes a key. White space around it, which comes with copying, is left out.
    pub fn new(key: impl Into<String>) -> Self {
        let key = SecretText::new(key);
        Self {
            masker: Masker::new([key.clone()]),
            key,
        }
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        self.key.expose()
    }

    /// Masks the key wherever a text repeats it, however it is written there.
    pub(crate) fn mask_in(&self, text: &str) -> String {
        if self.expose().is_empty() {
            return text.to_owned();
        }
        // Short keys too, which the masker takes for ordinary words.
        let mut masked = text.replace(self.expose(), MASK);
        self.masker.text(&mut masked);
        masked
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({MASK})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new(" sk-123\n");
        assert_eq!(format!("{secret:?}"), "Secret(•••)");
        assert_eq!(secret.expose(), "sk-123");
    }

    #[test]
    fn a_text_that_repeats_a_secret_is_masked() {
        assert_eq!(
            Secret::new("sk-123").mask_in("bad key sk-123."),
            "bad key •••."
        );
        assert_eq!(Secret::new("").mask_in("nothing"), "nothing");
        let long = Secret::new("sk-12/3456789");
        let said = long.mask_in("?key=sk-12%2F3456789 of sk-12/3456789");
        assert!(!said.contains("3456789"), "{said}");
    }
}
