//! The keys of this machine, as the person chose to keep them: found for a provider or a server at
//! the moment of use, listed without showing them, set, replaced, removed, moved.

mod keyed;
mod list;
mod passphrase;
mod place;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_keys::check::{self, Given, Oddity};
use longrein_keys::environment::{process_variable, secrets_in};
use longrein_keys::{
    Backend, Key, KeyError, KeyErrorClass, KeyStore, Known, Masker, Named, Passphrase, SecretName,
    SecretText, Standing, Wanted,
};

use crate::Longrein;
use crate::config::{Config, Current, EnvValue, McpConfig, ProviderConfig, SecretReference};
use crate::error::{AppError, AppErrorCode};

pub(crate) use keyed::KeyedModel;
pub use list::{KeyLine, KeyList, KeyProblem, KeyUse};
pub use passphrase::{CREDENTIAL, PASSPHRASE_VARIABLE};
pub use place::{KeyPlace, Moved};

/// The keys of one installation. Copies are one.
#[derive(Clone)]
pub struct Keys {
    inner: Arc<Inner>,
}

struct Inner {
    data_dir: PathBuf,
    config: Current,
    known: Known,
    /// Where they are kept now. One place at a time, since what is kept in memory lives in it.
    store: Mutex<KeyStore>,
    /// Where a passphrase comes from when nobody can type one; taken at the first need.
    given: passphrase::Given,
    /// How a variable of the environment is read.
    variable: Variable,
    /// Whether nobody is there who could give a passphrase.
    asks_nobody: AtomicBool,
}

/// A variable of the environment; `None` when it is not set or empty.
type Variable = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What became of a key that was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The name that it is kept under.
    pub name: SecretName,
    /// Whether it took the place of another.
    pub replaced: bool,
    /// What is odd about it, in sentences; it is kept all the same.
    pub notes: Vec<String>,
}

impl Keys {
    /// The keys of this data folder. Nobody is asked anything yet; secrets in the environment are
    /// masked from now on.
    pub(crate) fn new(data_dir: &Path, config: Current) -> Self {
        let known = Known::of_process();
        let given = passphrase::Given::of_process();
        let keys = Self::with(data_dir, config, known, given, Box::new(process_variable));
        keys.learn_environment();
        keys
    }

    fn with(
        data_dir: &Path,
        config: Current,
        known: Known,
        given: passphrase::Given,
        variable: Variable,
    ) -> Self {
        let backend = config.get().keys.store.unwrap_or_default();
        Self {
            inner: Arc::new(Inner {
                data_dir: data_dir.to_path_buf(),
                store: Mutex::new(KeyStore::new(backend, data_dir, known.clone())),
                known,
                config,
                given,
                variable,
                asks_nobody: AtomicBool::new(false),
            }),
        }
    }

    /// What masks every secret that this process knows now.
    pub fn masker(&self) -> Masker {
        self.inner.known.masker()
    }

    /// Where keys are kept.
    pub fn backend(&self) -> Backend {
        self.store().backend()
    }

    /// The key of a provider, with where it was found; `None` when it needs none or none is there.
    /// A file that is not there yet is no failure for a server on this machine that the
    /// configuration names no key for: hardly any needs one. Nor is a closed one that nobody is
    /// there to open.
    ///
    /// # Errors
    /// When a key that the configuration names is not there, or what is kept can't be read.
    pub(crate) async fn of_provider(
        &self,
        provider: &str,
        config: &ProviderConfig,
    ) -> Result<Option<Key>, KeyError> {
        let wanted = Wanted {
            provider,
            named: config.named_key(),
        };
        match self.store().find(&wanted, &self.inner.variable).await {
            Err(error) if is_closed(&error) => {
                let store = self.opened().await?;
                match store.find(&wanted, &self.inner.variable).await {
                    Err(error) if needs_none(config) && self.is_out_of_reach(&error) => Ok(None),
                    found => found,
                }
            }
            found => found,
        }
    }

    /// From now on nobody can be asked for a passphrase: a provider that hardly
    /// needs a key goes without one while the file is closed.
    pub fn ask_nobody(&self) {
        self.inner.asks_nobody.store(true, Ordering::Relaxed);
    }

    /// Whether no person can help: there is no file to open, or nobody to open it.
    fn is_out_of_reach(&self, error: &KeyError) -> bool {
        match error.class() {
            KeyErrorClass::NoFile => true,
            KeyErrorClass::NeedsPassphrase => self.inner.asks_nobody.load(Ordering::Relaxed),
            _ => false,
        }
    }

    /// The variables that a server is granted, with their values, each masked from now on. They
    /// are for the server's environment alone.
    ///
    /// # Errors
    /// When one is to come from a variable that is not set or a secret that is not there, or when
    /// what is kept can't be read.
    pub(crate) async fn of_server(
        &self,
        server: &str,
        config: &McpConfig,
    ) -> Result<BTreeMap<String, String>, AppError> {
        let mut granted = BTreeMap::new();
        for (name, value) in &config.env {
            let value = match value {
                EnvValue::Plain(value) => value.clone(),
                EnvValue::Variable(from) => self.variable(server, ("env", name), from)?,
                EnvValue::Secret(kept) => self.secret(server, ("env", name), kept).await?,
            };
            granted.insert(name.clone(), value);
        }
        Ok(granted)
    }

    /// The headers that a server's requests carry, with their values.
    ///
    /// # Errors
    /// As [`Self::of_server`].
    pub(crate) async fn headers_of_server(
        &self,
        server: &str,
        config: &McpConfig,
    ) -> Result<BTreeMap<String, SecretText>, AppError> {
        let mut headers = BTreeMap::new();
        for (name, header) in &config.headers {
            let value = match &header.value {
                EnvValue::Plain(value) => value.clone(),
                EnvValue::Variable(from) => self.variable(server, ("headers", name), from)?,
                EnvValue::Secret(kept) => self.secret(server, ("headers", name), kept).await?,
            };
            let whole = SecretText::exact(format!("{}{value}", header.before));
            headers.insert(name.clone(), whole);
        }
        Ok(headers)
    }

    /// The secret of the client that the person registered with a server's makers.
    ///
    /// # Errors
    /// As [`Self::of_server`].
    pub(crate) async fn client_secret_of_server(
        &self,
        server: &str,
        config: &McpConfig,
    ) -> Result<Option<SecretText>, AppError> {
        let name = ("sign_in", "client_secret");
        let value = match &config.sign_in.client_secret {
            None => return Ok(None),
            Some(SecretReference::Variable(from)) => self.variable(server, name, from)?,
            Some(SecretReference::Kept(kept)) => self.secret(server, name, kept).await?,
        };
        Ok(Some(SecretText::exact(value)))
    }

    /// What is kept under a name of ours, that no person gave.
    ///
    /// # Errors
    /// When the place can't be read.
    pub(crate) async fn own(&self, name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        self.opened().await?.get(name).await
    }

    /// Keeps something under a name of ours.
    ///
    /// # Errors
    /// When the place can't be used.
    pub(crate) async fn keep_own(
        &self,
        name: &SecretName,
        secret: &SecretText,
    ) -> Result<(), KeyError> {
        self.opened().await?.set(name, secret).await
    }

    /// Forgets what is kept under a name of ours.
    ///
    /// # Errors
    /// When the place can't be used.
    pub(crate) async fn forget_own(&self, name: &SecretName) -> Result<bool, KeyError> {
        self.opened().await?.remove(name).await
    }

    fn variable(
        &self,
        server: &str,
        (table, name): (&str, &str),
        from: &str,
    ) -> Result<String, AppError> {
        let Some(value) = (self.inner.variable)(from) else {
            return Err(AppError::usage(
                format!(
                    "{name} of the server {server} is to come from the variable {from}, which is not set."
                ),
                format!("Set {from}, or take {name} out of {table} in [mcp.{server}]."),
            ));
        };
        self.inner.known.learn(&SecretText::new(value.as_str()));
        Ok(value)
    }

    async fn secret(
        &self,
        server: &str,
        (table, name): (&str, &str),
        kept: &SecretName,
    ) -> Result<String, AppError> {
        let Some(secret) = self.opened().await?.get(kept).await? else {
            return Err(AppError::usage(
                format!(
                    "{name} of the server {server} is to be the secret {kept}, which is not there."
                ),
                format!(
                    "Keep it with: longrein keys set {kept}. Or take {name} out of {table} in [mcp.{server}]."
                ),
            ));
        };
        Ok(secret.expose().to_owned())
    }

    /// Keeps a key for a provider, or a secret under this name, in place of the one that was
    /// there.
    ///
    /// # Errors
    /// When the text can't be one, when the configuration takes this provider's key from a
    /// variable alone, or when the place can't be used.
    pub async fn set(&self, name: &str, text: &str) -> Result<Kept, AppError> {
        let given = SecretText::new(text);
        // Whatever it is, it was meant to be secret.
        self.inner.known.learn(&given);
        let (name, checked) = self.checked(name, text)?;
        let Given { secret, oddities } = checked;
        let store = self.opened().await?;
        let replaced = store.get(&name).await?.is_some();
        store.set(&name, &secret).await?;
        Ok(Kept {
            name,
            replaced,
            notes: oddities.iter().map(Oddity::to_string).collect(),
        })
    }

    /// Removes what is kept for a provider or under this name; false when nothing was. A variable
    /// of the environment stays.
    ///
    /// # Errors
    /// When the name is none, or the place can't be used.
    pub async fn remove(&self, name: &str) -> Result<bool, AppError> {
        let name = self.kept_as(name)?;
        Ok(self.opened().await?.remove(&name).await?)
    }

    /// Masks the secrets of the environment from now on: keys, and what the configuration names.
    pub(crate) fn learn_environment(&self) {
        let config = self.inner.config.get();
        let named = variables_in(&config);
        let also = |name: &str| named.iter().any(|variable| variable == name);
        self.inner
            .known
            .learn_each(secrets_in(std::env::vars_os(), &also));
    }

    fn store(&self) -> KeyStore {
        self.inner
            .store
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The place. An encrypted file that is closed, or not there yet, is opened or begun with the
    /// passphrase that the environment of a service gives, where it gives one.
    async fn opened(&self) -> Result<KeyStore, KeyError> {
        let store = self.store();
        if store.backend() == Backend::File
            && store.look().await? != Standing::Ready
            && let Some(passphrase) = self.inner.given.take()?
        {
            open(&store, passphrase).await?;
        }
        Ok(store)
    }

    /// The secret's name and the checked text.
    fn checked(&self, name: &str, text: &str) -> Result<(SecretName, Given), AppError> {
        let kept_as = self.kept_as(name)?;
        let is_provider = self.inner.config.get().providers.contains_key(name);
        let checked = if is_provider {
            check::provider_key(name, text)
        } else {
            check::any_secret(text)
        };
        let unfit = |why| KeyError::Unfit {
            name: kept_as.clone(),
            why,
        };
        let given = checked.map_err(|why| AppError::from(unfit(why)))?;
        Ok((kept_as, given))
    }

    /// The name that a provider's key is kept under, or this very name where it is none.
    fn kept_as(&self, name: &str) -> Result<SecretName, AppError> {
        let config = self.inner.config.get();
        let provider = config.providers.get(name);
        match provider.map(ProviderConfig::named_key) {
            Some(Named::Secret(secret)) => Ok(secret),
            Some(Named::Variable(variable)) => Err(AppError::usage(
                format!(
                    "The key of provider {name} comes from the variable {variable} alone, as config.toml says."
                ),
                format!("Take key out of [providers.{name}] first; then it can be kept here."),
            )),
            Some(Named::Nothing) | None => Ok(SecretName::new(name).map_err(KeyError::Name)?),
        }
    }
}

impl Longrein {
    /// Whether the key of a model can be had, before anything is begun that needs it.
    ///
    /// # Errors
    /// What is wrong with the key, and what the person can do.
    pub(crate) async fn check_key(&self, model: &str) -> Result<(), AppError> {
        let config = self.config();
        let provider = model
            .split_once('/')
            .map_or(model, |(provider, _)| provider);
        if let Some(of) = config.providers.get(provider) {
            self.keys().of_provider(provider, of).await?;
        }
        Ok(())
    }
}

/// Opens the encrypted file, or makes it where there is none.
async fn open(store: &KeyStore, passphrase: Passphrase) -> Result<(), KeyError> {
    match store.unlock(passphrase.clone()).await {
        Err(KeyError::NoFile { .. }) => store.begin(passphrase).await,
        answer => answer,
    }
}

/// Whether a provider most likely takes no key: the configuration names none, and it is on this
/// machine.
fn needs_none(config: &ProviderConfig) -> bool {
    config.named_key() == Named::Nothing && config.is_here()
}

/// Whether a passphrase would help.
fn is_closed(error: &KeyError) -> bool {
    matches!(
        error.class(),
        KeyErrorClass::NeedsPassphrase | KeyErrorClass::NoFile
    )
}

/// The variables of our environment that the configuration names: all of them hold secrets.
fn variables_in(config: &Config) -> Vec<String> {
    let of_providers = config
        .providers
        .values()
        .filter_map(|provider| match &provider.key {
            Some(SecretReference::Variable(variable)) => Some(variable.clone()),
            _ => None,
        });
    let of_servers =
        config
            .mcp
            .values()
            .flat_map(McpConfig::values)
            .filter_map(|value| match value {
                EnvValue::Variable(variable) => Some(variable.clone()),
                EnvValue::Plain(_) | EnvValue::Secret(_) => None,
            });
    of_providers.chain(of_servers).collect()
}

impl From<KeyError> for AppError {
    fn from(error: KeyError) -> Self {
        let code = match error.class() {
            KeyErrorClass::NeedsPassphrase | KeyErrorClass::NoFile => AppErrorCode::Locked,
            KeyErrorClass::Busy | KeyErrorClass::System => AppErrorCode::Io,
            KeyErrorClass::Damaged => AppErrorCode::Unreadable,
            KeyErrorClass::Unavailable
            | KeyErrorClass::Locked
            | KeyErrorClass::WrongPassphrase
            | KeyErrorClass::Mistake => AppErrorCode::Usage,
        };
        Self::new(code, error.to_string(), error.remedy())
    }
}

#[cfg(test)]
mod tests;
