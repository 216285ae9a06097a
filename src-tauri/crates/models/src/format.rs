//! The formats that are spoken, and what the app asks of each of them.

use std::sync::Arc;

use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::{Model, ModelError};

use crate::patience::Limits;
use crate::secret::Secret;
use crate::{anthropic, gemini, openai_chat, openai_responses, schema};

/// A format of requests and replies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// OpenAI Chat Completions, and all that speak it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini's `generateContent`.
    Gemini,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
    ];

    /// What it is called in `config.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The format with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Where the provider that made the format answers.
    pub fn base_url(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }
}

/// One model of one provider.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's name without its provider.
    pub model: String,
    /// The address that the paths of the format are added to: up to and without
    /// `/chat/completions`, `/responses`, `/messages`, `/models/…`. For Anthropic and Gemini the
    /// version may be left out.
    pub base_url: String,
    /// The key, where the server wants one.
    pub key: Option<Secret>,
    /// How long and how much is waited for.
    pub limits: Limits,
}

/// How a model is brought to ask for actions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ToolMode {
    /// By the provider's own tool calls.
    #[default]
    Native,
    /// By a reply that follows a JSON Schema, for models that can't call tools. Only with
    /// [`Format::OpenAiChat`].
    Schema,
}

impl ToolMode {
    /// Every mode, the usual one first.
    pub const ALL: [Self; 2] = [Self::Native, Self::Schema];

    /// What it is called in `config.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Schema => "schema",
        }
    }
}

/// A model behind a provider. Nothing is opened before the first request, and mistakes in the
/// address or the key are reported with it.
///
/// # Errors
/// When the format does not know the tool mode.
pub fn build(
    format: Format,
    tools: ToolMode,
    config: &ModelConfig,
) -> Result<Arc<dyn Model>, ModelError> {
    Ok(match (format, tools) {
        (Format::OpenAiChat, ToolMode::Native) => Arc::new(openai_chat::adapter(config)),
        (Format::OpenAiChat, ToolMode::Schema) => Arc::new(schema::adapter(config)),
        (_, ToolMode::Schema) => return Err(no_schema(format, config)),
        (Format::OpenAiResponses, _) => Arc::new(openai_responses::adapter(config)),
        (Format::Anthropic, _) => Arc::new(anthropic::adapter(config)),
        (Format::Gemini, _) => Arc::new(gemini::adapter(config)),
    })
}

fn no_schema(format: Format, config: &ModelConfig) -> ModelError {
    let name = &config.provider;
    ModelError {
        class: ModelErrorClass::BadRequest,
        message: format!(
            "Provider {name} can't have tool_mode = \"schema\" with format = \"{}\".",
            format.name()
        ),
        remedy: format!("Take tool_mode out of [providers.{name}], or use openai-chat."),
        retry_after: None,
        unreachable: false,
        unsent: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
        }
        assert_eq!(Format::named("openai"), None);
    }

    #[test]
    fn a_tool_mode_that_a_format_does_not_have_is_said() {
        let config = ModelConfig {
            provider: "p".into(),
            model: "m".into(),
            base_url: Format::Gemini.base_url().into(),
            key: None,
            limits: Limits::default(),
        };
        let error = build(Format::Gemini, ToolMode::Schema, &config)
            .err()
            .unwrap();
        assert!(error.message.contains("tool_mode"), "{error:?}");
        assert!(build(Format::OpenAiChat, ToolMode::Schema, &config).is_ok());
    }
}
