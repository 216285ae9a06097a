//! Powers of ten, and endings that make a place or a decade of a number.

use super::dates::digits;

/// `e6`, `×10^6`, ` · 10⁶`: the power and its bytes.
pub(super) fn scientific(after: &str) -> Option<(i32, usize)> {
    if let Some(rest) = after.strip_prefix(['e', 'E']) {
        let sign = usize::from(rest.starts_with(['+', '-']));
        let length = digits(&rest[sign..]);
        let ends = !rest[sign + length..].starts_with(char::is_alphabetic);
        let power = rest[..sign + length].trim_start_matches('+').parse().ok();
        return power
            .filter(|_| length <= 3 && ends)
            .map(|power| (power, 1 + sign + length));
    }
    let rest = after.trim_start_matches([' ', '\u{a0}']);
    let rest = rest.strip_prefix(['\u{d7}', 'x', '\u{b7}', '\u{22c5}', '*'])?;
    let rest = rest
        .trim_start_matches([' ', '\u{a0}'])
        .strip_prefix("10")?;
    let (power, bytes) = raised(rest)?;
    Some((power, after.len() - rest.len() + bytes))
}

/// `^6`, `⁶`, `⁻³` after a ten: the power and its bytes.
pub(super) fn raised(after: &str) -> Option<(i32, usize)> {
    if let Some(rest) = after.strip_prefix('^') {
        let rest = rest.strip_prefix(['{', '(']).unwrap_or(rest);
        let (rest, sign) = match rest.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (rest, -1),
            None => (rest, 1),
        };
        let length = digits(rest);
        let power: i32 = rest[..length].parse().ok()?;
        let rest = &rest[length..];
        let rest = rest.strip_prefix(['}', ')']).unwrap_or(rest);
        return (length <= 3).then_some((sign * power, after.len() - rest.len()));
    }
    let (mut power, mut bytes, mut sign, mut any) = (0, 0, 1, false);
    for letter in after.chars().take(4) {
        match (
            letter,
            SUPERSCRIPTS.iter().position(|digit| *digit == letter),
        ) {
            ('\u{207b}', _) if !any => sign = -1,
            (_, Some(digit)) => {
                any = true;
                power = power * 10 + digit as i32;
            }
            _ => break,
        }
        bytes += letter.len_utf8();
    }
    any.then_some((sign * power, bytes))
}

const SUPERSCRIPTS: [char; 10] = [
    '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}',
    '\u{2078}', '\u{2079}',
];

/// The bytes of an ending that makes a place or a decade of the number.
pub(super) fn ordinal(after: &str, written: &str) -> Option<usize> {
    let whole = written.bytes().all(|byte| byte.is_ascii_digit());
    let decade = written.len() == 4 && written.ends_with('0');
    let endings: &[(&str, bool)] = &[
        ("st", true),
        ("nd", true),
        ("rd", true),
        ("th", true),
        ("s", decade),
        ("'s", decade),
        ("\u{2019}s", decade),
        ("er", decade),
    ];
    let (ending, _) = endings
        .iter()
        .find(|(ending, may)| *may && after.starts_with(ending))?;
    let ends = !after[ending.len()..].starts_with(char::is_alphanumeric);
    (whole && ends).then_some(ending.len())
}
