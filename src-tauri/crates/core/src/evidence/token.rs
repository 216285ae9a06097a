//! Citation tokens: `[S12]`, `[S12: "exact words"]`, and several in one: `[S1: "words"; S2]`.

use std::ops::Range;

use longrein_protocol::SourceId;

/// The longest quote that a token may carry.
pub const QUOTE_LIMIT_BYTES: usize = 2_000;
/// How much of a malformed token is given back.
const EXCERPT_BYTES: usize = 80;
/// The most sources that one token may name.
const SOURCES_LIMIT: usize = 16;

/// What stands in a text where a citation was meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A citation.
    Token(Token),
    /// Something that begins like one.
    Malformed(MalformedToken),
}

/// One pair of brackets with its citations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its bytes, brackets included.
    pub range: Range<usize>,
    /// At least one.
    pub cited: Vec<Cited>,
}

/// One source of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cited {
    /// The source.
    pub source: SourceId,
    /// The words that are said to stand in it.
    pub quote: Option<String>,
}

/// Something that begins like a citation and isn't one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MalformedToken {
    /// Its bytes, as far as they could be told apart.
    pub range: Range<usize>,
    /// Its beginning, for a message.
    pub excerpt: String,
    /// What is wrong with it, as the end of a sentence that begins with the excerpt.
    pub problem: &'static str,
}

/// Every citation token of `text`, in order.
pub fn tokens(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(offset) = text[from..].find(['[', '\u{3010}']) {
        let start = from + offset;
        from = start
            + if text[start..].starts_with('[') {
                1
            } else {
                '\u{3010}'.len_utf8()
            };
        if !begins(&text[from..]) {
            continue;
        }
        match Parser::at(text, start).token() {
            Ok(token) => {
                from = token.range.end;
                found.push(Found::Token(token));
            }
            Err(problem) => {
                let malformed = malformed(text, start, problem);
                from = malformed.range.end;
                found.push(Found::Malformed(malformed));
            }
        }
    }
    found
}

/// Whether what follows a bracket was meant as a source id.
fn begins(after: &str) -> bool {
    let after = after.trim_start();
    let Some(digits) = after.strip_prefix(['S', 's']) else {
        return false;
    };
    digits
        .trim_start_matches([' ', '-', '_', '#'])
        .starts_with(|letter: char| letter.is_ascii_digit())
}

fn malformed(text: &str, start: usize, problem: &'static str) -> MalformedToken {
    let rest = &text[start..];
    let excerpt = &rest[..rest.floor_char_boundary(EXCERPT_BYTES)];
    let end = excerpt
        .find([']', '\u{3011}'])
        .map(|offset| offset + excerpt[offset..].chars().next().map_or(1, char::len_utf8));
    let shown = &excerpt[..end.unwrap_or(excerpt.len())];
    MalformedToken {
        range: start..start + shown.len(),
        excerpt: shown.to_owned(),
        problem,
    }
}

struct Parser<'t> {
    text: &'t str,
    start: usize,
    at: usize,
}

impl<'t> Parser<'t> {
    fn at(text: &'t str, start: usize) -> Self {
        Self {
            text,
            start,
            at: start,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, letter: char) -> bool {
        let there = self.rest().starts_with(letter);
        self.at += if there { letter.len_utf8() } else { 0 };
        there
    }

    fn token(mut self) -> Result<Token, &'static str> {
        if !self.take('[') {
            return Err("has other brackets than [ and ]");
        }
        let mut cited = Vec::new();
        loop {
            self.blanks();
            cited.push(self.cited()?);
            self.blanks();
            if self.take(']') {
                return Ok(Token {
                    range: self.start..self.at,
                    cited,
                });
            }
            if !(self.take(';') || self.take(',')) {
                return Err("is not written like [S1] or [S1: \"exact words\"]");
            }
            if cited.len() == SOURCES_LIMIT {
                return Err("names more than 16 sources");
            }
        }
    }

    fn cited(&mut self) -> Result<Cited, &'static str> {
        let rest = self.rest();
        if !rest.starts_with('S') {
            return Err("has no source id like S1 where one is expected");
        }
        let digits = rest[1..]
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(rest.len() - 1);
        let source = rest[..=digits]
            .parse()
            .map_err(|_| "has no source id like S1 where one is expected")?;
        self.at += digits + 1;
        self.blanks();
        if !self.take(':') {
            return Ok(Cited {
                source,
                quote: None,
            });
        }
        self.blanks();
        self.quote().map(|quote| Cited {
            source,
            quote: Some(quote),
        })
    }

    /// Quoted words. They may hold quotes themselves: they end with a quote after which the token
    /// ends or goes on with another source.
    fn quote(&mut self) -> Result<String, &'static str> {
        let mut letters = self.rest().chars();
        let closing: &[char] = match letters.next() {
            Some('"' | '\u{201c}' | '\u{201e}' | '\u{ab}') => {
                &['"', '\u{201d}', '\u{201c}', '\u{bb}']
            }
            Some('\'' | '\u{2018}' | '\u{201a}') => &['\'', '\u{2019}', '\u{2018}'],
            _ => return Err("has no quotation mark after the colon"),
        };
        let quoted = letters.as_str();
        let end = quoted
            .match_indices(closing)
            .find(|(offset, mark)| ends_quote(&quoted[offset + mark.len()..]));
        let Some((end, mark)) = end else {
            return Err("has words without an end: they end with a quotation mark and ]");
        };
        if end > QUOTE_LIMIT_BYTES {
            return Err("quotes more than 2000 bytes");
        }
        self.at = self.text.len() - quoted.len() + end + mark.len();
        let words = quoted[..end].trim();
        if words.is_empty() {
            Err("quotes no words")
        } else {
            Ok(words.to_owned())
        }
    }
}

fn ends_quote(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with(']') || after.strip_prefix([';', ',']).is_some_and(begins)
}
