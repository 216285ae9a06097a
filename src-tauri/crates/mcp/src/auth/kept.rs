//! What is kept of a sign-in, and who keeps it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use longrein_keys::{Known, SecretText};
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};

/// Keeps the token of one server: in the keychain, or where the person said.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// What is kept; `None` when nothing is.
    ///
    /// # Errors
    /// When it can't be read.
    async fn load(&self) -> Result<Option<SecretText>, TokenStoreError>;

    /// Keeps it in the place of what was kept.
    ///
    /// # Errors
    /// When it can't be kept.
    async fn save(&self, token: SecretText) -> Result<(), TokenStoreError>;

    /// Forgets it. Nothing kept is no error.
    ///
    /// # Errors
    /// When it can't be removed.
    async fn remove(&self) -> Result<(), TokenStoreError>;

    /// Holds off other processes that share the store, until what is returned is dropped: a
    /// token is renewed once for all.
    ///
    /// # Errors
    /// When they can't be held off.
    async fn lock(&self) -> Result<Box<dyn Send + Sync>, TokenStoreError>;
}

/// Why a token can't be kept or read, in a sentence that says what would help.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TokenStoreError(pub String);

impl From<TokenStoreError> for AuthError {
    fn from(error: TokenStoreError) -> Self {
        Self::CredentialStoreError(error.0)
    }
}

/// All that is kept of a sign-in.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) credentials: StoredCredentials,
    /// The secret that the server gave us when we registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
}

/// Brings the library's idea of a store and ours together, and lets the masker learn every token.
/// Clones are one.
#[derive(Clone)]
pub(super) struct Keeper {
    store: Arc<dyn TokenStore>,
    known: Known,
    /// The client's secret of a sign-in that is going on.
    secret: Arc<Mutex<Option<String>>>,
}

impl Keeper {
    pub(super) fn new(store: Arc<dyn TokenStore>, known: Known) -> Self {
        Self {
            store,
            known,
            secret: Arc::default(),
        }
    }

    /// What is kept; what can't be read (of a later version) counts as nothing.
    pub(super) async fn kept(&self) -> Result<Option<Kept>, TokenStoreError> {
        let Some(text) = self.store.load().await? else {
            return Ok(None);
        };
        let kept: Option<Kept> = serde_json::from_str(text.expose()).ok();
        if let Some(kept) = &kept {
            self.learn(kept);
        }
        Ok(kept)
    }

    /// [`Self::kept`] in the library's words.
    pub(super) async fn whole(&self) -> Result<Option<Kept>, AuthError> {
        Ok(self.kept().await?)
    }

    pub(super) async fn forget(&self) -> Result<(), TokenStoreError> {
        self.store.remove().await
    }

    pub(super) async fn lock(&self) -> Result<Box<dyn Send + Sync>, AuthError> {
        Ok(self.store.lock().await?)
    }

    /// The client's secret that belongs to what is saved next.
    pub(super) fn remember_secret(&self, secret: Option<&str>) {
        if let Some(secret) = secret {
            self.known.learn(&SecretText::new(secret));
        }
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = secret.map(str::to_owned);
    }

    fn learn(&self, kept: &Kept) {
        let response = serde_json::to_value(&kept.credentials.token_response).unwrap_or_default();
        for name in ["access_token", "refresh_token", "id_token"] {
            if let Some(token) = response.get(name).and_then(serde_json::Value::as_str) {
                self.known.learn(&SecretText::new(token));
            }
        }
        if let Some(secret) = &kept.client_secret {
            self.known.learn(&SecretText::new(secret.as_str()));
            let mut own = self.secret.lock().unwrap_or_else(PoisonError::into_inner);
            if own.is_none() {
                *own = Some(secret.clone());
            }
        }
    }
}

#[async_trait]
impl CredentialStore for Keeper {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.kept().await?.map(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let client_secret = self
            .secret
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let kept = Kept {
            credentials,
            client_secret,
        };
        self.learn(&kept);
        let text = serde_json::to_string(&kept)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        Ok(self.store.save(SecretText::exact(text)).await?)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        Ok(self.store.remove().await?)
    }
}
