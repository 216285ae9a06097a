//! Where the key of a provider is found: a variable overrides what is kept.

use serde::Serialize;

use super::{Backend, KeyStore};
use crate::check::{Unfit, header};
use crate::environment::{Lookup, own_variable, usual_variables};
use crate::{KeyError, KeyErrorClass, SecretName, SecretText};

/// Where a secret was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In a variable of the environment, which overrides what is kept.
    Environment(String),
    /// In the system's keychain.
    Keychain,
    /// In the encrypted file.
    File,
    /// In memory only.
    Memory,
}

impl From<Backend> for Source {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Keychain => Self::Keychain,
            Backend::File => Self::File,
            Backend::Memory => Self::Memory,
        }
    }
}

/// What is shown of a secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Found {
    /// Where it was found.
    pub source: Source,
    /// Its last four characters; `None` when it is too short to show any of it.
    pub last4: Option<String>,
}

/// A secret, and what is shown of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The secret itself.
    pub secret: SecretText,
    /// What is shown of it.
    pub found: Found,
}

impl Key {
    pub(super) fn new(secret: SecretText, source: Source) -> Self {
        let last4 = secret.last4();
        Self {
            secret,
            found: Found { source, last4 },
        }
    }
}

/// What the configuration says about a provider's key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Named<'a> {
    /// Nothing: the usual variable, then the secret of the provider's name.
    #[default]
    Nothing,
    /// `key = "env:NAME"`: this variable, and no other place.
    Variable(&'a str),
    /// `key = "secret:NAME"`: the usual variable, then the secret of this name.
    Secret(SecretName),
}

/// The key that is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted<'a> {
    /// The provider's name in the configuration.
    pub provider: &'a str,
    /// What the configuration says about its key.
    pub named: Named<'a>,
}

impl KeyStore {
    /// The key of a provider: from `LONGREIN_<PROVIDER>_API_KEY`, else from the variable that the
    /// configuration names, else from the provider's usual variable, else from what is kept here.
    /// `None` when the provider needs none or none is there.
    ///
    /// What is kept is not asked when a variable is set. A keychain that is not there is no
    /// failure when the configuration names no secret: many providers need none.
    ///
    /// # Errors
    /// When a variable or a secret that the configuration names is not set, when a variable holds
    /// what can't be a key, or when what is kept can't be read.
    pub async fn find(
        &self,
        wanted: &Wanted<'_>,
        lookup: Lookup<'_>,
    ) -> Result<Option<Key>, KeyError> {
        if let Some(key) = wanted.in_environment(lookup)? {
            self.known().learn(&key.secret);
            return Ok(Some(key));
        }
        let name = match &wanted.named {
            Named::Secret(name) => name.clone(),
            // In the environment it was not.
            Named::Variable(_) => return Ok(None),
            Named::Nothing => match SecretName::new(wanted.provider) {
                Ok(name) => name,
                Err(_) => return Ok(None),
            },
        };
        let optional = wanted.named == Named::Nothing;
        match self.get(&name).await {
            Ok(Some(secret)) => Ok(Some(Key::new(secret, self.backend().into()))),
            Ok(None) if optional => Ok(None),
            Ok(None) => Err(KeyError::SecretNotSet {
                provider: wanted.provider.to_owned(),
                name,
            }),
            Err(error) if optional && error.class() == KeyErrorClass::Unavailable => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Wanted<'_> {
    /// The key in a variable; the first that is set counts, even if it holds no key.
    ///
    /// # Errors
    /// When that variable holds what can't be a key, or the one that the configuration names is
    /// not set.
    pub fn in_environment(&self, lookup: Lookup<'_>) -> Result<Option<Key>, KeyError> {
        let own = own_variable(self.provider);
        if let Some(key) = variable(&own, lookup)? {
            return Ok(Some(key));
        }
        if let Named::Variable(named) = self.named {
            let key = variable(named, lookup)?;
            let not_set = || KeyError::VariableNotSet {
                provider: self.provider.to_owned(),
                variable: named.to_owned(),
            };
            return key.ok_or_else(not_set).map(Some);
        }
        for usual in usual_variables(self.provider) {
            if let Some(key) = variable(usual, lookup)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }
}

/// The key in one variable; an empty one counts as not set.
fn variable(name: &str, lookup: Lookup<'_>) -> Result<Option<Key>, KeyError> {
    let Some(value) = lookup(name) else {
        return Ok(None);
    };
    let secret = SecretText::new(value);
    match header(&secret) {
        Ok(()) => Ok(Some(Key::new(secret, Source::Environment(name.to_owned())))),
        Err(Unfit::Blank) => Ok(None),
        Err(why) => Err(KeyError::BadVariable {
            variable: name.to_owned(),
            why,
        }),
    }
}
