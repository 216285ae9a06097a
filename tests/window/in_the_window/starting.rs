//! Starting twice, and starting with a mistake in a file.

use std::process::Command;

use longrein_testkit::provider::Setup;
use longrein_testkit::say;

use crate::desk::{data_folder, given, with_provider};
use crate::tray::Tray;
use crate::window::{Window, close_by_its_cross, process, window_on_screen};

#[tokio::test]
async fn a_second_start_brings_the_first_window_back_and_ends() {
    let _tray = Tray::start();
    let window = Window::open(&[]).await;
    let first = process();
    close_by_its_cross();
    window
        .until("the window is hidden", || !window_on_screen())
        .await;
    let second = Command::new(given("LONGREIN_DESKTOP"))
        .status()
        .expect("it starts");
    assert!(second.success());
    window.until("the window is back", window_on_screen).await;
    assert_eq!(process(), first);
    window.close().await;
}

#[tokio::test]
async fn a_second_start_with_demo_shows_the_demo_in_the_first_window() {
    let window = Window::open(&[]).await;
    window.find("runs").await;
    let second = Command::new(given("LONGREIN_DESKTOP"))
        .arg("--demo")
        .status()
        .expect("it starts");
    assert!(second.success());
    window
        .find_css("[data-testid=run-end][data-state=accepted]")
        .await;
    window.close().await;
}

#[tokio::test]
async fn a_broken_agent_file_is_listed_with_its_mistake_and_hides_no_other() {
    let _provider = with_provider(Setup::scripted([say("Done.")])).await;
    std::fs::write(
        data_folder().join("agents/broken.agent.toml"),
        "name = \"broken\"\nmodle = 1\n",
    )
    .expect("a file");
    let window = Window::open(&[]).await;
    window.press("start-agent").await;
    window
        .until_script(
            "the list is open",
            "return document.body.innerText.includes('modle')",
        )
        .await;
    let listed = window.page_text().await;
    assert!(listed.contains("Does what the script says."), "{listed}");
    window.close().await;
}

#[tokio::test]
async fn a_provider_that_is_saved_is_used_without_a_new_start() {
    let provider = longrein_testkit::MockProvider::start(Setup::scripted([say("Here I am.")]))
        .await
        .expect("a port");
    let window = Window::open(&[]).await;
    window.press("rail-settings").await;
    window.press("provider-add").await;
    window.fill("provider-name", "nearby").await;
    window.fill("provider-url", &provider.base_url()).await;
    window.press("provider-save").await;
    window.press("provider-test").await;
    window.find("provider-models").await;
    window.picture("settings").await;
    let config =
        std::fs::read_to_string(data_folder().join("config.toml")).expect("it was written");
    assert!(
        config.contains("[providers.nearby]") && config.contains(&provider.base_url()),
        "{config}"
    );
    window.close().await;
}

#[tokio::test]
async fn a_broken_configuration_is_told_and_stops_nothing_that_does_not_need_it() {
    std::fs::create_dir_all(data_folder()).expect("a folder");
    std::fs::write(
        data_folder().join("config.toml"),
        "[providers.local\nformat = 1\n",
    )
    .expect("a file");
    let window = Window::open(&[]).await;
    window.press("run-demo").await;
    window
        .find_css("[data-testid=run-end][data-state=accepted]")
        .await;
    window.press("rail-settings").await;
    window
        .until_script(
            "the mistake is told",
            "return document.body.innerText.includes('config.toml, line 1')",
        )
        .await;
    window.picture("broken").await;

    std::fs::write(
        data_folder().join("config.toml"),
        "[ui]\ntheme = \"dark\"\n",
    )
    .expect("a file");
    let again = "[...document.querySelectorAll('button')].find((button) => button.innerText.includes('Try again'))";
    window.eval(&format!("{again}.click(); return true")).await;
    window
        .until_script(
            "what was mended is read",
            "return document.documentElement.dataset.theme === 'dark'",
        )
        .await;
    window.close().await;
}
