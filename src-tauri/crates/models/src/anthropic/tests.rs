//! Requests byte for byte, and replies out of recorded streams.

use expect_test::expect;
use longrein_core::dialect::{Dialect, Message, Said};
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::{AnthropicAssembly, AnthropicDialect};
use crate::testing::{
    body, call, conversation, cut_everywhere, ends_too_early, events, grows, parameters, read,
    text, tool,
};

const RICH: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":1}}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm, "}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"木?"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/=="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße, "}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"木"}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"search","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"q\": \"ä"}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"read","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}"#,
    r#"{"type":"message_stop"}"#,
];

const THINKING: &str = r#"{"type":"thinking","thinking":"Hm, 木?","signature":"EqQB+/=="}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"EmwK"}"#;

fn thinking(text: &str, raw: &str) -> ReplyBlock {
    ReplyBlock::Thinking {
        text: text.into(),
        raw: Some(raw.into()),
    }
}

fn rich() -> ModelReply {
    ModelReply {
        blocks: vec![
            thinking("Hm, 木?", THINKING),
            thinking("", REDACTED),
            text("Grüße, 木"),
            call("toolu_1", "search", r#"{"q": "ä"}"#),
            call("toolu_2", "read", ""),
        ],
        stop: StopReason::ToolUse,
        usage: Some(Usage {
            input: 2_112,
            output: 89,
            cached: 2_000,
            reasoning: 0,
            cost_micro: None,
            estimated: false,
        }),
        response_id: "msg_1".into(),
    }
}

#[tokio::test]
async fn a_recorded_stream_gives_the_same_reply_wherever_it_is_cut() {
    cut_everywhere::<AnthropicAssembly>(RICH, &rich()).await;
}

#[tokio::test]
async fn a_stream_that_ends_before_the_model_is_done_is_no_reply() {
    ends_too_early::<AnthropicAssembly>(RICH, RICH.len() - 2).await;
}

#[tokio::test]
async fn an_answer_that_is_whole_counts_without_its_last_event() {
    let stream = events(&RICH[..RICH.len() - 1]);
    assert_eq!(read::<AnthropicAssembly>(&stream).await, Ok(rich()));
}

#[tokio::test]
async fn a_server_that_does_not_stream_gives_the_same_reply() {
    let whole = json!({
        "id": "msg_1", "type": "message", "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm, 木?", "signature": "EqQB+/=="},
            {"type": "redacted_thinking", "data": "EmwK"},
            {"type": "text", "text": "Grüße, 木"},
            {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "ä"}},
            {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 100,
                  "cache_read_input_tokens": 2000, "output_tokens": 89},
    });
    let mut expected = rich();
    expected.blocks[3] = call("toolu_1", "search", r#"{"q":"ä"}"#);
    let reply = read::<AnthropicAssembly>(&whole.to_string()).await;
    assert_eq!(reply, Ok(expected));
}

fn ending(reason: &str) -> String {
    let stop = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":3}}}}"#
    );
    events(&[
        RICH[0],
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}"#,
        &stop,
        r#"{"type":"message_stop"}"#,
    ])
}

#[tokio::test]
async fn every_reason_to_stop_is_known() {
    for (reason, stop) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("tool_use", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("pause_turn", StopReason::Other),
        ("something_new", StopReason::Other),
    ] {
        let reply = read::<AnthropicAssembly>(&ending(reason)).await.unwrap();
        assert_eq!(reply.stop, stop, "{reason}");
    }
}

#[tokio::test]
async fn a_window_that_is_full_is_a_context_that_is_too_long() {
    let stream = ending("model_context_window_exceeded");
    let error = read::<AnthropicAssembly>(&stream).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::ContextTooLong);
}

#[tokio::test]
async fn an_error_inside_a_stream_has_its_class() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for before in 0..RICH.len() - 1 {
        let mut stream = RICH[..before].to_vec();
        stream.push(overloaded);
        let error = read::<AnthropicAssembly>(&events(&stream))
            .await
            .unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Overloaded);
        assert!(error.message.contains("Overloaded"), "{error:?}");
    }
}

#[tokio::test]
async fn a_malformed_chunk_is_no_reply() {
    let mut stream = RICH.to_vec();
    stream[10] = r#"{"type":"content_block_delta","index":2,"del"#;
    let error = read::<AnthropicAssembly>(&events(&stream))
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Malformed);
    let orphan = [RICH[0], RICH[10]];
    let error = read::<AnthropicAssembly>(&events(&orphan))
        .await
        .unwrap_err();
    assert_eq!(error.class, ModelErrorClass::Malformed);
}

fn dialect() -> AnthropicDialect {
    AnthropicDialect::new("claude-opus-5-5")
}

#[test]
fn what_a_request_is_made_of_byte_for_byte() {
    let messages = conversation(rich().blocks[..3].to_vec());
    let (bytes, _) = body(
        &dialect(),
        &messages[..4],
        Some("[harness] step 2"),
        parameters(),
    );
    expect![[r#"{"model":"any","stream":true,"tools":[{"name":"notes__find","description":"Does \"notes.find\"","input_schema":{"type":"object"}},{"name":"read_file","description":"Does \"read_file\"","input_schema":{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"Be\nbrief","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Grüße\n\"木\""}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm, 木?","signature":"EqQB+/=="},{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"Grüße, 木"},{"type":"tool_use","id":"a","name":"notes__find","input":{"q":"ä"}},{"type":"tool_use","id":"b","name":"read_file","input":{"path":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"2 notes"},{"type":"tool_result","tool_use_id":"b","content":"no such file","is_error":true,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"[harness] step 2"}]}],"max_tokens":8192,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"}}"#]].assert_eq(&bytes);
}

#[test]
fn a_front_that_grows_stays_byte_for_byte_what_it_was() {
    grows(&dialect(), &conversation(rich().blocks[..3].to_vec()));
}

#[test]
fn reasoning_comes_and_goes_back_byte_for_byte() {
    let messages = conversation(rich().blocks[..2].to_vec());
    let (bytes, _) = body(&dialect(), &messages, None, parameters());
    assert!(
        bytes.contains(&format!("[{THINKING},{REDACTED},")),
        "{bytes}"
    );
}

#[test]
fn the_cache_mark_stands_on_the_last_block_that_the_next_request_repeats() {
    let marks = |messages: &[Message], tail| {
        let (bytes, _) = body(&dialect(), messages, tail, parameters());
        let body: Value = serde_json::from_str(&bytes).unwrap();
        let messages = body["messages"].as_array().unwrap().clone();
        let blocks: Vec<Value> = messages
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap().clone())
            .collect();
        let count = bytes.matches("cache_control").count();
        let marked = blocks
            .iter()
            .position(|block| !block["cache_control"].is_null());
        (count, blocks.len() - marked.unwrap())
    };
    let messages = conversation(Vec::new());
    // Tools, system and one block: three of the four that the API allows.
    assert_eq!(marks(&messages[..4], Some("tail")), (3, 2));
    assert_eq!(marks(&messages[..5], Some("tail")), (3, 2));
    assert_eq!(marks(&messages, None), (3, 1));
}

/// The content of one message of what the model said.
fn said(blocks: Vec<Said>) -> Vec<Value> {
    let messages = [Message::user("x"), Message::Assistant { blocks }];
    let (bytes, _) = body(&dialect(), &messages, Some("y"), parameters());
    let mut body: Value = serde_json::from_str(&bytes).unwrap();
    serde_json::from_value(body["messages"][1]["content"].take()).unwrap()
}

#[test]
fn reasoning_of_another_provider_is_left_out() {
    let foreign = |raw: &str| thinking("hm", raw);
    for raw in [
        "reasoning_content",
        r#"[{"type":"reasoning.text"}]"#,
        r#"{"type":"reasoning","id":"rs"}"#,
        r#"{"type":"thinking","thinking":"unsigned"}"#,
    ] {
        let content = said(vec![foreign(raw), text("a")]);
        assert_eq!(content.len(), 1, "{raw}: {content:?}");
        assert_eq!(content[0]["text"], "a");
    }
}

#[test]
fn a_message_never_ends_with_reasoning_and_is_never_empty() {
    for blocks in [
        Vec::new(),
        vec![text("  \n")],
        vec![thinking("hm", THINKING)],
    ] {
        let content = said(blocks);
        let last = content.last().unwrap();
        assert_eq!(last["text"], "(no words)", "{content:?}");
    }
}

#[test]
fn ids_and_arguments_of_another_provider_are_made_fit() {
    let blocks = vec![call("functions.find:0", "find", "{\"a\":")];
    let content = said(blocks);
    let id = content[0]["id"].as_str().unwrap();
    assert!(!id.contains([':', '.']), "{id}");
    assert_eq!(
        content[0]["input"],
        json!({"unreadable_arguments": "{\"a\":"})
    );
}

#[test]
fn a_tool_whose_schema_would_be_refused_does_not_lose_the_request() {
    let choice = tool("choose", json!({"oneOf": [{"type": "object"}]}));
    let head = dialect().head(longrein_core::dialect::Head {
        model: "m",
        system: "",
        tools: &[choice],
        index: "",
    });
    let bytes: String = head.into_iter().map(|(_, piece)| piece).collect();
    expect![[r#"{"model":"m","stream":true,"tools":[{"name":"choose","description":"Does \"choose\"","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"messages":["#]].assert_eq(&bytes);
}

#[tokio::test]
async fn the_recorded_conversation_survives_a_cut_at_every_byte() {
    let format = longrein_testkit::provider::Format::Anthropic;
    crate::testing::every_cut_of_the_recorded_conversation::<AnthropicAssembly>(format).await;
}
