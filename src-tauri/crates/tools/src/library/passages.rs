//! How a text is divided into passages: at pages, headings, paragraphs and sentences, in that order.

use std::ops::Range;

use longrein_core::evidence::{page_at, sentences};
use longrein_protocol::source::TextRange;

/// A passage that has so many words takes up no further paragraph.
const WORDS_ENOUGH: usize = 120;
/// A passage never has more words.
const WORDS_LIMIT: usize = 200;
/// The most passages of one document.
const PASSAGES_LIMIT: usize = 20_000;

/// The passages of `text`, without its `hidden` parts. `paged`: form feeds divide pages.
pub(super) fn passages(text: &str, hidden: &[Range<usize>], paged: bool) -> Vec<TextRange> {
    let mut passages: Vec<Range<usize>> = Vec::new();
    let mut pages = Vec::new();
    for page in pages_of(text, paged) {
        let before = passages.len();
        for part in visible(page, hidden) {
            divide(text, part, &mut passages);
        }
        if paged {
            let number = passages.last().map(|last| page_at(text, last.start));
            pages.extend(std::iter::repeat_n(number, passages.len() - before));
        }
        if passages.len() >= PASSAGES_LIMIT {
            passages.truncate(PASSAGES_LIMIT);
            break;
        }
    }
    let pages = pages.into_iter().chain(std::iter::repeat(None));
    passages
        .into_iter()
        .zip(pages)
        .filter(|(range, _)| text[range.clone()].contains(char::is_alphanumeric))
        .map(|(range, page)| TextRange {
            start: offset(range.start),
            end: offset(range.end),
            page,
        })
        .collect()
}

/// A text is never longer than a `u32` can say (see `TEXT_LIMIT_BYTES`).
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn pages_of(text: &str, paged: bool) -> Vec<Range<usize>> {
    if !paged {
        return std::iter::once(0..text.len()).collect();
    }
    let mut start = 0;
    text.split('\u{c}')
        .map(|page| {
            let range = start..start + page.len();
            start = range.end + 1;
            range
        })
        .collect()
}

/// The parts of `page` outside of `hidden`, whose ranges are in order.
fn visible(page: Range<usize>, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = page.start;
    for gap in hidden
        .iter()
        .filter(|gap| gap.start < page.end && gap.end > page.start)
    {
        parts.push(start..gap.start.max(start));
        start = gap.end.max(start).min(page.end);
    }
    parts.push(start..page.end);
    parts
}

/// One passage in the making.
struct Making {
    range: Range<usize>,
    words: usize,
}

fn divide(text: &str, part: Range<usize>, passages: &mut Vec<Range<usize>>) {
    let mut making: Option<Making> = None;
    for piece in pieces(text, part) {
        let words = words_in(&text[piece.clone()]);
        let fits = making.as_ref().is_some_and(|making| {
            making.words < WORDS_ENOUGH
                && making.words + words <= WORDS_LIMIT
                && !begins_section(&text[piece.clone()], &text[making.range.clone()])
        });
        match &mut making {
            Some(making) if fits => {
                making.range.end = piece.end;
                making.words += words;
            }
            _ => {
                passages.extend(making.take().map(|making| making.range));
                making = Some(Making {
                    range: piece,
                    words,
                });
            }
        }
    }
    passages.extend(making.map(|making| making.range));
}

/// A heading begins a new passage, unless what stands before it is only headings itself.
fn begins_section(piece: &str, before: &str) -> bool {
    piece.starts_with('#')
        && before
            .lines()
            .any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// Paragraphs; of one that is too long, its sentences; of a sentence that is too long, runs of words.
fn pieces(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for paragraph in paragraphs(text, part) {
        if words_in(&text[paragraph.clone()]) <= WORDS_LIMIT {
            pieces.push(paragraph);
            continue;
        }
        for sentence in sentences(&text[paragraph.clone()]) {
            let sentence = paragraph.start + sentence.start..paragraph.start + sentence.end;
            runs(text, sentence, &mut pieces);
        }
    }
    pieces
}

fn paragraphs(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut paragraphs = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut offset = part.start;
    for line in text[part].split_inclusive('\n') {
        let end = offset + line.trim_end().len();
        let start = offset + (line.len() - line.trim_start().len());
        if start >= end {
            paragraphs.extend(open.take());
        } else {
            if line.starts_with('#') {
                paragraphs.extend(open.take());
            }
            open = Some(open.map_or(start, |open| open.start)..end);
        }
        offset += line.len();
    }
    paragraphs.extend(open);
    paragraphs
}

/// A line of a language that divides no words may hold a whole page, so bytes count, too.
const RUN_LIMIT_BYTES: usize = 3_000;

fn runs(text: &str, sentence: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    let mut start = sentence.start;
    while start < sentence.end {
        // Cut first: looking through all that is left for each run would never end.
        let run = run(crate::show::cut(
            &text[start..sentence.end],
            RUN_LIMIT_BYTES,
        ));
        pieces.push(start..start + run.trim_end().len());
        start += run.len();
    }
}

/// The words of `head` that one run holds.
fn run(head: &str) -> &str {
    debug_assert!(head.len() <= RUN_LIMIT_BYTES, "a run looks no further");
    let end = head
        .split_whitespace()
        .nth(WORDS_LIMIT)
        // Both slices lie in one text, so their distance is the offset.
        .map_or(head.len(), |word| word.as_ptr() as usize - head.as_ptr() as usize);
    &head[..end]
}

fn words_in(text: &str) -> usize {
    // A text without blanks counts by its length.
    text.split_whitespace()
        .count()
        .max(text.len() / (RUN_LIMIT_BYTES / WORDS_LIMIT))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, hidden: &[Range<usize>], paged: bool, expected: Expect) {
        let table: String = passages(text, hidden, paged)
            .iter()
            .map(|range| {
                let words = &text[range.start as usize..range.end as usize];
                let page = range
                    .page
                    .map(|page| format!(" p{page}"))
                    .unwrap_or_default();
                let brief = if words.len() > 60 {
                    format!(
                        "{} … {}",
                        crate::show::cut(words, 24),
                        &words[words.len() - 12..]
                    )
                } else {
                    words.to_owned()
                };
                format!(
                    "{} words{page}: {brief:?}\n",
                    words.split_whitespace().count()
                )
            })
            .collect();
        expected.assert_eq(&table);
    }

    #[test]
    fn short_paragraphs_are_put_together_and_headings_begin_anew() {
        let text = "# Title\n\nIntro.\n\n## One\n\nFirst words.\n\nMore words.\n# Two\nLast.\n";
        check(
            text,
            &[],
            false,
            expect![[r###"
            3 words: "# Title\n\nIntro."
            6 words: "## One\n\nFirst words.\n\nMore words."
            3 words: "# Two\nLast."
        "###]],
        );
    }

    #[test]
    fn a_long_paragraph_is_divided_between_sentences() {
        let text = "This sentence has exactly eight words in it. ".repeat(60);
        check(
            &text,
            &[],
            false,
            expect![[r#"
            120 words: "This sentence has exactl … words in it."
            120 words: "This sentence has exactl … words in it."
            120 words: "This sentence has exactl … words in it."
            120 words: "This sentence has exactl … words in it."
        "#]],
        );
    }

    #[test]
    fn a_text_without_any_end_is_divided_all_the_same() {
        check(
            &"word ".repeat(450),
            &[],
            false,
            expect![[r#"
            200 words: "word word word word word … rd word word"
            200 words: "word word word word word … rd word word"
            50 words: "word word word word word … rd word word"
        "#]],
        );
        let ideographs = "\u{6587}".repeat(2_500);
        check(
            &ideographs,
            &[],
            false,
            expect![[r#"
            1 words: "文文文文文文文文 … 文文文文"
            1 words: "文文文文文文文文 … 文文文文"
            1 words: "文文文文文文文文 … 文文文文"
        "#]],
        );
    }

    #[test]
    fn a_line_of_two_megabytes_is_looked_through_a_run_at_a_time() {
        let line = "x".repeat(2_000_000);
        let mut pieces = Vec::new();
        // Each run asserts that it was given no more than it may hold.
        runs(&line, 0..line.len(), &mut pieces);
        assert_eq!(pieces.len(), line.len().div_ceil(RUN_LIMIT_BYTES));
        assert_eq!(pieces.last().unwrap().end, line.len());
        assert_eq!(passages(&line, &[], false).len(), pieces.len());
    }

    #[test]
    fn a_passage_stays_on_its_page_and_out_of_hidden_parts() {
        let text = "One on page one.\u{c}\u{c}Three begins.\n\nReferences\n[1] Hidden.";
        check(
            text,
            &[31..42, 42..text.len()],
            true,
            expect![[r#"
            4 words p1: "One on page one."
            2 words p3: "Three begins."
        "#]],
        );
    }
}
