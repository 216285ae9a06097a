//! Whole runs whose commands work in a box that bubblewrap makes, and runs for which nothing does.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{Scripted, call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider, of_type, until};

const AGENT: &str = "[tools]\nallow = [\"files\", \"run_command\", \"run_code\"]\n";

/// A home whose commands work in a bubblewrap, and a provider that follows a script. The home is
/// its owner's alone, as homes are.
fn home(script: Vec<Scripted>) -> (Home, Provider) {
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::new();
    let config = provider.config();
    home.configure(&format!("{config}\n[sandbox]\nengine = \"bubblewrap\"\n"));
    (home, provider)
}

fn command(line: &str) -> Scripted {
    call("run_command", json!({"command": line, "intent": "Try it"}))
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

fn work(home: &Home) -> PathBuf {
    home.path().join("data.work")
}

/// Processes of this machine that have this in their arguments.
fn processes_of(what: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(what)).collect()
}

/// A run whose process was killed while its command sleeps.
fn killed(home: &Home) -> String {
    let running = home.spawn(&["run", &home.agent(AGENT), "Sleep."]);
    let run = running.run_id();
    let begun = work(home).join(&run).join("begun");
    until("the command", || begun.exists().then_some(()));
    running.kill();
    assert!(!processes_of(&run).is_empty(), "it runs on");
    run
}

#[test]
fn a_run_that_is_cancelled_by_another_process_ends_what_it_left_running() {
    let (home, _provider) = home(vec![command("echo x > begun; sleep 300"), say("Never.")]);
    let run = killed(&home);
    good(home.run(&["cancel", &run]));
    assert_eq!(home.runs()[0]["state"], "cancelled");
    until("the end of its box", || {
        processes_of(&run).is_empty().then_some(())
    });
    assert!(!work(&home).join(".boxes/state").join(&run).exists());
    home.assert_whole();
}

#[test]
fn what_ran_and_the_end_of_what_it_said_are_told_while_it_runs_and_afterwards() {
    let (home, _provider) = home(vec![
        command("seq 1 9; echo to-stderr >&2; exit 3"),
        call(
            "run_code",
            json!({"code": "print(6 * 7)", "intent": "Multiply"}),
        ),
        say("It is 42."),
    ]);
    let ran = good(home.run(&["run", &home.agent(AGENT), "Multiply."]));
    let run = home.only_run();
    let shown = good(home.run(&["show", &run]));
    for words in [
        "run_command Try it · exit status 3",
        "  $ seq 1 9; echo to-stderr >&2; exit 3",
        "  | …",
        "  | 9",
        "  | to-stderr",
        "run_code Multiply · exit status 0",
        "  > print(6 * 7)",
        "  | 42",
    ] {
        assert!(ran.err.contains(words), "{words}: {ran}");
        assert!(shown.out.contains(words), "{words}: {shown}");
    }
    let events = home.events(&run);
    for taken in of_type(&events, "snapshot.taken") {
        let number = format!("#{}", taken["seq"]);
        assert!(
            shown.out.lines().any(|line| line.starts_with(&number)),
            "{number}: {shown}"
        );
    }
}

/// Checks that no tool for commands is offered, that the person is told once and why, and the model
/// as well.
fn assert_off(ran: &Outcome, provider: &Provider, why: &str) {
    assert_eq!(ran.status, 0, "{ran}");
    let said = "Off in this run: run_command, run_code.";
    assert_eq!(ran.err.matches(said).count(), 1, "{ran}");
    assert!(ran.err.contains(why), "{why}: {ran}");
    let body: Value = serde_json::from_slice(&provider.mock.seen()[0].body).unwrap();
    let tools = body["tools"].to_string();
    assert!(tools.contains("read_file"), "{tools}");
    for tool in ["run_command", "run_code", "job_output", "job_stop"] {
        assert!(!tools.contains(tool), "{tool}: {tools}");
    }
    let told = body["messages"].to_string();
    assert!(
        told.contains("Tools that are off on this machine:"),
        "{told}"
    );
    assert!(told.contains("run_command, run_code"), "{told}");
}

#[test]
fn where_nothing_makes_a_box_no_tool_for_commands_is_offered_and_it_is_said_once() {
    let (home, provider) = home(vec![say("I can't run anything.")]);
    let mut command = home.command(&["run", &home.agent(AGENT), "Multiply."]);
    // Whatever is installed here, nothing is found.
    command.env("PATH", home.path());
    let ran = crate::support::Running::start(command).outcome();
    assert_off(&ran, &provider, "install the package 'bubblewrap'");
}

/// An engine that answers, has no image, and says this when it is to build one.
fn engine(home: &Home, says: &'static str) -> String {
    let socket = home.path().join("engine.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(&stream, says);
        }
    });
    socket.display().to_string()
}

fn answer(mut stream: &UnixStream, says: &str) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
    // Who is answered before all of a body was read takes the answer for a failure.
    let head = head.to_lowercase();
    let length = head.split_once("content-length: ");
    let length = length.and_then(|(_, rest)| rest.lines().next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    let _ = reader.read_exact(&mut body);
    let is_chunked = head.contains("transfer-encoding: chunked");
    while is_chunked && !body.ends_with(b"0\r\n\r\n") {
        match reader.read_until(b'\n', &mut body) {
            Ok(read) if read > 0 => {}
            _ => break,
        }
    }
    let first = head.lines().next().unwrap_or_default();
    let asks = |path: &str| first.contains(path);
    let version = r#"{"Version":"1.0","ApiVersion":"1.41","Arch":"amd64","Os":"linux"}"#;
    let info = format!(r#"{{"Architecture":"{}"}}"#, std::env::consts::ARCH);
    let (status, body) = match () {
        () if asks("/_ping") => ("200 OK", "OK"),
        () if asks("/version") => ("200 OK", version),
        () if asks("/info") => ("200 OK", info.as_str()),
        () if asks("/images/") => ("404 Not Found", r#"{"message":"no such image"}"#),
        () if asks("/build") => ("200 OK", says),
        () => ("500 Internal Server Error", r#"{"message":"not today"}"#),
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
}

#[test]
fn an_engine_whose_image_can_t_be_built_offers_no_tool_for_commands_either() {
    let provider = Provider::start(Setup::scripted(vec![say("I can't run anything.")]));
    let home = Home::new();
    let named = engine(
        &home,
        "{\"errorDetail\":{\"message\":\"no space left for the image\"}}\n",
    );
    let config = provider.config();
    home.configure(&format!("{config}\n[sandbox]\nengine = \"{named}\"\n"));
    let ran = home.run(&["run", &home.agent(AGENT), "Multiply."]);
    assert_off(&ran, &provider, "no space left for the image");
}

#[test]
fn doctor_tries_out_what_a_run_would_have() {
    let (home, _provider) = home(Vec::new());
    let looked = home.run(&["doctor"]);
    assert!(
        looked.out.contains("bubblewrap, which config.toml names"),
        "{looked}"
    );
    assert!(!looked.out.contains("commands are off"), "{looked}");
    let left = fs::read_dir(work(&home).join(".boxes")).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["shared"]);
}

#[test]
fn an_image_that_is_not_used_is_told() {
    let (home, _provider) = home(vec![command("echo here"), say("Done.")]);
    let with_image = format!("{AGENT}\n[sandbox]\nimage = \"lab/tools:1\"\n");
    let run = good(home.run(&["run", &home.agent(&with_image), "Say it."]));
    let told = format!("{}{}", run.out, run.err);
    assert!(told.contains("The image lab/tools:1 is not used"), "{run}");
    home.assert_whole();
}
