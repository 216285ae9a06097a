//! A child's approval reaches the person, wherever they look.

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::SeenRequest;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use serde_json::{Value, json};

use crate::support::{Home, Provider, of_type};
use crate::waiting::waiting;

const AGENT: &str = "[tools]\nallow = [\"files\", \"delegate\"]\n\n[[policy]]\ntool = \"write_file\"\ndecision = \"ask\"\n";

fn call(tool: &str, arguments: &Value) -> Vec<ReplyBlock> {
    vec![ReplyBlock::ToolUse {
        id: String::new(),
        name: tool.to_owned(),
        arguments: arguments.to_string(),
        raw: None,
    }]
}

/// A parent that delegates, and a child that writes a file.
fn delegating() -> Setup {
    Setup::of(|request: &SeenRequest| {
        let is_child = !request.contains("Have it written.");
        let blocks = match (is_child, request.replies()) {
            (false, 0) => {
                let task = json!({"title": "Write a.txt", "brief": "Write it down."});
                call("delegate", &json!({"tasks": [task]}))
            }
            (true, 0) => call("write_file", &json!({"path": "a.txt", "content": "x"})),
            _ => vec![ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            }],
        };
        Content::Reply(reply_of(blocks, request)).into()
    })
}

#[test]
fn a_child_s_approval_parks_the_run_and_is_answered_by_its_own_id() {
    let provider = Provider::start(delegating());
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(AGENT), "Have it written."]);
    assert_eq!(run.status, 3, "{run}");
    let id = run.run_id();
    for words in [
        "Waiting for you",
        "For the child ",
        "Write a.txt",
        "longrein approve ",
    ] {
        assert!(run.out.contains(words), "{words}: {run}");
    }
    let asked = waiting(&home);
    assert_eq!(asked["parent"], id.as_str(), "{asked}");
    let listed = home.run(&["approvals"]);
    assert!(
        listed.out.contains(&format!("for its parent {id}")),
        "{listed}"
    );
    let driven = home.run(&["drive"]);
    assert_eq!(
        driven.status, 3,
        "it ends, since only a person helps: {driven}"
    );
    let approved = home.run(&["approve", asked["action"].as_str().unwrap()]);
    assert_eq!(approved.status, 0, "{approved}");
    let events = home.events(&id);
    assert_eq!(of_type(&events, "child.finished").len(), 1);
    assert_eq!(events.last().unwrap()["type"], "run.finished");
    let child = of_type(&events, "child.finished")[0]["child"].clone();
    let late = home.run(&["resume", child.as_str().unwrap(), "And more?"]);
    assert_eq!(late.status, 2, "{late}");
    assert!(late.err.contains("is a child, and it has ended"), "{late}");
    home.assert_whole();
}
