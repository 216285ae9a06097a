//! A model whose key is found at the moment of use: a run that goes on after its key was replaced
//! sends the new one, and nothing holds a key that is not sent.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_keys::{KeyError, SecretText};
use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};

use super::Keys;
use crate::config::ProviderConfig;

/// Makes the model with a key, or without one.
pub(crate) type Making =
    Box<dyn Fn(Option<&SecretText>) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

/// A model of a provider that may need a key.
pub(crate) struct KeyedModel {
    keys: Keys,
    provider: String,
    config: ProviderConfig,
    make: Making,
    /// Writes the requests, which no key has a part in.
    writer: Arc<dyn Model>,
    /// The model with the key that was last sent; its connections stay open.
    last: Mutex<Option<(SecretText, Arc<dyn Model>)>>,
}

impl KeyedModel {
    /// A model of this provider. Its key is looked for with each request.
    ///
    /// # Errors
    /// When the model can't be made.
    pub(crate) fn new(
        keys: Keys,
        provider: &str,
        config: &ProviderConfig,
        make: Making,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            keys,
            provider: provider.to_owned(),
            config: config.clone(),
            writer: make(None)?,
            make,
            last: Mutex::default(),
        })
    }

    fn with(&self, key: SecretText) -> Result<Arc<dyn Model>, ModelError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(model.clone());
        }
        let model = (self.make)(Some(&key))?;
        *last = Some((key, model.clone()));
        Ok(model)
    }
}

#[async_trait]
impl Model for KeyedModel {
    fn dialect(&self) -> &dyn Dialect {
        self.writer.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        // A locked keychain waits for the person, who may stop the run instead.
        let found = tokio::select! {
            biased;
            () = call.cancel.cancelled() => return Err(stopped()),
            found = self.keys.of_provider(&self.provider, &self.config) => found,
        };
        let model = match found.map_err(|error| no_key(&error))? {
            Some(key) => self.with(key.secret)?,
            None => self.writer.clone(),
        };
        model.send(call).await
    }
}

/// Why there is no key to send, as the failure of a request: a person can mend it.
pub(crate) fn no_key(error: &KeyError) -> ModelError {
    ModelError {
        class: ModelErrorClass::Auth,
        message: error.to_string(),
        remedy: error.remedy(),
        retry_after: None,
        unreachable: false,
        unsent: true,
    }
}

fn stopped() -> ModelError {
    ModelError {
        class: ModelErrorClass::Network,
        message: "The request was stopped before it was sent.".to_owned(),
        remedy: String::new(),
        retry_after: None,
        unreachable: false,
        unsent: true,
    }
}
