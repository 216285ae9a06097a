//! A secret that this process knows reaches no event, no blob and no screen, however it comes.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_core::run::Phase;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::body::BlobHash;
use longrein_protocol::event::Outcome;
use longrein_protocol::source::{SourceMeta, TextRange};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_runtime::ports::{
    Captured, Fact, LiveText, Model, ModelCall, ModelError, ModelReply, NewArtifact, Part,
    ReplyBlock, ToolError, ToolOutput,
};
use longrein_store::Log as _;
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, TestWorld, call, say};
use serde_json::{Value, json};

use crate::stage::Stage;

const KEY: &str = "sk-test-0123456789";
/// The same as base64 has it.
const ENCODED: &str = "c2stdGVzdC0wMTIzNDU2Nzg5";

fn output() -> ToolOutput {
    let page = format!("<p>{KEY}</p>{}", "x".repeat(2_000));
    let text = format!("The key is {KEY}. {}", "x".repeat(2_000));
    let range = TextRange {
        start: 0,
        end: text.len() as u32,
        page: None,
    };
    let passage = Captured {
        meta: SourceMeta {
            title: format!("About {KEY}"),
            authors: vec![KEY.to_owned()],
            url: Some(format!("https://example.org/?key={KEY}")),
            file: Some(KEY.to_owned()),
            media_type: "text/html".to_owned(),
            ..SourceMeta::default()
        },
        bytes: page.into_bytes().into(),
        text: text.into(),
        range,
    };
    let artifact = NewArtifact {
        path: "a.html".to_owned(),
        title: KEY.to_owned(),
        media_type: "text/html".to_owned(),
        original: format!("{KEY}{}", "y".repeat(2_000)).into_bytes(),
        rendered: format!("{ENCODED}{}", "y".repeat(2_000)).into_bytes(),
        rendered_path: "a.rendered.html".to_owned(),
        ledger: Vec::new(),
    };
    ToolOutput {
        parts: vec![
            Part::Text(format!("{KEY} and {ENCODED}")),
            Part::Passage(Box::new(passage)),
        ],
        outcome: format!("found {KEY}"),
        facts: vec![Fact::Artifact(Box::new(artifact))],
        receipt: Some(KEY.to_owned()),
        place: Some(format!("https://{KEY}@example.org")),
        skill: None,
        origin: None,
        file: Some(format!("results/{KEY}.txt")),
    }
}

/// Every byte of the log: the events, and all that they refer to.
async fn whole_log(stage: &Stage) -> Vec<u8> {
    let events = serde_json::to_string(&stage.events()).unwrap();
    let mut whole = events.clone().into_bytes();
    for piece in events.split("\"blob\":\"").skip(1) {
        let hash: BlobHash = serde_json::from_value(Value::from(&piece[..64])).unwrap();
        whole.extend_from_slice(&stage.log.blob(hash).await.unwrap());
    }
    whole
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[tokio::test(start_paused = true)]
async fn no_event_and_no_blob_holds_a_secret_whatever_said_it() {
    let tool = |name: &str| FakeTool::new(name, Effect::Read, Repeat::Repeatable);
    let page = Arc::new(tool("page").answering(|_| Ok(output())));
    let fails =
        Arc::new(tool("fails").answering(|_| Err(ToolError::uncertain(format!("No {KEY}")))));
    let unnamed = ReplyBlock::ToolUse {
        id: format!("id-{KEY}"),
        name: format!("no_{KEY}"),
        arguments: format!(r#"{{"q":"{KEY}"}}"#),
        raw: None,
    };
    let long = format!("It is {KEY}. {}", "z".repeat(2_000));
    let model = Arc::new(ScriptedModel::new([
        call("page", json!({"q": KEY})),
        call("fails", json!({})),
        Scripted::reply(vec![unnamed]),
        Scripted::new(|_| {
            Err(ModelError {
                class: ModelErrorClass::Auth,
                message: format!("bad key {KEY}"),
                remedy: format!("not {KEY}"),
                retry_after: None,
                unreachable: false,
                unsent: false,
            })
        }),
        say(&long),
    ]));
    let world = TestWorld::new(model.clone(), [page, fails]).knowing([KEY.to_owned()]);
    let mut stage = Stage::new(world);
    let mut agent = stage.world.agent();
    agent.instructions = format!("Use {KEY}.");
    stage
        .drive(agent, &format!("What is {KEY}?"))
        .await
        .unwrap();
    let text = format!("Again, {KEY}");
    let run = stage.on_wish(Wish::Say { text }).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let log = whole_log(&stage).await;
    assert!(!holds(&log, KEY) && !holds(&log, ENCODED));
    for request in model.seen() {
        assert!(!request.contains(KEY), "{}", request.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_says_a_secret_is_kept_by_its_words_alone() {
    let signed = |text: &str, raw: &str| ReplyBlock::Thinking {
        text: text.to_owned(),
        raw: Some(raw.to_owned()),
    };
    let told = vec![
        signed("Hm.", r#"{"signature":"sig-one"}"#),
        signed("", r#"{"signature":"sig-two"}"#),
        ReplyBlock::ToolUse {
            id: "a".to_owned(),
            name: "look".to_owned(),
            arguments: format!(r#"{{"q":"{KEY}"}}"#),
            raw: Some(format!(r#"{{"q":"{KEY}","signature":"sig-three"}}"#)),
        },
    ];
    let untold = vec![
        signed("Well.", r#"{"signature":"sig-four"}"#),
        ReplyBlock::ToolUse {
            id: "b".to_owned(),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
            raw: None,
        },
    ];
    let model = Arc::new(ScriptedModel::new([
        Scripted::reply(told),
        Scripted::reply(untold),
        say("Done."),
    ]));
    let look = Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable));
    let world = TestWorld::new(model.clone(), [look]).knowing([KEY.to_owned()]);
    let mut stage = Stage::new(world);
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let log = serde_json::to_string(&stage.events()).unwrap();
    for lost in ["sig-one", "sig-two", "sig-three"] {
        assert!(!log.contains(lost), "{lost}");
    }
    assert!(
        log.contains("sig-four"),
        "a reply without a secret stays whole"
    );
    assert!(log.contains("Hm."));
    let last = model.seen().pop().unwrap();
    assert!(last.contains(&"*".repeat(KEY.len())), "{}", last.text());
}

/// A model that streams its words in these pieces.
struct Piecewise {
    inner: ScriptedModel,
    pieces: Vec<&'static str>,
}

#[async_trait]
impl Model for Piecewise {
    fn dialect(&self) -> &dyn Dialect {
        self.inner.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        for piece in &self.pieces {
            call.live.text(piece);
            call.live.thinking(piece);
        }
        self.inner.send(call).await
    }
}

#[derive(Default)]
struct Screen(Mutex<(String, String)>);

impl LiveText for Screen {
    fn text(&self, more: &str) {
        self.0.lock().unwrap().0.push_str(more);
    }

    fn thinking(&self, more: &str) {
        self.0.lock().unwrap().1.push_str(more);
    }
}

#[tokio::test(start_paused = true)]
async fn the_screen_is_shown_no_secret_that_comes_in_pieces() {
    let model = Piecewise {
        inner: ScriptedModel::new([say("Done.")]),
        pieces: vec!["It is sk-te", "st-01", "23456789, yes. ", "And so on."],
    };
    let screen = Arc::new(Screen::default());
    let world = TestWorld::new(Arc::new(model), [])
        .knowing([KEY.to_owned()])
        .showing(screen.clone());
    let mut stage = Stage::new(world);
    let agent = stage.world.agent();
    stage.drive(agent, "Go.").await.unwrap();
    let shown = screen.0.lock().unwrap();
    let expected = format!("It is {}, yes. And so on.", "*".repeat(KEY.len()));
    assert!(shown.0.starts_with(&expected), "{}", shown.0);
    assert!(shown.1.starts_with(&expected), "{}", shown.1);
}
