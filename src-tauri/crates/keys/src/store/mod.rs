//! Where secrets are kept, as the person chose: one interface to all places.

mod find;
mod memory;
mod worker;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::memory::Memory;
use self::worker::Worker;
use crate::check::keepable;
use crate::file::{AgeFile, Passphrase};
use crate::keychain::Keychain;
use crate::{KeyError, Known, SecretName, SecretText};

pub use find::{Found, Key, Named, Source, Wanted};

/// How long a place has to say how it is.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// How long a place has for one secret. A person may have to unlock the keychain meanwhile.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// Where secrets are kept. The app keeps the choice as a plain setting.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// The system's keychain: the Secret Service, macOS's Keychain, Windows' Credential Manager.
    #[default]
    Keychain,
    /// A file in the data folder that a passphrase encrypts.
    File,
    /// Memory only: nothing outlives the process.
    Memory,
}

impl Backend {
    /// Every place, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Keychain, Self::File, Self::Memory];

    /// As it is written in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keychain => "keychain",
            Self::File => "file",
            Self::Memory => "memory",
        }
    }

    /// The place of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Who did something, as the subject of a sentence.
    fn whose(self) -> &'static str {
        match self {
            Self::Keychain => "The keychain",
            Self::File => "The file of secrets",
            Self::Memory => "The memory for secrets",
        }
    }
}

/// How a place for secrets is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It can be read and written.
    Ready,
    /// It is there and has to be opened first: the keychain asks for that by itself, the file
    /// needs [`KeyStore::unlock`].
    Locked,
    /// There is no encrypted file yet: [`KeyStore::begin`] makes one.
    New,
}

/// What is done with the passphrase of an encrypted file.
pub(crate) enum PassphraseAct {
    Unlock(Passphrase),
    Begin(Passphrase),
    Change(Passphrase),
    Forget,
}

/// A place for secrets. It is asked from one thread, which it may block.
pub(crate) trait Vault: Send {
    fn look(&mut self) -> Result<Standing, KeyError>;

    /// `None` when there is none of this name.
    fn get(&mut self, name: &SecretName) -> Result<Option<SecretText>, KeyError>;

    /// Adds or replaces.
    fn set(&mut self, name: &SecretName, secret: &SecretText) -> Result<(), KeyError>;

    /// False when there was none of this name.
    fn remove(&mut self, name: &SecretName) -> Result<bool, KeyError>;

    /// In order.
    fn names(&mut self) -> Result<Vec<SecretName>, KeyError>;

    fn passphrase(&mut self, _act: PassphraseAct) -> Result<(), KeyError> {
        Err(KeyError::NotAFile)
    }
}

/// Keeps secrets. Making one asks nobody anything; the first question starts a thread of its own.
/// Copies share it. Whatever secret passes through is [`Known`] from then on.
#[derive(Clone)]
pub struct KeyStore {
    backend: Backend,
    worker: Arc<Worker>,
    known: Known,
}

impl KeyStore {
    /// The place that the person chose. An encrypted file lies in `data_dir`, which must be there
    /// when it is written.
    pub fn new(backend: Backend, data_dir: &Path, known: Known) -> Self {
        let vault: Box<dyn Vault> = match backend {
            Backend::Keychain => Box::new(Keychain::of_system()),
            Backend::File => Box::new(AgeFile::new(data_dir)),
            Backend::Memory => Box::new(Memory::default()),
        };
        Self {
            backend,
            worker: Arc::new(Worker::new(backend.whose(), vault)),
            known,
        }
    }

    /// Where the secrets are kept.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// What this process knows and must not let out.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// How the place is; nobody is asked to unlock anything.
    ///
    /// # Errors
    /// When it can't be used: the class says whether to offer another.
    pub async fn look(&self) -> Result<Standing, KeyError> {
        self.worker.ask(LOOK_LIMIT, |vault| vault.look()).await
    }

    /// The secret of this name; `None` when there is none. A locked keychain asks the person.
    ///
    /// # Errors
    /// When the place can't be used, is locked, or has something else under this name.
    pub async fn get(&self, name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        let wanted = name.clone();
        let secret = self
            .worker
            .ask(CALL_LIMIT, move |vault| vault.get(&wanted))
            .await?;
        if let Some(secret) = &secret {
            self.known.learn(secret);
        }
        Ok(secret)
    }

    /// Keeps a secret under this name, in place of the one that was there.
    ///
    /// # Errors
    /// When the secret is empty, too long or has more than one line; when the place can't be
    /// used or is locked. The old secret is still there then, except after [`KeyError::Slow`]:
    /// which of the two is kept is not known.
    pub async fn set(&self, name: &SecretName, secret: &SecretText) -> Result<(), KeyError> {
        let (name, secret) = (name.clone(), secret.clone());
        self.known.learn(&secret);
        if let Err(why) = keepable(&secret) {
            return Err(KeyError::Unfit { name, why });
        }
        self.worker
            .ask(CALL_LIMIT, move |vault| vault.set(&name, &secret))
            .await
    }

    /// Removes the secret of this name; false when there was none.
    ///
    /// # Errors
    /// When the place can't be used or is locked.
    pub async fn remove(&self, name: &SecretName) -> Result<bool, KeyError> {
        let name = name.clone();
        self.worker
            .ask(CALL_LIMIT, move |vault| vault.remove(&name))
            .await
    }

    /// The names of all secrets, in order. A locked keychain asks the person.
    ///
    /// # Errors
    /// When the place can't be used or is locked.
    pub async fn names(&self) -> Result<Vec<SecretName>, KeyError> {
        self.worker.ask(CALL_LIMIT, |vault| vault.names()).await
    }

    /// Reads every secret, so that all of them are masked from now on.
    ///
    /// # Errors
    /// When the place can't be used or is locked.
    pub async fn learn_all(&self) -> Result<(), KeyError> {
        for name in self.names().await? {
            self.get(&name).await?;
        }
        Ok(())
    }

    /// Copies every secret to another place, where those of the same name are replaced. Gives
    /// their names. To move them, remove them here once the other place is the one that is used.
    ///
    /// # Errors
    /// When one of the places can't be used or is locked.
    pub async fn copy_to(&self, other: &Self) -> Result<Vec<SecretName>, KeyError> {
        if Arc::ptr_eq(&self.worker, &other.worker) {
            return Ok(Vec::new());
        }
        let names = self.names().await?;
        for name in &names {
            if let Some(secret) = self.get(name).await? {
                other.set(name, &secret).await?;
            }
        }
        Ok(names)
    }

    /// Opens the encrypted file with its passphrase, for the life of this process.
    ///
    /// # Errors
    /// When the passphrase is another, the file is damaged or missing, or none is kept.
    pub async fn unlock(&self, passphrase: Passphrase) -> Result<(), KeyError> {
        self.act(PassphraseAct::Unlock(passphrase)).await
    }

    /// Makes the encrypted file, without a secret in it.
    ///
    /// # Errors
    /// When the passphrase is too short, or there is a file already.
    pub async fn begin(&self, passphrase: Passphrase) -> Result<(), KeyError> {
        self.known.learn(passphrase.as_secret());
        self.act(PassphraseAct::Begin(passphrase)).await
    }

    /// Encrypts the file, which must be open, with another passphrase.
    ///
    /// # Errors
    /// When the file is closed or missing, or the passphrase too short.
    pub async fn change_passphrase(&self, passphrase: Passphrase) -> Result<(), KeyError> {
        self.known.learn(passphrase.as_secret());
        self.act(PassphraseAct::Change(passphrase)).await
    }

    /// Closes the encrypted file: its passphrase and what was read are forgotten.
    ///
    /// # Errors
    /// When no encrypted file is kept.
    pub async fn lock(&self) -> Result<(), KeyError> {
        self.act(PassphraseAct::Forget).await
    }

    async fn act(&self, act: PassphraseAct) -> Result<(), KeyError> {
        self.worker
            .ask(CALL_LIMIT, move |vault| vault.passphrase(act))
            .await
    }
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyStore({})", self.backend.name())
    }
}

#[cfg(test)]
mod tests;
