//! The vocabulary of a model's messages, the same for every provider.

use serde::{Deserialize, Serialize};

use crate::body::Body;

/// One block of a model's response.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// Words to the person.
    Text {
        /// Markdown.
        text: Body,
        /// The provider's own form of this block, sent back to the same provider and model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Body>,
    },
    /// Reasoning that the provider shows.
    Thinking {
        /// Plain text; may be empty where only a signature is given.
        text: Body,
        /// The provider's own form of this block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Body>,
    },
    /// A request for an action.
    ToolUse {
        /// The provider's id of the call.
        id: String,
        /// The tool's name on the wire.
        name: String,
        /// A JSON text as the model wrote it; it may not parse.
        arguments: Body,
        /// The provider's own form of this block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Body>,
    },
}

/// Why the model stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said all it wanted.
    End,
    /// It asks for actions.
    ToolUse,
    /// The output limit cut it.
    Length,
    /// The provider refused the content.
    Refused,
    /// Something else, as the provider called it.
    Other,
}

/// Tokens that a request used, as the provider reported them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u32,
    /// Output tokens, reasoning included.
    pub output: u32,
    /// Input tokens that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u32,
    /// Output tokens that were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u32,
    /// What the provider says that it cost, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", specta(type = Option<u32>))]
    pub cost_micro: Option<u64>,
    /// Whether these are our own estimate because the provider said nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What kind of thing went wrong with a model request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorClass {
    /// The key is missing, wrong or has no right to the model.
    Auth,
    /// Too many requests; `retry_after_ms` may say how long to wait.
    RateLimited,
    /// The provider is overloaded or has an inner fault.
    Overloaded,
    /// The request is longer than the model's window.
    ContextTooLong,
    /// The provider refuses the content.
    ContentRefused,
    /// The provider does not understand the request.
    BadRequest,
    /// No connection, or it broke, or it fell silent.
    Network,
    /// The answer is not in the provider's format.
    Malformed,
    /// There is no such model or provider.
    UnknownModel,
    /// The provider refuses an image, a document or a recording of the request: its kind, its
    /// size, or that there is one.
    MediaRefused,
}

impl ModelErrorClass {
    /// Whether the same request may succeed a little later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited | Self::Overloaded | Self::Network | Self::Malformed
        )
    }
}

/// Where a piece of context comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// The person who runs this.
    Person,
    /// The agent file.
    AgentFile,
    /// The harness itself.
    Harness,
    /// The model.
    Model,
    /// A skill that ships or that the person approved.
    Skill {
        /// Its name.
        skill: String,
    },
    /// A tool's result.
    Tool {
        /// The tool.
        tool: String,
        /// The address or the name of the document, when there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
}

/// Whether a piece of context may be believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// From the person, the agent or the harness.
    Trusted,
    /// From anywhere else: never an instruction.
    Untrusted,
}
