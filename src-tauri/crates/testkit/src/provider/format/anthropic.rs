//! Anthropic Messages.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::{Event, Sending, object, pieces, quoted};
use crate::provider::refusal::{Refusal, Trouble};

pub(super) fn events(sending: Sending<'_>) -> Vec<Event> {
    let Sending { reply, model, .. } = sending;
    let message = json!({
        "id": reply.response_id, "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": input_usage(sending),
    });
    let mut events = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({"type": "ping"})),
    ];
    for (index, block) in reply.blocks.iter().enumerate() {
        let (start, deltas) = block_parts(sending, block);
        events.push(Event::named(
            "content_block_start",
            format!(r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#),
        ));
        events.extend(deltas.into_iter().map(|delta| {
            event(json!({"type": "content_block_delta", "index": index, "delta": delta}))
        }));
        events.push(event(json!({"type": "content_block_stop", "index": index})));
    }
    let delta = json!({"stop_reason": stop_reason(reply.stop), "stop_sequence": null});
    events.push(event(
        json!({"type": "message_delta", "delta": delta, "usage": output_usage(sending)}),
    ));
    events.push(event(json!({"type": "message_stop"})));
    events
}

pub(super) fn whole(sending: Sending<'_>) -> String {
    let Sending { reply, model, .. } = sending;
    let blocks: Vec<String> = reply.blocks.iter().map(whole_block).collect();
    let usage = json!({
        "input_tokens": input_usage(sending)["input_tokens"],
        "cache_read_input_tokens": input_usage(sending)["cache_read_input_tokens"],
        "output_tokens": output_usage(sending)["output_tokens"],
    });
    format!(
        r#"{{"id":{},"type":"message","role":"assistant","model":{},"content":[{}],"stop_reason":"{}","stop_sequence":null,"usage":{usage}}}"#,
        quoted(&reply.response_id),
        quoted(model),
        blocks.join(","),
        stop_reason(reply.stop)
    )
}

pub(super) fn filler(words: &str) -> Event {
    let delta = json!({"type": "text_delta", "text": words});
    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

pub(super) fn refuse(refusal: &Refusal) -> (u16, Value) {
    let (status, kind) = match refusal.kind {
        Trouble::RateLimited | Trouble::DailyQuota => (429, "rate_limit_error"),
        Trouble::Overloaded => (529, "overloaded_error"),
        Trouble::Broken => (500, "api_error"),
        Trouble::TooLong => (413, "request_too_large"),
        Trouble::WrongKey => (401, "authentication_error"),
        Trouble::NoCredit | Trouble::BadRequest | Trouble::Content | Trouble::TooLongInWords => {
            (400, "invalid_request_error")
        }
        Trouble::UnknownModel => (404, "not_found_error"),
    };
    let error = json!({"type": kind, "message": refusal.words()});
    let body =
        json!({"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"});
    (status, body)
}

/// An event is called what its data says it is.
fn event(data: Value) -> Event {
    let name = data["type"].as_str().unwrap_or_default();
    Event::named(name, data.to_string())
}

/// The block as it begins, and what follows piece by piece.
fn block_parts(sending: Sending<'_>, block: &ReplyBlock) -> (String, Vec<Value>) {
    let pieces = |text: &str, kind: &str, key: &str| -> Vec<Value> {
        pieces(sending.manner, text)
            .map(|piece| json!({"type": kind, key: piece}))
            .collect()
    };
    match block {
        ReplyBlock::Text { text, .. } => (
            json!({"type": "text", "text": ""}).to_string(),
            pieces(text, "text_delta", "text"),
        ),
        ReplyBlock::Thinking { text, raw } => {
            let raw: Value = raw
                .as_deref()
                .and_then(|raw| serde_json::from_str(raw).ok())
                .unwrap_or_default();
            if raw["type"] == "redacted_thinking" {
                return (raw.to_string(), Vec::new());
            }
            let signature = raw["signature"].as_str().unwrap_or_default();
            let mut deltas = pieces(text, "thinking_delta", "thinking");
            if !signature.is_empty() {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
            let start = json!({"type": "thinking", "thinking": "", "signature": ""});
            (start.to_string(), deltas)
        }
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            ..
        } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}).to_string(),
            pieces(arguments, "input_json_delta", "partial_json"),
        ),
    }
}

fn whole_block(block: &ReplyBlock) -> String {
    match block {
        ReplyBlock::Text { text, .. } => json!({"type": "text", "text": text}).to_string(),
        ReplyBlock::Thinking { text, raw } => object(raw.as_deref(), || {
            json!({"type": "thinking", "thinking": text, "signature": ""}).to_string()
        }),
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            ..
        } => {
            let input = object(Some(arguments), || "{}".to_owned());
            format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#,
                quoted(id),
                quoted(name)
            )
        }
    }
}

/// Cached tokens are counted outside of the others.
fn input_usage(sending: Sending<'_>) -> Value {
    match told(sending) {
        Some(usage) => json!({
            "input_tokens": usage.input.saturating_sub(usage.cached),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": 1,
            "service_tier": "standard",
        }),
        None => Value::Null,
    }
}

fn output_usage(sending: Sending<'_>) -> Value {
    match told(sending) {
        Some(usage) => json!({
            "output_tokens": usage.output,
            "output_tokens_details": {"thinking_tokens": usage.reasoning},
        }),
        None => Value::Null,
    }
}

fn told(sending: Sending<'_>) -> Option<longrein_protocol::block::Usage> {
    let ModelReply { usage, .. } = sending.reply;
    usage.filter(|_| !sending.manner.without_usage)
}

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Refused => "refusal",
        StopReason::Other => "pause_turn",
    }
}
