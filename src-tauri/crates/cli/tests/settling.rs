//! Actions of which nobody knows, and effects that are taken back.

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use rustix::process::Signal;
use serde_json::json;

use crate::counting::{Counting, GATE, MARK};
use crate::support::of_type;
use crate::waiting::waiting;

fn marking() -> Vec<Scripted> {
    vec![call(MARK, json!({"label": "one"})), say("Marked.")]
}

/// A run that was killed while its effect had happened and its answer had not come.
fn in_doubt() -> (Counting, String, String) {
    let counting = Counting::new(true, Setup::scripted(marking()));
    let driving = counting
        .home
        .spawn(&["run", &counting.agent("allow"), "Mark it."]);
    let run = driving.run_id();
    counting.held();
    driving.kill();
    let resumed = counting.home.run(&["resume", &run]);
    assert_eq!(resumed.status, 3, "{resumed}");
    assert!(
        resumed.out.contains("happened|not-happened|retry|stop"),
        "{resumed}"
    );
    let asked = waiting(&counting.home);
    assert_eq!(asked["waits_for"], "verdict", "{asked}");
    counting.let_go();
    let action = asked["action"].as_str().unwrap().to_owned();
    (counting, run, action)
}

#[test]
fn what_a_person_knows_of_an_action_reaches_the_model_and_counts_once() {
    let (counting, run, action) = in_doubt();
    let home = &counting.home;
    let file = home.write("result.txt", "marked one, number 17");
    let wrong = home.run(&["settle", &action, "retry", "--result", &file]);
    assert_eq!(wrong.status, 2, "{wrong}");
    let settled = home.run(&["settle", &action, "happened", "--result", &file]);
    assert_eq!(settled.status, 0, "{settled}");
    assert!(counting.provider.mock.seen()[1].contains("marked one, number 17"));
    assert_eq!(counting.labels(), ["one"]);
    let again = home.run(&["settle", &action, "not-happened"]);
    assert_eq!(again.status, 1, "{again}");
    for words in [
        "from the command line",
        "you said that it happened",
        " UTC)",
    ] {
        assert!(again.err.contains(words), "{words}: {again}");
    }
    assert_eq!(of_type(&home.events(&run), "action.reconciled").len(), 1);
}

#[test]
fn a_run_is_stopped_where_nobody_can_find_out() {
    let (counting, _run, action) = in_doubt();
    let stopped = counting.home.run(&["settle", &action, "stop"]);
    assert_eq!(stopped.status, 0, "{stopped}");
    assert_eq!(counting.home.runs()[0]["state"], "cancelled");
    assert_eq!(counting.labels(), ["one"]);
    let nothing = counting.home.run(&["approvals"]);
    assert!(nothing.out.contains("Nothing waits"), "{nothing}");
}

#[test]
fn a_second_process_may_not_act_on_an_intent_until_the_first_one_is_ended() {
    let counting = Counting::with(&["--slow-gate", GATE], Setup::scripted(marking()));
    let home = &counting.home;
    let first = home.spawn(&["run", &counting.agent("allow"), "Mark it."]);
    let run = first.run_id();
    counting.held();
    first.signal(Signal::STOP);
    let before = home.events(&run);
    assert_eq!(before.last().unwrap()["type"], "action.started");
    for words in [&["resume", run.as_str()][..], &["drive"]] {
        let second = home.run(words);
        assert!(matches!(second.status, 0 | 3), "{second}");
        assert_eq!(home.events(&run), before, "{words:?} did nothing");
        assert_eq!(counting.marks(), 0);
    }
    first.kill();
    let resumed = home.run(&["resume", &run]);
    assert_eq!(
        (resumed.status, counting.marks()),
        (3, 0),
        "in doubt: {resumed}"
    );
    let action = waiting(home)["action"].as_str().unwrap().to_owned();
    counting.let_go();
    let settled = home.run(&["settle", &action, "retry"]);
    assert_eq!(
        (settled.status, counting.labels()),
        (0, vec!["one".to_owned()]),
        "{settled}"
    );
    home.assert_whole();
}

#[test]
fn a_status_tool_that_can_not_say_leaves_it_to_a_person() {
    let script = vec![
        call("counter__mark_asked", json!({"label": "one"})),
        say("Marked."),
    ];
    let counting = Counting::with(
        &["--kinds", "--no-status", "--slow-gate-after", GATE],
        Setup::scripted(script),
    );
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.kinds(), "Mark it."]);
    let run = driving.run_id();
    counting.held();
    driving.kill();
    counting.let_go();
    let resumed = home.run(&["resume", &run]);
    assert_eq!((resumed.status, counting.marks()), (3, 1), "{resumed}");
    assert!(
        resumed.err.contains("its status tool can't say yet"),
        "{resumed}"
    );
    assert_eq!(of_type(&home.events(&run), "action.queried").len(), 4);
    assert_eq!(waiting(home)["waits_for"], "verdict");
}

#[test]
fn an_effect_is_taken_back_once_by_the_tool_that_its_tool_names() {
    let counting = Counting::with(&["--kinds"], Setup::scripted(marking()));
    let home = &counting.home;
    let run = home.run(&["run", &counting.kinds(), "Mark it."]).run_id();
    let action = waiting(home)["action"].as_str().unwrap().to_owned();
    let early = home.run(&["undo", &action]);
    assert_eq!(early.status, 2, "{early}");
    let approved = home.run(&["approve", &action]);
    assert_eq!(approved.status, 0, "{approved}");
    let undone = home.run(&["undo", &action[..8]]);
    assert_eq!(undone.status, 0, "{undone}");
    assert_eq!(counting.labels(), ["one", "-one"]);
    let events = home.events(&run);
    assert_eq!(
        of_type(&events, "action.compensated")[0]["action"],
        action.as_str()
    );
    assert_eq!(
        home.runs()[0]["state"],
        "unverified",
        "the run stays finished"
    );
    let again = home.run(&["undo", &action]);
    assert_eq!(again.status, 1, "{again}");
    for words in ["was taken back before", " UTC)"] {
        assert!(again.err.contains(words), "{words}: {again}");
    }
    assert_eq!(counting.marks(), 2);
}
