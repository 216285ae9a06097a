//! Words for a terminal: made safe, cut to its width, counted as people count.

use std::borrow::Cow;

pub use longrein_core::calendar::utc;
pub use longrein_core::view::{dollars, thousands as count};
use longrein_protocol::Millis;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const ESCAPE: char = '\u{1b}';

/// Text of anybody on one line: no control characters, no escape sequences, nothing that turns
/// the direction of writing around.
pub fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in safe(text) {
        if letter == '\n' || letter == '\t' {
            line.push(' ');
        } else {
            line.push(letter);
        }
    }
    line
}

/// The same, with its line breaks kept.
pub fn plain_lines(text: &str) -> String {
    safe(text).collect()
}

/// The letters of a text that a terminal only draws.
fn safe(text: &str) -> impl Iterator<Item = char> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        while let Some(letter) = letters.next() {
            if letter == ESCAPE {
                skip_sequence(&mut letters);
            } else if is_safe(letter) {
                return Some(letter);
            }
        }
        None
    })
}

fn is_safe(letter: char) -> bool {
    match letter {
        '\n' | '\t' => true,
        // Marks and overrides of the writing direction, and what joins invisibly.
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => false,
        letter => !letter.is_control(),
    }
}

/// Skips what follows an escape character: `[ … letter`, `] … BEL`, or one letter.
fn skip_sequence(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            while let Some(letter) = letters.peek() {
                let is_parameter = matches!(letter, ' '..='?');
                let ends = matches!(letter, '@'..='~');
                if is_parameter || ends {
                    letters.next();
                }
                if !is_parameter {
                    break;
                }
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(letters),
        Some(' '..='~') => {
            letters.next();
        }
        _ => {}
    }
}

/// Skips an operating system command up to its end, which a line break is too: a sequence that
/// never ends may not swallow the rest of the text.
fn skip_string(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(letter) = letters.peek() {
        match *letter {
            '\n' => return,
            '\u{7}' => {
                letters.next();
                return;
            }
            ESCAPE => {
                letters.next();
                letters.next_if_eq(&'\\');
                return;
            }
            _ => {
                letters.next();
            }
        }
    }
}

/// Cuts a line to so many columns.
pub fn fit(line: &str, columns: usize) -> Cow<'_, str> {
    if line.width() <= columns {
        return Cow::Borrowed(line);
    }
    let mut used = 0;
    let mut end = 0;
    for (at, letter) in line.char_indices() {
        let width = letter.width().unwrap_or(0);
        if used + width + 1 > columns {
            break;
        }
        used += width;
        end = at + letter.len_utf8();
    }
    Cow::Owned(format!("{}…", line[..end].trim_end()))
}

/// A cell of a table: cut and filled to so many columns.
pub fn cell(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// One line, cut to so many characters.
pub fn brief(text: &str, limit: usize) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// With a capital at its beginning.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// `1 step`, `2 steps`.
pub fn counted(number: u32, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number.into()))
}

/// Milliseconds as people read them.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// Whole seconds as people read them.
pub fn seconds(seconds: u64) -> String {
    if seconds < 60 {
        return format!("{seconds} s");
    }
    duration(seconds * 1_000)
}

/// How long ago something was.
pub fn ago(then: Millis, now: Millis) -> String {
    let seconds = now.saturating_sub(then).max(0) / 1_000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "yesterday".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A word as a shell reads it.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./~+:@%,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        let cases = [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]never ends\nnext line", " next line"),
            ("bell\u{7}\u{8}\r\u{0}", "bell"),
            ("c1 \u{9b}31m", "c1 31m"),
            ("evil\u{202e}txt", "eviltxt"),
            ("\u{1b}(Bword", "Bword"),
            ("\u{1b}", ""),
            ("tab\tand\nbreak", "tab and break"),
            ("naïve 漢字 𝛼", "naïve 漢字 𝛼"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        assert_eq!(plain_lines("a\n\u{1b}[2Jb"), "a\nb");
    }

    #[test]
    fn a_line_fits_its_columns_where_letters_are_two_wide() {
        assert_eq!(fit("short", 5), "short");
        assert_eq!(fit("longer", 5), "long…");
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(cell("ab", 4), "ab  ");
        assert_eq!(cell("漢字漢字", 4), "漢… ");
        assert_eq!(fit("anything", 0), "…");
    }

    #[test]
    fn numbers_read_as_people_read_them() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(2_000, "step"), "2,000 steps");
        assert_eq!(duration(12), "12 ms");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(ago(0, 7_200_000), "2 h ago");
        assert_eq!(ago(10, 0), "just now");
        assert_eq!(dollars(0), "$0.00");
        assert_eq!(dollars(1_234), "$0.001234");
        assert_eq!(dollars(9_000), "$0.009");
        assert_eq!(dollars(2_505_000), "$2.51");
        assert_eq!(dollars(1_234_560_000), "$1,234.56");
    }

    #[test]
    fn a_shell_reads_a_word_as_it_was() {
        assert_eq!(shell_word("/tmp/a-b"), "/tmp/a-b");
        assert_eq!(shell_word("it's here"), r"'it'\''s here'");
        assert_eq!(shell_word(""), "''");
    }
}
