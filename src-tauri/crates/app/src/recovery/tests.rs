//! Runs whose driver is gone, with real drivers on a real log.

use std::time::Duration;

use longrein_protocol::RunId;
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use tempfile::TempDir;

use crate::demo::DemoRun;
use crate::{Driving, Ended, Longrein, Options};

/// So slow that a run never ends by itself while a test looks at it.
const SLOW: Duration = Duration::from_secs(1);

/// How long anything here may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn open(folder: &TempDir, pace: Duration) -> Longrein {
    let data_dir = Some(folder.path().join("data"));
    Longrein::open(Options {
        data_dir,
        pace,
        surface: "test",
    })
    .unwrap()
}

async fn begin(app: &Longrein) -> Driving {
    app.start_demo(DemoRun::default()).await.unwrap()
}

async fn let_go(driving: Driving) -> Ended {
    driving.let_go();
    driving.ended().await
}

async fn state(app: &Longrein, run: RunId) -> RunState {
    app.run_line(run).await.unwrap().state
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_driver_is_gone_is_taken_up_and_comes_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(&folder, SLOW);
    let driving = begin(&first).await;
    let run = driving.run;
    let_go(driving).await;
    assert_eq!(state(&first, run).await, RunState::Interrupted);

    let second = open(&folder, Duration::ZERO);
    let mut recovery = second.recovery();
    let mut found = recovery.look().await.unwrap();
    assert_eq!(found.len(), 1);
    let recovered = found.remove(0);
    assert_eq!(recovered.run, run);
    let ended = recovered.driving.unwrap().ended().await;
    assert_eq!((ended.state, ended.failure), (RunState::Accepted, None));
    assert!(recovery.look().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_another_process_drives_is_left_alone_until_that_one_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (open(&folder, SLOW), open(&folder, SLOW));
    let driving = begin(&first).await;
    let run = driving.run;
    let mut recovery = second.recovery().every(Duration::from_millis(20));
    assert!(recovery.look().await.unwrap().is_empty());

    let_go(driving).await;
    let found = tokio::time::timeout(PATIENCE, recovery.next()).await;
    let found = found.unwrap().unwrap();
    let runs: Vec<RunId> = found.iter().map(|recovered| recovered.run).collect();
    assert_eq!(runs, [run]);
    assert_eq!(state(&first, run).await, RunState::Running);
    for recovered in found {
        let_go(recovered.driving.unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_let_go_on_purpose_it_does_not_take_up_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(&folder, SLOW);
    let driving = begin(&app).await;
    let run = driving.run;
    let_go(driving).await;
    let mut recovery = app.recovery();
    assert!(recovery.look().await.unwrap().is_empty());

    // By hand it does, and from then on it minds the run again.
    let driving = app.take_up(run, ResumeReason::Asked).await.unwrap();
    app.store().take_fence(run).await.unwrap();
    app.wish(run, Wish::Pause).await.unwrap();
    assert!(driving.ended().await.failure.is_some());
    let mut found = recovery.look().await.unwrap();
    assert_eq!(found.len(), 1);
    let_go(found.remove(0).driving.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_that_nobody_reads_has_its_run_taken_up_at_the_second_look() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(&folder, SLOW);
    let driving = begin(&app).await;
    let run = driving.run;
    app.wish(run, Wish::Pause).await.unwrap();
    assert_eq!(driving.ended().await.state, RunState::Paused);
    let mut recovery = app.recovery();
    for _ in 0..2 {
        assert!(recovery.look().await.unwrap().is_empty());
    }

    app.wish(run, Wish::Resume).await.unwrap();
    assert!(recovery.look().await.unwrap().is_empty());
    let mut found = recovery.look().await.unwrap();
    assert_eq!(found.len(), 1);
    let ended = let_go(found.remove(0).driving.unwrap()).await;
    assert_eq!(ended.failure, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_driver_always_fails_is_not_taken_up_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(&folder, SLOW);
    let driving = begin(&app).await;
    let run = driving.run;
    let_go(driving).await;
    let app = open(&folder, SLOW);
    let mut recovery = app.recovery();
    for _ in 0..super::TAKE_UPS_IN_A_ROW {
        let mut found = recovery.look().await.unwrap();
        let driving = found.remove(0).driving.unwrap();
        // Somebody else has the tree now, so that nothing that this driver writes is taken.
        app.store().take_fence(run).await.unwrap();
        app.wish(run, Wish::Pause).await.unwrap();
        assert!(driving.ended().await.failure.is_some());
    }
    assert!(recovery.look().await.unwrap().is_empty());
    assert_eq!(state(&app, run).await, RunState::Interrupted);
}
