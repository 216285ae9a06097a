//! How a request becomes bytes. A dialect is pure: the same input gives the same bytes.

use longrein_protocol::ToolSpec;
use longrein_protocol::event::Section;

/// What stands before the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The model's name without its provider.
    pub model: &'a str,
    /// The harness's rules and the agent's instructions.
    pub system: &'a str,
    /// The tools, in order.
    pub tools: &'a [ToolSpec],
}

/// One message of the conversation, as plain text: origins and fences are already in it.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// The person's words, or the harness's words to the model (which are labelled in the text).
    User {
        /// The text.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// Its blocks, in order.
        blocks: Vec<Said>,
    },
    /// What an action returned.
    Result {
        /// The provider's id of the call.
        call: String,
        /// The tool's name on the wire.
        name: String,
        /// The text.
        text: String,
        /// Whether the action failed.
        failed: bool,
    },
}

/// One block of what the model said.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// Words.
    Text {
        /// Markdown.
        text: String,
        /// The provider's own form, when it has to be sent back.
        raw: Option<String>,
    },
    /// Reasoning.
    Thinking {
        /// Plain text.
        text: String,
        /// The provider's own form, when it has to be sent back.
        raw: Option<String>,
    },
    /// A call.
    ToolUse {
        /// The provider's id of the call.
        id: String,
        /// The tool's name on the wire.
        name: String,
        /// A JSON text.
        arguments: String,
        /// The provider's own form, when it has to be sent back.
        raw: Option<String>,
    },
}

/// What varies from request to request and stands at the end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The output limit in tokens.
    pub max_output_tokens: u32,
    /// Sampling temperature.
    pub temperature: Option<f64>,
}

/// Turns a request into the bytes of one provider's format. The body is
/// `head ‖ message(0) ‖ message(1) … ‖ closing`, byte for byte.
pub trait Dialect: Send + Sync {
    /// The bytes up to the first message, in pieces that name their part of the request.
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)>;

    /// One message; `index` counts the messages of this request from 0, so that separators fit.
    fn message(&self, index: u32, message: &Message) -> String;

    /// The bytes after the last message.
    fn closing(&self, parameters: Parameters) -> String;
}
