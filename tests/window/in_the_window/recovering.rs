//! Runs of other processes, while the window is open.

use std::process::{Command, Stdio};

use longrein_testkit::provider::{Manner, Setup};
use longrein_testkit::say;

use crate::desk::{data_folder, given, with_provider};
use crate::window::Window;

#[tokio::test]
async fn a_run_whose_process_dies_while_the_window_is_open_is_taken_up() {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    let script = [say("It depends."), say("It depends, all the same.")];
    let provider = with_provider(Setup::scripted(script).in_manner(manner)).await;
    let mut command = Command::new(given("LONGREIN_COMMAND"))
        .args(["run", "research", "How long is a piece of string?"])
        .env("LONGREIN_HOME", data_folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    provider.gate().reached(1).await;

    let window = Window::open(&[]).await;
    window
        .find_css("[data-testid=run-row][data-state=running]")
        .await
        .click()
        .await
        .expect("the run can be opened");
    window.find("conversation").await;
    command.kill().expect("the command can be killed");
    command.wait().expect("the command has ended");

    // Nobody presses anything: the request is made again by the window's own process.
    provider.gate().reached(2).await;
    window.find("splice").await;
    provider.gate().open();
    window.find_css("[data-testid=run-end]").await;
    window.close().await;
}
