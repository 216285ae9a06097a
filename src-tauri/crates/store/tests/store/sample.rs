//! Events as a run really has them, made of a seed: the same seed, the same events.

use longrein_protocol::agent::{AgentSpec, Decision};
use longrein_protocol::block::{Block, Origin, StopReason, Trust, Usage};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionProposed, ActionStarted, ContextCompiled, Fragment,
    ModelRequested, ModelResponded, PlanUpdated, RunCreated, Section, SourceCaptured, TurnStarted,
};
use longrein_protocol::source::{PlanItem, PlanState, SourceMeta, TextRange};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, BlobHash, Body, Event, Millis, Payload, RunId, SourceId};
use serde_json::json;

/// A small generator of numbers (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// One run that goes on and on: each step asks for one action.
pub struct Sample {
    pub run: RunId,
    pub at: Millis,
    pub seq: u32,
    pub steps: u32,
    numbers: Numbers,
    words: &'static [&'static str],
    kept: u32,
    last: Vec<String>,
}

impl Sample {
    /// A run about `words`.
    pub fn new(seed: u64, words: &'static [&'static str]) -> Self {
        let mut numbers = Numbers(seed);
        let at = 1_764_000_000_000 + numbers.below(1_000_000_000) as Millis;
        Self {
            run: RunId::from_parts(at, numbers.wide()),
            at,
            seq: 0,
            steps: 0,
            numbers,
            words,
            kept: 3,
            last: Vec::new(),
        }
    }

    pub fn event(&mut self, payload: impl Into<Payload>) -> Event {
        self.seq += 1;
        self.at += self.numbers.below(40) as Millis;
        Event {
            run: self.run,
            seq: self.seq,
            at: self.at,
            payload: payload.into(),
        }
    }

    pub fn text(&mut self, words: u64) -> String {
        let mut text = String::new();
        for _ in 0..words {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.numbers.pick(self.words));
        }
        text
    }

    /// What a run begins with.
    pub fn beginning(&mut self) -> Vec<Event> {
        let agent: AgentSpec = serde_json::from_value(json!({"name": "research"})).unwrap();
        let title = self.text(9);
        let created = RunCreated {
            project: None,
            price: None,
            takes: Default::default(),
            tainted: false,
            private: false,
            depth: 0,
            root: None,
            copies: None,
            agent_hash: BlobHash::of(b"research"),
            agent,
            model: "local/any".to_owned(),
            window_tokens: 32_768,
            harness: "0.1.0".to_owned(),
            workspace: format!("Longrein/{}", self.run),
            parent: None,
        };
        let input = Body::Text(title.clone());
        vec![
            self.event(created),
            self.event(TurnStarted {
                input,
                title,
                attachments: Vec::new(),
            }),
        ]
    }

    /// The events of the next step, as they are committed.
    pub fn step(&mut self) -> Vec<Vec<Event>> {
        self.steps += 1;
        let request = vec![self.compiled(), self.requested()];
        let action = ActionId::from_random(self.numbers.wide());
        let call = format!("call_{:024x}", self.numbers.wide() >> 32);
        let tool =
            self.numbers
                .pick(&["read_file", "search_library", "list_files", "search_files"]);
        let arguments = match tool {
            "search_library" => json!({"query": self.text(5), "limit": 8}),
            "search_files" => json!({"pattern": self.text(1)}),
            "list_files" => json!({"path": "."}),
            _ => json!({"path": format!("notes/{}.md", self.text(1))}),
        }
        .to_string();
        let said = self.text(12);
        let response = vec![
            self.responded(&said, &call, tool, &arguments),
            self.proposed(&action, &call, tool, &arguments),
            self.decided(&action),
            self.started(&action),
        ];
        let result = self.text(28);
        let finished = vec![self.finished(&action, tool, &result)];
        let (said, arguments, result) = (quoted(&said), quoted(&arguments), quoted(&result));
        let function = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let calls = format!(r#"[{{"id":"{call}","type":"function","function":{function}}}]"#);
        self.last = vec![
            format!(r#",{{"role":"assistant","content":{said},"tool_calls":{calls}}}"#),
            format!(r#",{{"role":"tool","tool_call_id":"{call}","content":{result}}}"#),
        ];
        vec![request, response, finished]
    }

    fn compiled(&mut self) -> Event {
        let fragment = |part, text: String| Fragment {
            part,
            body: Body::of(text).0,
            media_bytes: 0,
            media_tokens: 0,
            origin: None,
            trust: None,
        };
        let mut add: Vec<Fragment> = std::mem::take(&mut self.last)
            .into_iter()
            .map(|message| fragment(Section::Conversation, message))
            .collect();
        let keep = self.kept;
        self.kept += add.len() as u32;
        let doing = self.text(6);
        let tail = format!("[harness] step {} of 80\n- doing: {doing}", self.steps);
        let tail = format!(r#",{{"role":"user","content":{}}}"#, quoted(&tail));
        add.push(fragment(Section::Tail, tail));
        add.push(fragment(
            Section::Closing,
            r#"],"max_tokens":8192}"#.to_owned(),
        ));
        let compiled = ContextCompiled {
            keep,
            add,
            items: self.kept,
            tokens: 2_000 + self.steps * 130,
        };
        self.event(compiled)
    }

    fn requested(&mut self) -> Event {
        let bytes = self.numbers.wide().to_be_bytes();
        let requested = ModelRequested {
            reserved_micro: 0,
            model: "local/any".to_owned(),
            attempt: 1,
            body_sha256: BlobHash::of(&bytes).to_string(),
            body_bytes: 8_000 + self.steps * 500,
            reserved_in: 2_500 + self.steps * 160,
            reserved_out: 8_192,
        };
        self.event(requested)
    }

    fn responded(&mut self, said: &str, call: &str, tool: &str, arguments: &str) -> Event {
        let blocks = vec![
            Block::Text {
                text: Body::Text(said.to_owned()),
                raw: None,
            },
            Block::ToolUse {
                id: call.to_owned(),
                name: tool.to_owned(),
                arguments: Body::Text(arguments.to_owned()),
                raw: None,
            },
        ];
        let responded = ModelResponded {
            blocks,
            stop: StopReason::ToolUse,
            usage: Usage {
                input: 2_000 + self.steps * 130,
                output: 40 + self.numbers.below(80) as u32,
                cached: 1_900 + self.steps * 128,
                ..Usage::default()
            },
            response_id: format!("chatcmpl-{:024x}", self.numbers.wide() >> 32),
            latency_ms: 300 + self.numbers.below(2_000) as u32,
        };
        self.event(responded)
    }

    fn proposed(&mut self, action: &ActionId, call: &str, tool: &str, arguments: &str) -> Event {
        self.event(ActionProposed {
            by: longrein_protocol::gate::Actor::Model,
            undoes: None,
            action: action.clone(),
            call: call.to_owned(),
            tool: tool.to_owned(),
            arguments: Body::Text(arguments.to_owned()),
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            within: None,
        })
    }

    fn decided(&mut self, action: &ActionId) -> Event {
        self.event(ActionDecided {
            facts: longrein_protocol::gate::ActionFacts::default(),
            action: action.clone(),
            decision: Decision::Allow,
            why: "it only reads".to_owned(),
            checks: Vec::new(),
        })
    }

    fn started(&mut self, action: &ActionId) -> Event {
        let key = BlobHash::of(format!("{} {action}", self.run).as_bytes()).to_string();
        self.event(ActionStarted {
            credentials: Vec::new(),
            action: action.clone(),
            key: key[..32].to_owned(),
            attempt: 1,
        })
    }

    fn finished(&mut self, action: &ActionId, tool: &str, result: &str) -> Event {
        let finished = ActionFinished {
            action: action.clone(),
            error: None,
            result: Body::Text(result.to_owned()),
            shown: None,
            file: None,
            media: Vec::new(),
            outcome: format!("{} lines", self.numbers.below(90)),
            origin: Origin::Tool {
                tool: tool.to_owned(),
                place: None,
            },
            trust: Trust::Trusted,
            receipt: None,
            latency_ms: self.numbers.below(90) as u32,
        };
        self.event(finished)
    }

    /// Events that come now and then.
    pub fn seldom(&mut self, action: &ActionId) -> Vec<Event> {
        let blob = |bytes: u32, seed: u64| Body::Blob {
            blob: BlobHash::of(&seed.to_be_bytes()),
            bytes,
        };
        let title = self.text(6);
        let captured = SourceCaptured {
            source: SourceId(1 + self.numbers.below(30) as u32),
            action: action.clone(),
            meta: SourceMeta {
                title,
                file: Some(format!("{}.md", self.text(1))),
                media_type: "text/markdown".to_owned(),
                private: true,
                ..SourceMeta::default()
            },
            bytes: blob(
                4_000 + self.numbers.below(9_000) as u32,
                self.numbers.next(),
            ),
            text: blob(
                4_000 + self.numbers.below(9_000) as u32,
                self.numbers.next(),
            ),
            range: TextRange {
                start: self.numbers.below(3_000) as u32,
                end: 3_000 + self.numbers.below(900) as u32,
                page: None,
            },
        };
        let items = [PlanState::Done, PlanState::Doing, PlanState::Open].map(|state| PlanItem {
            text: self.text(5),
            state,
            evidence: None,
        });
        vec![
            self.event(captured),
            self.event(PlanUpdated {
                items: items.into(),
            }),
        ]
    }
}

/// A text as JSON writes it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
