//! The bytes of a request.
//!
//! All results of a step have to stand in one content, so a message's fragment leaves its content
//! open, and what follows closes it: a front that grows stays byte for byte what it was. The model
//! stands in the address, not in the body. The prompt is cached by its front without being asked.

use longrein_core::dialect::{
    Attached, Dialect, End, Head, Message, Parameters, Place, Said, Speaker,
};
use longrein_protocol::event::Section;
use longrein_protocol::{MediaKind, ToolSpec};
use serde_json::Value;

use super::thinking::Thinker;
use crate::ids::MADE;
use crate::json::{quoted, sendable_arguments, temperature};
use crate::subset;

/// The Gemini format, for a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeminiDialect {
    thinker: Thinker,
}

/// What stands where there are no words: an empty text is refused.
const NO_WORDS: &str = "(no words)";

/// The signature that the documentation gives for calls that come from elsewhere.
const UNSIGNED: &str = r#","thoughtSignature":"skip_thought_signature_validator""#;

/// What the API knows of JSON Schema (ai.google.dev/api/caching, `parametersJsonSchema`; read in
/// November 2026). What it does not know it refuses; arguments are checked here in any case.
const KEYWORDS: [&str; 19] = [
    "$defs",
    "$ref",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "nullable",
];

impl GeminiDialect {
    /// The format, with the parameters that the model takes.
    pub fn new(model: &str) -> Self {
        Self {
            thinker: Thinker::of(model),
        }
    }

    fn parts(&self, message: &Message) -> Vec<String> {
        match message {
            Message::User { text, media } => {
                let words = !text.is_empty() || media.is_empty();
                let words = words.then(|| text_part(text));
                media.iter().map(inline).chain(words).collect()
            }
            Message::Result {
                call,
                name,
                text,
                media,
                failed,
            } => vec![result(call, name, text, media, *failed)],
            Message::Assistant { blocks } => self.said(blocks),
        }
    }

    /// The parts of what the model said; never none.
    fn said(&self, blocks: &[Said]) -> Vec<String> {
        let mut parts = Vec::new();
        let mut is_first_call = true;
        for block in blocks {
            match block {
                Said::Text { text, raw } => match own_parts(raw.as_deref()) {
                    Some(own) => parts.push(own.to_owned()),
                    None if text.is_empty() => {}
                    None => parts.push(text_part(text)),
                },
                // Summaries of thoughts are for the person; only what is signed goes back.
                Said::Thinking { raw, .. } => {
                    parts.extend(own_parts(raw.as_deref()).map(str::to_owned));
                }
                Said::ToolUse {
                    id,
                    name,
                    arguments,
                    raw,
                } => {
                    let own = raw.as_deref().filter(|raw| is_own_call(raw));
                    parts.push(match own {
                        Some(own) => own.to_owned(),
                        None => self.call(id, name, arguments, is_first_call),
                    });
                    is_first_call = false;
                }
            }
        }
        if parts.is_empty() {
            parts.push(text_part(NO_WORDS));
        }
        parts
    }

    /// A call that did not come from this API. The first of a step must be signed.
    fn call(&self, id: &str, name: &str, arguments: &str, is_first: bool) -> String {
        let signature = match self.thinker.signs() && is_first {
            true => UNSIGNED,
            false => "",
        };
        format!(
            r#"{{"functionCall":{{{}"name":{},"args":{}}}{signature}}}"#,
            id_field(id),
            quoted(name),
            sendable_arguments(arguments)
        )
    }
}

impl Dialect for GeminiDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        let part = |text: &str| format!(r#"{{"text":{}}}"#, quoted(text));
        let system = match head.system.trim() {
            "" => String::new(),
            _ => part(head.system),
        };
        let index = match (system.is_empty(), head.index) {
            (_, "") => String::new(),
            (true, index) => part(index),
            (false, index) => format!(",{}", part(index)),
        };
        let (open, close) = match system.is_empty() && index.is_empty() {
            true => ("", ""),
            false => (r#""systemInstruction":{"parts":["#, "]},"),
        };
        let (system, index) = match index.is_empty() {
            true => (format!("{{{open}{system}{close}"), index),
            false => (format!("{{{open}{system}"), index + close),
        };
        let tools = match head.tools {
            [] => String::new(),
            tools => format!(
                r#""tools":[{{"functionDeclarations":[{}]}}],"#,
                tools.iter().map(tool).collect::<Vec<_>>().join(",")
            ),
        };
        [
            (Section::System, system),
            (Section::Index, index),
            (Section::Tools, tools),
            (Section::System, r#""contents":["#.to_owned()),
        ]
        .into_iter()
        .filter(|(_, piece)| !piece.is_empty())
        .collect()
    }

    fn placed(&self, place: Place, message: &Message) -> String {
        let speaker = message.speaker();
        let role = match speaker {
            Speaker::Person | Speaker::Tool => "user",
            Speaker::Model => "model",
        };
        let opening = match place.after {
            None => format!(r#"{{"role":"{role}","parts":["#),
            Some(before) if before == speaker => ",".to_owned(),
            Some(_) => format!(r#"]}},{{"role":"{role}","parts":["#),
        };
        opening + &self.parts(message).join(",")
    }

    fn carries(&self, speaker: Speaker, kind: MediaKind, media_type: &str) -> bool {
        // Results hold media from Gemini 3 on: PNG, JPEG, WebP and PDF
        // (ai.google.dev/gemini-api/docs/function-calling, multimodal function responses).
        let in_results = self.thinker.signs() && kind != MediaKind::Audio;
        // A GIF is not among the formats of images (docs: image understanding).
        media_type != "image/gif" && (speaker == Speaker::Person || in_results)
    }

    fn closing_after(&self, end: End, parameters: Parameters<'_>) -> String {
        let close = if end.messages == 0 { "]" } else { "]}]" };
        let mut config = format!(r#""maxOutputTokens":{}"#, parameters.max_output_tokens);
        if let Some(temperature) = temperature(parameters) {
            config.push_str(&format!(r#","temperature":{temperature}"#));
        }
        let thinking = parameters
            .thinking
            .and_then(|thinking| self.thinker.config(thinking, parameters.max_output_tokens));
        if let Some(thinking) = thinking {
            config.push_str(&format!(r#","thinkingConfig":{thinking}"#));
        }
        if let Some(form) = parameters.answer {
            config.push_str(&format!(
                r#","responseMimeType":"application/json","responseJsonSchema":{}"#,
                subset::of(form.schema, &KEYWORDS)
            ));
        }
        format!(r#"{close},"generationConfig":{{{config}}}}}"#)
    }
}

fn tool(spec: &ToolSpec) -> String {
    let schema = subset::of(&spec.schema, &KEYWORDS);
    // An object without properties is refused, and says nothing.
    let has_properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let parameters = match has_properties {
        true => format!(r#","parametersJsonSchema":{schema}"#),
        false => String::new(),
    };
    format!(
        r#"{{"name":{},"description":{}{parameters}}}"#,
        quoted(&spec.wire_name()),
        quoted(&spec.description)
    )
}

fn text_part(text: &str) -> String {
    let text = if text.is_empty() { NO_WORDS } else { text };
    format!(r#"{{"text":{}}}"#, quoted(text))
}

/// A part that holds media.
fn inline(media: &Attached) -> String {
    format!(
        r#"{{"inlineData":{{"mimeType":{},"data":"{}"}}}}"#,
        quoted(media_type(media)),
        media.base64
    )
}

fn media_type(media: &Attached) -> &str {
    match media.media_type.as_str() {
        // What the documentation calls it (docs: audio understanding).
        "audio/mpeg" => "audio/mp3",
        other => other,
    }
}

fn result(call: &str, name: &str, text: &str, media: &[Attached], failed: bool) -> String {
    let key = if failed { "error" } else { "output" };
    let parts = match media.is_empty() {
        true => String::new(),
        false => {
            let parts: Vec<String> = media.iter().map(inline).collect();
            format!(r#","parts":[{}]"#, parts.join(","))
        }
    };
    format!(
        r#"{{"functionResponse":{{{}"name":{},"response":{{"{key}":{}}}{parts}}}}}"#,
        id_field(call),
        quoted(name),
        quoted(text)
    )
}

/// The id of a call, where the API gave one: it must not hear of others.
fn id_field(id: &str) -> String {
    match id.starts_with(MADE) {
        true => String::new(),
        false => format!(r#""id":{},"#, quoted(id)),
    }
}

/// The signed parts of a text or thought, as the assembly kept them: without the brackets.
fn own_parts(raw: Option<&str>) -> Option<&str> {
    let raw = raw.filter(|raw| raw.contains("\"thoughtSignature\""))?;
    raw.strip_prefix('[')?.strip_suffix(']')
}

fn is_own_call(raw: &str) -> bool {
    raw.starts_with('{')
        && raw.contains("\"functionCall\"")
        && serde_json::from_str::<Value>(raw)
            .is_ok_and(|part| part.get("functionCall").is_some_and(Value::is_object))
}
