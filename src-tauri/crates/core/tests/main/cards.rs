//! What stands on the cards and in the panel: what the gate found, what people said, what limits did.

use expect_test::expect;
use longrein_core::view::{ROW_TEXT_BYTES, View, bodies_needed};
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::*;
use longrein_protocol::gate::{ActionFacts, Actor, Always, Check, CheckName, Scope, Surface};
use longrein_protocol::tool::Effect;
use longrein_protocol::view::{ActionRow, ActionState, KnotTone, Row, RowContent};
use longrein_protocol::{ActionId, BlobHash, Body, Event, Payload, ToolErrorClass};
use serde_json::json;

use crate::play::{event, play};

/// A view that grows event by event; the bodies it asks for are those it is given.
pub struct Shown {
    pub view: View,
}

impl Shown {
    pub fn of(lines: &str) -> Self {
        let (_, events) = play(lines);
        let mut shown = Self {
            view: View::default(),
        };
        for event in &events {
            shown.apply(event);
        }
        shown
    }

    pub fn apply(&mut self, event: &Event) {
        let known: Vec<Body> = bodies_needed(event).into_iter().cloned().collect();
        self.view.apply(event, &|body: &Body| {
            assert!(
                known.contains(body),
                "{}: not asked for",
                event.payload.name()
            );
            match body {
                Body::Text(text) => text.clone(),
                Body::Blob { blob, .. } => blob.to_string(),
            }
        });
    }

    pub fn then(mut self, payload: impl Into<Payload>) -> Self {
        let mut next = event(self.view.run(), "paused");
        next.payload = payload.into();
        self.apply(&next);
        self
    }

    pub fn line(mut self, line: &str) -> Self {
        let next = event(self.view.run(), line);
        self.apply(&next);
        self
    }

    pub fn row(&self, key: &str) -> &Row {
        let found = self.view.rows().iter().find(|row| row.key == key);
        found.expect("a row of this key")
    }

    pub fn card(&self, action: &str) -> &ActionRow {
        match &self.row(action).content {
            RowContent::Action(card) => card,
            other => panic!("no action: {other:?}"),
        }
    }

    pub fn last(&self) -> &Row {
        self.view.rows().last().expect("a row")
    }

    fn said(&self, action: &str) -> String {
        let said = self.card(action).said.iter();
        let lines: Vec<String> = said
            .map(|said| {
                format!(
                    "{} | {} | {:?} | {}",
                    said.words, said.note, said.from, said.at
                )
            })
            .collect();
        lines.join("\n")
    }
}

fn id(action: &str) -> ActionId {
    ActionId(action.to_owned())
}

pub fn text(words: &str) -> Body {
    Body::Text(words.to_owned())
}

pub fn rule(host: &str) -> PolicyRule {
    serde_json::from_value(json!({"tool": "post", "host": host, "decision": "allow"}))
        .expect("a rule")
}

pub const PROPOSED: &str =
    "created\nturn Go.\nreveal look post\ncompiled\nrequested\nasks a=post\npropose a=post";

fn decided(decision: Decision, why: &str, checks: &[(CheckName, Decision, &str)]) -> ActionDecided {
    let check = |(check, decision, facts): &(CheckName, Decision, &str)| Check {
        check: *check,
        decision: *decision,
        facts: (*facts).to_owned(),
    };
    ActionDecided {
        action: id("a"),
        decision,
        why: why.to_owned(),
        checks: checks.iter().map(check).collect(),
        facts: ActionFacts::default(),
    }
}

pub fn asked() -> Shown {
    let checks = [
        (CheckName::Granted, Decision::Allow, ""),
        (CheckName::Rules, Decision::Ask, "no rule allows it"),
        (
            CheckName::Taint,
            Decision::Ask,
            "this run has read untrusted text",
        ),
    ];
    let why = "this run has read untrusted text";
    Shown::of(PROPOSED)
        .then(decided(Decision::Ask, why, &checks))
        .then(ApprovalRequested {
            action: id("a"),
            why: why.to_owned(),
            shown: BlobHash([7; 32]),
            offers: vec![rule("hooks.example.org")],
        })
}

fn resolved(approved: bool) -> ApprovalResolved {
    ApprovalResolved {
        action: id("a"),
        approved,
        note: String::new(),
        by: Surface::Command,
        arguments: None,
        binding: None,
        always: None,
    }
}

fn finished(action: &str, receipt: Option<&str>, error: Option<ToolErrorClass>) -> ActionFinished {
    ActionFinished {
        action: id(action),
        error,
        result: text("done"),
        shown: None,
        file: None,
        media: Vec::new(),
        outcome: "done".to_owned(),
        origin: Origin::Harness,
        trust: Trust::Trusted,
        receipt: receipt.map(str::to_owned),
        latency_ms: 5,
    }
}

#[test]
fn a_card_that_asks_holds_the_checks_the_one_that_decided_and_what_always_would_make() {
    let shown = asked();
    let card = shown.card("a");
    assert_eq!(card.state, ActionState::Asked);
    assert_eq!(card.checks.len(), 3);
    assert_eq!(card.decided_by, Some(CheckName::Taint));
    assert_eq!(card.seen, BlobHash([7; 32]).to_string());
    assert_eq!(
        card.offers[0].words,
        longrein_core::policy::in_words(&rule("hooks.example.org"))
    );
    let sent_back: PolicyRule = serde_json::from_str(&card.offers[0].rule).expect("a rule");
    assert_eq!(sent_back, rule("hooks.example.org"));
    assert_eq!(
        shown.row("a").knot.as_ref().map(|knot| knot.tone),
        Some(KnotTone::Waiting)
    );
}

#[test]
fn where_all_checks_say_yes_the_one_whose_facts_are_the_reason_decided_or_none() {
    let effect = [(CheckName::Effect, Decision::Allow, "it only reads")];
    let by_effect = Shown::of(PROPOSED).then(decided(Decision::Allow, "it only reads", &effect));
    assert_eq!(by_effect.card("a").decided_by, Some(CheckName::Effect));
    let plain = [(CheckName::Granted, Decision::Allow, "")];
    let by_none = Shown::of(PROPOSED).then(decided(Decision::Allow, "", &plain));
    assert_eq!(by_none.card("a").decided_by, None);
}

#[test]
fn an_edited_approval_keeps_both_forms_and_says_who_made_which_rule_from_where() {
    let always = Always {
        scope: Scope::Run,
        rules: vec![rule("hooks.example.org")],
        tainted: true,
    };
    let shown = asked().then(ApprovalResolved {
        arguments: Some(text(r#"{"text":"edited"}"#)),
        always: Some(always),
        ..resolved(true)
    });
    let card = shown.card("a");
    assert_eq!(card.proposed, "{}");
    assert_eq!(card.arguments, "{\n  \"text\": \"edited\"\n}");
    assert_eq!(card.brief, "“edited”");
    assert_eq!((card.seen.as_str(), card.offers.len()), ("", 0));
    expect!["approved with other arguments, from now on for this run, also after untrusted text: post, only to hooks.example.org |  | Some(Command) | 10000"]
        .assert_eq(&shown.said("a"));
}

#[test]
fn a_second_edit_still_shows_what_the_model_proposed() {
    let edit = |words: &str| ApprovalResolved {
        arguments: Some(text(&json!({"text": words}).to_string())),
        ..resolved(true)
    };
    let shown = asked().then(edit("one")).then(edit("two"));
    assert_eq!(shown.card("a").proposed, "{}");
    assert!(shown.card("a").arguments.contains("two"));
}

#[test]
fn a_refusal_says_why_and_where_and_a_withdrawal_is_none() {
    let refused = asked().then(ApprovalResolved {
        note: "Not yet.".to_owned(),
        ..resolved(false)
    });
    assert_eq!(refused.card("a").state, ActionState::Denied);
    expect!["refused | Not yet. | Some(Command) | 10000"].assert_eq(&refused.said("a"));
    let withdrawn = asked().then(ApprovalWithdrawn {
        action: id("a"),
        why: "Withdrawn: the run was cancelled.".to_owned(),
    });
    assert_eq!(withdrawn.card("a").state, ActionState::Withdrawn);
    assert_eq!(
        (
            withdrawn.card("a").seen.as_str(),
            withdrawn.said("a").as_str()
        ),
        ("", "")
    );
}

#[test]
fn a_question_shows_its_options_and_then_the_answer() {
    let shown = Shown::of(PROPOSED).then(QuestionAsked {
        action: id("a"),
        question: text("Which machine?"),
        options: vec!["This one".to_owned(), "That one".to_owned()],
        by: None,
    });
    assert_eq!(shown.card("a").state, ActionState::AsksYou);
    let question = shown.card("a").question.clone().expect("a question");
    assert_eq!(
        (question.text.as_str(), question.options.len()),
        ("Which machine?", 2)
    );
    let shown = shown.line("reply a That one");
    let card = shown.card("a");
    assert_eq!(card.state, ActionState::Succeeded);
    assert_eq!(
        card.question
            .as_ref()
            .and_then(|asked| asked.answer.as_deref()),
        Some("That one")
    );
    assert_eq!(card.said[0].from, Some(Surface::Window));
}

#[test]
fn what_became_of_a_lost_action_is_found_out_or_asked() {
    let lost = Shown::of(PROPOSED)
        .line("decide a allow")
        .line("start a")
        .line("lost a");
    assert_eq!(lost.card("a").state, ActionState::FindingOut);
    assert_eq!(lost.card("a").outcome, "finding out what became of it");
    let unknown = lost.line("query a unknown 2 9000");
    assert_eq!(
        unknown.card("a").outcome,
        "its status tool can't say yet, asked 2 times"
    );
    let asked = unknown.line("uncertain a");
    assert_eq!(asked.card("a").state, ActionState::Uncertain);
    let settled = asked.then(ActionReconciled {
        action: id("a"),
        verdict: Verdict::NotHappened,
        result: Some(text("Nothing is there.")),
        trust: Trust::Trusted,
        by: Some(Surface::Window),
    });
    let card = settled.card("a");
    assert_eq!(
        (card.state, card.result.as_str()),
        (ActionState::Failed, "Nothing is there.")
    );
    assert_eq!(card.outcome, "you said that it did not happen");
}

#[test]
fn a_status_tool_that_knows_is_not_taken_for_a_person() {
    let lost = Shown::of(PROPOSED)
        .line("decide a allow")
        .line("start a")
        .line("lost a");
    let found = lost.then(ActionReconciled {
        action: id("a"),
        verdict: Verdict::Happened,
        result: None,
        trust: Trust::Untrusted,
        by: None,
    });
    let card = found.card("a");
    assert_eq!(
        (card.state, card.trust),
        (ActionState::Succeeded, Trust::Untrusted)
    );
    assert_eq!(card.outcome, "its status tool says that it happened");
    assert_eq!(card.said[0].from, None);
}

/// A run whose `post` names `mark` as what takes it back.
fn undoable(receipt: Option<&str>) -> Shown {
    let base = "created\nturn Go.\nreveal look post mark\ncompiled\nrequested\nasks a=post";
    let (run, _) = play(base);
    let mut tools = run.tools.clone();
    tools[1].recovery.undo_tool = Some("mark".to_owned());
    tools[1].recovery.undo_argument = Some("id".to_owned());
    Shown::of(base)
        .then(ToolsRevealed {
            notes: Vec::new(),
            tools,
            ..ToolsRevealed::default()
        })
        .line("propose a=post")
        .line("decide a allow")
        .line("start a")
        .then(finished("a", receipt, None))
}

pub fn undo(action: &str) -> ActionProposed {
    ActionProposed {
        action: id(action),
        call: action.to_owned(),
        tool: "mark".to_owned(),
        arguments: text("{}"),
        effect: Effect::Workspace,
        repeat: longrein_protocol::tool::Repeat::Once,
        by: Actor::Person,
        undoes: Some(id("a")),
        within: None,
    }
}

#[test]
fn undo_is_offered_where_a_receipt_and_its_tool_are_there() {
    assert!(undoable(Some("r1")).card("a").undo);
    assert!(!undoable(None).card("a").undo);
    let without_tool = Shown::of(PROPOSED)
        .line("decide a allow")
        .line("start a")
        .then(finished("a", Some("r1"), None));
    assert!(!without_tool.card("a").undo);
}

#[test]
fn undo_is_offered_once_at_a_time_and_again_when_it_failed() {
    let undoing = undoable(Some("r1")).then(undo("u1"));
    assert!(!undoing.card("a").undo);
    assert!(undoing.card("u1").by_person);
    assert_eq!(undoing.card("u1").undoes, "a");
    let failed = undoing
        .line("decide u1 allow")
        .line("start u1")
        .then(finished("u1", None, Some(ToolErrorClass::Failed)));
    assert!(failed.card("a").undo);
    let undone = failed
        .then(undo("u2"))
        .line("decide u2 allow")
        .line("start u2")
        .then(finished("u2", None, None))
        .then(ActionCompensated {
            action: id("a"),
            undone_by: id("u2"),
        });
    assert!(undone.card("a").undone && !undone.card("a").undo);
    expect!["taken back by u2 |  | None | 20000"].assert_eq(&undone.said("a"));
}

#[test]
fn arguments_that_are_too_long_for_a_card_say_how_much_is_missing() {
    let long = json!({"text": "é".repeat(ROW_TEXT_BYTES)}).to_string();
    let base = "created\nturn Go.\nreveal post\ncompiled\nrequested\nasks a=post";
    let shown = Shown::of(base).then(ActionProposed {
        arguments: text(&long),
        by: Actor::Model,
        undoes: None,
        ..undo("a")
    });
    let card = shown.card("a");
    let pretty = longrein_core::view::pretty(&long);
    let kept = card.arguments.find("\n… ").expect("a word about the rest");
    assert_eq!(card.hidden_bytes as usize, pretty.len() - kept);
    assert!(kept <= ROW_TEXT_BYTES);
}
