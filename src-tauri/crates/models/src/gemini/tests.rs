//! Requests byte for byte, and replies out of recorded streams.

use expect_test::expect;
use longrein_core::dialect::{Dialect, Message, Said};
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{ModelReply, ReplyBlock};
use serde_json::{Value, json};

use super::{GeminiAssembly, GeminiDialect};
use crate::testing::{
    body, call, conversation, cut_everywhere, ends_too_early, events, grows, parameters, read,
    text, tool,
};

const SIGNED_CALL: &str = r#"{"functionCall":{"name":"search","args":{"q": "ä"},"id":"fc-1"},"thoughtSignature":"CvcBAXLI+/="}"#;
const SECOND_CALL: &str = r#"{"functionCall":{"name":"read","args":{}}}"#;

/// The chunks of a recorded stream.
fn recorded() -> [String; 5] {
    let chunk = |parts: &str, more: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0{more}}}],"usageMetadata":{{"promptTokenCount":90}},"modelVersion":"gemini-3.8-flash","responseId":"r1"}}"#
        )
    };
    let last = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{SECOND_CALL}],"role":"model"}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":90,"cachedContentTokenCount":64,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":140}},"responseId":"r1"}}"#
    );
    [
        chunk(r#"{"text":"Hm, 木?","thought":true}"#, ""),
        chunk(r#"{"text":"Grüße, "}"#, ""),
        chunk(r#"{"text":"木"}"#, ""),
        chunk(SIGNED_CALL, ""),
        last,
    ]
}

fn rich() -> ModelReply {
    ModelReply {
        blocks: vec![
            ReplyBlock::Thinking {
                text: "Hm, 木?".into(),
                raw: None,
            },
            text("Grüße, 木"),
            ReplyBlock::ToolUse {
                id: "fc-1".into(),
                name: "search".into(),
                arguments: r#"{"q": "ä"}"#.into(),
                raw: Some(SIGNED_CALL.into()),
            },
            ReplyBlock::ToolUse {
                id: "call_made_IDS_1".into(),
                name: "read".into(),
                arguments: "{}".into(),
                raw: Some(SECOND_CALL.into()),
            },
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
        response_id: "r1".into(),
    }
}

/// The reply with the id that is made where the provider gives none.
fn rich_with_made_id() -> ModelReply {
    let mut reply = rich();
    let seed = longrein_protocol::BlobHash::of(crate::testing::BODY).to_string();
    if let ReplyBlock::ToolUse { id, .. } = &mut reply.blocks[3] {
        *id = format!("call_made_{}_2", &seed[..12]);
    }
    reply
}

#[tokio::test]
async fn a_recorded_stream_gives_the_same_reply_wherever_it_is_cut() {
    let stream = recorded();
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    cut_everywhere::<GeminiAssembly>(&stream, &rich_with_made_id()).await;
    ends_too_early::<GeminiAssembly>(&stream, stream.len() - 1).await;
}

#[tokio::test]
async fn a_list_instead_of_a_stream_gives_the_same_reply() {
    let whole = format!("[{}]", recorded().join(",\n"));
    let reply = read::<GeminiAssembly>(&whole).await;
    assert_eq!(reply, Ok(rich_with_made_id()));
}

#[tokio::test]
async fn a_signed_text_is_kept_in_its_parts() {
    let chunk = |parts: &str, more: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}{more}}}],"usageMetadata":{{"promptTokenCount":1}}}}"#
        )
    };
    let stream = [
        chunk(r#"{"text":"Grü"}"#, ""),
        chunk(r#"{"text":"ße"}"#, ""),
        chunk(
            r#"{"text": "", "thoughtSignature": "sig=="}"#,
            r#","finishReason":"STOP""#,
        ),
    ];
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    let reply = read::<GeminiAssembly>(&events(&stream)).await.unwrap();
    let raw = r#"[{"text":"Grüße"},{"text": "", "thoughtSignature": "sig=="}]"#;
    let expected = ReplyBlock::Text {
        text: "Grüße".into(),
        raw: Some(raw.into()),
    };
    assert_eq!(reply.blocks, [expected]);
    let back = dialect().message(
        0,
        &Message::Assistant {
            blocks: reply.blocks,
        },
    );
    let parts = &raw[1..raw.len() - 1];
    assert_eq!(back, format!(r#"{{"role":"model","parts":[{parts}"#));
}

async fn ends(reason: &str) -> Result<StopReason, ModelErrorClass> {
    let chunk = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}}]}},"finishReason":"{reason}"}}]}}"#
    );
    match read::<GeminiAssembly>(&events(&[&chunk])).await {
        Ok(reply) => Ok(reply.stop),
        Err(error) => Err(error.class),
    }
}

#[tokio::test]
async fn every_reason_to_stop_is_known() {
    assert_eq!(ends("STOP").await, Ok(StopReason::End));
    assert_eq!(ends("MAX_TOKENS").await, Ok(StopReason::Length));
    for reason in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ] {
        assert_eq!(ends(reason).await, Ok(StopReason::Refused), "{reason}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        assert_eq!(
            ends(reason).await,
            Err(ModelErrorClass::Malformed),
            "{reason}"
        );
    }
    assert_eq!(ends("LANGUAGE").await, Ok(StopReason::Other));
}

#[tokio::test]
async fn errors_and_blocked_requests_inside_a_stream_have_their_class() {
    use ModelErrorClass as Class;
    for (chunk, class) in [
        (
            r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1}}"#,
            Class::ContentRefused,
        ),
        (
            r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#,
            Class::Overloaded,
        ),
        (
            r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}"#,
            Class::ContextTooLong,
        ),
        (r#"{"candidates":[{"#, Class::Malformed),
    ] {
        let error = read::<GeminiAssembly>(&events(&[&recorded()[1], chunk])).await;
        assert_eq!(error.unwrap_err().class, class, "{chunk}");
    }
}

fn dialect() -> GeminiDialect {
    GeminiDialect::new("gemini-3.8-flash")
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
    expect![[r#"{"systemInstruction":{"parts":[{"text":"Be\nbrief"}]},"tools":[{"functionDeclarations":[{"name":"notes__find","description":"Does \"notes.find\""},{"name":"read_file","description":"Does \"read_file\"","parametersJsonSchema":{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}}]}],"contents":[{"role":"user","parts":[{"text":"Grüße\n\"木\""}]},{"role":"model","parts":[{"text":"Grüße, 木"},{"functionCall":{"id":"a","name":"notes__find","args":{"q":"ä"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"read_file","args":{"path":"x"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"notes__find","response":{"output":"2 notes"}}},{"functionResponse":{"id":"b","name":"read_file","response":{"error":"no such file"}}}]},{"role":"user","parts":[{"text":"[harness] step 2"}]}],"generationConfig":{"maxOutputTokens":8192,"thinkingConfig":{"thinkingLevel":"medium","includeThoughts":true}}}"#]].assert_eq(&bytes);
}

#[test]
fn a_front_that_grows_stays_byte_for_byte_what_it_was() {
    grows(&dialect(), &conversation(rich().blocks[..2].to_vec()));
}

/// The parts of one message.
fn parts(message: &Message) -> Vec<Value> {
    let bytes = format!("{}]}}", dialect().message(0, message));
    let mut content: Value = serde_json::from_str(&bytes).unwrap();
    serde_json::from_value(content["parts"].take()).unwrap()
}

#[test]
fn a_signature_stays_on_the_part_that_it_came_with() {
    let blocks = rich_with_made_id().blocks;
    let bytes = dialect().message(0, &Message::Assistant { blocks });
    assert_eq!(
        bytes,
        format!(r#"{{"role":"model","parts":[{{"text":"Grüße, 木"}},{SIGNED_CALL},{SECOND_CALL}"#)
    );
}

#[test]
fn an_id_that_was_made_here_is_not_sent() {
    let ReplyBlock::ToolUse { id, .. } = &rich_with_made_id().blocks[3] else {
        panic!("a call");
    };
    let result = |id: &str| Message::Result {
        call: id.into(),
        name: "read".into(),
        text: "x".into(),
        media: Vec::new(),
        failed: false,
    };
    assert_eq!(parts(&result(id))[0]["functionResponse"]["id"], Value::Null);
    assert_eq!(parts(&result("fc-1"))[0]["functionResponse"]["id"], "fc-1");
}

#[test]
fn an_old_model_is_not_given_a_signature() {
    let blocks: Vec<Said> = vec![call("a", "find", "{}")];
    let bytes = GeminiDialect::new("gemini-2.5-pro").message(0, &Message::Assistant { blocks });
    assert!(!bytes.contains("thoughtSignature"), "{bytes}");
}

#[test]
fn blocks_of_another_provider_and_empty_ones_can_be_sent() {
    let foreign = ReplyBlock::Thinking {
        text: "hm".into(),
        raw: Some(r#"[{"type":"reasoning.text","text":"hm"}]"#.into()),
    };
    assert_eq!(
        json!(parts(&Message::Assistant {
            blocks: vec![foreign]
        })),
        json!([{"text": "(no words)"}])
    );
    assert_eq!(
        parts(&Message::user(String::new()))[0]["text"],
        "(no words)"
    );
}

#[test]
fn a_schema_is_cut_to_what_the_api_knows() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"n": {"type": "integer", "exclusiveMinimum": 0, "const": 1}},
    });
    let head = dialect().head(longrein_core::dialect::Head {
        model: "m",
        system: "",
        tools: &[tool("count", schema)],
        index: "",
    });
    let bytes: String = head.into_iter().map(|(_, piece)| piece).collect();
    expect![[r#"{"tools":[{"functionDeclarations":[{"name":"count","description":"Does \"count\"","parametersJsonSchema":{"properties":{"n":{"enum":[1],"type":"integer"}},"type":"object"}}]}],"contents":["#]].assert_eq(&bytes);
}

#[tokio::test]
async fn the_recorded_conversation_survives_a_cut_at_every_byte() {
    let format = longrein_testkit::provider::Format::Gemini;
    crate::testing::every_cut_of_the_recorded_conversation::<GeminiAssembly>(format).await;
}
