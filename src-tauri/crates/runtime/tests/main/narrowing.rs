//! Rules that change on disk while a run goes on: they narrow it at once, and never widen it.

use std::sync::Arc;

use longrein_core::run::Phase;
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::event::{HandoffReason, Outcome};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, approve, count, handed_off};

fn rule(tool: &str, decision: Decision) -> PolicyRule {
    let decision = serde_json::to_value(decision).unwrap();
    serde_json::from_value(json!({"tool": tool, "decision": decision})).unwrap()
}

struct Cast {
    stage: Stage,
    post: Arc<FakeTool>,
    look: Arc<FakeTool>,
    model: Arc<ScriptedModel>,
}

fn cast(script: impl IntoIterator<Item = Scripted>) -> Cast {
    let post = Arc::new(FakeTool::new("post", Effect::Irreversible, Repeat::Once));
    let look = Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable));
    let model = Arc::new(ScriptedModel::by_progress(script));
    let stage = Stage::new(TestWorld::new(model.clone(), [post.clone(), look.clone()]));
    Cast {
        stage,
        post,
        look,
        model,
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_be_forbidden_while_it_waits_does_not_start_when_approved() {
    let mut cast = cast([call("post", json!({})), say("I may not.")]);
    let agent = cast.stage.world.agent();
    let run = cast.stage.drive(agent, "Post it.").await.unwrap();
    cast.stage.world.write_rules([rule("post", Decision::Deny)]);
    let run = cast.stage.on_wish(approve(&run.actions[0])).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert!(cast.post.done().is_empty());
    let told = cast.model.seen().pop().unwrap();
    assert!(told.contains("Not permitted"), "{}", told.text());
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_be_allowed_on_disk_does_not_widen_a_run_that_is_going() {
    for before in [None, Some(rule("other", Decision::Allow))] {
        let mut cast = cast([
            call("look", json!({})),
            say("Shall I?"),
            call("post", json!({})),
            say("Posted."),
        ]);
        if let Some(before) = before {
            cast.stage.world.write_rules([before]);
        }
        let agent = cast.stage.world.agent();
        cast.stage.drive(agent, "Look.").await.unwrap();
        cast.stage
            .world
            .write_rules([rule("post", Decision::Allow)]);
        let text = "Do.".to_owned();
        let run = cast.stage.on_wish(Wish::Say { text }).await;
        assert_eq!(run.line().reason, "post waits for your answer.");
        assert!(cast.post.done().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn rules_that_can_not_be_read_hand_the_run_over_and_start_nothing() {
    let mut cast = cast([call("look", json!({})), say("Looked.")]);
    cast.stage.world.break_rules();
    let agent = cast.stage.world.agent();
    let run = cast.stage.drive(agent, "Look.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Environment));
    assert!(cast.look.done().is_empty());
    assert_eq!(count(&cast.stage.events(), "action.decided"), 0);
    cast.stage.world.write_rules([]);
    let run = cast.stage.on_wish(Wish::Resume).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(cast.look.done().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rules_that_break_while_an_approval_waits_keep_it_from_starting() {
    let mut cast = cast([call("post", json!({})), say("Posted.")]);
    let agent = cast.stage.world.agent();
    let run = cast.stage.drive(agent, "Post it.").await.unwrap();
    cast.stage.world.break_rules();
    let run = cast.stage.on_wish(approve(&run.actions[0])).await;
    assert_eq!(handed_off(&run), Some(HandoffReason::Environment));
    assert!(cast.post.done().is_empty());
}
