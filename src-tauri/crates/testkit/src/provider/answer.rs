//! From a script's answer to what is sent.

use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::ModelError;
use serde_json::json;

use super::{Answer, Content};
use crate::reply::Scripted;
use crate::request::SeenRequest;

/// An answer of the in-process script, over HTTP: an error of the model becomes the status that
/// a provider would send for it.
pub(super) fn of_scripted(scripted: &Scripted, request: &SeenRequest) -> Answer {
    match (scripted.answer)(request) {
        Ok(reply) => Content::Reply(reply).into(),
        Err(error) => of_error(&error).into(),
    }
}

fn of_error(error: &ModelError) -> Content {
    let (status, code) = match error.class {
        ModelErrorClass::Auth => (401, "invalid_api_key"),
        ModelErrorClass::RateLimited => (429, "rate_limit_exceeded"),
        ModelErrorClass::ContextTooLong => (400, "context_length_exceeded"),
        ModelErrorClass::ContentRefused => (400, "content_filter"),
        ModelErrorClass::MediaRefused => (400, "invalid_image"),
        ModelErrorClass::UnknownModel => (404, "model_not_found"),
        ModelErrorClass::BadRequest => (400, "invalid_request_error"),
        ModelErrorClass::Overloaded | ModelErrorClass::Network | ModelErrorClass::Malformed => {
            (500, "server_error")
        }
    };
    let wait = error
        .retry_after
        .map(|wait| ("retry-after-ms".to_owned(), wait.as_millis().to_string()));
    Content::Status {
        status,
        headers: wait.into_iter().collect(),
        body: json!({"error": {"message": error.message, "code": code}}).to_string(),
    }
}

/// The script is at its end.
pub(super) fn no_more(request: &SeenRequest) -> Answer {
    let message = format!("The script has no answer for request {}.", request.number);
    Content::Status {
        status: 400,
        headers: Vec::new(),
        body: json!({"error": {"message": message, "code": "invalid_request_error"}}).to_string(),
    }
    .into()
}
