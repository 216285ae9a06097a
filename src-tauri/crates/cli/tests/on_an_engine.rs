//! Whole runs whose commands work in a box: on each engine, and without one. They need engines:
//! scripts/sandbox-tests runs them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::{Scripted, call, reply_of, say};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use seen::{ask, ask_once, get, mounted, only_box_of, processes_of, processes_with, variable};

use crate::support::{Home, Outcome, Provider, assert_gapless, of_type, until};

/// How far a command counts that is found again; a number beside it waits for this many
/// milliseconds. The environment sets both, for a long count.
const COUNT: (&str, u32) = ("LONGREIN_TEST_COUNT", 12);
const COUNT_PAUSE_MS: (&str, u32) = ("LONGREIN_TEST_COUNT_PAUSE_MS", 100);
/// How many runs are begun one after the other, half of which are killed.
const RUNS: (&str, u32) = ("LONGREIN_TEST_RUNS", 8);
/// Makes a test of the same name on each engine and without one.
macro_rules! on_all {
    ($($name:ident),* $(,)?) => {
        mod podman {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::Engine("LONGREIN_TEST_PODMAN"));
            })*
        }
        mod docker {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::Engine("LONGREIN_TEST_DOCKER"));
            })*
        }
        mod bubblewrap {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::Bubblewrap);
            })*
        }
    };
}

mod with_a_network {
    #[test]
    fn podman() {
        let place = super::Place::Engine("LONGREIN_TEST_PODMAN");
        super::what_leads_nowhere_it_may_is_refused_with_words_and_is_on_record(&place);
    }

    #[test]
    fn docker() {
        let place = super::Place::Engine("LONGREIN_TEST_DOCKER");
        super::what_leads_nowhere_it_may_is_refused_with_words_and_is_on_record(&place);
    }

    #[test]
    fn bubblewrap() {
        let place = super::Place::Bubblewrap;
        super::what_leads_nowhere_it_may_is_refused_with_words_and_is_on_record(&place);
    }
}

mod ending;
mod forging;
mod programs;
mod secrets;
mod seen;

/// What makes the boxes of a test.
enum Place {
    /// The engine whose address stands in this variable.
    Engine(&'static str),
    Bubblewrap,
}

fn number((name, usual): (&str, u32)) -> u32 {
    let said = std::env::var(name).ok();
    said.map_or(usual, |said| said.parse().unwrap())
}

impl Place {
    fn named(&self) -> String {
        match self {
            Self::Engine(name) => variable(name),
            Self::Bubblewrap => "bubblewrap".to_owned(),
        }
    }

    /// A home whose commands work here, and a provider that follows a script.
    fn home(&self, script: Vec<Scripted>) -> (Home, Provider) {
        self.home_with(Setup::scripted(script))
    }

    fn home_with(&self, setup: Setup) -> (Home, Provider) {
        let provider = Provider::start(setup);
        let home = Home::new();
        // Without an engine, commands of root are somebody else, who must come to the workspace.
        fs::create_dir(work(&home)).unwrap();
        for folder in [home.path(), &work(&home)] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).unwrap();
        }
        let named = self.named();
        let config = provider.config();
        home.configure(&format!("{config}\n[sandbox]\nengine = \"{named}\"\n"));
        (home, provider)
    }

    /// An agent that runs commands here, and these further lines.
    fn agent(&self, home: &Home, sandbox: &str, more: &str) -> String {
        let image = match self {
            Self::Engine(_) => format!("image = \"{}\"\n", variable("LONGREIN_TEST_IMAGE")),
            Self::Bubblewrap => String::new(),
        };
        home.agent(&format!(
            "[tools]\nallow = [\"files\", \"run_command\", \"run_code\"]\n\n\
             [sandbox]\nmemory = \"256MiB\"\nprocesses = 128\n{image}{sandbox}\n{more}"
        ))
    }

    /// What an engine has of a run: containers and volumes.
    fn left(&self, run: &str) -> Vec<String> {
        let Self::Engine(name) = self else {
            return Vec::new();
        };
        let filters = json!({"label": [format!("longrein.run={run}")]}).to_string();
        let filters = filters.replace('{', "%7B").replace('}', "%7D");
        let filters = filters.replace('"', "%22");
        let containers = get(name, &format!("/containers/json?all=1&filters={filters}"));
        let volumes = get(name, &format!("/volumes?filters={filters}"));
        let volumes = volumes["Volumes"].as_array().cloned().unwrap_or_default();
        let all = containers.as_array().unwrap().iter().chain(&volumes);
        all.map(Value::to_string).collect()
    }

    /// Ends the box of a run from outside, with all that runs in it.
    fn end_box(&self, run: &str) {
        let Self::Engine(engine) = self else {
            for (process, _) in processes_with(run) {
                let process = Pid::from_raw(process).unwrap();
                // It may have ended with the one before it.
                let _ = kill_process(process, Signal::KILL);
            }
            until("the end of the box", || {
                processes_of(run).is_empty().then_some(())
            });
            return;
        };
        let id = only_box_of(engine, run);
        // Podman does not stop what stands still.
        let _ = ask_once(engine, "POST", &format!("/containers/{id}/unpause"));
        ask(engine, "POST", &format!("/containers/{id}/stop?t=5"));
    }

    /// The same, and nothing is left of it.
    fn remove_box(&self, home: &Home, run: &str) {
        self.end_box(run);
        match self {
            Self::Engine(engine) => {
                let id = only_box_of(engine, run);
                // Podman may still be busy with its end.
                let path = format!("/containers/{id}?force=1");
                until("the removal of the box", || {
                    ask_once(engine, "DELETE", &path).ok()
                });
            }
            Self::Bubblewrap => {
                fs::remove_dir_all(work(home).join(".boxes/state").join(run)).unwrap();
            }
        }
    }

    /// Checks that nothing of a run's boxes is left: no container, volume, process or folder.
    fn assert_gone(&self, home: &Home, run: &str) {
        let left = self.left(run);
        assert!(left.is_empty(), "{left:?}");
        let state = work(home).join(".boxes/state").join(run);
        assert!(!state.exists(), "{} is left", state.display());
        let processes = processes_of(run);
        assert!(processes.is_empty(), "{processes:?}");
    }
}

fn work(home: &Home) -> PathBuf {
    home.path().join("data.work")
}

fn command(line: &str) -> Scripted {
    let arguments = json!({"command": line, "intent": "Try it"});
    call("run_command", arguments)
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

/// What the model was told of its last call.
fn told(provider: &Provider) -> String {
    let seen = provider.mock.seen();
    let body: Value = serde_json::from_slice(&seen.last().unwrap().body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let mut of_tools = messages.iter().filter(|message| message["role"] == "tool");
    let last = of_tools.next_back().unwrap_or_else(|| panic!("{body}"));
    last["content"].to_string()
}

fn a_run_computes_and_leaves_nothing_behind(place: &Place) {
    let (home, provider) = place.home(vec![
        command("id -u; echo 6 > six; echo oops >&2; exit 3"),
        call(
            "run_code",
            json!({"code": "print(7 * int(open('six').read()))", "intent": "Multiply"}),
        ),
        say("It is 42."),
    ]);
    let agent = place.agent(
        &home,
        "",
        "[[done_when]]\ncommand = \"grep -q 6 six && ! touch here\"\n",
    );
    let ran = home.run(&["run", &agent, "What is six times seven?"]);
    assert_eq!(ran.status, 0, "{ran}");
    let run = home.only_run();
    assert_eq!(home.runs()[0]["state"], "accepted");
    let told = told(&provider);
    assert!(
        told.contains("42") && told.contains("exit status 0"),
        "{told}"
    );
    let events = home.events(&run);
    assert_gapless(&events);
    assert_eq!(of_type(&events, "action.progressed").len(), 2);
    assert!(of_type(&events, "approval.requested").is_empty());
    let shown = good(home.run(&["show", &run]));
    assert!(
        shown.out.contains("Try it") && shown.out.contains("exit status 3"),
        "{shown}"
    );
    assert_eq!(of_type(&events, "snapshot.taken").len(), 2, "{shown}");
    place.assert_gone(&home, &run);
    home.assert_whole();
}

/// A run that counts in a box, whose process is killed when a third is done.
fn killed_while_counting(place: &Place) -> (Home, Provider, String, PathBuf) {
    let pause = f64::from(number(COUNT_PAUSE_MS)) / 1_000.0;
    let count = number(COUNT);
    let line = format!(
        "n=0; while [ $n -lt {count} ]; do n=$((n+1)); echo $n; echo $n >> counted; sleep {pause}; \
         done; echo whole > whole; exit 5"
    );
    let (home, provider) = place.home(vec![command(&line), say("It has counted.")]);
    let agent = place.agent(&home, "", "");
    let running = home.spawn(&["run", &agent, "Count."]);
    let run = running.run_id();
    let counted = work(&home).join(&run).join("counted");
    until("a third of the count", || {
        let lines = fs::read_to_string(&counted).ok()?.lines().count();
        (lines >= count as usize / 3).then_some(())
    });
    running.kill();
    let lines = fs::read_to_string(&counted).unwrap().lines().count();
    assert!(lines < count as usize, "it was over before the kill");
    (home, provider, run, counted)
}

/// Checks that a count is whole, was done once, and that its end is known.
fn assert_counted(
    place: &Place,
    (home, provider, run, counted): (Home, Provider, String, PathBuf),
) {
    good(home.run(&["resume", &run]));
    let all: Vec<String> = (1..=number(COUNT)).map(|n| n.to_string()).collect();
    let effect = fs::read_to_string(counted).unwrap();
    assert_eq!(effect.lines().collect::<Vec<_>>(), all, "each once");
    let told = told(&provider);
    let output = format!("{}\\n[exit status 5", all.join("\\n"));
    assert!(told.contains(&output), "{output}: {told}");
    let events = home.events(&run);
    assert_gapless(&events);
    assert_eq!(
        of_type(&events, "action.started").len(),
        2,
        "looked for again"
    );
    assert_eq!(of_type(&events, "action.finished").len(), 1);
    assert!(of_type(&events, "action.uncertain").is_empty());
    place.assert_gone(&home, &run);
    home.assert_whole();
}

fn a_command_that_runs_on_through_a_kill_is_found_again_whole(place: &Place) {
    let killed = killed_while_counting(place);
    assert_counted(place, killed);
}

fn a_command_that_ended_after_a_kill_is_read_from_its_receipt(place: &Place) {
    let killed = killed_while_counting(place);
    let whole = killed.3.with_file_name("whole");
    until("the end of the count", || whole.exists().then_some(()));
    assert_counted(place, killed);
}

fn a_run_that_is_cancelled_ends_what_it_runs(place: &Place) {
    let line = "echo x > begun; sleep 300";
    let (home, _provider) = place.home(vec![command(line), say("Never.")]);
    let agent = place.agent(&home, "", "");
    let running = home.spawn(&["run", &agent, "Sleep."]);
    let run = running.run_id();
    let begun = work(&home).join(&run).join("begun");
    until("the command", || begun.exists().then_some(()));
    good(home.run(&["cancel", &run]));
    let ended = running.outcome();
    assert_eq!(ended.status, 130, "{ended}");
    place.assert_gone(&home, &run);
}

fn a_run_that_another_process_cancels_ends_what_a_killed_one_left(place: &Place) {
    let (home, _provider, run, _) = killed_while_counting(place);
    good(home.run(&["cancel", &run]));
    place.assert_gone(&home, &run);
    home.assert_whole();
}

fn a_job_goes_on_beside_the_steps_and_ends_with_the_run(place: &Place) {
    let (home, provider) = place.home(vec![
        call(
            "run_command",
            json!({"command": "echo up; sleep 300", "intent": "Serve", "background": true}),
        ),
        command("echo beside"),
        call(
            "job_output",
            json!({"job": "J1", "from_byte": 0, "wait_seconds": 0}),
        ),
        say("It serves."),
    ]);
    let agent = place.agent(&home, "", "");
    good(home.run(&["run", &agent, "Serve."]));
    let run = home.only_run();
    let told = told(&provider);
    assert!(told.contains("up\\n[J1: it runs"), "{told}");
    let events = home.events(&run);
    assert_eq!(of_type(&events, "job.started").len(), 1);
    place.assert_gone(&home, &run);
}

fn after_many_runs_half_of_them_killed_nothing_is_left(place: &Place) {
    let brain = Setup::of(|request| {
        let block = match request.replies() {
            0 => ReplyBlock::ToolUse {
                id: "call_0".to_owned(),
                name: "run_command".to_owned(),
                arguments: json!({"command": "(sleep 300 &); echo x > begun; sleep 0.3; echo end",
                    "intent": "Try it"})
                .to_string(),
                raw: None,
            },
            _ => ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            },
        };
        Content::Reply(reply_of(vec![block], request)).into()
    });
    let (home, _provider) = place.home_with(brain);
    let agent = place.agent(&home, "", "");
    for number in 0..number(RUNS) {
        let running = home.spawn(&["run", &agent, "Try."]);
        let run = running.run_id();
        let begun = work(&home).join(&run).join("begun");
        match number % 4 {
            1 => running.kill(),
            3 => {
                until("the command", || begun.exists().then_some(()));
                running.kill();
            }
            _ => drop(good(running.outcome())),
        }
    }
    good(home.run(&["drive"]));
    let runs = home.runs();
    assert_eq!(runs.len(), number(RUNS) as usize);
    for run in &runs {
        assert_eq!(run["state"], "unverified", "{run}");
        place.assert_gone(&home, run["run"].as_str().unwrap());
    }
    let ours = home.path().display().to_string();
    until("the end of everything that ran here", || {
        let left = processes_of(&ours).len() + mounted(&ours);
        (left == 0).then_some(())
    });
    if let Place::Engine(engine) = place {
        let containers = get(engine, "/containers/json?all=1").to_string();
        assert!(!containers.contains(&ours), "{containers}");
    }
    let boxes = fs::read_dir(work(&home).join(".boxes")).unwrap().flatten();
    for folder in boxes.filter(|folder| folder.file_name() != "shared") {
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "{} is not empty", folder.path().display());
    }
}

fn a_box_is_measured(place: &Place) {
    let (home, _provider) = place.home(Vec::new());
    let mut words = vec!["bench", "sandbox", "--commands", "5", "--json"];
    let image = match place {
        Place::Engine(_) => variable("LONGREIN_TEST_IMAGE"),
        Place::Bubblewrap => String::new(),
    };
    if !image.is_empty() {
        words.extend(["--image", &image]);
    }
    let measured = good(home.run(&words)).json();
    for field in [
        "cold_start_ms",
        "restart_ms",
        "command_ms",
        "snapshot_unchanged_ms",
    ] {
        assert!(
            measured[0][field].as_f64().unwrap() > 0.0,
            "{field}: {measured:?}"
        );
    }
}

/// A program that asks two places for a page, and says what it got.
const ASKING: &str = r#"
import urllib.error, urllib.request
for url in ["http://localhost:9/secret", "http://example.org/"]:
    try:
        print(urllib.request.urlopen(url, timeout=20).status)
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
"#;

/// The listed name is this machine's own, so that the guard has to refuse it after the list let it
/// pass.
fn what_leads_nowhere_it_may_is_refused_with_words_and_is_on_record(place: &Place) {
    let (home, provider) = place.home(vec![
        call("run_code", json!({"code": ASKING, "intent": "Look around"})),
        say("There is nothing."),
    ]);
    let agent = place.agent(&home, "hosts = [\"localhost:9\"]\n", "");
    good(home.run(&["run", &agent, "Look around."]));
    let run = home.only_run();
    let told = told(&provider);
    for words in ["403", "127.0.0.1", "example.org:80 is not among the hosts"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let events = home.events(&run);
    let progressed = of_type(&events, "action.progressed").into_iter();
    let asked: Vec<&Value> = progressed
        .map(|event| &event["what"]["requested"])
        .filter(|request| request.is_object())
        .collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(
        asked.iter().all(|request| request["refused"].is_string()),
        "{asked:?}"
    );
    let shown = good(home.run(&["show", &run]));
    assert!(shown.out.contains("example.org:80/, refused"), "{shown}");
    place.assert_gone(&home, &run);
}

on_all!(
    a_run_computes_and_leaves_nothing_behind,
    a_command_that_runs_on_through_a_kill_is_found_again_whole,
    a_command_that_ended_after_a_kill_is_read_from_its_receipt,
    a_run_that_is_cancelled_ends_what_it_runs,
    a_run_that_another_process_cancels_ends_what_a_killed_one_left,
    a_job_goes_on_beside_the_steps_and_ends_with_the_run,
    after_many_runs_half_of_them_killed_nothing_is_left,
    a_box_is_measured,
);
