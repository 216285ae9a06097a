//! Every fault that providers have been seen with, in every format.

use std::time::Duration;

use longrein_models::{Format, Limits, ModelConfig};
use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::ModelError;

use crate::formats::ask;
use crate::server::{Answer, End, Server, events, stream};

const SHORT: Duration = Duration::from_millis(50);

async fn fault(format: Format, answer: Answer) -> ModelError {
    let server = Server::giving(answer).await;
    let error = ask(format, &server.config("m")).await.unwrap_err();
    assert!(!error.remedy.is_empty(), "{error:?}");
    error
}

#[tokio::test]
async fn a_stream_that_is_cut_at_any_byte_is_a_fault_that_passes() {
    for format in Format::ALL {
        let whole = events(&stream(format));
        // What stands behind the last word of the model may get lost.
        let needed = whole.find("finish").or_else(|| whole.find("stop_reason"));
        let needed = needed
            .or_else(|| whole.find("\"response.completed\""))
            .unwrap();
        for cut in (0..needed).step_by(7) {
            let answer = Answer::ok(&whole.as_bytes()[..cut]);
            let closed = fault(format, answer.clone()).await;
            assert!(
                closed.class.is_transient(),
                "{format:?} at {cut}: {closed:?}"
            );
            let dropped = fault(format, answer.ending(End::Drop)).await;
            assert_eq!(
                dropped.class,
                ModelErrorClass::Network,
                "{format:?} at {cut}"
            );
        }
    }
}

#[tokio::test]
async fn a_connection_that_falls_silent_is_given_up() {
    let config = |server: &Server, limits: Limits| ModelConfig {
        limits,
        ..server.config("m")
    };
    for format in Format::ALL {
        let first = events(&stream(format)[..1]);
        let server = Server::giving(Answer::ok(first).ending(End::Silence)).await;
        let restless = Limits {
            idle: SHORT,
            thinking: SHORT,
            ..Limits::default()
        };
        let error = ask(format, &config(&server, restless)).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Network, "{format:?}");
        assert!(
            error.message.contains("sent nothing for 0.05 seconds"),
            "{error:?}"
        );

        let server = Server::giving(Answer::ok("").ending(End::Silence)).await;
        let impatient = Limits {
            first_byte: SHORT,
            ..Limits::default()
        };
        let error = ask(format, &config(&server, impatient)).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Network, "{format:?}");
    }
}

#[tokio::test]
async fn keep_alive_comments_and_frames_cut_inside_a_character_do_no_harm() {
    for format in Format::ALL {
        let stream = format!(": waiting\n\n{}", events(&stream(format)));
        let stream = stream.replace("\n\n", "\r\n\r\n: ping\r\n\r\n");
        let server = Server::giving(Answer::ok(stream)).await;
        let reply = ask(format, &server.config("m")).await;
        assert!(reply.is_ok(), "{format:?}: {reply:?}");
    }
}

#[tokio::test]
async fn an_error_in_a_good_answer_has_its_class() {
    for (format, body) in [
        (
            Format::OpenAiChat,
            r#"{"error":{"message":"Too many","code":429}}"#,
        ),
        (
            Format::OpenAiResponses,
            r#"{"error":{"message":"Too many","code":"rate_limit_exceeded"}}"#,
        ),
        (
            Format::Anthropic,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too many"}}"#,
        ),
        (
            Format::Gemini,
            r#"[{"error":{"code":429,"message":"Too many","status":"RESOURCE_EXHAUSTED"}}]"#,
        ),
    ] {
        let error = fault(format, Answer::ok(body)).await;
        assert_eq!(
            error.class,
            ModelErrorClass::RateLimited,
            "{format:?}: {error:?}"
        );
        let error = fault(format, Answer::ok(events(&[body.trim_matches(['[', ']'])]))).await;
        assert_eq!(
            error.class,
            ModelErrorClass::RateLimited,
            "{format:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_rate_limit_says_how_long_it_lasts() {
    let week = Duration::from_secs(604_800);
    for format in Format::ALL {
        let limited = || Answer::status(429, r#"{"error":{"message":"slow down"}}"#);
        for (answer, wait) in [
            (
                limited()
                    .with("retry-after-ms", "250")
                    .with("retry-after", "9"),
                Duration::from_millis(250),
            ),
            (limited().with("retry-after", "1"), Duration::from_secs(1)),
            (limited().with("retry-after", "604800"), week),
            (
                limited()
                    .with("x-ratelimit-remaining-requests", "0")
                    .with("x-ratelimit-reset-requests", "1m30s"),
                Duration::from_secs(90),
            ),
        ] {
            let error = fault(format, answer).await;
            assert_eq!(error.class, ModelErrorClass::RateLimited, "{format:?}");
            assert_eq!(error.retry_after, Some(wait), "{format:?}");
        }
    }
}

#[tokio::test]
async fn overload_overflow_and_missing_credit_at_anthropic_have_their_classes() {
    use ModelErrorClass as Class;
    for (format, status, body, class) in [
        (
            Format::Anthropic,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Class::Overloaded,
        ),
        (
            Format::Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            Class::ContextTooLong,
        ),
        (
            Format::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1000001 tokens > 1000000 maximum"}}"#,
            Class::ContextTooLong,
        ),
        (
            Format::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: thinking blocks cannot be modified"}}"#,
            Class::BadRequest,
        ),
        (
            Format::Anthropic,
            402,
            r#"{"type":"error","error":{"type":"billing_error","message":"no credit"}}"#,
            Class::Auth,
        ),
        (
            Format::Anthropic,
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#,
            Class::UnknownModel,
        ),
    ] {
        let error = fault(format, Answer::status(status, body)).await;
        assert_eq!(error.class, class, "{format:?} {status} {body}");
    }
}

#[tokio::test]
async fn overload_overflow_and_missing_credit_elsewhere_have_their_classes() {
    use ModelErrorClass as Class;
    for (format, status, body, class) in [
        (
            Format::OpenAiResponses,
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
            Class::ContextTooLong,
        ),
        (
            Format::OpenAiResponses,
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
            Class::Auth,
        ),
        (Format::OpenAiChat, 503, "", Class::Overloaded),
        (
            Format::Gemini,
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#,
            Class::Auth,
        ),
        (
            Format::Gemini,
            400,
            r#"{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}"#,
            Class::BadRequest,
        ),
        (
            Format::Gemini,
            503,
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
            Class::Overloaded,
        ),
    ] {
        let error = fault(format, Answer::status(status, body)).await;
        assert_eq!(error.class, class, "{format:?} {status} {body}");
    }
}

#[tokio::test]
async fn a_malformed_chunk_and_an_answer_without_end_are_given_up() {
    for format in Format::ALL {
        let mut broken = stream(format);
        broken.insert(1, "{\"broken");
        let error = fault(format, Answer::ok(events(&broken))).await;
        assert_eq!(error.class, ModelErrorClass::Malformed, "{format:?}");

        let server = Server::giving(Answer::ok(events(&stream(format)))).await;
        let mut config = server.config("m");
        config.limits.response_bytes = 40;
        let error = ask(format, &config).await.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Malformed, "{format:?}");
        assert!(error.message.contains("more than 40 bytes"), "{error:?}");
    }
}

#[tokio::test]
async fn nobody_there_is_said_in_every_format() {
    // A port that was free a moment ago, and is nobody's.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let server = Server::giving(Answer::ok("")).await;
    for format in Format::ALL {
        let config = ModelConfig {
            base_url: format!("http://127.0.0.1:{port}/v1"),
            ..server.config("m")
        };
        let error = ask(format, &config).await.unwrap_err();
        assert!(error.unreachable, "{format:?}: {error:?}");
    }
}
