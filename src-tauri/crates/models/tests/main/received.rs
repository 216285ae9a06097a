//! The recorded conversation received by a driver from a real server, in every format: its streams
//! cut, sent again, and folded to the same state.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::run::{Item, Phase, Run};
use longrein_models::{Format, Limits, ModelConfig, ToolMode, build};
use longrein_protocol::event::{Outcome, Payload};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_protocol::{Event, Millis, RunId, ToolErrorClass};
use longrein_runtime::ports::{Clock, Part, ToolCall, ToolError, ToolOutput};
use longrein_runtime::{Driver, Ports, media::NewMedia};
use longrein_store::MemoryLog;
use longrein_testkit::provider::{
    Answer, Content, Fault, Manner, MockProvider, Setup, stream_bytes,
};
use longrein_testkit::recorded::{self, PNG_BASE64, Step};
use longrein_testkit::{FakeTool, SeededChance, TestWorld};
use tokio::sync::OnceCell;

/// A clock whose waits are over at once, and count.
#[derive(Default)]
struct Impatient(AtomicI64);

#[async_trait]
impl Clock for Impatient {
    fn now(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }

    fn monotonic_ms(&self) -> u64 {
        self.now().unsigned_abs()
    }

    async fn sleep(&self, duration: Duration) {
        self.0
            .fetch_add(duration.as_millis() as i64, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

/// Where the stream of a step is cut for the first time that it is asked for.
type Cut = Arc<dyn Fn(usize) -> Option<usize> + Send + Sync>;

/// The provider of the conversation, which cuts each stream once.
async fn provider(format: Format, manner: Manner, cut: Cut) -> MockProvider {
    let steps = recorded::conversation(format);
    let was_cut = Mutex::new([false; 5]);
    let setup = Setup::of(move |request| {
        let number = request.replies() as usize;
        let reply: &Step = &steps[number.min(steps.len() - 1)];
        let mut was_cut = was_cut.lock().unwrap();
        let first = !std::mem::replace(&mut was_cut[number.min(4)], true);
        let fault = cut(number).filter(|_| first).map(Fault::DropAtByte);
        Answer {
            content: Content::Reply(reply.reply.clone()),
            manner: Some(Manner {
                fault,
                ..manner.clone()
            }),
        }
    });
    MockProvider::start(setup).await.unwrap()
}

fn read_file(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    if call.arguments["path"] == "notes.md" {
        let class = ToolErrorClass::NotFound;
        return Err(ToolError::new(class, "no such file: notes.md"));
    }
    let png = base64_decoded(PNG_BASE64);
    let image = NewMedia::of(png, "chart.png").expect("it is an image");
    Ok(ToolOutput {
        parts: vec![
            Part::Text("chart.png: an image".to_owned()),
            Part::Media(Box::new(image)),
        ],
        ..ToolOutput::default()
    })
}

fn base64_decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text
        .bytes()
        .filter(|letter| *letter != b'=')
        .map(value)
        .collect();
    let bits = digits
        .iter()
        .flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1));
    let bits: Vec<u8> = bits.collect();
    bits.chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |value, bit| value << 1 | bit))
        .collect()
}

/// Holds the whole conversation, over its three turns; gives how often a request failed, too.
async fn hold(format: Format, manner: Manner, cut: Cut) -> (Run, usize) {
    let server = provider(format, manner, cut).await;
    let base_url = match format {
        Format::OpenAiChat | Format::OpenAiResponses => server.base_url(),
        Format::Anthropic | Format::Gemini => server.origin(),
    };
    let config = ModelConfig {
        provider: "mine".into(),
        model: recorded::model(format).into(),
        base_url,
        key: None,
        limits: Limits::default(),
    };
    let model = build(format, ToolMode::Native, &config).unwrap();
    let tool = |name: &str| FakeTool::new(name, Effect::Read, Repeat::Repeatable);
    let list = tool("list_files").answering(|_| Ok(ToolOutput::text("notes.md\nchart.png", "2")));
    let tools = [
        Arc::new(list),
        Arc::new(tool("read_file").answering(read_file)),
    ];
    let world = Arc::new(TestWorld::new(model, tools));
    let agent = world.agent();
    let log = Arc::new(MemoryLog::new());
    let ports = Ports {
        log: log.clone(),
        clock: Arc::new(Impatient::default()),
        chance: Arc::new(SeededChance::new(7)),
        world,
    };
    let run = RunId::from_parts(1, 7);
    let fence = log.take_fence(run).await.unwrap();
    let mut driver = Driver::new(ports, fence, Run::default());
    driver.record(TestWorld::created(agent)).unwrap();
    let said: Vec<&str> = recorded::conversation(format)
        .iter()
        .filter_map(|step| step.person)
        .collect();
    driver.say(said[0].to_owned()).unwrap();
    driver.commit().await.unwrap();
    driver.drive(false).await.unwrap();
    for words in &said[1..] {
        let text = (*words).to_owned();
        log.post_wish(run, Wish::Say { text }, 1).await.unwrap();
        driver.drive(false).await.unwrap();
    }
    let events = log.durable(run);
    let failed = |event: &&Event| matches!(event.payload, Payload::ModelFailed(_));
    let failures = events.iter().filter(failed).count();
    let run = driver.run().clone();
    assert_eq!(
        run.phase,
        Phase::Finished(Outcome::Unverified),
        "{format:?}: {:?}",
        run.standing()
    );
    (run, failures)
}

/// What the model is shown of the conversation: all but ids of ours, and times.
fn shown(run: &Run) -> Vec<String> {
    let items = run.conversation.items.iter().map(|item| match item {
        Item::Result {
            call, tool, result, ..
        } => format!(
            "{call} {tool} {:?} {:?} {:?}",
            result.body, result.media, result.error
        ),
        other => format!("{other:?}"),
    });
    items.collect()
}

/// Where the events of a step's stream begin and end.
fn boundaries(format: Format, step: &Step) -> Vec<usize> {
    let stream = stream_bytes(format, &step.reply, &Manner::default());
    let ends = stream.windows(2).enumerate();
    let ends = ends
        .filter(|(_, pair)| pair == b"\n\n")
        .map(|(at, _)| at + 2);
    std::iter::once(0).chain(ends).collect()
}

/// Cuts every stream of the conversation at every event boundary, or one byte behind it, and
/// compares what was folded with what a whole conversation comes to.
async fn cut_everywhere(format: Format) {
    static NONE: OnceCell<Cut> = OnceCell::const_new();
    let none = NONE
        .get_or_init(|| async { Arc::new(|_: usize| None) as Cut })
        .await;
    let (whole, _) = hold(format, Manner::default(), none.clone()).await;
    assert_eq!(whole.used.steps, 5, "{format:?}");
    let boundaries: Vec<Vec<usize>> = recorded::conversation(format)
        .iter()
        .map(|step| boundaries(format, step))
        .collect();
    let rounds = boundaries.iter().map(Vec::len).max().unwrap_or_default();
    let mut failures = 0;
    for round in 0..rounds * 2 {
        let places = boundaries.clone();
        let cut = move |step: usize| {
            let at = places.get(step)?.get(round / 2)?;
            Some(at + round % 2)
        };
        let (run, failed) = hold(format, Manner::default(), Arc::new(cut)).await;
        failures += failed;
        assert_eq!(shown(&run), shown(&whole), "{format:?}, round {round}");
        // The chat format may lose its usage, which is estimated then.
        if format != Format::OpenAiChat {
            assert_eq!(run.tokens_known(), whole.tokens_known(), "{round}");
        }
    }
    assert!(failures > rounds, "{failures} cuts were felt");
    let (nasty, _) = hold(format, Manner::nasty(), none.clone()).await;
    assert_eq!(shown(&nasty), shown(&whole), "{format:?}, byte by byte");
}

#[tokio::test]
async fn a_chat_whose_streams_are_cut_comes_to_the_same_state() {
    cut_everywhere(Format::OpenAiChat).await;
}

#[tokio::test]
async fn a_conversation_in_responses_whose_streams_are_cut_comes_to_the_same_state() {
    cut_everywhere(Format::OpenAiResponses).await;
}

#[tokio::test]
async fn a_conversation_in_messages_whose_streams_are_cut_comes_to_the_same_state() {
    cut_everywhere(Format::Anthropic).await;
}

#[tokio::test]
async fn a_conversation_with_gemini_whose_streams_are_cut_comes_to_the_same_state() {
    cut_everywhere(Format::Gemini).await;
}
