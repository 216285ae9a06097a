//! Shell commands, read for what they run and where they reach.
//!
//! What is not understood is *unclear*, and then a person is asked.

pub(super) mod pattern;
mod word;

use super::hosts::Address;

/// What a command was read as.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The simple commands, each with its words.
    pub(super) commands: Vec<Vec<String>>,
    /// The addresses in them, or why one can't be made out.
    pub(super) addresses: Vec<Result<Address, String>>,
    /// What could not be made out.
    pub(super) unclear: Vec<String>,
}

/// Reads the text of a command.
pub(super) fn read(text: &str) -> Read {
    read_words([text].into_iter())
}

/// Reads a command whose words are already apart, as a program that takes a list of them.
pub(super) fn read_words<'a>(words: impl Iterator<Item = &'a str>) -> Read {
    let words: Vec<String> = words.map(word::quoted).collect();
    Read {
        unclear: vec!["commands are not read yet".to_owned()],
        commands: vec![words],
        ..Read::default()
    }
}
