//! Skills from outside: found, reviewed, loaded by a run, asked about when they changed.

use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use serde_json::json;

use crate::support::{Home, Provider, of_type};

const MANIFEST: &str = "---\nname: beans\ndescription: Sorts beans by colour. Use when there are beans to sort.\nlicense: MIT\n---\n\n# Beans\n\nPut the black ones left.\n\n```sh\npython3 scripts/sort.py\n```\n";

/// Writes the skill `beans` beneath this folder of the home, and gives its path.
fn beans(home: &Home, folder: &str) -> String {
    home.write(
        &format!("{folder}/beans/scripts/sort.py"),
        "print('sorted')\n",
    );
    let manifest = home.write(&format!("{folder}/beans/SKILL.md"), MANIFEST);
    manifest.trim_end_matches("/SKILL.md").to_owned()
}

fn loading() -> Vec<Scripted> {
    vec![call("load_skill", json!({"name": "beans"})), say("Done.")]
}

/// The action that waits, as `approvals --json` tells it.
fn waiting(home: &Home) -> serde_json::Value {
    let listed = home.run(&["approvals", "--json"]).json();
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed[0].clone()
}

#[test]
fn a_skill_is_reviewed_installed_told_of_and_loaded_and_its_files_lie_in_the_workspace() {
    let provider = Provider::start(Setup::scripted(loading()));
    let home = Home::with(&provider);
    let folder = beans(&home, "from");
    let unasked = home.run(&["skills", "add", &folder]);
    assert_eq!(unasked.status, 2, "nobody is there to say yes: {unasked}");
    for told in ["Would run", "scripts/sort.py", "licence: MIT", "hash: "] {
        assert!(unasked.out.contains(told), "{told}: {unasked}");
    }
    let other = home.run(&["skills", "add", &folder, "--yes", "--hash", "0"]);
    assert_eq!(other.status, 1, "{other}");
    let added = home.run(&["skills", "add", &folder, "--yes"]);
    assert_eq!(added.status, 0, "{added}");
    let listed = home.run(&["skills", "--json"]).json();
    let beans = listed
        .iter()
        .find(|skill| skill["name"] == "beans")
        .unwrap();
    assert_eq!(beans["standing"]["is"], "approved");

    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("3 skills"), "{doctor}");

    let run = home.run(&["run", &home.agent(""), "Sort the beans."]);
    assert_eq!(run.status, 0, "{run}");
    let events = home.events(&run.run_id());
    let loaded = of_type(&events, "skill.loaded");
    assert_eq!(loaded[0]["skill"], "beans");
    assert_eq!(loaded[0]["hash"], beans["hash"]);
    let finished = of_type(&events, "action.finished");
    assert_eq!(
        finished[0]["origin"],
        json!({"from": "skill", "skill": "beans"})
    );
    assert_eq!(finished[0]["trust"], "trusted");
    let requests = provider.mock.seen();
    assert!(requests[0].contains("- beans: Sorts beans by colour."));
    assert!(requests[0].contains("- research-page: "));
    assert!(requests[1].contains("Put the black ones left."));
    let workspace = of_type(&events, "run.created")[0]["workspace"].clone();
    let script = format!(
        "{}/skills/beans/scripts/sort.py",
        workspace.as_str().unwrap()
    );
    assert_eq!(fs::read_to_string(script).unwrap(), "print('sorted')\n");

    let removed = home.run(&["skills", "remove", "beans"]);
    assert_eq!(removed.status, 0, "{removed}");
    assert!(!home.data().join("skills/beans").exists());
    let again = home.run(&["skills", "remove", "beans"]);
    assert_eq!(again.status, 2, "{again}");
}

#[test]
fn a_skill_of_the_project_asks_first_and_one_that_changed_asks_again_with_the_difference() {
    let mut script = loading();
    script.extend(loading());
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let folder = beans(&home, ".agents/skills");
    let agent = home.agent("");
    let run = home.run(&["run", &agent, "Sort the beans."]);
    assert_eq!(run.status, 3, "{run}");
    let request = &provider.mock.seen()[0];
    assert!(
        !request.contains("Sorts beans"),
        "no word of it is told before"
    );
    let ask = waiting(&home);
    let review = ask["review"].as_str().unwrap();
    assert!(review.contains("scripts/sort.py"), "{review}");
    assert_eq!(ask["always"], json!([]), "no rule speaks of it");
    let shown = home.run(&["approvals"]);
    assert!(
        shown.out.contains("you have not looked at the skill beans"),
        "{shown}"
    );
    let approved = home.run(&["approve", ask["action"].as_str().unwrap()]);
    assert_eq!(approved.status, 0, "{approved}");
    let events = home.events(&run.run_id());
    assert_eq!(of_type(&events, "skill.loaded").len(), 1);
    assert!(provider.mock.seen()[1].contains("Put the black ones left."));

    // What changes by a byte is another skill.
    let changed = MANIFEST.replace("left", "right");
    fs::write(format!("{folder}/SKILL.md"), &changed).unwrap();
    let run = home.run(&["run", &agent, "Sort the beans."]);
    assert_eq!(run.status, 3, "{run}");
    let request = &provider.mock.seen()[2];
    assert!(request.contains("- beans: it has changed"), "{request:?}");
    let ask = waiting(&home);
    assert!(ask["why"].as_str().unwrap().contains("changed: SKILL.md"));
    let review = ask["review"].as_str().unwrap();
    assert!(review.contains("-Put the black ones left."), "{review}");
    assert!(review.contains("+Put the black ones right."), "{review}");
    // A change between the question and the answer asks again.
    fs::write(format!("{folder}/SKILL.md"), changed + "More.\n").unwrap();
    let action = ask["action"].as_str().unwrap().to_owned();
    let answered = home.run(&["approve", &action]);
    assert_eq!(answered.status, 3, "{answered}");
    let ask = waiting(&home);
    assert!(
        ask["why"]
            .as_str()
            .unwrap()
            .contains("since you approved it")
    );
    assert!(ask["review"].as_str().unwrap().contains("+More."));
    let approved = home.run(&["approve", ask["action"].as_str().unwrap()]);
    assert_eq!(approved.status, 0, "{approved}");
    assert!(provider.mock.seen()[3].contains("Put the black ones right."));
    home.assert_whole();
}

#[test]
fn a_skill_that_is_refused_is_not_given_and_stays_as_it_was() {
    let provider = Provider::start(Setup::scripted(loading()));
    let home = Home::with(&provider);
    beans(&home, ".longrein/skills");
    let run = home.run(&["run", &home.agent(""), "Sort the beans."]);
    assert_eq!(run.status, 3, "{run}");
    let action = waiting(&home)["action"].as_str().unwrap().to_owned();
    let denied = home.run(&["deny", &action, "--reason", "not from there"]);
    assert_eq!(denied.status, 0, "{denied}");
    let events = home.events(&run.run_id());
    assert!(of_type(&events, "skill.loaded").is_empty());
    let second = &provider.mock.seen()[1];
    assert!(second.contains("not from there") && !second.contains("black ones"));
    let listed = home.run(&["skills", "--json"]).json();
    let beans = listed
        .iter()
        .find(|skill| skill["name"] == "beans")
        .unwrap();
    assert_eq!(beans["standing"]["is"], "unreviewed");
}

#[test]
fn an_agent_has_the_skills_that_its_file_names_and_no_others() {
    let script = vec![
        call("load_skill", json!({"name": "data-analysis"})),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let agent = home.agent("[skills]\nuse = [\"research-page\"]\n");
    let run = home.run(&["run", &agent, "Make a page."]);
    assert_eq!(run.status, 0, "{run}");
    let requests = provider.mock.seen();
    assert!(requests[0].contains("- research-page: "));
    assert!(!requests[0].contains("- data-analysis: "));
    assert!(
        requests[1].contains("not granted to this agent"),
        "{:?}",
        requests[1]
    );

    let missing = home.agent("[skills]\nuse = [\"nowhere\"]\n");
    let refused = home.run(&["run", &missing, "Make a page."]);
    assert_eq!(refused.status, 2, "{refused}");
    assert!(refused.err.contains("the skill nowhere"), "{refused}");
}

#[test]
fn without_skills_an_agent_has_neither_the_index_nor_the_tool() {
    let provider = Provider::start(Setup::scripted(vec![say("Done.")]));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent("[skills]\nuse = []\n"), "Say it."]);
    assert_eq!(run.status, 0, "{run}");
    let request = &provider.mock.seen()[0];
    assert!(!request.contains("load_skill") && !request.contains("research-page"));
}

#[test]
fn a_new_skill_passes_the_check_and_every_problem_of_a_broken_one_is_told_with_its_line() {
    let home = Home::new();
    let made = home.run(&["skills", "new", "tables"]);
    assert_eq!(made.status, 0, "{made}");
    let checked = home.run(&["skills", "check", "tables"]);
    assert_eq!(checked.status, 0, "{checked}");
    home.write(
        "odd/SKILL.md",
        "---\nname: Odd\ndescription: \"\"\nmood: fine\n---\n",
    );
    let checked = home.run(&["skills", "check", "tables", "odd"]);
    assert_eq!(checked.status, 2, "{checked}");
    for place in ["odd/SKILL.md:2: ", "odd/SKILL.md:3: ", "odd/SKILL.md:4: "] {
        assert!(checked.out.contains(place), "{place}: {checked}");
    }
    let json = home
        .run(&["skills", "check", "tables", "odd", "--json"])
        .json();
    assert_eq!(json[0]["valid"], true);
    assert_eq!(json[1]["valid"], false);
    let bad = home.run(&["skills", "new", "Not A Name"]);
    assert_eq!(bad.status, 2, "{bad}");
}

#[test]
fn a_fork_keeps_the_skill_that_was_loaded_before_it_whatever_became_of_the_skill() {
    let script: Vec<Scripted> = loading().into_iter().chain([say("Sorted.")]).collect();
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let added = home.run(&["skills", "add", &beans(&home, "from"), "--yes"]);
    assert_eq!(added.status, 0, "{added}");
    let run = home.run(&["run", &home.agent(""), "Sort the beans."]);
    assert_eq!(run.status, 0, "{run}");
    let forked = home.run(&["fork", &run.run_id(), "--json"]);
    assert_eq!(forked.status, 0, "{forked}");
    let fork = forked.json()[0]["run"].as_str().unwrap().to_owned();
    let removed = home.run(&["skills", "remove", "beans"]);
    assert_eq!(removed.status, 0, "{removed}");

    let resumed = home.run(&["resume", &fork, "And the others?"]);
    assert_eq!(resumed.status, 0, "{resumed}");
    let requests = provider.mock.seen();
    assert!(
        requests[2].contains("Put the black ones left."),
        "it still holds"
    );
    let loads = of_type(&home.events(&fork), "skill.loaded").len();
    assert_eq!(loads, 1, "the one that was copied");
    let workspace = of_type(&home.events(&fork), "run.forked")[0]["workspace"].clone();
    let script = format!(
        "{}/skills/beans/scripts/sort.py",
        workspace.as_str().unwrap()
    );
    assert_eq!(fs::read_to_string(script).unwrap(), "print('sorted')\n");
}
