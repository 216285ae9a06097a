//! What a model can do, which servers run on this machine, and how much Ollama reads.

use longrein_models::discovery::{Server as Kind, discover_at};
use longrein_models::ollama::{self, Context};
use longrein_models::probe::{Answer as Found, Extent, Report, probe};
use longrein_models::{Format, ToolMode};
use longrein_protocol::block::ModelErrorClass;
use serde_json::{Value, json};

use crate::server::{Answer, Seen, Server, events};

/// A server of the chat format whose model can do these things.
#[derive(Clone, Copy, Default)]
struct Skills {
    streams: bool,
    tools: bool,
    parallel: bool,
    thinks: bool,
    refuses_thinking: bool,
    sees: bool,
    caches: bool,
    follows_schema: bool,
}

fn answer(skills: Skills, seen: &Seen) -> Answer {
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let asked = body["messages"][1]["content"].as_str().unwrap_or_default();
    let has_tools = body["tools"].is_array();
    if skills.refuses_thinking && !body["reasoning_effort"].is_null() {
        return Answer::status(400, r#"{"error":{"message":"no reasoning_effort here"}}"#);
    }
    let cities = match asked.contains("Lima") && skills.parallel {
        true => vec!["Oslo", "Lima"],
        false => vec!["Oslo"],
    };
    let mut delta = json!({});
    if has_tools && skills.tools {
        let calls = cities.iter().enumerate().map(|(index, city)| {
            let arguments = json!({ "city": city }).to_string();
            json!({"index": index, "id": format!("c{index}"), "function": {"name": "temperature", "arguments": arguments}})
        });
        delta["tool_calls"] = calls.collect();
    } else if body["response_format"].is_object() && skills.follows_schema {
        delta["content"] = json!(r#"{"tool":"temperature","arguments":{"city":"Oslo"}}"#);
    } else if body["messages"][1]["content"].is_array() && skills.sees {
        delta["content"] = json!("Red.");
    } else {
        delta["content"] = json!("one two three");
    }
    if skills.thinks && !body["reasoning_effort"].is_null() {
        delta["reasoning_content"] = json!("Let me see.");
    }
    let cached = if skills.caches { 4_000 } else { 0 };
    let usage = json!({"prompt_tokens": 5_000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": cached}});
    let chunk = |delta: Value, stop: Value| {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}).to_string()
    };
    let extra = chunk(json!({"content": "…"}), Value::Null);
    let first = chunk(delta, json!("stop"));
    let last = json!({"choices": [], "usage": usage}).to_string();
    let stream = match skills.streams {
        true => events(&[&extra, &first, &last, "[DONE]"]),
        false => events(&[&first, &last, "[DONE]"]),
    };
    Answer::ok(stream)
}

async fn report(skills: Skills) -> Report {
    let server = Server::answering(move |seen| answer(skills, seen)).await;
    let config = server.config("any");
    probe(Format::OpenAiChat, &config, Extent::default())
        .await
        .unwrap()
}

fn answers(report: &Report) -> Vec<(&'static str, Found)> {
    report
        .findings()
        .into_iter()
        .map(|(name, finding)| (name, finding.answer))
        .collect()
}

#[tokio::test]
async fn a_model_that_can_do_everything_is_known_for_it() {
    let report = report(Skills {
        streams: true,
        tools: true,
        parallel: true,
        thinks: true,
        sees: true,
        caches: true,
        follows_schema: true,
        refuses_thinking: false,
    })
    .await;
    assert_eq!(
        answers(&report),
        [
            ("streams", Found::Yes),
            ("tools", Found::Yes),
            ("parallel tools", Found::Yes),
            ("thinking", Found::Yes),
            ("images", Found::Yes),
            ("cache", Found::Yes),
            ("schema mode", Found::Yes),
        ]
    );
    assert_eq!(report.tool_mode(), Some(ToolMode::Native));
    assert_eq!(report.thinking.note, "and shows it");
    assert!(report.used.input >= 30_000, "{:?}", report.used);
}

#[tokio::test]
async fn a_model_that_can_only_follow_a_schema_is_given_that_mode() {
    let report = report(Skills {
        follows_schema: true,
        refuses_thinking: true,
        ..Skills::default()
    })
    .await;
    assert_eq!(
        answers(&report),
        [
            ("streams", Found::No),
            ("tools", Found::No),
            ("parallel tools", Found::Skipped),
            ("thinking", Found::No),
            ("images", Found::No),
            ("cache", Found::No),
            ("schema mode", Found::Yes),
        ]
    );
    assert_eq!(report.tool_mode(), Some(ToolMode::Schema));
}

#[tokio::test]
async fn a_model_that_can_do_neither_is_given_no_mode() {
    let report = report(Skills::default()).await;
    assert_eq!(report.tool_mode(), None);
}

#[tokio::test]
async fn a_server_that_refuses_the_plainest_question_is_an_error() {
    let server = Server::giving(Answer::status(401, "")).await;
    let error = probe(Format::Anthropic, &server.config("m"), Extent::default()).await;
    assert_eq!(error.unwrap_err().class, ModelErrorClass::Auth);
}

#[tokio::test]
async fn servers_on_this_machine_are_found_by_what_only_they_answer() {
    let models =
        r#"{"data":[{"id":"q05.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":32768}}]}"#;
    let llama = Server::answering(move |_| Answer::ok(models)).await;
    let ollama = Server::answering(|seen| match seen.line.as_str() {
        "GET /api/version" => Answer::ok(r#"{"version":"0.40.12"}"#),
        _ => Answer::ok(r#"{"data":[{"id":"qwen3:latest"}]}"#),
    })
    .await;
    let studio = Server::giving(Answer::ok(r#"{"data":[]}"#)).await;
    let other = Server::giving(Answer::ok("<html>A site of mine</html>")).await;
    let silent = Server::giving(Answer::ok("").ending(crate::server::End::Silence)).await;
    let found = discover_at(&[
        (Kind::LlamaCpp, llama.address()),
        (Kind::Ollama, ollama.address()),
        (Kind::LmStudio, studio.address()),
        (Kind::LlamaCpp, other.address()),
        (Kind::Ollama, other.address()),
        (Kind::LmStudio, silent.address()),
    ])
    .await;
    let kinds: Vec<Kind> = found.iter().map(|found| found.server).collect();
    assert_eq!(kinds, [Kind::LlamaCpp, Kind::Ollama, Kind::LmStudio]);
    assert_eq!(found[0].base_url, format!("http://{}/v1", llama.address()));
    assert_eq!(found[0].models[0].window_tokens, Some(32_768));
    assert_eq!(found[1].models[0].id, "qwen3:latest");
    assert!(found[2].models.is_empty());
}

#[tokio::test]
async fn ollama_says_how_much_it_reads() {
    let server = Server::answering(|seen| match seen.line.as_str() {
        "POST /api/show" => Answer::ok(
            r#"{"parameters":"num_ctx 8192","model_info":{"qwen3.context_length":40960}}"#,
        ),
        "GET /api/ps" => Answer::ok(r#"{"models":[{"name":"qwen3:8b","context_length":4096}]}"#),
        _ => Answer::status(404, ""),
    })
    .await;
    let mut config = server.config("qwen3:8b");
    config.base_url += "/v1";
    let context = ollama::context(&config).await.unwrap();
    assert_eq!(
        context,
        Context {
            trained: Some(40_960),
            set: Some(8_192),
            loaded: Some(4_096),
        }
    );
    assert_eq!(server.seen()[0].body, br#"{"model":"qwen3:8b"}"#);
    let missing = Server::giving(Answer::status(404, r#"{"error":"model 'm' not found"}"#)).await;
    let error = ollama::context(&missing.config("m")).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::UnknownModel);
}
