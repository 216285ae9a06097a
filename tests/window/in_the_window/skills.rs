//! Skills in the real window: dropped by a real pointer, looked through, installed; and asked about
//! when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use serde_json::{Value, json};

use crate::desk::{data_folder, given, with_agent};
use crate::drag::drop_on;
use crate::window::Window;

const MANIFEST: &str = "---\nname: beans\ndescription: Sorts beans by colour. Use when there are beans to sort.\nlicense: MIT\n---\n\n# Beans\n\nPut the black ones left.\n\n```sh\npython3 scripts/sort.py\n```\n";

/// A skill outside of Longrein's folders.
fn beans() -> PathBuf {
    let folder = PathBuf::from(given("HOME")).join("beans");
    fs::create_dir_all(folder.join("scripts")).expect("the home folder can be written");
    fs::write(folder.join("SKILL.md"), MANIFEST).expect("the home folder can be written");
    let script = folder.join("scripts/sort.py");
    fs::write(script, "print('sorted')\n").expect("the home folder can be written");
    folder
}

/// A zip of a skill, as file managers make it; its name is not that of the skill.
fn zip_of(folder: &Path) -> PathBuf {
    let zip = folder.with_file_name("Beans (1).zip");
    let zipped = Command::new("/usr/bin/python3")
        .args(["-m", "zipfile", "-c"])
        .args([&zip, folder])
        .status();
    assert!(zipped.is_ok_and(|status| status.success()), "no zip");
    zip
}

fn installed() -> PathBuf {
    data_folder().join("skills/beans/SKILL.md")
}

/// What else lies among the installed skills: what was begun and not ended would.
fn unfinished() -> Vec<String> {
    let entries = fs::read_dir(data_folder().join("skills"))
        .into_iter()
        .flatten();
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("unfinished")).collect()
}

/// The page says where something is held over it, and that nothing is yet done with it.
async fn held(window: &Window) {
    let veil = window.find("drop-veil").await;
    let words = veil.text().await.expect("it is there");
    assert!(words.contains("Drop a skill here"), "{words}");
}

fn loading() -> [Scripted; 2] {
    [call("load_skill", json!({"name": "beans"})), say("Done.")]
}

/// What the command lists as waiting for a person.
fn waiting() -> Vec<Value> {
    let output = Command::new(given("LONGREIN_COMMAND"))
        .args(["approvals", "--json"])
        .env("LONGREIN_HOME", data_folder())
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Begins a run from the list of runs.
async fn begin(window: &Window, question: &str) {
    window.press("rail-runs").await;
    window.type_into("start-question", question).await;
    window.press("start-run").await;
}

/// The settings list the skill as it stands.
async fn is_listed(window: &Window, state: &str) {
    window.press("rail-settings").await;
    let listed = format!("[data-testid=skill][data-name=beans][data-state={state}]");
    window.find_css(&listed).await;
}

async fn shows(window: &Window, words: &[&str]) {
    let page = window.page_text().await;
    for told in words {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[tokio::test]
async fn a_dropped_skill_is_installed_after_a_look_and_a_change_makes_the_next_load_ask() {
    let script = loading().into_iter().chain(loading());
    let provider = with_agent(Setup::scripted(script), "", "").await;
    let window = Window::open(&[]).await;
    window.find("start-question").await;
    drop_on(&window, &beans(), async |window| {
        held(window).await;
        window.picture("a-skill-is-held").await;
    })
    .await;
    window.find("skill-dialog").await;
    window.picture("a-skill-was-dropped").await;
    assert!(!installed().exists(), "nothing is installed before a yes");
    shows(
        &window,
        &["beans", "scripts/sort.py", "python3 scripts/sort.py", "MIT"],
    )
    .await;
    window.press("skill-agree").await;
    window
        .until("it is installed", || installed().exists())
        .await;
    is_listed(&window, "approved").await;

    begin(&window, "Sort them.").await;
    window.find_css("[data-testid=run-end]").await;
    assert!(provider.seen()[1].contains("Put the black ones left."));

    fs::write(installed(), MANIFEST.replace("left", "right")).expect("the skill can be written");
    is_listed(&window, "changed").await;
    begin(&window, "Sort them again.").await;
    window.find("skill-review").await;
    window.picture("a-skill-has-changed").await;
    let change = ["-Put the black ones left.", "+Put the black ones right."];
    shows(&window, &["has changed since you approved it"]).await;
    shows(&window, &change).await;
    assert_eq!(provider.count(), 3, "the model waits");
    let waits = waiting();
    assert_eq!(waits.len(), 1, "on disk, for every surface: {waits:?}");
    window.press("approve").await;
    window.find_css("[data-testid=run-end]").await;
    assert!(provider.seen()[3].contains("Put the black ones right."));
    assert_eq!(waiting(), Vec::<Value>::new());
    window.close().await;
}

#[tokio::test]
async fn of_a_dropped_zip_that_is_declined_nothing_stays_and_one_that_is_agreed_to_is_installed() {
    let window = Window::open(&[]).await;
    window.find("runs").await;
    let zip = zip_of(&beans());
    drop_on(&window, &zip, held).await;
    window.find("skill-dialog").await;
    let shown = window.page_text().await;
    assert!(shown.contains("Beans (1).zip"), "{shown}");
    window.press("skill-leave").await;
    window
        .until_script(
            "the dialog is gone",
            "return document.querySelector('[data-testid=skill-dialog]') === null",
        )
        .await;
    window
        .until("nothing of it is left", || unfinished().is_empty())
        .await;
    assert!(!installed().exists());

    drop_on(&window, &zip, held).await;
    window.press("skill-agree").await;
    window
        .until("it is installed", || installed().exists())
        .await;
    let script = data_folder().join("skills/beans/scripts/sort.py");
    assert!(script.exists());

    // What is no skill is told, with what would help.
    let picture = PathBuf::from(given("HOME")).join("a picture.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\n").expect("the home folder can be written");
    drop_on(&window, &picture, held).await;
    window
        .until_script(
            "it is told",
            "return document.body.innerText.includes('a picture.png')",
        )
        .await;
    window.picture("what-is-no-skill").await;
    window.close().await;
}
