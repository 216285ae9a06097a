//! Google Gemini.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::ReplyBlock;
use serde_json::{Value, json};

use super::{Event, Sending, object, pieces, quoted};
use crate::provider::refusal::{Refusal, Trouble};

pub(super) fn events(sending: Sending<'_>) -> Vec<Event> {
    let mut parts: Vec<String> = sending
        .reply
        .blocks
        .iter()
        .flat_map(|block| block_parts(sending, block))
        .collect();
    // The last part comes with the reason to stop.
    let last = parts.pop().unwrap_or_else(|| r#"{"text":""}"#.to_owned());
    let mut events: Vec<Event> = parts
        .iter()
        .map(|part| Event::plain(chunk(sending, part, None)))
        .collect();
    let stop = finish_reason(sending.reply.stop);
    events.push(Event::plain(chunk(sending, &last, Some(stop))));
    events
}

pub(super) fn whole(sending: Sending<'_>) -> String {
    let blocks = sending.reply.blocks.iter();
    let parts: Vec<String> = blocks
        .flat_map(|block| block_parts(sending, block))
        .collect();
    let stop = finish_reason(sending.reply.stop);
    chunk(sending, &parts.join(","), Some(stop))
}

pub(super) fn filler(words: &str) -> Event {
    let content = json!({"parts": [{"text": words}], "role": "model"});
    Event::plain(json!({"candidates": [{"content": content, "index": 0}]}).to_string())
}

pub(super) fn refuse(refusal: &Refusal) -> (u16, Value) {
    let (code, status) = match refusal.kind {
        Trouble::RateLimited | Trouble::DailyQuota => (429, "RESOURCE_EXHAUSTED"),
        Trouble::Overloaded => (503, "UNAVAILABLE"),
        Trouble::Broken => (500, "INTERNAL"),
        Trouble::WrongKey
        | Trouble::BadRequest
        | Trouble::Content
        | Trouble::TooLong
        | Trouble::TooLongInWords => (400, "INVALID_ARGUMENT"),
        Trouble::NoCredit => (403, "PERMISSION_DENIED"),
        Trouble::UnknownModel => (404, "NOT_FOUND"),
    };
    let kind = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
    let mut details = Vec::new();
    if refusal.kind == Trouble::WrongKey {
        details.push(
            json!({"@type": kind("ErrorInfo"), "reason": "API_KEY_INVALID", "domain": "googleapis.com"}),
        );
    }
    if code == 429 {
        let quota = match refusal.kind {
            Trouble::DailyQuota => "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            _ => "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        };
        let metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests";
        let violation = json!({"quotaMetric": metric, "quotaId": quota});
        details.push(json!({"@type": kind("QuotaFailure"), "violations": [violation]}));
    }
    if let Some(delay) = refusal.retry_info() {
        details.push(json!({"@type": kind("RetryInfo"), "retryDelay": delay}));
    }
    let error =
        json!({"code": code, "message": refusal.words(), "status": status, "details": details});
    (code, json!({"error": error}))
}

/// The parts of a block; those that are signed as they were.
fn block_parts(sending: Sending<'_>, block: &ReplyBlock) -> Vec<String> {
    match block {
        ReplyBlock::Text { text, raw } => words(sending, text, raw.as_deref(), ""),
        ReplyBlock::Thinking { text, raw } => {
            words(sending, text, raw.as_deref(), r#","thought":true"#)
        }
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            raw,
        } => vec![object(raw.as_deref(), || {
            let arguments = object(Some(arguments), || "{}".to_owned());
            format!(
                r#"{{"functionCall":{{"name":{},"args":{arguments},"id":{}}}}}"#,
                quoted(name),
                quoted(id)
            )
        })],
    }
}

fn words(sending: Sending<'_>, text: &str, raw: Option<&str>, more: &str) -> Vec<String> {
    use serde_json::value::RawValue;
    let raw = raw.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw).ok());
    match raw {
        Some(parts) => parts.iter().map(|part| part.get().to_owned()).collect(),
        None => pieces(sending.manner, text)
            .map(|piece| format!(r#"{{"text":{}{more}}}"#, quoted(piece)))
            .collect(),
    }
}

fn chunk(sending: Sending<'_>, parts: &str, stop: Option<&str>) -> String {
    let Sending {
        reply,
        model,
        manner,
    } = sending;
    let stops = stop.is_some();
    let stop = stop.map_or_else(String::new, |stop| format!(r#","finishReason":"{stop}""#));
    let told = reply.usage.filter(|_| !manner.without_usage);
    let usage = told.map_or_else(String::new, |usage| {
        let mut counted = json!({
            "promptTokenCount": usage.input,
            "totalTokenCount": usage.input.saturating_add(usage.output),
        });
        if stops {
            counted["candidatesTokenCount"] = usage.output.saturating_sub(usage.reasoning).into();
            counted["thoughtsTokenCount"] = usage.reasoning.into();
            counted["cachedContentTokenCount"] = usage.cached.into();
        }
        format!(r#","usageMetadata":{counted}"#)
    });
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}}{stop},"index":0}}]{usage},"modelVersion":{},"responseId":{}}}"#,
        quoted(model),
        quoted(&reply.response_id)
    )
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End | StopReason::ToolUse => "STOP",
        StopReason::Length => "MAX_TOKENS",
        StopReason::Refused => "SAFETY",
        StopReason::Other => "OTHER",
    }
}
