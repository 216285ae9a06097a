//! The passphrase of the encrypted file where nobody can type one: a service, a scheduled job.
//!
//! It comes from a file and never from an argument or the value of a variable: other programs of
//! the person can read both, and what is started inherits the latter. A file descriptor is a file
//! too (`/dev/fd/3`), and so is what a shell hands over for `<(command)`. A pipe by its name is
//! refused: without a writer it would be waited for without end.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longrein_keys::{KeyError, Passphrase, SecretText};

use crate::given_file;

/// The variable that names the file.
pub const PASSPHRASE_VARIABLE: &str = "LONGREIN_PASSPHRASE_FILE";

/// The credential of a systemd unit (`LoadCredential=`) that is taken when the variable is not set.
pub const CREDENTIAL: &str = "longrein-passphrase";

/// Where systemd puts the credentials of a unit.
const CREDENTIALS_FOLDER: &str = "CREDENTIALS_DIRECTORY";

/// The longest passphrase that is read, in bytes.
const PASSPHRASE_MAX_BYTES: u64 = 4 * 1024;

/// Where the passphrase lies. A pipe can be read once only, so what was read is kept.
pub(super) struct Given {
    /// The variable that names the file, and the file.
    file: Option<(&'static str, PathBuf)>,
    read: Mutex<Option<Passphrase>>,
}

impl Given {
    /// As the environment of this process says.
    pub(super) fn of_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let named = variable(PASSPHRASE_VARIABLE).map(|file| (PASSPHRASE_VARIABLE, file.into()));
        let credential = || {
            let file = PathBuf::from(variable(CREDENTIALS_FOLDER)?).join(CREDENTIAL);
            file.exists().then_some((CREDENTIALS_FOLDER, file))
        };
        Self::named(named.or_else(credential))
    }

    #[cfg(test)]
    pub(super) fn in_file(file: Option<PathBuf>) -> Self {
        Self::named(file.map(|file| (PASSPHRASE_VARIABLE, file)))
    }

    fn named(file: Option<(&'static str, PathBuf)>) -> Self {
        Self {
            file,
            read: Mutex::default(),
        }
    }

    /// The passphrase; `None` where none is given.
    ///
    /// # Errors
    /// When the file can't be read or holds none.
    pub(super) fn take(&self) -> Result<Option<Passphrase>, KeyError> {
        let Some((variable, file)) = &self.file else {
            return Ok(None);
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.is_none() {
            *read = Some(first_line(file).map_err(|error| KeyError::PassphraseFile {
                variable,
                path: file.clone(),
                cause: error.to_string(),
            })?);
        }
        Ok(read.clone())
    }
}

fn first_line(file: &Path) -> io::Result<Passphrase> {
    let mut bytes = Vec::new();
    given_file::open(file)?
        .take(PASSPHRASE_MAX_BYTES)
        .read_to_end(&mut bytes)?;
    let no_text = || io::Error::new(io::ErrorKind::InvalidData, "it is no text");
    let text = SecretText::from_utf8(bytes).ok_or_else(no_text)?;
    match text.expose().lines().next() {
        Some(line) if !line.trim().is_empty() => Ok(Passphrase::new(line)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> (tempfile::TempDir, Given) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        std::fs::write(&file, text).unwrap();
        (folder, Given::in_file(Some(file)))
    }

    #[test]
    fn the_passphrase_is_the_first_line_of_the_file_and_is_read_once() {
        let (folder, given) = given(" four words of it \nand a remark\n");
        let passphrase = Some(Passphrase::new(" four words of it "));
        assert_eq!(given.take().unwrap(), passphrase);
        // As a pipe is gone after it was read.
        drop(folder);
        assert_eq!(given.take().unwrap(), passphrase);
        assert_eq!(Given::in_file(None).take().unwrap(), None);
    }

    #[test]
    fn a_file_without_a_passphrase_is_said_and_not_taken_for_an_empty_one() {
        for text in ["", "\n", "  \nnext\n"] {
            let (_folder, given) = given(text);
            let error = given.take().unwrap_err().to_string();
            assert!(
                error.contains("LONGREIN_PASSPHRASE_FILE") && error.contains("it is empty"),
                "{error}"
            );
        }
    }
}
