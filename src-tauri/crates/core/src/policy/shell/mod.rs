//! Shell commands, read for what they run and where they reach.
//!
//! The grammar finds the simple commands; what stands in their words is worked out here as a POSIX
//! shell would. The rule of this module is that what is not understood is *unclear*, and then a
//! person is asked. The boundary that holds is the sandbox, not this reading.
//!
//! What is absent: no word is guessed, no kind of syntax is passed over because it is unknown, and
//! no depth, length or number is without a bound.

mod code;
mod launch;
mod net;
mod options;
pub(super) mod pattern;
mod sound;
mod spelling;
mod tree;
mod word;
mod wrap;

use self::word::Word;
use super::hosts::{self, Address, Unclear};
use super::text::short;

/// The longest text that is read, nested texts (`sh -c '…'`) included.
const TEXT_LIMIT_BYTES: usize = 64 * 1024;
/// The most simple commands of one action.
const COMMANDS_LIMIT: usize = 256;
/// The most that all recorded words have together.
const WORDS_LIMIT_BYTES: usize = 32 * 1024;
/// How often one command may run another: `sudo env sh -c 'nice …'`.
const WRAP_LIMIT: usize = 8;
/// The most reasons that are kept; one is enough to ask.
const UNCLEAR_LIMIT: usize = 16;
/// The most addresses that are kept; the caller keeps fewer.
const ADDRESSES_LIMIT: usize = 128;

/// What a command was read as.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The simple commands, each with its words as [`word::Word`] shows them.
    pub(super) commands: Vec<Vec<String>>,
    /// The addresses in them, or why one can't be made out.
    pub(super) addresses: Vec<Result<Address, Unclear>>,
    /// What could not be made out.
    pub(super) unclear: Vec<String>,
}

/// Reads the text of a command.
pub(super) fn read(text: &str) -> Read {
    let mut reader = Reader::default();
    reader.script(text, 0);
    reader.read
}

/// Reads a command whose words are already apart, as a program that takes a list of them.
pub(super) fn read_words<'a>(words: impl Iterator<Item = &'a str>) -> Read {
    let mut reader = Reader::default();
    let words: Vec<Word> = words.map(Word::literal).collect();
    let length = words.iter().map(|word| word.text.len()).sum::<usize>();
    if length > TEXT_LIMIT_BYTES {
        reader.unclear(format!(
            "the command has more than {TEXT_LIMIT_BYTES} bytes"
        ));
    } else if !words.is_empty() {
        reader.simple(words, 0);
    }
    reader.read
}

#[derive(Default)]
struct Reader {
    read: Read,
    /// Bytes of text read so far.
    text_bytes: usize,
    /// Bytes of words recorded so far.
    word_bytes: usize,
}

impl Reader {
    fn unclear(&mut self, why: impl Into<String>) {
        let why = why.into();
        let unclear = &mut self.read.unclear;
        if unclear.len() < UNCLEAR_LIMIT && !unclear.contains(&why) {
            unclear.push(why);
        }
    }

    fn address(&mut self, found: Result<Address, Unclear>) {
        let addresses = &mut self.read.addresses;
        if addresses.contains(&found) {
            return;
        }
        if addresses.len() < ADDRESSES_LIMIT {
            addresses.push(found);
        } else {
            self.unclear(format!("it names more than {ADDRESSES_LIMIT} addresses"));
        }
    }

    /// Looks for addresses in a text that the command holds.
    fn addresses_in(&mut self, text: &str) {
        hosts::found_in(text)
            .into_iter()
            .for_each(|found| self.address(found));
        // What the shell itself connects to.
        for kind in ["/dev/tcp/", "/dev/udp/"] {
            let mut parts = text.split(kind);
            parts.next();
            for place in parts {
                let place = place.trim_end_matches('/').replacen('/', ":", 1);
                self.address(hosts::operand(&place, "tcp"));
            }
        }
    }

    /// Reads a text as a shell would.
    fn script(&mut self, text: &str, depth: usize) {
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        if self.text_bytes > TEXT_LIMIT_BYTES {
            self.unclear(format!(
                "the command has more than {TEXT_LIMIT_BYTES} bytes"
            ));
        } else if depth > WRAP_LIMIT {
            self.unclear(format!("more than {WRAP_LIMIT} commands run one another"));
        } else {
            self.parse(text, depth);
        }
    }

    /// Takes in one simple command, and what it runs in turn.
    fn simple(&mut self, words: Vec<Word>, depth: usize) {
        let words = self.without_assignments(words);
        let Some(name) = words.first() else {
            return;
        };
        if !name.is_literal {
            let shown = short(&name.shown());
            self.unclear(format!("the program “{shown}” is not written out"));
        } else if !is_plain_name(&name.text) {
            let shown = short(&name.text);
            self.unclear(format!("“{shown}” is no plain name of a program"));
        }
        self.record(&words);
        if depth > WRAP_LIMIT {
            self.unclear(format!("more than {WRAP_LIMIT} commands run one another"));
            return;
        }
        self.launches(&words, depth);
    }

    /// Takes leading assignments off a command. One that may change what programs do is recorded
    /// before the command, as a command of its own: a rule for `git log` says nothing of
    /// `PATH=here git log`.
    fn without_assignments(&mut self, mut words: Vec<Word>) -> Vec<Word> {
        let count = words
            .iter()
            .take_while(|word| word.assigns().is_some())
            .count();
        let harmful = words[..count]
            .iter()
            .any(|word| word.assigns().is_some_and(|name| !is_harmless(name)));
        if harmful {
            self.record(&words);
        }
        for word in &words[..count] {
            self.addresses_in(&word.text);
        }
        words.split_off(count)
    }

    fn record(&mut self, words: &[Word]) {
        for word in words {
            self.addresses_in(&word.text);
        }
        let recorded: Vec<String> = words
            .iter()
            .take(word::WORDS_LIMIT)
            .map(Word::shown)
            .collect();
        if self.read.commands.contains(&recorded) {
            return;
        }
        self.word_bytes += recorded.iter().map(String::len).sum::<usize>();
        if self.read.commands.len() == COMMANDS_LIMIT || self.word_bytes > WORDS_LIMIT_BYTES {
            self.unclear("it has more commands than are looked at");
            return;
        }
        self.read.commands.push(recorded);
    }
}

/// Whether a name is one that a person reads as it is: no letters from elsewhere that look like
/// others, no blanks, no marks of the shell.
fn is_plain_name(name: &str) -> bool {
    const RESERVED: &[&str] = &[
        "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi",
        "for", "function", "if", "in", "select", "then", "until", "while",
    ];
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+/:@%,=[".contains(letter);
    let is_word = !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
    is_word && !RESERVED.contains(&name)
}

/// Whether a variable changes only how a program looks or speaks, and not what it does.
fn is_harmless(name: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "CI",
        "CLICOLOR",
        "COLUMNS",
        "FORCE_COLOR",
        "LANG",
        "LANGUAGE",
        "LINES",
        "NO_COLOR",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether setting a variable by itself can't matter to a program: by custom, those that programs
/// read are written in capitals, but for those of proxies and package tools.
fn is_local(name: &str) -> bool {
    let is_small =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    name.chars().all(is_small)
        && name.chars().any(|letter| letter.is_ascii_lowercase())
        && !name.ends_with("_proxy")
        && !name.starts_with("npm_")
}
