//! Texts as they may be meant to deceive: characters that can't be seen, letters that look like
//! others, patterns with `*`.

use std::collections::VecDeque;

use unicode_normalization::UnicodeNormalization;

/// Whether a character shows nothing, or changes how others are shown: zero-width, bidirectional
/// and tag characters, variation selectors, fillers.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(u32::from(letter),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// Whether a character changes the direction in which text is shown, so that a person would read
/// something else than what is run.
pub(super) fn turns_text(letter: char) -> bool {
    matches!(u32::from(letter), 0x61C | 0x200E..=0x200F | 0x202A..=0x202E | 0x2066..=0x2069)
}

/// A text with compatible forms made one (Unicode NFKC) and what can't be seen left out. Used
/// where a rule denies or asks, so that a disguise does not escape it; never where one allows.
pub(super) fn undisguised(text: &str) -> String {
    text.nfkc()
        .filter(|letter| !is_invisible(*letter))
        .collect()
}

/// Whether a text fits a pattern in which `*` stands for any text, also none.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts: VecDeque<&str> = pattern.split('*').collect();
    let Some(first) = parts.pop_front() else {
        return text.is_empty();
    };
    let Some(last) = parts.pop_back() else {
        return text == first;
    };
    let Some(mut rest) = text
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last))
    else {
        return false;
    };
    // The earliest place of each part leaves the most room for the next.
    parts.into_iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The first characters of a text, on one line, for a message.
pub(super) fn short(text: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    let mut line: String = text
        .chars()
        .map(|letter| match letter {
            '\n' | '\t' => ' ',
            letter if letter.is_control() || is_invisible(letter) => '\u{FFFD}',
            letter => letter,
        })
        .take(SHOWN_CHARS)
        .collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_nothing_else_does() {
        for (pattern, text, expected) in [
            ("#ann-lab", "#ann-lab", true),
            ("#ann-lab", "#ann-lab ", false),
            ("#ann-*", "#ann-", true),
            ("#ann-*", "#ann-lab", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("*a*a*", "a", false),
            ("a?c", "abc", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
