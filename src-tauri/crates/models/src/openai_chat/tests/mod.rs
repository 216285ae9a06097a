//! The same reply, however it is sent; every fault, in its class.

mod usage;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, Stream};
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{LiveText, ModelError, ModelReply, NoLiveText, ReplyBlock};
use tokio::time::{Instant, sleep};

use super::ChatAssembly;
use crate::Limits;
use crate::fault::Provider;
use crate::reading::Source;

const BODY: &[u8] = br#"{"messages":[{"role":"tool","tool_call_id":"old","content":""}]}"#;

fn provider() -> Provider {
    Provider {
        name: "local".into(),
        model: "any".into(),
        shown_url: "http://127.0.0.1:8080/v1".into(),
        key: None,
        format: "OpenAI Chat Completions",
        address_hint: "/v1",
    }
}

async fn read_with<B: AsRef<[u8]>>(
    pieces: impl Stream<Item = Result<B, ModelError>>,
    limits: Limits,
    live: &dyn LiveText,
) -> Result<ModelReply, ModelError> {
    let provider = provider();
    let first_byte = Instant::now() + limits.first_byte;
    let source = Source {
        provider: &provider,
        limits,
        first_byte,
    };
    source
        .reply(ChatAssembly::default(), Box::pin(pieces), BODY, live)
        .await
}

async fn read(pieces: &[&[u8]]) -> Result<ModelReply, ModelError> {
    let pieces = stream::iter(pieces.iter().map(|piece| Ok(*piece)));
    read_with(pieces, Limits::default(), &NoLiveText).await
}

/// A stream out of the chunks' JSON, in the plainest form.
fn events(chunks: &[&str]) -> String {
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect()
}

async fn read_events(chunks: &[&str]) -> Result<ModelReply, ModelError> {
    read(&[events(chunks).as_bytes()]).await
}

fn text(text: &str) -> ReplyBlock {
    ReplyBlock::Text {
        text: text.into(),
        raw: None,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ReplyBlock {
    ReplyBlock::ToolUse {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        raw: None,
    }
}

fn calls(reply: ModelReply) -> Vec<(String, String, String)> {
    let calls = reply.blocks.into_iter().filter_map(|block| match block {
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            ..
        } => Some((id, name, arguments)),
        _ => None,
    });
    calls.collect()
}

const RICH: &[&str] = &[
    r#"{"id":"r1","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Hm, "}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"reasoning_content":"ja."}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"content":"Grüße, 木"}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}]}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"read","arguments":"{"}}]}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":\"ä"}}]}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"\"}"}}]}}]}"#,
    r#"{"id":"r1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"id":"r1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"cost":0.0000321,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
    "[DONE]",
];

fn rich() -> ModelReply {
    ModelReply {
        blocks: vec![
            ReplyBlock::Thinking {
                text: "Hm, ja.".into(),
                raw: Some("reasoning_content".into()),
            },
            text("Grüße, 木"),
            call("a", "search", r#"{"q":"ä"}"#),
            call("b", "read", "{}"),
        ],
        stop: StopReason::ToolUse,
        usage: Some(Usage {
            input: 9,
            output: 5,
            cached: 4,
            reasoning: 2,
            cost_micro: Some(33),
            estimated: false,
        }),
        response_id: "r1".into(),
    }
}

#[tokio::test]
async fn a_cut_anywhere_gives_the_same_reply() {
    let stream = events(RICH).replace("\n\n", "\r\n\r\n: keep-alive\r\n\r\n");
    let stream = stream.as_bytes();
    assert_eq!(read(&[stream]).await, Ok(rich()));
    for cut in 0..stream.len() {
        assert_eq!(
            read(&[&stream[..cut], &stream[cut..]]).await,
            Ok(rich()),
            "cut at {cut}"
        );
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(read(&bytes).await, Ok(rich()));
}

#[tokio::test]
async fn any_number_of_cuts_gives_the_same_reply() {
    let stream = events(RICH);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..500 {
        let mut rest = stream.as_bytes();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(round);
            let length = (state >> 33) as usize % 40;
            let (piece, after) = rest.split_at(length.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(read(&pieces).await, Ok(rich()), "round {round}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_gives_the_same_reply() {
    let whole = r#" {"id":"r1","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"Hm, ja.","content":"Grüße, 木","tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"q\":\"ä\"}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":5,"cost":0.0000321,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#;
    assert_eq!(
        read(&[&whole.as_bytes()[..1], &whole.as_bytes()[1..]]).await,
        Ok(rich())
    );
}

#[tokio::test]
async fn calls_are_told_apart_without_an_index() {
    let reply = read_events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"two","arguments":"{\"x\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":1}"}}]},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ])
    .await
    .unwrap();
    assert_eq!(reply.stop, StopReason::ToolUse);
    assert_eq!(
        reply.blocks,
        [call("a", "one", "{}"), call("b", "two", r#"{"x":1}"#)]
    );
}

#[tokio::test]
async fn calls_that_share_an_index_are_told_apart_by_their_ids() {
    let reply = read_events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"one","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    ])
    .await
    .unwrap();
    assert_eq!(
        reply.blocks,
        [call("a", "one", "{}"), call("b", "one", "{}")]
    );
}

#[tokio::test]
async fn a_call_without_a_usable_id_is_given_one_that_is_used_nowhere() {
    let reply = read_events(&[r#"{"choices":[{"delta":{"tool_calls":[
            {"index":0,"function":{"name":"one","arguments":{"x":1}}},
            {"index":1,"id":"same","function":{"name":"two","arguments":"{}"}},
            {"index":2,"id":"same","function":{"name":"two","arguments":"{}"}},
            {"index":3,"id":"old","function":{"name":"two","arguments":"{}"}},
            {"index":4}]},"finish_reason":"tool_calls"}]}"#
        .replace('\n', "")
        .as_str()])
    .await
    .unwrap();
    let calls = calls(reply);
    let ids: Vec<&str> = calls.iter().map(|(id, _, _)| id.as_str()).collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(ids[1], "same");
    let made: Vec<&str> = [ids[0], ids[2], ids[3]].to_vec();
    assert!(made.iter().all(|id| id.starts_with("call_")), "{made:?}");
    assert_eq!(
        made.iter().collect::<std::collections::HashSet<_>>().len(),
        3
    );
    assert_eq!(calls[0].2, r#"{"x":1}"#);
}

#[tokio::test]
async fn a_name_that_comes_again_or_in_pieces_is_one_name() {
    let delta = |name: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"{name}"}}}}]}}}}]}}"#
        )
    };
    let stop = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"find","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let reply = read_events(&[&delta("find"), &delta("find"), stop])
        .await
        .unwrap();
    assert_eq!(reply.blocks, [call("a", "find", "{}")]);
    let reply = read_events(&[&delta("fi"), &delta("nd"), stop])
        .await
        .unwrap();
    assert_eq!(reply.blocks, [call("a", "find", "{}")]);
}

#[tokio::test]
async fn a_call_without_a_name_is_malformed() {
    let error = read_events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    ])
    .await
    .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Malformed);
    assert_eq!(
        error.message,
        "http://127.0.0.1:8080/v1 asked for an action without naming a tool."
    );
}

#[tokio::test]
async fn openrouters_details_are_merged_and_kept_to_be_sent_back() {
    let reply = read_events(&[
        r#"{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","index":0,"text":"b","signature":"s"}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}]}"#,
    ])
    .await
    .unwrap();
    let raw = r#"[{"index":0,"signature":"s","text":"ab","type":"reasoning.text"}]"#;
    let thinking = ReplyBlock::Thinking {
        text: "ab".into(),
        raw: Some(raw.into()),
    };
    assert_eq!(reply.blocks, [thinking, text("c")]);
}

#[tokio::test]
async fn every_reason_to_stop_is_known() {
    for (reason, stop) in [
        ("stop", StopReason::End),
        ("tool_calls", StopReason::End),
        ("length", StopReason::Length),
        ("content_filter", StopReason::Refused),
        ("insufficient_system_resource", StopReason::Other),
    ] {
        let chunk =
            format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#);
        let reply = read_events(&[&chunk]).await.unwrap();
        assert_eq!((reply.stop, reply.usage), (stop, None), "{reason}");
    }
    let refusal = r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#;
    let reply = read_events(&[refusal]).await.unwrap();
    assert_eq!(
        (reply.stop, reply.blocks),
        (StopReason::Refused, vec![text("No.")])
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_malformed() {
    let whole = events(RICH);
    for kept in 0..RICH.len() - 3 {
        let error = read_events(&RICH[..kept]).await.unwrap_err();
        assert_eq!(
            error.class,
            ModelErrorClass::Malformed,
            "after {kept} events"
        );
    }
    let error = read(&[&whole.as_bytes()[..whole.find("Hm").unwrap()]])
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "http://127.0.0.1:8080/v1 sent a piece that is not JSON."
    );
}

#[tokio::test]
async fn an_error_inside_a_stream_has_its_class() {
    let error = read_events(&[
        RICH[2],
        r#"{"error":{"code":429,"message":"Too\nmany"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
    ])
    .await
    .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::RateLimited);
    assert_eq!(
        error.message,
        "http://127.0.0.1:8080/v1 broke its answer off with an error: Too many."
    );
}

#[tokio::test]
async fn a_response_that_does_not_end_is_cut_off() {
    let limits = Limits {
        response_bytes: 10_000,
        ..Limits::default()
    };
    let chunk = events(&[RICH[2]]);
    let error = read_with(
        stream::repeat_with(|| Ok(chunk.as_bytes())),
        limits,
        &NoLiveText,
    )
    .await
    .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Malformed);
}

/// Limits of which only the one that is tested can be reached.
fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let far = Duration::from_secs(3_600);
    let mut limits = Limits {
        first_byte: far,
        idle: far,
        thinking: far,
        quiet: far,
        ..Limits::default()
    };
    change(&mut limits);
    limits
}

const SHORT: Duration = Duration::from_millis(20);

/// A stream that falls silent after these pieces and stays open.
fn then_silence<'a>(pieces: &'a [&'a str]) -> impl Stream<Item = Result<&'a [u8], ModelError>> {
    stream::iter(pieces.iter().map(|piece| Ok(piece.as_bytes()))).chain(stream::pending())
}

#[tokio::test]
async fn silence_before_the_first_byte_ends_the_request() {
    let limits = limits(|limits| limits.first_byte = SHORT);
    let error = read_with(then_silence(&[]), limits, &NoLiveText)
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Network);
    assert_eq!(
        error.message,
        "http://127.0.0.1:8080/v1 sent nothing for 0.02 seconds."
    );
}

#[tokio::test]
async fn silence_in_the_middle_ends_the_request() {
    let limits = limits(|limits| limits.idle = SHORT);
    let piece = events(&RICH[..3]);
    let error = read_with(then_silence(&[&piece, ": alive\n"]), limits, &NoLiveText)
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Network);
    assert_eq!(
        error.message,
        "http://127.0.0.1:8080/v1 sent nothing for 0.02 seconds."
    );
}

#[tokio::test]
async fn a_model_that_thinks_in_silence_is_given_more_time() {
    let piece = events(&RICH[..1]);
    let patient = limits(|limits| limits.idle = SHORT);
    let pieces = [piece.as_str()];
    let waiting = read_with(then_silence(&pieces), patient, &NoLiveText);
    let waited = tokio::time::timeout(SHORT * 5, waiting).await;
    assert!(waited.is_err(), "{waited:?}");
    let restless = limits(|limits| limits.thinking = SHORT);
    let error = read_with(then_silence(&[&piece]), restless, &NoLiveText).await;
    assert_eq!(error.unwrap_err().class, ModelErrorClass::Network);
}

#[tokio::test]
async fn signs_of_life_alone_do_not_hold_a_request_open_for_ever() {
    let limits = limits(|limits| limits.quiet = SHORT);
    let lively = stream::repeat(()).then(|()| async {
        sleep(SHORT / 10).await;
        Ok(b": keep-alive\n\n")
    });
    let error = read_with(lively, limits, &NoLiveText).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Network);
    let expected = "http://127.0.0.1:8080/v1 sent signs of life for 0.02 seconds but no answer.";
    assert_eq!(error.message, expected);
}

#[tokio::test]
async fn a_whole_answer_does_not_wait_for_its_usage() {
    let limits = limits(|limits| limits.idle = SHORT);
    let piece = events(&RICH[..8]);
    let reply = read_with(then_silence(&[&piece]), limits, &NoLiveText)
        .await
        .unwrap();
    assert_eq!(
        reply,
        ModelReply {
            usage: None,
            ..rich()
        }
    );
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl LiveText for Heard {
    fn text(&self, more: &str) {
        self.0.lock().unwrap().push(format!("text {more}"));
    }
    fn thinking(&self, more: &str) {
        self.0.lock().unwrap().push(format!("thinking {more}"));
    }
}

#[tokio::test]
async fn words_are_shown_while_they_come() {
    let heard = Arc::new(Heard::default());
    let stream = events(RICH);
    read_with(
        stream::iter([Ok(stream.as_bytes())]),
        Limits::default(),
        &*heard,
    )
    .await
    .unwrap();
    assert_eq!(
        *heard.0.lock().unwrap(),
        ["thinking Hm, ", "thinking ja.", "text Grüße, 木"]
    );
}

#[tokio::test]
async fn the_recorded_conversation_survives_a_cut_at_every_byte() {
    let format = longrein_testkit::provider::Format::OpenAiChat;
    crate::testing::every_cut_of_the_recorded_conversation::<ChatAssembly>(format).await;
}
