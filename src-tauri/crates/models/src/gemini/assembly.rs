//! One reply out of the chunks of a stream. Parts that are signed are kept byte for byte.

use longrein_protocol::block::{StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fault::Said;
use crate::ids::make_unique;
use crate::json::{quoted, string, tokens};
use crate::openai_chat::CALL_LIMIT;
use crate::patience::Progress;
use crate::reading::{Assembly, Fault};

/// What has come of a reply.
#[derive(Default)]
pub(crate) struct GeminiAssembly {
    blocks: Vec<Draft>,
    calls: usize,
    stop: Option<String>,
    stop_words: String,
    usage: Option<Usage>,
    response_id: String,
    answered: bool,
    done: bool,
}

/// A block in the making.
enum Draft {
    Text(Words),
    Thinking(Words),
    Call(ReplyBlock),
}

/// Words that come in pieces, some of which are signed. A signed part must not be joined with
/// another, so that the parts are kept beside the words as soon as there is one.
#[derive(Default)]
struct Words {
    text: String,
    /// The parts up to the last signed one.
    parts: Vec<String>,
    /// What of the text came after it.
    unsigned: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(default, borrow)]
    candidates: Vec<Candidate<'a>>,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    response_id: String,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default, borrow)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
    #[serde(default)]
    index: u32,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(default, borrow)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    thought_signature: Option<String>,
    #[serde(default, borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default, borrow)]
    args: Option<&'a RawValue>,
}

impl Assembly for GeminiAssembly {
    fn is_done(&self) -> bool {
        self.done
    }

    fn progress(&self) -> Progress {
        match self.blocks.last() {
            _ if self.stop.is_some() => Progress::Complete,
            Some(Draft::Text(_)) => Progress::Speaking,
            // A call comes whole, and another one may be thought about.
            Some(Draft::Thinking(_) | Draft::Call(_)) | None => Progress::Thinking,
        }
    }

    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        match data.trim() {
            "" | "[DONE]" => Ok(()),
            data => self.take_chunk(data, live),
        }
    }

    fn take_whole(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault> {
        let json = std::str::from_utf8(json).map_err(|_| Fault::not_json())?;
        // Without `alt=sse`, which a proxy may lose, the chunks come as one list.
        if json.trim_start().starts_with('[') {
            let chunks: Vec<&RawValue> =
                serde_json::from_str(json).map_err(|_| Fault::not_json())?;
            return chunks
                .into_iter()
                .try_for_each(|chunk| self.take_chunk(chunk.get(), live));
        }
        self.take_chunk(json, live)
    }

    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        if !self.answered {
            return Err(Fault::no_answer());
        }
        let Some(reason) = self.stop else {
            return Err(Fault::cut());
        };
        let stop = match reason.as_str() {
            // The reason is the same with calls and without.
            "STOP" if self.calls > 0 => StopReason::ToolUse,
            "STOP" => StopReason::End,
            "MAX_TOKENS" => StopReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => StopReason::Refused,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                let words = format!("{reason} {}", self.stop_words);
                return Err(Fault::Malformed(format!(
                    "could not use what its model wrote ({})",
                    words.trim()
                )));
            }
            _ => StopReason::Other,
        };
        let mut blocks: Vec<ReplyBlock> = self
            .blocks
            .into_iter()
            .filter_map(|draft| draft.block(self.calls > 0))
            .collect();
        make_unique(&mut blocks, body, "id");
        Ok(ModelReply {
            blocks,
            stop,
            usage: self.usage,
            response_id: self.response_id,
        })
    }
}

impl GeminiAssembly {
    fn take_chunk(&mut self, json: &str, live: &dyn LiveText) -> Result<(), Fault> {
        let chunk: Chunk<'_> = serde_json::from_str(json).map_err(|_| Fault::not_json())?;
        if !chunk.error.is_null() {
            return Err(Fault::Refused(Said::read(json.as_bytes())));
        }
        if let Some(reason) = string(&chunk.prompt_feedback, "blockReason") {
            let words = format!("the request was blocked ({reason})");
            return Err(Fault::Refused(Said::new("content_filter", &words)));
        }
        if self.response_id.is_empty() {
            self.response_id = chunk.response_id;
        }
        let reported = usage(&chunk.usage_metadata);
        let reports = reported.is_some();
        self.usage = reported.or(self.usage);
        for candidate in chunk.candidates {
            if candidate.index == 0 {
                self.take_candidate(candidate, live)?;
            }
        }
        // What follows a reason to stop could only be the usage.
        self.done |= self.stop.is_some() && reports;
        Ok(())
    }

    fn take_candidate(
        &mut self,
        candidate: Candidate<'_>,
        live: &dyn LiveText,
    ) -> Result<(), Fault> {
        self.answered = true;
        let parts = candidate.content.map(|content| content.parts);
        for raw in parts.into_iter().flatten() {
            self.take_part(raw.get(), live)?;
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(reason);
            self.stop_words = candidate.finish_message.unwrap_or_default();
        }
        Ok(())
    }

    fn take_part(&mut self, raw: &str, live: &dyn LiveText) -> Result<(), Fault> {
        let part: Part<'_> = serde_json::from_str(raw).map_err(|_| Fault::not_json())?;
        if let Some(call) = part.function_call {
            return self.take_call(call, raw);
        }
        let Some(text) = part.text else {
            // Of a kind that nobody asked for.
            return Ok(());
        };
        let is_signed = part.thought_signature.is_some();
        if !text.is_empty() && part.thought {
            live.thinking(&text);
        } else if !text.is_empty() {
            live.text(&text);
        }
        let words = match (self.blocks.last_mut(), part.thought) {
            (Some(Draft::Text(words)), false) | (Some(Draft::Thinking(words)), true) => words,
            (_, is_thought) => self.begin(is_thought)?,
        };
        words.take(&text, is_signed.then_some(raw));
        Ok(())
    }

    fn begin(&mut self, is_thought: bool) -> Result<&mut Words, Fault> {
        self.blocks.push(match is_thought {
            true => Draft::Thinking(Words::default()),
            false => Draft::Text(Words::default()),
        });
        match self.blocks.last_mut() {
            Some(Draft::Text(words) | Draft::Thinking(words)) => Ok(words),
            _ => Err(Fault::no_answer()),
        }
    }

    fn take_call(&mut self, call: FunctionCall<'_>, raw: &str) -> Result<(), Fault> {
        if call.name.is_empty() {
            let what = "asked for an action without naming a tool".to_owned();
            return Err(Fault::Malformed(what));
        }
        self.calls += 1;
        if self.calls > CALL_LIMIT {
            let what = format!("asked for more than {CALL_LIMIT} actions at once");
            return Err(Fault::Malformed(what));
        }
        self.blocks.push(Draft::Call(ReplyBlock::ToolUse {
            id: call.id,
            name: call.name,
            arguments: call
                .args
                .map_or_else(String::new, |args| args.get().to_owned()),
            raw: Some(raw.to_owned()),
        }));
        Ok(())
    }
}

impl Words {
    fn take(&mut self, text: &str, signed: Option<&str>) {
        self.text.push_str(text);
        match signed {
            None => self.unsigned.push_str(text),
            Some(raw) => {
                self.flush();
                self.parts.push(raw.to_owned());
            }
        }
    }

    fn flush(&mut self) {
        if !self.unsigned.is_empty() {
            let part = format!(r#"{{"text":{}}}"#, quoted(&self.unsigned));
            self.parts.push(part);
            self.unsigned.clear();
        }
    }

    /// The words, and the parts where some are signed.
    fn end(mut self) -> (String, Option<String>) {
        if self.parts.is_empty() {
            return (self.text, None);
        }
        self.flush();
        let raw = format!("[{}]", self.parts.join(","));
        (self.text, Some(raw))
    }
}

impl Draft {
    fn block(self, has_calls: bool) -> Option<ReplyBlock> {
        match self {
            Self::Call(call) => Some(call),
            Self::Thinking(words) => {
                let (text, raw) = words.end();
                (!text.is_empty() || raw.is_some()).then_some(ReplyBlock::Thinking { text, raw })
            }
            Self::Text(words) => {
                let (text, raw) = words.end();
                // Line breaks before a call say nothing.
                let is_noise = text.is_empty() || (has_calls && text.trim().is_empty());
                (raw.is_some() || !is_noise).then_some(ReplyBlock::Text { text, raw })
            }
        }
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |path: &str| tokens(value, path);
    let input = number("/promptTokenCount")?;
    let thoughts = number("/thoughtsTokenCount").unwrap_or(0);
    let written = number("/candidatesTokenCount").unwrap_or(0);
    Some(Usage {
        input: input.saturating_add(number("/toolUsePromptTokenCount").unwrap_or(0)),
        // Thoughts are counted beside the answer.
        output: written.saturating_add(thoughts),
        cached: number("/cachedContentTokenCount").unwrap_or(0),
        reasoning: thoughts,
        cost_micro: None,
        estimated: false,
    })
}
