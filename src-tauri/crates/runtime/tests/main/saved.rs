//! Saved agents that a run gives work to.

use std::sync::Arc;

use longrein_core::run::{Phase, Run};
use longrein_protocol::agent::{AgentSpec, SavedAgent};
use longrein_protocol::event::{ChildEnd, Outcome, Payload, Price};
use longrein_protocol::media::Takes;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, SeenRequest, TestWorld, call, say};
use serde_json::{Value, json};

use crate::stage::Stage;

const LOOK_TWICE: &str = "Look at everything twice.";

struct Cast {
    stage: Stage,
    model: Arc<ScriptedModel>,
    mark: Arc<FakeTool>,
}

/// A leader that delegates once, and helpers that call the tool that their task names.
fn cast(task: Value) -> Cast {
    let model = Arc::new(ScriptedModel::answering(move |request: &SeenRequest| {
        let leads = request.contains("Lead.");
        match (leads, request.replies()) {
            (true, 0) => call("delegate", json!({"tasks": [task]})),
            (true, _) => say("All done."),
            (false, 0) => tool_of(request),
            (false, _) => call("finish", json!({"summary": "Looked."})),
        }
    }));
    let look = Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable));
    let mark = Arc::new(FakeTool::new("mark", Effect::Workspace, Repeat::Once));
    let delegate = Arc::new(FakeTool::new("delegate", Effect::Read, Repeat::Repeatable));
    let stage = Stage::new(TestWorld::new(
        model.clone(),
        [look, mark.clone(), delegate],
    ));
    Cast { stage, model, mark }
}

fn tool_of(request: &SeenRequest) -> Scripted {
    let brief = request.messages()[1]["content"]
        .as_str()
        .unwrap_or("")
        .to_owned();
    call(&brief, json!({}))
}

fn leader(cast: &Cast) -> AgentSpec {
    let mut agent = cast.stage.world.agent();
    let mut checker = agent.clone();
    checker.name = "checker".to_owned();
    checker.instructions = LOOK_TWICE.to_owned();
    checker.tools.allow = vec!["look".to_owned(), "mark".to_owned()];
    checker.budget.steps = 3;
    agent.tools.allow = vec!["look".to_owned(), "delegate".to_owned()];
    agent.agents.use_ = vec!["checker".to_owned()];
    agent.agents.saved = vec![SavedAgent {
        name: "checker".to_owned(),
        agent: checker,
        model: "test/small".to_owned(),
        price: Some(Price {
            input: 1,
            cached: None,
            output: 2,
        }),
        takes: Takes::default(),
    }];
    agent
}

fn only_child(stage: &Stage) -> Run {
    let events = stage.events().into_iter();
    let mut ids = events.filter_map(|event| match event.payload {
        Payload::ChildSpawned(spawned) => Some(spawned.child),
        _ => None,
    });
    let run = Run::fold(&stage.log.durable(ids.next().expect("one was begun")));
    assert_eq!(ids.next(), None);
    run
}

#[tokio::test(start_paused = true)]
async fn work_is_given_to_a_saved_agent_with_its_own_words_model_and_limits() {
    let mut cast = cast(json!({"title": "Check", "brief": "look", "agent": "checker"}));
    let agent = leader(&cast);
    let run = cast.stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let child = only_child(&cast.stage);
    let created = child.created.as_deref().expect("it was begun");
    assert_eq!(created.agent.name, "checker");
    assert_eq!(created.model, "test/small");
    assert_eq!(created.price.map(|price| price.output), Some(2));
    assert_eq!(
        created.agent.budget.steps, 3,
        "its own limit is below its grant"
    );
    let seen = cast.model.seen();
    let told = seen
        .iter()
        .filter(|request| request.contains(LOOK_TWICE))
        .count();
    assert_eq!(told, 2, "both of its requests carry its own instructions");
    assert_eq!(
        run.children[0].ended.as_ref().map(|end| end.end),
        Some(ChildEnd::Unverified)
    );
}

#[tokio::test(start_paused = true)]
async fn a_saved_agent_can_t_use_what_the_one_that_calls_it_may_not() {
    let mut cast = cast(json!({"title": "Mark", "brief": "mark", "agent": "checker"}));
    let agent = leader(&cast);
    cast.stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(
        cast.mark.done().len(),
        0,
        "its own file grants it, the leader's does not"
    );
    let child = only_child(&cast.stage);
    assert_eq!(child.used.steps, 2, "the model is told, and goes on");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_not_there_or_is_given_tools_is_a_word_to_the_model() {
    let unknown = json!({"title": "Check", "brief": "look", "agent": "chequer"});
    let both = json!({"title": "Check", "brief": "look", "agent": "checker", "tools": ["look"]});
    for (task, words) in [
        (
            unknown,
            "There is no agent “chequer” to give work to: there is checker.",
        ),
        (both, "an agent has those of its own file"),
    ] {
        let mut cast = cast(task);
        let agent = leader(&cast);
        let run = cast.stage.drive(agent, "Lead.").await.unwrap();
        assert!(run.children.is_empty());
        let seen = cast.model.seen();
        assert!(
            seen.last().is_some_and(|request| request.contains(words)),
            "{words}"
        );
    }
}
