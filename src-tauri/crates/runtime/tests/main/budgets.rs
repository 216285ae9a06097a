//! Limits that are reached, raised, and never passed.

use std::sync::Arc;

use longrein_core::run::Phase;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{HandoffReason, Limits, Outcome, Price};
use longrein_protocol::gate::Surface;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_testkit::{FakeTool, ScriptedModel, TestWorld, call, fail, say};
use serde_json::json;

use crate::stage::{Stage, count, handed_off};

const PRICE: Price = Price {
    input: 1_000_000,
    cached: None,
    output: 4_000_000,
};

fn look() -> Arc<FakeTool> {
    Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable))
}

fn looking() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::answering(|request| {
        call("look", json!({"n": request.number}))
    }))
}

fn raise(limits: Limits) -> Wish {
    Wish::Raise {
        limits,
        from: Surface::Command,
    }
}

/// What the model has counted, in millionths of a dollar.
fn spent(model: &ScriptedModel) -> u64 {
    let tokens = model
        .seen()
        .into_iter()
        .map(|seen| seen.body.len().div_ceil(4) as u32);
    tokens.map(|tokens| PRICE.of(tokens, 0, 0)).sum()
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_raised_lets_the_run_go_on() {
    let model = Arc::new(ScriptedModel::new([
        call("look", json!({"n": 1})),
        call("look", json!({"n": 2})),
        say("Done."),
    ]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look()]));
    let mut agent = stage.world.agent();
    agent.budget.steps = 2;
    let run = stage.drive(agent, "Look.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Budget));
    let digest = run.digest();
    assert!(digest.cost.contains("tokens in"), "{}", digest.cost);
    let limits = Limits {
        steps: Some(3),
        ..Limits::default()
    };
    let run = stage.on_wish(raise(limits)).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(model.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn money_is_never_spent_beyond_its_limit_and_the_person_is_warned_before() {
    let model = looking();
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look()]));
    stage.price = Some(PRICE);
    let mut agent = stage.world.agent();
    agent.budget.money_usd = Some(0.012);
    agent.model.max_output_tokens = 100;
    let run = stage.drive(agent, "Look.").await.unwrap();
    assert_eq!(handed_off(&run), Some(HandoffReason::Budget));
    assert!(model.count() > 3, "{}", model.count());
    assert!(spent(&model) <= 12_000, "{}", spent(&model));
    assert_eq!(count(&stage.events(), "budget.warned"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_broken_answer_may_have_cost_stays_counted() {
    for (class, unknown) in [
        (ModelErrorClass::Malformed, true),
        (ModelErrorClass::Network, true),
        (ModelErrorClass::RateLimited, false),
    ] {
        let model = Arc::new(ScriptedModel::new([fail(class, None), say("Done.")]));
        let mut stage = Stage::new(TestWorld::new(model.clone(), []));
        let agent = stage.world.agent();
        let run = stage.drive(agent, "Look.").await.unwrap();
        assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
        let one = model.seen()[0].body.len().div_ceil(4) as u32;
        assert_eq!(run.used.tokens_in >= 2 * one, unknown, "{class:?}");
        assert_eq!(run.tokens_known().0, one, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn actions_side_by_side_do_not_pass_the_limit_of_actions() {
    let both = call("look", json!({"n": 1})).and_call("look", json!({"n": 2}));
    let model = Arc::new(ScriptedModel::new([both, say("Done.")]));
    let look = look();
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look.clone()]));
    let mut agent = stage.world.agent();
    agent.budget.actions = Some(1);
    stage.drive(agent, "Look.").await.unwrap();
    assert_eq!(look.done().len(), 1);
    assert!(model.seen()[1].contains("the limit of 1 actions is reached"));
}
