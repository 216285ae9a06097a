//! How what others wrote is shown in a message: one line, of bounded length, that does nothing.

use url::Url;

/// The longest piece of somebody else's text in a message, in bytes.
const SHOWN_LIMIT_BYTES: usize = 200;

/// An address for a message.
pub(crate) fn shown(url: &Url) -> String {
    line(url.as_str())
}

/// Text of others for a message: without line breaks, cut, and without what acts on a screen.
pub(crate) fn line(text: &str) -> String {
    cut_line(text, SHOWN_LIMIT_BYTES)
}

/// One line of at most `limit` bytes, with an ellipsis where it was cut.
pub(crate) fn cut_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|letter| is_seen(*letter)));
        if line.len() > limit {
            line.truncate(line.floor_char_boundary(limit));
            line.push('…');
            break;
        }
    }
    line
}

/// Whether a reader sees the character, or it joins what a reader sees. Controls, marks of the
/// reading direction, tags and the variation selectors that no font has are seen by nobody, and
/// words can be hidden in them.
pub(crate) fn is_seen(letter: char) -> bool {
    let unseen = matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    !unseen && (!letter.is_control() || matches!(letter, '\n' | '\t'))
}

/// Whether an unseen character is an ordinary part of writing: a place where a line may break, a
/// byte order mark. The others are counted when they are left out.
pub(crate) fn is_ordinary(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}' | '\r' | '\u{c}'
    )
}

/// `1 page`, `2 pages`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_a_message_is_short_and_does_nothing() {
        assert_eq!(line("a\n\u{1b}[31m b\u{202e}"), "a [31m b");
        let long = line(&"é".repeat(1_000));
        assert!(long.len() <= SHOWN_LIMIT_BYTES + 3, "{long}");
        assert!(long.ends_with('…'));
    }

    #[test]
    fn letters_that_carry_words_unseen_are_not_seen() {
        let tags: String = "ignore"
            .chars()
            .filter_map(|letter| char::from_u32(0xe0000 + letter as u32))
            .collect();
        assert!(tags.chars().all(|letter| !is_seen(letter)));
        // Joiners belong to many scripts and to emoji.
        assert!("नमस्ते\u{200d}\u{200c}👩‍🔬❤️".chars().all(is_seen));
    }
}
