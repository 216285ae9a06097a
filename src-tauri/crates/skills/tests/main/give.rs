//! What a run is given of skills: a line each, and what `load_skill` gives and lays down.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::agent::SkillChoice;
use longrein_protocol::gate::{ActionFacts, SkillFact};
use longrein_protocol::{ActionId, BlobHash, RunId, ToolErrorClass};
use longrein_runtime::ports::{
    BlobRead, CancellationToken, Part, RunContext, ToolCall, ToolError, ToolOutput,
};
use longrein_skills::{LoadSkill, index, missing, seen};
use serde_json::{Value, json};

use crate::kit::{World, skill, write};

struct NoBlobs;

#[async_trait]
impl BlobRead for NoBlobs {
    async fn read(&self, hash: BlobHash) -> Result<Arc<[u8]>, ToolError> {
        let message = format!("no blob {hash}");
        Err(ToolError::new(ToolErrorClass::NotFound, message))
    }
}

/// Calls the tool, with what a look at the skill says; where a person is asked, as after their yes.
fn load(world: &World, arguments: Value) -> Result<ToolOutput, ToolError> {
    let name = arguments["name"].as_str().unwrap();
    let fact = seen(&world.skills, name).ok().map(|seen| SkillFact {
        skill: seen.skill,
        hash: seen.hash,
        ask: seen.ask.map(|(why, _)| why),
        review: None,
    });
    call(world, arguments, fact)
}

fn call(
    world: &World,
    arguments: Value,
    skill: Option<SkillFact>,
) -> Result<ToolOutput, ToolError> {
    let workspace = world.at("workspace");
    fs::create_dir_all(&workspace).unwrap();
    let call = ToolCall {
        run: RunId::from_parts(0, 1),
        action: ActionId::from_random(1),
        key: String::new(),
        attempt: 1,
        onward: Arc::default(),
        arguments,
        facts: ActionFacts {
            skill,
            ..ActionFacts::default()
        },
        context: Arc::new(RunContext {
            workspace,
            sources: Vec::new(),
            artifacts: Vec::new(),
            plan: Vec::new(),
            jobs: Vec::new(),
            results: Vec::new(),
            notes: Vec::new(),
            blobs: Arc::new(NoBlobs),
            past: Arc::new(longrein_runtime::ports::NoPast),
        }),
        person: Arc::new(longrein_runtime::ports::NobodyThere),
        cancel: CancellationToken::new(),
        beside: longrein_runtime::ports::Beside::default(),
    };
    let tool = LoadSkill::tool(world.skills.clone(), || 1_700_000_000_000);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(tool.run(call))
}

fn text(output: ToolOutput) -> String {
    output.parts.into_iter().map(Part::into_text).collect()
}

fn lines(world: &World, choice: &[&str]) -> Vec<String> {
    let use_ = choice.iter().map(|name| (*name).to_owned()).collect();
    let lines = index(&world.skills.catalogue(), &SkillChoice { use_ });
    lines
        .into_iter()
        .map(|line| format!("{}: {}", line.name, line.text))
        .collect()
}

#[test]
fn a_line_is_told_of_what_ships_or_was_approved_and_no_word_of_anything_else() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    skill(&world.at("project/.agents/skills"), "peas");
    let told = lines(&world, &["*"]);
    assert!(
        told[0].starts_with("beans: Sorts beans by colour."),
        "{told:?}"
    );
    let names: Vec<&str> = told
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(names, ["beans", "data-analysis", "research-page"]);
    // Named in the agent's file, which is the person's, its name is told, and that they are asked.
    assert_eq!(
        lines(&world, &["peas"]),
        ["peas: the person has not looked at it yet; loading it asks them first"]
    );
    write(
        &world.at("data/skills/beans/SKILL.md"),
        crate::kit::manifest("beans") + "More.\n",
    );
    let told = lines(&world, &["*"]);
    assert_eq!(
        told[0],
        "beans: it has changed since the person approved it; loading it asks them first"
    );
    assert_eq!(lines(&world, &[]), [] as [String; 0]);
}

#[test]
fn a_named_skill_that_is_nowhere_is_missing() {
    let world = World::new();
    let catalogue = world.skills.catalogue();
    let choice = |name: &str| SkillChoice {
        use_: vec!["*".to_owned(), name.to_owned()],
    };
    assert_eq!(missing(&catalogue, &choice("nowhere")), Some("nowhere"));
    assert_eq!(missing(&catalogue, &choice("research-page")), None);
}

#[test]
fn instructions_come_with_the_files_in_the_workspace_and_a_file_comes_by_lines() {
    let world = World::new();
    let folder = skill(&world.at("outside"), "beans");
    write(&folder.join("references/long.md"), "word\n".repeat(20_000));
    world.install(&folder).unwrap();
    let given = load(&world, json!({"name": "beans"})).unwrap();
    let skill = given.skill.clone().unwrap();
    assert!(skill.instructions && skill.hash.len() == 64);
    let told = text(given);
    assert!(told.contains("# Beans\n\nSort them."), "{told}");
    assert!(told.contains("- scripts/sort.py (16 B)"), "{told}");
    let laid = world.at("workspace/skills/beans/scripts/sort.py");
    assert_eq!(fs::read_to_string(laid).unwrap(), "print('sorted')\n");
    let file = json!({"name": "beans", "file": "references/long.md", "from_line": 19_990});
    let told = text(load(&world, file).unwrap());
    assert!(told.ends_with("[lines 19990 to 20000 of 20000]"), "{told}");
    let head = json!({"name": "beans", "file": "references/long.md"});
    let told = text(load(&world, head).unwrap());
    assert!(
        told.contains("; read on with from_line "),
        "{}",
        &told[told.len() - 80..]
    );
    let error = load(&world, json!({"name": "beans", "file": "no.md"})).unwrap_err();
    assert_eq!(error.class, ToolErrorClass::NotFound);
}

#[cfg(unix)]
#[test]
fn files_are_laid_over_what_was_there_and_through_no_link_out_of_the_workspace() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let laid = world.at("workspace/skills/beans");
    write(&laid.join("mine.txt"), "mine");
    write(&world.at("precious/sort.py"), "precious");
    fs::create_dir_all(laid.join("scripts")).unwrap();
    let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(to, from).unwrap();
    link(&laid.join("scripts/sort.py"), &world.at("precious/sort.py"));
    load(&world, json!({"name": "beans"})).unwrap();
    assert_eq!(
        fs::read_to_string(laid.join("scripts/sort.py")).unwrap(),
        "print('sorted')\n"
    );
    assert_eq!(fs::read_to_string(laid.join("mine.txt")).unwrap(), "mine");
    fs::remove_dir_all(laid.join("scripts")).unwrap();
    link(&laid.join("scripts"), &world.at("precious"));
    assert!(load(&world, json!({"name": "beans"})).is_err());
    let precious = fs::read_to_string(world.at("precious/sort.py")).unwrap();
    assert_eq!(precious, "precious");
}

#[test]
fn a_yes_is_to_what_was_seen_and_to_nothing_else() {
    let world = World::new();
    let folder = skill(&world.at("project/.agents/skills"), "peas");
    let looked = seen(&world.skills, "peas").unwrap();
    let (why, review) = looked.ask.clone().unwrap();
    assert!(
        why.contains("you have not looked at the skill peas yet"),
        "{why}"
    );
    assert!(review.contains("scripts/sort.py"), "{review}");
    let fact = |ask: Option<String>| SkillFact {
        skill: looked.skill.clone(),
        hash: looked.hash.clone(),
        ask,
        review: None,
    };
    // Nobody said yes.
    let refused = call(&world, json!({"name": "peas"}), Some(fact(None))).unwrap_err();
    assert_eq!(refused.class, ToolErrorClass::Conflict);
    // It is another one by the time that it starts.
    write(&folder.join("scripts/sort.py"), "print('other')\n");
    let other = call(
        &world,
        json!({"name": "peas"}),
        Some(fact(Some(why.clone()))),
    )
    .unwrap_err();
    assert_eq!(other.class, ToolErrorClass::Conflict);
    assert!(seen(&world.skills, "peas").unwrap().ask.is_some());
    load(&world, json!({"name": "peas"})).unwrap();
    assert!(seen(&world.skills, "peas").unwrap().ask.is_none());
}

#[test]
fn a_change_is_shown_line_by_line_with_what_is_hidden_written_out() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    write(
        &world.at("data/skills/beans/references/colours.md"),
        "Black, \u{202e}white.\n",
    );
    let (why, review) = seen(&world.skills, "beans").unwrap().ask.unwrap();
    assert!(why.contains("changed: references/colours.md"), "{why}");
    assert!(
        review.contains("-Black, white.\n+Black, U+202Ewhite."),
        "{review}"
    );
}
