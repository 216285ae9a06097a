//! What holds a run: budgets, repetition, questions, acceptance, and the matrix of recovery.

use expect_test::expect;
use longrein_core::run::Run;

use crate::next::check;
use crate::play::{event, play};

const OPEN: &str =
    "turn Go.\nreveal look mark pay order write ask_person finish\ncompiled\nrequested";

fn fold(run: &mut Run, line: &str) {
    let event = event(run, line);
    run.check(&event)
        .unwrap_or_else(|illegal| panic!("{line}: {illegal}"));
    run.apply(&event);
}

/// A run in which a tool was started when its process ended.
fn cut_short(tool: &str) -> String {
    format!(
        "created\n{OPEN}\nasks a={tool}\npropose a={tool}\ndecide a allow\nstart a\nresumed interrupted"
    )
}

#[test]
fn each_kind_of_tool_is_recovered_in_its_own_way() {
    for (tool, expected) in [
        ("look", "start a"),
        ("write", "start a"),
        ("pay", "start a"),
        ("order", "query a"),
        ("mark", "append action.uncertain"),
    ] {
        let (run, _) = play(&cut_short(tool));
        assert_eq!(crate::next::owed(&run, run.last_at), expected, "{tool}");
    }
}

#[test]
fn a_key_that_is_too_old_is_not_used_again() {
    let (run, _) = play(&cut_short("pay"));
    let started = run.actions[0].started_at;
    assert_eq!(crate::next::owed(&run, started + 10_000), "start a");
    assert_eq!(
        crate::next::owed(&run, started + 10_001),
        "append action.uncertain"
    );
    let clock_was_set_back = started - 1;
    assert_eq!(
        crate::next::owed(&run, clock_was_set_back),
        "append action.uncertain"
    );
}

#[test]
fn an_action_whose_end_was_never_seen_is_not_started_for_ever() {
    let mut play_lines = cut_short("write");
    for attempt in 2..=5 {
        play_lines.push_str(&format!("\nstart a {attempt}\nresumed interrupted"));
    }
    let (run, _) = play(&play_lines);
    assert_eq!(
        crate::next::owed(&run, run.last_at),
        "append action.uncertain"
    );
}

#[test]
fn a_status_tool_is_asked_until_it_says_or_until_a_person_has_to() {
    check(
        &cut_short("order"),
        "query a unknown 1 13000
         query a unknown 2 14000
         query a unknown 3 20000
         query a unknown 4
         uncertain a
         handoff uncertain
         settle a happened
         resumed asked",
        expect![[r#"
        query a unknown 1 13000  → wait for Retry(13000)
        query a unknown 2 14000  → wait for Retry(14000)
        query a unknown 3 20000  → wait for Retry(20000)
        query a unknown 4        → append action.uncertain
        uncertain a              → append run.handed_off
        handoff uncertain        → stopped
        settle a happened        → stopped
        resumed asked            → request, attempt 1
    "#]],
    );
}

#[test]
fn what_finally_did_not_happen_is_started_again() {
    check(
        &cut_short("order"),
        "query a not_done
         start a 2
         finish a ok",
        expect![[r#"
        query a not_done         → start a
        start a 2                → wait for Actions
        finish a ok              → request, attempt 1
    "#]],
    );
}

#[test]
fn an_answer_that_was_lost_while_its_driver_lived_takes_the_same_way() {
    let before = format!("created\n{OPEN}\nasks a=pay\npropose a=pay\ndecide a allow\nstart a");
    check(
        &before,
        "lost a
         start a 2",
        expect![[r#"
        lost a                   → start a
        start a 2                → wait for Actions
    "#]],
    );
}

#[test]
fn a_question_waits_for_the_person_and_its_answer_goes_to_the_model() {
    let before = format!("created\n{OPEN}");
    check(
        &before,
        "asks a=ask_person b=write
         propose a=ask_person
         propose b=write
         decide a allow
         decide b allow
         question a Which one?
         reply a The second.
         start b
         finish b ok",
        expect![[r#"
        asks a=ask_person b=write → propose a
        propose a=ask_person     → propose b
        propose b=write          → decide a
        decide a allow           → decide b
        decide b allow           → put the question a
        question a Which one?    → wait for Person
        reply a The second.      → start b
        start b                  → wait for Actions
        finish b ok              → request, attempt 1
    "#]],
    );
}

#[test]
fn an_approval_is_decided_once_more_before_it_starts() {
    let before = format!("created\n{OPEN}\nasks a=mark\npropose a=mark");
    check(
        &before,
        "decide a ask
         ask a
         approve a
         decide a ask
         ask a
         approve a
         decide a allow
         start a",
        expect![[r#"
        decide a ask             → ask about a
        ask a                    → wait for Person
        approve a                → decide a
        decide a ask             → ask about a
        ask a                    → wait for Person
        approve a                → decide a
        decide a allow           → start a
        start a                  → wait for Actions
    "#]],
    );
}

/// One whole step of one action with one result.
fn step(run: &mut Run, number: u32, tool: &str, result: &str) {
    fold(run, "compiled");
    fold(run, "requested");
    let id = format!("s{number}");
    for line in [
        format!("asks {id}={tool}"),
        format!("propose {id}={tool}"),
        format!("decide {id} allow"),
        format!("start {id}"),
        format!("finish {id} {result}"),
    ] {
        fold(run, &line);
    }
}

fn begun(settings: &str) -> Run {
    let start = format!("created {settings}\nturn Go.\nreveal look mark write finish");
    play(&start).0
}

#[test]
fn a_cycle_of_two_actions_is_stopped_the_third_time() {
    let mut run = begun("");
    for number in 0..5 {
        step(
            &mut run,
            number,
            ["look", "write"][number as usize % 2],
            "same",
        );
        assert_eq!(crate::next::owed(&run, 0), "request, attempt 1", "{number}");
    }
    step(&mut run, 5, "write", "same");
    assert_eq!(
        crate::next::owed(&run, 0),
        "append loop.detected, run.handed_off"
    );
}

#[test]
fn a_cycle_of_four_is_found_and_one_of_five_is_not() {
    for (length, expected) in [
        (4, "append loop.detected, run.handed_off"),
        (5, "request, attempt 1"),
    ] {
        let mut run = begun("");
        for number in 0..length * 3 {
            let result = format!("r{}", number % length);
            step(&mut run, number, "write", &result);
        }
        assert_eq!(crate::next::owed(&run, 0), expected, "{length}");
    }
}

#[test]
fn steps_that_change_nothing_are_told_and_then_handed_off() {
    let mut run = begun("idle=4");
    let mut story = Vec::new();
    for number in 0..4 {
        step(&mut run, number, "look", &format!("r{number}"));
        story.push(crate::next::owed(&run, 0));
        if story.last().is_some_and(|owed| owed.contains("notice")) {
            fold(&mut run, "notice Nothing changed.");
        }
    }
    assert_eq!(
        story,
        [
            "request, attempt 1",
            "append notice.given",
            "request, attempt 1",
            "append run.handed_off"
        ]
    );
    step(&mut begun("idle=1"), 0, "write", "ok");
}

#[test]
fn a_person_who_speaks_or_a_file_that_changes_ends_a_standstill() {
    for line in ["steer Go on.", "write"] {
        let mut run = begun("idle=3");
        step(&mut run, 0, "look", "a");
        step(&mut run, 1, "look", "b");
        match line {
            "write" => step(&mut run, 2, "write", "ok"),
            words => fold(&mut run, words),
        }
        assert_eq!(run.idle, 0, "{line}");
    }
}

#[test]
fn one_denial_after_the_other_hands_the_run_off() {
    let mut run = begun("");
    for number in 0..5 {
        assert_eq!(crate::next::owed(&run, 0), "request, attempt 1");
        fold(&mut run, "compiled");
        fold(&mut run, "requested");
        let id = format!("d{number}");
        fold(&mut run, &format!("asks {id}=mark"));
        fold(&mut run, &format!("propose {id}=mark"));
        fold(&mut run, &format!("decide {id} deny"));
        if number == 2 {
            fold(&mut run, "loop mark");
            fold(&mut run, "notice Do something else.");
        }
        run.loop_owed = None;
    }
    assert_eq!(crate::next::owed(&run, 0), "append run.handed_off");
}

#[test]
fn a_spent_limit_of_actions_leaves_the_action_waiting_and_raising_it_goes_on() {
    let before = format!(
        "created actions=1\n{OPEN}\nasks a=write b=write\npropose a=write\npropose b=write\ndecide a allow\ndecide b allow\nstart a\nfinish a ok\nstart b\nfinish b ok\ncompiled\nrequested\nasks c=write\npropose c=write"
    );
    let (run, _) = play(&before);
    assert_eq!(crate::next::owed(&run, 0), "append budget.exceeded");
    check(
        &before,
        "exceeded actions
         handoff budget
         raised 80
         resumed asked",
        expect![[r#"
        exceeded actions         → append run.handed_off
        handoff budget           → stopped
        raised 80                → stopped
        resumed asked            → append budget.exceeded
    "#]],
    );
}

#[test]
fn four_fifths_of_a_limit_are_said_once() {
    let mut run = begun("steps=5");
    for number in 0..4 {
        step(&mut run, number, "write", &format!("r{number}"));
    }
    assert_eq!(crate::next::owed(&run, 0), "append budget.warned");
    fold(&mut run, "warned steps");
    assert_eq!(crate::next::owed(&run, 0), "request, attempt 1");
    fold(&mut run, "raised 10");
    step(&mut run, 4, "write", "r4");
    assert_eq!(crate::next::owed(&run, 0), "request, attempt 1");
}

#[test]
fn a_person_has_the_last_word_on_a_result() {
    let before = format!("created person=Read\n{OPEN}");
    check(
        &before,
        "replies All done.
         verifying
         waits
         accepting Read it.
         returned Not yet.
         steer Not yet: the second part is missing.
         compiled
         requested
         replies Now it is.
         verifying
         waits
         accepting Read it.
         accepted",
        expect![[r#"
            replies All done.        → verify, attempt 1
            verifying                → wait for Checks
            waits                    → append acceptance.requested
            accepting Read it.       → wait for Person
            returned Not yet.        → append notice.given
            steer Not yet: the second part is missing. → request, attempt 1
            compiled                 → request, attempt 1
            requested                → wait for Model
            replies Now it is.       → verify, attempt 1
            verifying                → wait for Checks
            waits                    → append acceptance.requested
            accepting Read it.       → wait for Person
            accepted                 → append turn.finished, run.finished
        "#]],
    );
}

#[test]
fn only_a_person_may_take_the_result_of_a_run_that_was_handed_to_them() {
    let (run, _) = play("created\nturn Go.\nreveal look\nhandoff verification");
    assert!(run.check(&event(&run, "taken")).is_ok());
    assert!(run.check(&event(&run, "ended")).is_err());
}

#[test]
fn a_handoff_says_what_was_done_what_is_open_and_what_a_step_costs() {
    let mut run = begun("file=page.html");
    step(&mut run, 0, "write", "ok");
    fold(&mut run, "verifying");
    fold(&mut run, "verified");
    let digest = run.digest();
    assert_eq!(digest.open, ["does not hold yet: page.html exists"]);
    assert_eq!(
        digest.cost,
        "A step took 100 tokens in and 10 out on average; what it cost is not known."
    );
}
