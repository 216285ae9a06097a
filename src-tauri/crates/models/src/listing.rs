//! Which models a provider says that it has.

use longrein_runtime::ports::ModelError;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::adapter::ERROR_LIMIT;
use crate::format::{Format, ModelConfig};
use crate::http::{Endpoint, Query};
use crate::json::{string, tokens};
use crate::patience::silent;
use crate::reading::{body_pieces, read_capped};
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// The longest list of models that is read, in bytes.
pub(crate) const LIST_LIMIT: usize = 8 * 1024 * 1024;

/// A model in a provider's list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The name to ask for.
    pub id: String,
    /// How many tokens fit into a request, where the provider says so.
    pub window_tokens: Option<u32>,
    /// How many tokens an answer may have, where the provider says so.
    pub max_output_tokens: Option<u32>,
}

/// Where servers write the window of a model: Anthropic, Gemini, OpenRouter and Together, Groq,
/// Mistral and LM Studio, vLLM, llama.cpp (what it was started with, and what the model could).
const WINDOWS: [&str; 8] = [
    "/max_input_tokens",
    "/inputTokenLimit",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_model_len",
    "/meta/n_ctx",
    "/meta/n_ctx_train",
];

/// Where they write the longest answer: Anthropic, Gemini, OpenRouter, Groq.
const OUTPUTS: [&str; 4] = [
    "/max_tokens",
    "/outputTokenLimit",
    "/top_provider/max_completion_tokens",
    "/max_completion_tokens",
];

/// Asks a provider which models it has, in its own order. `config.model` is not used.
///
/// # Errors
/// When the provider does not answer, refuses, or sends no list.
pub async fn list(format: Format, config: &ModelConfig) -> Result<Vec<Listed>, ModelError> {
    let config = ModelConfig {
        model: String::new(),
        ..config.clone()
    };
    let (manners, query): (_, &Query) = match format {
        Format::OpenAiChat => (&openai_chat::MANNERS, &[]),
        Format::OpenAiResponses => (&openai_responses::MANNERS, &[]),
        Format::Anthropic => (&anthropic::MANNERS, &[("limit", "1000")]),
        Format::Gemini => (&gemini::MANNERS, &[("pageSize", "1000")]),
    };
    let endpoint = Endpoint::new(&config, manners);
    let body = fetch(&endpoint, &["models"], query, &config).await?;
    models(&body).ok_or_else(|| endpoint.provider.malformed("sent no list of models"))
}

/// Asks a provider that speaks the chat format which models it has.
///
/// # Errors
/// As [`list`].
pub async fn list_models(config: ModelConfig) -> Result<Vec<String>, ModelError> {
    let listed = list(Format::OpenAiChat, &config).await?;
    Ok(listed.into_iter().map(|model| model.id).collect())
}

/// Fetches a JSON text within the patience for a first byte.
pub(crate) async fn fetch(
    endpoint: &Endpoint,
    path: &[&str],
    query: &Query,
    config: &ModelConfig,
) -> Result<Vec<u8>, ModelError> {
    let request = endpoint.get(path, query)?;
    ask(endpoint, request, config).await
}

/// Sends a small request and reads its whole answer.
pub(crate) async fn ask(
    endpoint: &Endpoint,
    request: reqwest::RequestBuilder,
    config: &ModelConfig,
) -> Result<Vec<u8>, ModelError> {
    let limit = config.limits.first_byte;
    let exchange = async {
        let response = request
            .send()
            .await
            .map_err(|error| endpoint.explain(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let size = match status.is_success() {
            true => LIST_LIMIT,
            false => ERROR_LIMIT,
        };
        let body = read_capped(body_pieces(response, endpoint), size).await?;
        match status.is_success() {
            true => Ok(body),
            false => Err(endpoint.provider.refused(status, &headers, &body)),
        }
    };
    timeout_at(Instant::now() + limit, exchange)
        .await
        .unwrap_or_else(|_| Err(endpoint.provider.broken(&silent(limit))))
}

/// The models in `{"data": [{"id": …}]}`, in `{"models": [{"name": …}]}`, or in the lists of
/// servers that do it otherwise.
fn models(body: &[u8]) -> Option<Vec<Listed>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let entries = list
        .get("data")
        .or_else(|| list.get("models"))
        .unwrap_or(&list)
        .as_array()?;
    let mut found: Vec<Listed> = Vec::new();
    for model in entries
        .iter()
        .filter(|model| answers(model))
        .filter_map(listed)
    {
        if !found.iter().any(|known| known.id == model.id) {
            found.push(model);
        }
    }
    Some(found)
}

/// Whether a model writes text; Gemini's list has others too, and says so.
fn answers(model: &Value) -> bool {
    let methods = model
        .get("supportedGenerationMethods")
        .and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

fn listed(model: &Value) -> Option<Listed> {
    let name = ["id", "model", "name"]
        .iter()
        .find_map(|key| string(model, key))
        .or_else(|| model.as_str())?;
    let first = |places: &[&str]| places.iter().find_map(|place| tokens(model, place));
    Some(Listed {
        id: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        window_tokens: first(&WINDOWS),
        max_output_tokens: first(&OUTPUTS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> (String, Option<u32>, Option<u32>) {
        let mut models = models(body.as_bytes()).unwrap();
        assert_eq!(models.len(), 1, "{body}");
        let model = models.remove(0);
        (model.id, model.window_tokens, model.max_output_tokens)
    }

    #[test]
    fn the_lists_of_all_providers_are_read() {
        let model = |name: &str, window, output| (name.to_owned(), window, output);
        assert_eq!(
            one(r#"{"object":"list","data":[{"id":"m"},{"id":"m"}]}"#),
            model("m", None, None)
        );
        assert_eq!(
            one(
                r#"{"data":[{"type":"model","id":"claude","max_input_tokens":1000000,"max_tokens":128000}],"has_more":false}"#
            ),
            model("claude", Some(1_000_000), Some(128_000))
        );
        assert_eq!(
            one(
                r#"{"models":[{"name":"models/gemini","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}"#
            ),
            model("gemini", Some(1_048_576), Some(65_536))
        );
        assert_eq!(
            one(
                r#"{"data":[{"id":"a/b","context_length":262144,"top_provider":{"max_completion_tokens":null}}]}"#
            ),
            model("a/b", Some(262_144), None)
        );
        assert_eq!(
            one(r#"{"data":[{"id":"q","meta":{"n_ctx":8192,"n_ctx_train":32768}}]}"#),
            model("q", Some(8_192), None)
        );
        assert_eq!(one(r#"["m"]"#), model("m", None, None));
        assert_eq!(models(b"{}"), None);
        assert_eq!(models(b"<html>"), None);
    }
}
