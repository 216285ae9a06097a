//! `drive`: what was going and has no driver is taken up.

use longrein_testkit::provider::{Answer, Manner, Setup};
use longrein_testkit::{call, say};
use serde_json::json;

use crate::support::{Home, Provider, of_type};

/// A provider that holds its first answer; the same request gets the same answer.
fn held() -> Provider {
    Provider::start(Setup::of(|request| {
        let scripted = if request.replies() == 0 {
            call("write_file", json!({"path": "a.txt", "content": "x"}))
        } else {
            say("Done.")
        };
        let brain = Setup::scripted(vec![scripted]).brain;
        let first = longrein_testkit::SeenRequest {
            number: 1,
            body: request.body.clone(),
        };
        Answer {
            manner: Some(Manner {
                hold_after: (request.number == 1).then_some(1),
                ..Manner::default()
            }),
            ..brain(&first)
        }
    }))
}

/// A run that was killed while its first request was out.
fn killed(lines: &str) -> (Home, Provider, String) {
    let provider = held();
    let home = Home::with(&provider);
    let running = home.spawn(&["run", &home.agent(lines), "Write it."]);
    let run = running.run_id();
    provider.held(1);
    running.kill();
    provider.mock.gate().open();
    assert_eq!(home.runs()[0]["state"], "interrupted");
    (home, provider, run)
}

#[test]
fn a_run_whose_process_was_killed_is_driven_to_its_end() {
    let (home, _provider, run) = killed("[tools]\nallow = [\"files\"]\n");
    let driven = home.run(&["drive"]);
    assert_eq!(driven.status, 0, "{driven}");
    assert!(
        driven.out.contains(&run) && driven.out.contains("finished"),
        "{driven}"
    );
    assert_eq!(of_type(&home.events(&run), "run.resumed").len(), 1);
    let nothing = home.run(&["drive"]);
    assert_eq!(nothing.status, 0, "{nothing}");
    assert!(nothing.out.contains("Nothing was going"), "{nothing}");
    home.assert_whole();
}

#[test]
fn a_run_that_comes_to_need_a_person_is_let_go_and_goes_on_when_they_answer() {
    let ask =
        "[tools]\nallow = [\"files\"]\n\n[[policy]]\ntool = \"write_file\"\ndecision = \"ask\"\n";
    let (home, _provider, _run) = killed(ask);
    let driven = home.run(&["drive", "--json"]);
    assert_eq!(driven.status, 3, "{driven}");
    assert_eq!(driven.json()[0]["state"], "waiting", "{driven}");
    let again = home.run(&["drive"]);
    assert!(
        again.out.contains("Nothing was going"),
        "who waits is left alone: {again}"
    );
    let waiting = home.run(&["approvals", "--json"]).json();
    let action = waiting[0]["action"].as_str().unwrap();
    let approved = home.run(&["approve", action]);
    assert_eq!(approved.status, 0, "{approved}");
}
