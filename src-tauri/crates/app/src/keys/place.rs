//! Where keys are kept: how the place is, opening it, and choosing another.

use longrein_keys::{
    Backend, KeyError, KeyErrorClass, KeyStore, Passphrase, SECRETS_FILE, SecretName, Standing,
};
use serde::Serialize;

use super::list::KeyProblem;
use super::{Keys, open};
use crate::config;
use crate::error::AppError;

/// Where keys are kept, and how that place is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct KeyPlace {
    /// Which it is.
    pub backend: Backend,
    /// Whether the person chose it, or nobody has chosen yet.
    pub chosen: bool,
    /// How it is; `None` when it can't be used.
    pub standing: Option<Standing>,
    /// Why it can't be used.
    pub problem: Option<KeyProblem>,
    /// The encrypted file, whether or not it is the place.
    pub file: String,
    /// Whether that file is there.
    pub file_exists: bool,
}

/// What was taken from one place to another.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Moved {
    /// The secrets that are in the new place.
    pub moved: Vec<SecretName>,
    /// Those of them that could not be removed from the old one.
    pub left_behind: Vec<SecretName>,
}

impl Keys {
    /// How the place is. Nobody is asked to unlock anything.
    pub async fn place(&self) -> KeyPlace {
        let looked = self.looked().await;
        let problem = looked.as_ref().err().map(KeyProblem::of);
        let file = self.inner.data_dir.join(SECRETS_FILE);
        KeyPlace {
            backend: self.backend(),
            chosen: self.inner.config.get().keys.store.is_some(),
            standing: looked.ok(),
            problem,
            file_exists: file.exists(),
            file: file.display().to_string(),
        }
    }

    /// A closed file is opened with the passphrase that the environment of a service gives.
    async fn looked(&self) -> Result<Standing, KeyError> {
        match self.store().look().await? {
            // Looking makes no file where there is none.
            Standing::Locked => self.opened().await?.look().await,
            standing => Ok(standing),
        }
    }

    /// Whether a run with this provider needs a passphrase that nobody has given yet; of any
    /// provider, when none is named.
    pub async fn asks_for_passphrase(&self, provider: Option<&str>) -> bool {
        if self.backend() != Backend::File {
            return false;
        }
        let list = self.list().await;
        list.place.standing == Some(Standing::Locked)
            && list.keys.iter().any(|line| {
                let is_meant = provider.is_none_or(|provider| provider == line.name);
                is_meant && line.found.is_none() && line.kept_as.is_some()
            })
    }

    /// Opens the encrypted file with its passphrase, or a locked keychain by asking the system for
    /// it.
    ///
    /// # Errors
    /// When the passphrase is another, or the place can't be used.
    pub async fn unlock(&self, passphrase: Option<Passphrase>) -> Result<(), AppError> {
        let store = self.store();
        if let Some(passphrase) = passphrase {
            store.unlock(passphrase).await?;
        }
        // The system asks the person when something is read.
        store.names().await?;
        Ok(())
    }

    /// Makes the encrypted file.
    ///
    /// # Errors
    /// When the passphrase is too short, or there is a file already.
    pub async fn begin(&self, passphrase: Passphrase) -> Result<(), AppError> {
        Ok(self.store().begin(passphrase).await?)
    }

    /// Encrypts the file with another passphrase. The old one is asked again: whoever sits at an
    /// open window must not lock its owner out.
    ///
    /// # Errors
    /// When the old passphrase is another, or the new one is too short.
    pub async fn change_passphrase(
        &self,
        old: Passphrase,
        new: Passphrase,
    ) -> Result<(), AppError> {
        let store = self.store();
        store.unlock(old).await?;
        Ok(store.change_passphrase(new).await?)
    }

    /// Forgets the passphrase and what was read with it.
    ///
    /// # Errors
    /// When no encrypted file is kept.
    pub async fn lock(&self) -> Result<(), AppError> {
        Ok(self.store().lock().await?)
    }

    /// Keeps keys in another place from now on. The passphrase opens the encrypted file, or makes
    /// it where there is none; it is for that place alone. With `take_along`, what is kept now is
    /// taken there, and removed here when the choice is written down; without, it stays where it
    /// is, save what was in memory only.
    ///
    /// # Errors
    /// When the new place can't be used, or the old one can't be read; nothing has changed then,
    /// save that a file may have been made.
    pub async fn choose(
        &self,
        backend: Backend,
        passphrase: Option<Passphrase>,
        take_along: bool,
    ) -> Result<Moved, AppError> {
        let old = self.store();
        if backend == old.backend() {
            self.remember(backend)?;
            return Ok(Moved::default());
        }
        let new = KeyStore::new(backend, &self.inner.data_dir, self.inner.known.clone());
        if backend == Backend::File {
            let given = match passphrase {
                Some(passphrase) => Some(passphrase),
                None => self.inner.given.take()?,
            };
            if let Some(passphrase) = given {
                open(&new, passphrase).await?;
            }
        }
        usable(&new, &self.inner.data_dir).await?;
        let moved = if take_along {
            copied(&old, &new).await?
        } else {
            Vec::new()
        };
        self.remember(backend)?;
        *self
            .inner
            .store
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = new;
        let mut left_behind = Vec::new();
        for name in &moved {
            if old.remove(name).await.is_err() {
                left_behind.push(name.clone());
            }
        }
        Ok(Moved { moved, left_behind })
    }

    fn remember(&self, backend: Backend) -> Result<(), AppError> {
        let config = config::set_key_store(&self.inner.data_dir, backend)?;
        self.inner.config.take(config);
        Ok(())
    }
}

/// Copies everything. A place that is not there keeps nothing, so that there is nothing to copy.
async fn copied(old: &KeyStore, new: &KeyStore) -> Result<Vec<SecretName>, AppError> {
    match old.copy_to(new).await {
        Err(error) if error.class() == KeyErrorClass::Unavailable => Ok(Vec::new()),
        copied => Ok(copied?),
    }
}

/// Whether a place takes secrets; one that has to be opened first does not yet.
async fn usable(store: &KeyStore, data_dir: &std::path::Path) -> Result<(), AppError> {
    let path = data_dir.join(SECRETS_FILE);
    match (store.backend(), store.look().await?) {
        (Backend::File, Standing::Locked) => Err(KeyError::NeedsPassphrase { path }.into()),
        (Backend::File, Standing::New) => Err(KeyError::NoFile { path }.into()),
        _ => Ok(()),
    }
}
