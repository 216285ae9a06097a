//! Looking back at runs, deriving them again, comparing them, and going on otherwise.

use std::path::Path;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{Scripted, call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider, of_type};

const AGENT: &str = "[tools]\nallow = [\"files\"]\n";

fn write(path: &str, content: &str) -> Scripted {
    call("write_file", json!({"path": path, "content": content}))
}

/// A run that writes a file, reads it, and says what it found; what a fork says follows.
fn read_and_said(further: Vec<Scripted>) -> (Home, String, Provider) {
    let mut script = vec![
        write("a.txt", "forty-one\n"),
        call("read_file", json!({"path": "a.txt"})),
        say("It is forty-one."),
    ];
    script.extend(further);
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(AGENT), "What is it?"]);
    assert_eq!(run.status, 0, "{run}");
    let run = home.only_run();
    (home, run, provider)
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

/// The number of the event by which the action of a tool ended, and the action.
fn ended(events: &[Value], tool: &str) -> (String, String) {
    let proposed = of_type(events, "action.proposed");
    let proposed = proposed.iter().find(|event| event["tool"] == tool).unwrap();
    let finished = of_type(events, "action.finished");
    let mut finished = finished
        .iter()
        .filter(|event| event["action"] == proposed["action"]);
    let seq = finished.next().unwrap()["seq"].to_string();
    (seq, proposed["action"].as_str().unwrap().to_owned())
}

fn fork(home: &Home, words: &[&str]) -> String {
    let forked = good(home.run(&[&["fork"], words, &["--json"]].concat()));
    forked.json()[0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_is_shown_as_it_was_at_an_event_and_every_event_is_a_point() {
    let (home, run, _provider) = read_and_said(Vec::new());
    let events = home.events(&run);
    let (seq, _) = ended(&events, "write_file");
    let then = good(home.run(&["replay", &run, "--to", &seq]));
    assert!(
        then.out.contains("a.txt") && then.out.contains(&format!("At event {seq}")),
        "{then}"
    );
    assert!(!then.out.contains("It is forty-one."), "{then}");
    let whole = good(home.run(&["replay", &run]));
    assert!(whole.out.contains("It is forty-one."), "{whole}");
    let points = good(home.run(&["replay", &run, "--json", "--from", "2"])).json();
    assert_eq!(points.len(), events.len() - 1);
    assert_eq!(
        (&points[0]["seq"], &points[0]["kind"]),
        (&events[1]["seq"], &events[1]["type"])
    );
    let beyond = home.run(&["replay", &run, "--to", "9999"]);
    assert_eq!(beyond.status, 2, "{beyond}");
}

#[test]
fn a_run_is_derived_again_and_what_differs_is_listed_with_status_1() {
    let (home, run, _provider) = read_and_said(Vec::new());
    let same = good(home.run(&["replay", &run, "--verify"]));
    assert!(
        same.out.contains("All of it is what the log says."),
        "{same}"
    );
    let told = &good(home.run(&["replay", &run, "--verify", "--json"])).json()[0];
    for derived in ["decisions", "contexts", "requests", "facts"] {
        assert!(told[derived].as_u64().unwrap() > 0, "{derived}: {told}");
    }
    assert_eq!(
        (&told["holds"], &told["underived"]),
        (&json!(true), &json!([]))
    );
    // Requests can't be put together without the provider's format; their bytes still can.
    home.write("data/config.toml", "");
    let told = &good(home.run(&["replay", &run, "--verify", "--json"])).json()[0];
    assert_eq!(told["contexts"], 0, "{told}");
    assert!(told["requests"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(told["underived"].as_array().unwrap().len(), 1, "{told}");
}

#[test]
fn two_runs_are_compared_by_their_steps_and_forks_share_what_they_were_copied_from() {
    let (home, run, _provider) = read_and_said(vec![say("It is another one.")]);
    let events = home.events(&run);
    let (seq, _) = ended(&events, "read_file");
    let same = good(home.run(&["compare", &run, &run]));
    assert!(same.out.contains("They say the same."), "{same}");
    let forked = fork(&home, &[&run, "--at", &seq]);
    good(home.run(&["resume", &forked]));
    let differs = good(home.run(&["compare", &run, &forked]));
    for line in [
        &format!("share their first {seq} events"),
        "They part in step",
        "It is forty-one.",
        "It is another one.",
    ] {
        assert!(differs.out.contains(line), "{line}: {differs}");
    }
    let steps = good(home.run(&["compare", &run, &forked, "--json"])).json();
    assert_eq!(steps[0]["same"], true, "{steps:?}");
    assert_eq!(steps.last().unwrap()["same"], false, "{steps:?}");
    home.assert_whole();
}

#[test]
fn a_fork_goes_on_with_other_instructions_rules_settings_and_another_result() {
    let (home, run, _provider) = read_and_said(vec![say("It is seven.")]);
    let events = home.events(&run);
    let (seq, action) = ended(&events, "read_file");
    let forked = fork(
        &home,
        &[
            &run,
            "--at",
            &seq,
            "--instructions",
            "Work otherwise.",
            "--rule",
            "{ tool = \"write_file\", decision = \"deny\" }",
            "--set",
            "budget.steps=9",
            "--result",
            &format!("{}=seven", &action[..8]),
        ],
    );
    let shown = good(home.run(&["show", &forked]));
    assert!(
        shown.out.contains("you changed its result for this fork"),
        "{shown}"
    );
    good(home.run(&["resume", &forked]));
    let events = home.events(&forked);
    let marked = &of_type(&events, "run.forked")[0];
    assert_eq!(marked["agent"]["instructions"], "Work otherwise.");
    assert_eq!(marked["agent"]["policy"][0]["decision"], "deny");
    assert_eq!(marked["agent"]["budget"]["steps"], 9);
    let asked = good(home.run(&["show", &forked, "--request", "3", "--raw"]));
    assert!(
        asked.out.contains("Work otherwise.") && asked.out.contains("seven"),
        "{asked}"
    );
    // The file was written with it, and what the tool returned no longer stands there.
    let results = asked.out.matches("forty-one").count();
    assert_eq!(results, 1, "{asked}");
    home.assert_whole();
}

#[test]
fn a_change_that_can_not_be_is_refused_and_begins_nothing() {
    let (home, run, _provider) = read_and_said(Vec::new());
    let events = home.events(&run);
    let (_, action) = ended(&events, "read_file");
    let early = format!("{action}=x");
    for words in [
        &["--set", "budget.stepz=9"][..],
        &["--set", "budget.steps=many"],
        &["--rule", "nothing"],
        &["--result", "nobody=x"],
        // It had not ended by then.
        &["--at", "3", "--result", &early],
        &["--instructions", "@/does/not/exist"],
    ] {
        let refused = home.run(&[&["fork", &run], words].concat());
        assert_eq!(refused.status, 2, "{words:?}: {refused}");
    }
    assert_eq!(home.runs().len(), 1);
    assert!(
        !Path::new(&home.path().join("data.work"))
            .read_dir()
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy() != run })
    );
}
