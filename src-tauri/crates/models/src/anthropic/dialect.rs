//! The bytes of a request.
//!
//! The API wants all results of a step in one message of the user, and messages of one speaker in
//! a row joined. So a message's fragment leaves its last block, its content and itself open, and
//! what follows closes them: a front that grows stays byte for byte what it was.
//!
//! Cache breakpoints: one on the last tool and one on the system, which never change, and one on
//! the last frozen block. That one is written by the fragment behind it (the tail, or the
//! closing), which is made anew for every request, so that it moves on without changing a frozen
//! byte. The API's own automatic caching (a `cache_control` at the top of the request) would mark
//! the tail, which no later request repeats. A breakpoint looks back over 20 blocks for what was
//! cached before; a step with more blocks than that writes its cache anew.

use longrein_core::dialect::{
    Attached, Dialect, End, Head, Message, Parameters, Place, Said, Speaker,
};
use longrein_protocol::event::Section;
use longrein_protocol::{MediaKind, ToolSpec};
use serde_json::Value;

use super::thinking::Thinker;
use crate::ids::IdShape;
use crate::json::{object_schema, quoted, sendable_arguments, temperature};

/// The Anthropic Messages format, for a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnthropicDialect {
    thinker: Thinker,
}

/// Marks a block as one up to which the request is cached.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// What stands for a reply that can't be sent as it was: without words, or with nothing but
/// reasoning, which the API refuses at the end of a message.
const NO_WORDS: &str = r#"{"type":"text","text":"(no words)"}"#;

/// The ids that the API takes.
const IDS: IdShape = IdShape::Word;

impl AnthropicDialect {
    /// The format, with the parameters that the model takes.
    pub fn new(model: &str) -> Self {
        Self {
            thinker: Thinker::of(model),
        }
    }

    fn parameters(&self, parameters: Parameters<'_>) -> String {
        let mut written = format!(r#""max_tokens":{}"#, parameters.max_output_tokens);
        let takes = self.thinker.takes_temperature(parameters.thinking);
        if let Some(temperature) = temperature(parameters).filter(|_| takes) {
            written.push_str(&format!(r#","temperature":{temperature}"#));
        }
        let mut output = Vec::new();
        if let Some(thinking) = parameters.thinking {
            let way = self
                .thinker
                .parameters(thinking, parameters.max_output_tokens);
            written.push_str(&way.thinking);
            output.extend(way.effort.map(|effort| format!(r#""effort":"{effort}""#)));
        }
        // The schema is the API's own form of one; it has no name.
        output.extend(parameters.answer.map(|form| {
            format!(
                r#""format":{{"type":"json_schema","schema":{}}}"#,
                form.schema
            )
        }));
        if !output.is_empty() {
            written.push_str(&format!(r#","output_config":{{{}}}"#, output.join(",")));
        }
        written
    }
}

impl Dialect for AnthropicDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        let opening = format!(r#"{{"model":{},"stream":true"#, quoted(head.model));
        let tools = match head.tools {
            [] => String::new(),
            [before @ .., last] => {
                let mut tools: Vec<String> = before.iter().map(|spec| tool(spec, "")).collect();
                tools.push(tool(last, MARK));
                format!(r#","tools":[{}]"#, tools.join(","))
            }
        };
        // An empty block is refused.
        let block = |text: &str| format!(r#"{{"type":"text","text":{}"#, quoted(text));
        let system = match head.system.trim() {
            "" => String::new(),
            _ => format!(r#","system":[{}"#, block(head.system)),
        };
        let index = match (system.is_empty(), head.index) {
            (_, "") => String::new(),
            (true, index) => format!(r#","system":[{}"#, block(index)),
            (false, index) => format!("}},{}", block(index)),
        };
        let close = match system.is_empty() && index.is_empty() {
            true => String::new(),
            false => format!("{MARK}}}]"),
        };
        let end = format!(r#"{close},"messages":["#);
        let (system, index) = match index.is_empty() {
            true => (system + &end, index),
            false => (system, index + &end),
        };
        [
            (Section::System, opening),
            (Section::Tools, tools),
            (Section::System, system),
            (Section::Index, index),
        ]
        .into_iter()
        .filter(|(_, piece)| !piece.is_empty())
        .collect()
    }

    fn placed(&self, place: Place, message: &Message) -> String {
        let role = role(message.speaker());
        let mark = if place.is_tail { MARK } else { "" };
        let opening = match place.after.map(self::role) {
            None => format!(r#"{{"role":"{role}","content":["#),
            Some(before) if before == role => format!("{mark}}},"),
            Some(_) => format!(r#"{mark}}}]}},{{"role":"{role}","content":["#),
        };
        let mut blocks = blocks(message).join(",");
        // The last brace is written by what follows.
        blocks.pop();
        opening + &blocks
    }

    fn carries(&self, _speaker: Speaker, kind: MediaKind, _media_type: &str) -> bool {
        matches!(kind, MediaKind::Image | MediaKind::Document)
    }

    fn closing_after(&self, end: End, parameters: Parameters<'_>) -> String {
        let close = match end {
            End { messages: 0, .. } => "]".to_owned(),
            End { has_tail: true, .. } => "}]}]".to_owned(),
            End { .. } => format!("{MARK}}}]}}]"),
        };
        format!("{close},{}}}", self.parameters(parameters))
    }
}

fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Person | Speaker::Tool => "user",
        Speaker::Model => "assistant",
    }
}

fn tool(spec: &ToolSpec, mark: &str) -> String {
    format!(
        r#"{{"name":{},"description":{},"input_schema":{}{mark}}}"#,
        quoted(&spec.wire_name()),
        quoted(&spec.description),
        object_schema(&spec.schema)
    )
}

/// The blocks of a message; never none, and never reasoning at the end.
fn blocks(message: &Message) -> Vec<String> {
    match message {
        Message::User { text, media } => {
            let mut said = parts(text, media);
            if said.is_empty() {
                said.push(NO_WORDS.to_owned());
            }
            said
        }
        Message::Result {
            call,
            text,
            media,
            failed,
            ..
        } => vec![result(call, text, media, *failed)],
        Message::Assistant { blocks } => {
            let mut said: Vec<String> = blocks.iter().filter_map(block).collect();
            let ends_in_thinking = said.last().is_none_or(|block| is_own_thinking(block));
            if ends_in_thinking {
                said.push(NO_WORDS.to_owned());
            }
            said
        }
    }
}

fn block(said: &Said) -> Option<String> {
    match said {
        Said::Text { text, .. } => text_block(text),
        // What another provider or nobody signed would be refused.
        Said::Thinking { raw, .. } => raw.clone().filter(|raw| is_own_thinking(raw)),
        Said::ToolUse {
            id,
            name,
            arguments,
            ..
        } => Some(format!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
            quoted(&IDS.of(id)),
            quoted(name),
            sendable_arguments(arguments)
        )),
    }
}

/// A block of words; blocks without any are refused.
fn text_block(text: &str) -> Option<String> {
    let has_words = !text.trim().is_empty();
    has_words.then(|| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)))
}

/// Media and words; media comes first, as the documentation advises.
fn parts(text: &str, media: &[Attached]) -> Vec<String> {
    let media = media.iter().map(|media| {
        let source = format!(
            r#""source":{{"type":"base64","media_type":{},"data":"{}"}}"#,
            quoted(&media.media_type),
            media.base64
        );
        match (media.kind, media.name.as_str()) {
            (MediaKind::Document, "") => format!(r#"{{"type":"document",{source}}}"#),
            (MediaKind::Document, name) => {
                format!(r#"{{"type":"document",{source},"title":{}}}"#, quoted(name))
            }
            // Recordings are never given here.
            (MediaKind::Image | MediaKind::Audio, _) => format!(r#"{{"type":"image",{source}}}"#),
        }
    });
    media.chain(text_block(text)).collect()
}

fn result(call: &str, text: &str, media: &[Attached], failed: bool) -> String {
    let content = match (media.is_empty(), text.trim()) {
        (true, "") => String::new(),
        (true, _) => format!(r#","content":{}"#, quoted(text)),
        (false, _) => format!(r#","content":[{}]"#, parts(text, media).join(",")),
    };
    let failed = if failed { r#","is_error":true"# } else { "" };
    format!(
        r#"{{"type":"tool_result","tool_use_id":{}{content}{failed}}}"#,
        quoted(&IDS.of(call))
    )
}

/// Whether a block is reasoning in this format's own form.
fn is_own_thinking(raw: &str) -> bool {
    // Looked at before it is parsed, since most blocks are something else and may be long.
    raw.starts_with('{')
        && raw.contains("thinking")
        && serde_json::from_str::<Value>(raw).is_ok_and(|block| {
            let kind = block.get("type").and_then(Value::as_str);
            let signed = block.get("signature").is_some_and(Value::is_string);
            kind == Some("redacted_thinking") || (kind == Some("thinking") && signed)
        })
}
