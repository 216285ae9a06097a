//! The bytes of a request: `head ‖ messages ‖ closing`, with keys in a fixed order.

use std::fmt::Write as _;

use longrein_core::dialect::{Dialect, Head, Message, Parameters, Said};
use longrein_protocol::ToolSpec;
use longrein_protocol::event::Section;
use serde_json::Value;

/// The OpenAI Chat Completions format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ChatDialect {
    /// How the output limit is called.
    pub limit: LimitName,
}

/// How a provider calls the limit of a response's tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LimitName {
    /// `max_tokens`: what every compatible server understands.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: what OpenAI itself demands for its newer models.
    MaxCompletionTokens,
}

/// The `raw` of a thinking block whose text goes back as `reasoning_content`.
pub(crate) const REASONING_CONTENT: &str = "reasoning_content";

impl Dialect for ChatDialect {
    fn head(&self, head: Head<'_>) -> Vec<(Section, String)> {
        let model = quoted(head.model);
        let opening =
            format!(r#"{{"model":{model},"stream":true,"stream_options":{{"include_usage":true}}"#);
        // An empty list of tools is an error to some servers, so it is left out.
        let tools = match head.tools {
            [] => String::new(),
            tools => format!(
                r#","tools":[{}]"#,
                tools.iter().map(tool).collect::<Vec<_>>().join(",")
            ),
        };
        let system = format!(
            r#","messages":[{{"role":"system","content":{}}}"#,
            quoted(head.system)
        );
        [
            (Section::System, opening),
            (Section::Tools, tools),
            (Section::System, system),
        ]
        .into_iter()
        .filter(|(_, piece)| !piece.is_empty())
        .collect()
    }

    fn message(&self, _index: u32, message: &Message) -> String {
        // The system message stands first, so every message follows another one.
        match message {
            Message::User { text } => format!(r#",{{"role":"user","content":{}}}"#, quoted(text)),
            Message::Assistant { blocks } => assistant(blocks),
            Message::Result {
                call, text, failed, ..
            } => {
                // The format has no field for a failure, so the words have to say it.
                let unsaid = *failed
                    && !text
                        .get(..5)
                        .is_some_and(|start| start.eq_ignore_ascii_case("error"));
                let content = if unsaid {
                    format!("Error: {text}")
                } else {
                    text.clone()
                };
                format!(
                    r#",{{"role":"tool","tool_call_id":{},"content":{}}}"#,
                    quoted(call),
                    quoted(&content)
                )
            }
        }
    }

    fn closing(&self, parameters: Parameters) -> String {
        let name = match self.limit {
            LimitName::MaxTokens => "max_tokens",
            LimitName::MaxCompletionTokens => "max_completion_tokens",
        };
        let mut closing = format!(r#"],"{name}":{}"#, parameters.max_output_tokens);
        if let Some(temperature) = parameters.temperature.filter(|number| number.is_finite()) {
            // Writing to a string can't fail.
            let _ = write!(closing, r#","temperature":{}"#, Value::from(temperature));
        }
        closing.push('}');
        closing
    }
}

fn tool(spec: &ToolSpec) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        quoted(&spec.wire_name()),
        quoted(&spec.description),
        spec.schema
    )
}

fn assistant(blocks: &[Said]) -> String {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Said::Text { text: more, .. } => text.push_str(more),
            Said::Thinking { text, raw } => reasoning.push_str(&thinking(text, raw.as_deref())),
            Said::ToolUse {
                id,
                name,
                arguments,
                ..
            } => calls.push(format!(
                r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                quoted(id),
                quoted(name),
                quoted(&sendable_arguments(arguments))
            )),
        }
    }
    // Servers want `null` beside calls, and refuse it where there are none.
    let content = match (text.is_empty(), calls.is_empty()) {
        (true, false) => "null".to_owned(),
        _ => quoted(&text),
    };
    if calls.is_empty() {
        return format!(r#",{{"role":"assistant","content":{content}}}"#);
    }
    format!(
        r#",{{"role":"assistant","content":{content}{reasoning},"tool_calls":[{}]}}"#,
        calls.join(",")
    )
}

/// Reasoning that the provider wants to see again: its text under the name it came by, or the
/// provider's own list of details.
fn thinking(text: &str, raw: Option<&str>) -> String {
    match raw {
        Some(REASONING_CONTENT) => format!(r#","{REASONING_CONTENT}":{}"#, quoted(text)),
        Some(details) if details.starts_with('[') => format!(r#","reasoning_details":{details}"#),
        _ => String::new(),
    }
}

/// Arguments that are no JSON object make many servers refuse the whole history, so what can't
/// be sent as it was is wrapped; the model still sees what it wrote.
fn sendable_arguments(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => format!(r#"{{"unreadable_arguments":{}}}"#, quoted(arguments)),
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use longrein_protocol::{Effect, tool::Repeat};
    use serde_json::json;

    use super::*;

    fn check_message(message: Message, expected: Expect) {
        let bytes = ChatDialect::default().message(3, &message);
        expected.assert_eq(&bytes);
        let parsed: Result<Value, _> = serde_json::from_str(&bytes[1..]);
        assert!(parsed.is_ok(), "{bytes}");
    }

    fn call(arguments: &str) -> Said {
        Said::ToolUse {
            id: "c1".into(),
            name: "read_file".into(),
            arguments: arguments.into(),
            raw: None,
        }
    }

    #[test]
    fn head_messages_and_closing_make_one_json_body() {
        let tools = [ToolSpec {
            name: "notes.find".into(),
            description: "Finds \"notes\"".into(),
            schema: json!({"type": "object"}),
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            timeout_ms: 1,
            result_tokens: 1,
            path_arguments: Vec::new(),
            reach: longrein_protocol::tool::Reach::default(),
            recovery: longrein_protocol::tool::Recovery::default(),
            untrusted: true,
        }];
        let dialect = ChatDialect::default();
        let head = dialect.head(Head {
            model: "any",
            system: "Be\nbrief",
            tools: &tools,
        });
        let parts: Vec<Section> = head.iter().map(|(part, _)| *part).collect();
        assert_eq!(parts, [Section::System, Section::Tools, Section::System]);
        let mut body: String = head.into_iter().map(|(_, bytes)| bytes).collect();
        body += &dialect.message(0, &Message::User { text: "Hé".into() });
        body += &dialect.closing(Parameters {
            max_output_tokens: 64,
            temperature: Some(0.0),
        });
        expect![[r#"{"model":"any","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"notes__find","description":"Finds \"notes\"","parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be\nbrief"},{"role":"user","content":"Hé"}],"max_tokens":64,"temperature":0.0}"#]].assert_eq(&body);
        serde_json::from_str::<Value>(&body).unwrap();
    }

    #[test]
    fn without_tools_the_key_is_left_out() {
        let head = ChatDialect::default().head(Head {
            model: "m",
            system: "",
            tools: &[],
        });
        assert_eq!(head.len(), 2);
        assert!(head.iter().all(|(part, _)| *part == Section::System));
    }

    #[test]
    fn the_limit_is_called_as_the_provider_wants_it() {
        let dialect = ChatDialect {
            limit: LimitName::MaxCompletionTokens,
        };
        let closing = dialect.closing(Parameters {
            max_output_tokens: 7,
            temperature: None,
        });
        assert_eq!(closing, r#"],"max_completion_tokens":7}"#);
    }

    #[test]
    fn calls_without_words_have_null_content() {
        check_message(
            Message::Assistant {
                blocks: vec![call("{\"path\":\"a\"}")],
            },
            expect![[
                r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}"#
            ]],
        );
    }

    #[test]
    fn an_empty_reply_is_an_empty_text() {
        check_message(
            Message::Assistant { blocks: Vec::new() },
            expect![[r#",{"role":"assistant","content":""}"#]],
        );
    }

    #[test]
    fn arguments_that_are_no_object_are_sent_in_one() {
        check_message(
            Message::Assistant {
                blocks: vec![call("{\"path\":"), call("")],
            },
            expect![[
                r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"unreadable_arguments\":\"{\\\"path\\\":\"}"}},{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
            ]],
        );
    }

    #[test]
    fn reasoning_goes_back_only_where_the_provider_wants_it() {
        let thinking = |raw: Option<&str>| Said::Thinking {
            text: "hm".into(),
            raw: raw.map(str::to_owned),
        };
        check_message(
            Message::Assistant {
                blocks: vec![thinking(Some(REASONING_CONTENT)), call("{}")],
            },
            expect![[
                r#",{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
            ]],
        );
        check_message(
            Message::Assistant {
                blocks: vec![thinking(Some("[{\"id\":1}]")), call("{}")],
            },
            expect![[
                r#",{"role":"assistant","content":null,"reasoning_details":[{"id":1}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
            ]],
        );
        check_message(
            Message::Assistant {
                blocks: vec![
                    thinking(None),
                    Said::Text {
                        text: "Hello".into(),
                        raw: None,
                    },
                ],
            },
            expect![[r#",{"role":"assistant","content":"Hello"}"#]],
        );
    }

    #[test]
    fn a_failed_action_says_so_in_words() {
        let result = |text: &str, failed| Message::Result {
            call: "c1".into(),
            name: "read_file".into(),
            text: text.into(),
            failed,
        };
        check_message(
            result("no such file", true),
            expect![[r#",{"role":"tool","tool_call_id":"c1","content":"Error: no such file"}"#]],
        );
        check_message(
            result("error: gone", true),
            expect![[r#",{"role":"tool","tool_call_id":"c1","content":"error: gone"}"#]],
        );
        check_message(
            result("fine", false),
            expect![[r#",{"role":"tool","tool_call_id":"c1","content":"fine"}"#]],
        );
    }
}
