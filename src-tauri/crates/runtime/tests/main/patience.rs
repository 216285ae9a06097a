//! What a provider that fails, refuses or is overwhelmed does to a run.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::{Phase, Request};
use longrein_protocol::block::ModelErrorClass as Class;
use longrein_protocol::event::{HandoffReason, ModelFailed, Outcome, Payload};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_runtime::ports::ToolOutput;
use longrein_testkit::{FakeTool, Pace, Scripted, ScriptedModel, TestWorld, call, fail, say};
use serde_json::json;
use tokio::time::Instant;

use crate::stage::{Stage, count, handed_off};

const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

fn stage(script: impl IntoIterator<Item = Scripted>) -> (Stage, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(script));
    (Stage::new(TestWorld::new(model.clone(), [])), model)
}

fn failures(stage: &Stage) -> Vec<ModelFailed> {
    let events = stage.events().into_iter();
    let failed = events.filter_map(|event| match event.payload {
        Payload::ModelFailed(failed) => Some(failed),
        _ => None,
    });
    failed.collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_lives_through_a_limit_three_overloads_a_cut_and_a_malformed_chunk() {
    let limited = fail(Class::RateLimited, Some(Duration::from_secs(1)));
    let overloaded = || fail(Class::Overloaded, None);
    let (mut stage, model) = stage([
        limited,
        overloaded(),
        overloaded(),
        overloaded(),
        fail(Class::Network, None),
        fail(Class::Malformed, None),
        say("Done."),
    ]);
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let failed = failures(&stage);
    assert_eq!(failed.len(), 6);
    assert!(failed[0].asked && !failed[1].asked);
    assert_eq!(run.used.steps, 1);
    let seen = model.seen();
    assert!(seen.iter().all(|request| request.body == seen[0].body));
}

#[tokio::test(start_paused = true)]
async fn a_quota_of_a_week_hands_off_at_once_with_its_date() {
    let (mut stage, _) = stage([fail(Class::RateLimited, Some(WEEK))]);
    let agent = stage.world.agent();
    let began = Instant::now();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(handed_off(&run), Some(HandoffReason::ProviderDown));
    let (_, reason, remedy) = run.standing();
    assert!(
        reason.ends_with(
            "It takes requests again on Thursday, 8 January 2026, 00:00:00 UTC, in 7 days."
        ),
        "{reason}"
    );
    assert!(
        remedy.starts_with("Resume the run after 2026-01-08 00:00:00 UTC"),
        "{remedy}"
    );
    assert!(failures(&stage)[0].back_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_quota_of_a_week_lets_the_next_model_take_over() {
    let (mut stage, _) = stage([fail(Class::RateLimited, Some(WEEK)), say("Done.")]);
    let mut agent = stage.world.agent();
    agent.model.use_ = vec!["test/scripted".to_owned(), "other/second".to_owned()];
    let began = Instant::now();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(count(&stage.events(), "model.switched"), 1);
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn limits_that_name_their_time_never_use_up_the_attempts() {
    let limited = || fail(Class::RateLimited, Some(Duration::from_secs(3)));
    let script = (0..40).map(|_| limited()).chain([say("Done.")]);
    let (mut stage, _) = stage(script);
    let agent = stage.world.agent();
    let began = Instant::now();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert!(began.elapsed() >= Duration::from_secs(120));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_stays_down_hands_off_after_a_bounded_time() {
    let model = Arc::new(ScriptedModel::answering(|_| fail(Class::Overloaded, None)));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = stage.world.agent();
    let began = Instant::now();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::ProviderDown));
    assert_eq!(model.count(), 8);
    assert!(began.elapsed() < Duration::from_secs(120));
}

/// Drives until the run waits for its provider, and lets the process go.
async fn until_it_waits(stage: &mut Stage) {
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Go.").await.unwrap();
    let driving = tokio::spawn(async move { driver.drive(false).await });
    while count(&stage.events(), "model.failed") == 0 {
        tokio::task::yield_now().await;
    }
    driving.abort();
    let _ = driving.await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_outlives_its_process() {
    let limited = fail(Class::RateLimited, Some(Duration::from_secs(300)));
    let (mut stage, model) = stage([limited, say("Done.")]);
    until_it_waits(&mut stage).await;
    let began = Instant::now();
    let mut driver = stage.take_up().await.unwrap();
    let (state, reason, _) = driver.run().standing();
    assert_eq!(state, RunState::Running);
    assert!(
        reason.ends_with("It is tried again at 00:05:00 UTC."),
        "{reason}"
    );
    driver.drive(false).await.unwrap();
    assert!(
        began.elapsed() > Duration::from_secs(290),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(model.count(), 2);
    assert_eq!(driver.run().phase, Phase::Finished(Outcome::Unverified));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_run_is_cancelled_or_paused() {
    for (wish, phase) in [
        (Wish::Cancel, Phase::Cancelled),
        (Wish::Pause, Phase::Paused),
    ] {
        let limited = fail(Class::RateLimited, Some(Duration::from_secs(300)));
        let (mut stage, model) = stage([limited, say("Done.")]);
        let agent = stage.world.agent();
        let mut driver = stage.begin(agent, "Go.").await.unwrap();
        let waker = driver.waker();
        let began = Instant::now();
        let driving = tokio::spawn(async move {
            driver.drive(false).await.unwrap();
            driver.run().phase.clone()
        });
        while count(&stage.events(), "model.failed") == 0 {
            tokio::task::yield_now().await;
        }
        stage.wish(wish).await;
        waker.wake();
        assert_eq!(driving.await.unwrap(), phase);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(model.count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_too_long_is_made_shorter_until_it_fits() {
    let model = Arc::new(ScriptedModel::answering(|request| {
        match (request.number, request.body.len()) {
            (_, 60_000..) => fail(Class::ContextTooLong, None),
            (0..40, _) => call("look", json!({"n": request.number})),
            _ => say("Done."),
        }
    }));
    let answer = |_: &_| Ok(ToolOutput::text("x".repeat(6_000), "looked"));
    let look =
        Arc::new(FakeTool::new("look", Effect::Workspace, Repeat::Repeatable).answering(answer));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let events = stage.events();
    assert!(count(&events, "context.compacted") >= 1);
    assert!(count(&events, "model.failed") <= 2 * count(&events, "context.compacted"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_not_be_made_shorter_hands_off_after_a_bounded_number_of_times() {
    let model = Arc::new(ScriptedModel::answering(|request| match request.number {
        0..12 => call("look", json!({"n": request.number})),
        _ => fail(Class::ContextTooLong, None),
    }));
    let answer = |_: &_| Ok(ToolOutput::text("x".repeat(6_000), "looked"));
    let look =
        Arc::new(FakeTool::new("look", Effect::Workspace, Repeat::Repeatable).answering(answer));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::ContextFull));
    assert!(model.count() < 12 + 12, "{}", model.count());
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_left_alone_says_so_in_the_run_and_costs_no_attempt() {
    let model = Arc::new(ScriptedModel::answering(|request| match request.number {
        1..=7 => fail(Class::Overloaded, None),
        _ => say("Done."),
    }));
    let pace = Pace::of("local");
    let mut stage = Stage::new(TestWorld::new(model.clone(), []).paced(pace));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let failed = failures(&stage);
    let (unsent, sent): (Vec<_>, Vec<_>) = failed.iter().partition(|failed| failed.unsent);
    assert_eq!(sent.len(), 7);
    assert!(!unsent.is_empty());
    assert!(unsent.iter().all(|failed| !failed.cost_unknown));
    assert!(
        unsent.iter().any(|failed| failed.message.starts_with(
            "Provider local has failed 5 times in a row and is left alone. It is asked again at 00:0"
        )),
        "{unsent:?}"
    );
    assert_eq!(model.count(), 8);
    assert!(matches!(run.request, Request::None));
}
