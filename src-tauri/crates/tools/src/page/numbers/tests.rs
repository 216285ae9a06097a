mod places;

use std::fmt::Write;

use expect_test::{Expect, expect};
use longrein_protocol::source::{SourceMeta, TextRange};

use super::*;

/// One line per number of each sentence that is a claim: what became of it in `source`.
fn check(source: &str, sentences: &[&str], expected: Expect) {
    let whole = TextRange {
        start: 0,
        end: source.len() as u32,
        page: None,
    };
    check_in(
        source,
        &SourceMeta::default(),
        &[whole],
        sentences,
        expected,
    );
}

fn check_in(
    source: &str,
    meta: &SourceMeta,
    shown: &[TextRange],
    sentences: &[&str],
    expected: Expect,
) {
    let mut there = SourceNumbers::new(source, meta, shown, &[]);
    let convention = Convention::of(&sentences.join("\n"));
    let mut table = String::new();
    for sentence in sentences {
        let mut told = Vec::new();
        for number in numbers(sentence, convention) {
            if !number.is_claim() {
                continue;
            }
            let held = match there.find(&number, &[]) {
                Held::Found(Some(range)) => format!("= {:?}", &source[range]),
                Held::Found(None) => "= its title or date".to_owned(),
                Held::Near(range) => format!("≠ {:?}", there.words(&range)),
                Held::Beyond(range) => format!("beyond {:?}", there.words(&range)),
                Held::Missing => "missing".to_owned(),
            };
            let joined = if number.is_joined() { " joined" } else { "" };
            told.push(format!(
                "{:?}{joined} {held}",
                &sentence[number.range.clone()]
            ));
        }
        if told.is_empty() {
            told.push("no claim".to_owned());
        }
        writeln!(table, "{sentence}\n    {}", told.join("; ")).unwrap();
    }
    expected.assert_eq(&table);
}

#[test]
fn a_number_counts_with_its_unit() {
    check(
        "The index needed 338 GB in total, at a latency of 2.1 ms and a recall of 0.972.",
        &[
            "It takes 338 GB.",
            "It takes 338 gigabytes.",
            "It takes 0.338 TB.",
            "It takes 338 MB.",
            "It takes 345 GB.",
            "It takes 338 GiB.",
            "It takes 2,100 µs.",
            "It takes 2.1 s.",
            "It finds 97.2 % of them.",
            "It finds 97 % of them.",
            "Memory is 338 in all.",
            "It costs $338 or 338 €.",
            "It has 12 cores.",
        ],
        expect![[r#"
            It takes 338 GB.
                "338 GB" = "338 GB"
            It takes 338 gigabytes.
                "338 gigabytes" = "338 GB"
            It takes 0.338 TB.
                "0.338 TB" = "338 GB"
            It takes 338 MB.
                "338 MB" ≠ "The index needed 338 GB in total, at a"
            It takes 345 GB.
                "345 GB" ≠ "The index needed 338 GB in total, at a"
            It takes 338 GiB.
                "338 GiB" ≠ "The index needed 338 GB in total, at a"
            It takes 2,100 µs.
                "2,100 µs" = "2.1 ms"
            It takes 2.1 s.
                "2.1 s" ≠ "at a latency of 2.1 ms and a recall of"
            It finds 97.2 % of them.
                "97.2 %" = "0.972"
            It finds 97 % of them.
                "97 %" ≠ "and a recall of 0.972."
            Memory is 338 in all.
                "338" = "338 GB"
            It costs $338 or 338 €.
                "$338" ≠ "The index needed 338 GB in total, at a"; "338 €" ≠ "The index needed 338 GB in total, at a"
            It has 12 cores.
                "12" missing
        "#]],
    );
}

#[test]
fn thousands_and_decimals_are_read_in_every_usual_way() {
    let sentences = [
        "It served 21,400 queries.",
        "It served 21.400 queries.",
        "It served 21 400 queries.",
        "It served 21\u{202f}400 queries.",
        "It served 21'400 queries.",
        "It served 21_400 queries.",
        "It served 21.4k queries.",
        "It served 21.4 thousand queries.",
        "It served 2.14 × 10^4 queries.",
        "It served 2.14e4 queries.",
        "It served 2.14·10⁴ queries.",
        "It served 214 queries.",
        "It served 21,4 queries.",
    ];
    check(
        "It served 21,400 queries per second.",
        &sentences,
        expect![[r#"
            It served 21,400 queries.
                "21,400" = "21,400"
            It served 21.400 queries.
                "21.400" = "21,400"
            It served 21 400 queries.
                "21 400" joined = "21,400"; "21" ≠ "It served 21,400 queries per second."; "400" missing
            It served 21 400 queries.
                "21\u{202f}400" = "21,400"
            It served 21'400 queries.
                "21'400" = "21,400"
            It served 21_400 queries.
                "21_400" = "21,400"
            It served 21.4k queries.
                "21.4k" = "21,400"
            It served 21.4 thousand queries.
                "21.4 thousand" = "21,400"
            It served 2.14 × 10^4 queries.
                "2.14 × 10^4" = "21,400"
            It served 2.14e4 queries.
                "2.14e4" = "21,400"
            It served 2.14·10⁴ queries.
                "2.14·10⁴" = "21,400"
            It served 214 queries.
                "214" missing
            It served 21,4 queries.
                "21" ≠ "It served 21,400 queries per second."; "4" missing
        "#]],
    );
}

#[test]
fn a_page_may_write_its_numbers_in_another_way_than_its_source() {
    for (there, here) in [
        ("Es kostet 1.234,56 Euro.", "It costs €1,234.56."),
        (
            "Es kostet 0,5 Prozent und 1.234 Euro.",
            "It costs 0.5 % and 1,234 euros.",
        ),
        (
            "It took 1.234 s and 0.5 s.",
            "Es dauerte 1,234 s und 0,5 s.",
        ),
        ("A crore is 1,00,00,000.", "That is 10 million."),
    ] {
        let whole = [TextRange {
            start: 0,
            end: there.len() as u32,
            page: None,
        }];
        let mut source = SourceNumbers::new(there, &SourceMeta::default(), &whole, &[]);
        for number in numbers(here, Convention::of(here)) {
            assert!(
                matches!(source.find(&number, &[]), Held::Found(_)),
                "{there} {:?}",
                &here[number.range.clone()]
            );
        }
    }
}

#[test]
fn a_text_shows_how_it_divides_its_decimals() {
    for (text, convention) in [
        ("0.5 and 1,234", Convention::Point),
        ("1,234.5", Convention::Point),
        ("1,234,567", Convention::Point),
        ("0,5 und 1.234", Convention::Comma),
        ("1.234,5", Convention::Comma),
        ("1,234 and 5.678", Convention::Unknown),
        ("0.5 und 0,5", Convention::Unknown),
        ("nothing", Convention::Unknown),
    ] {
        assert_eq!(Convention::of(text), convention, "{text}");
    }
    // Where the page shows it, one and a quarter is no thousand.
    check(
        "It took 1,250 ms, where others took 0.5 s.",
        &["It took 1.250 ms, and not 0.5 s."],
        expect![[r#"
            It took 1.250 ms, and not 0.5 s.
                "1.250 ms" missing; "0.5 s" = "0.5 s"
        "#]],
    );
}

#[test]
fn numbers_that_name_something_state_nothing() {
    check(
        "Nothing.",
        &[
            "1. The first item stands in Table 3 and in Figures 4 and 5, on p. 12 and pp. 13–15.",
            "See [4], [12] and (2), § 7, #9, S12, GPT-4, IPv6, recall@10, int8 and x^2.",
            "Schritt 2 in Abbildung 3 und Kapitel 4.",
            "At https://example.org/2021/05 and doi:10.1000/182 or www.example.org/7.",
            "On the second day the first 3 minutes passed.",
            "At https://example.org/a-very-long-path/that-goes-on-and-on/and-on-and-on/until-it-has-no-end-at-all/2021.",
            "A 3D plot of 0x1F, 2FA and 3fa9c2.",
            "Rule 110 ms is no label, and Section 8 GB neither.",
            "Two of three found one, twice, in a hundred pages.",
            "Two hundred milliseconds passed, and three times nothing.",
        ],
        expect![[r#"
            1. The first item stands in Table 3 and in Figures 4 and 5, on p. 12 and pp. 13–15.
                no claim
            See [4], [12] and (2), § 7, #9, S12, GPT-4, IPv6, recall@10, int8 and x^2.
                no claim
            Schritt 2 in Abbildung 3 und Kapitel 4.
                no claim
            At https://example.org/2021/05 and doi:10.1000/182 or www.example.org/7.
                no claim
            On the second day the first 3 minutes passed.
                "3 minutes" missing
            At https://example.org/a-very-long-path/that-goes-on-and-on/and-on-and-on/until-it-has-no-end-at-all/2021.
                no claim
            A 3D plot of 0x1F, 2FA and 3fa9c2.
                no claim
            Rule 110 ms is no label, and Section 8 GB neither.
                "110 ms" missing; "8 GB" missing
            Two of three found one, twice, in a hundred pages.
                no claim
            Two hundred milliseconds passed, and three times nothing.
                "Two hundred milliseconds" missing
        "#]],
    );
}

#[test]
fn numbers_in_words_and_in_digits_are_the_same() {
    check(
        "Two drives were used for ninety days, in three hundred and twelve runs; one percent \
         changed, twice as much as before. Zweihundertdreißig Knoten und einundzwanzig Stunden. \
         A million vectors were read in eleven hours. It is threefold, by a factor of 5.",
        &[
            "It has 2 drives.",
            "It ran for 90 days.",
            "There were 312 runs.",
            "A change of 1 %.",
            "That is 2× as much, and 3 times, and 5-fold.",
            "Es sind 230 Knoten und 21 Stunden.",
            "It holds 1,000,000 vectors, or 1M.",
            "It took eleven hours, and not twelve hours.",
            "It is 4x.",
        ],
        expect![[r#"
            It has 2 drives.
                "2" = "Two"
            It ran for 90 days.
                "90 days" = "ninety days"
            There were 312 runs.
                "312" = "three hundred and twelve"
            A change of 1 %.
                "1 %" = "one percent"
            That is 2× as much, and 3 times, and 5-fold.
                "2×" = "twice"; "3 times" = "threefold"; "5-fold" = "5"
            Es sind 230 Knoten und 21 Stunden.
                "230" = "Zweihundertdreißig"; "21 Stunden" = "einundzwanzig Stunden"
            It holds 1,000,000 vectors, or 1M.
                "1,000,000" = "A million"; "1M" = "A million"
            It took eleven hours, and not twelve hours.
                "eleven hours" = "eleven hours"; "twelve hours" ≠ "vectors were read in eleven hours. It is threefold,"
            It is 4x.
                "4x" ≠ "by a factor of 5."
        "#]],
    );
}

#[test]
fn ranges_lists_and_signs_are_read_as_they_are_meant() {
    check(
        "Between 10 and 20 ms, −5 °C, at 30–40 %, then 2.1, 3.2 and 8.9 GB. Recall fell by 0.019. It is 50 ± 2 kg, $5–10 million.",
        &[
            "It takes 10–20 ms.",
            "It takes 10 to 20 ms.",
            "It is -5 °C.",
            "It is 5 °C.",
            "It fell to 5 °C below zero.",
            "A share of 30 %, or 40 %.",
            "A share of 30-40%.",
            "They need 3.2 GB.",
            "They need 2.1 MB.",
            "Recall changed by −0.019.",
            "It weighs 50 kg, give or take 2 kg.",
            "It costs $10 million.",
            "It costs $5 million.",
        ],
        expect![[r#"
            It takes 10–20 ms.
                "10" = "10"; "20 ms" = "20 ms"
            It takes 10 to 20 ms.
                "10" = "10"; "20 ms" = "20 ms"
            It is -5 °C.
                "-5 °C" = "−5 °C"
            It is 5 °C.
                "5 °C" ≠ "10 and 20 ms, −5 °C, at 30–40 %,"
            It fell to 5 °C below zero.
                "5 °C" = "−5 °C"
            A share of 30 %, or 40 %.
                "30 %" = "30"; "40 %" = "40 %"
            A share of 30-40%.
                "30" = "30"; "40%" = "40 %"
            They need 3.2 GB.
                "3.2 GB" = "3.2"
            They need 2.1 MB.
                "2.1 MB" ≠ "at 30–40 %, then 2.1, 3.2 and 8.9"
            Recall changed by −0.019.
                "−0.019" = "0.019"
            It weighs 50 kg, give or take 2 kg.
                "50 kg" = "50"; "2 kg" = "2 kg"
            It costs $10 million.
                "$10 million" = "10 million"
            It costs $5 million.
                "$5 million" = "$5"
        "#]],
    );
}

#[test]
fn no_text_is_too_odd_to_be_read() {
    let long = "9".repeat(10_000);
    for text in [
        "",
        "9",
        "$",
        "-",
        "1,",
        ",1",
        "1.2.3.4.5.6.7.8.9.10.11.12",
        "10^",
        "10^-",
        "3e",
        "3e999",
        "3 × 10",
        "×3",
        "1:",
        "1/",
        "éé1éé",
        "１２３",
        "5\u{b0}",
        "5 \u{b0}",
        "\u{b0}C5",
        "1\u{a0}",
        "April 99",
        "99 April",
        "a million",
        "tausendtausend",
        "undundund",
        long.as_str(),
    ] {
        let found = numbers(text, Convention::of(text));
        let whole = 0..text.len();
        let quoted = std::slice::from_ref(&whole);
        let mut source = SourceNumbers::new(text, &SourceMeta::default(), &[], quoted);
        for number in found {
            assert!(text.get(number.range.clone()).is_some(), "{text}");
            source.find(&number, &[]);
        }
    }
    let many = "1 ms, ".repeat(50_000);
    assert_eq!(numbers(&many, Convention::Unknown).len(), 50_000);
}

#[test]
fn every_text_says_what_it_says() {
    let signs = "1 23 400 0 . , - − – / : $ € % °C × x 10^ ⁶ e m k GB million per s May 2031 st two \
        hundred und tausend ( ) [ ] ** é Ω \u{1f600} S @ fold to";
    let mut pieces: Vec<&str> = signs.split_whitespace().collect();
    pieces.extend([" ", "\u{a0}", "\n"]);
    // Mixed by a generator of its own, so that every run reads the same texts.
    let mut seed = 7u64;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let found = numbers(&text, Convention::of(&text));
        let whole = 0..text.len();
        let quoted = std::slice::from_ref(&whole);
        let mut source = SourceNumbers::new(&text, &SourceMeta::default(), &[], quoted);
        for number in found.iter().filter(|number| number.is_claim()) {
            let held = source.find(number, &[]);
            assert!(
                matches!(held, Held::Found(_)),
                "{text:?} {:?}",
                &text[number.range.clone()]
            );
        }
    }
}
