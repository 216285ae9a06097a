//! One reply out of the pieces of a stream. Lenient in what servers vary, strict in what would
//! make the reply something else than the model said.

use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde_json::{Map, Value};

use super::calls::{Calls, Unusable};
use super::dialect::REASONING_CONTENT;
use crate::fault::Said;

/// Why the pieces make no reply.
#[derive(Debug)]
pub(crate) enum Fault {
    /// They are not in the format. In words that follow the provider's address.
    Malformed(String),
    /// The provider put an error where a piece should be.
    Refused(Said),
}

/// What has come of a reply.
#[derive(Default)]
pub(crate) struct Assembly {
    thinking: String,
    /// Whether reasoning came under the name by which it has to go back.
    reasoning_content: bool,
    /// OpenRouter's details, merged by type and index.
    details: Vec<Map<String, Value>>,
    text: String,
    calls: Calls,
    stop: Option<StopReason>,
    refused: bool,
    answered: bool,
    usage: Option<Usage>,
    response_id: String,
    done: bool,
}

impl Assembly {
    /// Whether the provider has said that this is all.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the model has said that this is all; the usage may still follow.
    pub fn is_complete(&self) -> bool {
        self.done || self.stop.is_some()
    }

    /// Takes the data of one event.
    pub fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.done = true;
                Ok(())
            }
            data => self.take_json(data.as_bytes(), live),
        }
    }

    /// Takes a piece of the stream, or a whole response from a server that does not stream.
    pub fn take_json(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault> {
        let chunk: Value = serde_json::from_slice(json)
            .map_err(|_| Fault::Malformed("sent a piece that is not JSON".to_owned()))?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Refused(Said::of(&chunk)));
        }
        if self.response_id.is_empty() {
            self.response_id = string(&chunk, "id").unwrap_or_default().to_owned();
        }
        self.usage = chunk.get("usage").and_then(usage).or(self.usage);
        let choices = chunk.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            if choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0 {
                self.take_choice(choice, live)?;
            }
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: &Value, live: &dyn LiveText) -> Result<(), Fault> {
        self.answered = true;
        if choice.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Refused(Said::of(choice)));
        }
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.take_reasoning(delta, live);
            self.take_content(delta.get("content"), live);
            if let Some(refusal) = string(delta, "refusal").filter(|words| !words.is_empty()) {
                self.refused = true;
                self.say(refusal, live);
            }
            let calls = delta.get("tool_calls").and_then(Value::as_array);
            for call in calls.into_iter().flatten() {
                self.calls.take(call).map_err(unusable)?;
            }
        }
        if let Some(reason) = string(choice, "finish_reason").filter(|reason| !reason.is_empty()) {
            self.stop = Some(match reason {
                "stop" | "eos" | "end_turn" => StopReason::End,
                "tool_calls" | "function_call" => StopReason::ToolUse,
                "length" | "max_tokens" => StopReason::Length,
                "content_filter" | "refusal" => StopReason::Refused,
                _ => StopReason::Other,
            });
        }
        Ok(())
    }

    fn take_reasoning(&mut self, delta: &Value, live: &dyn LiveText) {
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        for detail in details.into_iter().flatten().filter_map(Value::as_object) {
            merge_detail(&mut self.details, detail);
        }
        let content = string(delta, REASONING_CONTENT);
        self.reasoning_content |= content.is_some();
        if let Some(more) = content
            .or_else(|| string(delta, "reasoning"))
            .filter(|more| !more.is_empty())
        {
            self.thinking.push_str(more);
            live.thinking(more);
        }
    }

    /// Content is a text, or (Mistral) a list of parts, some of which are reasoning.
    fn take_content(&mut self, content: Option<&Value>, live: &dyn LiveText) {
        match content {
            Some(Value::String(text)) => self.say(text, live),
            Some(Value::Array(parts)) => {
                for part in parts {
                    if let Some(text) = string(part, "text") {
                        self.say(text, live);
                    }
                    let thoughts = part.get("thinking").and_then(Value::as_array);
                    for more in thoughts
                        .into_iter()
                        .flatten()
                        .filter_map(|part| string(part, "text"))
                    {
                        self.thinking.push_str(more);
                        live.thinking(more);
                    }
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, more: &str, live: &dyn LiveText) {
        if !more.is_empty() {
            self.text.push_str(more);
            live.text(more);
        }
    }

    /// The reply, once nothing more will come. `body` is the request's, so that ids made here
    /// are used nowhere in it.
    pub fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        if !self.answered {
            return Err(Fault::Malformed("sent no answer".to_owned()));
        }
        if !self.is_complete() {
            return Err(Fault::Malformed(
                "ended in the middle of its answer".to_owned(),
            ));
        }
        let calls = self.calls.finish(body).map_err(unusable)?;
        let stop = match self.stop {
            _ if self.refused => StopReason::Refused,
            // Several servers say `stop` beside calls, or `tool_calls` without any.
            Some(StopReason::End | StopReason::ToolUse) | None if calls.is_empty() => {
                StopReason::End
            }
            Some(StopReason::End) | None => StopReason::ToolUse,
            Some(stop) => stop,
        };
        let raw = match self.details.is_empty() {
            false => Some(Value::from_iter(self.details).to_string()),
            true => self.reasoning_content.then(|| REASONING_CONTENT.to_owned()),
        };
        let mut blocks = Vec::new();
        // Reasoning without words matters only where the provider wants it back beside calls.
        if !self.thinking.is_empty() || (raw.is_some() && !calls.is_empty()) {
            blocks.push(ReplyBlock::Thinking {
                text: self.thinking,
                raw,
            });
        }
        // Line breaks before a call are noise of a chat template.
        if !self.text.trim().is_empty() || (calls.is_empty() && !self.text.is_empty()) {
            blocks.push(ReplyBlock::Text {
                text: self.text,
                raw: None,
            });
        }
        blocks.extend(calls);
        Ok(ModelReply {
            blocks,
            stop,
            usage: self.usage,
            response_id: self.response_id,
        })
    }
}

fn string<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Adds a piece of a detail to the one with the same type and index: words are joined, the rest
/// is replaced.
fn merge_detail(details: &mut Vec<Map<String, Value>>, piece: &Map<String, Value>) {
    let same = |known: &&mut Map<String, Value>| {
        known.get("type") == piece.get("type") && known.get("index") == piece.get("index")
    };
    let Some(known) = details.iter_mut().find(same) else {
        details.push(piece.clone());
        return;
    };
    for (key, value) in piece {
        match (known.get_mut(key), value) {
            (Some(Value::String(words)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                words.push_str(more);
            }
            (Some(_), Value::Null) => {}
            _ => {
                known.insert(key.clone(), value.clone());
            }
        }
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |path: &str| {
        let number = value.pointer(path)?;
        let number = number
            .as_u64()
            .or_else(|| number.as_f64().map(|number| number as u64))?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    let (input, output) = (number("/prompt_tokens"), number("/completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached: number("/prompt_tokens_details/cached_tokens")
            .or_else(|| number("/prompt_cache_hit_tokens"))
            .unwrap_or(0),
        reasoning: number("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
        cost_micro: cost(value),
        estimated: false,
    })
}

/// What some providers say that it cost, in dollars; as millionths, rounded up.
fn cost(usage: &Value) -> Option<u64> {
    let dollars = usage.get("cost")?.as_f64()?;
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * 1e6).ceil() as u64)
}

fn unusable(calls: Unusable) -> Fault {
    Fault::Malformed(calls.to_string())
}
