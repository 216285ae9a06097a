//! Answering what waits, in the real window: what is pressed there is what happens outside.

use std::path::PathBuf;
use std::process::Command;

use longrein_testkit::provider::Setup;
use longrein_testkit::{MockProvider, Scripted, call, say};
use serde_json::{Value, json};

use crate::desk::{data_folder, given, with_agent};
use crate::window::Window;

/// Control and Enter, and everything let go again.
const CONTROL_ENTER: &str = "\u{e009}\u{e007}\u{e000}";

/// The file in which the server writes down what it did. No server sees the data folder.
fn marks() -> PathBuf {
    PathBuf::from(given("HOME")).join("marks.txt")
}

/// The labels of what the server did, in order.
fn marked() -> Vec<String> {
    let text = std::fs::read_to_string(marks()).unwrap_or_default();
    let label = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    text.lines().map(label).collect()
}

fn mark(label: &str) -> Scripted {
    call("counter__mark", json!({ "label": label }))
}

/// A window with a run whose model does this, with a server whose effects can be counted and
/// whose tools declare nothing: a person is asked.
async fn begun(script: Vec<Scripted>) -> (Window, MockProvider) {
    let counter = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/counter/counter.py"
    );
    let server = json!(["python3", counter, marks()]);
    let configuration = format!("[mcp.counter]\ncommand = {server}\n");
    let tools = "[tools]\nallow = [\"counter.*\", \"ask_person\"]\n";
    let provider = with_agent(Setup::scripted(script), tools, &configuration).await;
    let window = Window::open(&[]).await;
    window.type_into("start-question", "Mark it.").await;
    window.press("start-run").await;
    (window, provider)
}

/// What the command answers, as JSON lines.
fn told(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(given("LONGREIN_COMMAND"))
        .args(arguments)
        .env("LONGREIN_HOME", data_folder())
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[tokio::test]
async fn an_edit_that_does_not_fit_is_told_in_place_and_the_mended_one_is_what_happens() {
    let (window, _provider) = begun(vec![mark("proposed"), say("Done.")]).await;
    window.find("approval").await;
    window.picture("approval").await;
    window.press("edit").await;
    window.fill("edit-arguments", "{\"label\": 5}").await;
    window.type_into("edit-arguments", CONTROL_ENTER).await;
    window.find("answer-error").await;
    window.picture("an-edit-that-does-not-fit").await;
    assert_eq!(marked(), Vec::<String>::new());
    window
        .fill("edit-arguments", "{\"label\": \"edited\"}")
        .await;
    window.press("approve").await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(marked(), ["edited"]);
    window
        .until_script(
            "the card says that it was edited",
            "return document.querySelector('[data-testid=tool-card]')?.innerText.includes('edited') ?? false",
        )
        .await;
    window.close().await;
}

#[tokio::test]
async fn always_makes_the_rule_that_it_showed_and_untrusted_text_is_a_question_of_its_own() {
    let script = vec![mark("one"), mark("two"), mark("three"), say("Done.")];
    let (window, _provider) = begun(script).await;
    window.press("always").await;
    let shown = "return document.querySelector('[data-testid=always-preview]')?.innerText.includes('counter.mark') ?? false";
    window
        .until_script("the preview says what it matches", shown)
        .await;
    window.press("approve").await;
    // The run has read what the server answered, which is untrusted: the rule is not enough.
    window
        .find_css("[data-testid=approval] [data-check=taint]")
        .await;
    assert_eq!(marked(), ["one"]);
    window.press("always").await;
    window.press("always-tainted").await;
    window.picture("always").await;
    window.press("approve").await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(marked(), ["one", "two", "three"], "the third is not asked");
    window.find("rules-in-force").await;
    window.picture("rules-in-force").await;
    window.close().await;
}

#[tokio::test]
async fn an_answer_from_the_command_closes_the_question_and_says_where_it_came_from() {
    let (window, _provider) = begun(vec![mark("never"), say("Done.")]).await;
    window.find("approval").await;
    let asked = told(&["approvals", "--json"]);
    let action = asked[0]["action"].as_str().expect("an action").to_owned();
    told(&["deny", &action, "--reason", "not that one"]);
    window
        .until_script(
            "it is told",
            "return document.querySelector('[data-testid=toast]')?.innerText.includes('refused from the command line') ?? false",
        )
        .await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(marked(), Vec::<String>::new());
    window.close().await;
}

#[tokio::test]
async fn a_question_of_the_model_is_answered_and_the_model_reads_it() {
    let question = call(
        "ask_person",
        json!({"question": "Which one?", "options": ["The left", "The right"]}),
    );
    let (window, provider) = begun(vec![question, say("Done.")]).await;
    window.find("question-card").await;
    window.picture("question").await;
    window
        .find_css("[data-testid=question-option]:nth-child(2)")
        .await
        .click()
        .await
        .expect("the option can be pressed");
    window.find_css("[data-testid=run-end]").await;
    assert!(provider.seen()[1].contains("The right"));
    window.close().await;
}
