//! Why a secret can't be kept, found or removed: each kind told apart, with what to do about it.
//! No word here repeats a secret.

use std::path::PathBuf;

use serde::Serialize;

use crate::check::Unfit;
use crate::file::PASSPHRASE_MIN_LETTERS;
use crate::{NotAName, SecretName};

/// How many letters of a system's own words are passed on.
const CAUSE_MAX_LETTERS: usize = 300;

/// What whoever asked may do about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum KeyErrorClass {
    /// There is no keychain here: offer the encrypted file and memory only.
    Unavailable,
    /// The keychain is locked, or refuses: the person has to say yes to it.
    Locked,
    /// The encrypted file is closed: ask for its passphrase.
    NeedsPassphrase,
    /// The passphrase does not open the file: ask again.
    WrongPassphrase,
    /// There is no encrypted file yet: ask for a passphrase to begin one with, twice.
    NoFile,
    /// What is kept is damaged, or made by a newer version; nothing is overwritten.
    Damaged,
    /// Somebody else is at it, or does not answer: try again.
    Busy,
    /// What was given can't be taken.
    Mistake,
    /// The system refuses.
    System,
}

/// Why a secret can't be kept, found or removed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// The session has no bus.
    #[error("The keychain can't be reached: this session has no D-Bus.")]
    NoBus {
        /// What the system says.
        cause: String,
    },
    /// There is a bus, and no keychain on it.
    #[error("The keychain can't be reached: none answers on this session's D-Bus.")]
    NoService {
        /// What the bus says.
        cause: String,
    },
    /// There is a keychain, and no keyring in it that takes secrets.
    #[error("The keychain has no default keyring that could take the secret.")]
    NoCollection,
    /// This system has no keychain that is known here.
    #[error("This system has no keychain that Longrein can use.")]
    Unsupported,
    /// It is locked, and was not unlocked.
    #[error("The keychain is locked.")]
    Locked,
    /// It asked to be unlocked, and nobody did.
    #[error("The keychain asked to be unlocked and was not.")]
    Dismissed,
    /// It does not let this program in.
    #[error("The keychain refuses: {cause}.")]
    Denied {
        /// What the system says.
        cause: String,
    },
    /// More than one entry has this name, and they differ.
    #[error("The keychain has several secrets named {name}, and they differ.")]
    Several {
        /// The name.
        name: SecretName,
    },
    /// What the keychain has under this name is no secret of ours.
    #[error("What the keychain has under the name {name} is damaged.")]
    DamagedEntry {
        /// The name.
        name: SecretName,
    },
    /// The keychain takes no secret of this length.
    #[error("The secret {name} is longer than the keychain takes.")]
    TooLong {
        /// The name.
        name: SecretName,
    },
    /// It did not answer in time.
    #[error("{whose} did not answer within {limit_s} s.")]
    Slow {
        /// Who was asked, as the subject of a sentence.
        whose: &'static str,
        /// How long it was waited for, in seconds.
        limit_s: u64,
    },
    /// Too much is waiting for it already.
    #[error("{whose} has not answered earlier questions yet.")]
    Busy {
        /// Who was asked, as the subject of a sentence.
        whose: &'static str,
    },

    /// The encrypted file is there and its passphrase was not given.
    #[error("The file of secrets is closed: its passphrase is needed.")]
    NeedsPassphrase {
        /// The file.
        path: PathBuf,
    },
    /// There is no encrypted file yet.
    #[error("There is no file of secrets yet.")]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// There is one already, and it is not replaced.
    #[error("There is a file of secrets already.")]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase does not open it.
    #[error("This passphrase does not open {}.", path.display())]
    WrongPassphrase {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase is too easily guessed to protect a file.
    #[error("The passphrase is too short.")]
    WeakPassphrase,
    /// There is no passphrase to be given: nothing is encrypted here.
    #[error("Secrets are not kept in an encrypted file.")]
    NotAFile,
    /// Its content is not what was written.
    #[error("{} is damaged: {why}.", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another version wrote it.
    #[error("{} was written by a newer version of Longrein.", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// Opening it would take more memory than is given.
    #[error("{} asks for more work than a passphrase is worth (2^{work}).", path.display())]
    Costly {
        /// The file.
        path: PathBuf,
        /// The work factor of scrypt, as a power of two.
        work: u8,
    },
    /// Another process is writing it.
    #[error("Another process is writing {}.", path.display())]
    Held {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{} can't be {deed}: {cause}.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried: `read`, `written`.
        deed: &'static str,
        /// What the system says.
        cause: String,
    },

    /// The file that is to hold the passphrase gives none.
    #[error("The passphrase can't be read from {}, which {variable} names: {cause}.", path.display())]
    PassphraseFile {
        /// The variable of the environment that names it, or its folder.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },

    /// The name of no secret.
    #[error(transparent)]
    Name(#[from] NotAName),
    /// A text that can't be kept.
    #[error("The secret {name} can't be kept. {why}")]
    Unfit {
        /// The name.
        name: SecretName,
        /// What is wrong with it.
        why: Unfit,
    },
    /// A variable holds what can't be a key.
    #[error("The variable {variable} holds no key. {why}")]
    BadVariable {
        /// Its name.
        variable: String,
        /// What is wrong with what it holds.
        why: Unfit,
    },
    /// The configuration names a variable that is not set.
    #[error("The key of provider {provider} is not there: the variable {variable} is not set.")]
    VariableNotSet {
        /// The provider.
        provider: String,
        /// The variable that the configuration names.
        variable: String,
    },
    /// The configuration names a secret that is not kept.
    #[error("The key of provider {provider} is not there: no secret is named {name}.")]
    SecretNotSet {
        /// The provider.
        provider: String,
        /// The secret that the configuration names.
        name: SecretName,
    },
    /// Something else went wrong.
    #[error("{whose} failed: {cause}.")]
    Failed {
        /// Who was asked, as the subject of a sentence.
        whose: &'static str,
        /// What it says.
        cause: String,
    },
}

impl KeyError {
    /// What whoever asked may do about it.
    pub fn class(&self) -> KeyErrorClass {
        match self {
            Self::NoBus { .. }
            | Self::NoService { .. }
            | Self::NoCollection
            | Self::Unsupported => KeyErrorClass::Unavailable,
            Self::Locked | Self::Dismissed | Self::Denied { .. } => KeyErrorClass::Locked,
            Self::NeedsPassphrase { .. } => KeyErrorClass::NeedsPassphrase,
            Self::WrongPassphrase { .. } => KeyErrorClass::WrongPassphrase,
            Self::NoFile { .. } => KeyErrorClass::NoFile,
            Self::Several { .. }
            | Self::DamagedEntry { .. }
            | Self::Damaged { .. }
            | Self::Newer { .. }
            | Self::Costly { .. } => KeyErrorClass::Damaged,
            Self::Slow { .. } | Self::Busy { .. } | Self::Held { .. } => KeyErrorClass::Busy,
            Self::TooLong { .. }
            | Self::FileExists { .. }
            | Self::WeakPassphrase
            | Self::NotAFile
            | Self::Name(_)
            | Self::Unfit { .. }
            | Self::BadVariable { .. }
            | Self::VariableNotSet { .. }
            | Self::SecretNotSet { .. } => KeyErrorClass::Mistake,
            Self::File { .. } | Self::PassphraseFile { .. } | Self::Failed { .. } => {
                KeyErrorClass::System
            }
        }
    }

    /// What the person can do, in a sentence.
    pub fn remedy(&self) -> String {
        let words = match self {
            Self::NoBus { .. } => {
                "Choose an encrypted file or memory only for keys (in the settings, or with: longrein keys store file), or set the provider's variable; a desktop session has a D-Bus by itself."
            }
            Self::NoService { .. } => {
                "Install and start a keychain such as gnome-keyring or KWallet, or choose an encrypted file or memory only for keys (in the settings, or with: longrein keys store file)."
            }
            Self::NoCollection => {
                "Make a default keyring in the system's program for passwords, or choose an encrypted file or memory only for keys."
            }
            Self::Unsupported => {
                "Choose an encrypted file or memory only for keys, in the settings or with: longrein keys store file"
            }
            Self::Locked | Self::Dismissed => {
                "Unlock it and try again, or choose an encrypted file or memory only for keys."
            }
            Self::Denied { .. } => {
                "Let Longrein in where the system lists who may read the keychain, or choose an encrypted file for keys."
            }
            Self::Several { .. } => "Set it again: that leaves one of them.",
            Self::DamagedEntry { .. } => "Set it again.",
            Self::TooLong { .. } => "Choose an encrypted file for keys.",
            Self::Slow { .. } => {
                "It may be asking for a password in a window of its own: answer that, then try again. What was to be changed may still be changed."
            }
            Self::Busy { .. } | Self::Held { .. } => "Try again in a moment.",
            Self::NeedsPassphrase { .. } => "Give the passphrase that the file was made with.",
            Self::NoFile { .. } => "Choose a passphrase, and it is made.",
            Self::FileExists { .. } => "Open it with its passphrase, or move it away first.",
            Self::WrongPassphrase { .. } => {
                "Type it again. There is no way in without it: if it is lost, move the file away and set the keys anew."
            }
            Self::WeakPassphrase => {
                return format!(
                    "Take at least {PASSPHRASE_MIN_LETTERS} letters; several words are best."
                );
            }
            Self::NotAFile => "Choose the encrypted file for keys first.",
            Self::Damaged { .. } => {
                "Restore it from a copy, or move it away and set the keys anew; it is not overwritten."
            }
            Self::Newer { .. } => "Use the newer version; the file is not overwritten.",
            Self::Costly { .. } => "Open it with the age command and set the keys anew.",
            Self::File { .. } => {
                "Check the disk and that you may write to the data folder; the old file is still there."
            }
            Self::Name(_) => "",
            Self::Unfit { why, .. } => why.remedy(),
            Self::PassphraseFile { .. }
            | Self::BadVariable { .. }
            | Self::VariableNotSet { .. }
            | Self::SecretNotSet { .. } => {
                return self.remedy_by_name();
            }
            Self::Failed { .. } => "Try again; if it stays so, choose an encrypted file for keys.",
        };
        words.to_owned()
    }

    /// What can be done about a place that the person or the configuration names.
    fn remedy_by_name(&self) -> String {
        let own = crate::environment::own_variable;
        match self {
            Self::PassphraseFile { variable, .. } => format!(
                "Let {variable} name a file that you may read and whose first line is the passphrase."
            ),
            Self::BadVariable { variable, why } => format!(
                "{} Then set {variable} again, or take it away.",
                why.remedy()
            ),
            Self::VariableNotSet { provider, variable } => format!(
                "Set {variable} or {}, or take key out of [providers.{provider}].",
                own(provider)
            ),
            Self::SecretNotSet { provider, name } => format!(
                "Set it in the settings, or with: longrein keys set {name}. Or set the variable {}.",
                own(provider)
            ),
            _ => String::new(),
        }
    }

    /// What the system said beneath all this, for a log; no words of ours.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::NoBus { cause }
            | Self::NoService { cause }
            | Self::Denied { cause }
            | Self::File { cause, .. }
            | Self::PassphraseFile { cause, .. }
            | Self::Failed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

/// A system's own words, made fit to stand inside a sentence.
pub(crate) fn cause(error: &dyn std::fmt::Display) -> String {
    let words = error.to_string();
    let words = words.trim().trim_end_matches('.');
    words
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(CAUSE_MAX_LETTERS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_systems_words_are_short_and_on_one_line() {
        assert_eq!(cause(&" no\nbus. "), "no bus");
        assert_eq!(cause(&"x".repeat(9_000)).len(), CAUSE_MAX_LETTERS);
    }

    #[test]
    fn an_error_is_a_sentence_and_its_remedy_another() {
        let path = PathBuf::from("secrets.age");
        let name = SecretName::new("exa").unwrap();
        let errors = [
            KeyError::NoBus {
                cause: "x".to_owned(),
            },
            KeyError::Denied {
                cause: "x".to_owned(),
            },
            KeyError::Slow {
                whose: "The keychain",
                limit_s: 5,
            },
            KeyError::WrongPassphrase { path: path.clone() },
            KeyError::WeakPassphrase,
            KeyError::Damaged {
                path,
                why: "it ends too early",
            },
            KeyError::Unfit {
                name,
                why: Unfit::LineBreak,
            },
            KeyError::BadVariable {
                variable: "X".to_owned(),
                why: Unfit::Space,
            },
        ];
        for error in errors {
            for words in [error.to_string(), error.remedy()] {
                assert!(words.ends_with('.'), "{words}");
                assert!(
                    words.starts_with(|first: char| first.is_uppercase() || first == 's'),
                    "{words}"
                );
            }
        }
    }
}
