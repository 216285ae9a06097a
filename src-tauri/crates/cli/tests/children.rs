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

const LEADER: &str =
    "[tools]\nallow = [\"files\", \"delegate\"]\n\n[agents]\nuse = [\"checker\"]\n";

/// A parent that gives a saved agent one task, which that one ends at once.
fn given_to_checker() -> Setup {
    Setup::of(|request: &SeenRequest| {
        let is_child = !request.contains("Have it checked.");
        let blocks = match (is_child, request.replies()) {
            (false, 0) => {
                let task = json!({"title": "Check", "brief": "Check it.", "agent": "checker"});
                call("delegate", &json!({"tasks": [task]}))
            }
            (true, 0) if request.contains("You doubt everything.") => {
                call("finish", &json!({"summary": "Doubted."}))
            }
            _ => vec![ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            }],
        };
        Content::Reply(reply_of(blocks, request)).into()
    })
}

#[test]
fn a_saved_agent_is_given_work_under_its_own_name_and_words() {
    let provider = Provider::start(given_to_checker());
    let home = Home::with(&provider);
    home.write(
        "data/agents/checker.agent.toml",
        "description = \"Doubts what it reads.\"\ninstructions = \"You doubt everything.\"\n[tools]\nallow = [\"files\"]\n",
    );
    let run = home.run(&["run", &home.agent(LEADER), "Have it checked."]);
    assert_eq!(run.status, 0, "{run}");
    let offered = &provider.mock.seen()[0];
    assert!(
        offered.contains("checker: Doubts what it reads."),
        "what the model reads of it"
    );
    let events = home.events(&run.run_id());
    let child = of_type(&events, "child.finished")[0]["child"].clone();
    let created = &home.events(child.as_str().unwrap())[0];
    assert_eq!(created["agent"]["name"], "checker");
    assert!(
        home.run(&["show", child.as_str().unwrap()])
            .out
            .contains("Doubted.")
    );
    home.assert_whole();
}

#[test]
fn a_run_whose_agent_names_agents_that_can_t_be_is_not_begun() {
    let provider = Provider::start(given_to_checker());
    let home = Home::with(&provider);
    let leader = home.agent(LEADER);
    let start = || home.run(&["run", &leader, "Have it checked."]);
    home.write("data/agents/checkers.agent.toml", "");
    let unknown = start();
    assert_eq!(unknown.status, 2, "{unknown}");
    assert!(
        unknown.err.contains("Did you mean “checkers”?"),
        "{unknown}"
    );
    let checked = home.run(&["agent", "check", &leader]);
    assert!(
        checked.err.contains("There is no agent “checker”"),
        "{checked}"
    );
    home.write(
        "data/agents/checker.agent.toml",
        "[agents]\nuse = [\"judge\"]\n[tools]\nallow = [\"delegate\"]\n",
    );
    home.write(
        "data/agents/judge.agent.toml",
        "[agents]\nuse = [\"checker\"]\n[tools]\nallow = [\"delegate\"]\n",
    );
    let circle = start();
    assert_eq!(circle.status, 2, "{circle}");
    let words = "test, which names checker, which names judge, which names checker";
    assert!(circle.err.contains(words), "{circle}");
    home.write("data/agents/checker.agent.toml", "instructons = \"x\"");
    let mistaken = start();
    assert_eq!(mistaken.status, 2, "{mistaken}");
    assert!(
        mistaken
            .err
            .contains("checker, which test may give work to"),
        "{mistaken}"
    );
    assert!(
        home.run(&["runs", "--json"]).out.is_empty(),
        "nothing was begun"
    );
}

/// A parent that writes a file and gives a helper a copy of it, which that one changes.
fn copied() -> Setup {
    Setup::of(|request: &SeenRequest| {
        let is_child = !request.contains("Have it mended.");
        let write = |words: &str| {
            let file = json!({"path": "notes.txt", "content": words});
            call("write_file", &file)
        };
        let blocks = match (is_child, request.replies()) {
            (false, 0) => write("as it was"),
            (false, 1) => {
                let task = json!({"title": "Mend", "brief": "Mend it.", "copy_files": true});
                call("delegate", &json!({"tasks": [task]}))
            }
            (true, 0) => call("read_file", &json!({"path": "notes.txt"})),
            (true, 1) if request.contains("as it was") => write("mended"),
            (true, 2) => call("publish_artifact", &json!({"path": "notes.txt"})),
            _ => vec![ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            }],
        };
        Content::Reply(reply_of(blocks, request)).into()
    })
}

#[test]
fn a_helper_works_on_a_copy_of_the_files_and_leaves_those_above_as_they_are() {
    let provider = Provider::start(copied());
    let home = Home::with(&provider);
    let agent = home.agent("[tools]\nallow = [\"files\", \"delegate\"]\n");
    let run = home.run(&["run", &agent, "Have it mended."]);
    assert_eq!(run.status, 0, "{run}");
    let events = home.events(&run.run_id());
    let child = of_type(&events, "child.finished")[0]["child"].clone();
    let above = events[0]["workspace"].as_str().unwrap();
    let read = |path: String| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(format!("{above}/notes.txt")), "as it was");
    let created = &home.events(child.as_str().unwrap())[0];
    let own = created["workspace"].as_str().unwrap().to_owned();
    assert!(
        !own.starts_with(above),
        "its parent's commands can't come to it: {own}"
    );
    let own = format!("{own}/notes.txt");
    assert_eq!(read(own), "mended");
    let delivered = of_type(&events, "child.finished")[0]["artifacts"][0].clone();
    let delivered = delivered.as_str().expect("its parent is told of it");
    assert_eq!(read(format!("{above}/{delivered}")), "mended");
    home.assert_whole();
}

/// A parent that puts a link in the place of its children's folder, and a helper that delivers.
fn misled(outside: &str) -> Setup {
    let line = format!("ln -s {outside} children");
    Setup::of(move |request: &SeenRequest| {
        let is_child = !request.contains("Mislead it.");
        let blocks = match (is_child, request.replies()) {
            (false, 0) => {
                let link = json!({"command": line, "intent": "Make a link"});
                call("run_command", &link)
            }
            (false, 1) => {
                let task = json!({"title": "Write", "brief": "Write it.", "copy_files": true});
                call("delegate", &json!({"tasks": [task]}))
            }
            (true, 0) => call("write_file", &json!({"path": "a.txt", "content": "x"})),
            (true, 1) => call("publish_artifact", &json!({"path": "a.txt"})),
            _ => vec![ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            }],
        };
        Content::Reply(reply_of(blocks, request)).into()
    })
}

#[test]
fn no_link_that_a_command_makes_leads_a_helper_out_of_its_folder() {
    let home = Home::new();
    let outside = home.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let provider = Provider::start(misled(outside.to_str().unwrap()));
    let config = provider.config();
    home.configure(&format!("{config}\n[sandbox]\nengine = \"bubblewrap\"\n"));
    let agent = home.agent("[tools]\nallow = [\"files\", \"delegate\", \"run_command\"]\n");
    let run = home.run(&["run", &agent, "Mislead it."]);
    assert_eq!(run.status, 0, "{run}");
    let above = home.events(&run.run_id())[0]["workspace"].clone();
    let link = std::path::Path::new(above.as_str().unwrap()).join("children");
    assert!(link.is_symlink(), "the command made it: {run}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{run}");
    home.assert_whole();
}
