//! Several processes on one data folder, and on one run.

use longrein_store::{Store, TreeLock};
use longrein_testkit::provider::{Manner, Setup};
use longrein_testkit::{Scripted, call, say};
use rustix::process::Signal;
use serde_json::json;

use crate::counting::{Counting, MARK};
use crate::support::{Home, Provider, Running, assert_gapless, of_type, types, until};

fn marking() -> Vec<Scripted> {
    vec![call(MARK, json!({"label": "one"})), say("Marked.")]
}

#[test]
fn four_runs_at_once_on_one_data_folder_all_finish() {
    let home = Home::new();
    let running: Vec<Running> = (0..4).map(|_| home.spawn(&["demo", "--json"])).collect();
    for running in running {
        let demo = running.outcome();
        assert_eq!(demo.status, 0, "{demo}");
        assert_gapless(&demo.json());
    }
    let runs = home.runs();
    assert_eq!(runs.len(), 4);
    assert!(
        runs.iter().all(|run| run["state"] == "accepted"),
        "{runs:?}"
    );
    home.assert_whole();
}

#[test]
fn resume_of_a_run_that_another_process_drives_names_it_and_follows() {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    let provider = Provider::start(Setup::demo().in_manner(manner));
    let home = Home::with(&provider);
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let driving = home.spawn(&[
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ]);
    let run = driving.run_id();
    provider.held(1);
    let following = home.spawn(&["resume", &run, "--json"]);
    until("the holder's name", || {
        following.err().contains("Following it").then_some(())
    });
    let holder = format!("driven by process {} (longrein run)", driving.pid());
    assert!(following.err().contains(&holder), "{}", following.err());
    provider.mock.gate().open();
    let (driven, followed) = (driving.outcome(), following.outcome());
    assert_eq!(
        (driven.status, followed.status),
        (0, 0),
        "{driven}{followed}"
    );
    let events = home.events(&run);
    assert!(
        of_type(&events, "run.resumed").is_empty(),
        "the follower did nothing to the run"
    );
    let seen = followed.json();
    assert_eq!(types(&seen).last(), Some(&"run.finished"), "{followed}");
}

#[test]
fn a_stopped_holder_is_named_and_left_alone_until_the_run_is_taken_over() {
    let counting = Counting::new(true, Setup::scripted(marking()));
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.agent("allow"), "Mark it."]);
    let run = driving.run_id();
    counting.held();
    driving.signal(Signal::STOP);
    let before = home.events(&run);

    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 3, "{resumed}");
    assert!(
        resumed.err.contains(&format!("process {}", driving.pid())),
        "{resumed}"
    );
    assert!(resumed.out.contains("--take-over"), "{resumed}");
    assert_eq!(home.events(&run), before, "nothing was done to the run");

    let taken = home.run(&["resume", &run, "--take-over"]);
    assert_eq!(
        taken.status, 3,
        "what was in flight is for a person to settle: {taken}"
    );
    let mut driving = driving;
    assert!(!driving.wait().success(), "the holder was ended first");
    let events = home.events(&run);
    let action = of_type(&events, "action.uncertain")[0]["action"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(counting.marks(), 1);

    counting.let_go();
    let settled = home.run(&["settle", &action, "happened"]);
    assert_eq!(settled.status, 0, "{settled}");
    assert_eq!(counting.marks(), 1, "the effect happened once");
    assert_eq!(counting.provider.mock.count(), 2);
    home.assert_whole();
}

#[test]
fn a_killed_run_whose_effect_may_have_happened_asks_and_starts_it_again_only_when_told() {
    let counting = Counting::new(true, Setup::scripted(marking()));
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.agent("allow"), "Mark it."]);
    let run = driving.run_id();
    counting.held();
    driving.kill();
    let resumed = home.run(&["resume", &run]);
    assert_eq!((resumed.status, counting.marks()), (3, 1), "{resumed}");
    let command = resumed
        .out
        .lines()
        .find(|line| line.contains("longrein settle"))
        .unwrap();
    let action = command
        .split_whitespace()
        .skip_while(|word| *word != "settle")
        .nth(1)
        .unwrap();
    let waiting = home.run(&["approvals"]);
    assert!(waiting.out.contains(action), "{waiting}");
    counting.let_go();
    let settled = home.run(&["settle", action, "retry"]);
    assert_eq!((settled.status, counting.marks()), (0, 2), "{settled}");
}

#[test]
fn taking_over_a_process_that_drives_nothing_else_needs_no_yes_and_finishes_the_run() {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    let provider = Provider::start(Setup::demo().in_manner(manner));
    let home = Home::with(&provider);
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let driving = home.spawn(&[
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ]);
    let run = driving.run_id();
    provider.held(1);
    provider.mock.gate().open();
    driving.signal(Signal::STOP);
    let taken = home.run(&["resume", &run, "--take-over"]);
    assert_eq!(taken.status, 0, "{taken}");
    let events = home.events(&run);
    assert_gapless(&events);
    home.assert_whole();
}

#[test]
fn a_process_that_drives_several_runs_is_not_ended_without_a_yes() {
    let home = Home::new();
    home.configure(&crate::support::config("http://127.0.0.1:1/v1"));
    let agent = home.agent("");
    let runs: Vec<String> = (0..2)
        .map(|_| home.run(&["run", &agent, "Say it."]).run_id())
        .collect();
    // This very process becomes the driver of both.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = runtime.block_on(async { Store::open(home.data()).unwrap() });
    let _locks: Vec<_> = runs
        .iter()
        .map(|run| {
            let acquired = TreeLock::acquire(&store, run.parse().unwrap());
            runtime.block_on(acquired).unwrap()
        })
        .collect();
    let refused = home.run(&["resume", &runs[0], "--take-over"]);
    assert_eq!(refused.status, 2, "{refused}");
    let holder = format!("Process {}", std::process::id());
    for words in [&holder, &runs[1], "--yes"] {
        assert!(refused.err.contains(words), "{words}: {refused}");
    }
}

#[test]
fn a_stopped_holder_is_named_by_pause_and_cancel_and_obeys_when_it_goes_on() {
    for (verb, status, state) in [("pause", 3, "paused"), ("cancel", 130, "cancelled")] {
        let counting = Counting::new(true, Setup::scripted(marking()));
        let home = &counting.home;
        let driving = home.spawn(&["run", &counting.agent("allow"), "Mark it."]);
        let run = driving.run_id();
        counting.held();
        driving.signal(Signal::STOP);
        let before = home.events(&run);
        let wished = home.run(&[verb, &run]);
        assert_eq!(wished.status, 3, "{wished}");
        let holder = format!("process {} (longrein run), which is stopped", driving.pid());
        let go_on = format!("kill -CONT {}", driving.pid());
        let take_over = format!("longrein resume {run} --take-over");
        for words in [holder, go_on, take_over] {
            assert!(wished.out.contains(&words), "{words}: {wished}");
        }
        assert_eq!(home.events(&run), before, "the wish waits in the inbox");
        driving.signal(Signal::CONT);
        counting.let_go();
        let ended = driving.outcome();
        assert_eq!(ended.status, status, "{ended}");
        assert_eq!(home.runs()[0]["state"], state);
    }
}
