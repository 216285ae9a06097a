//! Servers with many tools in whole runs: one line each, found and called through two constant tools.

use std::fmt::Write as _;

use longrein_testkit::provider::Setup;
use longrein_testkit::{SeenRequest, call, catalogue, say};
use serde_json::{Value, json};

use crate::support::{Home, Provider, in_repository, of_type};

/// The most tokens of the tool part of the first request.
const TOOL_PART_TOKENS: usize = 4_000;
const BYTES_PER_TOKEN: usize = 4;
const TAIL: &str = r#"{"role":"user","content":"[harness] step"#;
const QUESTION: &str = "Who was it?";

/// A home with the servers of the catalogue, as many as are named.
fn with_servers(provider: &Provider, servers: &[&str]) -> Home {
    let program = in_repository("tests/fixtures/catalogue/server.py");
    let mut config = provider.config();
    for server in servers {
        let command = json!(["python3", program.to_str().unwrap(), server]);
        let _ = write!(config, "\n[mcp.{server}]\ncommand = {command}\n");
    }
    let home = Home::new();
    home.configure(&config);
    home
}

fn agent(home: &Home, servers: &[&str], lines: &str) -> String {
    let grants: Vec<String> = servers.iter().map(|server| format!("{server}.*")).collect();
    home.agent(&format!("[tools]\nallow = {}\n{lines}", json!(grants)))
}

fn servers() -> Vec<&'static str> {
    let mut servers: Vec<&str> = catalogue::names().collect();
    servers.dedup();
    servers
}

/// About how many tokens the definitions of tools and the index of servers have in a request.
fn tool_part(request: &SeenRequest) -> usize {
    let body = request.json();
    let index = "Servers with more tools";
    let system = body["messages"][0]["content"].as_str().unwrap();
    let index = system.find(index).map_or("", |place| &system[place..]);
    (body["tools"].to_string().len() + index.len()) / BYTES_PER_TOKEN
}

/// That a request begins with the one before it, up to what is fresh in every request: the tail,
/// which the first one does not have, and what closes its messages.
fn assert_begins_with(next: &SeenRequest, before: &SeenRequest) {
    let tail = before.text().rfind(TAIL);
    let fresh = tail.or_else(|| before.text().rfind(QUESTION)).unwrap();
    let (next, before) = (next.text(), before.text());
    let same = next.bytes().zip(before.bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    assert!(same >= fresh, "{}\n{}", &before[same..fresh], &next[same..]);
}

#[test]
fn of_600_tools_the_first_request_has_40_lines_and_a_found_one_is_called_as_itself() {
    let provider = Provider::start(Setup::scripted(vec![
        call(
            "find_tools",
            json!({"query": "who last changed a line of code"}),
        ),
        call(
            "call_tool",
            json!({"name": "forgeline__get_blame", "arguments": {"owner": "o", "repo": "r", "path": "a.rs"}}),
        ),
        say("Done."),
    ]));
    let servers = servers();
    assert_eq!(servers.len(), 40);
    let home = with_servers(&provider, &servers);
    let lines = "\n[[policy]]\ntool = \"forgeline.get_blame\"\ndecision = \"allow\"\n";
    let run = home.run(&["run", &agent(&home, &servers, lines), QUESTION]);
    assert_eq!(run.status, 0, "{run}");

    let requests = provider.mock.seen();
    let tokens = tool_part(&requests[0]);
    assert!(tokens < TOOL_PART_TOKENS, "{tokens} tokens");
    println!("the tool part of the first request: {tokens} tokens");
    assert!(requests[0].contains("- forgeline: 15 tools, such as list_repositories, "));
    assert!(
        !requests[0]
            .tools()
            .contains(&"forgeline__get_blame".to_owned())
    );
    assert!(
        requests[1]
            .last_result()
            .unwrap()
            .contains("forgeline__get_blame")
    );
    let result = requests[2].last_result().unwrap();
    assert!(
        result.contains("get_blame {") && result.contains("a.rs"),
        "{result}"
    );
    for pair in requests.windows(2) {
        assert_begins_with(&pair[1], &pair[0]);
    }

    let events = home.events(&run.run_id());
    let proposed = of_type(&events, "action.proposed");
    let tools: Vec<&Value> = proposed.iter().map(|action| &action["tool"]).collect();
    assert_eq!(tools, ["find_tools", "forgeline.get_blame"]);
    let found = of_type(&events, "tools.found");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["tools"][0]["name"], "forgeline.get_blame");
    let shown = home.run(&["show", &run.run_id()]);
    assert!(shown.out.contains("forgeline.get_blame"), "{shown}");
    assert!(!shown.out.contains("call_tool"), "{shown}");
}

#[test]
fn a_call_through_call_tool_needs_the_permission_of_the_tool_inside() {
    let merge = json!({"name": "forgeline.merge_pull_request", "arguments": {"owner": "o", "repo": "r", "number": 1}});
    let provider = Provider::start(Setup::scripted(vec![
        call("call_tool", merge),
        say("Done."),
    ]));
    let home = with_servers(&provider, &["forgeline"]);
    let run = home.run(&["run", &agent(&home, &["forgeline"], ""), "Merge it."]);
    let waiting = home.run(&["approvals", "--json"]).json();
    assert_eq!(waiting.len(), 1, "{run}");
    assert_eq!(
        waiting[0]["tool"], "forgeline.merge_pull_request",
        "{waiting:?}"
    );
}

#[test]
fn a_wrong_name_or_wrong_arguments_are_told_with_what_would_be_right() {
    let provider = Provider::start(Setup::scripted(vec![
        call(
            "call_tool",
            json!({"name": "forgeline__get_blam", "arguments": {}}),
        ),
        call(
            "call_tool",
            json!({"name": "forgeline__get_blame", "arguments": {"path": 1}}),
        ),
        say("Done."),
    ]));
    let home = with_servers(&provider, &["forgeline"]);
    let run = home.run(&["run", &agent(&home, &["forgeline"], ""), "Who was it?"]);
    assert_eq!(run.status, 0, "{run}");
    let requests = provider.mock.seen();
    let unknown = requests[1].last_result().unwrap();
    assert!(
        unknown.contains("the nearest names are: forgeline__get_blame"),
        "{unknown}"
    );
    let misfit = requests[2].last_result().unwrap();
    assert!(
        misfit.contains("/path: 1 is not of type \"string\""),
        "{misfit}"
    );
    assert!(misfit.contains("forgeline__get_blame takes"), "{misfit}");
}

#[test]
fn preloaded_tools_stand_in_the_request_and_the_rest_is_found() {
    let provider = Provider::start(Setup::scripted(vec![say("Done.")]));
    let home = with_servers(&provider, &["forgeline", "wxfeed"]);
    let lines = "preload = [\"forgeline.get_blame\", \"wxfeed.*\"]\n";
    let run = home.run(&["run", &agent(&home, &["forgeline", "wxfeed"], lines), "Go."]);
    assert_eq!(run.status, 0, "{run}");
    let request = &provider.mock.seen()[0];
    let tools = request.tools();
    let of = |server: &str| tools.iter().filter(|tool| tool.starts_with(server)).count();
    assert_eq!((of("forgeline__"), of("wxfeed__")), (1, 15), "{tools:?}");
    assert!(request.contains("- forgeline: 14 tools"));
    assert!(!request.contains("- wxfeed: "));
}
