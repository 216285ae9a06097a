//! A recorded conversation of five steps, once for each format: what the person says, what the
//! model answers with the provider's own raw blocks, and what the actions return. What is sent and
//! what is received are tested with the same data: outbound bodies in `models/tests`, streams by
//! the provider server.

use longrein_core::dialect::{AnswerForm, Attached};
use longrein_models::Format;
use longrein_protocol::MediaKind;
use longrein_protocol::ToolSpec;
use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

/// The model that each format's conversation is held with.
pub fn model(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat => "qwen3-vl-8b",
        Format::OpenAiResponses => "gpt-5.2",
        Format::Anthropic => "claude-sonnet-4-5",
        Format::Gemini => "gemini-3.8-flash",
    }
}

/// One step of the conversation.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the person says before it; absent where results came before.
    pub person: Option<&'static str>,
    /// What the model answers.
    pub reply: ModelReply,
    /// What the actions return that it asks for, in the order of the calls.
    pub results: Vec<Returned>,
    /// Whether its request holds the answer to [`form`].
    pub in_form: bool,
}

/// What an action returns.
#[derive(Clone, Debug)]
pub struct Returned {
    /// The id of the call.
    pub call: String,
    /// The tool's name on the wire.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
    /// What it returns beside text.
    pub media: Vec<Attached>,
    /// Whether it failed.
    pub failed: bool,
}

/// The form of the last answer.
pub fn form(schema: &Value) -> AnswerForm<'_> {
    AnswerForm {
        name: "finding",
        schema,
    }
}

/// The schema of [`form`].
pub fn form_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "rises": {"type": "boolean"},
            "sources": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["rises", "sources"],
        "additionalProperties": false,
    })
}

/// The tools of the conversation.
pub fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, schema: Value| {
        let spec = json!({
            "name": name, "description": description, "schema": schema, "effect": "read",
            "repeat": "repeatable", "timeout_ms": 1_000, "result_tokens": 1_000,
        });
        serde_json::from_value(spec).expect("the fields above are those of a tool")
    };
    let path = json!({"path": {"type": "string"}});
    vec![
        tool(
            "list_files",
            "Lists the files.",
            json!({"type": "object", "properties": {}}),
        ),
        tool(
            "read_file",
            "Shows a file.",
            json!({"type": "object", "properties": path, "required": ["path"]}),
        ),
    ]
}

/// The image that the fourth step shows: one grey pixel.
pub const PNG_BASE64: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

fn image() -> Attached {
    Attached {
        kind: MediaKind::Image,
        media_type: "image/png".to_owned(),
        name: "chart.png".to_owned(),
        base64: PNG_BASE64.into(),
        tokens: 258,
    }
}

/// The conversation as a provider's own format has it: text; thinking with a signature and a call;
/// two calls at once; an answer to an image; an answer in a form.
pub fn conversation(format: Format) -> Vec<Step> {
    let own = own(format);
    let [list, notes, chart] = own.calls.clone();
    let ids = [&list, &notes, &chart].map(|block| match block {
        ReplyBlock::ToolUse { id, .. } => id.clone(),
        ReplyBlock::Text { .. } | ReplyBlock::Thinking { .. } => String::new(),
    });
    let [list_id, notes_id, chart_id] = ids;
    let step = |person, blocks: Vec<ReplyBlock>, results: Vec<Returned>| Step {
        person,
        reply: reply(format, blocks),
        results,
        in_form: false,
    };
    let [hello, seen, answer] = own.texts;
    let [first, second] = own.thoughts;
    vec![
        step(
            Some("Grüße! Can you read \"charts\"?"),
            vec![hello],
            Vec::new(),
        ),
        step(
            Some("Then compare the notes with the chart."),
            vec![first, list],
            vec![Returned {
                call: list_id,
                name: "list_files",
                text: "notes.md\nchart.png",
                media: Vec::new(),
                failed: false,
            }],
        ),
        step(
            None,
            vec![second, notes, chart],
            vec![
                Returned {
                    call: notes_id,
                    name: "read_file",
                    text: "no such file: notes.md",
                    media: Vec::new(),
                    failed: true,
                },
                Returned {
                    call: chart_id,
                    name: "read_file",
                    text: "chart.png: an image",
                    media: vec![image()],
                    failed: false,
                },
            ],
        ),
        step(None, vec![seen], Vec::new()),
        Step {
            in_form: true,
            ..step(Some("Put that into the form."), vec![answer], Vec::new())
        },
    ]
}

const HELLO: &str = "Yes, 木 and charts.";
const SEEN: &str = "The chart rises.";
const ANSWER: &str = r#"{"rises": true, "sources": ["chart.png"]}"#;
const THOUGHT: &str = "First the list.";
const SECOND_THOUGHT: &str = "Both at once.";

/// What one provider says, in its own form.
struct Own {
    texts: [ReplyBlock; 3],
    thoughts: [ReplyBlock; 2],
    calls: [ReplyBlock; 3],
}

fn own(format: Format) -> Own {
    match format {
        Format::OpenAiChat => chat(),
        Format::OpenAiResponses => responses(),
        Format::Anthropic => anthropic(),
        Format::Gemini => gemini(),
    }
}

fn chat() -> Own {
    let marked = || Some("reasoning_content".to_owned());
    Own {
        texts: [HELLO, SEEN, ANSWER].map(|words| text(words, None)),
        thoughts: [THOUGHT, SECOND_THOUGHT].map(|words| thought(words, marked())),
        calls: [
            call("call_list", "list_files", "{}", None),
            call("call_notes", "read_file", r#"{"path": "notes.md"}"#, None),
            call("call_chart", "read_file", r#"{"path": "chart.png"}"#, None),
        ],
    }
}

fn anthropic() -> Own {
    let signed = |words: &str, signature: &str| {
        Some(json!({"type": "thinking", "thinking": words, "signature": signature}).to_string())
    };
    Own {
        texts: [HELLO, SEEN, ANSWER].map(|words| text(words, None)),
        thoughts: [
            thought(THOUGHT, signed(THOUGHT, "EqQBCgIYAhIM1gbcDa9GJwZA2b3h")),
            thought(
                SECOND_THOUGHT,
                signed(SECOND_THOUGHT, "EqQBCgIYAhIMbothAtOnce0"),
            ),
        ],
        calls: [
            call("toolu_01list", "list_files", "{}", None),
            call(
                "toolu_01notes",
                "read_file",
                r#"{"path": "notes.md"}"#,
                None,
            ),
            call(
                "toolu_01chart",
                "read_file",
                r#"{"path": "chart.png"}"#,
                None,
            ),
        ],
    }
}

fn responses() -> Own {
    let message = |id: &str, words: &str| {
        let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": words});
        let item = json!({"id": id, "type": "message", "status": "completed", "content": [part], "role": "assistant"});
        text(words, Some(item.to_string()))
    };
    let reasoning = |id: &str, words: &str, sealed: &str| {
        let summary = json!([{"type": "summary_text", "text": words}]);
        let item =
            json!({"id": id, "type": "reasoning", "encrypted_content": sealed, "summary": summary});
        thought(words, Some(item.to_string()))
    };
    let asks = |id: &str, call_id: &str, name: &str, arguments: &str| {
        let item = json!({"id": id, "type": "function_call", "status": "completed", "arguments": arguments, "call_id": call_id, "name": name});
        call(call_id, name, arguments, Some(item.to_string()))
    };
    Own {
        texts: [
            message("msg_1", HELLO),
            message("msg_4", SEEN),
            message("msg_5", ANSWER),
        ],
        thoughts: [
            reasoning("rs_2", THOUGHT, "gAAAAABo-sealed-2"),
            reasoning("rs_3", SECOND_THOUGHT, "gAAAAABo-sealed-3"),
        ],
        calls: [
            asks("fc_2", "call_list", "list_files", "{}"),
            asks(
                "fc_3a",
                "call_notes",
                "read_file",
                r#"{"path": "notes.md"}"#,
            ),
            asks(
                "fc_3b",
                "call_chart",
                "read_file",
                r#"{"path": "chart.png"}"#,
            ),
        ],
    }
}

fn gemini() -> Own {
    let part = |id: &str, name: &str, arguments: &str, signature: &str| {
        let raw = format!(
            r#"{{"functionCall":{{"name":"{name}","args":{arguments},"id":"{id}"}}{signature}}}"#
        );
        call(id, name, arguments, Some(raw))
    };
    Own {
        texts: [HELLO, SEEN, ANSWER].map(|words| text(words, None)),
        // Thoughts are summaries; the signature stands at the first call.
        thoughts: [THOUGHT, SECOND_THOUGHT].map(|words| thought(words, None)),
        calls: [
            part(
                "fc-list",
                "list_files",
                "{}",
                r#","thoughtSignature":"CvcBAXLI+/list==""#,
            ),
            part(
                "fc-notes",
                "read_file",
                r#"{"path": "notes.md"}"#,
                r#","thoughtSignature":"CvcBAXLI+/both==""#,
            ),
            part("fc-chart", "read_file", r#"{"path": "chart.png"}"#, ""),
        ],
    }
}

fn text(text: &str, raw: Option<String>) -> ReplyBlock {
    ReplyBlock::Text {
        text: text.to_owned(),
        raw,
    }
}

fn thought(text: &str, raw: Option<String>) -> ReplyBlock {
    ReplyBlock::Thinking {
        text: text.to_owned(),
        raw,
    }
}

fn call(id: &str, name: &str, arguments: &str, raw: Option<String>) -> ReplyBlock {
    ReplyBlock::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        raw,
    }
}

fn reply(format: Format, blocks: Vec<ReplyBlock>) -> ModelReply {
    let asks = |block: &ReplyBlock| matches!(block, ReplyBlock::ToolUse { .. });
    let thinks = |block: &ReplyBlock| matches!(block, ReplyBlock::Thinking { .. });
    let stop = match blocks.iter().any(asks) {
        true => StopReason::ToolUse,
        false => StopReason::End,
    };
    let id = match format {
        Format::OpenAiChat => "chatcmpl-1",
        Format::OpenAiResponses => "resp_1",
        Format::Anthropic => "msg_01",
        Format::Gemini => "gem-1",
    };
    ModelReply {
        stop,
        usage: Some(Usage {
            input: 200,
            output: 40,
            cached: 128,
            reasoning: if blocks.iter().any(thinks) { 12 } else { 0 },
            ..Usage::default()
        }),
        response_id: id.to_owned(),
        blocks,
    }
}
