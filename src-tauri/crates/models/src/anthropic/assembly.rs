//! One reply out of the events of a stream.

use std::collections::BTreeMap;

use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde_json::{Value, json};

use crate::fault::Said;
use crate::ids::make_unique;
use crate::json::{string, tokens};
use crate::openai_chat::CALL_LIMIT;
use crate::patience::Progress;
use crate::reading::{Assembly, Fault};

/// The most blocks that one reply may have.
const BLOCK_LIMIT: usize = 1_024;

/// What has come of a reply.
#[derive(Default)]
pub(crate) struct AnthropicAssembly {
    blocks: BTreeMap<u64, Part>,
    stop: Option<String>,
    counted: Counted,
    response_id: String,
    /// Whether the last block has begun and not ended.
    is_open: bool,
    answered: bool,
    done: bool,
}

/// A block in the making.
enum Part {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Of a kind that nobody asked for.
    Other,
}

/// Tokens as the API counts them: cached ones are outside of `input`.
#[derive(Clone, Copy, Default)]
struct Counted {
    input: Option<u32>,
    cache_write: Option<u32>,
    cache_read: Option<u32>,
    output: Option<u32>,
    thinking: Option<u32>,
}

impl Assembly for AnthropicAssembly {
    fn is_done(&self) -> bool {
        self.done
    }

    fn progress(&self) -> Progress {
        let is_spoken = |part: &Part| matches!(part, Part::Text(_) | Part::Call { .. });
        let last = self.blocks.last_key_value().map(|(_, part)| part);
        if self.done || self.stop.is_some() {
            Progress::Complete
        } else if self.is_open && last.is_some_and(is_spoken) {
            Progress::Speaking
        } else {
            Progress::Thinking
        }
    }

    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        if data.trim().is_empty() {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|_| Fault::not_json())?;
        match string(&event, "type").unwrap_or_default() {
            "message_start" => self.begin(event.get("message").unwrap_or(&Value::Null)),
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.open(index(&event), block, live)?;
                self.is_open = true;
            }
            "content_block_stop" => self.is_open = false,
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                self.extend(index(&event), delta, live)?;
            }
            "message_delta" => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = reason.map(str::to_owned).or(self.stop.take());
                self.count(event.get("usage"));
            }
            "message_stop" => self.done = true,
            "error" => return Err(Fault::Refused(Said::of(&event))),
            // A fault that a proxy put into the stream has no type.
            _ if event.get("error").is_some_and(Value::is_object) => {
                return Err(Fault::Refused(Said::of(&event)));
            }
            // `ping`, and what may yet be invented.
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault> {
        let message: Value = serde_json::from_slice(json).map_err(|_| Fault::not_json())?;
        if message.get("error").is_some() || message.get("content").is_none() {
            return Err(Fault::Refused(Said::of(&message)));
        }
        self.begin(&message);
        let blocks = message.get("content").and_then(Value::as_array);
        for (index, block) in blocks.into_iter().flatten().enumerate() {
            self.open(index as u64, block, live)?;
        }
        self.stop = string(&message, "stop_reason").map(str::to_owned);
        self.done = true;
        Ok(())
    }

    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        if !self.answered {
            return Err(Fault::no_answer());
        }
        let Some(reason) = self.stop else {
            return Err(Fault::cut());
        };
        let mut blocks: Vec<ReplyBlock> =
            self.blocks.into_values().filter_map(Part::block).collect();
        let is_call = |block: &ReplyBlock| matches!(block, ReplyBlock::ToolUse { .. });
        let has_calls = blocks.iter().any(is_call);
        if has_calls {
            blocks.retain(|block| !is_blank(block));
        }
        let stop = match reason.as_str() {
            "model_context_window_exceeded" => {
                let words = "the answer filled the model's context window";
                return Err(Fault::Refused(Said::new("context_length_exceeded", words)));
            }
            "end_turn" | "stop_sequence" | "tool_use" if has_calls => StopReason::ToolUse,
            "end_turn" | "stop_sequence" | "tool_use" => StopReason::End,
            "max_tokens" => StopReason::Length,
            "refusal" => StopReason::Refused,
            // `pause_turn` comes only with tools that the provider runs, of which there are none.
            _ => StopReason::Other,
        };
        make_unique(&mut blocks, body, "tool_use_id");
        Ok(ModelReply {
            blocks,
            stop,
            usage: self.counted.usage(),
            response_id: self.response_id,
        })
    }
}

impl AnthropicAssembly {
    fn begin(&mut self, message: &Value) {
        self.answered = true;
        self.response_id = string(message, "id").unwrap_or_default().to_owned();
        self.count(message.get("usage"));
    }

    fn open(&mut self, index: u64, block: &Value, live: &dyn LiveText) -> Result<(), Fault> {
        if self.blocks.len() >= BLOCK_LIMIT {
            let what = format!("sent more than {BLOCK_LIMIT} blocks");
            return Err(Fault::Malformed(what));
        }
        let text = |key: &str| string(block, key).unwrap_or_default().to_owned();
        let part = match string(block, "type").unwrap_or_default() {
            "text" => {
                let text = text("text");
                say(&text, |text| live.text(text));
                Part::Text(text)
            }
            "thinking" => {
                let thought = text("thinking");
                say(&thought, |text| live.thinking(text));
                Part::Thinking {
                    text: thought,
                    signature: text("signature"),
                }
            }
            "redacted_thinking" => Part::Redacted(text("data")),
            "tool_use" => {
                let name = text("name");
                if name.is_empty() {
                    return Err(nameless());
                }
                let is_call = |part: &&Part| matches!(part, Part::Call { .. });
                if self.blocks.values().filter(is_call).count() >= CALL_LIMIT {
                    let what = format!("asked for more than {CALL_LIMIT} actions at once");
                    return Err(Fault::Malformed(what));
                }
                // A stream begins with an empty object and sends the text of the real one.
                let input = block.get("input").and_then(Value::as_object);
                let input = input.filter(|input| !input.is_empty());
                Part::Call {
                    id: text("id"),
                    name,
                    arguments: input
                        .map(|input| json!(input).to_string())
                        .unwrap_or_default(),
                }
            }
            _ => Part::Other,
        };
        self.blocks.insert(index, part);
        Ok(())
    }

    fn extend(&mut self, index: u64, delta: &Value, live: &dyn LiveText) -> Result<(), Fault> {
        let more = |key: &str| string(delta, key).unwrap_or_default();
        let Some(part) = self.blocks.get_mut(&index) else {
            let what = "went on with a block that it had not begun".to_owned();
            return Err(Fault::Malformed(what));
        };
        match (string(delta, "type").unwrap_or_default(), part) {
            ("text_delta", Part::Text(text)) => {
                text.push_str(more("text"));
                say(more("text"), |text| live.text(text));
            }
            ("thinking_delta", Part::Thinking { text, .. }) => {
                text.push_str(more("thinking"));
                say(more("thinking"), |text| live.thinking(text));
            }
            ("signature_delta", Part::Thinking { signature, .. }) => {
                signature.push_str(more("signature"));
            }
            ("input_json_delta", Part::Call { arguments, .. }) => {
                arguments.push_str(more("partial_json"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts only grow, and each report holds what it knows.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let number = |key: &str, known: Option<u32>| tokens(usage, key).or(known);
        let known = self.counted;
        self.counted = Counted {
            input: number("/input_tokens", known.input),
            cache_write: number("/cache_creation_input_tokens", known.cache_write),
            cache_read: number("/cache_read_input_tokens", known.cache_read),
            output: number("/output_tokens", known.output),
            thinking: number("/output_tokens_details/thinking_tokens", known.thinking),
        };
    }
}

impl Counted {
    fn usage(self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let cached = self.cache_read.unwrap_or(0);
        let parts = [self.input, self.cache_write, self.cache_read];
        Some(Usage {
            input: parts.into_iter().flatten().fold(0, u32::saturating_add),
            output: self.output.unwrap_or(0),
            cached,
            reasoning: self.thinking.unwrap_or(0),
            cost_micro: None,
            estimated: false,
        })
    }
}

impl Part {
    fn block(self) -> Option<ReplyBlock> {
        Some(match self {
            Self::Text(text) if text.is_empty() => return None,
            Self::Text(text) => ReplyBlock::Text { text, raw: None },
            // The words may be left out, and the block must go back as it came nevertheless.
            Self::Thinking { text, signature } => {
                let raw = format!(
                    r#"{{"type":"thinking","thinking":{},"signature":{}}}"#,
                    Value::from(text.as_str()),
                    Value::from(signature.as_str())
                );
                ReplyBlock::Thinking {
                    text,
                    raw: (!signature.is_empty()).then_some(raw),
                }
            }
            Self::Redacted(data) => ReplyBlock::Thinking {
                text: String::new(),
                raw: Some(format!(
                    r#"{{"type":"redacted_thinking","data":{}}}"#,
                    Value::from(data)
                )),
            },
            Self::Call {
                id,
                name,
                arguments,
            } => ReplyBlock::ToolUse {
                id,
                name,
                arguments,
                raw: None,
            },
            Self::Other => return None,
        })
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or(0)
}

fn say(text: &str, show: impl FnOnce(&str)) {
    if !text.is_empty() {
        show(text);
    }
}

/// Line breaks before a call say nothing, and would be refused when they go back.
fn is_blank(block: &ReplyBlock) -> bool {
    matches!(block, ReplyBlock::Text { text, .. } if text.trim().is_empty())
}

fn nameless() -> Fault {
    Fault::Malformed("asked for an action without naming a tool".to_owned())
}
