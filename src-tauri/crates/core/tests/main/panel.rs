//! What stands between the cards and in the panel: rules, limits, acceptance, judges, the end.

use longrein_core::view::View;
use longrein_protocol::block::Trust;
use longrein_protocol::event::*;
use longrein_protocol::gate::{Scope, StandingRule};
use longrein_protocol::source::Note;
use longrein_protocol::view::{AcceptanceState, ActionState, RowContent, RunState, SideState};
use longrein_protocol::{BlobHash, ToolErrorClass};

use crate::cards::{PROPOSED, Shown, asked, rule, text};
use crate::play::play;

fn standing(id: &str, scope: Scope) -> StandingRule {
    StandingRule {
        id: id.to_owned(),
        scope,
        rule: rule(&format!("{id}.example.org")),
        tainted: false,
    }
}

#[test]
fn a_change_of_the_rules_says_what_came_and_what_went() {
    let changed = |rules: &[StandingRule]| PolicyChanged {
        hash: BlobHash([0; 32]),
        rules: rules.to_vec(),
        by: "the policy file".to_owned(),
    };
    let (one, two) = (standing("one", Scope::Agent), standing("two", Scope::Run));
    let shown = Shown::of("created\nturn Go.").then(changed(&[]));
    assert_eq!(
        shown.view.rows().len(),
        1,
        "nothing changed, nothing is shown"
    );
    let shown = shown
        .then(changed(std::slice::from_ref(&one)))
        .then(changed(&[two]));
    let RowContent::Rules {
        text,
        added,
        removed,
    } = &shown.last().content
    else {
        panic!("no rules");
    };
    assert_eq!(text, "The rules changed, by the policy file.");
    assert_eq!(
        (added[0].id.as_str(), removed[0].id.as_str()),
        ("two", "one")
    );
    assert_eq!(
        (removed[0].agent.as_str(), added[0].agent.as_str()),
        ("test", "")
    );
    assert_eq!(removed[0].words, longrein_core::policy::in_words(&one.rule));
    let in_force = shown.view.head().rules;
    assert_eq!(in_force.len(), 1);
    assert_eq!(in_force[0].scope, Scope::Run);
}

#[test]
fn a_limit_is_warned_of_reached_and_raised_in_words_and_in_the_panel() {
    let shown = Shown::of("created steps=5\nturn Go.").line("warned tokens_in");
    assert_eq!(shown.view.head().warned, [Limit::TokensIn]);
    let RowContent::Budget {
        text,
        raised: false,
    } = &shown.last().content
    else {
        panic!("no warning");
    };
    assert_eq!(text, "4 of 5 tokens in are used.");
    let shown = shown.line("exceeded steps").then(RunHandedOff {
        reason: HandoffReason::Budget,
        message: "The limit of 5 steps is reached.".to_owned(),
        remedy: "Raise it.".to_owned(),
        digest: Some(Digest {
            done: vec!["this".to_owned()],
            open: vec!["that".to_owned()],
            cost: "little".to_owned(),
        }),
    });
    let head = shown.view.head();
    let reached = head.reached.expect("a limit");
    assert_eq!(
        (reached.limit, reached.used, reached.of),
        (Limit::Steps, 6, 5)
    );
    assert!(reached.suggested > reached.used);
    assert_eq!(head.digest.expect("a digest").open, ["that"]);
    let shown = shown.line("raised 20").line("resumed asked");
    let head = shown.view.head();
    assert_eq!(
        (head.reached, head.digest, head.steps.limit),
        (None, None, Some(20))
    );
    let raised = shown.view.rows().iter().find_map(|row| match &row.content {
        RowContent::Budget { text, raised: true } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(
        raised,
        Some("New limits, set from the command line: 20 steps.")
    );
}

#[test]
fn money_is_shown_with_what_is_held_and_as_unknown_where_no_price_is() {
    let head = Shown::of("created\nturn Go.\nreveal look\ncompiled\nrequested")
        .view
        .head();
    assert_eq!((head.tokens_in.used, head.tokens_in.held), (0, 125));
    assert!(!head.money.known);
}

#[test]
fn the_result_waits_to_be_accepted_and_the_answer_closes_the_row() {
    let base = "created person=Read\nturn Go.\nreveal look\ncompiled\nrequested\nreplies Done.";
    let asked = || Shown::of(base).line("accepting Read it.");
    assert_eq!(asked().view.head().acceptance.as_deref(), Some("Read it."));
    let answered = asked().line("returned The first line is wrong.");
    let RowContent::Acceptance { state, said, .. } = &answered.last().content else {
        panic!("no acceptance");
    };
    let said = said.as_ref().expect("somebody said so");
    assert_eq!(*state, AcceptanceState::Refused);
    assert_eq!(
        (said.words.as_str(), said.note.as_str()),
        ("sent back", "The first line is wrong.")
    );
    assert_eq!(answered.view.head().acceptance, None);
    let cancelled = asked().line("cancelled");
    let state = cancelled
        .view
        .rows()
        .iter()
        .find_map(|row| match &row.content {
            RowContent::Acceptance { state, .. } => Some(*state),
            _ => None,
        });
    assert_eq!(state, Some(AcceptanceState::Withdrawn));
}

#[test]
fn a_judge_is_a_row_of_its_own_that_a_crash_leaves_without_an_answer() {
    let requested = SideRequested {
        purpose: Purpose::Judge,
        model: "lab/judge".to_owned(),
        body: text("{}"),
        body_sha256: String::new(),
        reserved_in: 10,
        reserved_out: 10,
        reserved_micro: 0,
        price: None,
        before: 0,
    };
    let side = |shown: &Shown| {
        let row = shown.view.rows().iter().find_map(|row| match &row.content {
            RowContent::Side { state, answer, .. } => Some((*state, answer.clone())),
            _ => None,
        });
        row.expect("a side request")
    };
    let asked = || Shown::of("created\nturn Go.").then(requested.clone());
    assert_eq!(side(&asked()), (SideState::Asked, String::new()));
    let answered = asked().then(SideResponded {
        text: text("PASS"),
        usage: longrein_protocol::block::Usage::default(),
        unusable: String::new(),
        latency_ms: 9,
    });
    assert_eq!(side(&answered), (SideState::Answered, "PASS".to_owned()));
    assert_eq!(
        side(&asked().line("resumed interrupted")).0,
        SideState::Failed
    );
}

#[test]
fn the_end_of_a_run_leaves_nothing_open() {
    let cancelled = asked().line("cancelled");
    assert_eq!(cancelled.card("a").state, ActionState::Withdrawn);
    assert!(cancelled.card("a").offers.is_empty());
    let started = Shown::of(PROPOSED)
        .line("decide a allow")
        .line("start a")
        .line("cancelled");
    assert_eq!(started.card("a").state, ActionState::Failed);
    assert_eq!(started.card("a").error, Some(ToolErrorClass::Cancelled));
    let unsure = Shown::of(PROPOSED)
        .line("decide a allow")
        .line("start a")
        .line("uncertain a")
        .line("cancelled");
    assert_eq!(
        unsure.card("a").state,
        ActionState::Unknown,
        "nobody knows more than before"
    );
    assert_eq!(unsure.view.head().state, RunState::Cancelled);
}

/// A log in the wrong order is shown somehow, and never stops the one who looks.
#[test]
fn events_in_any_order_are_folded_without_a_fault() {
    let (_, events) = play(
        "created person=Read\nturn Go.\nreveal look mark post ask_person\ncompiled\nrequested
        asks a=look b=post\npropose a=look\npropose b=post\ndecide a allow\ndecide b ask\nask b\nstart a
        resumed interrupted\nstart a 2\nfinish a untrusted\napprove b\ndecide b allow\nstart b\nlost b
        query b unknown 1 9\nuncertain b\nhandoff uncertain\nsettle b happened\nresumed asked
        compiled\nrequested\nreplies It is so.\nverifying\nwaits\naccepting Read\naccepted Good.",
    );
    for from in 0..events.len() {
        let mut shown = Shown {
            view: View::default(),
        };
        for event in events[from..].iter().chain(&events[..from]).rev() {
            shown.apply(event);
            shown.view.head();
        }
    }
}

#[test]
fn a_compaction_says_what_went_what_stands_for_it_and_what_is_kept() {
    let note = Note {
        number: 1,
        text: "Metric units.".to_owned(),
    };
    let summary = Summary {
        model: "lab/small".to_owned(),
        decisions: vec!["Counted by hand.".to_owned()],
        findings: Vec::new(),
        failed: Vec::new(),
        open: vec!["Who fed them?".to_owned()],
        trust: Trust::Trusted,
        left_out: 2,
        struck: 0,
    };
    let compacted = ContextCompacted {
        dropped_before: 1,
        pruned_before: 3,
        media_before: 0,
        tokens_before: 9_000,
        tokens_after: 3_000,
        summary: Some(Box::new(summary)),
        unsummarised: String::new(),
    };
    let shown = Shown::of("created\nturn Go.\nreveal look\ncompiled\nrequested\nreplies Words.")
        .then(NotePinned { note })
        .then(compacted.clone());
    let of = |shown: &Shown| {
        let row = shown.view.rows().last().unwrap();
        let RowContent::Compacted { text, details } = &row.content else {
            panic!("{row:?}")
        };
        let lines = details
            .iter()
            .map(|part| format!("{}: {}", part.title, part.lines.join(" · ")));
        format!("{text}\n{}", lines.collect::<Vec<_>>().join("\n"))
    };
    expect_test::expect![[r#"
        Older parts left the request: 9,000 → 3,000 tokens. lab/small summed them up. The log keeps them.
        Left out: all before message 1, but for your words · what actions returned before message 3, shortened to a line each
        Decisions: Counted by hand.
        Open questions: Who fed them?
        Not taken over: 2 lines for which there was no room
        Kept: 1 message of yours, word for word
        Pinned notes: N1 Metric units."#]]
    .assert_eq(&of(&shown));
    assert_eq!(shown.view.head().notes.len(), 1);
    let without = shown.then(ContextCompacted {
        summary: None,
        unsummarised: "The budget does not cover a summary.".to_owned(),
        ..compacted
    });
    let text = of(&without);
    assert!(text.contains("There is no summary of them: The budget does not cover a summary."));
    // What stood for the rest before still does.
    assert!(without.view.run().summary.is_some());
}
