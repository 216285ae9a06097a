//! A key that never shows itself.

use std::fmt;

use zeroize::Zeroizing;

/// A provider's key. It has no `Display`, its `Debug` is a mask, and its memory is cleared when
/// it goes.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

/// What stands where a secret was.
pub(crate) const MASK: &str = "•••";

impl Secret {
    /// Takes a key. White space around it, which comes with copying, is left out.
    pub fn new(key: impl Into<String>) -> Self {
        let key = Zeroizing::new(key.into());
        Self(Zeroizing::new(key.trim().to_owned()))
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Replaces the key wherever a text repeats it.
    pub(crate) fn mask_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(self.0.as_str(), MASK)
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
    }
}
