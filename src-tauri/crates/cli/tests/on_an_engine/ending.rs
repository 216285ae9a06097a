//! How a run's box ends, whenever and however the run does.

use std::net::TcpListener;

use longrein_protocol::RunId;
use longrein_protocol::event::{Event, RunCancelled};
use longrein_runtime::history;
use longrein_store::log::{Append, Log as _, RunAppend};
use longrein_store::{Store, TreeLock};
use longrein_testkit::reply::{call, say};
use serde_json::json;

use super::programs::{MARKS_FREELY, Marking};
use super::seen::boxes_of;
use super::{Place, command, good, work};
use crate::support::{Home, of_type, until};

on_all!(
    a_box_goes_at_the_next_start_when_its_run_was_cancelled_a_moment_before_the_process_ended,
    a_run_with_a_call_in_doubt_is_stopped_and_its_box_ends,
);

/// Records that a run was cancelled, as a process does that ends at that moment.
fn cancel_on_record(home: &Home, run: &str) {
    let run: RunId = run.parse().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(home.data()).unwrap();
        let (lock, fence) = TreeLock::acquire(&store, run).await.unwrap();
        let mut state = history::load(&store, run).await.unwrap().run;
        let event = Event {
            run,
            seq: state.seq + 1,
            at: 0,
            payload: RunCancelled {}.into(),
        };
        state.check(&event).unwrap();
        state.apply(&event);
        let append = Append {
            fence,
            runs: vec![RunAppend {
                run,
                events: vec![event],
                line: state.line(),
            }],
            blobs: Vec::new(),
            taken: Vec::new(),
        };
        store.append(append).await.unwrap();
        drop(lock);
    });
}

fn a_box_goes_at_the_next_start_when_its_run_was_cancelled_a_moment_before_the_process_ended(
    place: &Place,
) {
    let line = "echo x > begun; sleep 300; echo y > after";
    let (home, _provider) = place.home(vec![command(line), say("Never.")]);
    let agent = place.agent(&home, "", "");
    let running = home.spawn(&["run", &agent, "Sleep."]);
    let run = running.run_id();
    let begun = work(&home).join(&run).join("begun");
    until("the command", || begun.exists().then_some(()));
    running.kill();
    cancel_on_record(&home, &run);
    assert_eq!(home.runs()[0]["state"], "cancelled");
    let drive = good(home.run(&["drive"]));
    assert!(drive.out.contains("Nothing was going"), "{drive}");
    place.assert_gone(&home, &run);
    assert!(!begun.with_file_name("after").exists(), "it was ended");
    home.assert_whole();
}

fn a_run_with_a_call_in_doubt_is_stopped_and_its_box_ends(place: &Place) {
    let code = "import tools\nprint(tools.counter.mark('one'))\nopen('after', 'w')";
    let program = call("run_code", json!({"code": code, "intent": "Mark it"}));
    let gate = ["--slow-gate", "gate"];
    let marking = Marking::with(place, MARKS_FREELY, vec![program, say("Never.")], &gate);
    let home = &marking.home;
    let running = home.spawn(&["run", &marking.agent, "Mark it."]);
    let run = running.run_id();
    let waiting = home.path().join("gate.waiting");
    until("the call", || waiting.exists().then_some(()));
    running.kill();
    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 3, "{resumed}");
    if let Place::Engine(engine) = place {
        assert_eq!(boxes_of(engine, &run).len(), 1, "its program waits");
    }
    let doubt = of_type(&home.events(&run), "action.uncertain")[0]["action"].clone();
    let stopped = home.run(&["settle", doubt.as_str().unwrap(), "stop"]);
    assert_eq!(stopped.status, 0, "{stopped}");
    assert_eq!(home.runs()[0]["state"], "cancelled");
    assert!(marking.labels().is_empty());
    let after = work(home).join(&run).join("after");
    assert!(!after.exists(), "the program did not go on");
    place.assert_gone(home, &run);
    home.assert_whole();
}

mod while_an_image_is_fetched {
    #[test]
    fn podman() {
        super::a_cancel_is_heard("LONGREIN_TEST_PODMAN");
    }

    #[test]
    fn docker() {
        super::a_cancel_is_heard("LONGREIN_TEST_DOCKER");
    }
}

/// The registry takes connections and never says a word.
fn a_cancel_is_heard(engine: &'static str) {
    let registry = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = registry.local_addr().unwrap();
    let place = Place::Engine(engine);
    let (home, _provider) = place.home(vec![command("true"), say("Never.")]);
    let agent = place.agent(&home, "", "");
    let file = home.path().join(&agent);
    let text = std::fs::read_to_string(&file).unwrap();
    let image = super::seen::variable("LONGREIN_TEST_IMAGE");
    let other = format!("{address}/never/there:1");
    std::fs::write(&file, text.replace(&image, &other)).unwrap();
    let running = home.spawn(&["run", &agent, "Try it."]);
    let run = running.run_id();
    let asked = registry.accept().unwrap();
    good(home.run(&["cancel", &run]));
    let ended = running.outcome();
    assert_eq!(ended.status, 130, "{ended}");
    assert!(of_type(&home.events(&run), "tools.revealed").is_empty());
    place.assert_gone(&home, &run);
    drop(asked);
}
