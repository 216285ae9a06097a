//! Where sentences end.

use std::ops::Range;

/// Words after which a full stop ends no sentence, in lower case.
const ABBREVIATIONS: &[&str] = &[
    "al", "approx", "bzw", "ca", "cf", "ch", "corp", "dept", "dr", "e.g", "ed", "eds", "eq", "etc",
    "fig", "figs", "i.e", "inc", "jr", "ltd", "mr", "mrs", "nr", "p", "pp", "prof", "resp", "sec",
    "sr", "tab", "usw", "vol", "vs", "z.b",
];

/// How far the marks that close a sentence are followed: a line of nothing but dots ends none.
const CLOSING_LIMIT_BYTES: usize = 64;

/// The sentences of a text as byte ranges without the white space around them. A blank line ends a
/// sentence, too.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((offset, letter)) = letters.next() {
        let ends = match letter {
            '.' | '!' | '?' | '\u{2026}' => sentence_end(text, start, offset, letter),
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => Some(offset + letter.len_utf8()),
            '\n' if blank_line(&text[offset + 1..]) => Some(offset),
            _ => None,
        };
        if let Some(end) = ends {
            push(&mut found, text, start..end);
            start = end;
            while letters.next_if(|(next, _)| *next < end).is_some() {}
        }
    }
    push(&mut found, text, start..text.len());
    found
}

fn push(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let sentence = &text[range.clone()];
    let trimmed = sentence.trim();
    if !trimmed.is_empty() {
        let start = range.start + (sentence.len() - sentence.trim_start().len());
        found.push(start..start + trimmed.len());
    }
}

fn blank_line(after: &str) -> bool {
    after
        .trim_start_matches([' ', '\t', '\r'])
        .starts_with('\n')
}

/// Where the sentence ends that has a mark at `offset`; `None` when the mark ends none.
fn sentence_end(text: &str, start: usize, offset: usize, mark: char) -> Option<usize> {
    let after = &text[offset + mark.len_utf8()..];
    let near = &after[..after.floor_char_boundary(CLOSING_LIMIT_BYTES)];
    let marks = near.len()
        - near
            .trim_start_matches([
                '.', '!', '?', '"', '\'', '\u{201d}', '\u{2019}', '\u{bb}', ')', ']',
            ])
            .len();
    let closed = &after[marks..];
    let next = closed.trim_start();
    let end = text.len() - closed.len();
    if next.is_empty() {
        return Some(end);
    }
    if next.len() == closed.len() || next.starts_with(char::is_lowercase) {
        return None;
    }
    (mark != '.' || !is_abbreviation(&text[start..offset])).then_some(end)
}

fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit([' ', '\n', '\t', '\u{a0}', '(', '['])
        .next()
        .unwrap_or(before);
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}
