//! Criteria that ask: a model that judges, within the budget; and a check that is stopped.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::Phase;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{HandoffReason, Outcome};
use longrein_protocol::wish::Wish;
use longrein_testkit::{Gate, ScriptedModel, TestWorld, say, then};
use serde_json::json;

use crate::stage::{Stage, count, handed_off};

/// What a judge's request has, and no other.
const JUDGE: &str = "\"Judge.\"";

/// Says that it is done, and judges with these words.
fn model(verdicts: &'static [&'static str]) -> Arc<ScriptedModel> {
    let judged = std::sync::atomic::AtomicUsize::new(0);
    Arc::new(ScriptedModel::answering(move |request| {
        if !request.contains(JUDGE) {
            return say("Done.");
        }
        let number = judged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let verdict = verdicts[number.min(verdicts.len() - 1)];
        then(move |_| say(verdict))
    }))
}

fn judged(stage: &Stage) -> AgentSpec {
    let mut agent = stage.world.agent();
    let criterion = json!([{"judge": "It is fair.", "of": "a.html"}]);
    agent.done_when = serde_json::from_value(criterion).unwrap();
    agent
}

#[tokio::test(start_paused = true)]
async fn a_judge_is_asked_beside_the_steps_and_paid_for() {
    let model = model(&["no", "yes"]);
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = judged(&stage);
    let run = stage.drive(agent, "Write it.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Accepted));
    assert_eq!((run.used.steps, model.count()), (2, 4));
    assert_eq!(count(&stage.events(), "side.responded"), 2);
    let bytes: usize = model
        .seen()
        .iter()
        .map(|seen| seen.body.len().div_ceil(4))
        .sum();
    assert_eq!(run.used.tokens_in as usize, bytes);
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_the_budget_does_not_cover_is_not_asked() {
    let model = model(&["yes"]);
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let mut agent = judged(&stage);
    let rubric = "It is fair. ".repeat(300);
    let criterion = json!([{"judge": rubric, "of": "a.html"}]);
    agent.done_when = serde_json::from_value(criterion).unwrap();
    agent.budget.tokens_in = Some(1_000);
    let run = stage.drive(agent, "Write it.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Verification));
    assert_eq!(count(&stage.events(), "side.requested"), 0);
    assert!(!model.seen().iter().any(|seen| seen.contains(JUDGE)));
    let result = &run.results[0];
    assert!(
        result.evidence.contains("does not cover"),
        "{}",
        result.evidence
    );
}

#[tokio::test(start_paused = true)]
async fn a_check_that_goes_on_is_stopped_within_a_second_of_the_persons_word() {
    let gate = Gate::new();
    let world = TestWorld::new(model(&["yes"]), []).checking_behind(&gate);
    let mut stage = Stage::new(world);
    let agent = judged(&stage);
    let mut driver = stage.begin(agent, "Write it.").await.unwrap();
    let waker = driver.waker();
    let driving = tokio::spawn(async move {
        driver.drive(true).await.unwrap();
        driver
    });
    gate.reached(1).await;
    let said = tokio::time::Instant::now();
    stage.wish(Wish::Cancel).await;
    waker.wake();
    let driver = driving.await.unwrap();
    assert!(
        said.elapsed() <= Duration::from_secs(1),
        "{:?}",
        said.elapsed()
    );
    assert_eq!(driver.run().phase, Phase::Cancelled);
    assert_eq!(count(&stage.events(), "verification.finished"), 0);
}
