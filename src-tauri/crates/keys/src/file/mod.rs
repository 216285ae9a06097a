//! Secrets in one file that a passphrase encrypts, for systems without a keychain: `secrets.age`
//! in the data folder, in the format of age with scrypt.
//!
//! Every change encrypts the whole file anew and replaces it at once, under a lock that all
//! processes keep. The passphrase stays in memory only.

mod disk;
mod format;

use std::io::{self, Read, Write};
use std::path::Path;

use age::secrecy::SecretString;
use age::{DecryptError, scrypt};
use zeroize::Zeroizing;

use self::disk::Place;
use self::format::{Fault, Secrets};
use crate::error::cause;
use crate::store::{PassphraseAct, Standing, Vault};
use crate::{KeyError, SecretName, SecretText};

/// The file's name in the data folder.
pub const SECRETS_FILE: &str = "secrets.age";

/// The shortest passphrase that a file is made with, in letters.
pub const PASSPHRASE_MIN_LETTERS: usize = 8;

/// scrypt's work factor, as a power of two: 128 MiB and half a second for each guess.
const WORK: u8 = 17;

/// The most that is done for a file from elsewhere: 1 GiB, a few seconds.
const WORK_MAX: u8 = 20;

const WHOSE: &str = "The file of secrets";

/// What encrypts the file. It stays in memory, which is cleared when it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passphrase(SecretText);

impl Passphrase {
    /// Takes a passphrase as it was typed, spaces and all.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretText::exact(text))
    }

    /// The passphrase as a secret, to be masked like any other.
    pub fn as_secret(&self) -> &SecretText {
        &self.0
    }

    fn is_weak(&self) -> bool {
        self.0.expose().trim().chars().count() < PASSPHRASE_MIN_LETTERS
    }

    fn for_age(&self) -> SecretString {
        SecretString::from(self.0.expose())
    }
}

/// The encrypted file.
pub(crate) struct AgeFile {
    place: Place,
    work: u8,
    passphrase: Option<Passphrase>,
    /// What was last read or written, so that the passphrase is worked on once and not each time.
    last: Option<Last>,
}

struct Last {
    /// The file's bytes; another process may have replaced them.
    bytes: Vec<u8>,
    secrets: Secrets,
}

impl AgeFile {
    /// The file in this folder. Nothing is read yet.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            place: Place::new(folder, SECRETS_FILE),
            work: WORK,
            passphrase: None,
            last: None,
        }
    }

    /// The secrets as they are on the disk now; `None` when there is no file.
    fn secrets(&mut self) -> Result<Option<&Secrets>, KeyError> {
        let Some(bytes) = self.place.read()? else {
            self.last = None;
            return Ok(None);
        };
        if self.last.as_ref().is_none_or(|last| last.bytes != bytes) {
            self.last = None;
            let path = self.place.path();
            let passphrase = self.passphrase.as_ref();
            let passphrase = passphrase.ok_or(KeyError::NeedsPassphrase { path })?;
            match self.decrypt(&bytes, passphrase) {
                Ok(secrets) => self.last = Some(Last { bytes, secrets }),
                Err(error) => {
                    // Another process has changed it: the one that is held is good for nothing.
                    if matches!(error, KeyError::WrongPassphrase { .. }) {
                        self.passphrase = None;
                    }
                    return Err(error);
                }
            }
        }
        Ok(self.last.as_ref().map(|last| &last.secrets))
    }

    /// Changes the secrets, unless `change` says that nothing has changed.
    fn change(&mut self, change: impl FnOnce(&mut Secrets) -> bool) -> Result<bool, KeyError> {
        let lock = self.place.lock()?;
        let mut secrets = self.secrets()?.cloned().unwrap_or_default();
        // With a file there would have been an error by now.
        let path = self.place.path();
        let passphrase = self.passphrase.clone();
        let passphrase = passphrase.ok_or(KeyError::NoFile { path })?;
        let changed = change(&mut secrets);
        if changed {
            self.write(secrets, &passphrase, &lock)?;
        }
        Ok(changed)
    }

    fn write(
        &mut self,
        secrets: Secrets,
        passphrase: &Passphrase,
        lock: &disk::Lock,
    ) -> Result<(), KeyError> {
        let bytes = self.encrypt(&secrets, passphrase)?;
        self.place.replace(&bytes, lock)?;
        self.last = Some(Last { bytes, secrets });
        Ok(())
    }

    fn encrypt(&self, secrets: &Secrets, passphrase: &Passphrase) -> Result<Vec<u8>, KeyError> {
        let failed = |error: &dyn std::fmt::Display| KeyError::Failed {
            whose: WHOSE,
            cause: cause(error),
        };
        let mut recipient = scrypt::Recipient::new(passphrase.for_age());
        recipient.set_work_factor(self.work);
        let recipients = std::iter::once(&recipient as &dyn age::Recipient);
        let encryptor =
            age::Encryptor::with_recipients(recipients).map_err(|error| failed(&error))?;
        let text = format::write(secrets);
        let mut bytes = Vec::new();
        let written = encryptor.wrap_output(&mut bytes).and_then(|mut stream| {
            stream.write_all(text.as_bytes())?;
            stream.finish()
        });
        written.map_err(|error| failed(&error))?;
        Ok(bytes)
    }

    fn decrypt(&self, bytes: &[u8], passphrase: &Passphrase) -> Result<Secrets, KeyError> {
        let path = || self.place.path();
        let damaged = |why| KeyError::Damaged { path: path(), why };
        let mut identity = scrypt::Identity::new(passphrase.for_age());
        identity.set_max_work_factor(WORK_MAX);
        let decryptor =
            age::Decryptor::new_buffered(bytes).map_err(|error| self.explain(&error))?;
        if !decryptor.is_scrypt() {
            return Err(damaged("no passphrase encrypts it"));
        }
        let identities = std::iter::once(&identity as &dyn age::Identity);
        let mut stream = decryptor
            .decrypt(identities)
            .map_err(|error| self.explain(&error))?;
        // Made as long as it gets, so that growing leaves no copy behind.
        let mut text = Zeroizing::new(Vec::with_capacity(bytes.len()));
        stream
            .read_to_end(&mut text)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged("it ends too early"),
                _ => damaged("a part of it was changed"),
            })?;
        format::read(&text).map_err(|fault| match fault {
            Fault::Newer => KeyError::Newer { path: path() },
            Fault::Damaged(why) => damaged(why),
        })
    }

    fn explain(&self, error: &DecryptError) -> KeyError {
        let path = self.place.path();
        let why = match error {
            // What wraps the file's key does not open. Damage of these few bytes looks the same.
            DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
                return KeyError::WrongPassphrase { path };
            }
            DecryptError::ExcessiveWork { required, .. } => {
                let work = *required;
                return KeyError::Costly { path, work };
            }
            DecryptError::Io(_) => "it ends too early",
            DecryptError::InvalidMac => "its beginning was changed",
            DecryptError::UnknownFormat => "it is of another version of age",
            _ => "it does not begin as such a file does",
        };
        KeyError::Damaged { path, why }
    }

    /// Opens the file that is there.
    fn unlock(&mut self, passphrase: Passphrase) -> Result<(), KeyError> {
        let path = self.place.path();
        let bytes = self.place.read()?.ok_or(KeyError::NoFile { path })?;
        let secrets = self.decrypt(&bytes, &passphrase)?;
        self.last = Some(Last { bytes, secrets });
        self.passphrase = Some(passphrase);
        Ok(())
    }

    /// Makes a file without secrets where there is none.
    fn begin(&mut self, passphrase: Passphrase) -> Result<(), KeyError> {
        if passphrase.is_weak() {
            return Err(KeyError::WeakPassphrase);
        }
        let lock = self.place.lock()?;
        if self.place.read()?.is_some() {
            let path = self.place.path();
            return Err(KeyError::FileExists { path });
        }
        self.write(Secrets::new(), &passphrase, &lock)?;
        self.passphrase = Some(passphrase);
        Ok(())
    }

    /// Encrypts what is there with another passphrase.
    fn change_passphrase(&mut self, passphrase: Passphrase) -> Result<(), KeyError> {
        if passphrase.is_weak() {
            return Err(KeyError::WeakPassphrase);
        }
        let lock = self.place.lock()?;
        let path = self.place.path();
        let secrets = self.secrets()?.ok_or(KeyError::NoFile { path })?.clone();
        self.write(secrets, &passphrase, &lock)?;
        self.passphrase = Some(passphrase);
        Ok(())
    }
}

impl Vault for AgeFile {
    fn look(&mut self) -> Result<Standing, KeyError> {
        match self.secrets() {
            Ok(Some(_)) => Ok(Standing::Ready),
            Ok(None) => Ok(Standing::New),
            Err(KeyError::NeedsPassphrase { .. } | KeyError::WrongPassphrase { .. }) => {
                Ok(Standing::Locked)
            }
            Err(error) => Err(error),
        }
    }

    fn get(&mut self, name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        let secrets = self.secrets()?;
        Ok(secrets.and_then(|secrets| secrets.get(name)).cloned())
    }

    fn set(&mut self, name: &SecretName, secret: &SecretText) -> Result<(), KeyError> {
        self.change(|secrets| {
            secrets.insert(name.clone(), secret.clone()).as_ref() != Some(secret)
        })?;
        Ok(())
    }

    fn remove(&mut self, name: &SecretName) -> Result<bool, KeyError> {
        if self
            .secrets()?
            .is_none_or(|secrets| !secrets.contains_key(name))
        {
            return Ok(false);
        }
        self.change(|secrets| secrets.remove(name).is_some())
    }

    fn names(&mut self) -> Result<Vec<SecretName>, KeyError> {
        let secrets = self.secrets()?;
        Ok(secrets.map_or_else(Vec::new, |secrets| secrets.keys().cloned().collect()))
    }

    fn passphrase(&mut self, act: PassphraseAct) -> Result<(), KeyError> {
        match act {
            PassphraseAct::Unlock(passphrase) => self.unlock(passphrase),
            PassphraseAct::Begin(passphrase) => self.begin(passphrase),
            PassphraseAct::Change(passphrase) => self.change_passphrase(passphrase),
            PassphraseAct::Forget => {
                self.passphrase = None;
                self.last = None;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
