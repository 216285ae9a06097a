//! Programs that call the run's tools: each call an action of its own, whatever happens to the app.

use std::collections::BTreeSet;
use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{Scripted, call, say};
use serde_json::{Value, json};

use super::{Place, get, good, number, told};
use crate::support::{Home, Provider, in_repository, of_type, until};

/// How often a program calls a tool, and how many of the calls are over when the app is killed.
const CALLS: (&str, u32) = ("LONGREIN_TEST_CALLS", 200);
const KILLED_AT: usize = 120;

on_all!(
    a_program_calls_a_tool_often_and_the_model_is_told_what_it_prints,
    a_program_goes_on_through_a_kill_and_each_call_is_made_once,
    a_call_that_needs_an_approval_waits_for_it_and_the_program_goes_on,
);

/// A home with the counting server, and an agent whose programs may call it.
struct Marking {
    home: Home,
    provider: Provider,
    agent: String,
}

impl Marking {
    fn at(place: &Place, mark: &str, script: Vec<Scripted>) -> Self {
        let (home, provider) = place.home_with(Setup::scripted(script));
        let server = in_repository("tests/fixtures/counter/counter.py");
        let words = json!([
            "python3",
            server.to_string_lossy(),
            home.path().join("marks").to_string_lossy()
        ]);
        let config = home.data().join("config.toml");
        let before = fs::read_to_string(&config).unwrap();
        home.configure(&format!("{before}\n[mcp.counter]\ncommand = {words}\n"));
        let agent = place.agent(&home, "", mark);
        let text = fs::read_to_string(&agent).unwrap();
        let grants = "\"run_code\", \"counter.*\"]";
        fs::write(&agent, text.replace("\"run_code\"]", grants)).unwrap();
        Self {
            home,
            provider,
            agent,
        }
    }

    fn labels(&self) -> Vec<String> {
        let marks = fs::read_to_string(self.home.path().join("marks")).unwrap_or_default();
        let label = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        marks.lines().map(label).collect()
    }

    fn assert_marked_once(&self, calls: u32) {
        let labels = self.labels();
        let each: BTreeSet<&String> = labels.iter().collect();
        assert_eq!(labels.len(), calls as usize, "{labels:?}");
        assert_eq!(each.len(), labels.len(), "one was marked twice: {labels:?}");
    }
}

/// Marking starts without asking, and is never repeated.
const MARKS_FREELY: &str = "[tools.\"counter.mark\"]\neffect = \"workspace\"\nrepeat = \"once\"\n";

fn program(calls: u32) -> Scripted {
    let code = format!(
        "import tools\nfor n in range({calls}):\n    tools.counter.mark(label=f'n{{n}}')\nprint('marked', n + 1)"
    );
    call("run_code", json!({"code": code, "intent": "Mark them"}))
}

/// The calls that a run's programs made, as they were proposed.
fn calls_of(events: &[Value]) -> Vec<&Value> {
    let proposed = of_type(events, "action.proposed").into_iter();
    proposed.filter(|event| event["by"] == "program").collect()
}

fn a_program_calls_a_tool_often_and_the_model_is_told_what_it_prints(place: &Place) {
    let calls = number(CALLS);
    let marking = Marking::at(place, MARKS_FREELY, vec![program(calls), say("Done.")]);
    good(marking.home.run(&["run", &marking.agent, "Mark them."]));
    marking.assert_marked_once(calls);
    let told = told(&marking.provider);
    assert!(told.contains(&format!("marked {calls}")), "{told}");
    assert!(told.len() < 300, "{told}");
    let run = marking.home.only_run();
    let events = marking.home.events(&run);
    assert_eq!(calls_of(&events).len(), calls as usize);
    assert_eq!(
        of_type(&events, "action.finished").len(),
        calls as usize + 1
    );
    place.assert_gone(&marking.home, &run);
    marking.home.assert_whole();
}

fn a_program_goes_on_through_a_kill_and_each_call_is_made_once(place: &Place) {
    let calls = number(CALLS);
    let marking = Marking::at(place, MARKS_FREELY, vec![program(calls), say("Done.")]);
    let home = &marking.home;
    let running = home.spawn(&["run", &marking.agent, "Mark them."]);
    let run = running.run_id();
    until("enough calls", || {
        (marking.labels().len() >= KILLED_AT).then_some(())
    });
    running.kill();
    let mut resumed = home.run(&["resume", &run]);
    if resumed.status == 3 {
        // The kill fell inside a call: nobody knows but the person, who looks at the marks.
        let events = home.events(&run);
        let doubt = of_type(&events, "action.uncertain");
        assert_eq!(doubt.len(), 1, "{resumed}");
        let action = doubt[0]["action"].as_str().unwrap();
        let mut proposed = calls_of(&events).into_iter();
        let asked = proposed.rfind(|call| call["action"] == action);
        let asked = asked.unwrap()["arguments"].to_string();
        let happened = marking.labels().iter().any(|label| {
            asked.contains(&format!("{label}\\")) || asked.contains(&format!("\"{label}\""))
        });
        let verdict = if happened { "happened" } else { "retry" };
        resumed = home.run(&["settle", action, verdict]);
        if resumed.status == 3 || home.runs()[0]["state"] != "unverified" {
            resumed = home.run(&["resume", &run]);
        }
    }
    good(resumed);
    marking.assert_marked_once(calls);
    let told = told(&marking.provider);
    assert!(told.contains(&format!("marked {calls}")), "{told}");
    place.assert_gone(home, &run);
    home.assert_whole();
}

fn a_call_that_needs_an_approval_waits_for_it_and_the_program_goes_on(place: &Place) {
    let asks = "[[policy]]\ntool = \"counter.mark\"\ndecision = \"ask\"\n";
    let marking = Marking::at(place, asks, vec![program(1), say("Done.")]);
    let home = &marking.home;
    let waits = home.run(&["run", &marking.agent, "Mark it."]);
    assert_eq!(waits.status, 3, "{waits}");
    assert_eq!(marking.labels().len(), 0);
    let run = home.only_run();
    if let Place::Engine(engine) = place {
        let containers = get(engine, "/containers/json?all=1");
        let ours = containers.as_array().unwrap().iter();
        let ours = ours.filter(|found| found["Labels"]["longrein.run"] == run.as_str());
        let states: Vec<&Value> = ours.map(|found| &found["State"]).collect();
        assert_eq!(states, ["paused"], "the program stands still");
    }
    let listed = home.run(&["approvals", "--json"]).json();
    assert_eq!(listed.len(), 1, "{listed:?}");
    good(home.run(&["approve", listed[0]["action"].as_str().unwrap()]));
    marking.assert_marked_once(1);
    let told = told(&marking.provider);
    assert!(told.contains("marked 1"), "{told}");
    place.assert_gone(home, &run);
}
