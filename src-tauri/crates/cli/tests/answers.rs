//! What a person wants of a run: approve, deny, cancel, pause, steer.

use longrein_testkit::provider::{Answer, Manner, Setup};
use longrein_testkit::{Scripted, call, say};
use serde_json::json;

use crate::support::{Home, Provider, of_type, until};

/// A file that only a person may let be written.
const ASK: &str =
    "[tools]\nallow = [\"files\"]\n\n[[policy]]\ntool = \"write_file\"\ndecision = \"ask\"\n";

fn writing() -> Vec<Scripted> {
    vec![
        call(
            "write_file",
            json!({"path": "a.txt", "content": "words\u{1b}[31m"}),
        ),
        say("Done."),
    ]
}

/// A run that stopped because it needs an answer: its home, its provider, its id, its action.
fn asked(script: Vec<Scripted>) -> (Home, Provider, String, String) {
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(ASK), "Write it."]);
    assert_eq!(run.status, 3, "{run}");
    assert!(run.out.contains("Waiting for you"), "{run}");
    let command = run
        .out
        .lines()
        .find(|line| line.contains("longrein approve "))
        .unwrap();
    let action = command.split_whitespace().last().unwrap().to_owned();
    let id = run.run_id();
    (home, provider, id, action)
}

#[test]
fn without_a_terminal_a_run_parks_for_an_answer_and_approve_goes_on_with_it() {
    let (home, provider, run, action) = asked(writing());
    let listed = home.run(&["approvals"]);
    assert!(
        listed.out.contains("write_file") && listed.out.contains(&action),
        "{listed}"
    );
    assert!(listed.out.contains("asked because: "), "{listed}");
    assert!(!listed.out.contains('\u{1b}'), "{listed:?}");
    let json = home.run(&["approvals", "--json"]).json();
    assert_eq!(json[0]["arguments"]["path"], "a.txt");

    let approved = home.run(&["approve", &action]);
    assert_eq!(approved.status, 0, "{approved}");
    assert!(
        approved.err.contains("\"path\": \"a.txt\""),
        "what was approved is shown: {approved}"
    );
    let events = home.events(&run);
    assert_eq!(of_type(&events, "approval.resolved")[0]["approved"], true);
    assert_eq!(of_type(&events, "action.started").len(), 1);
    assert_eq!(provider.mock.count(), 2);
    assert!(home.run(&["approvals"]).out.contains("Nothing waits"));

    let again = home.run(&["approve", &action]);
    assert_eq!(
        again.status, 1,
        "an approval starts an action once: {again}"
    );
}

#[test]
fn a_refusal_is_told_to_the_model_with_its_reason() {
    let (home, provider, run, action) = asked(writing());
    let before = home.events(&run);
    let refused = home.run(&["deny", &action, "--reason", "  "]);
    assert_eq!(refused.status, 2, "a refusal needs a reason: {refused}");
    assert_eq!(home.events(&run), before);
    let denied = home.run(&["deny", &action[..6], "--reason", "not that file"]);
    assert_eq!(denied.status, 0, "{denied}");
    let events = home.events(&run);
    assert!(of_type(&events, "action.started").is_empty());
    assert!(provider.mock.seen()[1].contains("not that file"));
}

#[test]
fn with_wait_a_run_goes_on_when_another_process_answers() {
    let provider = Provider::start(Setup::scripted(writing()));
    let home = Home::with(&provider);
    let waiting = home.spawn(&["run", &home.agent(ASK), "Write it.", "--wait"]);
    let action = until("the question", || {
        let listed = home.run(&["approvals", "--json"]).json();
        listed
            .first()
            .map(|asked| asked["action"].as_str().unwrap().to_owned())
    });
    let approved = home.run(&["approve", &action]);
    assert_eq!(approved.status, 0, "{approved}");
    assert!(
        approved.out.contains(&format!("process {}", waiting.pid())),
        "{approved}"
    );
    let done = waiting.outcome();
    assert_eq!(done.status, 0, "{done}");
}

/// A provider that holds its first answer, and a run that waits for it.
fn held(script: Vec<Scripted>) -> (Home, Provider) {
    let scripted = Setup::scripted(script).brain;
    let provider = Provider::start(Setup::of(move |request| {
        let manner = Manner {
            hold_after: (request.number == 1).then_some(1),
            ..Manner::default()
        };
        Answer {
            manner: Some(manner),
            ..scripted(request)
        }
    }));
    (Home::with(&provider), provider)
}

#[test]
fn a_cancelled_run_ends_for_good_wherever_it_is_driven() {
    let (home, provider) = held(writing());
    let driving = home.spawn(&[
        "run",
        &home.agent("[tools]\nallow = [\"files\"]\n"),
        "Write.",
    ]);
    let run = driving.run_id();
    provider.held(1);
    let cancelled = home.run(&["cancel", &run]);
    assert_eq!(cancelled.status, 0, "{cancelled}");
    assert_eq!(driving.outcome().status, 130);
    assert_eq!(home.runs()[0]["state"], "cancelled");
    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 2, "{resumed}");
}

#[test]
fn a_run_that_nobody_drives_can_be_cancelled_too() {
    let (home, _provider, run, _) = asked(writing());
    let cancelled = home.run(&["cancel", &run]);
    assert_eq!(cancelled.status, 0, "{cancelled}");
    assert_eq!(home.runs()[0]["state"], "cancelled");
}

#[test]
fn a_paused_run_stops_before_its_next_step_and_resumes() {
    let (home, provider) = held(writing());
    let driving = home.spawn(&[
        "run",
        &home.agent("[tools]\nallow = [\"files\"]\n"),
        "Write.",
    ]);
    let run = driving.run_id();
    provider.held(1);
    let pausing = home.spawn(&["pause", &run]);
    // The wish is in the log as soon as the inbox has it; only then may the answer come.
    until("the wish", || {
        let connection = rusqlite::Connection::open(home.database()).unwrap();
        let count = "SELECT count(*) FROM inbox";
        connection
            .query_row(count, [], |row| row.get::<_, i64>(0))
            .ok()
            .filter(|count| *count > 0)
    });
    provider.mock.gate().open();
    let (paused, driven) = (pausing.outcome(), driving.outcome());
    assert_eq!((paused.status, driven.status), (0, 3), "{paused}{driven}");
    assert!(
        driven.out.contains(&format!("longrein resume {run}")),
        "{driven}"
    );
    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 0, "{resumed}");
}

#[test]
fn words_reach_a_run_before_its_next_step_and_open_a_turn_after_its_end() {
    let script = vec![say("First."), say("Second."), say("Third.")];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(""), "Begin."]);
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.out.contains("First."),
        "the answer is the result: {run}"
    );
    let id = run.run_id();
    let finished = home.run(&["resume", &id]);
    assert_eq!(
        (finished.status, provider.mock.count()),
        (0, 1),
        "{finished}"
    );
    let more = home.run(&["resume", &id, "And in short?"]);
    assert_eq!(more.status, 0, "{more}");
    assert!(more.out.contains("Second."), "{more}");
    assert!(provider.mock.seen()[1].contains("And in short?"));
    let steered = home.run(&["steer", &id, "In one word."]);
    assert_eq!(steered.status, 0, "{steered}");
    assert!(provider.mock.seen()[2].contains("In one word."));
}
