//! What servers report in places of their own.

use longrein_protocol::block::Usage;
use longrein_runtime::ports::ReplyBlock;

use super::{read_events, text};

async fn usage_of(usage: &str) -> Usage {
    let stop = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let reply = read_events(&[stop, usage]).await.unwrap();
    reply.usage.unwrap()
}

#[tokio::test]
async fn reasoning_that_is_counted_beside_the_answer_is_added_to_it() {
    let xai = usage_of(r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20},"cost_in_usd_ticks":1234567}}"#).await;
    assert_eq!((xai.output, xai.reasoning), (25, 20));
    assert_eq!(xai.cost_micro, Some(124));
    let openai = usage_of(r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":25,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}}"#).await;
    assert_eq!((openai.output, openai.reasoning), (25, 20));
}

#[tokio::test]
async fn groqs_own_place_for_the_usage_is_known() {
    let usage = usage_of(
        r#"{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":4}}}"#,
    );
    let usage = usage.await;
    assert_eq!((usage.input, usage.output), (3, 4));
}

#[tokio::test]
async fn mistrals_parts_are_told_apart() {
    let reply = read_events(&[
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
    ])
    .await
    .unwrap();
    let thinking = ReplyBlock::Thinking {
        text: "hm".into(),
        raw: None,
    };
    assert_eq!(reply.blocks, [thinking, text("a")]);
}
