//! How a request becomes bytes. A dialect is pure: the same input gives the same bytes.

use std::sync::Arc;

use longrein_protocol::event::Section;
use longrein_protocol::{MediaKind, ToolSpec};
use serde_json::Value;

/// What stands before the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The model's name without its provider.
    pub model: &'a str,
    /// The harness's rules and the agent's instructions.
    pub system: &'a str,
    /// The tools, in order.
    pub tools: &'a [ToolSpec],
    /// What there is besides, which the model is not shown before it asks; empty where there is
    /// nothing. It follows the harness's rules and the agent's instructions.
    pub index: &'a str,
}

/// One message of the conversation, as plain text: origins and fences are already in it.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// The person's words, or the harness's words to the model (which are labelled in the text).
    User {
        /// The text; empty where only media follows.
        text: String,
        /// What the person gave with it, or what stands here for results that can't carry it.
        media: Vec<Attached>,
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
        /// What it returned beside text; empty where the format can't carry that here.
        media: Vec<Attached>,
        /// Whether the action failed.
        failed: bool,
    },
}

/// An image, a document or a recording as it is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attached {
    /// What kind of thing it is.
    pub kind: MediaKind,
    /// Its media type.
    pub media_type: String,
    /// What it is called; may be empty.
    pub name: String,
    /// Its bytes in base64, without line breaks. A dialect writes them as they are.
    pub base64: Arc<str>,
    /// About how many tokens a model counts for it.
    pub tokens: u32,
}

impl Message {
    /// Words of the person, or of the harness in the person's place.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            text: text.into(),
            media: Vec::new(),
        }
    }

    /// What it shows beside text.
    pub fn media(&self) -> &[Attached] {
        match self {
            Self::User { media, .. } | Self::Result { media, .. } => media,
            Self::Assistant { .. } => &[],
        }
    }

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
pub struct Parameters<'a> {
    /// The output limit in tokens.
    pub max_output_tokens: u32,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// How hard the model thinks before it answers; `None` leaves that to the provider.
    pub thinking: Option<Thinking>,
    /// The form that the whole answer has to have; `None` where it is free.
    pub answer: Option<AnswerForm<'a>>,
}

/// The form of an answer: an object that satisfies a JSON Schema.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnswerForm<'a> {
    /// What the form is called: letters, digits, `_` and `-`, at most 64 of them.
    pub name: &'a str,
    /// A schema that every provider takes: an object that names each of its properties in
    /// `required`, with `additionalProperties: false`, and no keywords but `type`, `description`,
    /// `enum`, `items`, `anyOf`.
    pub schema: &'a Value,
}

pub use longrein_protocol::agent::Thinking;

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
    fn closing_after(&self, end: End, parameters: Parameters<'_>) -> String;

    /// Whether a message of this speaker can carry such a thing. What a result can't carry follows
    /// in a message of the person; what nobody can is replaced by a note.
    fn carries(&self, _speaker: Speaker, _kind: MediaKind, _media_type: &str) -> bool {
        false
    }

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
    fn closing(&self, parameters: Parameters<'_>) -> String {
        let end = End {
            messages: 1,
            has_tail: false,
        };
        self.closing_after(end, parameters)
    }
}
