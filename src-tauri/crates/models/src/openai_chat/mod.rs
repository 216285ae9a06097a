//! OpenAI Chat Completions, and all that speak it.

mod assembly;
mod calls;
mod dialect;
pub mod quirks;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};

pub(crate) use assembly::ChatAssembly;
pub(crate) use calls::CALL_LIMIT;
pub use dialect::ChatDialect;
pub(crate) use dialect::{file_name, said_failure};
pub use quirks::LimitName;

use crate::adapter::{Adapter, Wire};
use crate::format::ModelConfig;
use crate::http::{Endpoint, KeyHeader, Manners};

/// One model of one provider, under the name that it has had from the beginning.
pub type OpenAiChatConfig = ModelConfig;

pub(crate) const MANNERS: Manners = Manners {
    format: "OpenAI Chat Completions",
    key_header: KeyHeader::Bearer,
    headers: &[],
    version: "/v1",
    // Servers put the format beneath all kinds of paths.
    adds_version: false,
};

/// The adapter. Nothing is opened before the first request.
pub struct OpenAiChat(Adapter<Chat>);

impl OpenAiChat {
    /// Keeps the configuration; mistakes in it are reported with the first request.
    pub fn new(config: ModelConfig) -> Self {
        Self(adapter(&config))
    }
}

#[async_trait]
impl Model for OpenAiChat {
    fn dialect(&self) -> &dyn Dialect {
        self.0.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        self.0.send(call).await
    }
}

/// What is the format's own.
pub(crate) struct Chat {
    dialect: ChatDialect,
}

impl Wire for Chat {
    type Assembly = ChatAssembly;

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn path(&self) -> Vec<&str> {
        vec!["chat", "completions"]
    }

    fn assembly(&self) -> ChatAssembly {
        ChatAssembly::default()
    }
}

pub(crate) fn adapter(config: &ModelConfig) -> Adapter<Chat> {
    Adapter::new(config, &MANNERS, |endpoint| Chat {
        dialect: dialect_of(endpoint),
    })
}

/// The dialect with the quirks of the server behind an address.
pub(crate) fn dialect_of(endpoint: &Endpoint) -> ChatDialect {
    let provider = &endpoint.provider;
    let quirks = quirks::find(
        &provider.name,
        endpoint.host(),
        endpoint.port(),
        &provider.model,
    );
    ChatDialect::new(quirks, &provider.model)
}

#[cfg(test)]
mod tests;
