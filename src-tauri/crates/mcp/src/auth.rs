//! Signing in to a server: OAuth with an authorization code and PKCE, in the person's own browser,
//! with the answer taken on a loopback address. What comes of it is kept by a [`TokenStore`], and
//! a token is renewed once, however many calls find it stale at the same time.

mod callback;
mod kept;
mod signed;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use longrein_keys::{Known, SecretText};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    OAuthClientConfig, StoredCredentials, WWWAuthenticateParams,
};
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::Url;

use crate::clean::{head, plain};
use crate::config::{is_this_machine, shown};

use callback::Callback;
use kept::Keeper;
pub use kept::{TokenStore, TokenStoreError};
pub(crate) use signed::Signed;

/// What servers are told as our name when we register with them.
const CLIENT_NAME: &str = "Longrein";

/// How long a person has to sign in, from the moment the browser opens.
const SIGN_IN_LIMIT: Duration = Duration::from_secs(10 * 60);

/// How long each exchange with an authorization server may take.
const EXCHANGE_LIMIT: Duration = Duration::from_secs(45);

/// How long before its end a token is renewed, in seconds.
const RENEW_BEFORE_SECONDS: u64 = 30;

/// Where an authorization server says that it takes a document about us.
const TAKES_DOCUMENTS: &str = "client_id_metadata_document_supported";

/// The longest reason that a message carries.
const REASON_BYTES: usize = 600;

/// Opens a page for the person.
#[async_trait]
pub trait Browser: Send + Sync {
    /// Opens `url` in the person's own browser, or prints it where there is none. `host` is what
    /// the person should see before.
    ///
    /// # Errors
    /// Why it can't be opened, in a sentence.
    async fn open(&self, url: &str, host: &str) -> Result<(), BrowserError>;
}

/// Why a page could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BrowserError(pub String);

/// Who we are to an authorization server, as far as the person said.
#[derive(Clone, Default)]
pub struct ClientIdentity {
    /// An id that the person got from the server's makers; without it we register ourselves.
    pub id: Option<String>,
    /// The secret that belongs to that id.
    pub secret: Option<SecretText>,
    /// Where a document about us stands, for servers that take that instead of a registration.
    pub metadata_url: Option<String>,
    /// The rights to ask for; without any, those that the server names.
    pub scopes: Vec<String>,
}

/// Why a person could not be signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The server says nothing about signing in.
    #[error(
        "{server} offers no way to sign in ({reason}). If it takes a key, keep it with longrein keys set, and name it under headers in config.toml."
    )]
    NotOffered {
        /// The server's address.
        server: String,
        /// What was tried.
        reason: String,
    },
    /// It does not take us as a client.
    #[error(
        "{server} did not register this app ({reason}). If its makers gave you a client id, write it under oauth in config.toml."
    )]
    Registration {
        /// The server's address.
        server: String,
        /// What it said.
        reason: String,
    },
    /// What it said of itself can't be trusted.
    #[error("Signing in to {server} was not begun: {reason}.")]
    Unsafe {
        /// The server's address.
        server: String,
        /// What is off.
        reason: String,
    },
    /// The answer can't be taken on this machine.
    #[error("The answer of the sign-in can't be taken on this machine: {0}.")]
    Loopback(#[source] std::io::Error),
    /// The page can't be opened.
    #[error("The page for signing in can't be opened: {0}")]
    Browser(#[from] BrowserError),
    /// The person, or the server, said no.
    #[error("Signing in was refused: {0}.")]
    Refused(String),
    /// Nobody answered.
    #[error("Nobody signed in within {0} minutes. Try it again.")]
    TimedOut(u64),
    /// The code was not taken.
    #[error("{server} did not take the answer of the sign-in ({reason}). Try it again.")]
    Exchange {
        /// The server's address.
        server: String,
        /// What it said.
        reason: String,
    },
    /// The token can't be kept.
    #[error(transparent)]
    Store(#[from] TokenStoreError),
}

/// The sign-in of one server. Shared by all its connections.
pub struct SignIn {
    url: String,
    identity: ClientIdentity,
    keeper: Keeper,
    /// Held while a token is renewed, so that those who come meanwhile find the new one.
    renewing: Mutex<Option<AuthorizationManager>>,
}

impl SignIn {
    /// The sign-in of the server at `url`, whose tokens `store` keeps.
    pub fn new(url: &str, identity: ClientIdentity, store: Arc<dyn TokenStore>) -> Self {
        // What signs requests by TLS has to be chosen once for the process; a choice that was
        // made before stands.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            url: url.trim().to_owned(),
            identity,
            keeper: Keeper::new(store, Known::of_process()),
            renewing: Mutex::new(None),
        }
    }

    /// Whether a token is kept. It may be stale.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn is_signed_in(&self) -> Result<bool, TokenStoreError> {
        let kept = self.keeper.kept().await?;
        Ok(kept.is_some_and(|kept| kept.credentials.token_response.is_some()))
    }

    /// Forgets the token; `false` when none was kept.
    ///
    /// # Errors
    /// When the store can't be changed.
    pub async fn sign_out(&self) -> Result<bool, TokenStoreError> {
        let was_there = self.keeper.kept().await?.is_some();
        self.keeper.forget().await?;
        *self.renewing.lock().await = None;
        Ok(was_there)
    }

    /// Signs the person in: finds the authorization server, registers with it where that is
    /// needed, opens its page, waits for the answer and keeps the token. `challenge` is the
    /// header `WWW-Authenticate` of the answer that asked for it, where there was one.
    ///
    /// # Errors
    /// [`SignInError`], which says what would help.
    pub async fn sign_in(
        &self,
        challenge: Option<&str>,
        browser: &dyn Browser,
    ) -> Result<(), SignInError> {
        let mut renewing = self.renewing.lock().await;
        *renewing = None;
        let callback = Callback::listen().await.map_err(SignInError::Loopback)?;
        let redirect = callback.address();
        let (mut manager, takes_documents) = self.discovered(challenge).await?;
        let request = self
            .request(&mut manager, takes_documents, &redirect, challenge)
            .await?;
        let session = timeout(EXCHANGE_LIMIT, AuthorizationSession::new(manager, request))
            .await
            .map_err(|_| self.registration("it did not answer in time"))?
            .map_err(|(_, error)| self.of_registration(&error))?;
        let (page, host) = self.page(session.get_authorization_url())?;
        browser.open(page.as_str(), &host).await?;
        let answer = timeout(SIGN_IN_LIMIT, callback.answer(&page))
            .await
            .map_err(|_| SignInError::TimedOut(SIGN_IN_LIMIT.as_secs() / 60))??;
        let exchanged = timeout(EXCHANGE_LIMIT, session.handle_callback_url(&answer));
        let exchanged = exchanged
            .await
            .map_err(|_| self.exchange("it did not answer in time".to_owned()))?;
        exchanged.map_err(|error| self.of_exchange(&error))?;
        Ok(())
    }

    /// A manager that knows the authorization server, and whether that takes a document about us
    /// instead of a registration.
    async fn discovered(
        &self,
        challenge: Option<&str>,
    ) -> Result<(AuthorizationManager, bool), SignInError> {
        let not_offered = |error: &dyn std::fmt::Display| SignInError::NotOffered {
            server: shown(&self.url),
            reason: reason(error),
        };
        let mut manager = AuthorizationManager::new(self.url.as_str())
            .await
            .map_err(|error| not_offered(&error))?;
        manager.set_credential_store(self.keeper.clone());
        let resolving = timeout(
            EXCHANGE_LIMIT,
            manager.resolve_metadata_from_challenge(challenge),
        );
        let resolved = resolving
            .await
            .map_err(|_| not_offered(&"it did not answer in time"))?
            .map_err(|error| match error {
                AuthError::AuthorizationServerMismatch { .. }
                | AuthError::ProtectedResourceMetadataInvalid { .. }
                | AuthError::PkceUnsupported => SignInError::Unsafe {
                    server: shown(&self.url),
                    reason: reason(&error),
                },
                error => not_offered(&error),
            })?;
        let said = resolved.metadata.additional_fields.get(TAKES_DOCUMENTS);
        let takes_documents = said.and_then(serde_json::Value::as_bool).unwrap_or(false);
        manager.set_metadata(resolved.metadata);
        Ok((manager, takes_documents))
    }

    /// Who we are and what we ask for.
    async fn request(
        &self,
        manager: &mut AuthorizationManager,
        takes_documents: bool,
        redirect: &str,
        challenge: Option<&str>,
    ) -> Result<AuthorizationRequest, SignInError> {
        let scopes = self.scopes(manager, challenge).await?;
        let mut request = AuthorizationRequest::new(redirect)
            .with_client_name(CLIENT_NAME)
            .with_initial_scope_selection()
            .with_scopes(scopes.clone());
        self.keeper.remember_secret(None);
        if let Some(id) = &self.identity.id {
            request = request.with_preregistered_client(id);
            if let Some(secret) = &self.identity.secret {
                request = request.with_client_secret(secret.expose());
                self.keeper.remember_secret(Some(secret.expose()));
            }
            return Ok(request);
        }
        if let Some(url) = &self.identity.metadata_url
            && takes_documents
        {
            return Ok(request.with_client_metadata_url(url));
        }
        // Registered here rather than within the session, since the secret that may come of it
        // is needed again when the token is renewed.
        let asked = if scopes.is_empty() {
            manager.select_initial_scopes(&[]).await
        } else {
            scopes
        };
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let registering = manager.register_client(CLIENT_NAME, redirect, &asked);
        let client = timeout(EXCHANGE_LIMIT, registering)
            .await
            .map_err(|_| self.registration("it did not answer in time"))?
            .map_err(|error| self.of_registration(&error))?;
        request = request.with_preregistered_client(client.client_id);
        if let Some(secret) = client.client_secret {
            self.keeper.remember_secret(Some(&secret));
            request = request.with_client_secret(secret);
        }
        Ok(request)
    }

    /// The rights to ask for: what the person said; else, when a token lacks one, those that it
    /// has with the one that it lacks; else none, which leaves it to the server.
    async fn scopes(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<Vec<String>, SignInError> {
        if !self.identity.scopes.is_empty() {
            return Ok(self.identity.scopes.clone());
        }
        let base = Url::parse(&self.url).map_err(|error| SignInError::NotOffered {
            server: shown(&self.url),
            reason: error.to_string(),
        })?;
        let Some(challenge) = challenge else {
            return Ok(Vec::new());
        };
        let challenge = WWWAuthenticateParams::parse(challenge, &base);
        let missing = challenge.scope.clone().unwrap_or_default();
        if !challenge.is_insufficient_scope() || missing.is_empty() {
            return Ok(Vec::new());
        }
        let kept = self.keeper.kept().await?;
        let mut scopes = kept.map_or_else(Vec::new, |kept| kept.credentials.granted_scopes);
        if scopes.is_empty() {
            scopes = manager.get_current_scopes().await;
        }
        for scope in missing.split_whitespace() {
            if !scopes.iter().any(|known| known == scope) {
                scopes.push(scope.to_owned());
            }
        }
        Ok(scopes)
    }

    /// The page that is opened, with its host.
    fn page(&self, url: &str) -> Result<(Url, String), SignInError> {
        let unsafe_page = |reason: &str| SignInError::Unsafe {
            server: shown(&self.url),
            reason: reason.to_owned(),
        };
        let page =
            Url::parse(url).map_err(|_| unsafe_page("the page to sign in at has no address"))?;
        if page.scheme() != "https" && !(page.scheme() == "http" && is_this_machine(&page)) {
            return Err(unsafe_page("the page to sign in at is not under https"));
        }
        let host = page
            .host_str()
            .ok_or_else(|| unsafe_page("the page to sign in at names no host"))?
            .to_owned();
        Ok((page, host))
    }

    /// The token to send; `None` when nobody has signed in. Renewed first when it is about to end.
    /// Where what is kept can't be read, it is tried without: most servers ask for no sign-in.
    pub(crate) async fn token(&self) -> Result<Option<String>, AuthError> {
        let kept = match self.keeper.load().await {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::debug!("no sign-in can be read: {error}");
                return Ok(None);
            }
        };
        match (access(&kept), is_ending(&kept)) {
            (None, _) => Ok(None),
            (Some(token), false) => Ok(Some(token)),
            (Some(token), true) => self.renewed(&token).await,
        }
    }

    /// A token other than `stale`, which the server does not take any more: the one that somebody
    /// has renewed meanwhile, else a renewed one. `None` when the person has to sign in again.
    pub(crate) async fn renewed(&self, stale: &str) -> Result<Option<String>, AuthError> {
        let mut renewing = self.renewing.lock().await;
        // Other processes share what is kept.
        let _elsewhere = self.keeper.lock().await?;
        let Some(kept) = self.keeper.load().await? else {
            return Ok(None);
        };
        let current = access(&kept);
        if let Some(token) = current.filter(|token| token != stale && !is_ending(&kept)) {
            return Ok(Some(token));
        }
        if renewing.is_none() {
            *renewing = self.manager().await?;
        }
        let Some(manager) = renewing.as_ref() else {
            return Ok(None);
        };
        match timeout(EXCHANGE_LIMIT, manager.refresh_token()).await {
            Ok(Ok(_)) => {}
            Ok(Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_))) => {
                return Ok(None);
            }
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                return Err(AuthError::TokenRefreshFailed(
                    "the authorization server did not answer in time".to_owned(),
                ));
            }
        }
        Ok(self.keeper.load().await?.as_ref().and_then(access))
    }

    /// A manager that can renew what is kept; `None` when that is no longer this server's.
    async fn manager(&self) -> Result<Option<AuthorizationManager>, AuthError> {
        let mut manager = AuthorizationManager::new(self.url.as_str()).await?;
        manager.set_credential_store(self.keeper.clone());
        let begun = timeout(EXCHANGE_LIMIT, manager.initialize_from_store()).await;
        let known = begun.map_err(|_| {
            AuthError::TokenRefreshFailed(
                "the authorization server did not answer in time".to_owned(),
            )
        })??;
        if !known {
            return Ok(None);
        }
        let kept = self.keeper.whole().await?;
        if let Some((client, secret)) = kept.and_then(|kept| {
            let secret = kept.client_secret?;
            Some((kept.credentials.client_id, secret))
        }) {
            let client = OAuthClientConfig::new(client, self.url.as_str());
            manager.configure_client(client.with_client_secret(secret))?;
        }
        Ok(Some(manager))
    }

    fn registration(&self, reason: &str) -> SignInError {
        SignInError::Registration {
            server: shown(&self.url),
            reason: reason.to_owned(),
        }
    }

    fn of_registration(&self, error: &AuthError) -> SignInError {
        match error {
            AuthError::PkceUnsupported => SignInError::Unsafe {
                server: shown(&self.url),
                reason: reason(error),
            },
            error => self.registration(&reason(error)),
        }
    }

    fn exchange(&self, reason: String) -> SignInError {
        SignInError::Exchange {
            server: shown(&self.url),
            reason,
        }
    }

    fn of_exchange(&self, error: &AuthError) -> SignInError {
        match error {
            AuthError::CredentialStoreError(why) => TokenStoreError(why.clone()).into(),
            error => self.exchange(reason(error)),
        }
    }
}

fn reason(error: &dyn std::fmt::Display) -> String {
    head(&plain(&error.to_string()), REASON_BYTES)
}

/// A member of the answer that brought the token.
fn said(kept: &StoredCredentials, member: &str) -> Option<serde_json::Value> {
    let response = serde_json::to_value(kept.token_response.as_ref()?).ok()?;
    response.get(member).cloned()
}

fn access(kept: &StoredCredentials) -> Option<String> {
    said(kept, "access_token")?.as_str().map(str::to_owned)
}

fn is_ending(kept: &StoredCredentials) -> bool {
    let seconds = said(kept, "expires_in").and_then(|seconds| seconds.as_u64());
    let (Some(seconds), Some(received)) = (seconds, kept.token_received_at) else {
        return false;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let left = seconds.saturating_sub(now.saturating_sub(received));
    // A token that lives shortly is not renewed at every call.
    left < RENEW_BEFORE_SECONDS.min(seconds / 2).max(1)
}
