//! A text that never shows itself.

use std::fmt;

use zeroize::Zeroizing;

/// The shortest secret of which the last letters are shown: of a shorter one they would be too
/// large a part.
const SHOWN_FROM_LETTERS: usize = 12;

/// How many letters of a secret are shown.
const SHOWN_LETTERS: usize = 4;

/// A key, a token or a password. It has no `Display` and can't be serialised, its `Debug` is a
/// mask, and its memory is cleared when it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    /// Takes a secret. White space around it, which comes with copying, is left out.
    pub fn new(text: impl Into<String>) -> Self {
        let text = Zeroizing::new(text.into());
        Self(Zeroizing::new(text.trim().to_owned()))
    }

    /// Takes a secret as it is, white space and all.
    pub fn exact(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Takes bytes as they are; `None` when they are no text.
    pub fn from_utf8(bytes: Vec<u8>) -> Option<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Some(Self::exact(text)),
            Err(error) => {
                drop(Zeroizing::new(error.into_bytes()));
                None
            }
        }
    }

    /// The secret itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Without the white space around it, which comes with copying.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        Self::new(self.0.as_str())
    }

    /// Its last four characters, by which a person tells one key from another; `None` when they
    /// would be too large a part of it.
    pub fn last4(&self) -> Option<String> {
        let letters = self.0.chars().count();
        (letters >= SHOWN_FROM_LETTERS)
            .then(|| self.0.chars().skip(letters - SHOWN_LETTERS).collect())
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(•••)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails to compile when `$type` has `$trait`: then two impls answer, and none is chosen.
    macro_rules! has_not {
        ($type:ty, $trait:path) => {{
            trait Ambiguous<A> {
                fn answer() {}
            }
            struct HasIt;
            impl<T: ?Sized> Ambiguous<()> for T {}
            impl<T: ?Sized + $trait> Ambiguous<HasIt> for T {}
            <$type as Ambiguous<_>>::answer();
        }};
    }

    #[test]
    fn a_secret_can_be_neither_printed_nor_serialised() {
        has_not!(SecretText, std::fmt::Display);
        has_not!(SecretText, serde::Serialize);
        has_not!(SecretText, serde::Deserialize<'static>);
        let secret = SecretText::new("sk-123456");
        assert_eq!(format!("{secret:?}"), "SecretText(•••)");
        assert_eq!(format!("{:?}", [secret]), "[SecretText(•••)]");
    }

    #[test]
    fn space_around_a_secret_comes_with_copying_and_goes() {
        assert_eq!(SecretText::new(" sk-12 34\r\n").expose(), "sk-12 34");
        assert_eq!(SecretText::exact(" a ").expose(), " a ");
    }

    #[test]
    fn the_last_four_letters_are_shown_of_a_long_secret_only() {
        let last4 = |text: &str| SecretText::new(text).last4();
        assert_eq!(last4("sk-abcdefwxyz").as_deref(), Some("wxyz"));
        assert_eq!(last4("schlüsselübär").as_deref(), Some("übär"));
        assert_eq!(last4("sk-abcdefgh"), None);
        assert_eq!(last4(""), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_no_secret() {
        let secret = SecretText::from_utf8(b" a".to_vec());
        assert_eq!(secret.unwrap().expose(), " a");
        assert!(SecretText::from_utf8(vec![b'a', 0xff]).is_none());
    }
}
