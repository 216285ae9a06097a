//! A box that nobody uses is stopped, and started again when somebody does.

use std::time::Duration;

use longrein_runtime::ports::NoLiveAction;
use longrein_sandbox::code::{Closing, Make};

use super::code::{Bench, Process, command, on_all_benches};
use super::place::{until, within};

/// As long as nobody may use a box.
const IDLE: Duration = Duration::from_secs(300);
/// Less than anybody waits.
const MOMENT: Duration = Duration::from_secs(1);

/// Lets this much time pass at once. Nothing else may be on its way: a limit of it would pass too.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Enters the box and leaves it; gives its life and the connection.
async fn visit(process: &Process) -> (String, longrein_sandbox::session::Session) {
    let entered = within(process.station.enter(Make::Anew, &NoLiveAction)).await;
    let lease = entered.expect("it can be entered").expect("it is there");
    (lease.session.life().to_owned(), lease.session.clone())
}

async fn a_box_that_nobody_uses_for_five_minutes_is_stopped_and_started_again(bench: Bench) {
    let process = bench.process();
    process
        .text(
            "run_command",
            "A1",
            command("echo kept > file; echo gone > /tmp/file"),
        )
        .await;
    let (life, session) = visit(&process).await;
    // The watch begins when it is left.
    tokio::task::yield_now().await;
    pass(IDLE - MOMENT).await;
    // Whoever comes within the time finds it, and the time begins anew.
    assert_eq!(visit(&process).await.0, life);
    tokio::task::yield_now().await;
    pass(IDLE - MOMENT).await;
    assert_eq!(visit(&process).await.0, life);
    tokio::task::yield_now().await;
    pass(IDLE + MOMENT).await;
    until(|| !session.is_open()).await;

    let said = process
        .text("run_command", "A2", command("cat file; ls /tmp"))
        .await;
    assert!(said.starts_with("kept\n[exit status 0"), "{said}");
    assert_ne!(visit(&process).await.0, life, "it was started again");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_box_that_somebody_uses_is_not_idle(bench: Bench) {
    let process = bench.process();
    let entered = within(process.station.enter(Make::Anew, &NoLiveAction)).await;
    let lease = entered.expect("it can be entered").expect("it is there");
    tokio::task::yield_now().await;
    pass(2 * IDLE).await;
    tokio::task::yield_now().await;
    let said = process
        .text("run_command", "A1", command("echo through"))
        .await;
    assert!(said.starts_with("through\n[exit status 0"), "{said}");
    assert!(lease.session.is_open());
    let (life, session) = (lease.session.life().to_owned(), lease.session.clone());
    drop(lease);
    assert_eq!(visit(&process).await.0, life);
    tokio::task::yield_now().await;
    pass(IDLE + MOMENT).await;
    until(|| !session.is_open()).await;
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

async fn a_run_that_stands_still_has_no_running_box_and_gets_one_when_it_goes_on(bench: Bench) {
    let process = bench.process();
    let (life, session) = visit(&process).await;
    within(process.boxes.close(bench.run, Closing::Still)).await;
    // Nothing runs while a person is waited for.
    until(|| !session.is_open()).await;
    let process = bench.process();
    let said = process.text("run_command", "A1", command("echo on")).await;
    assert!(said.starts_with("on\n"), "{said}");
    assert_ne!(visit(&process).await.0, life);
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

on_all_benches!(
    a_box_that_nobody_uses_for_five_minutes_is_stopped_and_started_again,
    a_box_that_somebody_uses_is_not_idle,
    a_run_that_stands_still_has_no_running_box_and_gets_one_when_it_goes_on,
);
