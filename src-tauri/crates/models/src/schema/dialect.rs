//! The bytes of a request.
//!
//! Templates of small models want the person and the model to speak in turn, so messages of one
//! speaker are joined: a message's fragment leaves its text open, and what follows closes it. A
//! front that grows stays byte for byte what it was. What is joined is text, so images and
//! documents are noted and not shown.

use longrein_core::dialect::{Dialect, End, Head, Message, Parameters, Place, Said, Speaker};
use longrein_protocol::event::Section;

use super::grammar;
use crate::json::{inside, quoted, sendable_arguments};
use crate::openai_chat::ChatDialect;

/// What follows a result. A small model that is not told so asks for the same again and again
/// (seen with a model of half a milliard weights).
const AFTER_SUCCESS: &str =
    "This is done and need not be done again. Use the next tool that the task needs, or finish.";
const AFTER_FAILURE: &str = "That did not work. Do not do the same again: do it another way.";

/// The chat format, with tools by schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchemaDialect {
    chat: ChatDialect,
}

impl SchemaDialect {
    /// Tools by schema over a server's chat format.
    pub fn new(chat: ChatDialect) -> Self {
        Self { chat }
    }
}

impl Dialect for SchemaDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        let system = format!(
            r#","messages":[{{"role":"system","content":"{}"#,
            inside(head.system)
        );
        let opening = self.chat.opening(head.model);
        if head.tools.is_empty() {
            // A question on the side is answered in plain words.
            return vec![
                (Section::System, opening),
                (Section::System, format!(r#"{system}"}}"#)),
            ];
        }
        let format = format!(
            r#","response_format":{{"type":"json_schema","json_schema":{{"name":"reply","strict":true,"schema":{}}}}}"#,
            grammar::of(head.tools)
        );
        let tools = inside(&grammar::explained(head.tools));
        let mut pieces = vec![
            (Section::System, opening),
            (Section::Tools, format),
            (Section::System, system),
        ];
        match head.index {
            "" => pieces.push((Section::Tools, format!(r#"{tools}"}}"#))),
            index => {
                pieces.push((Section::Tools, tools));
                pieces.push((Section::Index, format!(r#"\n\n{}"}}"#, inside(index))));
            }
        }
        pieces
    }

    fn placed(&self, place: Place, message: &Message) -> String {
        let role = role(message.speaker());
        let opening = match place.after.map(self::role) {
            None => format!(r#",{{"role":"{role}","content":""#),
            Some(before) if before == role => r"\n\n".to_owned(),
            Some(_) => format!(r#""}},{{"role":"{role}","content":""#),
        };
        opening + &inside(&words(message))
    }

    fn closing_after(&self, end: End, parameters: Parameters<'_>) -> String {
        let close = if end.messages == 0 { "]" } else { r#""}]"# };
        format!("{close}{}}}", self.chat.parameters(parameters))
    }
}

fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Person | Speaker::Tool => "user",
        Speaker::Model => "assistant",
    }
}

/// A text as it stands inside of a JSON text.
fn words(message: &Message) -> String {
    match message {
        Message::User { text, .. } => text.clone(),
        Message::Result {
            name, text, failed, ..
        } => {
            let (how, next) = match failed {
                true => ("failed", AFTER_FAILURE),
                false => ("returned", AFTER_SUCCESS),
            };
            format!("{name} {how}:\n{text}\n{next}")
        }
        Message::Assistant { blocks } => {
            let said: Vec<String> = blocks.iter().filter_map(said).collect();
            said.join("\n")
        }
    }
}

/// A block in the form that the model is asked to reply in.
fn said(block: &Said) -> Option<String> {
    match block {
        Said::Text { text, .. } if text.is_empty() => None,
        Said::Text { text, .. } => Some(written(
            grammar::ANSWER,
            &format!(r#"{{"text":{}}}"#, quoted(text)),
        )),
        Said::Thinking { .. } => None,
        Said::ToolUse {
            name, arguments, ..
        } => Some(written(name, &sendable_arguments(arguments))),
    }
}

fn written(tool: &str, arguments: &str) -> String {
    format!(r#"{{"tool":{},"arguments":{arguments}}}"#, quoted(tool))
}
