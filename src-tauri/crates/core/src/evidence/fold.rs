//! Folding of a text, with a map back to the bytes it came from.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// A folded text and where each part of it came from.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    text: String,
    spans: Vec<Span>,
}

/// From `folded` on, up to the next span, the text comes from `source` on.
#[derive(Clone, Copy, Debug)]
struct Span {
    folded: usize,
    source: usize,
    /// The bytes that were folded as one; `None` where each byte stands for itself.
    folded_as_one: Option<usize>,
}

/// What becomes of hyphens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hyphens {
    /// One at the end of a line joins the halves of its word.
    Join,
    /// One at the end of a line becomes [`LINE_END`].
    Mark,
    /// Every one between letters is left out, with the white space that follows it.
    Omit,
}

/// Stands for a hyphen at the end of a line; no folded text holds it otherwise.
pub(super) const LINE_END: char = '\0';

/// Folds white space (a run becomes one blank, none at the ends), soft hyphens and hyphens at the
/// ends of lines, invisible characters, forms of quotes and dashes, and what NFKC folds (ligatures,
/// wide forms, accents typed apart).
pub fn fold(text: &str) -> Folded {
    fold_with(text, Hyphens::Join)
}

pub(super) fn fold_with(text: &str, hyphens: Hyphens) -> Folded {
    let mut folding = Folding {
        folded: Folded {
            text: String::with_capacity(text.len()),
            spans: Vec::new(),
        },
        hyphens,
    };
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let offset = text.len() - rest.len();
        let used = folding.step(letter, rest, offset);
        rest = &rest[used..];
    }
    let mut folded = folding.folded;
    if folded.text.ends_with(' ') {
        folded.text.pop();
    }
    folded
}

impl Folded {
    /// The folded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the source that `range` of the folded text came from.
    pub fn source_range(&self, range: Range<usize>) -> Range<usize> {
        if self.spans.is_empty() || range.is_empty() {
            return 0..0;
        }
        let first = self.span_at(range.start);
        let start = match first.folded_as_one {
            None => first.source + (range.start - first.folded),
            Some(_) => first.source,
        };
        let last = self.span_at(range.end - 1);
        let end = match last.folded_as_one {
            None => last.source + (range.end - last.folded),
            Some(bytes) => last.source + bytes,
        };
        start..end
    }

    fn span_at(&self, folded: usize) -> Span {
        let after = self.spans.partition_point(|span| span.folded <= folded);
        self.spans[after.saturating_sub(1)]
    }
}

struct Folding {
    folded: Folded,
    hyphens: Hyphens,
}

impl Folding {
    /// Folds what stands at the beginning of `rest` and returns how many bytes that was.
    fn step(&mut self, letter: char, rest: &str, offset: usize) -> usize {
        let length = letter.len_utf8();
        if letter.is_ascii_alphanumeric() && rest.as_bytes().get(length).is_none_or(u8::is_ascii) {
            self.as_it_is(letter, offset);
            return length;
        }
        if letter.is_whitespace() {
            return self.white_space(rest, offset);
        }
        if is_hyphen(letter)
            && let Some(used) = self.hyphen(letter, rest, offset)
        {
            return used;
        }
        if is_invisible(letter) {
            return length;
        }
        if let Some(plain) = typographic(letter) {
            self.as_one(plain, offset, length);
            return length;
        }
        let cluster = cluster(rest);
        let normal: String = cluster.nfkc().flat_map(plain_or_same).collect();
        if normal == cluster {
            self.as_it_is_all(cluster, offset);
        } else {
            // NFKC may bring blanks of its own, as for a free-standing accent.
            self.as_one(normal.trim(), offset, cluster.len());
        }
        cluster.len()
    }

    fn white_space(&mut self, rest: &str, offset: usize) -> usize {
        let used = rest.len() - rest.trim_start_matches(is_blank).len();
        let text = &self.folded.text;
        if text.is_empty() || text.ends_with(' ') {
            return used;
        }
        if used == 1 {
            self.as_it_is(' ', offset);
        } else {
            self.as_one(" ", offset, used);
        }
        used
    }

    /// Handles a hyphen between two letters; `None` when it is to be kept as it is.
    fn hyphen(&mut self, letter: char, rest: &str, offset: usize) -> Option<usize> {
        let soft = letter == '\u{ad}';
        let after = &rest[letter.len_utf8()..];
        let next = after.trim_start_matches(is_blank);
        let blank = &after[..after.len() - next.len()];
        let between = self.folded.text.ends_with(char::is_alphabetic)
            && next.starts_with(char::is_alphabetic);
        let at_line_end = between && blank.contains(is_line_end);
        let used = rest.len() - next.len();
        match self.hyphens {
            Hyphens::Omit if between && (at_line_end || !soft || blank.is_empty()) => Some(used),
            Hyphens::Join if at_line_end => Some(used),
            Hyphens::Mark if at_line_end => {
                self.as_one(LINE_END.encode_utf8(&mut [0; 4]), offset, used);
                Some(used)
            }
            _ if soft => Some(letter.len_utf8()),
            _ => None,
        }
    }

    fn as_it_is(&mut self, letter: char, source: usize) {
        self.as_it_is_all(letter.encode_utf8(&mut [0; 4]), source);
    }

    fn as_it_is_all(&mut self, text: &str, source: usize) {
        let folded = self.folded.text.len();
        let goes_on = self.folded.spans.last().is_some_and(|last| {
            last.folded_as_one.is_none() && last.source + (folded - last.folded) == source
        });
        if !goes_on {
            self.folded.spans.push(Span {
                folded,
                source,
                folded_as_one: None,
            });
        }
        self.folded.text.push_str(text);
    }

    fn as_one(&mut self, text: &str, source: usize, bytes: usize) {
        if text.is_empty() {
            return;
        }
        let folded = self.folded.text.len();
        self.folded.spans.push(Span {
            folded,
            source,
            folded_as_one: Some(bytes),
        });
        self.folded.text.push_str(text);
    }
}

/// The first character with the marks and syllable parts that belong to it.
fn cluster(rest: &str) -> &str {
    let mut letters = rest.char_indices();
    letters.next();
    let end = letters
        .find(|(_, letter)| !joins(*letter))
        .map_or(rest.len(), |(offset, _)| offset);
    &rest[..end]
}

fn joins(letter: char) -> bool {
    canonical_combining_class(letter) != 0 || matches!(letter, '\u{1160}'..='\u{11ff}')
}

/// White space, and what is invisible within it.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || is_invisible(letter)
}

fn is_line_end(letter: char) -> bool {
    matches!(
        letter,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_hyphen(letter: char) -> bool {
    matches!(letter, '-' | '\u{ad}' | '\u{2010}' | '\u{2011}')
}

/// Joiners, marks of direction and control characters: nobody reads them.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
        || (letter.is_control() && !letter.is_whitespace())
}

/// The plain form of a typographic mark.
fn typographic(letter: char) -> Option<&'static str> {
    match letter {
        '\u{2018}'..='\u{201b}'
        | '\u{2032}'
        | '\u{2035}'
        | '\u{2039}'
        | '\u{203a}'
        | '`'
        | '\u{b4}' => Some("'"),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2036}' | '\u{ab}' | '\u{bb}' => Some("\""),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => Some("-"),
        '\u{2026}' => Some("..."),
        _ => None,
    }
}

fn plain_or_same(letter: char) -> impl Iterator<Item = char> {
    let plain = typographic(letter);
    let same = plain.is_none().then_some(letter);
    plain.unwrap_or_default().chars().chain(same)
}
