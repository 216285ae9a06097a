//! What follows the digits of a number: magnitude, unit, and what the unit is divided by.

use super::units::{self, Sense, Unit};

/// Magnitude, unit and divisor in one reading.
pub(super) type Reading = (i32, Option<Unit>, Option<Unit>);

/// What belongs to a number after its digits.
#[derive(Debug, Default)]
pub(super) struct Suffix {
    /// The ways to read it; none where nothing belongs to the number.
    pub(super) readings: Vec<Reading>,
    /// How many bytes it takes.
    pub(super) bytes: usize,
}

/// The most words of a suffix: `hundred thousand million euros`.
const WORDS_LIMIT: usize = 4;
/// A longer word is no unit.
const WORD_LIMIT_BYTES: usize = 32;
/// The most bytes between a number and its unit.
const GAP_LIMIT_BYTES: usize = 6;

/// Reads what follows a number. `None`: letters follow that make the number a part of a name, as
/// in `3D`.
pub(super) fn suffix(text: &str) -> Option<Suffix> {
    let mut at = 0;
    // Magnitudes that may still be followed by a unit, and readings that are complete.
    let mut open = vec![0];
    let mut closed: Vec<Reading> = Vec::new();
    for place in 0..WORDS_LIMIT {
        let rest = &text[at..];
        let gap = gap(rest);
        let word = word(&rest[gap..]);
        if word.is_empty() || is_dimension(word, &rest[gap + word.len()..]) {
            break;
        }
        let (senses, length) = understood(&rest[gap..], word);
        let glued = place == 0 && gap == 0 && word.starts_with(char::is_alphabetic);
        if senses.is_empty() {
            if glued {
                return None;
            }
            break;
        }
        let after = &rest[gap + length..];
        let power = power(after, &senses);
        if glued && power.is_none() && goes_on(after) {
            return None;
        }
        at += gap + length + power.map_or(0, |(_, bytes)| bytes);
        let magnitudes = std::mem::take(&mut open);
        for sense in senses {
            for before in &magnitudes {
                match sense {
                    // A raised letter is no magnitude.
                    Sense::Magnitude(by) if power.is_none() => open.push(before + by),
                    Sense::Magnitude(_) => {}
                    Sense::Unit(unit) => {
                        let unit = match power {
                            Some((power, _)) => units::raised(unit, power),
                            None => Some(unit),
                        };
                        closed.extend(unit.map(|unit| (*before, Some(unit), None)));
                    }
                }
            }
        }
        if open.is_empty() {
            break;
        }
        at += usize::from(is_short(word) && text[at..].starts_with('.'));
    }
    if at == 0 {
        return Some(Suffix::default());
    }
    if let Some((per, bytes)) = divisor(&text[at..]).filter(|_| !closed.is_empty()) {
        at += bytes;
        closed.iter_mut().for_each(|reading| reading.2 = Some(per));
    }
    closed.extend(open.into_iter().map(|magnitude| (magnitude, None, None)));
    Some(Suffix {
        readings: closed,
        bytes: at,
    })
}

/// The meanings of the word that `text` begins with, or of it and the one after it, and its length.
fn understood(text: &str, first: &str) -> (Vec<Sense>, usize) {
    let after = &text[first.len()..];
    let gap = gap(after);
    let second = word(&after[gap..]);
    if gap > 0
        && let Some(sense) = units::pair(first, second)
    {
        return (vec![sense], first.len() + gap + second.len());
    }
    (units::senses(first), first.len())
}

/// The bytes of white space, of one hyphen or of marks of emphasis before a unit.
pub(super) fn gap(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches(['*', '_', '`', '~', '\\']).len();
    let rest = &text[marks.min(text.len())..];
    if let Some(hyphened) = rest.strip_prefix(['-', '\u{2010}', '\u{2011}']) {
        let letters = hyphened.starts_with(|letter: char| letter.is_alphabetic() || letter == '%');
        return if letters {
            text.len() - hyphened.len()
        } else {
            0
        };
    }
    let blanks = rest.trim_start();
    let gap = text.len() - blanks.len();
    // A blank line divides a number from what follows.
    let lines = text[..gap].matches('\n').count();
    if gap > GAP_LIMIT_BYTES || lines > 1 {
        0
    } else {
        gap
    }
}

/// The word or sign that `text` begins with; may be empty.
pub(super) fn word(text: &str) -> &str {
    let Some(first) = text.chars().next() else {
        return "";
    };
    if first == '\u{b0}' {
        let letter = text['\u{b0}'.len_utf8()..].chars().next();
        let degrees = matches!(letter, Some('C' | 'F'));
        return &text[..'\u{b0}'.len_utf8() + usize::from(degrees)];
    }
    if is_sign(first) {
        return &text[..first.len_utf8()];
    }
    let end = text
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(text.len());
    if end > WORD_LIMIT_BYTES {
        return "";
    }
    let after = text[end..].chars().next();
    match after {
        Some(sign @ ('$' | '\u{20ac}')) if matches!(&text[..end], "k" | "M" | "US") => {
            &text[..end + sign.len_utf8()]
        }
        _ => &text[..end],
    }
}

fn is_sign(letter: char) -> bool {
    matches!(
        letter,
        '%' | '\u{ff05}'
            | '\u{2030}'
            | '\u{d7}'
            | '\u{2103}'
            | '\u{2109}'
            | '$'
            | '\u{20ac}'
            | '\u{a3}'
            | '\u{a5}'
            | '\u{20b9}'
            | '\u{a2}'
    )
}

/// Whether the sign stands between two numbers: `1920 x 1080`.
fn is_dimension(word: &str, after: &str) -> bool {
    matches!(word, "x" | "X" | "\u{d7}")
        && after
            .trim_start()
            .starts_with(|letter: char| letter.is_ascii_digit())
}

/// Whether what is taken for a unit is the beginning of something longer, as in `3fa9c`.
fn goes_on(after: &str) -> bool {
    after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
}

/// The power of a length, and its bytes.
fn power(after: &str, senses: &[Sense]) -> Option<(i32, usize)> {
    let length = senses
        .iter()
        .any(|sense| matches!(sense, Sense::Unit(unit) if unit.of == "m"));
    let powers = [
        ("\u{b2}", 2),
        ("\u{b3}", 3),
        ("^2", 2),
        ("^3", 3),
        ("2", 2),
        ("3", 3),
    ];
    let (written, power) = powers
        .into_iter()
        .find(|(written, _)| after.starts_with(written))?;
    let ends = !goes_on(&after[written.len()..]);
    (length && ends).then_some((power, written.len()))
}

/// Abbreviations that a full stop belongs to.
fn is_short(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "mio" | "mrd" | "tsd" | "mill" | "bill"
    )
}

/// What the unit before is divided by: `/s`, ` per second`, ` a month`.
fn divisor(text: &str) -> Option<(Unit, usize)> {
    let rest = text.trim_start_matches([' ', '\u{a0}', '\n']);
    let (rest, of_time) = if let Some(rest) = rest.strip_prefix('/') {
        (rest.trim_start_matches(' '), false)
    } else {
        let first = word(rest);
        let after = &rest[first.len()..];
        let of_time = matches!(first, "a" | "an" | "each" | "every");
        if !(of_time || matches!(first, "per" | "pro" | "je" | "par")) {
            return None;
        }
        (&after[gap(after)..], of_time)
    };
    let written = word(rest);
    let unit = units::senses(written)
        .into_iter()
        .find_map(|sense| match sense {
            Sense::Unit(unit) => Some(unit),
            Sense::Magnitude(_) => None,
        })?;
    let rest = &rest[written.len()..];
    if goes_on(rest) || (of_time && !matches!(unit.of, "s" | "month")) {
        return None;
    }
    Some((unit, text.len() - rest.len()))
}
