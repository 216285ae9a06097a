//! One reply out of the events of a stream. The deltas are only shown; the items are taken whole
//! and byte for byte, from the last event or, where that leaves them out, from the events that
//! ended each of them.

use std::collections::BTreeMap;

use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fault::Said;
use crate::ids::make_unique;
use crate::json::{cost_micro, string, tokens};
use crate::openai_chat::CALL_LIMIT;
use crate::patience::Progress;
use crate::reading::{Assembly, Fault};

/// The most items that one reply may have.
const ITEM_LIMIT: usize = 1_024;

/// What has come of a reply.
#[derive(Default)]
pub(crate) struct ResponsesAssembly {
    /// Items that have ended, by their place.
    ended: BTreeMap<u64, String>,
    last: Option<Last>,
    /// Whether an item of words or arguments has begun and not ended.
    is_speaking: bool,
    answered: bool,
}

/// The response as it stands at its end.
struct Last {
    id: String,
    status: String,
    reason: String,
    output: Vec<String>,
    usage: Option<Usage>,
}

/// An event, as far as every one has it.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    delta: Value,
    #[serde(default)]
    output_index: u64,
    #[serde(default, borrow)]
    item: Option<&'a RawValue>,
    #[serde(default, borrow)]
    response: Option<&'a RawValue>,
}

/// A response, with its items as they came.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default)]
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default, borrow)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    incomplete_details: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

impl Assembly for ResponsesAssembly {
    fn is_done(&self) -> bool {
        self.last.is_some()
    }

    fn progress(&self) -> Progress {
        match (self.is_done(), self.is_speaking) {
            (true, _) => Progress::Complete,
            (false, true) => Progress::Speaking,
            (false, false) => Progress::Thinking,
        }
    }

    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|_| Fault::not_json())?;
        let delta = event.delta.as_str().unwrap_or_default();
        match event.kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.is_speaking = true;
                live.text(delta);
            }
            "response.function_call_arguments.delta" => self.is_speaking = true,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                live.thinking(delta);
            }
            "response.output_item.done" => {
                self.is_speaking = false;
                if self.ended.len() >= ITEM_LIMIT {
                    let what = format!("sent more than {ITEM_LIMIT} items");
                    return Err(Fault::Malformed(what));
                }
                let item = event.item.map(|item| item.get().to_owned());
                self.ended
                    .extend(item.map(|item| (event.output_index, item)));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", RawValue::get);
                self.end(response)?;
            }
            "error" => return Err(refused(data)),
            // A fault that a proxy put into the stream has no type.
            "" => return Err(refused(data)),
            _ => {}
        }
        self.answered = true;
        Ok(())
    }

    fn take_whole(&mut self, json: &[u8], _live: &dyn LiveText) -> Result<(), Fault> {
        let json = std::str::from_utf8(json).map_err(|_| Fault::not_json())?;
        self.answered = true;
        self.end(json)
    }

    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        if !self.answered {
            return Err(Fault::no_answer());
        }
        let Some(last) = self.last else {
            return Err(Fault::cut());
        };
        let items: Vec<String> = match last.output.is_empty() {
            true => self.ended.into_values().collect(),
            false => last.output,
        };
        let mut refused = false;
        let mut blocks = Vec::new();
        for item in items {
            blocks.extend(block(item, &mut refused)?);
        }
        let calls = blocks
            .iter()
            .filter(|block| matches!(block, ReplyBlock::ToolUse { .. }));
        let stop = match (last.status.as_str(), last.reason.as_str(), calls.count()) {
            (_, _, count) if count > CALL_LIMIT => {
                let what = format!("asked for more than {CALL_LIMIT} actions at once");
                return Err(Fault::Malformed(what));
            }
            _ if refused => StopReason::Refused,
            ("completed", _, 0) => StopReason::End,
            ("completed", _, _) => StopReason::ToolUse,
            (_, "max_output_tokens", _) => StopReason::Length,
            (_, "content_filter", _) => StopReason::Refused,
            _ => StopReason::Other,
        };
        make_unique(&mut blocks, body, "call_id");
        Ok(ModelReply {
            blocks,
            stop,
            usage: last.usage,
            response_id: last.id,
        })
    }
}

impl ResponsesAssembly {
    fn end(&mut self, json: &str) -> Result<(), Fault> {
        let response: Response<'_> = serde_json::from_str(json).map_err(|_| Fault::not_json())?;
        if !response.error.is_null() || response.status == "failed" {
            return Err(refused(json));
        }
        if response.output.is_none() && self.ended.is_empty() {
            return Err(Fault::no_answer());
        }
        let output = response.output.unwrap_or_default();
        self.last = Some(Last {
            id: response.id,
            status: response.status,
            reason: string(&response.incomplete_details, "reason")
                .unwrap_or_default()
                .to_owned(),
            output: output.iter().map(|item| item.get().to_owned()).collect(),
            usage: usage(&response.usage),
        });
        Ok(())
    }
}

fn refused(json: &str) -> Fault {
    Fault::Refused(Said::read(json.as_bytes()))
}

/// An item as a block, with its bytes beside it. Items of other kinds belong to tools that nobody
/// offered.
fn block(raw: String, refused: &mut bool) -> Result<Option<ReplyBlock>, Fault> {
    let item: Value = serde_json::from_str(&raw).map_err(|_| Fault::not_json())?;
    let text = |key: &str| string(&item, key).unwrap_or_default().to_owned();
    Ok(Some(match string(&item, "type").unwrap_or_default() {
        "reasoning" => {
            let summary = texts(&item, "summary", "text");
            let text = match summary.is_empty() {
                true => texts(&item, "content", "text"),
                false => summary,
            };
            ReplyBlock::Thinking {
                text: text.join("\n\n"),
                raw: Some(raw),
            }
        }
        "message" => {
            let refusal = texts(&item, "content", "refusal");
            *refused |= !refusal.is_empty();
            let mut text = texts(&item, "content", "text").concat();
            text.push_str(&refusal.concat());
            ReplyBlock::Text {
                text,
                raw: Some(raw),
            }
        }
        "function_call" => {
            let name = text("name");
            if name.is_empty() {
                let what = "asked for an action without naming a tool".to_owned();
                return Err(Fault::Malformed(what));
            }
            ReplyBlock::ToolUse {
                id: text("call_id"),
                name,
                arguments: text("arguments"),
                raw: Some(raw),
            }
        }
        _ => return Ok(None),
    }))
}

/// The texts under a key of the parts of a list.
fn texts(item: &Value, list: &str, key: &str) -> Vec<String> {
    let parts = item.get(list).and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .filter_map(|part| string(part, key))
        .map(str::to_owned)
        .collect()
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |path: &str| tokens(value, path);
    let (input, output) = (number("/input_tokens"), number("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached: number("/input_tokens_details/cached_tokens").unwrap_or(0),
        reasoning: number("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        cost_micro: cost_micro(value),
        estimated: false,
    })
}
