use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;

/// One line per case: the quote, the state, and the bytes of the source that were found.
fn check(source: &str, quotes: &[&str], expected: Expect) {
    let mut text = SourceText::new(source);
    let mut table = String::new();
    for quote in quotes {
        match text.find(quote) {
            QuoteMatch::Verbatim { range } => {
                writeln!(table, "{quote:?}: verbatim {:?}", &source[range])
            }
            QuoteMatch::Near {
                range,
                difference,
                ratio,
            } => {
                assert!(source.is_char_boundary(range.start) && source.is_char_boundary(range.end));
                writeln!(table, "{quote:?}: near {ratio:.2} {difference:?}")
            }
            QuoteMatch::NotFound => writeln!(table, "{quote:?}: not found"),
        }
        .unwrap();
    }
    expected.assert_eq(&table);
}

#[test]
fn white_space_and_typographic_marks_do_not_count() {
    check(
        "He  said:\n\u{201c}It\u{2019}s a well\u{2011}known ef\u{ad}fect\u{201d}\u{a0}\u{2014} twice\u{2026}",
        &[
            "He said: \"It's a well-known effect\" - twice...",
            "said:\u{a0}\u{ab}It`s",
            "effect\u{201d} \u{2013} twice",
            "  twice  ",
        ],
        expect![[r#"
            "He said: \"It's a well-known effect\" - twice...": verbatim "He  said:\n“It’s a well‑known ef\u{ad}fect”\u{a0}— twice"
            "said:\u{a0}«It`s": verbatim "said:\n“It’s"
            "effect” – twice": verbatim "ef\u{ad}fect”\u{a0}— twice"
            "  twice  ": verbatim "twice"
        "#]],
    );
}

#[test]
fn ligatures_wide_forms_and_accents_typed_apart_are_the_same_letters() {
    check(
        "The e\u{fb03}cient \u{fb01}lter of Andre\u{301} costs \u{ff11}\u{ff10} \u{20ac}, x\u{b2} more.",
        &[
            "efficient filter of Andr\u{e9}",
            "costs 10 \u{20ac}, x2 more",
            "fil",
            "filter",
        ],
        expect![[r#"
            "efficient filter of André": verbatim "eﬃcient ﬁlter of Andre\u{301}"
            "costs 10 €, x2 more": verbatim "costs １０ €, x² more"
            "fil": not found
            "filter": verbatim "ﬁlter"
        "#]],
    );
}

#[test]
fn a_hyphen_at_the_end_of_a_line_may_belong_to_its_word_or_not() {
    check(
        "An exam-\nple of a well-\nknown and state-of-the-\n  art pre-\nand post-processing step in in-\u{c}dexing; resign.",
        &[
            "An example of a well-known and state-of-the-art pre- and post-processing step in indexing",
            "An exam-ple of a wellknown",
            "an exam- ple",
            "exam- ple of",
            "post processing step",
            "re-sign",
            "state of the art",
        ],
        expect![[r#"
            "An example of a well-known and state-of-the-art pre- and post-processing step in indexing": verbatim "An exam-\nple of a well-\nknown and state-of-the-\n  art pre-\nand post-processing step in in-\u{c}dexing"
            "An exam-ple of a wellknown": verbatim "An exam-\nple of a well-\nknown"
            "an exam- ple": not found
            "exam- ple of": verbatim "exam-\nple of"
            "post processing step": not found
            "re-sign": not found
            "state of the art": not found
        "#]],
    );
}

#[test]
fn a_quote_of_few_words_and_few_letters_is_too_short_to_show_anything() {
    for quote in ["the", "a graph", "0.965", "... of \u{2014} a", "fast index"] {
        assert!(is_too_short(quote), "{quote}");
    }
    for quote in [
        "0.965 at 8.9 ms",
        "of a graph",
        "hierarchical graph",
        "hyperparameters",
    ] {
        assert!(!is_too_short(quote), "{quote}");
    }
}

#[test]
fn letters_digits_case_and_order_always_count() {
    check(
        "Recall rose from 0.91 to 0.97 when the index was rebuilt every night, which nobody had expected.",
        &[
            "Recall rose from 0.91 to 0.97.",
            "recall rose from 0.91 to 0.97",
            "Recall rose from 0.91 to 0.98 when the index was rebuilt",
            "recall fell from 0.91 to 0.97 when the index was rebuilt",
            "when the index was rebuilt every single night",
            "when the index was never rebuilt",
            "The index rose to recall",
            "Bananas are rich in potassium and taste good",
            "ecall rose",
            "...which nobody had expected\u{2026}",
            "\u{2026}",
            "",
        ],
        expect![[r#"
            "Recall rose from 0.91 to 0.97.": verbatim "Recall rose from 0.91 to 0.97"
            "recall rose from 0.91 to 0.97": near 0.96 "Recall rose from 0.91 to 0.97"
            "Recall rose from 0.91 to 0.98 when the index was rebuilt": near 0.91 "Recall rose from 0.91 to 0.97 when the index was rebuilt"
            "recall fell from 0.91 to 0.97 when the index was rebuilt": near 0.89 "Recall rose from 0.91 to 0.97 when the index was rebuilt"
            "when the index was rebuilt every single night": near 0.84 "when the index was rebuilt every night,"
            "when the index was never rebuilt": near 0.83 "when the index was rebuilt"
            "The index rose to recall": not found
            "Bananas are rich in potassium and taste good": not found
            "ecall rose": not found
            "...which nobody had expected…": verbatim "which nobody had expected"
            "…": not found
            "": not found
        "#]],
    );
}

#[test]
fn a_quote_is_found_at_the_bytes_of_the_source() {
    let source = "\u{feff}\u{fb01}rst  second\r\nthird\u{ad} \u{201e}fourth\u{201c}";
    let QuoteMatch::Verbatim { range } = find_quote("first second third", source) else {
        panic!()
    };
    assert_eq!(&source[range], "\u{fb01}rst  second\r\nthird");
    let QuoteMatch::Verbatim { range } = find_quote("\"fourth\"", source) else {
        panic!()
    };
    assert_eq!(&source[range], "\u{201e}fourth\u{201c}");
}

#[test]
fn folding_is_stable_and_maps_every_byte_back() {
    let source = "  A\u{301} \u{fb03}\u{2026}\u{200b} exam-\nple \u{1100}\u{1161}\u{11a8} \u{1f600}\u{fe0f} \u{b4}x \t ";
    let folded = fold(source);
    expect![[r#"
        "Á ffi... example 각 😀 'x"
    "#]]
    .assert_debug_eq(&folded.text());
    assert_eq!(fold(folded.text()).text(), folded.text());
    for (start, letter) in folded.text().char_indices() {
        let range = folded.source_range(start..start + letter.len_utf8());
        assert!(
            !range.is_empty() && source.get(range.clone()).is_some(),
            "{start}: {range:?}"
        );
    }
}

#[test]
fn the_closest_place_is_named_in_a_long_text() {
    let filler =
        "Nothing of interest is said in this sentence about any topic at all. ".repeat(20_000);
    let source =
        format!("{filler}The graph index needs three times the memory of the flat one. {filler}");
    let quote = "The graph index needs four times the memory of the flat one";
    expect![[r#"
        Some(
            "The graph index needs three times the memory of the flat one.",
        )
    "#]]
    .assert_debug_eq(&closest_words(quote, &source));
    assert_eq!(
        closest_words("graph index", &source),
        None,
        "two words have no neighbours"
    );
}

#[test]
fn pages_are_counted_by_form_feeds() {
    let text = "one\u{c}two\u{c}\u{c}four";
    let pages: Vec<u32> = [0, 3, 4, 8, 9, 400]
        .map(|offset| page_at(text, offset))
        .into();
    assert_eq!(pages, [1, 1, 2, 3, 4, 4]);
}

fn check_tokens(text: &str, expected: Expect) {
    let mut table = String::new();
    for found in tokens(text) {
        match found {
            Found::Token(token) => {
                let cited: Vec<String> = token
                    .cited
                    .iter()
                    .map(|cited| format!("{} {:?}", cited.source, cited.quote))
                    .collect();
                writeln!(table, "{:?}: {}", &text[token.range], cited.join(", "))
            }
            Found::Malformed(token) => {
                assert!(text[token.range.clone()].starts_with(&token.excerpt));
                writeln!(table, "{:?} {}", token.excerpt, token.problem)
            }
        }
        .unwrap();
    }
    expected.assert_eq(&table);
}

#[test]
fn citations_are_read_in_every_form_that_the_model_is_taught() {
    check_tokens(
        "One [S1]. Two [S12: \"exact words\"][S2]. Three [ S3: \u{201c}curly \u{201d} ones\u{201d} ; S4]. \
         Four [S5:'single'], five [S6: \"a \"quoted\" word\"; S7: \u{ab}x\u{bb}], six [S8, S9].",
        expect![[r#"
            "[S1]": S1 None
            "[S12: \"exact words\"]": S12 Some("exact words")
            "[S2]": S2 None
            "[ S3: “curly ” ones” ; S4]": S3 Some("curly ” ones"), S4 None
            "[S5:'single']": S5 Some("single")
            "[S6: \"a \"quoted\" word\"; S7: «x»]": S6 Some("a \"quoted\" word"), S7 Some("x")
            "[S8, S9]": S8 None, S9 None
        "#]],
    );
}

#[test]
fn brackets_that_are_no_citations_are_left_alone() {
    check_tokens(
        "An [aside], [SIC], [Section 3], a[5], [[x]], [S], [see S1] and [",
        expect![[r#""#]],
    );
}

#[test]
fn what_was_meant_as_a_citation_is_told_with_its_fault() {
    check_tokens(
        "[s1] [S 2] [S-3] [S0] [S99999999999] [S1 p. 4] [S1: exact words] [S1: \"no end] [S1: \"\"] \u{3010}S1\u{3011} [S1; 2] [S1",
        expect![[r#"
            "[s1]" has no source id like S1 where one is expected
            "[S 2]" has no source id like S1 where one is expected
            "[S-3]" has no source id like S1 where one is expected
            "[S0]" has no source id like S1 where one is expected
            "[S99999999999]" has no source id like S1 where one is expected
            "[S1 p. 4]" is not written like [S1] or [S1: "exact words"]
            "[S1: exact words]" has no quotation mark after the colon
            "[S1: \"no end] [S1: \"\"]": S1 Some("no end] [S1: \"")
            "【S1】" has other brackets than [ and ]
            "[S1; 2]" has no source id like S1 where one is expected
            "[S1" is not written like [S1] or [S1: "exact words"]
        "#]],
    );
    let long = format!("[S1: \"{}\"]", "word ".repeat(500));
    let [Found::Malformed(token)] = &tokens(&long)[..] else {
        panic!("{:?}", tokens(&long))
    };
    assert_eq!(token.problem, "quotes more than 2000 bytes");
}

#[test]
fn a_sentence_ends_where_a_reader_would_say_so() {
    let text = "Dr. Smith et al. (2021) measured 3.5 ms. It was fast! Was it? \u{201c}Yes.\u{201d} See Fig. 3, i.e. the \
        plot by J. Doe... Then it ended\n\nA heading without a stop\n\nThe end";
    let shown: Vec<&str> = sentences(text)
        .into_iter()
        .map(|range| &text[range])
        .collect();
    expect![[r#"
        [
            "Dr. Smith et al. (2021) measured 3.5 ms.",
            "It was fast!",
            "Was it?",
            "“Yes.”",
            "See Fig. 3, i.e. the plot by J. Doe...",
            "Then it ended",
            "A heading without a stop",
            "The end",
        ]
    "#]]
    .assert_debug_eq(&shown);
}

#[test]
fn a_line_of_dots_ends_no_sentence_and_is_followed_a_little_only() {
    let text = format!("It began{} and went on. It ended.", ".".repeat(100_000));
    assert_eq!(sentences(&text).len(), 2);
}
