//! Ctrl-C.

use longrein_testkit::provider::{Manner, Setup};
use rustix::process::Signal;

use crate::support::{Home, Provider, assert_gapless, of_type, until};

fn held() -> (Home, Provider) {
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
    (home, provider)
}

const RUN: &[&str] = &[
    "run",
    "research",
    "How fast does the copper kettle boil a litre?",
    "--library",
    "notes",
];

#[test]
fn ctrl_c_stops_a_run_that_can_be_resumed() {
    let (home, provider) = held();
    let running = home.spawn(RUN);
    let run = running.run_id();
    provider.held(1);
    running.signal(Signal::INT);
    let stopped = running.outcome();
    assert_eq!(stopped.status, 130, "{stopped}");
    assert!(
        stopped.out.contains(&format!("longrein resume {run}")),
        "{stopped}"
    );
    provider.mock.gate().open();
    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 0, "{resumed}");
    assert_gapless(&home.events(&run));
    home.assert_whole();
}

#[test]
fn ctrl_c_while_following_leaves_the_run_to_whoever_drives_it() {
    let (home, provider) = held();
    let driving = home.spawn(RUN);
    let run = driving.run_id();
    provider.held(1);
    let watching = home.spawn(&["watch", &run, "--json"]);
    until("an event", || (!watching.out().is_empty()).then_some(()));
    watching.signal(Signal::INT);
    let stopped = watching.outcome();
    assert_eq!(stopped.status, 130, "{stopped}");
    provider.mock.gate().open();
    assert_eq!(driving.outcome().status, 0);
    assert!(of_type(&home.events(&run), "run.paused").is_empty());
}

#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let home = Home::new();
    let run = home.run(&["demo"]).run_id();
    let mut command = home.command(&["show", &run, "--json"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_run_whose_reader_goes_away_stops_quietly_and_can_be_resumed() {
    let home = Home::new();
    let mut command = home.command(&["demo", "--json"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let resumed = home.run(&["resume", &home.only_run()]);
    assert_eq!(resumed.status, 0, "{resumed}");
    home.assert_whole();
}

#[test]
fn ctrl_c_a_second_time_stops_at_once() {
    let (home, provider) = held();
    let running = home.spawn(RUN);
    provider.held(1);
    running.signal(Signal::INT);
    until("the first word", || {
        running.err().contains("Stopping.").then_some(())
    });
    running.signal(Signal::INT);
    assert_eq!(running.outcome().status, 130);
    assert_eq!(home.runs().len(), 1);
}

/// The server is started and never says what it is.
#[test]
fn a_cancel_and_a_pause_are_heard_while_a_server_starts() {
    for (wish, state, status) in [("cancel", "cancelled", 130), ("pause", "paused", 3)] {
        let provider = Provider::start(Setup::demo());
        let home = Home::with(&provider);
        home.configure(&format!(
            "{}\n[mcp.silent]\ncommand = [\"sh\", \"-c\", \"exec sleep 600\"]\n",
            provider.config()
        ));
        let agent = home.agent("[tools]\nallow = [\"silent.*\"]\n");
        let running = home.spawn(&["run", &agent, "Wait."]);
        let run = running.run_id();
        let heard = home.run(&[wish, &run]);
        assert_eq!(heard.status, 0, "{heard}");
        let ended = running.outcome();
        assert_eq!(ended.status, status, "{ended}");
        assert_eq!(home.runs()[0]["state"], state);
        assert!(of_type(&home.events(&run), "tools.revealed").is_empty());
    }
}
