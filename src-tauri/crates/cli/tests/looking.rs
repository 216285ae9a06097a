//! Looking at what is recorded.

use std::fs;
use std::process::Stdio;

use longrein_testkit::provider::Setup;
use longrein_testkit::say;
use serde_json::{Value, json};

use crate::support::{Home, Provider, in_repository, of_type, types};

fn demo() -> (Home, String) {
    let home = Home::new();
    let demo = home.run(&["demo"]);
    assert_eq!(demo.status, 0, "{demo}");
    let run = demo.run_id();
    (home, run)
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn every_request_can_be_shown_byte_for_byte() {
    let (home, run) = demo();
    let events = home.events(&run);
    let requested = of_type(&events, "model.requested");
    assert!(requested.len() > 3);
    for (place, requested) in requested.iter().enumerate() {
        let number = (place + 1).to_string();
        let words = ["show", &run, "--request", &number, "--raw"];
        let output = home.command(&words).stderr(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "request {number}");
        assert_eq!(
            sha256(&output.stdout),
            requested["body_sha256"].as_str().unwrap()
        );
        let body: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(body["messages"].is_array(), "request {number}");
    }
    let told = home.run(&["show", &run, "--request", "2"]);
    assert_eq!(told.status, 0, "{told}");
    assert!(
        told.out.contains("SHA-256") && told.out.contains("\nconversation\n"),
        "{told}"
    );
    let json = home.run(&["show", &run, "--request", "2", "--json"]).json();
    assert_eq!(json[0]["exact"], true);
    let none = home.run(&["show", &run, "--request", "99"]);
    assert_eq!(none.status, 2, "{none}");
}

#[test]
fn a_run_is_named_by_the_first_letters_of_its_id() {
    let (home, run) = demo();
    let shown = home.run(&["show", &run[..12].to_lowercase()]);
    assert_eq!(shown.status, 0, "{shown}");
    for part in ["Plan", "Sources", "Checked", "Accepted", "delegate 3 tasks"] {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
}

#[test]
fn children_are_listed_beneath_their_parent_where_they_are_asked_for() {
    let (home, run) = demo();
    let listed = home.run(&["runs"]);
    assert_eq!(listed.out.lines().count(), 1, "{listed}");
    assert!(listed.out.contains(" · 3 children"), "{listed}");
    assert!(listed.err.contains("runs --children"), "{listed}");
    let all = home.run(&["runs", "--children", "--limit", "1"]);
    let lines: Vec<&str> = all.out.lines().collect();
    assert_eq!(lines.len(), 4, "{all}");
    assert!(
        lines[0].starts_with(&run) && !lines[0].contains("children"),
        "{all}"
    );
    assert!(
        lines[1..].iter().all(|line| line.contains(" └ Look up “")),
        "{all}"
    );
    let json = home.run(&["runs", "--children", "--json"]).json();
    assert!(
        json[1..].iter().all(|line| line["parent"] == run.as_str()),
        "{json:?}"
    );
    assert_eq!(home.runs().len(), 1);
}

#[test]
fn watch_begins_where_it_is_told_to() {
    let (home, run) = demo();
    let all = home.events(&run);
    let watched = home.run(&["watch", &run, "--from", "40", "--json"]);
    assert_eq!(watched.status, 0, "{watched}");
    assert_eq!(watched.json(), all[39..]);
}

#[test]
fn an_export_stands_alone_and_says_what_vouches_for_it() {
    let (home, run) = demo();
    let file = home.path().join("out.jsonl");
    let done = home.run(&["export", &run, "--to", &file.to_string_lossy(), "--json"]);
    assert_eq!(done.status, 0, "{done}");
    let lines = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events = home.events(&run);
    assert_eq!(types(&lines), types(&events));
    assert_eq!(lines.last().unwrap()["head"], done.json()[0]["head"]);
    let contents = lines
        .iter()
        .map(|line| line.to_string().matches("\"text\":").count());
    assert!(contents.sum::<usize>() > 0);
    let captured = of_type(&lines, "source.captured")[0];
    let text = captured["bytes"]["text"]
        .as_str()
        .or(captured["text"]["text"].as_str());
    assert!(text.is_some_and(|text| text.len() > 200), "{captured}");
    assert_eq!(
        fs::read_dir(home.path())
            .unwrap()
            .filter(is_left_over)
            .count(),
        0
    );
}

fn is_left_over(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry
        .as_ref()
        .is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".out"))
}

#[test]
fn formats_that_are_not_built_yet_are_refused_by_name() {
    let (home, run) = demo();
    for format in ["otlp.json", "longrein"] {
        let refused = home.run(&["export", &run, "--to", &format!("out.{format}")]);
        assert_eq!(refused.status, 2, "{refused}");
        assert!(refused.err.contains("not built yet"), "{refused}");
    }
}

#[test]
fn a_run_is_told_as_a_page_and_as_markdown_with_every_step_and_no_network() {
    let (home, run) = demo();
    let told = |ending: &str| {
        let file = home.path().join(format!("told.{ending}"));
        let done = home.run(&["export", &run, "--to", file.to_str().unwrap()]);
        assert_eq!(done.status, 0, "{done}");
        fs::read_to_string(file).unwrap()
    };
    let (page, text) = (told("html"), told("md"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(!page.contains("src=\"http"), "nothing is fetched");
    let shown = home.run(&["show", &run]);
    for tool in ["update_plan", "delegate", "publish_artifact", "finish"] {
        assert!(shown.out.contains(tool), "{tool}: {shown}");
        assert!(page.contains(tool) && text.contains(tool), "{tool}");
    }
    let searched = [&page, &text].map(|told| told.contains("search_library"));
    assert_eq!(searched, [true, true], "what helpers did is within");
    assert!(page.contains(&run) && text.contains(&run));
    assert!(page.contains("\"exact\":true"), "its requests are in it");
}

#[test]
fn help_teaches_and_completions_know_the_commands() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    assert_eq!(help.status, 0, "{help}");
    for words in [
        "longrein demo",
        "Exit status",
        "LONGREIN_HOME",
        "longrein models add",
        "longrein keys set",
        "longrein mcp add",
    ] {
        assert!(help.out.contains(words), "{words}: {help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]);
        assert!(script.out.contains("take-over"), "{shell}");
    }
    let version = home.run(&["--version"]);
    assert_eq!(
        version.out.trim(),
        concat!("longrein ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn what_a_machine_offers_is_listed() {
    let home = Home::new();
    let agents = home.run(&["agents"]);
    assert!(agents.out.contains("research"), "{agents}");
    let models = home.run(&["models"]);
    assert_eq!(models.status, 0, "{models}");
    assert!(models.out.contains("demo/researcher"), "{models}");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.status, 0, "{doctor}");
    assert!(doctor.out.contains("data folder"), "{doctor}");
    let runs = home.run(&["runs"]);
    assert!(runs.out.contains("longrein demo"), "{runs}");
}

#[test]
fn a_server_s_tool_that_is_left_out_is_told_and_the_run_goes_on() {
    let home = Home::new();
    let provider = Provider::start(Setup::scripted([say("Done.")]));
    let server = in_repository("tests/fixtures/counter/counter.py");
    let marks = home.path().join("marks");
    let command = json!(["python3", server, marks, "--broken-schema"]);
    home.configure(&format!(
        "{}\n[mcp.counter]\ncommand = {command}\n",
        provider.config()
    ));
    let run = home.run(&[
        "run",
        &home.agent("[tools]\nallow = [\"counter.*\"]\n"),
        "Say it.",
    ]);
    assert_eq!(run.status, 0, "{run}");
    let told = "note · counter.broken_type is left out: ";
    assert!(run.err.contains(told), "{run}");
    assert!(
        provider.mock.seen()[0]
            .tools()
            .contains(&"counter__mark".to_owned())
    );
}
