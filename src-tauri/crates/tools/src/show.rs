//! How bytes from anywhere are shown: whole characters, no control of the terminal or of the
//! reading direction, no line without an end.

use std::borrow::Cow;

/// The longest line that is shown whole.
pub(crate) const LINE_LIMIT_BYTES: usize = 2_000;

/// The longest beginning of `text` that has at most `limit` bytes and ends with a whole character.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// At most `limit` bytes of `text`, with an ellipsis where it was cut.
pub(crate) fn brief(text: &str, limit: usize) -> String {
    let shown = cut(text, limit);
    if shown.len() == text.len() {
        shown.to_owned()
    } else {
        format!("{shown}…")
    }
}

/// Writes characters that would act on a terminal, or turn the reading direction, as escapes.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if acts(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

fn acts(letter: char) -> bool {
    let bidirectional = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    bidirectional || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// One line as it is shown: safe, and cut when it is very long.
pub(crate) fn line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let shown = cut(&text, LINE_LIMIT_BYTES);
    if shown.len() == text.len() {
        safe(shown).into_owned()
    } else {
        format!(
            "{}… (cut: this line has {} bytes)",
            safe(shown),
            bytes.len()
        )
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("héllo", 2), "h");
        assert_eq!(brief("héllo", 3), "hé…");
        assert_eq!(brief("héllo", 6), "héllo");
    }

    #[test]
    fn what_would_act_on_a_terminal_is_written_out() {
        assert_eq!(
            safe("\u{1b}[31mred\u{202e}\0"),
            "\\u{1b}[31mred\\u{202e}\\u{0}"
        );
        assert!(matches!(safe("plain\ttext\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_very_long_line_says_how_long_it_is() {
        let shown = line("é".repeat(100_000).as_bytes());
        assert!(
            shown.ends_with("… (cut: this line has 200000 bytes)"),
            "{shown}"
        );
        assert!(shown.len() < LINE_LIMIT_BYTES + 60);
    }

    #[test]
    fn broken_utf8_is_shown_as_replacement_characters() {
        assert_eq!(
            line(b"a\xff\xed\xa0\x80b\r\n"),
            "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b"
        );
    }
}
