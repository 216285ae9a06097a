//! The person's sign-in to a server, kept where the person keeps their keys.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use longrein_keys::{KeyError, SecretName, SecretText};
use longrein_mcp::{TokenStore, TokenStoreError};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::AppError;
use crate::keys::Keys;

/// How long another process is waited for, and how often it is looked at: longer than the exchange
/// that it may be at.
const HOLD_LIMIT: Duration = Duration::from_secs(60);
const HOLD_POLL: Duration = Duration::from_millis(20);

/// The token of one server, under `mcp.NAME.token`.
pub(super) struct KeptToken {
    name: SecretName,
    lock_file: PathBuf,
    keys: Keys,
}

impl KeptToken {
    pub(super) fn new(server: &str, data_dir: &Path, keys: Keys) -> Result<Self, AppError> {
        let name = SecretName::new(&format!("mcp.{server}.token")).map_err(KeyError::Name)?;
        Ok(Self {
            name,
            lock_file: data_dir.join("locks").join(format!("mcp-{server}.lock")),
            keys,
        })
    }
}

fn of_key(error: &KeyError) -> TokenStoreError {
    TokenStoreError(format!("{error} {}", error.remedy()))
}

#[async_trait]
impl TokenStore for KeptToken {
    async fn load(&self) -> Result<Option<SecretText>, TokenStoreError> {
        self.keys
            .own(&self.name)
            .await
            .map_err(|error| of_key(&error))
    }

    async fn save(&self, token: SecretText) -> Result<(), TokenStoreError> {
        let kept = self.keys.keep_own(&self.name, &token).await;
        kept.map_err(|error| of_key(&error))
    }

    async fn remove(&self) -> Result<(), TokenStoreError> {
        let removed = self.keys.forget_own(&self.name).await;
        removed.map(|_| ()).map_err(|error| of_key(&error))
    }

    async fn lock(&self) -> Result<Box<dyn Send + Sync>, TokenStoreError> {
        let path = self.lock_file.clone();
        let held = tokio::task::spawn_blocking(move || hold(&path)).await;
        match held {
            Ok(Ok(file)) => Ok(Box::new(file)),
            Ok(Err(error)) => Err(TokenStoreError(format!(
                "Other processes can't be held off while a token is renewed: {error}."
            ))),
            Err(error) => Err(TokenStoreError(format!("{error}."))),
        }
    }
}

/// Takes the lock. Whoever has it holds it for one exchange, which has a limit of its own.
fn hold(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let limit = Instant::now() + HOLD_LIMIT;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < limit => {
                std::thread::sleep(HOLD_POLL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}
