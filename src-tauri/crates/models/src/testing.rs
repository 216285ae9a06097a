//! What the tests of all formats do alike: read a stream that was cut anywhere, and write a
//! conversation as the core does.

use futures::stream;
use longrein_core::dialect::{
    Dialect, End, Head, Message, Parameters, Place, Said, Speaker, Thinking,
};
use longrein_protocol::tool::{Reach, Recovery, Repeat};
use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{LiveText, ModelError, ModelReply, NoLiveText, ReplyBlock};
use longrein_testkit::provider::{Format as Recorded, Manner, stream_bytes};
use longrein_testkit::recorded;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Limits;
use crate::fault::Provider;
use crate::reading::{Assembly, Source};

/// The request that the streams answer. It holds ids that a reply must not use again.
pub const BODY: &[u8] =
    br#"{"tool_call_id":"old","tool_use_id":"old","call_id":"old","functionResponse":{"id":"old"}}"#;

pub fn provider() -> Provider {
    Provider {
        name: "local".into(),
        model: "any".into(),
        shown_url: "http://127.0.0.1:8080".into(),
        key: None,
        format: "Test",
        address_hint: "/v1",
    }
}

/// Reads the pieces of a body.
pub async fn read_live<A: Assembly>(
    assembly: A,
    pieces: &[&[u8]],
    live: &dyn LiveText,
) -> Result<ModelReply, ModelError> {
    let (provider, limits) = (provider(), Limits::default());
    let first_byte = Instant::now() + limits.first_byte;
    let source = Source {
        provider: &provider,
        limits,
        first_byte,
    };
    let pieces = stream::iter(pieces.iter().map(|piece| Ok(*piece)));
    source.reply(assembly, Box::pin(pieces), BODY, live).await
}

pub async fn read<A: Assembly + Default>(text: &str) -> Result<ModelReply, ModelError> {
    read_live(A::default(), &[text.as_bytes()], &NoLiveText).await
}

/// A stream out of its events, in the plainest form.
pub fn events(events: &[&str]) -> String {
    events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

/// Cuts a stream in two at every byte and into single bytes, with keep-alive comments in between;
/// every time the reply is the same.
pub async fn cut_everywhere<A: Assembly + Default>(data: &[&str], expected: &ModelReply) {
    let stream = events(data).replace("\n\n", "\r\n\r\n: keep-alive\r\n\r\n");
    let stream = stream.as_bytes();
    for cut in 0..=stream.len() {
        let pieces = [&stream[..cut], &stream[cut..]];
        let reply = read_live(A::default(), &pieces, &NoLiveText).await;
        assert_eq!(reply.as_ref(), Ok(expected), "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    let reply = read_live(A::default(), &bytes, &NoLiveText).await;
    assert_eq!(reply.as_ref(), Ok(expected));
}

/// Cuts the streams of the recorded conversation of a format at every byte, by an end and by a
/// break in turn, and into single bytes. What comes of a cut stream is a fault that passes, so that
/// the request is sent again, or the reply itself: never another one.
pub async fn every_cut_of_the_recorded_conversation<A: Assembly + Default>(format: Recorded) {
    for (number, step) in recorded::conversation(format).iter().enumerate() {
        let stream = stream_bytes(format, &step.reply, &Manner::default());
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        let whole = read_live(A::default(), &single, &NoLiveText).await.unwrap();
        assert_eq!(comparable(&whole), comparable(&step.reply), "step {number}");
        for cut in 0..stream.len() {
            let read = read_broken(A::default(), &stream[..cut], cut % 2 == 0).await;
            match read {
                Err(fault) => {
                    assert!(fault.class.is_transient(), "{format:?} {cut}: {fault:?}");
                }
                Ok(mut reply) => {
                    // The chat format tells the usage after everything else.
                    if format == Recorded::OpenAiChat && reply.usage.is_none() {
                        reply.usage = whole.usage;
                    }
                    assert_eq!(reply, whole, "{format:?}, step {number}, cut at {cut}");
                }
            }
        }
    }
}

/// Reads the beginning of a stream that ends, or whose connection breaks.
async fn read_broken<A: Assembly>(
    assembly: A,
    bytes: &[u8],
    breaks: bool,
) -> Result<ModelReply, ModelError> {
    let (provider, limits) = (provider(), Limits::default());
    let source = Source {
        provider: &provider,
        limits,
        first_byte: Instant::now() + limits.first_byte,
    };
    let broken = breaks.then(|| Err(provider.broken("broke the connection")));
    let pieces = stream::iter([Ok(bytes)].into_iter().chain(broken));
    source
        .reply(assembly, Box::pin(pieces), BODY, &NoLiveText)
        .await
}

/// A reply with its raw blocks as values: the order of the keys is the provider's affair.
fn comparable(reply: &ModelReply) -> (Vec<(String, Value)>, String) {
    let blocks = reply.blocks.iter().map(|block| {
        let (words, raw) = match block {
            Said::Text { text, raw } | Said::Thinking { text, raw } => (text.clone(), raw),
            Said::ToolUse {
                id,
                name,
                arguments,
                raw,
            } => (format!("{id} {name} {arguments}"), raw),
        };
        let value = |raw: &String| serde_json::from_str(raw).unwrap_or(Value::from(raw.as_str()));
        (words, raw.as_ref().map(value).unwrap_or_default())
    });
    let rest = format!("{:?} {:?} {}", reply.stop, reply.usage, reply.response_id);
    (blocks.collect(), rest)
}

/// Ends a stream after each of its first `count` events; none of that is taken for a reply.
pub async fn ends_too_early<A: Assembly + Default>(data: &[&str], count: usize) {
    for kept in 0..count {
        let error = read::<A>(&events(&data[..kept])).await.unwrap_err();
        let class = longrein_protocol::block::ModelErrorClass::Malformed;
        assert_eq!(error.class, class, "after {kept} events: {error:?}");
    }
}

pub fn text(text: &str) -> Said {
    Said::Text {
        text: text.into(),
        raw: None,
    }
}

pub fn call(id: &str, name: &str, arguments: &str) -> ReplyBlock {
    ReplyBlock::ToolUse {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        raw: None,
    }
}

pub fn tool(name: &str, schema: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does \"{name}\""),
        schema,
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        timeout_ms: 1,
        result_tokens: 1,
        path_arguments: Vec::new(),
        reach: Reach::default(),
        recovery: Recovery::default(),
        untrusted: true,
    }
}

pub fn tools() -> [ToolSpec; 2] {
    let path =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    [
        tool("notes.find", json!({"type": "object"})),
        tool("read_file", path),
    ]
}

fn result(call: &str, name: &str, text: &str, failed: bool) -> Message {
    Message::Result {
        call: call.into(),
        name: name.into(),
        text: text.into(),
        media: Vec::new(),
        failed,
    }
}

/// A turn with two calls at once, one of which fails, and words at the end. `first` is what the
/// model said first, before its calls.
pub fn conversation(first: Vec<Said>) -> Vec<Message> {
    let mut asked = first;
    asked.push(call("a", "notes__find", r#"{"q":"ä"}"#));
    asked.push(call("b", "read_file", r#"{"path":"x"}"#));
    vec![
        Message::user("Grüße\n\"木\""),
        Message::Assistant { blocks: asked },
        result("a", "notes__find", "2 notes", false),
        result("b", "read_file", "no such file", true),
        Message::Assistant {
            blocks: vec![text("Done.")],
        },
        Message::user("Once more."),
    ]
}

/// The bytes of a request as the core puts them together, and how many of them the next request
/// begins with.
pub fn body(
    dialect: &dyn Dialect,
    messages: &[Message],
    tail: Option<&str>,
    parameters: Parameters<'_>,
) -> (String, usize) {
    let head = dialect.head(Head {
        model: "any",
        system: "Be\nbrief",
        tools: &tools(),
        index: "",
    });
    let mut bytes: String = head.into_iter().map(|(_, piece)| piece).collect();
    let mut after: Option<Speaker> = None;
    let mut index = 0;
    for message in messages {
        let place = Place {
            index,
            after,
            is_tail: false,
        };
        bytes += &dialect.placed(place, message);
        after = Some(message.speaker());
        index += 1;
    }
    let front = bytes.len();
    if let Some(text) = tail {
        let place = Place {
            index,
            after,
            is_tail: true,
        };
        bytes += &dialect.placed(place, &Message::user(text));
        index += 1;
    }
    let end = End {
        messages: index,
        has_tail: tail.is_some(),
    };
    bytes += &dialect.closing_after(end, parameters);
    (bytes, front)
}

pub fn parameters() -> Parameters<'static> {
    Parameters {
        max_output_tokens: 8_192,
        temperature: None,
        thinking: Some(Thinking::Medium),
        answer: None,
    }
}

/// Lets a conversation grow message by message, with a tail and without. Every body is JSON, and
/// begins with the front of the one before.
pub fn grows(dialect: &dyn Dialect, messages: &[Message]) {
    let mut last = String::new();
    for count in 1..=messages.len() {
        for tail in [Some("[harness] step 2"), None] {
            let (bytes, front) = body(dialect, &messages[..count], tail, parameters());
            let parsed: Result<Value, _> = serde_json::from_str(&bytes);
            assert!(parsed.is_ok(), "{count}: {bytes}");
            assert!(bytes.starts_with(&last), "{count}: {bytes}\n{last}");
            if tail.is_none() {
                last = bytes[..front].to_owned();
            }
        }
    }
}
