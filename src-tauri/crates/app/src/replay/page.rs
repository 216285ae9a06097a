//! Long texts, by pages.

use serde::{Deserialize, Serialize};

/// The most bytes of one page.
pub const PAGE_BYTES: usize = 256 << 10;

/// A page of a text. Bytes that are no UTF-8 are replaced, so that all of it can be shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct TextPage {
    /// The text of the page.
    pub text: String,
    /// Where it begins, in bytes.
    pub offset: u32,
    /// How many bytes there are in all.
    pub bytes: u32,
    /// Where the next page begins; `None` at the end.
    pub next: Option<u32>,
}

impl TextPage {
    /// The page of `bytes` that begins at `offset`, or at the character in whose middle that is.
    pub fn of(bytes: &[u8], offset: u32) -> Self {
        let begin = boundary(bytes, (offset as usize).min(bytes.len()));
        let end = begin.saturating_add(PAGE_BYTES).min(bytes.len());
        // A character is never longer than the page, so that each page has a part of the text.
        let end = boundary(bytes, end);
        Self {
            text: String::from_utf8_lossy(&bytes[begin..end]).into_owned(),
            offset: number(begin),
            bytes: number(bytes.len()),
            next: (end < bytes.len()).then(|| number(end)),
        }
    }
}

/// The beginning of the character that `place` is in the middle of, as far as it is one.
fn boundary(bytes: &[u8], place: usize) -> usize {
    const LONGEST_CHARACTER: usize = 4;
    let continues = |place: usize| bytes.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
    let begins = (place.saturating_sub(LONGEST_CHARACTER - 1)..=place).rev();
    begins
        .into_iter()
        .find(|place| !continues(*place))
        .unwrap_or(place)
}

/// A length as the window takes it.
pub(super) fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_put_together_are_the_whole_text_and_cut_no_character() {
        let text = "aé€🐎".repeat(60_000);
        let (mut whole, mut offset, mut pages) = (String::new(), 0, 0);
        loop {
            let page = TextPage::of(text.as_bytes(), offset);
            assert!(!page.text.contains('\u{fffd}'));
            assert_eq!(page.bytes as usize, text.len());
            whole.push_str(&page.text);
            pages += 1;
            let Some(next) = page.next else { break };
            offset = next;
        }
        assert_eq!((whole == text, pages), (true, 3));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such_and_end() {
        let bytes = vec![0x80; PAGE_BYTES * 2 + 9];
        let first = TextPage::of(&bytes, 0);
        assert_eq!(first.next, Some(PAGE_BYTES as u32));
        assert_eq!(TextPage::of(&bytes, bytes.len() as u32 + 7).next, None);
        assert_eq!(TextPage::of(b"", 0).text, "");
    }
}
