//! OpenAI Chat Completions, and all that speak it.

mod assembly;
mod calls;
mod dialect;
mod read;
mod sse;

use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

pub use dialect::{ChatDialect, LimitName};

use crate::http::Endpoint;
use crate::secret::Secret;
use read::{Source, body_pieces, read_capped};

/// The longest list of models that is read, in bytes.
const LIST_LIMIT: usize = 8 * 1024 * 1024;

/// The longest error body that is read, in bytes; its words are cut much shorter.
const ERROR_LIMIT: usize = 64 * 1024;

/// One model of one provider.
#[derive(Clone, Debug)]
pub struct OpenAiChatConfig {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's name without its provider.
    pub model: String,
    /// The address up to and without `/chat/completions`.
    pub base_url: String,
    /// The key, where the server wants one.
    pub key: Option<Secret>,
    /// How long and how much is waited for.
    pub limits: Limits,
}

/// How long a response may stay away, and how large it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From sending to the first byte of the answer.
    pub first_byte: Duration,
    /// From one byte of the answer to the next.
    pub idle: Duration,
    /// From one piece of the answer to the next, if only signs of life come in between.
    pub quiet: Duration,
    /// The largest response that is taken, in bytes.
    pub response_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            quiet: Duration::from_secs(600),
            response_bytes: 32 * 1024 * 1024,
        }
    }
}

/// The adapter. Nothing is opened before the first request.
pub struct OpenAiChat {
    endpoint: Endpoint,
    dialect: ChatDialect,
    limits: Limits,
}

impl OpenAiChat {
    /// Keeps the configuration; mistakes in it are reported with the first request.
    pub fn new(config: OpenAiChatConfig) -> Self {
        let OpenAiChatConfig {
            provider,
            model,
            base_url,
            key,
            limits,
        } = config;
        let endpoint = Endpoint::new(&provider, &model, &base_url, key, limits.connect);
        let limit = match endpoint.is_openai() {
            true => LimitName::MaxCompletionTokens,
            false => LimitName::MaxTokens,
        };
        Self {
            endpoint,
            dialect: ChatDialect { limit },
            limits,
        }
    }

    async fn exchange(&self, call: &ModelCall) -> Result<ModelReply, ModelError> {
        let provider = &self.endpoint.provider;
        let request = self
            .endpoint
            .post(&["chat", "completions"], call.body.to_vec())?;
        let sent = Instant::now();
        let first_byte = sent + self.limits.first_byte;
        let response = match timeout_at(first_byte, request.send()).await {
            Ok(response) => response.map_err(|error| self.endpoint.explain(&error))?,
            Err(_) => return Err(provider.broken(&read::silent(self.limits.first_byte))),
        };
        let status = response.status();
        let headers = response.headers().clone();
        let pieces = body_pieces(response, &self.endpoint);
        if !status.is_success() {
            let body = timeout_at(first_byte, read_capped(pieces, ERROR_LIMIT)).await;
            // The status alone says enough when its words don't come.
            let body = body.ok().and_then(Result::ok).unwrap_or_default();
            return Err(provider.refused(status, &headers, &body));
        }
        let source = Source {
            provider,
            limits: self.limits,
            first_byte,
        };
        source.reply(pieces, &call.body, &*call.live).await
    }
}

#[async_trait]
impl Model for OpenAiChat {
    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(self.endpoint.provider.cancelled()),
            reply = self.exchange(&call) => reply,
        }
    }
}

/// Asks a provider which models it has, in its own order. `config.model` is not used.
pub async fn list_models(config: OpenAiChatConfig) -> Result<Vec<String>, ModelError> {
    let OpenAiChatConfig {
        provider,
        base_url,
        key,
        limits,
        ..
    } = config;
    let endpoint = Endpoint::new(&provider, "", &base_url, key, limits.connect);
    let request = endpoint.get(&["models"])?;
    let deadline = Instant::now() + limits.first_byte;
    let exchange = async {
        let response = request
            .send()
            .await
            .map_err(|error| endpoint.explain(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let limit = if status.is_success() {
            LIST_LIMIT
        } else {
            ERROR_LIMIT
        };
        let body = read_capped(body_pieces(response, &endpoint), limit).await?;
        match status.is_success() {
            true => Ok(body),
            false => Err(endpoint.provider.refused(status, &headers, &body)),
        }
    };
    let body = timeout_at(deadline, exchange)
        .await
        .unwrap_or_else(|_| Err(endpoint.provider.broken(&read::silent(limits.first_byte))))?;
    names(&body).ok_or_else(|| endpoint.provider.malformed("sent no list of models"))
}

/// The names in `{"data": [{"id": …}]}`, or in the lists of servers that do it otherwise.
fn names(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let models = list
        .get("data")
        .or_else(|| list.get("models"))
        .unwrap_or(&list)
        .as_array()?;
    let name = |model: &Value| {
        let keys = ["id", "model", "name"];
        let name = keys.iter().find_map(|key| model.get(key)).unwrap_or(model);
        name.as_str().map(str::to_owned)
    };
    let mut names: Vec<String> = Vec::new();
    for name in models.iter().filter_map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests;
