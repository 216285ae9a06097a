//! Actions of which nobody knows what became of them, and actions that are taken back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use longrein_core::run::{ActionStage, Phase};
use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::{HandoffReason, Outcome, Verdict};
use longrein_protocol::gate::Surface;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_runtime::ports::{ToolError, ToolOutput};
use longrein_testkit::{FakeTool, ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, approve, count, handed_off};

fn workspace(name: &str, repeat: Repeat) -> FakeTool {
    FakeTool::new(name, Effect::Workspace, repeat)
}

/// Ends without a word the first time.
fn silent_once(tool: FakeTool) -> FakeTool {
    let calls = AtomicUsize::new(0);
    tool.answering(move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::uncertain("The server ended in the middle.")),
        _ => Ok(ToolOutput::text("done", "done")),
    })
}

fn stage(tools: impl IntoIterator<Item = Arc<FakeTool>>, name: &'static str) -> Stage {
    let script = [call(name, json!({"n": 1})), say("Done.")];
    let model = Arc::new(ScriptedModel::by_progress(script));
    Stage::new(TestWorld::new(model, tools))
}

#[tokio::test(start_paused = true)]
async fn a_keyed_tool_is_called_again_with_the_key_that_it_had() {
    let tool = Arc::new(silent_once(
        workspace("pay", Repeat::Keyed).keyed("token", 60),
    ));
    let mut stage = stage([tool.clone()], "pay");
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Pay.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let done = tool.done();
    assert_eq!(done.len(), 2);
    assert_eq!(done[0], done[1]);
    assert_eq!(done[0]["n"], 1);
    let key = done[0]["token"].as_str().unwrap();
    assert_eq!(key.len(), 32);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_no_longer_valid_is_not_used_again() {
    let slow = workspace("pay", Repeat::Keyed).keyed("token", 1);
    // Longer than a call may take, and than the key is valid.
    let tool = Arc::new(slow.taking(Duration::from_secs(120)));
    let mut stage = stage([tool.clone()], "pay");
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Pay.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Uncertain));
    assert_eq!(tool.done().len(), 1);
}

fn status(answers: &'static [&'static str]) -> FakeTool {
    let asked = AtomicUsize::new(0);
    FakeTool::new("state", Effect::Read, Repeat::Repeatable).answering(move |_| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let answer = answers[number.min(answers.len() - 1)];
        Ok(ToolOutput::text(answer, answer))
    })
}

fn order(answers: &'static [&'static str]) -> (Stage, Arc<FakeTool>, Arc<FakeTool>) {
    let order = silent_once(workspace("order", Repeat::Queryable).queried_by("state"));
    let (order, status) = (Arc::new(order), Arc::new(status(answers)));
    let stage = stage([order.clone(), status.clone()], "order");
    (stage, order, status)
}

#[tokio::test(start_paused = true)]
async fn a_status_tool_that_can_not_say_yet_is_asked_again_after_longer_and_longer() {
    let (mut stage, order, status) = order(&["queued", "queued", "done"]);
    let agent = stage.world.agent();
    let began = tokio::time::Instant::now();
    let run = stage.drive(agent, "Order.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!((order.done().len(), status.done().len()), (1, 3));
    assert!(began.elapsed() >= Duration::from_secs(1 + 4));
    assert_eq!(count(&stage.events(), "action.reconciled"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_finally_did_not_happen_is_started_again() {
    let (mut stage, order, status) = order(&["not_done"]);
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Order.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!((order.done().len(), status.done().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_status_tool_that_never_can_say_leaves_it_to_the_person() {
    let (mut stage, order, status) = order(&["queued"]);
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Order.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Uncertain));
    assert_eq!((order.done().len(), status.done().len()), (1, 4));
    let settle = Wish::Settle {
        action: run.actions[0].id.clone(),
        verdict: Verdict::Retry,
        result: None,
        from: Surface::Command,
    };
    let run = stage.on_wish(settle).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(order.done().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_that_something_was_not_done_which_may_have_happened() {
    let once = Arc::new(silent_once(workspace("once", Repeat::Once)));
    let script = [call("once", json!({})), say("Good.")];
    let model = Arc::new(ScriptedModel::by_progress(script));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [once]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Uncertain));
    let text = "Never mind.".to_owned();
    stage.on_wish(Wish::Say { text }).await;
    let told = model.seen()[1].last_result().unwrap();
    assert!(told.contains("not known whether it happened"), "{told}");
}

fn undoable(take_back: FakeTool) -> (Stage, Arc<FakeTool>) {
    let put = FakeTool::new("put", Effect::Reversible, Repeat::Once)
        .undone_by("take_back", "receipt")
        .answering(|_| {
            let mut output = ToolOutput::text("done", "done");
            output.receipt = Some("r1".to_owned());
            Ok(output)
        });
    let take_back = Arc::new(take_back);
    let stage = stage([Arc::new(put), take_back.clone()], "put");
    (stage, take_back)
}

fn take_back() -> FakeTool {
    FakeTool::new("take_back", Effect::Reversible, Repeat::Once)
}

async fn put(stage: &mut Stage) -> Wish {
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Put it.").await.unwrap();
    let put = run.actions[0].clone();
    let run = stage.on_wish(approve(&put)).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    Wish::Undo {
        action: put.id,
        from: Surface::Window,
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_is_taken_back_once_with_its_receipt() {
    let (mut stage, take_back) = undoable(take_back());
    let undo = put(&mut stage).await;
    stage.wish(undo.clone()).await;
    stage.on_wish(undo.clone()).await;
    let run = stage.on_wish(undo).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(take_back.done(), [json!({"receipt": "r1"})]);
    assert_eq!(count(&stage.events(), "action.compensated"), 1);
}

#[tokio::test(start_paused = true)]
async fn taking_back_may_be_tried_again_when_it_did_not_work() {
    let calls = AtomicUsize::new(0);
    let fails_once = take_back().answering(move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::new(ToolErrorClass::Temporary, "Not now.")),
        _ => Ok(ToolOutput::text("done", "done")),
    });
    let (mut stage, take_back) = undoable(fails_once);
    let undo = put(&mut stage).await;
    stage.on_wish(undo.clone()).await;
    assert_eq!(count(&stage.events(), "action.compensated"), 0);
    stage.on_wish(undo.clone()).await;
    stage.on_wish(undo).await;
    assert_eq!(count(&stage.events(), "action.compensated"), 1);
    assert_eq!(take_back.done().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_driver_whose_run_was_taken_over_can_not_write_and_what_it_began_happens_once() {
    let gate = longrein_testkit::Gate::new();
    let once = Arc::new(workspace("once", Repeat::Once).held_before(&gate));
    let mut stage = stage([once.clone()], "once");
    let agent = stage.world.agent();
    let mut first = stage.begin(agent, "Go.").await.unwrap();
    let first = tokio::spawn(async move { first.drive(false).await });
    gate.reached(1).await;
    // The first driver has said on disk what it is about to do, and stands still.
    let run = stage.drive_on().await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Uncertain));
    gate.open();
    let fenced = first.await.unwrap().unwrap_err();
    assert!(fenced.to_string().contains("taken over"), "{fenced}");
    let settle = Wish::Settle {
        action: run.actions[0].id.clone(),
        verdict: Verdict::Happened,
        result: None,
        from: Surface::Command,
    };
    let run = stage.on_wish(settle).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(once.done().len(), 1);
    assert_eq!(count(&stage.events(), "action.started"), 1);
}

#[tokio::test(start_paused = true)]
async fn taking_back_that_is_cut_short_by_a_crash_is_looked_after_by_the_next_process() {
    let gate = longrein_testkit::Gate::new();
    let (mut stage, take_back) = undoable(take_back().held_after(&gate));
    let undo = put(&mut stage).await;
    stage.wish(undo).await;
    let mut driver = stage.take_up().await.unwrap();
    let driving = tokio::spawn(async move { driver.drive(false).await });
    gate.reached(1).await;
    stage.log.crash();
    driving.abort();
    let _ = driving.await;
    stage.reopen();
    let run = stage.drive_on().await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(run.actions[0].stage, ActionStage::Uncertain);
    assert_eq!(take_back.done().len(), 1);
}
