//! Closing, quitting, and the tray.

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::provider::{Content, Manner, Setup};
use longrein_testkit::reply::reply_of;
use longrein_testkit::{MockProvider, SeenRequest, say};
use serde_json::json;

use crate::desk::{data_folder, given, with_provider};
use crate::tray::Tray;
use crate::window::{Window, close_by_its_cross, is_gone, process, window_on_screen};

/// Control and Q, and everything let go again.
const QUIT: &str = "\u{e009}q\u{e000}";
const QUESTION: &str = "How long is a piece of string?";

/// A provider whose only answer waits at the gate.
async fn held() -> MockProvider {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    with_provider(Setup::scripted([say("It depends."), say("It still depends.")]).in_manner(manner))
        .await
}

async fn start_a_run(window: &Window, provider: &MockProvider) {
    window.type_into("start-question", QUESTION).await;
    window.press("start-run").await;
    provider.gate().reached(1).await;
}

/// What `longrein runs` says of the only run.
fn state_of_the_run() -> String {
    let output = std::process::Command::new(given("LONGREIN_COMMAND"))
        .args(["runs", "--json"])
        .env("LONGREIN_HOME", data_folder())
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    line["state"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn closing_hides_to_the_tray_and_the_run_goes_on() {
    let mut tray = Tray::start();
    let provider = held().await;
    let window = Window::open(&[]).await;
    start_a_run(&window, &provider).await;
    let menu = tray
        .until("the run is named", |menu| {
            menu.iter().any(|item| item.contains("(running)"))
        })
        .await;
    assert_eq!(menu.first().map(String::as_str), Some("Open Longrein"));
    assert!(menu[1].starts_with(QUESTION), "{menu:?}");

    close_by_its_cross();
    window
        .until("the window is hidden", || !window_on_screen())
        .await;
    provider.gate().open();
    tray.until("nothing runs any more", |menu| {
        menu.iter().any(|item| item == "Nothing is running")
    })
    .await;

    tray.choose("Open");
    window.until("the window is back", window_on_screen).await;
    window.find_css("[data-testid=run-end]").await;
    window.close().await;
}

#[tokio::test]
async fn the_trays_item_of_a_run_opens_it() {
    let mut tray = Tray::start();
    let provider = held().await;
    let window = Window::open(&[]).await;
    start_a_run(&window, &provider).await;
    window.press("rail-runs").await;
    window.find("runs").await;
    tray.until("the run is named", |menu| {
        menu.iter().any(|item| item.contains("(running)"))
    })
    .await;
    tray.choose(QUESTION);
    window.find("conversation").await;
    window.close().await;
}

#[tokio::test]
async fn quitting_while_a_run_works_asks_and_stopping_leaves_it_to_be_taken_up() {
    let mut tray = Tray::start();
    let provider = held().await;
    let window = Window::open(&[]).await;
    let app = process();
    start_a_run(&window, &provider).await;
    tray.until("the run is named", |menu| {
        menu.iter().any(|item| item.contains("(running)"))
    })
    .await;
    window.press_keys(QUIT).await;
    window.find("quit-dialog").await;
    window.picture("quit").await;
    assert!(window.page_text().await.contains(QUESTION));
    window.press("quit-stay").await;
    window
        .until_script(
            "the question is gone",
            "return !document.querySelector('[data-testid=quit-dialog]')",
        )
        .await;
    assert!(!is_gone(app));

    tray.choose("Quit");
    window.find("quit-dialog").await;
    window.press_last("quit-stop").await;
    window.until("the app has ended", || is_gone(app)).await;
    assert_eq!(state_of_the_run(), "interrupted");
}

#[tokio::test]
async fn letting_runs_finish_hides_the_window_and_ends_with_the_last_of_them() {
    let provider = held().await;
    let window = Window::open(&[]).await;
    let app = process();
    start_a_run(&window, &provider).await;
    // Without a tray the cross is the way to quit, so it asks.
    close_by_its_cross();
    window.find("quit-dialog").await;
    window.press_last("quit-finish").await;
    window
        .until("the window is hidden", || !window_on_screen())
        .await;
    assert!(!is_gone(app));
    provider.gate().open();
    window.until("the app has ended", || is_gone(app)).await;
    assert_eq!(state_of_the_run(), "unverified");
}

/// A provider whose model never ends by itself; its first answer waits at the gate.
async fn endless() -> MockProvider {
    let brain = |request: &SeenRequest| {
        let step = request.replies();
        let file = json!({"path": format!("{step}.md"), "content": "More."});
        let call = ReplyBlock::ToolUse {
            id: String::new(),
            name: "write_file".to_owned(),
            arguments: file.to_string(),
            raw: None,
        };
        Content::Reply(reply_of(vec![call], request)).into()
    };
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    with_provider(Setup::of(brain).in_manner(manner)).await
}

#[tokio::test]
async fn pausing_stops_a_run_before_its_next_step_and_quits() {
    let provider = endless().await;
    let window = Window::open(&[]).await;
    let app = process();
    start_a_run(&window, &provider).await;
    window.press_keys(QUIT).await;
    window.find("quit-dialog").await;
    window.press_last("quit-pause").await;
    provider.gate().open();
    window.until("the app has ended", || is_gone(app)).await;
    assert_eq!(state_of_the_run(), "paused");
}

#[tokio::test]
async fn without_a_tray_and_without_a_run_the_cross_ends_the_app() {
    let window = Window::open(&[]).await;
    let app = process();
    close_by_its_cross();
    window.until("the app has ended", || is_gone(app)).await;
}

#[tokio::test]
async fn told_to_end_it_ends_and_the_run_goes_on_at_the_next_start() {
    let provider = held().await;
    let window = Window::open(&[]).await;
    let app = process();
    start_a_run(&window, &provider).await;
    let told = std::process::Command::new("kill")
        .args(["-TERM", &app.to_string()])
        .status();
    assert!(told.is_ok_and(|status| status.success()));
    window.until("the app has ended", || is_gone(app)).await;
    window.let_go().await;
    provider.gate().open();

    let window = Window::open(&[]).await;
    window
        .until_script(
            "the run is in the list",
            "return document.querySelectorAll('[data-testid=run-row]').length === 1",
        )
        .await;
    window.press("run-row").await;
    window.find_css("[data-testid=run-end]").await;
    assert!(
        window.page_text().await.contains("Spliced"),
        "the rein shows where it broke"
    );
    window.close().await;
}
