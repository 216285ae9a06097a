//! OpenAI Responses.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::ReplyBlock;
use serde_json::{Value, json};

use super::{Event, Sending, object, pieces, quoted};

pub(super) fn events(sending: Sending<'_>) -> Vec<Event> {
    let mut events = Numbered::default();
    let begun = response(sending, "in_progress", "[]", "null");
    events.add("response.created", &format!(r#","response":{begun}"#));
    events.add("response.in_progress", &format!(r#","response":{begun}"#));
    let mut items = Vec::new();
    for (index, block) in sending.reply.blocks.iter().enumerate() {
        items.push(item_events(&mut events, sending, index, block));
    }
    let (name, status) = ending(sending.reply.stop);
    let output = format!("[{}]", items.join(","));
    let ended = response(sending, status, &output, &usage(sending));
    events.add(name, &format!(r#","response":{ended}"#));
    events.list
}

pub(super) fn whole(sending: Sending<'_>) -> String {
    let items: Vec<String> = (0..)
        .zip(&sending.reply.blocks)
        .map(|(index, block)| item(index, block))
        .collect();
    let (_, status) = ending(sending.reply.stop);
    let output = format!("[{}]", items.join(","));
    response(sending, status, &output, &usage(sending))
}

pub(super) fn filler(words: &str) -> Event {
    let data = json!({"type": "response.output_text.delta", "item_id": "msg_0", "output_index": 0, "content_index": 0, "delta": words});
    Event::named("response.output_text.delta", data.to_string())
}

/// Events, each with the number that the format gives it.
#[derive(Default)]
struct Numbered {
    list: Vec<Event>,
}

impl Numbered {
    /// Adds an event; `more` is what its data holds besides, each with a comma before it.
    fn add(&mut self, name: &str, more: &str) {
        let number = self.list.len();
        let data = format!(r#"{{"type":"{name}","sequence_number":{number}{more}}}"#);
        self.list.push(Event::named(name, data));
    }
}

/// Tells an item from its beginning to its end; gives it as it is in the end.
fn item_events(
    events: &mut Numbered,
    sending: Sending<'_>,
    index: usize,
    block: &ReplyBlock,
) -> String {
    let whole = item(index, block);
    let parsed: Value = serde_json::from_str(&whole).unwrap_or_default();
    let id = quoted(parsed["id"].as_str().unwrap_or_default());
    let at = format!(r#","item_id":{id},"output_index":{index}"#);
    let mut begun = parsed;
    match block {
        ReplyBlock::Text { text, .. } => {
            begun["content"] = json!([]);
            added(events, index, &begun);
            let at = format!(r#"{at},"content_index":0"#);
            let part = |text: &str| {
                format!(
                    r#"{at},"part":{{"type":"output_text","annotations":[],"text":{}}}"#,
                    quoted(text)
                )
            };
            events.add("response.content_part.added", &part(""));
            deltas(events, sending, "response.output_text.delta", &at, text);
            let done = format!(r#"{at},"text":{}"#, quoted(text));
            events.add("response.output_text.done", &done);
            events.add("response.content_part.done", &part(text));
        }
        ReplyBlock::Thinking { text, .. } => {
            begun["summary"] = json!([]);
            added(events, index, &begun);
            if !text.is_empty() {
                let at = format!(r#"{at},"summary_index":0"#);
                let name = "response.reasoning_summary_text.delta";
                deltas(events, sending, name, &at, text);
                let done = format!(r#"{at},"text":{}"#, quoted(text));
                events.add("response.reasoning_summary_text.done", &done);
            }
        }
        ReplyBlock::ToolUse { arguments, .. } => {
            begun["arguments"] = "".into();
            added(events, index, &begun);
            let name = "response.function_call_arguments.delta";
            deltas(events, sending, name, &at, arguments);
            let done = format!(r#"{at},"arguments":{}"#, quoted(arguments));
            events.add("response.function_call_arguments.done", &done);
        }
    }
    let done = format!(r#","output_index":{index},"item":{whole}"#);
    events.add("response.output_item.done", &done);
    whole
}

fn added(events: &mut Numbered, index: usize, begun: &Value) {
    let mut begun = begun.clone();
    if begun["status"].is_string() {
        begun["status"] = "in_progress".into();
    }
    let more = format!(r#","output_index":{index},"item":{begun}"#);
    events.add("response.output_item.added", &more);
}

fn deltas(events: &mut Numbered, sending: Sending<'_>, name: &str, at: &str, text: &str) {
    for piece in pieces(sending.manner, text) {
        events.add(name, &format!(r#"{at},"delta":{}"#, quoted(piece)));
    }
}

/// An item as it is in the end: the one that was kept, or one that says the same.
fn item(index: usize, block: &ReplyBlock) -> String {
    match block {
        ReplyBlock::Text { text, raw } => object(raw.as_deref(), || {
            let part = json!({"type": "output_text", "annotations": [], "text": text});
            json!({"id": format!("msg_{index}"), "type": "message", "status": "completed", "role": "assistant", "content": [part]}).to_string()
        }),
        ReplyBlock::Thinking { text, raw } => object(raw.as_deref(), || {
            let summary = json!([{"type": "summary_text", "text": text}]);
            json!({"id": format!("rs_{index}"), "type": "reasoning", "summary": summary})
                .to_string()
        }),
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            raw,
        } => object(raw.as_deref(), || {
            json!({"id": format!("fc_{index}"), "type": "function_call", "status": "completed", "arguments": arguments, "call_id": id, "name": name}).to_string()
        }),
    }
}

fn response(sending: Sending<'_>, status: &str, output: &str, usage: &str) -> String {
    let details = match sending.reply.stop {
        StopReason::Length if status == "incomplete" => r#"{"reason":"max_output_tokens"}"#,
        StopReason::Refused if status == "incomplete" => r#"{"reason":"content_filter"}"#,
        _ => "null",
    };
    format!(
        r#"{{"id":{},"object":"response","created_at":1770000000,"status":"{status}","error":null,"incomplete_details":{details},"model":{},"output":{output},"parallel_tool_calls":true,"store":false,"usage":{usage}}}"#,
        quoted(&sending.reply.response_id),
        quoted(sending.model)
    )
}

fn usage(sending: Sending<'_>) -> String {
    let told = sending
        .reply
        .usage
        .filter(|_| !sending.manner.without_usage);
    told.map_or_else(
        || "null".to_owned(),
        |usage| {
            json!({
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": u64::from(usage.input) + u64::from(usage.output),
            })
            .to_string()
        },
    )
}

fn ending(stop: StopReason) -> (&'static str, &'static str) {
    match stop {
        StopReason::End | StopReason::ToolUse => ("response.completed", "completed"),
        StopReason::Length | StopReason::Refused | StopReason::Other => {
            ("response.incomplete", "incomplete")
        }
    }
}
