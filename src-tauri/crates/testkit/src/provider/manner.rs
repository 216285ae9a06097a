//! The ways in which providers send one and the same reply.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde::Deserialize;
use serde_json::{Value, json};

/// How a reply is sent. The default is the plainest way: one event per block.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// Words and arguments come one character at a time.
    pub by_character: bool,
    /// Parallel calls take turns.
    pub interleaved: bool,
    /// Everything is cut into frames of so many bytes; 1 cuts within characters.
    pub frame_bytes: Option<usize>,
    /// Comments come between the events.
    pub keep_alive: bool,
    /// Lines end with carriage return and line feed, and `data:` has no space after it.
    pub crlf: bool,
    /// Calls carry no index; their ids tell them apart.
    pub without_index: bool,
    /// The usage is not told.
    pub without_usage: bool,
    /// The whole reply is one JSON text, though streaming was asked for.
    pub whole_json: bool,
    /// After so many events the reply waits at the gate.
    pub hold_after: Option<usize>,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

/// What goes wrong. Events are counted from the beginning of the reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Not even a status line comes.
    Silence,
    /// The connection ends before the status line.
    Hangup,
    /// Nothing more comes after so many events, and the connection stays open.
    StallAfter(usize),
    /// The connection breaks after so many events.
    DropAfter(usize),
    /// The stream ends as if it were whole after so many events.
    EndAfter(usize),
    /// An error object comes after so many events.
    ErrorAfter(usize),
    /// Something that is not JSON comes after so many events.
    GarbageAfter(usize),
}

impl Manner {
    /// Every difference that must make no difference, at once.
    pub fn nasty() -> Self {
        Self {
            by_character: true,
            interleaved: true,
            frame_bytes: Some(1),
            keep_alive: true,
            crlf: true,
            ..Self::default()
        }
    }

    /// The data of a reply's events, without the last `[DONE]`.
    pub(super) fn events(&self, reply: &ModelReply, model: &str) -> Vec<String> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        let mut calls = Vec::new();
        for block in &reply.blocks {
            match block {
                ReplyBlock::Text { text, .. } => {
                    deltas.extend(self.pieces(text).map(|piece| json!({"content": piece})));
                }
                ReplyBlock::Thinking { text, .. } => {
                    deltas.extend(
                        self.pieces(text)
                            .map(|piece| json!({"reasoning_content": piece})),
                    );
                }
                ReplyBlock::ToolUse {
                    id,
                    name,
                    arguments,
                    ..
                } => {
                    calls.push(self.call(calls.len(), id, name, arguments));
                }
            }
        }
        let calls = if self.interleaved {
            in_turns(calls)
        } else {
            calls.concat()
        };
        deltas.extend(calls.into_iter().map(|call| json!({"tool_calls": [call]})));
        let chunk = |choices: Value| json!({"id": reply.response_id, "object": "chat.completion.chunk", "model": model, "choices": choices});
        let mut events: Vec<String> = deltas
            .into_iter()
            .map(|delta| {
                chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])).to_string()
            })
            .collect();
        let stop = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply.stop)}]);
        events.push(chunk(stop).to_string());
        if let Some(usage) = self.usage(reply) {
            let mut last = chunk(json!([]));
            last["usage"] = usage;
            events.push(last.to_string());
        }
        events
    }

    /// The whole reply as one JSON text.
    pub(super) fn whole(&self, reply: &ModelReply, model: &str) -> String {
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
        let usage = self.usage(reply);
        json!({"id": reply.response_id, "object": "chat.completion", "model": model, "choices": choices, "usage": usage})
            .to_string()
    }

    fn usage(&self, reply: &ModelReply) -> Option<Value> {
        let usage = reply.usage.filter(|_| !self.without_usage)?;
        Some(json!({
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": u64::from(usage.input) + u64::from(usage.output),
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }))
    }

    fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        let step = if self.by_character { 1 } else { usize::MAX };
        let mut rest = text;
        std::iter::from_fn(move || {
            let end = rest
                .char_indices()
                .nth(step)
                .map_or(rest.len(), |(end, _)| end);
            let (piece, after) = rest.split_at(end);
            rest = after;
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// The pieces of a call. Its id and name come with the first one only.
    fn call(&self, index: usize, id: &str, name: &str, arguments: &str) -> Vec<Value> {
        let number = |mut call: Value| {
            if !self.without_index {
                call["index"] = index.into();
            }
            call
        };
        let first = |arguments: &str| {
            number(
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
            )
        };
        if !self.by_character {
            return vec![first(arguments)];
        }
        let rest = self
            .pieces(arguments)
            .map(|piece| number(json!({"function": {"arguments": piece}})));
        std::iter::once(first("")).chain(rest).collect()
    }

    /// An event as it is written on the wire.
    pub(super) fn frame(&self, data: &str) -> String {
        match self.crlf {
            true => format!("data:{data}\r\n\r\n"),
            false => format!("data: {data}\n\n"),
        }
    }

    /// A sign of life.
    pub(super) fn comment(&self) -> &'static str {
        if self.crlf {
            ": keep-alive\r\n\r\n"
        } else {
            ": keep-alive\n\n"
        }
    }
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
