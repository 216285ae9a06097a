//! The bytes of a request: `head ‖ items ‖ closing`.
//!
//! What the model said goes back item by item, as it came: reasoning belongs to the item that
//! follows it, and the API refuses one without the other. The prompt is cached by its front
//! without being asked to.

use longrein_core::dialect::{
    Attached, Dialect, End, Head, Message, Parameters, Place, Said, Speaker,
};
use longrein_protocol::event::Section;
use longrein_protocol::{MediaKind, ToolSpec};
use serde_json::Value;

use crate::ids::IdShape;
use crate::json::{data_url, inside, object_schema, quoted, temperature};
use crate::openai_chat::{file_name, said_failure};
use crate::openai_names::Family;

/// The OpenAI Responses format, for a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponsesDialect {
    family: Family,
}

/// The least output limit that is taken.
const OUTPUT_MIN: u32 = 16;

/// The ids that the API takes.
const IDS: IdShape = IdShape::Word;

impl ResponsesDialect {
    /// The format, with the parameters that the model takes.
    pub fn new(model: &str) -> Self {
        Self {
            family: Family::of(model),
        }
    }
}

impl Dialect for ResponsesDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        // A model that does not reason refuses to be asked for encrypted reasoning.
        let include = match self.family.reasons() {
            true => r#","include":["reasoning.encrypted_content"]"#,
            false => "",
        };
        let opening = format!(
            r#"{{"model":{},"stream":true,"store":false{include}"#,
            quoted(head.model)
        );
        let tools = match head.tools {
            [] => String::new(),
            tools => format!(
                r#","tools":[{}]"#,
                tools.iter().map(tool).collect::<Vec<_>>().join(",")
            ),
        };
        let (system, index) = match (head.system, head.index) {
            ("", "") => (r#","input":["#.to_owned(), String::new()),
            (system, "") => {
                let instructions = quoted(system);
                let system = format!(r#","instructions":{instructions},"input":["#);
                (system, String::new())
            }
            (system, index) => {
                let gap = if system.is_empty() { "" } else { r"\n\n" };
                let system = format!(r#","instructions":"{}"#, inside(system));
                (system, format!(r#"{gap}{}","input":["#, inside(index)))
            }
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
        let items = match message {
            Message::User { text, media } if media.is_empty() => vec![spoken("user", text)],
            Message::User { text, media } => vec![format!(
                r#"{{"type":"message","role":"user","content":{}}}"#,
                parts(text, media)
            )],
            Message::Assistant { blocks } => assistant(blocks),
            Message::Result {
                call,
                text,
                media,
                failed,
                ..
            } => {
                let text = said_failure(text, *failed);
                let output = match media.is_empty() {
                    true => quoted(&text),
                    false => parts(&text, media),
                };
                vec![format!(
                    r#"{{"type":"function_call_output","call_id":{},"output":{output}}}"#,
                    quoted(&IDS.of(call))
                )]
            }
        };
        let comma = if place.index > 0 { "," } else { "" };
        format!("{comma}{}", items.join(","))
    }

    fn carries(&self, _speaker: Speaker, kind: MediaKind, _media_type: &str) -> bool {
        matches!(kind, MediaKind::Image | MediaKind::Document)
    }

    fn closing_after(&self, _end: End, parameters: Parameters<'_>) -> String {
        let limit = parameters.max_output_tokens.max(OUTPUT_MIN);
        let mut closing = format!(r#"],"max_output_tokens":{limit}"#);
        let takes = !self.family.refuses_temperature();
        if let Some(temperature) = temperature(parameters).filter(|_| takes) {
            closing.push_str(&format!(r#","temperature":{temperature}"#));
        }
        // A summary of the reasoning is not asked for: organisations that OpenAI has not verified
        // are refused the whole request.
        let effort = parameters
            .thinking
            .and_then(|thinking| self.family.effort(thinking));
        if let Some(effort) = effort {
            closing.push_str(&format!(r#","reasoning":{{"effort":"{effort}"}}"#));
        }
        if let Some(form) = parameters.answer {
            closing.push_str(&format!(
                r#","text":{{"format":{{"type":"json_schema","name":{},"strict":true,"schema":{}}}}}"#,
                quoted(form.name),
                form.schema
            ));
        }
        closing.push('}');
        closing
    }
}

/// A list of what a message or an output is made of.
fn parts(text: &str, media: &[Attached]) -> String {
    let words =
        (!text.is_empty()).then(|| format!(r#"{{"type":"input_text","text":{}}}"#, quoted(text)));
    let media = media.iter().map(|media| match media.kind {
        MediaKind::Document => format!(
            r#"{{"type":"input_file","filename":{},"file_data":{}}}"#,
            quoted(file_name(media)),
            data_url(media)
        ),
        // Recordings are never given here.
        MediaKind::Image | MediaKind::Audio => format!(
            r#"{{"type":"input_image","detail":"auto","image_url":{}}}"#,
            data_url(media)
        ),
    });
    let parts: Vec<String> = words.into_iter().chain(media).collect();
    format!("[{}]", parts.join(","))
}

fn tool(spec: &ToolSpec) -> String {
    // Not strict: that wants every property to be required.
    format!(
        r#"{{"type":"function","name":{},"description":{},"parameters":{},"strict":false}}"#,
        quoted(&spec.wire_name()),
        quoted(&spec.description),
        object_schema(&spec.schema)
    )
}

fn spoken(role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"{role}","content":{}}}"#,
        quoted(text)
    )
}

/// The items of what the model said; never none.
fn assistant(blocks: &[Said]) -> Vec<String> {
    // An item names the reasoning that it belongs to, so where reasoning can't go back the others
    // go back without their names.
    let is_whole = blocks.iter().all(|block| match block {
        Said::Thinking { raw: Some(raw), .. } => is_sendable_reasoning(raw),
        _ => true,
    });
    let mut items: Vec<String> = blocks
        .iter()
        .filter_map(|block| item(block, is_whole))
        .collect();
    if items.is_empty() {
        items.push(spoken("assistant", "(no words)"));
    }
    items
}

fn item(block: &Said, is_whole: bool) -> Option<String> {
    let own = |raw: &Option<String>, kind: &str| {
        raw.clone()
            .filter(|raw| is_whole && item_type(raw).as_deref() == Some(kind))
    };
    match block {
        Said::Thinking { raw, .. } => own(raw, "reasoning"),
        Said::Text { text, raw } => {
            own(raw, "message").or_else(|| (!text.is_empty()).then(|| spoken("assistant", text)))
        }
        Said::ToolUse {
            id,
            name,
            arguments,
            raw,
        } => own(raw, "function_call").or_else(|| {
            let arguments = match arguments.trim() {
                "" => "{}",
                arguments => arguments,
            };
            Some(format!(
                r#"{{"type":"function_call","call_id":{},"name":{},"arguments":{}}}"#,
                quoted(&IDS.of(id)),
                quoted(name),
                quoted(arguments)
            ))
        }),
    }
}

fn item_type(raw: &str) -> Option<String> {
    if !raw.starts_with('{') {
        return None;
    }
    let item: Value = serde_json::from_str(raw).ok()?;
    item.get("type").and_then(Value::as_str).map(str::to_owned)
}

/// Whether reasoning holds what the provider needs to read it again: it stores nothing.
fn is_sendable_reasoning(raw: &str) -> bool {
    let Ok(item) = serde_json::from_str::<Value>(raw) else {
        return false;
    };
    let is_encrypted = item.get("encrypted_content").is_some_and(Value::is_string);
    // Servers of open models send the reasoning itself.
    let content = item.get("content").and_then(Value::as_array);
    is_encrypted || content.is_some_and(|content| !content.is_empty())
}
