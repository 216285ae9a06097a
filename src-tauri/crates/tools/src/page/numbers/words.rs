//! Numbers in words, and words that say that something became less.

use std::ops::Range;

use super::decimal::Decimal;
use super::suffix::{gap, suffix, word};
use super::units::{self, Sense, Unit};
use super::{Kind, Meaning, Number};

const SMALL: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("null", 0),
    ("eins", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("elf", 11),
    ("zwölf", 12),
    ("dreizehn", 13),
    ("vierzehn", 14),
    ("fünfzehn", 15),
    ("sechzehn", 16),
    ("siebzehn", 17),
    ("achtzehn", 18),
    ("neunzehn", 19),
    ("zwanzig", 20),
    ("dreißig", 30),
    ("vierzig", 40),
    ("fünfzig", 50),
    ("sechzig", 60),
    ("siebzig", 70),
    ("achtzig", 80),
    ("neunzig", 90),
];

/// Words that say how many times.
const FACTORS: &[(&str, u32)] = &[
    ("twice", 2),
    ("double", 2),
    ("doubled", 2),
    ("doubles", 2),
    ("doubling", 2),
    ("doppelt", 2),
    ("verdoppelt", 2),
    ("thrice", 3),
    ("triple", 3),
    ("tripled", 3),
    ("triples", 3),
    ("verdreifacht", 3),
    ("quadruple", 4),
    ("quadrupled", 4),
    ("vervierfacht", 4),
];

/// Places in an order. A source may have them where a page has `2nd`; by themselves they state no
/// number.
const PLACES: &[(&str, u32)] = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
    ("erste", 1),
    ("ersten", 1),
    ("zweite", 2),
    ("zweiten", 2),
    ("dritte", 3),
    ("dritten", 3),
    ("vierte", 4),
    ("vierten", 4),
    ("fünfte", 5),
    ("fünften", 5),
];

/// How far back a word is looked for that says that something became less.
const FALLS_BYTES: usize = 60;

/// Beginnings of words that say that something became or is less.
const FALLS: &[&str] = &[
    "fall",
    "fell",
    "drop",
    "decreas",
    "declin",
    "reduc",
    "lower",
    "less",
    "loss",
    "lost",
    "lose",
    "losing",
    "minus",
    "negativ",
    "down",
    "below",
    "shrank",
    "shrink",
    "shrunk",
    "cut",
    "cost",
    "sank",
    "sink",
    "gesunken",
    "fiel",
    "gefallen",
    "weniger",
    "rückgang",
    "verlor",
    "verlust",
    "niedriger",
    "unter",
];

/// Whether the words at the end of `before` say that something became or is less.
pub(super) fn falls(before: &str) -> bool {
    let from = before.ceil_char_boundary(before.len().saturating_sub(FALLS_BYTES));
    let near = before[from..].to_lowercase();
    let sentence = near.rsplit(". ").next().unwrap_or(&near);
    sentence
        .split(|letter: char| !letter.is_alphabetic())
        .any(|word| FALLS.iter().any(|stem| word.starts_with(stem)))
}

/// The numbers of `text` that are written in words.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(char::is_alphabetic) {
        let start = at + offset;
        let written = word(&text[start..]);
        let lower = written.to_lowercase();
        if let Some((_, place)) = PLACES.iter().find(|(place, _)| *place == lower) {
            at = start + written.len();
            let meanings = vec![Meaning::bare(Decimal::of(*place))];
            found.push(Number {
                states: false,
                ..spelled(text, start..at, meanings)
            });
            continue;
        }
        let Some((value, end)) = value(text, start, written) else {
            at = start + letters(&text[start..]);
            continue;
        };
        let factor = FACTORS.iter().any(|(factor, _)| *factor == lower) || lower.ends_with("fold");
        let (meanings, end) = if factor {
            (vec![times(Decimal::of(value))], end)
        } else {
            with_suffix(value, text, end)
        };
        found.push(spelled(text, start..end, meanings));
        at = end;
    }
    found
}

fn spelled(text: &str, range: Range<usize>, meanings: Vec<Meaning>) -> Number {
    Number {
        kind: Kind::Quantity(meanings),
        negative: false,
        falls: falls(&text[..range.start]),
        names: true,
        spelled: true,
        joined: false,
        states: true,
        range,
    }
}

/// The bytes of the letters that `text` begins with.
fn letters(text: &str) -> usize {
    text.find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(text.len())
}

fn with_suffix(value: u32, text: &str, end: usize) -> (Vec<Meaning>, usize) {
    let plain = Decimal::of(value);
    let Some(suffix) = suffix(&text[end..]).filter(|suffix| !suffix.readings.is_empty()) else {
        return (vec![Meaning::bare(plain)], end);
    };
    let meanings = suffix
        .readings
        .iter()
        .map(|(magnitude, unit, per)| Meaning {
            plain,
            magnitude: *magnitude,
            unit: *unit,
            per: *per,
        });
    (meanings.collect(), end + suffix.bytes)
}

/// `value` as a factor.
pub(super) fn times(value: Decimal) -> Meaning {
    Meaning {
        unit: Some(Unit {
            of: units::TIMES,
            factor: 1,
            exponent: 0,
        }),
        ..Meaning::bare(value)
    }
}

/// The number that begins with `first` at `start`, and where it ends.
fn value(text: &str, start: usize, first: &str) -> Option<(u32, usize)> {
    let lower = first.to_lowercase();
    let end = start + first.len();
    if matches!(
        lower.as_str(),
        "a" | "an" | "per" | "ein" | "eine" | "pro" | "je"
    ) {
        // `a million` is one, and so is `per million`; the million is read as what follows.
        let next = word(&text[end + gap(&text[end..])..]);
        let magnitude = units::senses(next)
            .iter()
            .any(|sense| matches!(sense, Sense::Magnitude(_)));
        return (magnitude && next.len() > 2).then_some((1, end));
    }
    let factor = FACTORS.iter().find(|(word, _)| *word == lower);
    if let Some((_, value)) = factor {
        return Some((*value, end));
    }
    let small = small(&lower).or_else(|| small(lower.strip_suffix("fold")?));
    if let Some(value) = small {
        return Some(more(text, end, value));
    }
    german(&lower).map(|value| (value, end))
}

fn small(word: &str) -> Option<u32> {
    SMALL
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}

/// Takes up what goes on a number in English: `twenty-one`, `three hundred and five`.
fn more(text: &str, end: usize, mut value: u32) -> (u32, usize) {
    let mut end = end;
    if (20..100).contains(&value)
        && let Some((ones, after)) = next(text, end).filter(|(ones, _)| (1..10).contains(ones))
    {
        (value, end) = (value + ones, after);
    }
    let gap_here = gap(&text[end..]);
    let hundred = word(&text[end + gap_here..]);
    if value < 100 && hundred.eq_ignore_ascii_case("hundred") {
        let after = end + gap_here + hundred.len();
        let linked = next(text, after).or_else(|| {
            let and = text[after..].strip_prefix(" and")?;
            next(text, text.len() - and.len())
        });
        // Without anything after it, the hundred is read as a magnitude.
        if let Some((rest, after)) = linked.filter(|(rest, _)| *rest < 100) {
            let (rest, after) = more(text, after, rest);
            return (value * 100 + rest, after);
        }
    }
    (value, end)
}

fn next(text: &str, at: usize) -> Option<(u32, usize)> {
    let gap = gap(&text[at..]);
    let word = word(&text[at + gap..]);
    let value = small(&word.to_lowercase()).filter(|_| gap > 0)?;
    Some((value, at + gap + word.len()))
}

/// German numbers are one word: `einundzwanzig`, `zweihundert`, `dreitausend`.
fn german(word: &str) -> Option<u32> {
    const LETTERS_LIMIT: usize = 32;
    if word.len() > LETTERS_LIMIT {
        return None;
    }
    let part = |word: &str, empty: u32| match word {
        "" => Some(empty),
        "ein" => Some(1),
        word => small(word).or_else(|| german(word)),
    };
    for (name, times) in [("tausend", 1_000), ("hundert", 100)] {
        if let Some((before, after)) = word.split_once(name) {
            // `tausende` are many; `hundert` alone is a magnitude.
            let (many, rest) = (part(before, 1)?, part(after, 0)?);
            return many.checked_mul(times)?.checked_add(rest);
        }
    }
    let (ones, tens) = word.split_once("und")?;
    let (ones, tens) = (part(ones, 0)?, small(tens)?);
    ((1..10).contains(&ones) && (20..100).contains(&tens)).then_some(tens + ones)
}
