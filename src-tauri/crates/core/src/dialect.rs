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

impl Message {
    /// Who speaks it.
    pub fn speaker(&self) -> Speaker {
        match self {
            Self::User { .. } => Speaker::Person,
            Self::Assistant { .. } => Speaker::Model,
            Self::Result { .. } => Speaker::Tool,
        }
    }
}

/// Who speaks a message, as far as the order of messages matters to a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaker {
    /// The person, or the harness in the person's place.
    Person,
    /// The model.
    Model,
    /// An action that returns.
    Tool,
}

/// Where a message stands in its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Counted from 0.
    pub index: u32,
    /// Who spoke the message before it.
    pub after: Option<Speaker>,
    /// Whether it is the tail, which the next request does not begin with.
    pub is_tail: bool,
}

/// What the messages of a request end with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// How many messages there are.
    pub messages: u32,
    /// Whether the last one is the tail.
    pub has_tail: bool,
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
    /// How hard the model thinks before it answers; `None` leaves that to the provider.
    pub thinking: Option<Thinking>,
}

/// How hard a model thinks before it answers. Each format maps it to what its provider offers;
/// a model that can't do less or more does what comes nearest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thinking {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// For most tasks.
    Medium,
    /// As long as it takes.
    High,
}

/// Turns a request into the bytes of one provider's format. The body is
/// `head ‖ placed(0) ‖ placed(1) … ‖ closing_after`, byte for byte.
pub trait Dialect: Send + Sync {
    /// The bytes up to the first message, in pieces that name their part of the request.
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)>;

    /// One message at its place: the index is there so that separators fit, and a format that joins
    /// the messages of one speaker, or marks where the frozen front ends, looks at the rest.
    ///
    /// The bytes of a message that is not the tail must not depend on what comes after it.
    fn placed(&self, place: Place, message: &Message) -> String;

    /// The bytes after the last message, for a format to which it matters what that was.
    fn closing_after(&self, end: End, parameters: Parameters) -> String;

    /// A message that follows none; `index` counts the messages of a request from 0.
    fn message(&self, index: u32, message: &Message) -> String {
        let place = Place {
            index,
            after: None,
            is_tail: false,
        };
        self.placed(place, message)
    }

    /// The bytes after the only message.
    fn closing(&self, parameters: Parameters) -> String {
        let end = End {
            messages: 1,
            has_tail: false,
        };
        self.closing_after(end, parameters)
    }
}
