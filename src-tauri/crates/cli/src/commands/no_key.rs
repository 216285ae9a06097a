//! A key among the words of a command: it is in the shell's history and in the list of processes,
//! and must not be repeated as the name that stands there otherwise.

use std::ffi::OsString;

use longrein_keys::check::looks_like_a_key;
use longrein_keys::{Known, SecretText};

use crate::arguments::{Command, KeysAction, ModelsAction};
use crate::failure::Failure;
use crate::text;

/// Refuses a command that has a key where a name belongs.
///
/// # Errors
/// When it has one.
pub fn refuse(command: &Command) -> Result<(), Failure> {
    let (name, surplus) = words(command);
    let Some(name) = name else { return Ok(()) };
    let known = Known::of_process();
    let words = surplus.iter().filter_map(|word| word.to_str());
    known.learn_each(words.map(SecretText::new));
    let is_a_key = looks_like_a_key(name);
    if is_a_key {
        known.learn(&SecretText::new(name));
    }
    if surplus.is_empty() && !is_a_key {
        return Ok(());
    }
    let name = if is_a_key { "NAME" } else { name };
    Err(Failure::usage(
        "A key must not stand on the command line: other programs see it there, and the shell keeps it in its history. Nothing was done.",
        format!(
            "Write: longrein keys set {}, which asks for it, or give it on standard input with --stdin. If this was the real one, replace it at the provider.",
            text::plain(name)
        ),
    ))
}

/// The word of a command that names a provider, a model or a secret, and those that only a key
/// can be.
fn words(command: &Command) -> (Option<&str>, &[OsString]) {
    let name = match command {
        Command::Run(run) => run.model.as_deref(),
        Command::Keys(keys) => match &keys.action {
            Some(KeysAction::Set(set)) => return (Some(&set.name), &set.refused),
            Some(KeysAction::Remove(key) | KeysAction::Test(key)) => Some(key.name.as_str()),
            _ => None,
        },
        Command::Models(models) => match &models.action {
            None => models.provider.as_deref(),
            Some(ModelsAction::Add(add)) => Some(add.name.as_str()),
            Some(ModelsAction::Test(test)) => Some(test.model.as_str()),
            Some(ModelsAction::Refresh(_)) => None,
        },
        _ => None,
    };
    (name, &[])
}
