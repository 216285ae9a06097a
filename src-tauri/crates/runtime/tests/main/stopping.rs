//! When a run stops by itself, and when a person stops it.

use std::sync::Arc;

use longrein_core::run::Phase;
use longrein_protocol::event::{HandoffReason, Outcome};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_testkit::{FakeTool, Gate, ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, count};

fn handed_off(phase: &Phase) -> Option<HandoffReason> {
    match phase {
        Phase::HandedOff { reason, .. } => Some(*reason),
        _ => None,
    }
}

fn same() -> Arc<FakeTool> {
    Arc::new(FakeTool::new("same", Effect::Read, Repeat::Repeatable))
}

#[tokio::test(start_paused = true)]
async fn the_same_action_with_the_same_result_is_told_and_then_stopped() {
    let model = Arc::new(ScriptedModel::answering(|_| call("same", json!({}))));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [same()]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::Loop));
    assert_eq!(model.count(), 5);
    assert!(model.seen()[3].text().contains("Do something else."));
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_steps_is_never_passed() {
    let model = Arc::new(ScriptedModel::answering(|request| {
        call("same", json!({"n": request.number}))
    }));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [same()]));
    let mut agent = stage.world.agent();
    agent.budget.steps = 4;
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::Budget));
    assert_eq!(model.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_tokens_stops_before_it_is_passed() {
    let model = Arc::new(ScriptedModel::answering(|request| {
        call("same", json!({"n": request.number}))
    }));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [same()]));
    let mut agent = stage.world.agent();
    agent.budget.tokens_in = Some(5_000);
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::Budget));
    assert!(run.used.tokens_in <= 5_000, "{}", run.used.tokens_in);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_makes_the_next_request_too_large_for_the_budget_is_not_sent() {
    let large = Arc::new(
        FakeTool::new("large", Effect::Read, Repeat::Repeatable).answering(|_| {
            Ok(longrein_runtime::ports::ToolOutput::text(
                "word ".repeat(3_000),
                "3000 words",
            ))
        }),
    );
    let model = Arc::new(ScriptedModel::new([call("large", json!({})), say("Done.")]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [large]));
    let mut agent = stage.world.agent();
    agent.budget.tokens_in = Some(4_000);
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::Budget));
    assert_eq!(model.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn empty_replies_are_asked_again_twice_and_then_handed_off() {
    let model = Arc::new(ScriptedModel::answering(|_| say("")));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::NoReply));
    assert_eq!(model.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_does_not_hold_goes_back_with_the_difference() {
    let model = Arc::new(ScriptedModel::new([
        call("finish", json!({})),
        say("Now it is there."),
    ]));
    let world = TestWorld::new(model.clone(), []).checking([false, true]);
    let mut stage = Stage::new(world);
    let mut agent = stage.world.agent();
    agent.done_when = serde_json::from_value(json!([{"file": "index.html"}])).unwrap();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Accepted));
    assert!(model.seen()[1].text().contains("It is not there."));
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_never_holds_is_handed_off_after_three_checks() {
    let model = Arc::new(ScriptedModel::answering(|request| {
        if request.number % 2 == 0 {
            say("Done.")
        } else {
            call("finish", json!({"n": request.number}))
        }
    }));
    let mut stage = Stage::new(TestWorld::new(model, []).checking([false; 9]));
    let mut agent = stage.world.agent();
    agent.done_when = serde_json::from_value(json!([{"file": "index.html"}])).unwrap();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run.phase), Some(HandoffReason::Verification));
    assert_eq!(count(&stage.events(), "verification.finished"), 3);
}

#[tokio::test(start_paused = true)]
async fn finish_beside_other_calls_runs_after_them() {
    let both = call("finish", json!({})).and_call("same", json!({}));
    let model = Arc::new(ScriptedModel::new([both]));
    let tool = same();
    let mut stage = Stage::new(TestWorld::new(model, [tool.clone()]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(tool.done().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_what_runs_and_the_run() {
    let gate = Gate::new();
    let held = Arc::new(FakeTool::new("held", Effect::Workspace, Repeat::Once).held_before(&gate));
    let model = Arc::new(ScriptedModel::new([call("held", json!({}))]));
    let mut stage = Stage::new(TestWorld::new(model, [held.clone()]));
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Go.").await.unwrap();
    let waker = driver.waker();
    let driving = tokio::spawn(async move {
        driver.drive(true).await.unwrap();
        driver
    });
    gate.reached(1).await;
    stage
        .log
        .post_wish(stage.run, Wish::Cancel, 1)
        .await
        .unwrap();
    waker.wake();
    let driver = driving.await.unwrap();
    assert_eq!(driver.run().phase, Phase::Cancelled);
    assert!(held.done().is_empty());
    let in_doubt = count(&stage.events(), "action.uncertain");
    assert_eq!(in_doubt, 1, "what was cut short is not said to be undone");
}

#[tokio::test(start_paused = true)]
async fn a_new_input_opens_a_new_turn_of_a_finished_run() {
    let model = Arc::new(ScriptedModel::new([say("One."), say("Two.")]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = stage.world.agent();
    stage.drive(agent, "First.").await.unwrap();
    stage
        .log
        .post_wish(
            stage.run,
            Wish::Say {
                text: "Second.".to_owned(),
            },
            1,
        )
        .await
        .unwrap();
    let run = stage.drive_on().await.unwrap();
    assert_eq!(run.turns, 2);
    assert!(model.seen()[1].text().contains("One."));
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
}
