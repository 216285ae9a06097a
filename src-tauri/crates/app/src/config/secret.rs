//! How `config.toml` names a secret without holding it: `env:NAME`, `secret:NAME`.

use longrein_core::agent_file::reader::Reader;
use longrein_keys::SecretName;

use super::provider::Place;

/// Where a secret comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretReference {
    /// This variable of our own environment, from `env:NAME`.
    Variable(String),
    /// What is kept under this name, from `secret:NAME`.
    Kept(SecretName),
}

impl SecretReference {
    /// Reads one that stands outside of the file. The outer `None`: the text is none; the inner
    /// one: it is one with a mistake.
    pub fn of(text: &str) -> Option<Option<Self>> {
        if let Some(variable) = text.strip_prefix("env:") {
            let sound = is_variable_name(variable);
            return Some(sound.then(|| Self::Variable(variable.to_owned())));
        }
        let name = text.strip_prefix("secret:")?;
        Some(SecretName::new(name).ok().map(Self::Kept))
    }

    /// As it is written in the file.
    pub fn written(&self) -> String {
        match self {
            Self::Variable(variable) => format!("env:{variable}"),
            Self::Kept(name) => format!("secret:{name}"),
        }
    }
}

/// Reads a reference. The outer `None`: the text is none; the inner one: it is one with a mistake,
/// which was reported.
pub(super) fn reference(
    reader: &mut Reader<'_>,
    (path, span): Place<'_>,
    text: &str,
) -> Option<Option<SecretReference>> {
    if let Some(variable) = text.strip_prefix("env:") {
        if is_variable_name(variable) {
            return Some(Some(SecretReference::Variable(variable.to_owned())));
        }
        let message = "What stands behind “env:” is not the name of a variable.";
        let remedy = "Use letters, digits and “_”, as in \"env:MY_KEY\".";
        reader.error(span, path, message, remedy);
        return Some(None);
    }
    let name = text.strip_prefix("secret:")?;
    match SecretName::new(name) {
        Ok(name) => Some(Some(SecretReference::Kept(name))),
        // A secret may have been pasted behind it, so that it is not repeated.
        Err(_) => {
            let message = "What stands behind “secret:” is not the name of a secret.";
            let remedy = "Use letters, digits, “-”, “_” and “.”, as in \"secret:my-key\".";
            reader.error(span, path, message, remedy);
            Some(None)
        }
    }
}

pub(super) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}
