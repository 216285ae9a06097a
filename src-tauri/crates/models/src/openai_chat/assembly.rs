//! One reply out of the pieces of a stream. Lenient in what servers vary, strict in what would
//! make the reply something else than the model said.

use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde_json::{Map, Value};

use super::calls::{Calls, Unusable};
use super::dialect::REASONING_CONTENT;
use crate::fault::Said;
use crate::ids::make_unique;
use crate::json::{cost_micro, string, tokens};
use crate::patience::Progress;
use crate::reading::{Assembly, Fault};

/// What has come of a reply.
#[derive(Default)]
pub(crate) struct ChatAssembly {
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

impl Assembly for ChatAssembly {
    fn is_done(&self) -> bool {
        self.done
    }

    fn progress(&self) -> Progress {
        if self.done || self.stop.is_some() {
            Progress::Complete
        } else if self.text.is_empty() && self.calls.is_empty() {
            Progress::Thinking
        } else {
            Progress::Speaking
        }
    }

    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.done = true;
                Ok(())
            }
            data => self.take_whole(data.as_bytes(), live),
        }
    }

    fn take_whole(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault> {
        let chunk: Value = serde_json::from_slice(json).map_err(|_| Fault::not_json())?;
        if chunk.is_array() || chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Refused(Said::of(chunk.get(0).unwrap_or(&chunk))));
        }
        if self.response_id.is_empty() {
            self.response_id = string(&chunk, "id").unwrap_or_default().to_owned();
        }
        // Groq puts the usage into a place of its own unless it is asked for it.
        let reported = chunk
            .get("usage")
            .filter(|usage| !usage.is_null())
            .or_else(|| chunk.pointer("/x_groq/usage"));
        self.usage = reported.and_then(usage).or(self.usage);
        let choices = chunk.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            if choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0 {
                self.take_choice(choice, live)?;
            }
        }
        Ok(())
    }

    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        if !self.answered {
            return Err(Fault::no_answer());
        }
        if self.progress() != Progress::Complete {
            return Err(Fault::cut());
        }
        let mut calls = self.calls.finish().map_err(unusable)?;
        make_unique(&mut calls, body, "tool_call_id");
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

impl ChatAssembly {
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
                "length" | "max_tokens" | "model_length" => StopReason::Length,
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
    let number = |path: &str| tokens(value, path);
    let (input, written) = (number("/prompt_tokens"), number("/completion_tokens"));
    if input.is_none() && written.is_none() {
        return None;
    }
    let (input, written) = (input.unwrap_or(0), written.unwrap_or(0));
    let reasoning = number("/completion_tokens_details/reasoning_tokens").unwrap_or(0);
    // xAI counts reasoning beside what it calls completion; its total tells.
    let total = number("/total_tokens").unwrap_or(0);
    let with_reasoning = written.saturating_add(reasoning);
    let is_beside = reasoning > 0 && total == input.saturating_add(with_reasoning);
    Some(Usage {
        input,
        output: if is_beside { with_reasoning } else { written },
        cached: number("/prompt_tokens_details/cached_tokens")
            .or_else(|| number("/prompt_cache_hit_tokens"))
            .unwrap_or(0),
        reasoning,
        cost_micro: cost_micro(value),
        estimated: false,
    })
}

fn unusable(calls: Unusable) -> Fault {
    Fault::Malformed(calls.to_string())
}
