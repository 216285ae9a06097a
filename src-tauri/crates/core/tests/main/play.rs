//! A run written as lines. Each line is an event; `a`, `b` … name actions of a step.
//!
//! ```text
//! created steps=4            reveal look mark       compiled     requested 2
//! turn Compare the indexes.  replies Some words.    asks a=look b=mark
//! propose a=look             decide a allow         start a      finish a ok
//! ```

use crate::cast::{created, tool, traits};
use longrein_core::run::Run;
use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Block, ModelErrorClass, Origin, StopReason, Trust, Usage};
use longrein_protocol::event::*;
use longrein_protocol::gate::{ActionFacts, Actor, Surface};
use longrein_protocol::source::CriterionResult;
use longrein_protocol::{ActionId, BlobHash, Body, Event, Payload, RunId, ToolErrorClass};
use serde_json::json;

/// Folds lines and returns the events with the state.
pub fn play(lines: &str) -> (Run, Vec<Event>) {
    let mut run = Run::default();
    let mut events = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let event = event(&run, line);
        run.check(&event)
            .unwrap_or_else(|illegal| panic!("{line}: {illegal}"));
        run.apply(&event);
        events.push(event);
    }
    (run, events)
}

/// The event that a line writes, as the next of a run.
pub fn event(run: &Run, line: &str) -> Event {
    let seq = run.seq + 1;
    Event {
        run: RunId::from_parts(1, 1),
        seq,
        at: i64::from(seq) * 1_000,
        payload: payload(line),
    }
}

fn payload(line: &str) -> Payload {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "created" => created(rest),
        "turn" => TurnStarted {
            input: text(rest),
            title: rest.to_owned(),
            attachments: Vec::new(),
        }
        .into(),
        "steer" => TurnSteered {
            input: text(rest),
            attachments: Vec::new(),
        }
        .into(),
        "reveal" => ToolsRevealed {
            notes: Vec::new(),
            tools: rest.split(' ').map(tool).collect(),
            ..ToolsRevealed::default()
        }
        .into(),
        "compiled" => ContextCompiled {
            keep: 0,
            add: Vec::new(),
            items: 1,
            tokens: 100,
        }
        .into(),
        "compacted" => compacted(rest),
        "requested" => requested(rest),
        "replies" => responded(
            vec![Block::Text {
                text: text(rest),
                raw: None,
            }],
            StopReason::End,
        ),
        "cut" => responded(
            vec![Block::Text {
                text: text(rest),
                raw: None,
            }],
            StopReason::Length,
        ),
        "silence" => responded(Vec::new(), StopReason::End),
        "asks" => responded(rest.split(' ').map(call).collect(), StopReason::ToolUse),
        "fails" => failed(rest),
        "abandoned" => ModelAbandoned {}.into(),
        "notice" => NoticeGiven { text: text(rest) }.into(),
        "resumed" => resumed(rest),
        "handoff" => handoff(rest),
        "paused" => RunPaused {}.into(),
        "cancelled" => RunCancelled {}.into(),
        _ => of_ending(word, rest),
    }
}

/// What limits, checks and people say of a run.
fn of_ending(word: &str, rest: &str) -> Payload {
    match word {
        "ended" => RunFinished {
            outcome: Outcome::Unverified,
            message: String::new(),
            by: None,
        }
        .into(),
        "taken" => RunFinished {
            outcome: Outcome::Unverified,
            message: String::new(),
            by: Some(Surface::Command),
        }
        .into(),
        "warned" => BudgetWarned {
            limit: serde_json::from_value(json!(rest)).expect("a limit"),
            used: 4,
            of: 5,
        }
        .into(),
        "exceeded" => BudgetExceeded {
            limit: serde_json::from_value(json!(rest)).expect("a limit"),
            used: 6,
            of: 5,
        }
        .into(),
        "raised" => BudgetRaised {
            limits: Limits {
                steps: rest.parse().ok(),
                ..Limits::default()
            },
            by: Surface::Command,
        }
        .into(),
        "waits" => waits(),
        "accepting" => AcceptanceRequested {
            text: rest.to_owned(),
        }
        .into(),
        "accepted" | "returned" => AcceptanceResolved {
            accepted: word == "accepted",
            note: text(rest),
            by: Surface::Window,
        }
        .into(),
        "loop" => LoopDetected {
            tool: rest.to_owned(),
            times: 3,
        }
        .into(),
        "verifying" => VerificationStarted { attempt: 1 }.into(),
        "verified" => verified(rest == "holds"),
        _ => of_action(word, rest),
    }
}

fn of_action(word: &str, rest: &str) -> Payload {
    let (id, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let action = ActionId(id.split('=').next().unwrap_or_default().to_owned());
    match word {
        "propose" => proposed(id),
        "reject" => ActionRejected {
            call: action.0.clone(),
            tool: "nothing".to_owned(),
            arguments: Body::default(),
            error: "no such tool".to_owned(),
            class: ToolErrorClass::NotFound,
            action,
            within: None,
        }
        .into(),
        "decide" => {
            let decision = serde_json::from_value(json!(rest)).unwrap_or(Decision::Deny);
            ActionDecided {
                action,
                decision,
                why: format!("the test says {rest}"),
                checks: Vec::new(),
                facts: ActionFacts::default(),
            }
            .into()
        }
        "ask" => ApprovalRequested {
            action,
            why: String::new(),
            shown: BlobHash([1; 32]),
            offers: Vec::new(),
        }
        .into(),
        "approve" | "refuse" => {
            let approved = word == "approve";
            ApprovalResolved {
                action,
                approved,
                note: rest.to_owned(),
                by: Surface::Command,
                arguments: None,
                binding: None,
                always: None,
            }
            .into()
        }
        _ => of_started(word, action, rest),
    }
}

/// What becomes of an action once it may start.
fn of_started(word: &str, action: ActionId, rest: &str) -> Payload {
    match word {
        "start" => {
            let attempt = rest.parse().unwrap_or(1);
            ActionStarted {
                action,
                key: "key".to_owned(),
                attempt,
                credentials: Vec::new(),
            }
            .into()
        }
        "finish" => finished(action, rest),
        "uncertain" => ActionUncertain {
            action,
            why: "The server ended.".to_owned(),
        }
        .into(),
        "settle" => {
            let verdict = serde_json::from_value(json!(rest)).unwrap_or(Verdict::Retry);
            ActionReconciled {
                action,
                verdict,
                result: None,
                trust: Trust::Trusted,
                by: Some(Surface::Command),
            }
            .into()
        }
        "lost" => ActionLost {
            action,
            why: "Its time was over.".to_owned(),
            gone: rest == "gone",
        }
        .into(),
        "query" => queried(action, rest),
        "question" => QuestionAsked {
            action,
            question: text(rest),
            options: Vec::new(),
            by: None,
        }
        .into(),
        "reply" => QuestionAnswered {
            action,
            answer: text(rest),
            by: Surface::Window,
            number: 0,
            replied: None,
        }
        .into(),
        _ => panic!("no such event: {word}"),
    }
}

fn text(words: &str) -> Body {
    Body::Text(words.to_owned())
}

fn requested(rest: &str) -> Payload {
    ModelRequested {
        model: "test/model".to_owned(),
        attempt: rest.parse().unwrap_or(1),
        body_sha256: String::new(),
        body_bytes: 400,
        reserved_in: 125,
        reserved_out: 50,
        reserved_micro: 0,
    }
    .into()
}

fn responded(blocks: Vec<Block>, stop: StopReason) -> Payload {
    let usage = Usage {
        input: 100,
        output: 10,
        ..Usage::default()
    };
    ModelResponded {
        blocks,
        stop,
        usage,
        response_id: String::new(),
        latency_ms: 20,
    }
    .into()
}

fn call(named: &str) -> Block {
    let (id, name) = named.split_once('=').expect("id=tool");
    Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: text("{}"),
        raw: None,
    }
}

fn proposed(named: &str) -> Payload {
    let (id, tool) = named.split_once('=').expect("id=tool");
    let (effect, repeat) = traits(tool);
    ActionProposed {
        action: ActionId(id.to_owned()),
        call: id.to_owned(),
        tool: tool.to_owned(),
        arguments: text("{}"),
        effect,
        repeat,
        by: Actor::Model,
        undoes: None,
        within: None,
    }
    .into()
}

/// `a unknown 9000`: what the status tool says, and when it is asked again.
fn queried(action: ActionId, rest: &str) -> Payload {
    let mut words = rest.split(' ');
    let answer = serde_json::from_value(json!(words.next())).expect("an answer");
    ActionQueried {
        action,
        attempt: words.next().and_then(|word| word.parse().ok()).unwrap_or(1),
        answer,
        said: text("It said so."),
        trust: Trust::Trusted,
        again_at: words.next().and_then(|word| word.parse().ok()),
    }
    .into()
}

fn finished(action: ActionId, rest: &str) -> Payload {
    let error = (rest == "failed").then_some(ToolErrorClass::Failed);
    let trust = if rest == "untrusted" {
        Trust::Untrusted
    } else {
        Trust::Trusted
    };
    ActionFinished {
        action,
        error,
        result: text(rest),
        shown: None,
        file: None,
        media: Vec::new(),
        outcome: String::new(),
        origin: Origin::Harness,
        trust,
        receipt: None,
        latency_ms: 5,
    }
    .into()
}

fn failed(rest: &str) -> Payload {
    let (class, retry_at) = rest
        .split_once(' ')
        .map_or((rest, None), |(class, at)| (class, at.parse().ok()));
    let class: ModelErrorClass = serde_json::from_value(json!(class)).expect("a class");
    ModelFailed {
        class,
        message: "It failed.".to_owned(),
        remedy: "Mend it.".to_owned(),
        retry_at,
        cost_unknown: false,
        unsent: false,
        asked: false,
        back_at: None,
        latency_ms: 3,
    }
    .into()
}

fn resumed(rest: &str) -> Payload {
    RunResumed {
        why: serde_json::from_value(json!(rest)).expect("a reason"),
    }
    .into()
}

fn handoff(rest: &str) -> Payload {
    let reason = serde_json::from_value(json!(rest)).expect("a reason");
    RunHandedOff {
        reason,
        message: "It stopped.".to_owned(),
        remedy: "Say how to go on.".to_owned(),
        digest: None,
    }
    .into()
}

fn verified(holds: bool) -> Payload {
    let difference = if holds {
        Vec::new()
    } else {
        vec!["page.html is missing".to_owned()]
    };
    let result = CriterionResult {
        criterion: "page.html exists".to_owned(),
        holds,
        waits: false,
        evidence: "looked".to_owned(),
        difference,
    };
    VerificationFinished {
        results: vec![result],
    }
    .into()
}

/// A check of which a person has the last word.
fn waits() -> Payload {
    let result = CriterionResult {
        criterion: "a person accepts: Read it.".to_owned(),
        holds: false,
        waits: true,
        evidence: "a person has to accept it".to_owned(),
        difference: Vec::new(),
    };
    VerificationFinished {
        results: vec![result],
    }
    .into()
}

fn compacted(rest: &str) -> Payload {
    let dropped_before = rest.parse().expect("an item");
    ContextCompacted {
        dropped_before,
        pruned_before: dropped_before,
        media_before: 0,
        tokens_before: 100,
        tokens_after: 50,
        summary: None,
        unsummarised: String::new(),
    }
    .into()
}
