//! What the model asks a person, and what a person has to accept.

use std::sync::Arc;

use longrein_core::run::Phase;
use longrein_protocol::event::Outcome;
use longrein_protocol::gate::Surface;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_testkit::{ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, count};

fn asking() -> (Stage, Arc<ScriptedModel>) {
    let script = [
        call("ask_person", json!({"question": "Which one?"})),
        say("That one, then."),
    ];
    let model = Arc::new(ScriptedModel::by_progress(script));
    (Stage::new(TestWorld::new(model.clone(), [])), model)
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_for_the_person_and_its_answer_reaches_the_model() {
    let (mut stage, model) = asking();
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Choose.").await.unwrap();
    assert_eq!(run.line().state, RunState::Waiting);
    stage.reopen();
    let answer = Wish::Answer {
        action: run.actions[0].id.clone(),
        text: "The heron.".to_owned(),
        from: Surface::Window,
    };
    stage.wish(answer.clone()).await;
    let run = stage.on_wish(answer).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(count(&stage.events(), "question.answered"), 1);
    assert_eq!(model.seen()[1].last_result().as_deref(), Some("The heron."));
    assert!(!run.tainted);
}

#[tokio::test(start_paused = true)]
async fn words_without_an_address_answer_the_only_question_that_is_open() {
    let (mut stage, model) = asking();
    let agent = stage.world.agent();
    stage.drive(agent, "Choose.").await.unwrap();
    let text = "The gull.".to_owned();
    let run = stage.on_wish(Wish::Say { text }).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(run.turns, 1);
    assert_eq!(model.seen()[1].last_result().as_deref(), Some("The gull."));
}

fn accept(accepted: bool, note: &str) -> Wish {
    Wish::Accept {
        accepted,
        note: note.to_owned(),
        from: Surface::Window,
    }
}

async fn waiting_for_acceptance() -> (Stage, Arc<ScriptedModel>) {
    let script = [say("It is done."), say("It is better now.")];
    let model = Arc::new(ScriptedModel::by_progress(script));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let mut agent = stage.world.agent();
    agent.done_when = serde_json::from_value(json!([{"person": "Read the page."}])).unwrap();
    let run = stage.drive(agent, "Write it.").await.unwrap();
    assert_eq!(run.line().state, RunState::Waiting);
    (stage, model)
}

#[tokio::test(start_paused = true)]
async fn a_result_is_accepted_only_when_the_person_has_accepted_it() {
    let (mut stage, _) = waiting_for_acceptance().await;
    let run = stage.on_wish(accept(true, "")).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Accepted));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_sent_back_is_worked_on_and_asked_about_anew() {
    let (mut stage, model) = waiting_for_acceptance().await;
    let run = stage
        .on_wish(accept(false, "The second part is missing."))
        .await;
    assert_eq!(run.line().state, RunState::Waiting);
    let told = model.seen().pop().unwrap();
    assert!(
        told.contains("The second part is missing."),
        "{}",
        told.text()
    );
    let run = stage.on_wish(accept(true, "")).await;
    assert_eq!(run.phase, Phase::Finished(Outcome::Accepted));
    assert_eq!(count(&stage.events(), "acceptance.requested"), 2);
}
