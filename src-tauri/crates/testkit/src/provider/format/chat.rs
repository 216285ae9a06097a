//! OpenAI Chat Completions.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::{Event, Sending, pieces};
use crate::provider::manner::Manner;

pub(super) fn events(sending: Sending<'_>) -> Vec<Event> {
    let Sending {
        reply,
        model,
        manner,
    } = sending;
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let mut calls = Vec::new();
    for block in &reply.blocks {
        match block {
            ReplyBlock::Text { text, .. } => {
                deltas.extend(pieces(manner, text).map(|piece| json!({"content": piece})));
            }
            ReplyBlock::Thinking { text, raw } => {
                deltas
                    .extend(pieces(manner, text).map(|piece| json!({"reasoning_content": piece})));
                deltas.extend(details(raw.as_deref()));
            }
            ReplyBlock::ToolUse {
                id,
                name,
                arguments,
                ..
            } => calls.push(call(manner, calls.len(), id, name, arguments)),
        }
    }
    let calls = match manner.interleaved {
        true => in_turns(calls),
        false => calls.concat(),
    };
    deltas.extend(calls.into_iter().map(|call| json!({"tool_calls": [call]})));
    let chunk = |choices: Value| json!({"id": reply.response_id, "object": "chat.completion.chunk", "created": 1_770_000_000, "model": model, "choices": choices});
    let delta = |delta| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut events: Vec<Value> = deltas.into_iter().map(delta).collect();
    let stop = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply.stop)}]);
    events.push(chunk(stop));
    if let Some(usage) = usage(manner, reply) {
        let mut last = chunk(json!([]));
        last["usage"] = usage;
        events.push(last);
    }
    events
        .into_iter()
        .map(|event| Event::plain(event.to_string()))
        .collect()
}

pub(super) fn whole(sending: Sending<'_>) -> String {
    let Sending {
        reply,
        model,
        manner,
    } = sending;
    let mut message = json!({"role": "assistant", "content": ""});
    let mut calls = Vec::new();
    for block in &reply.blocks {
        let (key, text) = match block {
            ReplyBlock::Text { text, .. } => ("content", text),
            ReplyBlock::Thinking { text, .. } => ("reasoning_content", text),
            ReplyBlock::ToolUse {
                id,
                name,
                arguments,
                ..
            } => {
                let function = json!({"name": name, "arguments": arguments});
                calls.push(json!({"id": id, "type": "function", "function": function}));
                continue;
            }
        };
        let before = message[key].as_str().unwrap_or_default();
        message[key] = Value::from(format!("{before}{text}"));
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choices =
        json!([{"index": 0, "message": message, "finish_reason": finish_reason(reply.stop)}]);
    let usage = usage(manner, reply);
    json!({"id": reply.response_id, "object": "chat.completion", "created": 1_770_000_000, "model": model, "choices": choices, "usage": usage})
        .to_string()
}

pub(super) fn filler(words: &str) -> Event {
    let choices = json!([{"index": 0, "delta": {"content": words}, "finish_reason": null}]);
    Event::plain(json!({"object": "chat.completion.chunk", "choices": choices}).to_string())
}

/// OpenRouter's details, whose list is what the block was kept as.
fn details(raw: Option<&str>) -> Option<Value> {
    let details: Value = serde_json::from_str(raw?).ok()?;
    details
        .is_array()
        .then(|| json!({"reasoning_details": details}))
}

fn usage(manner: &Manner, reply: &ModelReply) -> Option<Value> {
    let usage = reply.usage.filter(|_| !manner.without_usage)?;
    Some(json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": u64::from(usage.input) + u64::from(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }))
}

/// The pieces of a call. Its id and name come with the first one only.
fn call(manner: &Manner, index: usize, id: &str, name: &str, arguments: &str) -> Vec<Value> {
    let number = |mut call: Value| {
        if !manner.without_index {
            call["index"] = index.into();
        }
        call
    };
    let first = |arguments: &str| {
        number(
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
        )
    };
    if !manner.by_character {
        return vec![first(arguments)];
    }
    let rest =
        pieces(manner, arguments).map(|piece| number(json!({"function": {"arguments": piece}})));
    std::iter::once(first("")).chain(rest).collect()
}

/// Takes one piece of each call in turn.
fn in_turns(calls: Vec<Vec<Value>>) -> Vec<Value> {
    let mut calls: Vec<_> = calls.into_iter().map(Vec::into_iter).collect();
    let mut turns = Vec::new();
    loop {
        let before = turns.len();
        turns.extend(calls.iter_mut().filter_map(Iterator::next));
        if turns.len() == before {
            return turns;
        }
    }
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::Length => "length",
        StopReason::Refused => "content_filter",
        StopReason::Other => "other",
    }
}
