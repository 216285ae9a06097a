//! Units of measure, in the signs and the words that texts use for them.
//!
//! A unit that is not here is the name of what is counted, and names are not compared: texts of
//! other languages and other words for the same thing are many. Where a sign has several meanings,
//! all of them are tried.

/// What one unit is in terms of the first of its kind: `factor × 10^exponent` of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    /// What is measured, by its plainest unit.
    pub(super) of: &'static str,
    pub(super) factor: u64,
    pub(super) exponent: i32,
}

/// What a sign or a word after a number may mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sense {
    /// It measures.
    Unit(Unit),
    /// It makes the number larger by this power of ten.
    Magnitude(i32),
}

pub(super) const PERCENT: &str = "%";
pub(super) const TIMES: &str = "\u{d7}";
const KIBI: u64 = 1_024;

const fn unit(of: &'static str, factor: u64, exponent: i32) -> Sense {
    Sense::Unit(Unit {
        of,
        factor,
        exponent,
    })
}

/// Signs that stand alone. Their letters' cases count.
const SIGNS: &[(&str, &[Sense])] = &[
    ("%", &[unit(PERCENT, 1, -2)]),
    ("\u{ff05}", &[unit(PERCENT, 1, -2)]),
    ("\u{2030}", &[unit(PERCENT, 1, -3)]),
    ("pp", &[unit("percentage points", 1, 0)]),
    ("ppm", &[unit("ppm", 1, 0)]),
    ("ppb", &[unit("ppm", 1, -3)]),
    ("\u{d7}", &[unit(TIMES, 1, 0)]),
    ("x", &[unit(TIMES, 1, 0)]),
    ("X", &[unit(TIMES, 1, 0)]),
    ("\u{b0}C", &[unit("\u{b0}C", 1, 0)]),
    ("\u{2103}", &[unit("\u{b0}C", 1, 0)]),
    ("\u{b0}F", &[unit("\u{b0}F", 1, 0)]),
    ("\u{2109}", &[unit("\u{b0}F", 1, 0)]),
    ("\u{b0}", &[unit("\u{b0}", 1, 0), unit("\u{b0}C", 1, 0)]),
    ("min", &[unit("s", 60, 0)]),
    ("mins", &[unit("s", 60, 0)]),
    ("sec", &[unit("s", 1, 0)]),
    ("secs", &[unit("s", 1, 0)]),
    ("h", &[unit("s", 3_600, 0)]),
    ("hr", &[unit("s", 3_600, 0)]),
    ("hrs", &[unit("s", 3_600, 0)]),
    ("d", &[unit("s", 86_400, 0)]),
    ("yr", &[unit("month", 12, 0)]),
    ("yrs", &[unit("month", 12, 0)]),
    ("k", &[Sense::Magnitude(3)]),
    ("K", &[Sense::Magnitude(3), unit("K", 1, 0)]),
    ("M", &[Sense::Magnitude(6), unit("M", 1, 0)]),
    ("m", &[Sense::Magnitude(6), unit("m", 1, 0)]),
    ("mn", &[Sense::Magnitude(6)]),
    ("bn", &[Sense::Magnitude(9)]),
    ("B", &[Sense::Magnitude(9), unit("B", 1, 0)]),
    ("b", &[Sense::Magnitude(9), unit("bit", 1, 0)]),
    ("T", &[Sense::Magnitude(12), unit("T", 1, 0)]),
    ("tn", &[Sense::Magnitude(12)]),
    ("kb", &[unit("bit", 1, 3), unit("B", 1, 3)]),
    ("mb", &[unit("B", 1, 6), unit("bit", 1, 6)]),
    ("gb", &[unit("B", 1, 9), unit("bit", 1, 9)]),
    ("tb", &[unit("B", 1, 12), unit("bit", 1, 12)]),
    ("dB", &[unit("dB", 1, 0)]),
    ("ha", &[unit("m\u{b2}", 1, 4)]),
    ("px", &[unit("px", 1, 0)]),
    ("dpi", &[unit("dpi", 1, 0)]),
    ("bar", &[unit("Pa", 1, 5)]),
    ("psi", &[unit("psi", 1, 0)]),
    ("mmHg", &[unit("mmHg", 1, 0)]),
    ("lb", &[unit("lb", 1, 0)]),
    ("lbs", &[unit("lb", 1, 0)]),
    ("oz", &[unit("oz", 1, 0)]),
    ("ft", &[unit("ft", 1, 0)]),
    ("mi", &[unit("mile", 1, 0)]),
    ("mph", &[unit("mph", 1, 0)]),
    ("\u{2126}", &[unit("\u{3a9}", 1, 0)]),
    ("$", &[unit("$", 1, 0)]),
    ("US$", &[unit("$", 1, 0)]),
    ("USD", &[unit("$", 1, 0)]),
    ("\u{20ac}", &[unit("\u{20ac}", 1, 0)]),
    ("EUR", &[unit("\u{20ac}", 1, 0)]),
    ("\u{a3}", &[unit("\u{a3}", 1, 0)]),
    ("GBP", &[unit("\u{a3}", 1, 0)]),
    ("\u{a5}", &[unit("\u{a5}", 1, 0), unit("yuan", 1, 0)]),
    ("JPY", &[unit("\u{a5}", 1, 0)]),
    ("CNY", &[unit("yuan", 1, 0)]),
    ("RMB", &[unit("yuan", 1, 0)]),
    ("\u{20b9}", &[unit("rupee", 1, 0)]),
    ("INR", &[unit("rupee", 1, 0)]),
    ("CHF", &[unit("franc", 1, 0)]),
    ("SEK", &[unit("crown", 1, 0)]),
    ("NOK", &[unit("crown", 1, 0)]),
    ("DKK", &[unit("crown", 1, 0)]),
    ("kr", &[unit("crown", 1, 0)]),
    ("\u{a2}", &[unit("$", 1, -2), unit("\u{20ac}", 1, -2)]),
];

/// A sign that takes prefixes.
struct Base {
    sign: &'static str,
    unit: Unit,
    prefixes: &'static [&'static str],
}

const fn base(
    sign: &'static str,
    (of, factor, exponent): (&'static str, u64, i32),
    prefixes: &'static [&'static str],
) -> Base {
    Base {
        sign,
        unit: Unit {
            of,
            factor,
            exponent,
        },
        prefixes,
    }
}

const SMALL: &[&str] = &["n", "\u{b5}", "\u{3bc}", "u", "m"];
const LENGTHS: &[&str] = &["n", "\u{b5}", "\u{3bc}", "u", "m", "c", "d", "k"];
const ALL: &[&str] = &["n", "\u{b5}", "\u{3bc}", "u", "m", "k", "M", "G", "T"];
const LARGE: &[&str] = &["k", "K", "M", "G", "T", "P", "E"];
const BYTES: &[&str] = &[
    "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

const BASES: &[Base] = &[
    base("s", ("s", 1, 0), SMALL),
    base("m", ("m", 1, 0), LENGTHS),
    base("g", ("g", 1, 0), LENGTHS),
    base("t", ("g", 1, 6), LARGE),
    base("l", ("l", 1, 0), LENGTHS),
    base("L", ("l", 1, 0), LENGTHS),
    base("B", ("B", 1, 0), BYTES),
    base("bit", ("bit", 1, 0), BYTES),
    base("b", ("bit", 1, 0), BYTES),
    base("bps", ("bit", 1, 0), LARGE),
    base("Hz", ("Hz", 1, 0), ALL),
    base("W", ("W", 1, 0), ALL),
    base("Wh", ("J", 3_600, 0), ALL),
    base("J", ("J", 1, 0), ALL),
    base("V", ("V", 1, 0), ALL),
    base("A", ("A", 1, 0), SMALL),
    base("K", ("K", 1, 0), SMALL),
    base("M", ("M", 1, 0), SMALL),
    base("Pa", ("Pa", 1, 0), &["h", "k", "M", "G"]),
    base("N", ("N", 1, 0), ALL),
    base("eV", ("eV", 1, 0), ALL),
    base("cal", ("cal", 1, 0), &["k"]),
    base("mol", ("mol", 1, 0), ALL),
    base("\u{3a9}", ("\u{3a9}", 1, 0), ALL),
    base("FLOPS", ("FLOPS", 1, 0), LARGE),
    base("FLOPs", ("FLOPS", 1, 0), LARGE),
    base("FLOP", ("FLOPS", 1, 0), LARGE),
    base("px", ("px", 1, 0), LARGE),
    base("EUR", ("\u{20ac}", 1, 0), &["k", "M"]),
    base("\u{20ac}", ("\u{20ac}", 1, 0), &["k", "M"]),
    base("USD", ("$", 1, 0), &["k", "M"]),
    base("$", ("$", 1, 0), &["k", "M"]),
];

fn prefix(sign: &str) -> (u64, i32) {
    match sign {
        "n" => (1, -9),
        "\u{b5}" | "\u{3bc}" | "u" => (1, -6),
        "m" => (1, -3),
        "c" => (1, -2),
        "d" => (1, -1),
        "h" => (1, 2),
        "k" | "K" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (KIBI, 0),
        "Mi" => (KIBI.pow(2), 0),
        "Gi" => (KIBI.pow(3), 0),
        "Ti" => (KIBI.pow(4), 0),
        "Pi" => (KIBI.pow(5), 0),
        _ => (KIBI.pow(6), 0),
    }
}

/// Words, in lower case and without an ending for many.
const WORDS: &[(&str, &[Sense])] = &[
    ("percent", &[unit(PERCENT, 1, -2)]),
    ("prozent", &[unit(PERCENT, 1, -2)]),
    ("procent", &[unit(PERCENT, 1, -2)]),
    ("pct", &[unit(PERCENT, 1, -2)]),
    ("promille", &[unit(PERCENT, 1, -3)]),
    ("prozentpunkt", &[unit("percentage points", 1, 0)]),
    ("times", &[unit(TIMES, 1, 0)]),
    ("fold", &[unit(TIMES, 1, 0)]),
    ("mal", &[unit(TIMES, 1, 0)]),
    ("fach", &[unit(TIMES, 1, 0)]),
    ("second", &[unit("s", 1, 0)]),
    ("sekunde", &[unit("s", 1, 0)]),
    ("seconde", &[unit("s", 1, 0)]),
    ("segundo", &[unit("s", 1, 0)]),
    ("minute", &[unit("s", 60, 0)]),
    ("minuto", &[unit("s", 60, 0)]),
    ("hour", &[unit("s", 3_600, 0)]),
    ("stunde", &[unit("s", 3_600, 0)]),
    ("heure", &[unit("s", 3_600, 0)]),
    ("hora", &[unit("s", 3_600, 0)]),
    ("day", &[unit("s", 86_400, 0)]),
    ("tage", &[unit("s", 86_400, 0)]),
    ("jour", &[unit("s", 86_400, 0)]),
    ("d\u{ed}a", &[unit("s", 86_400, 0)]),
    ("week", &[unit("s", 604_800, 0)]),
    ("woche", &[unit("s", 604_800, 0)]),
    ("semaine", &[unit("s", 604_800, 0)]),
    ("semana", &[unit("s", 604_800, 0)]),
    ("month", &[unit("month", 1, 0)]),
    ("monat", &[unit("month", 1, 0)]),
    ("mois", &[unit("month", 1, 0)]),
    ("mes", &[unit("month", 1, 0)]),
    ("year", &[unit("month", 12, 0)]),
    ("jahr", &[unit("month", 12, 0)]),
    ("ans", &[unit("month", 12, 0)]),
    ("a\u{f1}o", &[unit("month", 12, 0)]),
    ("decade", &[unit("month", 120, 0)]),
    ("jahrzehnt", &[unit("month", 120, 0)]),
    ("hundred", &[Sense::Magnitude(2)]),
    ("hundert", &[Sense::Magnitude(2)]),
    ("thousand", &[Sense::Magnitude(3)]),
    ("tausend", &[Sense::Magnitude(3)]),
    ("tsd", &[Sense::Magnitude(3)]),
    ("mille", &[Sense::Magnitude(3)]),
    ("mil", &[Sense::Magnitude(3)]),
    ("million", &[Sense::Magnitude(6)]),
    ("mill\u{f3}n", &[Sense::Magnitude(6)]),
    ("mio", &[Sense::Magnitude(6)]),
    ("milliarde", &[Sense::Magnitude(9)]),
    ("milliard", &[Sense::Magnitude(9)]),
    ("mrd", &[Sense::Magnitude(9)]),
    // The long scale counts a billion as a million millions.
    ("billion", &[Sense::Magnitude(9), Sense::Magnitude(12)]),
    ("trillion", &[Sense::Magnitude(12), Sense::Magnitude(18)]),
    ("lakh", &[Sense::Magnitude(5)]),
    ("crore", &[Sense::Magnitude(7)]),
    ("bit", &[unit("bit", 1, 0)]),
    ("byte", &[unit("B", 1, 0)]),
    ("octet", &[unit("B", 1, 0)]),
    ("metre", &[unit("m", 1, 0)]),
    ("meter", &[unit("m", 1, 0)]),
    ("mile", &[unit("mile", 1, 0)]),
    ("inch", &[unit("inch", 1, 0)]),
    ("foot", &[unit("ft", 1, 0)]),
    ("feet", &[unit("ft", 1, 0)]),
    ("gram", &[unit("g", 1, 0)]),
    ("gramm", &[unit("g", 1, 0)]),
    ("tonne", &[unit("g", 1, 6)]),
    ("ton", &[unit("g", 1, 6), unit("ton", 1, 0)]),
    ("ounce", &[unit("oz", 1, 0)]),
    ("litre", &[unit("l", 1, 0)]),
    ("liter", &[unit("l", 1, 0)]),
    ("hectare", &[unit("m\u{b2}", 1, 4)]),
    ("hektar", &[unit("m\u{b2}", 1, 4)]),
    ("acre", &[unit("acre", 1, 0)]),
    ("hertz", &[unit("Hz", 1, 0)]),
    ("watt", &[unit("W", 1, 0)]),
    ("volt", &[unit("V", 1, 0)]),
    ("amp", &[unit("A", 1, 0)]),
    ("ampere", &[unit("A", 1, 0)]),
    ("ohm", &[unit("\u{3a9}", 1, 0)]),
    ("joule", &[unit("J", 1, 0)]),
    ("calorie", &[unit("cal", 1, 0)]),
    ("kelvin", &[unit("K", 1, 0)]),
    ("celsius", &[unit("\u{b0}C", 1, 0)]),
    ("fahrenheit", &[unit("\u{b0}F", 1, 0)]),
    (
        "degree",
        &[
            unit("\u{b0}", 1, 0),
            unit("\u{b0}C", 1, 0),
            unit("\u{b0}F", 1, 0),
        ],
    ),
    ("pixel", &[unit("px", 1, 0)]),
    ("dollar", &[unit("$", 1, 0)]),
    ("euro", &[unit("\u{20ac}", 1, 0)]),
    ("pound", &[unit("\u{a3}", 1, 0), unit("lb", 1, 0)]),
    ("pfund", &[unit("\u{a3}", 1, 0), unit("lb", 1, 0)]),
    ("yen", &[unit("\u{a5}", 1, 0)]),
    ("yuan", &[unit("yuan", 1, 0)]),
    ("rupee", &[unit("rupee", 1, 0)]),
    ("franc", &[unit("franc", 1, 0)]),
    ("franken", &[unit("franc", 1, 0)]),
    ("crown", &[unit("crown", 1, 0)]),
    ("krone", &[unit("crown", 1, 0)]),
    ("cent", &[unit("$", 1, -2), unit("\u{20ac}", 1, -2)]),
];

/// Two words that are one unit, in lower case.
const PAIRS: &[(&str, &str, Sense)] = &[
    ("percentage", "point", unit("percentage points", 1, 0)),
    ("per", "cent", unit(PERCENT, 1, -2)),
    ("pour", "cent", unit(PERCENT, 1, -2)),
    ("por", "ciento", unit(PERCENT, 1, -2)),
    ("per", "mille", unit(PERCENT, 1, -3)),
    ("degree", "celsius", unit("\u{b0}C", 1, 0)),
    ("degree", "c", unit("\u{b0}C", 1, 0)),
    ("degree", "fahrenheit", unit("\u{b0}F", 1, 0)),
    ("degree", "f", unit("\u{b0}F", 1, 0)),
    ("grad", "celsius", unit("\u{b0}C", 1, 0)),
    ("square", "kilometre", unit("m\u{b2}", 1, 6)),
    ("square", "kilometer", unit("m\u{b2}", 1, 6)),
    ("square", "metre", unit("m\u{b2}", 1, 0)),
    ("square", "meter", unit("m\u{b2}", 1, 0)),
    ("sq", "km", unit("m\u{b2}", 1, 6)),
    ("sq", "m", unit("m\u{b2}", 1, 0)),
    ("cubic", "metre", unit("m\u{b3}", 1, 0)),
    ("cubic", "meter", unit("m\u{b3}", 1, 0)),
    ("us", "dollar", unit("$", 1, 0)),
];

const LONG_PREFIXES: &[(&str, i32)] = &[
    ("nano", -9),
    ("micro", -6),
    ("mikro", -6),
    ("milli", -3),
    ("centi", -2),
    ("zenti", -2),
    ("kilo", 3),
    ("mega", 6),
    ("giga", 9),
    ("tera", 12),
    ("peta", 15),
];

/// What `word` may mean after a number; nothing when it is no unit that is known.
pub(super) fn senses(word: &str) -> Vec<Sense> {
    if let Some((_, senses)) = SIGNS.iter().find(|(sign, _)| *sign == word) {
        return senses.to_vec();
    }
    let prefixed = BASES.iter().filter_map(|base| {
        let before = word.strip_suffix(base.sign)?;
        let (factor, exponent) = match before {
            "" => (1, 0),
            before if base.prefixes.contains(&before) => prefix(before),
            _ => return None,
        };
        Some(Sense::Unit(Unit {
            of: base.unit.of,
            factor: base.unit.factor * factor,
            exponent: base.unit.exponent + exponent,
        }))
    });
    let signs: Vec<Sense> = prefixed.collect();
    if !signs.is_empty() {
        return signs;
    }
    spelled(&word.to_lowercase())
}

/// What a word in lower case may mean, as one or many.
fn spelled(word: &str) -> Vec<Sense> {
    let named = |stem: &str| WORDS.iter().find(|(word, _)| *word == stem);
    for stem in stems(word) {
        if let Some((_, senses)) = named(stem) {
            return senses.to_vec();
        }
        let prefixed = LONG_PREFIXES.iter().find_map(|(prefix, power)| {
            let (_, senses) = named(stem.strip_prefix(prefix)?)?;
            Some(larger(senses, *power))
        });
        if let Some(senses) = prefixed {
            return senses;
        }
    }
    Vec::new()
}

fn larger(senses: &[Sense], power: i32) -> Vec<Sense> {
    let larger = senses.iter().map(|sense| match sense {
        Sense::Unit(unit) => Sense::Unit(Unit {
            exponent: unit.exponent + power,
            ..*unit
        }),
        Sense::Magnitude(by) => Sense::Magnitude(by + power),
    });
    larger.collect()
}

/// The word, and what it may be the plural of.
fn stems(word: &str) -> impl Iterator<Item = &str> {
    let endings = ["", "s", "es", "n", "en", "e"];
    endings
        .into_iter()
        .filter_map(|ending| word.strip_suffix(ending))
}

/// What two words may mean together after a number.
pub(super) fn pair(first: &str, second: &str) -> Option<Sense> {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    let same = |stem: &str, word: &str| word == stem || word.strip_suffix('s') == Some(stem);
    PAIRS
        .iter()
        .find(|(one, other, _)| same(one, &first) && same(other, &second))
        .map(|(_, _, sense)| *sense)
}

/// The unit of an area or a volume, from that of a length.
pub(super) fn raised(unit: Unit, power: i32) -> Option<Unit> {
    let of = match (unit.of, power) {
        ("m", 2) => "m\u{b2}",
        ("m", 3) => "m\u{b3}",
        _ => return None,
    };
    Some(Unit {
        of,
        factor: unit.factor,
        exponent: unit.exponent * power,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_take_prefixes_and_words_take_endings() {
        for (one, other) in [
            ("ms", "milliseconds"),
            ("\u{b5}s", "us"),
            ("GB", "gigabytes"),
            ("km", "Kilometer"),
            ("%", "percent"),
            ("h", "Stunden"),
            ("kWh", "kWh"),
            ("year", "Jahre"),
        ] {
            assert!(!senses(one).is_empty(), "{one}");
            assert_eq!(senses(one), senses(other), "{one} {other}");
        }
        assert_ne!(senses("GB"), senses("GiB"));
        assert_ne!(senses("GB"), senses("Gb"));
        assert_eq!(pair("percentage", "points"), senses("pp").first().copied());
    }

    #[test]
    fn the_name_of_what_is_counted_is_no_unit() {
        for word in [
            "queries", "cores", "patients", "of", "in", "pm", "Lists", "as", "am",
        ] {
            assert_eq!(senses(word), [], "{word}");
        }
    }
}
