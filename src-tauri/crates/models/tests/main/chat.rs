//! The chat adapter against a real server on a socket.

use std::sync::Arc;
use std::time::Duration;

use longrein_models::{Limits, OpenAiChat, OpenAiChatConfig, Secret, list_models};
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{
    CancellationToken, Model, ModelCall, ModelError, ModelReply, NoLiveText, ReplyBlock,
};
use longrein_testkit::provider::{Answer, Content, Fault, Manner, MockProvider, Setup};
use longrein_testkit::{call, say};
use serde_json::json;

const SHORT: Duration = Duration::from_millis(30);

fn config(base_url: &str) -> OpenAiChatConfig {
    OpenAiChatConfig {
        provider: "local".into(),
        model: "any".into(),
        base_url: base_url.into(),
        key: None,
        limits: Limits::default(),
    }
}

fn asking() -> ModelCall {
    ModelCall {
        body: br#"{"model":"any","messages":[]}"#.as_slice().into(),
        cancel: CancellationToken::new(),
        live: Arc::new(NoLiveText),
    }
}

async fn ask(config: OpenAiChatConfig) -> Result<ModelReply, ModelError> {
    OpenAiChat::new(config).send(asking()).await
}

fn reply() -> ModelReply {
    let call = |id: &str, arguments: &str| ReplyBlock::ToolUse {
        id: id.into(),
        name: "search_library".into(),
        arguments: arguments.into(),
        raw: None,
    };
    ModelReply {
        blocks: vec![
            ReplyBlock::Thinking {
                text: "Hm, 木.".into(),
                raw: Some("reasoning_content".into()),
            },
            ReplyBlock::Text {
                text: "Größe?\n".into(),
                raw: None,
            },
            call("a", r#"{"query":"größe \"木\""}"#),
            call("b", r#"{"query":"x","limit":3}"#),
        ],
        stop: StopReason::ToolUse,
        usage: Some(Usage {
            input: 10,
            output: 7,
            cached: 3,
            reasoning: 2,
            cost_micro: None,
            estimated: false,
        }),
        response_id: "r1".into(),
    }
}

fn answering(manner: Manner) -> Setup {
    Setup::of(|_| Content::Reply(reply()).into()).in_manner(manner)
}

#[tokio::test]
async fn the_same_reply_comes_however_it_is_sent() {
    let plain = Manner::default();
    for manner in [
        plain.clone(),
        Manner::nasty(),
        Manner {
            by_character: true,
            ..plain.clone()
        },
        Manner {
            interleaved: true,
            by_character: true,
            ..plain.clone()
        },
        Manner {
            frame_bytes: Some(3),
            crlf: true,
            ..plain.clone()
        },
        Manner {
            keep_alive: true,
            ..plain.clone()
        },
        Manner {
            without_index: true,
            ..plain.clone()
        },
        Manner {
            whole_json: true,
            ..plain.clone()
        },
    ] {
        let server = MockProvider::start(answering(manner.clone()))
            .await
            .unwrap();
        assert_eq!(
            ask(config(&server.base_url())).await,
            Ok(reply()),
            "{manner:?}"
        );
    }
    let server = MockProvider::start(answering(Manner {
        without_usage: true,
        ..plain
    }))
    .await
    .unwrap();
    let expected = ModelReply {
        usage: None,
        ..reply()
    };
    assert_eq!(ask(config(&server.base_url())).await, Ok(expected));
}

#[tokio::test]
async fn the_bytes_that_were_given_are_the_bytes_that_are_sent() {
    let server = MockProvider::start(answering(Manner::default()))
        .await
        .unwrap();
    ask(config(&server.base_url())).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].body, asking().body);
    assert_eq!(server.tokens(), (10, 7));
}

#[tokio::test]
async fn a_key_is_sent_and_a_wrong_one_is_never_repeated() {
    let setup = Setup {
        key: Some("sk-right".into()),
        ..answering(Manner::default())
    };
    let server = MockProvider::start(setup).await.unwrap();
    let with = |key: &str| OpenAiChatConfig {
        key: Some(Secret::new(key)),
        ..config(&server.base_url())
    };
    assert_eq!(ask(with("sk-right\n")).await, Ok(reply()));
    let error = ask(with("sk-wrong")).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Auth);
    assert!(!format!("{error:?}").contains("sk-wrong"));
    assert_eq!(
        ask(config(&server.base_url())).await.unwrap_err().class,
        ModelErrorClass::Auth
    );
    assert_eq!(
        ask(with("sk\nx")).await.unwrap_err().class,
        ModelErrorClass::Auth
    );
}

async fn fault(fault: Fault, limits: Limits) -> ModelError {
    let server = MockProvider::start(answering(Manner {
        fault: Some(fault),
        ..Manner::default()
    }))
    .await
    .unwrap();
    ask(OpenAiChatConfig {
        limits,
        ..config(&server.base_url())
    })
    .await
    .unwrap_err()
}

#[tokio::test]
async fn every_fault_of_a_connection_has_its_class() {
    use ModelErrorClass as Class;
    let usual = Limits::default();
    let impatient = Limits {
        first_byte: SHORT,
        ..usual
    };
    let restless = Limits {
        idle: SHORT,
        thinking: SHORT,
        ..usual
    };
    for (what, limits, class) in [
        (Fault::Silence, impatient, Class::Network),
        (Fault::Hangup, usual, Class::Network),
        (Fault::StallAfter(0), impatient, Class::Network),
        (Fault::StallAfter(2), restless, Class::Network),
        (Fault::DropAfter(2), usual, Class::Network),
        (Fault::EndAfter(2), usual, Class::Malformed),
        (Fault::ErrorAfter(2), usual, Class::Overloaded),
        (Fault::GarbageAfter(2), usual, Class::Malformed),
    ] {
        let error = fault(what, limits).await;
        assert_eq!(error.class, class, "{what:?}: {error:?}");
        assert!(!error.unreachable && !error.remedy.is_empty(), "{what:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_counts_though_the_connection_breaks_after_it() {
    let events_until_stop = 6;
    let manner = Manner {
        fault: Some(Fault::DropAfter(events_until_stop)),
        ..Manner::default()
    };
    let server = MockProvider::start(answering(manner)).await.unwrap();
    let reply_without_usage = ModelReply {
        usage: None,
        ..reply()
    };
    assert_eq!(
        ask(config(&server.base_url())).await,
        Ok(reply_without_usage)
    );
}

#[tokio::test]
async fn a_status_has_its_class_and_its_wait() {
    let refusing = |status: u16, headers: &[(&str, &str)]| {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Setup::of(move |_| {
            let content = Content::Status {
                status,
                headers: headers.clone(),
                body: r#"{"error":"no"}"#.into(),
            };
            Answer {
                content,
                manner: None,
            }
        })
    };
    for (status, class) in [
        (429, ModelErrorClass::RateLimited),
        (500, ModelErrorClass::Overloaded),
        (529, ModelErrorClass::Overloaded),
        (400, ModelErrorClass::BadRequest),
        (404, ModelErrorClass::UnknownModel),
        (302, ModelErrorClass::BadRequest),
    ] {
        let server = MockProvider::start(refusing(
            status,
            &[("retry-after-ms", "1500"), ("location", "/v2")],
        ))
        .await
        .unwrap();
        let error = ask(config(&server.base_url())).await.unwrap_err();
        assert_eq!(
            (error.class, error.retry_after),
            (class, Some(Duration::from_millis(1_500))),
            "{status}"
        );
        assert!(
            error.message.contains(&format!("answered {status}: no.")),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn a_request_can_be_ended_at_any_time() {
    for manner in [
        Manner {
            hold_after: Some(2),
            ..Manner::default()
        },
        Manner {
            fault: Some(Fault::Silence),
            ..Manner::default()
        },
    ] {
        let server = MockProvider::start(answering(manner.clone()))
            .await
            .unwrap();
        let asking = asking();
        let cancel = asking.cancel.clone();
        let model = OpenAiChat::new(config(&server.base_url()));
        let sending = tokio::spawn(async move { model.send(asking).await });
        if manner.hold_after.is_some() {
            server.gate().reached(1).await;
        }
        cancel.cancel();
        let error = sending.await.unwrap().unwrap_err();
        assert!(error.message.contains("was ended before"), "{error:?}");
    }
}

#[tokio::test]
async fn a_held_reply_goes_on_when_the_gate_is_opened() {
    let server = MockProvider::start(answering(Manner {
        hold_after: Some(2),
        ..Manner::default()
    }))
    .await
    .unwrap();
    let model = OpenAiChat::new(config(&server.base_url()));
    let sending = tokio::spawn(async move { model.send(asking()).await });
    server.gate().reached(1).await;
    assert!(!sending.is_finished());
    server.gate().open();
    assert_eq!(sending.await.unwrap(), Ok(reply()));
}

#[tokio::test]
async fn nobody_there_is_said_with_address_and_remedy() {
    // A port that was free a moment ago, and is nobody's.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let error = ask(config(&base_url)).await.unwrap_err();
    assert!(error.unreachable);
    assert_eq!(error.class, ModelErrorClass::Network);
    assert_eq!(
        error.message,
        format!("Nothing answers at {base_url} (connection refused).")
    );
    assert_eq!(
        error.remedy,
        "Start the server or correct base_url of provider local."
    );
}

#[tokio::test]
async fn a_host_that_does_not_exist_is_said() {
    let error = ask(config("http://nobody.invalid/v1?key=k"))
        .await
        .unwrap_err();
    assert!(error.unreachable);
    assert_eq!(
        error.message,
        "Nothing answers at http://nobody.invalid/v1?key=••• (there is no host nobody.invalid)."
    );
}

#[tokio::test]
async fn a_server_without_tls_is_not_taken_for_one_with() {
    let server = MockProvider::start(answering(Manner::default()))
        .await
        .unwrap();
    let error = ask(config(&server.base_url().replace("http:", "https:")))
        .await
        .unwrap_err();
    assert_eq!(
        (error.class, error.unreachable),
        (ModelErrorClass::Network, false),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_models_of_a_provider_are_listed() {
    let setup = Setup {
        models: vec!["b".into(), "a".into(), "b".into()],
        ..answering(Manner::default())
    };
    let server = MockProvider::start(setup).await.unwrap();
    assert_eq!(
        list_models(config(&server.base_url())).await,
        Ok(vec!["b".to_owned(), "a".to_owned()])
    );
    let error = list_models(config(
        &server.base_url().replace("/v1", "/v1/nowhere/chat"),
    ))
    .await;
    assert!(error.is_ok(), "every path that ends in /models is one");
    let none = list_models(config("http://127.0.0.1:1/v1"))
        .await
        .unwrap_err();
    assert!(none.unreachable);
}

#[tokio::test]
async fn a_script_is_answered_in_turn_over_http() {
    let server = MockProvider::start(Setup::scripted([say("a"), call("x", json!({"n": 1}))]))
        .await
        .unwrap();
    let first = ask(config(&server.base_url())).await.unwrap();
    assert_eq!(
        first.blocks,
        [ReplyBlock::Text {
            text: "a".into(),
            raw: None
        }]
    );
    assert_eq!(
        ask(config(&server.base_url())).await.unwrap().stop,
        StopReason::ToolUse
    );
    assert_eq!(
        ask(config(&server.base_url())).await.unwrap_err().class,
        ModelErrorClass::BadRequest
    );
}
