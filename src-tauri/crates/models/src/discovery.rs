//! Model servers on this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::format::ModelConfig;
use crate::http::Endpoint;
use crate::json::string;
use crate::listing::{self, Listed};
use crate::openai_chat;
use crate::patience::Limits;

/// How long a server on this machine may take for each question.
const PATIENCE: Duration = Duration::from_millis(500);

/// A server that people run themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Server {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp's server.
    LlamaCpp,
}

impl Server {
    /// Every server that is looked for.
    pub const ALL: [Self; 3] = [Self::Ollama, Self::LmStudio, Self::LlamaCpp];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
        }
    }

    /// What a provider with this server may be called in `config.toml`.
    pub fn provider(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lm-studio",
            Self::LlamaCpp => "llama",
        }
    }

    /// Where it answers unless told otherwise.
    pub fn address(self) -> SocketAddr {
        let port = match self {
            Self::Ollama => 11_434,
            Self::LmStudio => 1_234,
            Self::LlamaCpp => 8_080,
        };
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    /// What only this server answers.
    fn sign(self) -> &'static [&'static str] {
        match self {
            Self::Ollama => &["api", "version"],
            Self::LmStudio => &["api", "v0", "models"],
            Self::LlamaCpp => &["v1", "models"],
        }
    }

    fn is_known_by(self, answer: &Value) -> bool {
        match self {
            Self::Ollama => string(answer, "version").is_some(),
            Self::LmStudio => answer.get("data").is_some_and(Value::is_array),
            Self::LlamaCpp => {
                let models = answer.get("data").and_then(Value::as_array);
                let is_its = |model: &Value| string(model, "owned_by") == Some("llamacpp");
                models.into_iter().flatten().any(is_its)
            }
        }
    }
}

/// A server that answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundServer {
    /// Which one.
    pub server: Server,
    /// The address for `base_url`, with format `openai-chat`.
    pub base_url: String,
    /// Its models; empty where it has none or does not say.
    pub models: Vec<Listed>,
}

/// Looks for every known server where it usually answers. Takes at most a second.
pub async fn discover() -> Vec<FoundServer> {
    discover_at(&Server::ALL.map(|server| (server, server.address()))).await
}

/// Looks for servers at these addresses.
pub async fn discover_at(places: &[(Server, SocketAddr)]) -> Vec<FoundServer> {
    let found = join_all(
        places
            .iter()
            .map(|(server, address)| find(*server, *address)),
    )
    .await;
    found.into_iter().flatten().collect()
}

async fn find(server: Server, address: SocketAddr) -> Option<FoundServer> {
    let config = |path: &str| ModelConfig {
        provider: server.provider().to_owned(),
        model: String::new(),
        base_url: format!("http://{address}{path}"),
        key: None,
        limits: Limits {
            connect: PATIENCE,
            first_byte: PATIENCE,
            ..Limits::default()
        },
    };
    let root = config("");
    let endpoint = Endpoint::new(&root, &openai_chat::MANNERS);
    let answer = listing::fetch(&endpoint, server.sign(), &[], &root)
        .await
        .ok()?;
    let answer: Value = serde_json::from_slice(&answer).ok()?;
    if !server.is_known_by(&answer) {
        return None;
    }
    let chat = config("/v1");
    let models = listing::list(crate::Format::OpenAiChat, &chat).await;
    Some(FoundServer {
        server,
        base_url: chat.base_url,
        models: models.unwrap_or_default(),
    })
}
