//! The bytes of a request: `head ‖ messages ‖ closing`, with keys in a fixed order.

use std::fmt::Write as _;

use longrein_core::dialect::{
    AnswerForm, Attached, Dialect, End, Head, Message, Parameters, Place, Said, Speaker, Thinking,
};
use longrein_protocol::event::Section;
use longrein_protocol::{MediaKind, ToolSpec};

use super::quirks::{self, LimitName, Quirks, Returns, ThinkingSwitch};
use crate::json::{data_url, inside, object_schema, quoted, sendable_arguments, temperature};
use crate::openai_names::Family;

/// The OpenAI Chat Completions format, with the quirks of one server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChatDialect {
    quirks: Quirks,
    family: Family,
    is_qwen: bool,
}

/// The `raw` of a thinking block whose text goes back as `reasoning_content`.
pub(crate) const REASONING_CONTENT: &str = "reasoning_content";

/// What the model is made to have said where a server wants it to answer every result.
const BRIDGE: &str = r#",{"role":"assistant","content":"Understood."}"#;

impl Default for ChatDialect {
    fn default() -> Self {
        Self::new(quirks::PLAIN, "")
    }
}

impl ChatDialect {
    /// The format as a server wants it, for a model.
    pub fn new(quirks: Quirks, model: &str) -> Self {
        Self {
            quirks,
            family: Family::of(model),
            is_qwen: model.to_ascii_lowercase().contains("qwen"),
        }
    }

    /// The bytes from the first brace to the tools.
    pub(crate) fn opening(&self, model: &str) -> String {
        let usage = match self.quirks.stream_options {
            true => r#","stream_options":{"include_usage":true}"#,
            false => "",
        };
        format!(r#"{{"model":{},"stream":true{usage}"#, quoted(model))
    }

    fn result(&self, call: &str, text: &str, failed: bool) -> String {
        format!(
            r#",{{"role":"tool","tool_call_id":{},"content":{}}}"#,
            quoted(&self.quirks.ids.of(call)),
            quoted(&said_failure(text, failed))
        )
    }

    fn assistant(&self, blocks: &[Said]) -> String {
        let mut text = String::new();
        let mut reasoning = Reasoning::default();
        let mut calls = Vec::new();
        for block in blocks {
            match block {
                Said::Text { text: more, .. } => text.push_str(more),
                Said::Thinking { text, raw } => reasoning.take(text, raw.as_deref()),
                Said::ToolUse {
                    id,
                    name,
                    arguments,
                    ..
                } => calls.push(format!(
                    r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                    quoted(&self.quirks.ids.of(id)),
                    quoted(name),
                    quoted(&sendable_arguments(arguments))
                )),
            }
        }
        let reasoning = reasoning.bytes(self.quirks.returns, !calls.is_empty());
        // Servers want `null` beside calls, and refuse it where there are none.
        let content = match (text.is_empty(), calls.is_empty()) {
            (true, false) => "null".to_owned(),
            _ => quoted(&text),
        };
        if calls.is_empty() {
            return format!(r#",{{"role":"assistant","content":{content}{reasoning}}}"#);
        }
        format!(
            r#",{{"role":"assistant","content":{content}{reasoning},"tool_calls":[{}]}}"#,
            calls.join(",")
        )
    }

    /// The parameters that say how hard to think, each with a comma before it.
    fn thinking(&self, thinking: Thinking) -> String {
        let effort = |word: &str| format!(r#","reasoning_effort":"{word}""#);
        let word = match thinking {
            Thinking::Off => "none",
            Thinking::Low => "low",
            Thinking::Medium => "medium",
            Thinking::High => "high",
        };
        let is_off = thinking == Thinking::Off;
        match self.quirks.thinking {
            ThinkingSwitch::None => String::new(),
            ThinkingSwitch::Family => self.family.effort(thinking).map(effort).unwrap_or_default(),
            ThinkingSwitch::Effort => effort(word),
            ThinkingSwitch::HighOrNone => effort(if is_off { "none" } else { "high" }),
            ThinkingSwitch::Groq if self.is_qwen => {
                let words = if is_off { "none" } else { "default" };
                format!(r#"{},"reasoning_format":"parsed""#, effort(words))
            }
            ThinkingSwitch::Groq if self.family == Family::Always => {
                self.family.effort(thinking).map(effort).unwrap_or_default()
            }
            ThinkingSwitch::Groq => String::new(),
            ThinkingSwitch::EffortOrToggle | ThinkingSwitch::Reasoning if is_off => {
                r#","reasoning":{"enabled":false}"#.to_owned()
            }
            ThinkingSwitch::EffortOrToggle => effort(word),
            ThinkingSwitch::Reasoning => format!(r#","reasoning":{{"effort":"{word}"}}"#),
            ThinkingSwitch::TypeAndEffort if is_off => {
                r#","thinking":{"type":"disabled"}"#.to_owned()
            }
            ThinkingSwitch::TypeAndEffort => {
                format!(r#","thinking":{{"type":"enabled"}}{}"#, effort(word))
            }
            ThinkingSwitch::Template if is_off => {
                r#","chat_template_kwargs":{"enable_thinking":false}"#.to_owned()
            }
            ThinkingSwitch::Template => format!(
                r#","chat_template_kwargs":{{"enable_thinking":true,"reasoning_effort":"{word}"}}"#
            ),
        }
    }

    /// The parameters that vary, each with a comma before it.
    pub(crate) fn parameters(&self, parameters: Parameters<'_>) -> String {
        let name = match self.quirks.limit {
            LimitName::MaxTokens => "max_tokens",
            LimitName::MaxCompletionTokens => "max_completion_tokens",
        };
        let mut written = format!(r#","{name}":{}"#, parameters.max_output_tokens);
        let refuses =
            self.quirks.thinking == ThinkingSwitch::Family && self.family.refuses_temperature();
        if let Some(temperature) = temperature(parameters).filter(|_| !refuses) {
            // Writing to a string can't fail.
            let _ = write!(written, r#","temperature":{temperature}"#);
        }
        if let Some(thinking) = parameters.thinking {
            written.push_str(&self.thinking(thinking));
        }
        if let Some(form) = parameters.answer {
            written.push_str(&answer_form(form));
        }
        written
    }
}

/// The parameter that holds an answer to a form, with a comma before it.
fn answer_form(form: AnswerForm<'_>) -> String {
    format!(
        r#","response_format":{{"type":"json_schema","json_schema":{{"name":{},"strict":true,"schema":{}}}}}"#,
        quoted(form.name),
        form.schema
    )
}

/// A person's message; only one with media is made of parts, since templates of many servers know
/// none.
fn spoken(text: &str, media: &[Attached]) -> String {
    if media.is_empty() {
        return format!(r#",{{"role":"user","content":{}}}"#, quoted(text));
    }
    let words = (!text.is_empty()).then(|| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)));
    let parts: Vec<String> = words.into_iter().chain(media.iter().map(part)).collect();
    format!(r#",{{"role":"user","content":[{}]}}"#, parts.join(","))
}

/// A part that holds media.
fn part(media: &Attached) -> String {
    match media.kind {
        MediaKind::Image => format!(
            r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#,
            data_url(media)
        ),
        MediaKind::Document => format!(
            r#"{{"type":"file","file":{{"filename":{},"file_data":{}}}}}"#,
            quoted(file_name(media)),
            data_url(media)
        ),
        MediaKind::Audio => format!(
            r#"{{"type":"input_audio","input_audio":{{"data":"{}","format":"{}"}}}}"#,
            media.base64,
            if media.media_type == "audio/wav" {
                "wav"
            } else {
                "mp3"
            }
        ),
    }
}

/// A document's name; OpenAI refuses a document without one.
pub(crate) fn file_name(media: &Attached) -> &str {
    match media.name.as_str() {
        "" => "document.pdf",
        name => name,
    }
}

impl Dialect for ChatDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        // An empty list of tools is an error to some servers, so it is left out.
        let tools = match head.tools {
            [] => String::new(),
            tools => format!(
                r#","tools":[{}]"#,
                tools.iter().map(tool).collect::<Vec<_>>().join(",")
            ),
        };
        let system = format!(
            r#","messages":[{{"role":"system","content":"{}"#,
            inside(head.system)
        );
        let (system, index) = match head.index {
            "" => (format!(r#"{system}"}}"#), String::new()),
            index => (system, format!(r#"\n\n{}"}}"#, inside(index))),
        };
        [
            (Section::System, self.opening(head.model)),
            (Section::Tools, tools),
            (Section::System, system),
            (Section::Index, index),
        ]
        .into_iter()
        .filter(|(_, piece)| !piece.is_empty())
        .collect()
    }

    fn placed(&self, place: Place, message: &Message) -> String {
        // The system message stands first, so every message follows another one.
        let plain = match message {
            Message::User { text, media } => spoken(text, media),
            Message::Assistant { blocks } => self.assistant(blocks),
            Message::Result {
                call, text, failed, ..
            } => self.result(call, text, *failed),
        };
        let follows_result =
            place.after == Some(Speaker::Tool) && message.speaker() == Speaker::Person;
        match self.quirks.bridges_results && follows_result {
            true => format!("{BRIDGE}{plain}"),
            false => plain,
        }
    }

    fn closing_after(&self, _end: End, parameters: Parameters<'_>) -> String {
        format!("]{}}}", self.parameters(parameters))
    }

    fn carries(&self, speaker: Speaker, kind: MediaKind, _media_type: &str) -> bool {
        // A message of the role `tool` holds text only.
        speaker == Speaker::Person
            && match kind {
                MediaKind::Image => true,
                MediaKind::Document => self.quirks.files,
                MediaKind::Audio => self.quirks.audio,
            }
    }
}

/// The format has no field for a failure, so the words have to say it.
pub(crate) fn said_failure(text: &str, failed: bool) -> String {
    let is_said = text
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("error"));
    match failed && !is_said {
        true => format!("Error: {text}"),
        false => text.to_owned(),
    }
}

fn tool(spec: &ToolSpec) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        quoted(&spec.wire_name()),
        quoted(&spec.description),
        object_schema(&spec.schema)
    )
}

/// Reasoning that the provider wants to see again: its text under the name it came by, or the
/// provider's own list of details.
#[derive(Default)]
struct Reasoning {
    content: Option<String>,
    details: Option<String>,
}

impl Reasoning {
    fn take(&mut self, text: &str, raw: Option<&str>) {
        match raw {
            Some(REASONING_CONTENT) => self.content.get_or_insert_default().push_str(text),
            Some(details) if is_details(details) => self.details = Some(details.to_owned()),
            // Another format's own, or none.
            _ => {}
        }
    }

    fn bytes(self, returns: Returns, has_calls: bool) -> String {
        let content = |text: &str| format!(r#","{REASONING_CONTENT}":{}"#, quoted(text));
        match returns {
            Returns::Nothing => String::new(),
            Returns::BesideCalls if !has_calls => String::new(),
            Returns::AlwaysSomething => content(self.content.as_deref().unwrap_or_default()),
            Returns::BesideCalls | Returns::Always => {
                let details = self
                    .details
                    .map(|details| format!(r#","reasoning_details":{details}"#));
                let content = self.content.as_deref().map(content);
                details.or(content).unwrap_or_default()
            }
        }
    }
}

/// Whether a raw form is OpenRouter's list of details, and not Gemini's list of parts.
fn is_details(raw: &str) -> bool {
    raw.starts_with('[') && !raw.contains("\"thoughtSignature\"")
}

#[cfg(test)]
mod tests;
