//! Options before the operands of a program.

use super::word::Word;

/// How a program takes its options. One that is not named here makes the command unclear, since
/// nobody knows whether the next word is its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// As for getopt: a letter each, with `:` behind one that takes a value and `::` behind one
    /// whose value can only be attached. `#` stands for any digit.
    pub(super) short: &'static str,
    /// Names, with `=` behind one that takes a value.
    pub(super) long: &'static [&'static str],
}

/// What was given.
#[derive(Debug, Default)]
pub(super) struct Given<'a> {
    /// Options, `-x` or `--name`, each with its value.
    options: Vec<(String, Option<Word>)>,
    /// What follows them.
    pub(super) operands: &'a [Word],
}

impl Given<'_> {
    /// Whether an option was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The values of an option.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Word> {
        let given = self
            .options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.as_ref())
    }
}

/// What a letter or a name wants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Attached,
}

impl Options {
    /// Reads the words behind a program's name. `None` when an option is unknown or not written out.
    pub(super) fn read<'a>(&self, words: &'a [Word]) -> Option<Given<'a>> {
        let mut given = Given::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if !word.is_literal && !text.starts_with(|first: char| first.is_ascii() && first != '-')
            {
                return None;
            }
            if text == "--" {
                at += 1;
                break;
            }
            if text == "-" || !text.starts_with('-') {
                break;
            }
            at += 1;
            if !word.is_literal && !self.is_attached(text) {
                return None;
            }
            let next = words.get(at);
            let used = match text.strip_prefix("--") {
                Some(name) => self.long(word, name, next, &mut given)?,
                None => self.cluster(word, next, &mut given)?,
            };
            at += usize::from(used);
        }
        given.operands = words.get(at..).unwrap_or_default();
        Some(given)
    }

    /// Whether a word that is not written out has at least its option so: `--name=$x`.
    fn is_attached(&self, text: &str) -> bool {
        let name = text
            .strip_prefix("--")
            .and_then(|rest| rest.split_once('='));
        name.is_some_and(|(name, _)| name.is_ascii())
    }

    /// Returns whether the next word was its value.
    fn long(
        &self,
        word: &Word,
        name: &str,
        next: Option<&Word>,
        given: &mut Given<'_>,
    ) -> Option<bool> {
        let (name, attached) = match name.split_once('=') {
            Some((name, _)) => (name, true),
            None => (name, false),
        };
        let takes_value = self.long.iter().find_map(|known| {
            let plain = known.trim_end_matches('=');
            (plain == name).then_some(plain.len() < known.len())
        })?;
        let (value, used) = match (takes_value, attached) {
            (_, true) => (Some(word.after(name.len() + 3)), false),
            (true, false) => (Some(next?.clone()), true),
            (false, false) => (None, false),
        };
        given.options.push((format!("--{name}"), value));
        Some(used)
    }

    fn cluster(&self, word: &Word, next: Option<&Word>, given: &mut Given<'_>) -> Option<bool> {
        let letters: Vec<char> = word.text.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let name = format!("-{letter}");
            match self.takes(*letter)? {
                Takes::Nothing => given.options.push((name, None)),
                takes => {
                    let rest: String = letters[at + 1..].iter().collect();
                    let is_attached = !rest.is_empty() || takes == Takes::Attached;
                    let value = match is_attached {
                        true => Word::literal(&rest),
                        false => next?.clone(),
                    };
                    given.options.push((name, Some(value)));
                    return Some(!is_attached);
                }
            }
        }
        Some(false)
    }

    fn takes(&self, letter: char) -> Option<Takes> {
        if letter.is_ascii_digit() && self.short.contains('#') {
            return Some(Takes::Nothing);
        }
        let at = self
            .short
            .find(letter)
            .filter(|_| !matches!(letter, ':' | '#'))?;
        let behind = &self.short[at + letter.len_utf8()..];
        Some(match behind {
            _ if behind.starts_with("::") => Takes::Attached,
            _ if behind.starts_with(':') => Takes::Value,
            _ => Takes::Nothing,
        })
    }
}
