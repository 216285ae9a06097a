//! Runs that are made up as they go: whatever a log may hold happens, as far as the state allows it.

use longrein_core::compact;
use longrein_core::compile::Compiled;
use longrein_core::run::{ActionStage, PendingCall, Phase, Run};
use longrein_protocol::agent::Decision;
use longrein_protocol::block::{ModelErrorClass, Origin, StopReason, Trust, Usage};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionProposed, ActionRejected, ActionStarted, ContextCompacted,
    ContextCompiled, Fragment, HandoffReason, MediaReduced, ModelFailed, ModelRequested,
    ModelResponded, ModelSwitched, NoticeGiven, Payload, Price, ResumeReason, RunCreated,
    RunForked, RunHandedOff, RunPaused, RunResumed, ToolsRevealed, TurnStarted, TurnSteered,
};
use longrein_protocol::gate::{ActionFacts, Actor};
use longrein_protocol::media::Takes;
use longrein_protocol::tool::{Effect, Repeat, ToolErrorClass};
use longrein_protocol::{
    ActionId, BlobHash, Block, Body, Event, Media, MediaKind, RunId, ToolSpec,
};
use serde_json::json;

/// Chance out of a seed.
pub struct Dice(u64);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % count
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// A run that is made up as it goes.
pub struct Play {
    /// As it stands.
    pub run: Run,
    dice: Dice,
    /// Which model speaks; its raw blocks hold its number.
    pub model: u32,
    calls: u32,
}

fn text(words: impl Into<String>) -> Body {
    Body::Text(words.into())
}

impl Play {
    /// Begins one.
    pub fn new(seed: u64) -> Self {
        let mut play = Self {
            run: Run::default(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            model: 0,
            calls: 0,
        };
        let agent = json!({
            "name": "test", "tools": {"allow": ["look"]}, "model": {"window_tokens": 4_000},
            "budget": {"steps": 10_000},
        });
        play.tell(RunCreated {
            agent: serde_json::from_value(agent).unwrap(),
            agent_hash: BlobHash::of(b"agent"),
            model: "test/0".into(),
            window_tokens: 4_000,
            harness: "0".into(),
            workspace: "w".into(),
            project: None,
            price: None,
            takes: Takes::default(),
            tainted: false,
            private: false,
            depth: 0,
            parent: None,
            root: None,
            copies: None,
        });
        play.tell(TurnStarted {
            input: text("Begin."),
            title: String::new(),
            attachments: Vec::new(),
        });
        let look = json!({
            "name": "look", "description": "Looks", "schema": {"type": "object"},
            "effect": "read", "repeat": "repeatable", "timeout_ms": 1, "result_tokens": 100,
        });
        let tools: Vec<ToolSpec> = vec![serde_json::from_value(look).unwrap()];
        play.tell(ToolsRevealed {
            notes: Vec::new(),
            tools,
            ..ToolsRevealed::default()
        });
        play
    }

    /// Records what the state allows; says whether it does.
    fn tell(&mut self, payload: impl Into<Payload>) -> bool {
        let event = Event {
            run: RunId::from_parts(1, 1),
            seq: self.run.seq + 1,
            at: 1_000,
            payload: payload.into(),
        };
        let allowed = self.run.check(&event).is_ok();
        if allowed {
            self.run.apply(&event);
        }
        allowed
    }

    fn media(&mut self) -> Vec<Media> {
        let count = if self.dice.is(3) {
            self.dice.below(3)
        } else {
            0
        };
        (0..count)
            .map(|_| {
                let kind = [MediaKind::Image, MediaKind::Document, MediaKind::Audio]
                    [self.dice.below(3) as usize];
                let media_type = match kind {
                    MediaKind::Image => "image/png",
                    MediaKind::Document => "application/pdf",
                    MediaKind::Audio => "audio/wav",
                };
                Media {
                    kind,
                    media_type: media_type.to_owned(),
                    name: "thing".to_owned(),
                    body: Body::Blob {
                        blob: BlobHash([self.dice.below(4) as u8; 32]),
                        bytes: 3_000_000,
                    },
                    width: Some(100),
                    height: Some(100),
                    pages: None,
                    text: self.dice.is(2).then(|| text("its text")),
                }
            })
            .collect()
    }

    /// A raw form in any provider's way, marked with the model that said it.
    fn raw(&mut self, id: &str, name: &str) -> Option<Body> {
        let mark = format!("SIGNED-BY-{}", self.model);
        let raw = match self.dice.below(6) {
            0 => return None,
            1 => "reasoning_content".to_owned(),
            2 => json!({"type": "thinking", "thinking": "hm", "signature": mark}).to_string(),
            3 => json!({"type": "reasoning", "id": mark, "summary": [], "encrypted_content": "x"})
                .to_string(),
            4 => format!(r#"[{{"text":"hm","thoughtSignature":"{mark}"}}]"#),
            _ => json!({"functionCall": {"name": name, "args": {}, "id": id}, "thoughtSignature": mark})
                .to_string(),
        };
        Some(text(raw))
    }

    fn blocks(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for _ in 0..self.dice.below(3) {
            let raw = self.raw("none", "look");
            blocks.push(match self.dice.below(2) {
                0 => Block::Thinking {
                    text: text("hm"),
                    raw,
                },
                _ => Block::Text {
                    text: text(["", " ", "words"][self.dice.below(3) as usize]),
                    raw,
                },
            });
        }
        for _ in 0..self.dice.below(4) {
            // Now and then a provider gives one id twice.
            self.calls += u32::from(!self.dice.is(12));
            let id = format!("call_{}", self.calls);
            let name = if self.dice.is(6) { "nothing" } else { "look" };
            let raw = self.raw(&id, name);
            // What a call's own form says of its id is true.
            let raw = raw.filter(|raw| match raw {
                Body::Text(raw) => {
                    raw.contains("functionCall") && raw.contains(&format!("\"{id}\""))
                }
                Body::Blob { .. } => false,
            });
            let arguments = text(["{}", "{\"a\":", ""][self.dice.below(3) as usize]);
            blocks.push(Block::ToolUse {
                id,
                name: name.to_owned(),
                arguments,
                raw,
            });
        }
        blocks
    }

    /// Asks the model, who answers, fails, or is never heard of.
    pub fn ask(&mut self, compiled: &Compiled) {
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
        if self.dice.is(10) {
            return;
        }
        self.tell(ModelRequested {
            model: "test/0".into(),
            attempt: 1,
            body_sha256: String::new(),
            body_bytes: 1,
            reserved_in: 1,
            reserved_out: 1,
            reserved_micro: 0,
        });
        match self.dice.below(9) {
            0 => {
                self.tell(RunResumed {
                    why: ResumeReason::Interrupted,
                });
            }
            1 => {
                let class = [
                    ModelErrorClass::MediaRefused,
                    ModelErrorClass::ContextTooLong,
                ][self.dice.below(2) as usize];
                let failed = json!({
                    "class": class, "message": "no", "remedy": "", "latency_ms": 1,
                });
                self.tell(serde_json::from_value::<ModelFailed>(failed).unwrap());
            }
            _ => {
                let blocks = self.blocks();
                self.tell(ModelResponded {
                    blocks,
                    stop: StopReason::End,
                    usage: Usage {
                        input: 100,
                        output: 10,
                        ..Usage::default()
                    },
                    response_id: String::new(),
                    latency_ms: 1,
                });
            }
        }
    }

    /// One more thing happens.
    pub fn deed(&mut self) {
        match self.dice.below(22) {
            0 => {
                let attachments = self.media();
                self.tell(TurnSteered {
                    input: text("Also."),
                    attachments,
                });
            }
            1 => {
                let attachments = self.media();
                self.tell(TurnStarted {
                    input: text("Anew."),
                    title: String::new(),
                    attachments,
                });
            }
            2 => {
                self.tell(NoticeGiven {
                    text: text("A notice."),
                });
            }
            3 => {
                self.tell(RunPaused {});
            }
            4 => {
                self.tell(RunHandedOff {
                    reason: HandoffReason::Loop,
                    message: "x".into(),
                    remedy: String::new(),
                    digest: None,
                });
            }
            5 => {
                self.tell(RunResumed {
                    why: ResumeReason::Interrupted,
                });
            }
            6 if self.dice.is(2) => self.switch(),
            7 if self.dice.is(2) => self.fork(),
            8 => self.compact(),
            9 => self.reduce(),
            _ => self.act(),
        }
        if self.run.phase != Phase::Going {
            self.tell(RunResumed {
                why: ResumeReason::Asked,
            });
        }
        if matches!(self.run.phase, Phase::Finished(_)) {
            self.tell(TurnStarted {
                input: text("More."),
                title: String::new(),
                attachments: Vec::new(),
            });
        }
    }

    fn switch(&mut self) {
        let takes = Takes {
            images: [None, Some(true), Some(false)][self.dice.below(3) as usize],
            ..Takes::default()
        };
        let told = self.tell(ModelSwitched {
            from: format!("test/{}", self.model),
            to: format!("test/{}", self.model + 1),
            why: "down".into(),
            window_tokens: 4_000,
            price: None,
            takes,
        });
        self.model += u32::from(told);
    }

    fn fork(&mut self) {
        let model = self.dice.is(2).then(|| format!("test/{}", self.model + 1));
        let switches = model.is_some();
        let told = self.tell(RunForked {
            from_run: RunId::from_parts(1, 1),
            from_seq: self.run.seq,
            workspace: "fork".into(),
            agent: None,
            model,
            price: None::<Price>,
            takes: Takes::default(),
            results: Vec::new(),
        });
        self.model += u32::from(told && switches);
        let tools = self.run.tools.clone();
        self.tell(RunResumed {
            why: ResumeReason::Asked,
        });
        self.tell(ToolsRevealed {
            notes: Vec::new(),
            tools,
            ..ToolsRevealed::default()
        });
    }

    fn compact(&mut self) {
        let half = self.run.estimate_at_most(self.run.conversation.bytes) / 2;
        let compacted: Option<ContextCompacted> = compact::down_to(&self.run, half);
        if let Some(compacted) = compacted {
            self.tell(compacted);
        }
    }

    fn reduce(&mut self) {
        let shown: Vec<Media> = self
            .run
            .conversation
            .shown_media()
            .map(|(_, media)| media.clone())
            .collect();
        if let Some(media) = shown.first() {
            let copy = self.dice.is(2).then(|| Media {
                media_type: "image/jpeg".to_owned(),
                ..media.clone()
            });
            self.tell(MediaReduced {
                media: media.hash(),
                copy,
                why: String::new(),
            });
        }
    }

    /// The first thing that an open step owes, or the end of one of its actions.
    fn act(&mut self) {
        if let Some(call) = self.run.pending.front().cloned() {
            return self.propose(call);
        }
        let open: Vec<(ActionId, ActionStage)> = self
            .run
            .actions
            .iter()
            .filter(|action| action.stage != ActionStage::Closed)
            .map(|action| (action.id.clone(), action.stage))
            .collect();
        if open.is_empty() {
            return;
        }
        let (action, stage) = open[self.dice.below(open.len() as u64) as usize].clone();
        match stage {
            ActionStage::Started => self.finish(action),
            _ => self.start(action),
        }
    }

    fn propose(&mut self, call: PendingCall) {
        self.calls += 1;
        let action = ActionId(format!("action-{}", self.run.seq));
        if self.dice.is(4) {
            self.tell(ActionRejected {
                action,
                call: call.call,
                tool: call.name,
                arguments: call.arguments,
                error: "no".into(),
                class: ToolErrorClass::InvalidArguments,
                within: None,
            });
            return;
        }
        let by = match self.dice.is(15) {
            true => Actor::Person,
            false => Actor::Model,
        };
        self.tell(ActionProposed {
            action,
            call: call.call,
            tool: call.name,
            arguments: call.arguments,
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            by,
            undoes: None,
            within: None,
        });
    }

    fn finish(&mut self, action: ActionId) {
        let media = self.media();
        let error = self.dice.is(4).then_some(ToolErrorClass::Failed);
        let result = "seen ".repeat(self.dice.below(200) as usize);
        self.tell(ActionFinished {
            action,
            error,
            result: text(result),
            shown: None,
            file: None,
            media,
            outcome: String::new(),
            origin: Origin::Tool {
                tool: "look".into(),
                place: None,
            },
            trust: Trust::Untrusted,
            receipt: None,
            latency_ms: 1,
        });
    }

    fn start(&mut self, action: ActionId) {
        self.tell(ActionDecided {
            action: action.clone(),
            decision: Decision::Allow,
            why: String::new(),
            checks: Vec::new(),
            facts: ActionFacts::default(),
        });
        let attempt = self.run.action(&action).map_or(0, |action| action.attempt) + 1;
        self.tell(ActionStarted {
            action,
            key: "key".into(),
            attempt,
            credentials: Vec::new(),
        });
    }
}
