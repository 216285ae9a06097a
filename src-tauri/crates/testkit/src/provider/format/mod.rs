//! The four formats that the server speaks: one and the same reply, refusal or list, as each
//! provider's reference has it.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use longrein_models::Format;
use longrein_runtime::ports::ModelReply;
use serde_json::{Value, json};

use super::manner::Manner;
use super::refusal::{Refusal, Trouble};

/// One event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its name, in formats that name them.
    pub name: Option<String>,
    /// Its data.
    pub data: String,
}

impl Event {
    fn plain(data: impl Into<String>) -> Self {
        Self {
            name: None,
            data: data.into(),
        }
    }

    fn named(name: &str, data: impl Into<String>) -> Self {
        Self {
            name: Some(name.to_owned()),
            data: data.into(),
        }
    }
}

/// A reply on its way, with what it answers.
#[derive(Clone, Copy)]
pub(super) struct Sending<'a> {
    pub reply: &'a ModelReply,
    /// The model that was asked for.
    pub model: &'a str,
    pub manner: &'a Manner,
}

/// The events of a reply, the end mark of the format left out.
pub(super) fn events(format: Format, sending: Sending<'_>) -> Vec<Event> {
    match format {
        Format::OpenAiChat => chat::events(sending),
        Format::OpenAiResponses => responses::events(sending),
        Format::Anthropic => anthropic::events(sending),
        Format::Gemini => gemini::events(sending),
    }
}

/// What ends a stream beside its last event.
pub(super) fn end_mark(format: Format) -> Option<Event> {
    (format == Format::OpenAiChat).then(|| Event::plain("[DONE]"))
}

/// The whole reply as one JSON text.
pub(super) fn whole(format: Format, sending: Sending<'_>) -> String {
    match format {
        Format::OpenAiChat => chat::whole(sending),
        Format::OpenAiResponses => responses::whole(sending),
        Format::Anthropic => anthropic::whole(sending),
        Format::Gemini => gemini::whole(sending),
    }
}

/// More words without end, for a stream that floods its reader.
pub(super) fn filler(format: Format, words: &str) -> Event {
    match format {
        Format::OpenAiChat => chat::filler(words),
        Format::OpenAiResponses => responses::filler(words),
        Format::Anthropic => anthropic::filler(words),
        Format::Gemini => gemini::filler(words),
    }
}

/// Status and body of a refusal.
pub(super) fn refuse(format: Format, refusal: &Refusal) -> (u16, Value) {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => open_ai_refusal(refusal),
        Format::Anthropic => anthropic::refuse(refusal),
        Format::Gemini => gemini::refuse(refusal),
    }
}

/// The event by which a reply that began well is broken off.
pub(super) fn break_off(format: Format, refusal: &Refusal) -> Event {
    let body = refuse(format, refusal).1;
    match format {
        Format::OpenAiChat | Format::Gemini => Event::plain(body.to_string()),
        Format::OpenAiResponses => {
            let (code, message) = (&body["error"]["code"], &body["error"]["message"]);
            let data = json!({"type": "error", "code": code, "message": message, "param": null, "sequence_number": 7});
            Event::named("error", data.to_string())
        }
        Format::Anthropic => Event::named("error", body.to_string()),
    }
}

/// OpenAI's error object, which both of its formats have.
fn open_ai_refusal(refusal: &Refusal) -> (u16, Value) {
    let (status, kind, code) = match refusal.kind {
        Trouble::RateLimited | Trouble::DailyQuota => (429, "requests", "rate_limit_exceeded"),
        Trouble::Overloaded => (503, "server_error", "server_error"),
        Trouble::Broken => (500, "server_error", "server_error"),
        Trouble::TooLong => (400, "invalid_request_error", "context_length_exceeded"),
        Trouble::TooLongInWords => (400, "invalid_request_error", "invalid_request_error"),
        Trouble::WrongKey => (401, "invalid_request_error", "invalid_api_key"),
        Trouble::NoCredit => (429, "insufficient_quota", "insufficient_quota"),
        Trouble::BadRequest => (400, "invalid_request_error", "invalid_request_error"),
        Trouble::UnknownModel => (404, "invalid_request_error", "model_not_found"),
        Trouble::Content => (400, "invalid_request_error", "content_filter"),
    };
    let error = json!({"message": refusal.words(), "type": kind, "param": null, "code": code});
    (status, json!({"error": error}))
}

/// The list of models, as each provider gives it.
pub(super) fn models(format: Format, models: &[String]) -> Value {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => {
            let models = models.iter().map(
                |id| json!({"id": id, "object": "model", "created": 1_770_000_000, "owned_by": "mock"}),
            );
            json!({"object": "list", "data": models.collect::<Vec<_>>()})
        }
        Format::Anthropic => {
            let list = models.iter().map(
                |id| json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"}),
            );
            json!({"data": list.collect::<Vec<_>>(), "has_more": false, "first_id": models.first(), "last_id": models.last()})
        }
        Format::Gemini => {
            let models = models.iter().map(|id| {
                json!({"name": format!("models/{id}"), "displayName": id, "supportedGenerationMethods": ["generateContent", "countTokens"]})
            });
            json!({"models": models.collect::<Vec<_>>()})
        }
    }
}

/// What a path and its headers ask for.
pub(super) fn of_request(method: &str, path: &[&str]) -> Option<Format> {
    match (method, path) {
        ("POST", [.., "chat", "completions"]) => Some(Format::OpenAiChat),
        ("POST", [.., "responses"]) => Some(Format::OpenAiResponses),
        ("POST", [.., "messages"]) => Some(Format::Anthropic),
        ("POST", [.., "models", call]) if call.ends_with(":streamGenerateContent") => {
            Some(Format::Gemini)
        }
        _ => None,
    }
}

/// The pieces of a text in which it is sent.
fn pieces<'t>(manner: &Manner, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
    let step = if manner.by_character { 1 } else { usize::MAX };
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

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An object that was written before, or the one that stands in its place.
fn object(raw: Option<&str>, otherwise: impl FnOnce() -> String) -> String {
    let is_object = |raw: &&str| raw.trim_start().starts_with('{');
    raw.filter(is_object).map_or_else(otherwise, str::to_owned)
}
