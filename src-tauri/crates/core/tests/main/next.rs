//! What a run owes after each event of a play.

use expect_test::{Expect, expect};
use longrein_core::run::{Next, Run};

use crate::play::{event, play};

/// What is owed, in a line.
pub fn owed(run: &Run, now: i64) -> String {
    match run.next(now) {
        Next::Append(payloads) => {
            let names: Vec<&str> = payloads.iter().map(|payload| payload.name()).collect();
            format!("append {}", names.join(", "))
        }
        Next::Reveal => "reveal".to_owned(),
        Next::Summarise { before } => format!("sum up before {before}"),
        Next::Request { attempt } => format!("request, attempt {attempt}"),
        Next::Propose(call) => format!("propose {}", call.call),
        Next::Decide(action) => format!("decide {action}"),
        Next::Start(actions) => {
            let ids: Vec<String> = actions.iter().map(ToString::to_string).collect();
            format!("start {}", ids.join(" "))
        }
        Next::Switch { to, .. } => format!("switch to {to}"),
        Next::Spawn(action) => format!("begin the children of {action}"),
        Next::Ask(action) => format!("ask about {action}"),
        Next::Question(action) => format!("put the question {action}"),
        Next::Query(action) => format!("query {action}"),
        Next::Verify { attempt } => format!("verify, attempt {attempt}"),
        Next::Wait(what) => format!("wait for {what:?}"),
        Next::Offload(results) => {
            let ids: Vec<String> = results.iter().map(|long| long.action.to_string()).collect();
            format!("offload {}", ids.join(" "))
        }
        Next::Reduce(media) => format!("reduce {}", media.len()),
        Next::Stopped => "stopped".to_owned(),
    }
}

/// The last lines of a play, each with what is owed after it.
pub fn check(before: &str, lines: &str, expected: Expect) {
    let (mut run, _) = play(before);
    let mut story = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let event = event(&run, line);
        run.check(&event)
            .unwrap_or_else(|illegal| panic!("{line}: {illegal}"));
        run.apply(&event);
        story.push_str(&format!("{line:<24} → {}\n", owed(&run, event.at)));
    }
    expected.assert_eq(&story);
}

const ASKED: &str = "created\nturn Go.\nreveal look mark post write finish\ncompiled\nrequested";

#[test]
fn a_run_that_only_talks() {
    let lines = "created\nturn Go.\nreveal look\ncompiled\nrequested\nreplies All done.\nended";
    check(
        "",
        lines,
        expect![[r#"
        created                  → wait for Input
        turn Go.                 → reveal
        reveal look              → request, attempt 1
        compiled                 → request, attempt 1
        requested                → wait for Model
        replies All done.        → append turn.finished, run.finished
        ended                    → stopped
    "#]],
    );
}

#[test]
fn readers_start_together_and_writers_in_turn() {
    let lines = "asks a=look b=look c=write d=look
        propose a=look\npropose b=look\npropose c=write\npropose d=look
        decide a allow\ndecide b allow\ndecide c allow\ndecide d allow
        start a\nstart b\nfinish a ok\nfinish b ok\nstart c\nfinish c ok\nstart d\nfinish d ok";
    check(
        ASKED,
        lines,
        expect![[r#"
        asks a=look b=look c=write d=look → propose a
        propose a=look           → propose b
        propose b=look           → propose c
        propose c=write          → propose d
        propose d=look           → decide a
        decide a allow           → decide b
        decide b allow           → decide c
        decide c allow           → decide d
        decide d allow           → start a b
        start a                  → start b
        start b                  → wait for Actions
        finish a ok              → wait for Actions
        finish b ok              → start c
        start c                  → wait for Actions
        finish c ok              → start d
        start d                  → wait for Actions
        finish d ok              → request, attempt 1
    "#]],
    );
}

#[test]
fn what_is_asked_waits_and_what_is_denied_is_told() {
    let lines = "asks a=post b=mark\npropose a=post\npropose b=mark\ndecide a ask\ndecide b deny\nask a\napprove a\ndecide a allow\nstart a\nfinish a ok";
    check(
        ASKED,
        lines,
        expect![[r#"
            asks a=post b=mark       → propose a
            propose a=post           → propose b
            propose b=mark           → decide a
            decide a ask             → ask about a
            decide b deny            → ask about a
            ask a                    → wait for Person
            approve a                → decide a
            decide a allow           → start a
            start a                  → wait for Actions
            finish a ok              → request, attempt 1
        "#]],
    );
}

#[test]
fn after_a_crash_what_can_be_repeated_starts_again_and_the_rest_is_put_to_a_person() {
    let before = format!(
        "{ASKED}\nasks a=look b=mark\npropose a=look\npropose b=mark\ndecide a allow\ndecide b allow\nstart a"
    );
    check(
        &before,
        "resumed interrupted\nstart a 2\nfinish a ok\nstart b",
        expect![[r#"
        resumed interrupted      → start a
        start a 2                → wait for Actions
        finish a ok              → start b
        start b                  → wait for Actions
    "#]],
    );
    let before = format!("{before}\nfinish a ok\nstart b");
    check(
        &before,
        "resumed interrupted\nuncertain b\nhandoff uncertain\nsettle b happened\nresumed asked",
        expect![[r#"
        resumed interrupted      → append action.uncertain
        uncertain b              → append run.handed_off
        handoff uncertain        → stopped
        settle b happened        → stopped
        resumed asked            → request, attempt 1
    "#]],
    );
}

#[test]
fn a_request_that_was_lost_is_given_up_and_made_again() {
    check(
        ASKED,
        "resumed interrupted\nabandoned\ncompiled\nrequested",
        expect![[r#"
        resumed interrupted      → append model.abandoned
        abandoned                → request, attempt 1
        compiled                 → request, attempt 1
        requested                → wait for Model
    "#]],
    );
}

#[test]
fn failures_are_tried_again_at_their_time_or_handed_off() {
    check(
        ASKED,
        "fails overloaded 9000\nrequested 2\nfails auth",
        expect![[r#"
        fails overloaded 9000    → wait for Retry(9000)
        requested 2              → wait for Model
        fails auth               → append run.handed_off
    "#]],
    );
    let (run, _) = play(&format!("{ASKED}\nfails overloaded 9000"));
    assert_eq!(owed(&run, 9_000), "request, attempt 2");
}

#[test]
fn words_said_during_a_step_enter_after_it_and_take_back_a_claim() {
    check(
        ASKED,
        "steer Wait.\nreplies Done.\ncompiled\nrequested\nreplies Now.",
        expect![[r#"
        steer Wait.              → wait for Model
        replies Done.            → request, attempt 1
        compiled                 → request, attempt 1
        requested                → wait for Model
        replies Now.             → append turn.finished, run.finished
    "#]],
    );
}

#[test]
fn a_claim_is_checked_and_goes_back_when_it_does_not_hold() {
    let before = "created file=page.html\nturn Go.\nreveal finish\ncompiled\nrequested";
    let lines =
        "asks f=finish\npropose f=finish\ndecide f allow\nverifying\nverified off\nfinish f failed
        compiled\nrequested\nreplies Now.\nverifying\nverified holds";
    check(
        before,
        lines,
        expect![[r#"
            asks f=finish            → propose f
            propose f=finish         → decide f
            decide f allow           → verify, attempt 1
            verifying                → wait for Checks
            verified off             → append action.finished
            finish f failed          → request, attempt 1
            compiled                 → request, attempt 1
            requested                → wait for Model
            replies Now.             → verify, attempt 2
            verifying                → wait for Checks
            verified holds           → append turn.finished, run.finished
        "#]],
    );
}

#[test]
fn empty_and_cut_replies_are_asked_again_and_then_handed_off() {
    let again = "silence\nnotice Go on.\ncompiled\nrequested\ncut Half a\nnotice Go on.\ncompiled\nrequested\nsilence";
    check(
        ASKED,
        again,
        expect![[r#"
        silence                  → append notice.given
        notice Go on.            → request, attempt 1
        compiled                 → request, attempt 1
        requested                → wait for Model
        cut Half a               → append notice.given
        notice Go on.            → request, attempt 1
        compiled                 → request, attempt 1
        requested                → wait for Model
        silence                  → append run.handed_off
    "#]],
    );
}

#[test]
fn a_limit_stops_before_it_is_passed() {
    let before = "created steps=1\nturn Go.\nreveal look\ncompiled\nrequested";
    check(
        before,
        "asks a=look\npropose a=look\ndecide a allow\nstart a\nfinish a ok",
        expect![[r#"
        asks a=look              → propose a
        propose a=look           → decide a
        decide a allow           → start a
        start a                  → wait for Actions
        finish a ok              → append budget.exceeded
    "#]],
    );
}

#[test]
fn paused_cancelled_and_finished_runs_owe_nothing_until_a_person_speaks() {
    check(
        ASKED,
        "replies Hm.\nended\nturn More.",
        expect![[r#"
        replies Hm.              → append turn.finished, run.finished
        ended                    → stopped
        turn More.               → request, attempt 1
    "#]],
    );
    check(
        ASKED,
        "cancelled",
        expect![[r#"
        cancelled                → stopped
    "#]],
    );
    check(
        "created\nturn Go.",
        "paused\nresumed asked",
        expect![[r#"
        paused                   → stopped
        resumed asked            → reveal
    "#]],
    );
}

#[test]
fn a_lost_request_is_no_step_and_what_it_used_stays_reserved_but_unknown() {
    let (run, _) = play(&format!("{ASKED}\nresumed interrupted\nabandoned"));
    assert_eq!(
        (run.used.steps, run.used.tokens_in, run.used.tokens_out),
        (0, 125, 50)
    );
    assert_eq!(run.tokens_known(), (0, 0));
    let (run, _) = play(&format!(
        "{ASKED}\nresumed interrupted\nabandoned\ncompiled\nrequested\nreplies Yes."
    ));
    assert_eq!(
        (run.used.steps, run.used.tokens_in, run.used.tokens_out),
        (1, 225, 60)
    );
    assert_eq!(run.tokens_known(), (100, 10));
}
