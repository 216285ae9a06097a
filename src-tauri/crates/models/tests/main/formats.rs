//! What every format asks of its provider: the address, the headers, the exact bytes.

use std::sync::Arc;

use longrein_models::{Format, ModelConfig, Secret, ToolMode, build, list};
use longrein_protocol::block::{ModelErrorClass, StopReason};
use longrein_runtime::ports::{
    CancellationToken, ModelCall, ModelError, ModelReply, NoLiveText, ReplyBlock,
};

use crate::server::{Answer, Seen, Server, events, stream};

/// A body that no serializer would write like this.
const BODY: &[u8] = b"{ \"any\" :\t[1 , \"\xc3\xa4\"]}";

pub fn call() -> ModelCall {
    ModelCall {
        body: BODY.into(),
        cancel: CancellationToken::new(),
        live: Arc::new(NoLiveText),
    }
}

pub async fn ask(format: Format, config: &ModelConfig) -> Result<ModelReply, ModelError> {
    build(format, ToolMode::Native, config)?.send(call()).await
}

/// Lets a format ask a server with a key, and gives what the server saw.
async fn asked(format: Format, model: &str, path: &str) -> Seen {
    let server = Server::giving(Answer::ok(events(&stream(format)))).await;
    let mut config = server.config(model);
    config.base_url += path;
    config.key = Some(Secret::new("sk-right\n"));
    let reply = ask(format, &config).await.unwrap();
    assert_eq!(reply.stop, StopReason::End, "{format:?}");
    assert_eq!(reply.response_id, "r");
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.output), (9, 3), "{format:?}");
    assert!(
        matches!(&reply.blocks[..], [ReplyBlock::Text { text, .. }] if text == "Grüße"),
        "{format:?}: {reply:?}"
    );
    server.seen().remove(0)
}

#[tokio::test]
async fn the_bytes_that_were_given_are_the_bytes_that_are_sent() {
    for format in Format::ALL {
        let seen = asked(format, "m", "").await;
        assert_eq!(seen.body, BODY, "{format:?}");
        assert_eq!(seen.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn each_format_has_its_address_and_its_header_for_the_key() {
    let seen = asked(Format::OpenAiChat, "m", "/v1").await;
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-right"));

    let seen = asked(Format::OpenAiResponses, "m", "/v1").await;
    assert_eq!(seen.line, "POST /v1/responses");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-right"));

    for path in ["", "/v1"] {
        let seen = asked(Format::Anthropic, "m", path).await;
        assert_eq!(seen.line, "POST /v1/messages");
        assert_eq!(seen.header("x-api-key"), Some("sk-right"));
        assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(seen.header("authorization"), None);
    }

    for path in ["", "/v1beta"] {
        let seen = asked(Format::Gemini, "models/gemini-4-argon", path).await;
        assert_eq!(
            seen.line,
            "POST /v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse"
        );
        assert_eq!(seen.header("x-goog-api-key"), Some("sk-right"));
        assert!(!seen.line.contains("sk-right"));
    }
}

#[tokio::test]
async fn a_key_that_is_refused_is_never_repeated() {
    for format in Format::ALL {
        let body = r#"{"error":{"message":"bad key sk-wrong","type":"authentication_error"}}"#;
        let server = Server::giving(Answer::status(401, body)).await;
        let mut config = server.config("m");
        config.key = Some(Secret::new("sk-wrong"));
        let error = ask(format, &config).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Auth, "{format:?}");
        let shown = format!("{error:?}");
        assert!(!shown.contains("sk-wrong"), "{shown}");
        assert!(shown.contains("LONGREIN_MINE_API_KEY"), "{shown}");
    }
}

#[tokio::test]
async fn a_format_that_the_server_does_not_speak_is_named() {
    for (format, name) in [
        (Format::OpenAiChat, "OpenAI Chat Completions"),
        (Format::OpenAiResponses, "OpenAI Responses"),
        (Format::Anthropic, "Anthropic Messages"),
        (Format::Gemini, "Gemini"),
    ] {
        let server = Server::giving(Answer::ok("<html>Welcome</html>")).await;
        let error = ask(format, &server.config("m")).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Malformed, "{format:?}");
        let remedy = format!("Check that provider mine speaks the {name} format.");
        assert_eq!(error.remedy, remedy);
    }
}

#[tokio::test]
async fn a_request_can_be_ended_while_it_is_answered() {
    for format in Format::ALL {
        let server = Server::giving(
            Answer::ok(events(&stream(format)[..1])).ending(crate::server::End::Silence),
        )
        .await;
        let model = build(format, ToolMode::Native, &server.config("m")).unwrap();
        let call = call();
        let cancel = call.cancel.clone();
        let sending = tokio::spawn(async move { model.send(call).await });
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let error = sending.await.unwrap().unwrap_err();
        assert!(error.message.contains("was ended before"), "{error:?}");
    }
}

#[tokio::test]
async fn the_models_of_each_provider_are_listed_with_their_windows() {
    for (format, body, line) in [
        (
            Format::OpenAiChat,
            r#"{"data":[{"id":"a","context_length":8192},{"id":"b"}]}"#,
            "GET /models",
        ),
        (
            Format::OpenAiResponses,
            r#"{"data":[{"id":"a","context_window":8192},{"id":"b"}]}"#,
            "GET /models",
        ),
        (
            Format::Anthropic,
            r#"{"data":[{"id":"a","max_input_tokens":8192},{"id":"b"}]}"#,
            "GET /v1/models?limit=1000",
        ),
        (
            Format::Gemini,
            r#"{"models":[{"name":"models/a","inputTokenLimit":8192},{"name":"models/b"}]}"#,
            "GET /v1beta/models?pageSize=1000",
        ),
    ] {
        let server = Server::giving(Answer::ok(body)).await;
        let listed = list(format, &server.config("ignored")).await.unwrap();
        let names: Vec<&str> = listed.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(names, ["a", "b"], "{format:?}");
        assert_eq!(listed[0].window_tokens, Some(8_192), "{format:?}");
        assert_eq!(server.seen()[0].line, line);
    }
}
