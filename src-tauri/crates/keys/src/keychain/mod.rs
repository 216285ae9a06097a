//! Secrets in the system's keychain: one entry for each, under the service `longrein`, with the
//! secret's name as its account. macOS and Windows are served by the same code; what differs
//! stands in a file for each system.

mod entries;
mod parts;

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(target_os = "windows", path = "windows.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos", target_os = "windows")),
    path = "elsewhere.rs"
)]
mod system;

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::{CredentialStore, Error};

use self::entries::Entries;
use crate::error::cause;
use crate::store::{Standing, Vault};
use crate::{KeyError, SecretName, SecretText};

/// Under which every secret of ours is kept.
const SERVICE: &str = "longrein";

const WHOSE: &str = "The keychain";

type Opened = Result<Arc<CredentialStore>, Error>;

/// What a new entry with this label is given besides.
type Modifiers = fn(&str) -> Option<HashMap<&str, &str>>;

/// The system's keychain.
pub(crate) struct Keychain {
    open: Box<dyn FnMut() -> Opened + Send>,
    modifiers: Modifiers,
    /// The longest value that one entry takes, in bytes, where there is such a limit.
    entry_max_bytes: Option<usize>,
    store: Option<Arc<CredentialStore>>,
}

impl Keychain {
    /// The keychain of this system. Nobody is asked yet.
    pub(crate) fn of_system() -> Self {
        Self {
            open: Box::new(system::open),
            modifiers: system::modifiers,
            entry_max_bytes: system::ENTRY_MAX_BYTES,
            store: None,
        }
    }

    fn open(&mut self) -> Result<Entries, KeyError> {
        let store = match &self.store {
            Some(store) => store.clone(),
            None => self
                .store
                .insert((self.open)().map_err(|error| explain(&error))?)
                .clone(),
        };
        Ok(Entries {
            store,
            modifiers: self.modifiers,
            max_bytes: self.entry_max_bytes,
        })
    }

    /// Does something with the entries. A keychain that was restarted since is asked once more.
    fn with<T>(&mut self, act: impl Fn(&Entries) -> Result<T, Fault>) -> Result<T, KeyError> {
        let was_open = self.store.is_some();
        let entries = self.open()?;
        match act(&entries) {
            Err(Fault::Keychain(Error::PlatformFailure(_))) if was_open => {
                self.store = None;
                let entries = self.open()?;
                act(&entries).map_err(Fault::into_error)
            }
            done => done.map_err(Fault::into_error),
        }
    }
}

impl Vault for Keychain {
    fn look(&mut self) -> Result<Standing, KeyError> {
        system::look()
    }

    fn get(&mut self, name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        self.with(|entries| parts::get(entries, name))
    }

    fn set(&mut self, name: &SecretName, secret: &SecretText) -> Result<(), KeyError> {
        self.with(|entries| parts::set(entries, name, secret))
    }

    fn remove(&mut self, name: &SecretName) -> Result<bool, KeyError> {
        self.with(|entries| parts::remove(entries, name))
    }

    fn names(&mut self) -> Result<Vec<SecretName>, KeyError> {
        self.with(|entries| {
            // The accounts of parts are no names.
            let names = entries.accounts()?.into_iter();
            let mut names: Vec<SecretName> = names
                .filter_map(|name| SecretName::new(&name).ok())
                .collect();
            names.sort();
            names.dedup();
            Ok(names)
        })
    }
}

/// Why the keychain did not do what it was asked.
#[derive(Debug)]
enum Fault {
    /// It says so.
    Keychain(Error),
    /// What it has is not what was written.
    Ours(KeyError),
}

impl Fault {
    fn into_error(self) -> KeyError {
        match self {
            Self::Keychain(error) => explain(&error),
            Self::Ours(error) => error,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Keychain(error)
    }
}

/// What a keychain's failure means to a person.
fn explain(error: &Error) -> KeyError {
    if let Some(known) = system::explain(error) {
        return known;
    }
    match error {
        Error::NoStorageAccess(why) => KeyError::Denied { cause: cause(why) },
        Error::PlatformFailure(why) => KeyError::Failed {
            whose: WHOSE,
            cause: cause(why),
        },
        Error::NotSupportedByStore(_) | Error::NoDefaultStore => KeyError::Unsupported,
        // Other errors may carry what was kept, so none of their words are passed on.
        _ => KeyError::Failed {
            whose: WHOSE,
            cause: "what it has under this name can't be used".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests;
