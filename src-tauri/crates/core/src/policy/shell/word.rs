//! Words of a command, as far as they are known before it runs.

use crate::policy::hosts::UNKNOWN;

/// The most words of a command that are recorded.
pub(super) const WORDS_LIMIT: usize = 32;
/// The longest word that is recorded whole.
const WORD_LIMIT_BYTES: usize = 256;

/// One word of a simple command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Word {
    /// What the program is given, with [`UNKNOWN`] for what is only known when it runs.
    pub(super) text: String,
    /// Whether all of it is known.
    pub(super) is_literal: bool,
    /// As it is written, where not all of it is known.
    written: String,
    /// How many bytes at the beginning of `text` were neither quoted nor expanded.
    bare: usize,
}

impl Word {
    /// A word that is known.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_literal: true,
            written: String::new(),
            bare: 0,
        }
    }

    /// A word of which nothing is known.
    pub(super) fn unknown(written: &str) -> Self {
        Self {
            text: UNKNOWN.to_string(),
            is_literal: false,
            written: written.to_owned(),
            bare: 0,
        }
    }

    /// The same word, but what it holds will be replaced.
    pub(super) fn replaced(&self) -> Self {
        Self::unknown(&format!("$({})", self.shown()))
    }

    /// What stands behind its first bytes.
    pub(super) fn after(&self, bytes: usize) -> Self {
        Self {
            text: self.text.get(bytes..).unwrap_or_default().to_owned(),
            is_literal: self.is_literal,
            written: self.written.clone(),
            bare: 0,
        }
    }

    /// Whether it begins with something that is not known.
    pub(super) fn is_unknown_from_start(&self) -> bool {
        !self.is_literal && self.text.starts_with(UNKNOWN)
    }

    /// The variable that the word sets, when it stands before a command: `A=b`.
    pub(super) fn assigns(&self) -> Option<&str> {
        let at = self.text.find('=').filter(|at| *at < self.bare)?;
        let name = self.text[..at].trim_end_matches('+');
        let name = name.split('[').next().unwrap_or(name);
        let mut letters = name.chars();
        let begins = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        (begins && goes_on).then_some(name)
    }

    /// As a shell would have it written: plain letters as they are, other text in single quotes,
    /// and what is not known as it stood in the command, never in single quotes. So one form is
    /// one meaning.
    pub(super) fn shown(&self) -> String {
        if self.is_literal {
            return quoted(&self.text);
        }
        let written = self.written.trim_start_matches('\'');
        let cut = written.floor_char_boundary(WORD_LIMIT_BYTES.min(written.len()));
        let lead = if written.len() < self.written.len() {
            "\"\"'"
        } else {
            ""
        };
        let rest = if cut < written.len() { "…" } else { "" };
        let shown = format!("{lead}{}{rest}", &written[..cut]);
        // What is shown must not look like something known.
        if is_known(&shown) {
            format!("$({shown})")
        } else {
            shown
        }
    }
}

/// Whether a recorded word is known: see [`Word::shown`].
pub(super) fn is_known(shown: &str) -> bool {
    (shown.starts_with('\'') && shown.ends_with('\'')) || shown.chars().all(is_plain)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_@%+=:,./->[".contains(letter)
}

/// A text as one word.
pub(super) fn quoted(text: &str) -> String {
    if text.len() > WORD_LIMIT_BYTES {
        // No rule is that long, so that it is only shown.
        let cut = text.floor_char_boundary(WORD_LIMIT_BYTES);
        return format!("\"{}…\"", &text[..cut]);
    }
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A word while it is put together.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    text: String,
    /// Which bytes of `text` were neither quoted nor expanded.
    bare: Vec<bool>,
    is_unknown: bool,
}

impl Pieces {
    pub(super) fn push(&mut self, letter: char, bare: bool) {
        self.text.push(letter);
        self.bare.resize(self.text.len(), bare);
    }

    pub(super) fn push_quoted(&mut self, text: &str) {
        self.text.push_str(text);
        self.bare.resize(self.text.len(), false);
    }

    /// Something that is only known when the command runs.
    pub(super) fn push_unknown(&mut self) {
        self.is_unknown = true;
        self.push(UNKNOWN, false);
    }

    /// Unquoted text: a backslash keeps the next letter as it is.
    pub(super) fn push_bare(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    // A line goes on.
                    Some('\n') => {}
                    Some(kept) => self.push(kept, false),
                    None => self.push('\\', false),
                },
                letter => self.push(letter, true),
            }
        }
    }

    /// The word, which stood in the command as `written`.
    pub(super) fn finish(self, written: &str) -> Word {
        let is_literal = !self.is_unknown && !self.is_expanded();
        let bare = self.bare.iter().take_while(|bare| **bare).count();
        Word {
            is_literal,
            written: if is_literal {
                String::new()
            } else {
                written.to_owned()
            },
            text: self.text,
            bare,
        }
    }

    /// Whether the shell would make something else of it: names of files, several words, the home
    /// folder.
    fn is_expanded(&self) -> bool {
        let bare = || self.text.char_indices().filter(|(at, _)| self.bare[*at]);
        let has_glob = bare().any(|(_, letter)| matches!(letter, '*' | '?'));
        // `[` alone is the name of a program, and needs its other half to stand for letters.
        let opens = bare().find(|(_, letter)| *letter == '[');
        let has_set =
            opens.is_some_and(|(from, _)| bare().any(|(at, letter)| letter == ']' && at > from));
        let is_home = bare().any(|(at, letter)| {
            letter == '~' && (at == 0 || matches!(self.text.as_bytes()[at - 1], b'=' | b':'))
        });
        has_glob || has_set || is_home || self.has_braces()
    }

    /// `{a,b}` or `{1..3}`, with the marks unquoted.
    fn has_braces(&self) -> bool {
        let mut open = 0_usize;
        let mut divides = false;
        let mut before = None;
        for (_, letter) in self.text.char_indices().filter(|(at, _)| self.bare[*at]) {
            match letter {
                '{' => open += 1,
                ',' if open > 0 => divides = true,
                '.' if open > 0 && before == Some('.') => divides = true,
                '}' if open > 0 && divides => return true,
                _ => {}
            }
            before = Some(letter);
        }
        false
    }
}

/// What `$'…'` stands for. `None` when its end is not where the grammar sees it, or when it holds
/// what is no text.
pub(super) fn ansi_c(source: &str) -> Option<String> {
    let inner = source.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut text = String::new();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => return None,
            '\\' => text.push(escaped(&mut letters)?),
            letter => text.push(letter),
        }
    }
    Some(text)
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The character after a backslash in `$'…'`. Zero ends a word for some shells, and bytes above
/// 127 may be parts of a character: neither is worked out.
fn escaped(letters: &mut Letters<'_>) -> Option<char> {
    let letter = letters.next()?;
    let code = match letter {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        '\\' | '\'' | '"' | '?' => return Some(letter),
        'x' => digits(letters, 16, 2)?,
        'u' => digits(letters, 16, 4)?,
        'U' => digits(letters, 16, 8)?,
        '0'..='7' => {
            let first = letter.to_digit(8)?;
            let mut code = first;
            for _ in 0..2 {
                let Some(digit) = letters.peek().and_then(|next| next.to_digit(8)) else {
                    break;
                };
                letters.next();
                code = code * 8 + digit;
            }
            code
        }
        // Control characters, and what shells read in different ways.
        _ => return None,
    };
    let is_byte = !matches!(letter, 'u' | 'U');
    char::from_u32(code).filter(|read| *read >= ' ' && (!is_byte || read.is_ascii()))
}

fn digits(letters: &mut Letters<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut code = None;
    for _ in 0..most {
        let Some(digit) = letters.peek().and_then(|next| next.to_digit(radix)) else {
            break;
        };
        letters.next();
        code = Some(code.unwrap_or(0) * radix + digit);
    }
    code
}
