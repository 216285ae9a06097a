//! The core tells a format where a message stands, also when it goes on behind what is frozen:
//! then the bytes are those of a request that is made anew.

use longrein_core::compile::{Compiled, Known, compile};
use longrein_core::dialect::Dialect;
use longrein_core::run::Run;
use longrein_models::anthropic::AnthropicDialect;
use longrein_models::gemini::GeminiDialect;
use longrein_models::openai_chat::{ChatDialect, quirks};
use longrein_models::openai_responses::ResponsesDialect;
use longrein_models::schema::SchemaDialect;
use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Block, Origin, StopReason, Trust, Usage};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionProposed, ActionStarted, ContextCompiled, Fragment,
    ModelRequested, ModelResponded, RunCreated, Section, ToolsRevealed, TurnStarted, TurnSteered,
};
use longrein_protocol::gate::{ActionFacts, Actor};
use longrein_protocol::tool::{Effect, IndexKind, IndexLine, Repeat};
use longrein_protocol::{
    ActionId, BlobHash, Body, Event, Payload, RunId, ToolErrorClass, ToolSpec,
};
use serde_json::{Value, json};

fn text(words: &str) -> Body {
    Body::Text(words.to_owned())
}

fn server(name: &str, text: &str) -> IndexLine {
    IndexLine {
        kind: IndexKind::Server,
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// A run that is told step by step, with the requests of a format.
struct Story<'d> {
    run: Run,
    dialect: &'d dyn Dialect,
    /// The index that the first request began with.
    index: Vec<IndexLine>,
    /// The bytes of the last request up to its tail.
    front: String,
}

impl<'d> Story<'d> {
    fn new(dialect: &'d dyn Dialect) -> Self {
        let mut story = Self {
            run: Run::default(),
            dialect,
            index: vec![server("lab", "12 tools, such as weigh \"it\"")],
            front: String::new(),
        };
        let agent =
            json!({"name": "test", "instructions": "Be brief.", "tools": {"allow": ["look"]}});
        story.tell(RunCreated {
            agent: serde_json::from_value(agent).unwrap(),
            agent_hash: BlobHash::of(b"agent"),
            model: "test/model".into(),
            window_tokens: 100_000,
            harness: "0".into(),
            workspace: "w".into(),
            project: None,
            price: None,
            takes: Default::default(),
            tainted: false,
            private: false,
            depth: 0,
            parent: None,
            root: None,
            copies: None,
        });
        let look = json!({
            "name": "look", "description": "Looks", "schema": {"type": "object"},
            "effect": "read", "repeat": "repeatable", "timeout_ms": 1, "result_tokens": 100,
        });
        let tools: Vec<ToolSpec> = vec![serde_json::from_value(look).unwrap()];
        story.tell(TurnStarted {
            input: text("Compare \"them\"."),
            title: String::new(),
            attachments: Vec::new(),
        });
        let index = story.index.clone();
        story.tell(ToolsRevealed {
            tools,
            index,
            notes: Vec::new(),
        });
        story
    }

    /// There is more than the model was told of.
    fn more(&mut self) {
        let tools = self.run.tools.clone();
        let index = vec![server("lab", "13 tools"), server("arm", "20 tools")];
        self.tell(ToolsRevealed {
            tools,
            index,
            notes: Vec::new(),
        });
    }

    fn tell(&mut self, payload: impl Into<Payload>) {
        let event = Event {
            run: RunId::from_parts(1, 1),
            seq: self.run.seq + 1,
            at: 1_000,
            payload: payload.into(),
        };
        self.run.check(&event).unwrap();
        self.run.apply(&event);
    }

    /// The bytes of a request, and how many of them are frozen.
    fn bytes(run: &Run, compiled: &Compiled) -> (String, usize) {
        let content = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Blob { .. } => panic!("the story is short"),
        };
        let kept = run.fragments[..compiled.keep as usize].iter();
        let mut bytes: String = kept.map(|fragment| content(&fragment.body)).collect();
        let mut frozen = bytes.len();
        for piece in &compiled.add {
            bytes += &piece.text;
            if !matches!(piece.part, Section::Tail | Section::Closing) {
                frozen = bytes.len();
            }
        }
        (bytes, frozen)
    }

    /// Asks the model: the request goes on where the last one ended.
    fn ask(&mut self) {
        let content = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Blob { .. } => panic!("the story is short"),
        };
        let known = Known {
            text: &content,
            base64: &|_| None,
        };
        let compiled = compile(&self.run, self.dialect, &known);
        let (bytes, frozen) = Self::bytes(&self.run, &compiled);
        let parsed: Result<Value, _> = serde_json::from_str(&bytes);
        assert!(parsed.is_ok(), "{bytes}");
        assert!(bytes.starts_with(&self.front), "{bytes}\n{}", self.front);

        let mut anew = self.run.clone();
        anew.fragments.clear();
        anew.index.clone_from(&self.index);
        let whole = compile(&anew, self.dialect, &known);
        assert_eq!(whole.keep, 0);
        assert_eq!(bytes, Self::bytes(&anew, &whole).0);
        let listed = whole
            .add
            .iter()
            .filter(|piece| piece.part == Section::Index);
        let listed: String = listed.map(|piece| piece.text.as_str()).collect();
        assert!(listed.contains(r#"weigh \"it\""#), "{listed}");

        self.front = bytes[..frozen].to_owned();
        let add = compiled.add.iter().map(|piece| Fragment {
            part: piece.part,
            body: text(&piece.text),
            media_bytes: piece.media_bytes,
            media_tokens: piece.media_tokens,
            origin: None,
            trust: None,
        });
        self.tell(ContextCompiled {
            keep: compiled.keep,
            add: add.collect(),
            items: compiled.items,
            tokens: 100,
        });
        self.tell(ModelRequested {
            model: "test/model".into(),
            attempt: 1,
            body_sha256: String::new(),
            body_bytes: bytes.len() as u32,
            reserved_in: 125,
            reserved_out: 50,
            reserved_micro: 0,
        });
    }

    fn reply(&mut self, blocks: Vec<Block>, stop: StopReason) {
        self.tell(ModelResponded {
            blocks,
            stop,
            usage: Usage {
                input: 100,
                output: 10,
                ..Usage::default()
            },
            response_id: String::new(),
            latency_ms: 1,
        });
    }

    fn act(&mut self, id: &str, error: Option<ToolErrorClass>) {
        let action = ActionId(id.to_owned());
        self.tell(ActionProposed {
            action: action.clone(),
            call: id.to_owned(),
            tool: "look".into(),
            arguments: text("{}"),
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            by: Actor::Model,
            undoes: None,
            within: None,
        });
        self.tell(ActionDecided {
            action: action.clone(),
            decision: Decision::Allow,
            why: String::new(),
            checks: Vec::new(),
            facts: ActionFacts::default(),
        });
        self.tell(ActionStarted {
            action: action.clone(),
            key: "key".into(),
            attempt: 1,
            credentials: Vec::new(),
        });
        self.tell(ActionFinished {
            action,
            error,
            result: text("seen"),
            shown: None,
            file: None,
            media: Vec::new(),
            outcome: String::new(),
            origin: Origin::Harness,
            trust: Trust::Trusted,
            receipt: None,
            latency_ms: 1,
        });
    }
}

fn call(id: &str) -> Block {
    Block::ToolUse {
        id: id.into(),
        name: "look".into(),
        arguments: text("{}"),
        raw: None,
    }
}

/// Four requests, with an index that changes in the middle and stays in them as it was: after words, after two results at once, after a person who speaks behind a
/// result, and after one more result.
fn tell(dialect: &dyn Dialect) {
    let mut story = Story::new(dialect);
    story.ask();
    story.reply(vec![call("a"), call("b")], StopReason::ToolUse);
    story.act("a", None);
    story.act("b", Some(ToolErrorClass::Failed));
    story.ask();
    story.more();
    story.reply(vec![call("c")], StopReason::ToolUse);
    story.act("c", None);
    story.tell(TurnSteered {
        input: text("Only the second."),
        attachments: Vec::new(),
    });
    story.ask();
    story.reply(vec![call("d")], StopReason::ToolUse);
    story.act("d", None);
    story.ask();
}

#[test]
fn a_request_that_goes_on_has_the_bytes_of_one_that_is_made_anew() {
    let mistral = ChatDialect::new(quirks::MISTRAL, "mistral-large-latest");
    tell(&ChatDialect::default());
    tell(&mistral);
    tell(&SchemaDialect::new(ChatDialect::default()));
    tell(&ResponsesDialect::new("gpt-5.6-sol"));
    tell(&AnthropicDialect::new("claude-opus-5-5"));
    tell(&GeminiDialect::new("gemini-4-argon"));
}
