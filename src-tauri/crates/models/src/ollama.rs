//! How much of a request Ollama really reads. It cuts what is longer from the front, without a
//! word, and its OpenAI endpoint can't set the length, so that it has to be looked up and checked.

use longrein_runtime::ports::ModelError;
use serde_json::{Value, json};

use crate::format::ModelConfig;
use crate::http::Endpoint;
use crate::json::{string, tokens};
use crate::listing;
use crate::openai_chat::{self, quirks};

/// What Ollama says of a model's context length, in tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Context {
    /// What the model was made for.
    pub trained: Option<u32>,
    /// What its file sets (`num_ctx`).
    pub set: Option<u32>,
    /// What it was loaded with; only known while it is loaded, and the only one that is sure.
    pub loaded: Option<u32>,
}

/// Whether a window fits into the context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Check {
    /// It does.
    Fits,
    /// It does not: what happens, and what to do.
    Cuts {
        /// What happens, in a sentence.
        message: String,
        /// What to do, in a sentence.
        remedy: String,
    },
    /// Nobody can say before the model is loaded.
    Unknown,
}

impl Context {
    /// The length that holds, as far as it is known.
    pub fn effective(&self) -> Option<u32> {
        self.loaded.or(self.set)
    }

    /// Whether a request of `window_tokens` would be read whole.
    pub fn check(&self, model: &str, window_tokens: u32) -> Check {
        let message = |length: u32| {
            format!(
                "Ollama reads only the last {length} tokens of a request to {model} and drops the rest without a word; the agent counts on {window_tokens}."
            )
        };
        match (self.effective(), self.trained) {
            (_, Some(trained)) if trained < window_tokens => Check::Cuts {
                message: message(
                    self.effective()
                        .map_or(trained, |length| length.min(trained)),
                ),
                remedy: format!("Set window_tokens = {trained} or less under [model]."),
            },
            (Some(length), _) if length < window_tokens => Check::Cuts {
                message: message(length),
                remedy: format!(
                    "Start Ollama with OLLAMA_CONTEXT_LENGTH={window_tokens}, or set window_tokens = {length} under [model]."
                ),
            },
            (Some(_), _) => Check::Fits,
            (None, _) => Check::Unknown,
        }
    }
}

/// Whether the server at `config.base_url` is Ollama, as far as its name and address tell.
pub fn is_ollama(config: &ModelConfig) -> bool {
    let endpoint = Endpoint::new(config, &openai_chat::MANNERS);
    let (host, port) = (endpoint.host(), endpoint.port());
    quirks::find(&config.provider, host, port, &config.model).name == quirks::OLLAMA.name
}

/// Asks an Ollama server about the context of `config.model`. `config.base_url` is the address of
/// its OpenAI endpoint.
///
/// # Errors
/// When the server does not answer, or has no such model.
pub async fn context(config: &ModelConfig) -> Result<Context, ModelError> {
    let config = ModelConfig {
        base_url: root(&config.base_url).to_owned(),
        ..config.clone()
    };
    let endpoint = Endpoint::new(&config, &openai_chat::MANNERS);
    let asked = json!({ "model": config.model }).to_string().into_bytes();
    let request = endpoint.post(&["api", "show"], &[], asked)?;
    let shown = listing::ask(&endpoint, request, &config).await?;
    let loaded = listing::fetch(&endpoint, &["api", "ps"], &[], &config).await?;
    let read = |body: &[u8]| serde_json::from_slice::<Value>(body);
    let (Ok(shown), Ok(loaded)) = (read(&shown), read(&loaded)) else {
        return Err(endpoint.provider.malformed("did not answer as Ollama does"));
    };
    Ok(Context {
        trained: trained(&shown),
        set: set(&shown),
        loaded: loaded_with(&loaded, &config.model),
    })
}

/// The address without what the OpenAI endpoint adds to it.
pub(crate) fn root(base_url: &str) -> &str {
    let base_url = base_url.trim().trim_end_matches('/');
    base_url.strip_suffix("/v1").unwrap_or(base_url)
}

/// `model_info` has it under the name of the model's architecture.
fn trained(shown: &Value) -> Option<u32> {
    let info = shown.get("model_info")?.as_object()?;
    let (_, length) = info
        .iter()
        .find(|(key, _)| key.ends_with(".context_length"))?;
    u32::try_from(length.as_u64()?).ok()
}

/// `parameters` is a text with one parameter per line.
fn set(shown: &Value) -> Option<u32> {
    let lines = string(shown, "parameters")?.lines();
    let mut words = lines.map(str::split_whitespace);
    words
        .find_map(|mut line| (line.next() == Some("num_ctx")).then(|| line.next()?.parse().ok())?)
}

fn loaded_with(loaded: &Value, model: &str) -> Option<u32> {
    // A name without a tag is the one with the tag `latest`.
    let is_it = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let models = loaded.get("models")?.as_array()?;
    let found = models.iter().find(|entry| {
        let names = ["name", "model"].map(|key| string(entry, key));
        names.into_iter().flatten().any(is_it)
    });
    tokens(found?, "/context_length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ollama_says_is_found_where_it_says_it() {
        let shown = json!({
            "parameters": "stop \"<|im_end|>\"\nnum_ctx                        8192",
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
        });
        assert_eq!((trained(&shown), set(&shown)), (Some(40_960), Some(8_192)));
        let loaded = json!({"models": [{"name": "qwen3:latest", "context_length": 4096}]});
        assert_eq!(loaded_with(&loaded, "qwen3"), Some(4_096));
        assert_eq!(loaded_with(&loaded, "qwen3:8b"), None);
        assert_eq!(root("http://127.0.0.1:11434/v1/"), "http://127.0.0.1:11434");
    }

    #[test]
    fn a_window_that_ollama_would_cut_is_said_with_what_to_do() {
        let context = Context {
            trained: Some(40_960),
            set: Some(8_192),
            loaded: Some(4_096),
        };
        let Check::Cuts { message, remedy } = context.check("qwen3", 32_768) else {
            panic!("it cuts");
        };
        assert!(message.contains("last 4096 tokens"), "{message}");
        assert!(remedy.contains("OLLAMA_CONTEXT_LENGTH=32768"), "{remedy}");
        assert_eq!(context.check("qwen3", 4_096), Check::Fits);
        let Check::Cuts { remedy, .. } = context.check("qwen3", 100_000) else {
            panic!("it cuts");
        };
        assert!(remedy.contains("window_tokens = 40960"), "{remedy}");
        let unknown = Context {
            trained: Some(40_960),
            ..Context::default()
        };
        assert_eq!(unknown.check("qwen3", 32_768), Check::Unknown);
    }
}
