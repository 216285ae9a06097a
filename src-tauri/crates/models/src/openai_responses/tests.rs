//! Requests byte for byte, and replies out of recorded streams.

use expect_test::expect;
use longrein_core::dialect::{Dialect, Message, Said, Thinking};
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::{ResponsesAssembly, ResponsesDialect};
use crate::testing::{
    body, call, conversation, cut_everywhere, ends_too_early, events, grows, parameters, read, text,
};

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm, 木?"}],"encrypted_content":"gAAAAA=="}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Grüße, 木"}],"phase":"commentary"}"#;
const FIRST: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"q\": \"ä\"}","call_id":"call_a","name":"search"}"#;
const SECOND: &str = r#"{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_b","name":"read"}"#;

/// The events of a recorded stream; `output` is what the last one holds of the items.
fn recorded(output: &str) -> Vec<String> {
    let usage = r#"{"input_tokens":90,"input_tokens_details":{"cached_tokens":64},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":30},"total_tokens":140}"#;
    vec![
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[],"error":null}}"#.into(),
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#.into(),
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm, 木?"}"#.into(),
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{REASONING}}}"#),
        r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Grüße, "}"#.into(),
        r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"木"}"#.into(),
        format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{MESSAGE}}}"#),
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"q\""}"#.into(),
        format!(r#"{{"type":"response.output_item.done","output_index":2,"item":{FIRST}}}"#),
        format!(r#"{{"type":"response.output_item.done","output_index":3,"item":{SECOND}}}"#),
        format!(
            r#"{{"type":"response.completed","sequence_number":20,"response":{{"id":"resp_1","status":"completed","output":{output},"usage":{usage},"error":null,"incomplete_details":null}}}}"#
        ),
    ]
}

fn rich() -> ModelReply {
    let raw = |raw: &str| Some(raw.to_owned());
    let call = |id: &str, name: &str, arguments: &str, item: &str| ReplyBlock::ToolUse {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        raw: raw(item),
    };
    ModelReply {
        blocks: vec![
            ReplyBlock::Thinking {
                text: "Hm, 木?".into(),
                raw: raw(REASONING),
            },
            ReplyBlock::Text {
                text: "Grüße, 木".into(),
                raw: raw(MESSAGE),
            },
            call("call_a", "search", r#"{"q": "ä"}"#, FIRST),
            call("call_b", "read", "{}", SECOND),
        ],
        stop: StopReason::ToolUse,
        usage: Some(Usage {
            input: 90,
            output: 50,
            cached: 64,
            reasoning: 30,
            cost_micro: None,
            estimated: false,
        }),
        response_id: "resp_1".into(),
    }
}

fn output() -> String {
    format!("[{REASONING},{MESSAGE},{FIRST},{SECOND}]")
}

#[tokio::test]
async fn a_recorded_stream_gives_the_same_reply_wherever_it_is_cut() {
    let stream = recorded(&output());
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    cut_everywhere::<ResponsesAssembly>(&stream, &rich()).await;
    ends_too_early::<ResponsesAssembly>(&stream, stream.len() - 1).await;
}

#[tokio::test]
async fn items_that_the_last_event_leaves_out_are_taken_from_their_own() {
    let stream = recorded("[]");
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    let reply = read::<ResponsesAssembly>(&events(&stream)).await;
    assert_eq!(reply, Ok(rich()));
}

#[tokio::test]
async fn a_server_that_does_not_stream_gives_the_same_reply() {
    let whole = format!(
        r#"{{"id":"resp_1","object":"response","status":"completed","error":null,"output":{},"usage":{{"input_tokens":90,"input_tokens_details":{{"cached_tokens":64}},"output_tokens":50,"output_tokens_details":{{"reasoning_tokens":30}}}}}}"#,
        output()
    );
    assert_eq!(read::<ResponsesAssembly>(&whole).await, Ok(rich()));
}

async fn ends(kind: &str, status: &str, details: &str, item: &str) -> StopReason {
    let last = format!(
        r#"{{"type":"response.{kind}","response":{{"id":"r","status":"{status}","output":[{item}],"incomplete_details":{details}}}}}"#
    );
    read::<ResponsesAssembly>(&events(&[&last]))
        .await
        .unwrap()
        .stop
}

#[tokio::test]
async fn every_way_to_end_is_known() {
    let length = r#"{"reason":"max_output_tokens"}"#;
    let filtered = r#"{"reason":"content_filter"}"#;
    let refusal = r#"{"type":"message","content":[{"type":"refusal","refusal":"No."}]}"#;
    assert_eq!(
        ends("completed", "completed", "null", MESSAGE).await,
        StopReason::End
    );
    assert_eq!(
        ends("completed", "completed", "null", SECOND).await,
        StopReason::ToolUse
    );
    assert_eq!(
        ends("completed", "completed", "null", refusal).await,
        StopReason::Refused
    );
    assert_eq!(
        ends("incomplete", "incomplete", length, MESSAGE).await,
        StopReason::Length
    );
    assert_eq!(
        ends("incomplete", "incomplete", filtered, MESSAGE).await,
        StopReason::Refused
    );
    assert_eq!(
        ends("incomplete", "cancelled", "null", MESSAGE).await,
        StopReason::Other
    );
}

#[tokio::test]
async fn an_error_inside_a_stream_has_its_class() {
    use ModelErrorClass as Class;
    for (event, class) in [
        (
            r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}"#,
            Class::RateLimited,
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"x"}}"#,
            Class::ContextTooLong,
        ),
        (
            r#"{"type":"response.failed","response":{"id":"r","status":"failed","output":[],"error":{"code":"server_error","message":"boom"}}}"#,
            Class::Overloaded,
        ),
        (
            r#"{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"insufficient_quota","message":"pay"}}}"#,
            Class::Auth,
        ),
        (
            r#"{"error":{"code":502,"message":"bad gateway"}}"#,
            Class::Overloaded,
        ),
    ] {
        let stream = events(&[&recorded("[]")[0], event]);
        let error = read::<ResponsesAssembly>(&stream).await.unwrap_err();
        assert_eq!(error.class, class, "{event}: {error:?}");
    }
}

#[tokio::test]
async fn a_malformed_chunk_is_no_reply() {
    let stream = events(&[&recorded("[]")[0], r#"{"type":"response.output_te"#]);
    let error = read::<ResponsesAssembly>(&stream).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Malformed);
}

fn dialect() -> ResponsesDialect {
    ResponsesDialect::new("gpt-5.6-sol")
}

#[test]
fn what_a_request_is_made_of_byte_for_byte() {
    let messages = conversation(rich().blocks[..2].to_vec());
    let (bytes, _) = body(
        &dialect(),
        &messages[..4],
        Some("[harness] step 2"),
        parameters(),
    );
    expect![[r#"{"model":"any","stream":true,"store":false,"include":["reasoning.encrypted_content"],"tools":[{"type":"function","name":"notes__find","description":"Does \"notes.find\"","parameters":{"type":"object"},"strict":false},{"type":"function","name":"read_file","description":"Does \"read_file\"","parameters":{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"},"strict":false}],"instructions":"Be\nbrief","input":[{"type":"message","role":"user","content":"Grüße\n\"木\""},{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm, 木?"}],"encrypted_content":"gAAAAA=="},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Grüße, 木"}],"phase":"commentary"},{"type":"function_call","call_id":"a","name":"notes__find","arguments":"{\"q\":\"ä\"}"},{"type":"function_call","call_id":"b","name":"read_file","arguments":"{\"path\":\"x\"}"},{"type":"function_call_output","call_id":"a","output":"2 notes"},{"type":"function_call_output","call_id":"b","output":"Error: no such file"},{"type":"message","role":"user","content":"[harness] step 2"}],"max_output_tokens":8192,"reasoning":{"effort":"medium"}}"#]].assert_eq(&bytes);
}

#[test]
fn a_front_that_grows_stays_byte_for_byte_what_it_was() {
    grows(&dialect(), &conversation(rich().blocks[..2].to_vec()));
}

/// The items of one message of what the model said.
fn said(blocks: Vec<Said>) -> Vec<Value> {
    let bytes = dialect().message(0, &Message::Assistant { blocks });
    serde_json::from_str(&format!("[{bytes}]")).unwrap()
}

#[test]
fn every_item_goes_back_as_it_came_and_in_order() {
    let blocks = rich().blocks;
    let bytes = dialect().message(0, &Message::Assistant { blocks });
    assert_eq!(bytes, format!("{REASONING},{MESSAGE},{FIRST},{SECOND}"));
}

#[test]
fn items_without_the_reasoning_that_they_name_go_back_without_their_names() {
    let mut blocks = rich().blocks;
    let unreadable = r#"{"id":"rs_1","type":"reasoning","summary":[]}"#;
    blocks[0] = ReplyBlock::Thinking {
        text: String::new(),
        raw: Some(unreadable.into()),
    };
    let items = said(blocks);
    let kinds: Vec<&str> = items
        .iter()
        .filter_map(|item| item["type"].as_str())
        .collect();
    assert_eq!(kinds, ["message", "function_call", "function_call"]);
    assert!(items.iter().all(|item| item["id"].is_null()), "{items:?}");
}

#[test]
fn blocks_of_another_provider_become_items_of_this_one() {
    let thinking = |raw: &str| ReplyBlock::Thinking {
        text: "hm".into(),
        raw: Some(raw.into()),
    };
    let items = said(vec![
        thinking(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#),
        thinking("reasoning_content"),
        text("a"),
        call("toolu_1", "find", ""),
    ]);
    assert_eq!(
        json!(items),
        json!([
            {"type": "message", "role": "assistant", "content": "a"},
            {"type": "function_call", "call_id": "toolu_1", "name": "find", "arguments": "{}"},
        ])
    );
    assert_eq!(said(Vec::new()).len(), 1);
}

#[test]
fn a_model_that_does_not_reason_is_not_asked_to() {
    let plain = ResponsesDialect::new("gpt-4.1");
    let (bytes, _) = body(&plain, &conversation(Vec::new()), None, parameters());
    assert!(!bytes.contains("reasoning"), "{bytes}");
    let off = longrein_core::dialect::Parameters {
        thinking: Some(Thinking::Off),
        max_output_tokens: 1,
        temperature: Some(0.5),
        answer: None,
    };
    assert_eq!(
        plain.closing(off),
        r#"],"max_output_tokens":16,"temperature":0.5}"#
    );
    assert_eq!(
        dialect().closing(off),
        r#"],"max_output_tokens":16,"reasoning":{"effort":"none"}}"#
    );
}

#[tokio::test]
async fn the_recorded_conversation_survives_a_cut_at_every_byte() {
    let format = longrein_testkit::provider::Format::OpenAiResponses;
    crate::testing::every_cut_of_the_recorded_conversation::<ResponsesAssembly>(format).await;
}
