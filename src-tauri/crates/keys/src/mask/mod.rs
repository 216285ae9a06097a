//! Finds every known secret in a text or in bytes, however it was written there, and puts
//! asterisks in its place: as many as it had bytes, so that ranges into a text stay true.
//!
//! A secret is found as it is; behind one or two levels of escapes (an address, a string of JSON,
//! one inside the other); as base64, wherever it stands in what was encoded, in both alphabets;
//! and across line breaks, which stay. What base64 mixes of its first and its last byte with
//! their neighbours stays too: six bits at most.

mod finder;
mod known;
mod outlets;
mod patterns;
mod stream;
mod view;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use finder::{Places, Seen, View};
use patterns::Patterns;
use view::Escape;

use crate::SecretText;

pub use known::Known;
pub use outlets::{MaskedWriter, mask_panics};
pub use stream::MaskStream;

/// The shortest secret that is masked, in bytes: a shorter one would mask ordinary words.
pub const SHORTEST_MASKED_BYTES: usize = 8;

const ESCAPES: [Escape; 2] = [Escape::Percent, Escape::Json];

/// Finds known secrets. Cloning it is cheap.
#[derive(Clone, Default)]
pub struct Masker(Arc<Inner>);

#[derive(Default)]
struct Inner {
    secrets: Vec<SecretText>,
    patterns: Option<Patterns>,
}

impl Masker {
    /// Looks for these secrets. Those shorter than [`SHORTEST_MASKED_BYTES`] are left out.
    pub fn new(secrets: impl IntoIterator<Item = SecretText>) -> Self {
        let secrets: Vec<SecretText> = secrets.into_iter().collect();
        let patterns = Patterns::of(&secrets);
        Self(Arc::new(Inner { secrets, patterns }))
    }

    /// Looks for this secret too.
    #[must_use]
    pub fn and(&self, secret: &SecretText) -> Self {
        Self::new(self.0.secrets.iter().chain([secret]).cloned())
    }

    /// Whether this secret is looked for, or would be if it were longer.
    pub fn knows(&self, secret: &SecretText) -> bool {
        self.0.secrets.contains(secret)
    }

    /// Whether there is nothing to be looked for.
    pub fn is_empty(&self) -> bool {
        self.0.patterns.is_none()
    }

    /// Masks secrets in a text; true when there was one.
    pub fn text(&self, text: &mut String) -> bool {
        let places = self.places(text.as_bytes());
        if places.is_empty() {
            return false;
        }
        let mut bytes = std::mem::take(text).into_bytes();
        fill(&mut bytes, &places);
        *text = into_text(bytes);
        true
    }

    /// Masks secrets in bytes; true when there was one.
    pub fn bytes(&self, bytes: &mut [u8]) -> bool {
        let places = self.places(bytes);
        fill(bytes, &places);
        !places.is_empty()
    }

    /// Whether there is a secret in these bytes.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        !self.places(bytes).is_empty()
    }

    /// Masks what comes in pieces.
    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.clone())
    }

    /// Where secrets stand; the places may overlap.
    fn places(&self, bytes: &[u8]) -> Places {
        let mut places = Places::new();
        let Some(patterns) = &self.0.patterns else {
            return places;
        };
        let mut look = |levels: &[Escape]| -> Seen {
            let mut view = View::new(patterns, levels);
            let seen = view.look(patterns, 0, bytes, &mut places);
            view.finish(patterns, &mut places);
            seen
        };
        look(&[]);
        for outer in ESCAPES {
            if !bytes.contains(&outer.sign()) {
                continue;
            }
            let seen = look(&[outer]);
            for inner in ESCAPES {
                if seen.asks_for(inner) {
                    look(&[outer, inner]);
                }
            }
        }
        places
    }

    fn patterns(&self) -> Option<&Patterns> {
        self.0.patterns.as_ref()
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masker({} secrets)", self.0.secrets.len())
    }
}

/// Puts asterisks into these places. Line breaks stay, so that lines keep their numbers.
fn fill(bytes: &mut [u8], places: &[Range<u64>]) {
    for place in places {
        for byte in &mut bytes[place.start as usize..place.end as usize] {
            if !is_line_break(*byte) {
                *byte = b'*';
            }
        }
    }
}

/// The text of bytes that were one before secrets were masked in them.
fn into_text(bytes: Vec<u8>) -> String {
    // A secret and an escape begin and end where a character does, so nothing is ever lost here.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests;
