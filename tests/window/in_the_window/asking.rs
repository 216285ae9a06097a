//! What a server asks the person in the middle of a call, in the real window with a real server.

use std::path::PathBuf;

use longrein_testkit::provider::Setup;
use longrein_testkit::{MockProvider, Scripted, call, say};
use serde_json::{Value, json};

use crate::desk::{given, with_agent};
use crate::window::Window;

/// A window with a run whose model calls these tools of a server that asks questions.
async fn begun(tools: &[&str]) -> (Window, MockProvider) {
    let server = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/hostile/hostile.py"
    );
    let command = json!(["python3", server, PathBuf::from(given("HOME"))]);
    let configuration = format!("[mcp.h]\ncommand = {command}\n");
    let agent = "[tools]\nallow = [\"h.*\"]\n\
        [tools.\"h.ask_secret\"]\neffect = \"read\"\n\
        [[policy]]\ntool = \"h.*\"\ndecision = \"allow\"\n";
    let calls = tools.iter().map(|tool| call(tool, json!({})));
    let script: Vec<Scripted> = calls.chain([say("Done.")]).collect();
    let provider = with_agent(Setup::scripted(script), agent, &configuration).await;
    let window = Window::open(&[]).await;
    window.type_into("start-question", "Book it.").await;
    window.press("start-run").await;
    (window, provider)
}

/// What the server was told, as it gave it back to the model.
fn told(provider: &MockProvider, request: usize) -> Value {
    let result = provider.seen()[request].last_result();
    let result = result.expect("a call has ended");
    let answer = result
        .lines()
        .find_map(|line| serde_json::from_str(line).ok());
    answer.unwrap_or_else(|| panic!("no answer in {result}"))
}

#[tokio::test]
async fn a_servers_form_is_filled_in_and_what_does_not_fit_is_told_in_place() {
    let (window, provider) = begun(&["h__ask", "h__ask_secret"]).await;
    window.find("server-question").await;
    window.picture("a-server-asks").await;
    let city = "[data-testid=server-field][data-name=city] textarea";
    let city = window.find_css(city).await;
    city.send_keys("B").await.expect("it takes a text");
    window.press("server-send").await;
    window.find("answer-error").await;
    window.picture("an-answer-that-does-not-fit").await;
    let shown = window.page_text().await;
    assert!(
        shown.contains("“city” has to be a text, at least 2 characters long"),
        "{shown}"
    );
    assert_eq!(provider.count(), 1, "the server waits");
    city.send_keys("ern").await.expect("it takes a text");
    window.press("server-send").await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(
        told(&provider, 1),
        json!({"action": "accept", "content": {"city": "Bern", "days": 2}})
    );
    // What asks for a password asks nobody, and the person is told.
    assert_eq!(told(&provider, 2)["action"], "decline");
    let refused = window.page_text().await;
    assert!(refused.contains("question refused"), "{refused}");
    window.close().await;
}

#[tokio::test]
async fn a_page_that_a_server_wants_visited_is_shown_whole_and_can_be_declined() {
    let (window, provider) = begun(&["h__ask_page"]).await;
    let host = window.find("asked-host").await;
    assert_eq!(host.text().await.expect("it is there"), "pay.example");
    window.picture("a-server-wants-a-page-visited").await;
    let shown = window.page_text().await;
    assert!(
        shown.contains("https://pay.example/booking?number=7"),
        "{shown}"
    );
    window.press("server-decline").await;
    window.find_css("[data-testid=run-end]").await;
    assert_eq!(told(&provider, 1)["action"], "decline");
    window.close().await;
}
