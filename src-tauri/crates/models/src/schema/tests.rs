//! Requests byte for byte, and replies as models write them.

use std::sync::Mutex;

use expect_test::expect;
use longrein_protocol::block::StopReason;
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::reply::SchemaAssembly;
use super::{SchemaDialect, grammar};
use crate::openai_chat::ChatDialect;
use crate::testing::{
    body, call, conversation, cut_everywhere, events, grows, parameters, read, read_live, text,
    tool, tools,
};

fn dialect() -> SchemaDialect {
    SchemaDialect::new(ChatDialect::default())
}

#[test]
fn what_a_request_is_made_of_byte_for_byte() {
    let messages = conversation(vec![text("First.")]);
    let (bytes, _) = body(
        &dialect(),
        &messages[..4],
        Some("[harness] step 2"),
        parameters(),
    );
    expect![[r#"{"model":"any","stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"anyOf":[{"type":"object","properties":{"tool":{"const":"notes__find"},"arguments":{"type":"object"}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"read_file"},"arguments":{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}},"required":["tool","arguments"],"additionalProperties":false},{"type":"object","properties":{"tool":{"const":"answer"},"arguments":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}},"required":["tool","arguments"],"additionalProperties":false}]}}},"messages":[{"role":"system","content":"Be\nbrief\n\nYou act by tools. Reply with one JSON object and nothing else: {\"tool\": \"NAME\", \"arguments\": {…}}. The result comes in the next message; then go on with the next tool. When there is something to say and nothing left to do, use the tool answer.\n\nTools:\n- notes__find: Does \"notes.find\"\n  arguments: {\"type\":\"object\"}\n- read_file: Does \"read_file\"\n  arguments: {\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"],\"type\":\"object\"}\n- answer: Says something to the person.\n  arguments: {\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"],\"additionalProperties\":false}"},{"role":"user","content":"Grüße\n\"木\""},{"role":"assistant","content":"{\"tool\":\"answer\",\"arguments\":{\"text\":\"First.\"}}\n{\"tool\":\"notes__find\",\"arguments\":{\"q\":\"ä\"}}\n{\"tool\":\"read_file\",\"arguments\":{\"path\":\"x\"}}"},{"role":"user","content":"notes__find returned:\n2 notes\nThis is done and need not be done again. Use the next tool that the task needs, or finish.\n\nread_file failed:\nno such file\nThat did not work. Do not do the same again: do it another way.\n\n[harness] step 2"}],"max_tokens":8192,"reasoning_effort":"medium"}"#]].assert_eq(&bytes);
}

#[test]
fn a_front_that_grows_stays_byte_for_byte_what_it_was() {
    grows(&dialect(), &conversation(vec![text("First.")]));
}

#[test]
fn the_person_and_the_model_speak_in_turn() {
    let messages = conversation(Vec::new());
    let (bytes, _) = body(&dialect(), &messages, Some("tail"), parameters());
    let body: Value = serde_json::from_str(&bytes).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "user", "assistant", "user"]
    );
}

#[test]
fn a_question_on_the_side_is_answered_in_plain_words() {
    let head = longrein_core::dialect::Dialect::head(
        &dialect(),
        longrein_core::dialect::Head {
            model: "m",
            system: "Sum up.",
            tools: &[],
            index: "",
        },
    );
    let bytes: String = head.into_iter().map(|(_, piece)| piece).collect();
    assert!(!bytes.contains("response_format"), "{bytes}");
    assert!(bytes.ends_with(r#""content":"Sum up."}"#), "{bytes}");
}

#[test]
fn the_grammar_has_a_branch_for_each_tool_and_one_for_an_answer() {
    let schema: Value = serde_json::from_str(&grammar::of(&tools())).unwrap();
    let branches = schema["anyOf"].as_array().unwrap();
    assert_eq!(branches.len(), 3);
    assert_eq!(
        branches[0]["properties"]["tool"],
        json!({"const": "notes__find"})
    );
    assert_eq!(
        branches[1]["properties"]["arguments"]["required"],
        json!(["path"])
    );
    assert_eq!(
        branches[2]["properties"]["tool"],
        json!({"const": "answer"})
    );
}

#[test]
fn the_grammar_has_the_tool_before_its_arguments() {
    let schema = grammar::of(&tools());
    let at = |text: &str| schema.find(text).unwrap();
    assert!(at(r#""tool":{"#) < at(r#""arguments":{"#), "{schema}");
}

#[test]
fn what_a_grammar_can_not_follow_is_left_out_of_it() {
    let referring =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}});
    let strict =
        json!({"properties": {"s": {"type": "string", "pattern": "^a", "maxLength": 9000}}});
    let schema = grammar::of(&[tool("x", referring), tool("y", strict)]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let arguments = |index: usize| schema["anyOf"][index]["properties"]["arguments"].clone();
    assert_eq!(arguments(0), json!({"type": "object"}));
    assert_eq!(
        arguments(1),
        json!({"type": "object", "properties": {"s": {"type": "string"}}})
    );
}

/// The stream in which a model writes a text, in two pieces.
fn writing(written: &str, reason: &str) -> Vec<String> {
    let half = written.floor_char_boundary(written.len() / 2);
    let delta = |text: &str, stop: Value| {
        json!({"id": "r1", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": stop}]}).to_string()
    };
    vec![
        delta(&written[..half], Value::Null),
        delta(&written[half..], json!(reason)),
        "[DONE]".to_owned(),
    ]
}

async fn reply(written: &str, reason: &str) -> ModelReply {
    let stream = writing(written, reason);
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    read::<SchemaAssembly>(&events(&stream)).await.unwrap()
}

/// The calls of a reply without their ids.
fn calls(reply: &ModelReply) -> Vec<(&str, &str)> {
    let calls = reply.blocks.iter().filter_map(|block| match block {
        ReplyBlock::ToolUse {
            name, arguments, ..
        } => Some((name.as_str(), arguments.as_str())),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn a_tool_is_read_out_of_the_reply_wherever_its_stream_is_cut() {
    let written = r#"{"tool": "read_file", "arguments": {"path": "木"}}"#;
    let read = reply(written, "stop").await;
    assert_eq!(calls(&read), [("read_file", r#"{"path": "木"}"#)]);
    assert_eq!(read.stop, StopReason::ToolUse);
    let stream = writing(written, "stop");
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    cut_everywhere::<SchemaAssembly>(&stream, &read).await;
}

#[tokio::test]
async fn an_answer_is_read_out_of_the_reply() {
    let read = reply(
        r#"{"tool": "answer", "arguments": {"text": "Grüße\n木"}}"#,
        "stop",
    )
    .await;
    assert_eq!(read.blocks, [text("Grüße\n木")]);
    assert_eq!(read.stop, StopReason::End);
}

#[tokio::test]
async fn a_model_that_is_not_held_to_the_schema_is_still_understood() {
    let fenced = "Here it is:\n```json\n{\"tool\": \"a\", \"arguments\": {}}\n```";
    assert_eq!(calls(&reply(fenced, "stop").await), [("a", "{}")]);
    let two = r#"{"tool":"a","arguments":{}} {"tool":"b"}"#;
    let both = reply(two, "stop").await;
    assert_eq!(calls(&both), [("a", "{}"), ("b", "{}")]);
    let ReplyBlock::ToolUse { id, .. } = &both.blocks[0] else {
        panic!("a call");
    };
    assert!(
        !both.blocks[1..].contains(&call(id, "b", "{}")),
        "ids differ"
    );
    let words = reply("Just words with a {brace}.", "stop").await;
    assert_eq!(words.blocks, [text("Just words with a {brace}.")]);
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_the_part_that_was_written() {
    let read = reply(
        r#"{"tool": "answer", "arguments": {"text": "Once upon a ti"#,
        "length",
    )
    .await;
    assert_eq!(read.blocks, [text("Once upon a ti")]);
    assert_eq!(read.stop, StopReason::Length);
}

#[derive(Default)]
struct Heard(Mutex<String>);

impl LiveText for Heard {
    fn text(&self, more: &str) {
        self.0.lock().unwrap().push_str(more);
    }
    fn thinking(&self, _more: &str) {}
}

#[tokio::test]
async fn only_the_words_of_an_answer_are_shown_while_it_streams() {
    let heard = Heard::default();
    let stream = writing(
        r#"{"tool": "answer", "arguments": {"text": "Grüße \"木\""}}"#,
        "stop",
    );
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    let stream = events(&stream);
    let assembly = SchemaAssembly::default();
    read_live(assembly, &[stream.as_bytes()], &heard)
        .await
        .unwrap();
    assert_eq!(heard.0.into_inner().unwrap(), "Grüße \"木\"");
}
