//! Programs that call the run's tools: each call an action of its own, whatever happens to the app.

use std::collections::BTreeSet;
use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{Scripted, call, say};
use serde_json::{Value, json};

use super::seen::boxes_of;
use super::{Place, good, number, told, work};
use crate::support::{Home, Outcome, Provider, in_repository, of_type, until};

/// How often a program calls a tool, and how many of the calls are over when the app is killed.
const CALLS: (&str, u32) = ("LONGREIN_TEST_CALLS", 200);
const KILLED_AT: usize = 120;

/// How many calls the programs make that are killed at many points.
const SWEPT_CALLS: u32 = 12;
/// How many calls are over when the app is killed, one time after the other.
const SWEPT_AT: &[usize] = &[1, 4, 7, 11];

on_all!(
    a_program_reads_much_and_the_model_is_told_the_little_that_it_prints,
    a_program_goes_on_wherever_the_kill_falls,
    a_program_whose_box_is_gone_is_begun_anew_and_no_call_is_made_twice,
    a_program_whose_box_is_gone_at_many_points_makes_each_call_once,
    an_approval_holds_for_a_program_that_is_begun_anew,
    a_program_with_threads_is_begun_anew_and_no_call_is_made_twice,
    what_outlives_a_program_calls_nothing_that_is_not_on_record,
    a_program_that_goes_another_way_than_before_is_put_to_the_person,
    a_program_calls_a_tool_often_and_the_model_is_told_what_it_prints,
    a_program_goes_on_through_a_kill_and_each_call_is_made_once,
    a_call_that_needs_an_approval_waits_for_it_and_the_program_goes_on,
);

/// A home with the counting server, and an agent whose programs may call it.
pub struct Marking {
    pub home: Home,
    pub provider: Provider,
    pub agent: String,
}

impl Marking {
    pub fn at(place: &Place, mark: &str, script: Vec<Scripted>) -> Self {
        Self::with(place, mark, script, &[])
    }

    /// The same with further options of the server.
    pub fn with(place: &Place, mark: &str, script: Vec<Scripted>, options: &[&str]) -> Self {
        let (home, provider) = place.home_with(Setup::scripted(script));
        let server = in_repository("tests/fixtures/counter/counter.py");
        let marks = home.path().join("marks");
        let mut words = vec![json!("python3"), json!(server), json!(marks)];
        words.extend(options.iter().map(|option| match option.starts_with("--") {
            true => json!(option),
            // A file of the home.
            false => json!(home.path().join(option)),
        }));
        let words = Value::from(words);
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

    pub fn labels(&self) -> Vec<String> {
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
pub const MARKS_FREELY: &str =
    "[tools.\"counter.mark\"]\neffect = \"workspace\"\nrepeat = \"once\"\n";

/// A person is asked about each mark.
const MARKS_ASKED: &str = "[[policy]]\ntool = \"counter.mark\"\ndecision = \"ask\"\n";

fn program(calls: u32) -> Scripted {
    let code = format!(
        "import tools\nprint('begun', file=open('begun', 'a'))\ntools.write_file(path='by-tool', content='by a tool')\nfor n in range({calls}):\n    tools.counter.mark(label=f'n{{n}}')\nprint('marked', n + 1)"
    );
    call("run_code", json!({"code": code, "intent": "Mark them"}))
}

/// The calls that a run's programs made, as they were proposed.
pub fn calls_of(events: &[Value]) -> Vec<&Value> {
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
    // One of them writes a file.
    assert_eq!(calls_of(&events).len(), calls as usize + 1);
    assert_eq!(
        of_type(&events, "action.finished").len(),
        calls as usize + 2
    );
    place.assert_gone(&marking.home, &run);
    marking.home.assert_whole();
}

/// What the app is killed in the middle of.
struct Killing {
    calls: u32,
    /// How many calls are over.
    at: usize,
    /// What becomes of the box.
    and_box: AndBox,
}

/// What becomes of the box when the app is killed.
#[derive(Clone, Copy)]
enum AndBox {
    Stays,
    Ends,
    Goes,
}

/// Kills the app while a program calls, and lets another one take its run up.
fn killed(place: &Place, killing: &Killing) -> (Marking, String) {
    killed_in(place, killing, program(killing.calls))
}

fn killed_in(place: &Place, killing: &Killing, program: Scripted) -> (Marking, String) {
    let marking = Marking::at(place, MARKS_FREELY, vec![program, say("Done.")]);
    let home = &marking.home;
    let running = home.spawn(&["run", &marking.agent, "Mark them."]);
    let run = running.run_id();
    until("enough calls", || {
        (marking.labels().len() >= killing.at).then_some(())
    });
    running.kill();
    match killing.and_box {
        AndBox::Stays => {}
        AndBox::Ends => place.end_box(&run),
        AndBox::Goes => place.remove_box(home, &run),
    }
    let resumed = home.run(&["resume", &run]);
    good(settled(&marking, &run, resumed));
    marking.assert_marked_once(killing.calls);
    let told = told(&marking.provider);
    assert!(
        told.contains(&format!("marked {}", killing.calls)),
        "{told}"
    );
    place.assert_gone(home, &run);
    home.assert_whole();
    (marking, run)
}

/// Where the kill fell inside a call, nobody knows but the person, who looks at the marks.
fn settled(marking: &Marking, run: &str, resumed: Outcome) -> Outcome {
    if resumed.status != 3 {
        return resumed;
    }
    let home = &marking.home;
    let events = home.events(run);
    let doubt = of_type(&events, "action.uncertain");
    assert!((1..=THREADS).contains(&doubt.len()), "{resumed}");
    let mut said = resumed;
    for doubt in doubt {
        let action = doubt["action"].as_str().unwrap();
        let mut proposed = calls_of(&events).into_iter();
        let asked = proposed.rfind(|call| call["action"] == action);
        let asked = asked.unwrap()["arguments"].to_string();
        let happened = marking.labels().iter().any(|label| {
            asked.contains(&format!("{label}\\")) || asked.contains(&format!("\"{label}\""))
        });
        let verdict = if happened { "happened" } else { "retry" };
        said = home.run(&["settle", action, verdict]);
    }
    match said.status == 3 || home.runs()[0]["state"] != "unverified" {
        true => home.run(&["resume", run]),
        false => said,
    }
}

fn a_program_goes_on_through_a_kill_and_each_call_is_made_once(place: &Place) {
    let killing = Killing {
        calls: number(CALLS),
        at: KILLED_AT,
        and_box: AndBox::Stays,
    };
    killed(place, &killing);
}

fn a_program_goes_on_wherever_the_kill_falls(place: &Place) {
    for at in SWEPT_AT {
        let killing = Killing {
            calls: SWEPT_CALLS,
            at: *at,
            and_box: AndBox::Stays,
        };
        killed(place, &killing);
    }
}

fn a_program_whose_box_is_gone_is_begun_anew_and_no_call_is_made_twice(place: &Place) {
    let killing = Killing {
        calls: number(CALLS),
        at: KILLED_AT,
        and_box: AndBox::Goes,
    };
    let (marking, run) = killed(place, &killing);
    let events = marking.home.events(&run);
    // The file is written again, since it was taken back.
    assert_eq!(calls_of(&events).len(), killing.calls as usize + 2);
    let again = of_type(&events, "action.progressed").into_iter();
    let again = again.filter(|event| event["what"]["replayed"].is_object());
    assert!(
        again.count() >= KILLED_AT,
        "they are answered from the record"
    );
    let told = told(&marking.provider);
    assert!(told.contains("begun anew"), "{told}");
    // Begun twice, it has written its file once: the files were laid back.
    let begun = work(&marking.home).join(&run).join("begun");
    assert_eq!(fs::read_to_string(begun).unwrap(), "begun\n");
    let by_tool = work(&marking.home).join(&run).join("by-tool");
    assert_eq!(fs::read_to_string(by_tool).unwrap(), "by a tool");
}

fn a_program_whose_box_is_gone_at_many_points_makes_each_call_once(place: &Place) {
    for (at, and_box) in SWEPT_AT
        .iter()
        .zip([AndBox::Ends, AndBox::Goes].iter().cycle())
    {
        let killing = Killing {
            calls: SWEPT_CALLS,
            at: *at,
            and_box: *and_box,
        };
        killed(place, &killing);
    }
}

/// How many calls a program makes that then goes another way.
const MADE: usize = 5;
/// How many calls of one program go on side by side.
const THREADS: usize = 4;

fn a_program_with_threads_is_begun_anew_and_no_call_is_made_twice(place: &Place) {
    let code = format!(
        "import tools\nfrom concurrent.futures import ThreadPoolExecutor\n\
         def mark(n):\n    return tools.counter.mark(label=f'n{{n}}')\n\
         with ThreadPoolExecutor({THREADS}) as pool:\n    print('marked', len(list(pool.map(mark, range(40)))))"
    );
    let killing = Killing {
        calls: 40,
        at: 20,
        and_box: AndBox::Goes,
    };
    let program = call("run_code", json!({"code": code, "intent": "Mark them"}));
    killed_in(place, &killing, program);
}

fn what_outlives_a_program_calls_nothing_that_is_not_on_record(place: &Place) {
    let code = "import os, time, tools\nparent = os.getpid()\n\
        if os.fork() == 0:\n    os.setsid()\n    while os.getppid() == parent:\n        time.sleep(0.001)\n    for n in range(1000):\n        tools.counter.mark(label=f'late{n}')\n\
        print('over')";
    let program = call(
        "run_code",
        json!({"code": code, "intent": "Leave one behind"}),
    );
    let marking = Marking::at(place, MARKS_FREELY, vec![program, say("Over.")]);
    good(
        marking
            .home
            .run(&["run", &marking.agent, "Leave one behind."]),
    );
    let run = marking.home.only_run();
    place.assert_gone(&marking.home, &run);
    let events = marking.home.events(&run);
    let program = &of_type(&events, "action.proposed")[0]["action"];
    let mut ended = of_type(&events, "action.finished").into_iter();
    let ended = ended.find(|end| end["action"] == *program).unwrap();
    let ended = ended["seq"].as_u64();
    let mut calls = calls_of(&events).into_iter();
    assert!(calls.all(|call| call["seq"].as_u64() < ended));
    assert!(marking.labels().len() <= calls_of(&events).len());
}

fn an_approval_holds_for_a_program_that_is_begun_anew(place: &Place) {
    let marking = Marking::at(place, MARKS_ASKED, vec![program(1), say("Done.")]);
    let home = &marking.home;
    let waits = home.run(&["run", &marking.agent, "Mark it."]);
    assert_eq!(waits.status, 3, "{waits}");
    let run = home.only_run();
    place.remove_box(home, &run);
    let listed = home.run(&["approvals", "--json"]).json();
    good(home.run(&["approve", listed[0]["action"].as_str().unwrap()]));
    marking.assert_marked_once(1);
    let events = home.events(&run);
    assert_eq!(of_type(&events, "approval.requested").len(), 1);
    place.assert_gone(home, &run);
}

fn a_program_that_goes_another_way_than_before_is_put_to_the_person(place: &Place) {
    // It rests after some calls, so that the kill falls into none of them.
    let code = format!(
        "import time, tools\nfor n in range({}):\n    tools.counter.mark(label=f'n{{n}}-{{time.time_ns()}}')\ntime.sleep(300)",
        MADE
    );
    let program = call("run_code", json!({"code": code, "intent": "Mark them"}));
    let marking = Marking::at(place, MARKS_FREELY, vec![program, say("Done.")]);
    let home = &marking.home;
    let running = home.spawn(&["run", &marking.agent, "Mark them."]);
    let run = running.run_id();
    until("all calls, on record", || {
        let ended = of_type(&home.events(&run), "action.finished").len();
        (ended >= MADE).then_some(())
    });
    running.kill();
    place.remove_box(home, &run);
    let marks = marking.labels().len();
    let handed = home.run(&["resume", &run]);
    assert_eq!(handed.status, 3, "{handed}");
    assert_eq!(
        marking.labels().len(),
        marks,
        "nothing is done in other words"
    );
    let events = home.events(&run);
    let doubts = of_type(&events, "action.uncertain").into_iter();
    let doubts: Vec<&str> = doubts.filter_map(|event| event["why"].as_str()).collect();
    let way = doubts.iter().find(|why| why.contains("went another way"));
    assert!(
        way.is_some_and(|why| why.contains("counter.mark")),
        "{doubts:?}"
    );
    good(home.run(&["cancel", &run]));
    place.assert_gone(home, &run);
}

/// A program that reads two hundred times, keeps a dozen of the results, and prints 300 bytes.
const READS: &str = "import tools\nkept = [tools.counter.echo(text=f'result {n} ' + 'x' * 500) for n in range(200)][::17][:12]\nprint('y' * 299)";
/// The bytes of a request that a call and its result take beside what they say.
const FRAME_BYTES: usize = 400;

fn a_program_reads_much_and_the_model_is_told_the_little_that_it_prints(place: &Place) {
    let reads = "[tools.\"counter.echo\"]\neffect = \"read\"\n";
    let program = call("run_code", json!({"code": READS, "intent": "Read"}));
    let marking = Marking::at(place, reads, vec![program, say("Read.")]);
    good(marking.home.run(&["run", &marking.agent, "Read them."]));
    let seen = marking.provider.mock.seen();
    let lengths: Vec<usize> = seen.iter().map(|request| request.body.len()).collect();
    assert_eq!(lengths.len(), 2);
    let said = json!(READS).to_string().len() + 300;
    let grown = lengths[1] - lengths[0];
    assert!(grown <= said + FRAME_BYTES, "{grown} is more than {said}");
    let body = String::from_utf8_lossy(&seen[1].body).into_owned();
    assert!(
        body.contains(&"y".repeat(299)) && !body.contains("xxx"),
        "{body}"
    );
    let run = marking.home.only_run();
    let events = marking.home.events(&run);
    assert_eq!(calls_of(&events).len(), 200);
    place.assert_gone(&marking.home, &run);
    marking.home.assert_whole();
}

fn a_call_that_needs_an_approval_waits_for_it_and_the_program_goes_on(place: &Place) {
    let marking = Marking::at(place, MARKS_ASKED, vec![program(1), say("Done.")]);
    let home = &marking.home;
    let waits = home.run(&["run", &marking.agent, "Mark it."]);
    assert_eq!(waits.status, 3, "{waits}");
    assert_eq!(marking.labels().len(), 0);
    let run = home.only_run();
    if let Place::Engine(engine) = place {
        let boxes = boxes_of(engine, &run);
        let states: Vec<&Value> = boxes.iter().map(|found| &found["State"]).collect();
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
