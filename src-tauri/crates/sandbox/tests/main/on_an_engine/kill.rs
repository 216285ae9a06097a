//! An app that is killed at once, and the next one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use longrein_sandbox::wire::{End, Stream};

use super::place::{Place, script, within};

/// Set for the process that plays the app: the folder of the test.
const ROLE: &str = "LONGREIN_TEST_APP";
/// What the app says when it may be killed.
const COUNTING: &str = "counting";
/// Counts to sixty, with a line of output and an effect each time.
const COUNT: &str =
    "n=0; while [ $n -lt 60 ]; do n=$((n+1)); echo $n; echo $n >> effect; sleep 0.05; done; exit 7";

/// Starts the command twice over, says so, and waits to be killed.
async fn play_the_app(place: &Place) -> ! {
    let inside = place.enter().await;
    let environment = inside.container.environment().clone();
    let short = script("short", &environment, "echo done; exit 3");
    within(inside.session.start(short))
        .await
        .expect("it starts");
    let start = script("count", &environment, COUNT);
    within(inside.session.start(start))
        .await
        .expect("it starts");
    within(inside.session.read("count", Stream::Output, 0, true))
        .await
        .expect("it counts");
    println!("\n{COUNTING}");
    std::future::pending().await
}

/// A process of this very test that plays the app, killed in the middle of it.
fn kill_an_app(test: &str, folder: &Path) {
    let mut app = Command::new(std::env::current_exe().expect("this is a program"))
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(app.stdout.take().expect("it is piped"));
    let is_counting = output
        .lines()
        .map_while(Result::ok)
        .any(|line| line == COUNTING);
    app.kill().expect("it is ours");
    app.wait().expect("it is ours");
    assert!(is_counting, "the app ended before its time");
}

async fn survives(engine: &str, test: &str) {
    if let Some(folder) = std::env::var_os(ROLE) {
        play_the_app(&Place::at(engine, Path::new(&folder)).await).await;
    }
    let place = Place::of(engine).await;
    let (test, folder) = (test.to_owned(), place.folder().to_owned());
    let killing = tokio::task::spawn_blocking(move || kill_an_app(&test, &folder));
    killing.await.expect("the app was killed");

    let inside = place.enter().await;
    // What it may have started is asked for again, as after a crash.
    let again = script("count", inside.container.environment(), COUNT);
    assert!(
        !within(inside.session.start(again))
            .await
            .expect("it is known")
    );
    let receipt = within(inside.session.wait("count")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 7 });
    let output = within(
        inside
            .session
            .command("count")
            .read_all(Stream::Output, 1 << 20),
    )
    .await;
    let expected: String = (1..=60).map(|n| format!("{n}\n")).collect();
    assert_eq!(
        String::from_utf8_lossy(&output.expect("it is kept")),
        expected
    );
    let effect = std::fs::read_to_string(place.workspace().join("effect"));
    assert_eq!(
        effect.expect("it is there"),
        expected,
        "each effect happened once"
    );
    let receipt = within(inside.session.wait("short"))
        .await
        .expect("it is kept");
    assert_eq!(receipt.end, End::Exited { status: 3 });
    place.clear().await;
}

mod podman {
    #[tokio::test]
    async fn a_command_survives_kill_9_of_the_app_and_is_taken_up_whole() {
        let test = "on_an_engine::kill::podman::a_command_survives_kill_9_of_the_app_and_is_taken_up_whole";
        super::survives("LONGREIN_TEST_PODMAN", test).await;
    }
}

mod docker {
    #[tokio::test]
    async fn a_command_survives_kill_9_of_the_app_and_is_taken_up_whole() {
        let test = "on_an_engine::kill::docker::a_command_survives_kill_9_of_the_app_and_is_taken_up_whole";
        super::survives("LONGREIN_TEST_DOCKER", test).await;
    }
}
