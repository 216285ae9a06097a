//! A run whose agent orders stages: the harness goes from one to the next.

use std::sync::Arc;

use longrein_core::run::{Next, Phase, Run, copied};
use longrein_protocol::agent::{AgentSpec, Stage as Part};
use longrein_protocol::event::{
    HandoffReason, Outcome, Payload, ResumeReason, RunForked, RunResumed,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::media::Takes;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_protocol::{Event, RunId};
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, SeenRequest, TestWorld, call, planned};
use serde_json::{Value, json};

use crate::stage::{Stage, count};

/// Plan, let helpers look, write.
fn path() -> Vec<Part> {
    serde_json::from_value(json!([
        {"name": "plan", "instructions": "Make a plan.", "tools": ["update_plan"],
         "done_when": [{"plan": "made", "min": 2}]},
        {"name": "research", "instructions": "Look into your part.", "tools": ["look"], "each": "plan"},
        {"name": "write", "instructions": "Write it all down.", "tools": ["mark"]},
    ]))
    .unwrap()
}

fn plan(parts: &[&str]) -> Value {
    json!({"items": parts})
}

fn planner() -> FakeTool {
    let tool = FakeTool::new("update_plan", Effect::Read, Repeat::Repeatable);
    tool.answering(|call| Ok(planned(call)))
}

struct Cast {
    stage: Stage,
    model: Arc<ScriptedModel>,
    look: Arc<FakeTool>,
    mark: Arc<FakeTool>,
}

fn is_helper(request: &SeenRequest) -> bool {
    request.contains("You are a helper")
}

fn helper(request: &SeenRequest) -> Scripted {
    match request.replies() {
        0 => call("look", json!({})),
        _ => call("finish", json!({"summary": "It is so."})),
    }
}

/// A model whose lead does these things, one after the other.
fn cast(lead: fn(u32) -> Scripted) -> Cast {
    let model = Arc::new(ScriptedModel::answering(move |request| {
        match is_helper(request) {
            true => helper(request),
            false => lead(request.replies()),
        }
    }));
    cast_of(model)
}

fn cast_of(model: Arc<ScriptedModel>) -> Cast {
    let look = Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable).untrusted());
    let mark = Arc::new(FakeTool::new("mark", Effect::Workspace, Repeat::Once));
    let delegate = Arc::new(FakeTool::new("delegate", Effect::Read, Repeat::Repeatable));
    let tools = [Arc::new(planner()), look.clone(), mark.clone(), delegate];
    let stage = Stage::new(TestWorld::new(model.clone(), tools));
    Cast {
        stage,
        model,
        look,
        mark,
    }
}

fn agent(cast: &Cast) -> AgentSpec {
    AgentSpec {
        stages: path(),
        ..cast.stage.world.agent()
    }
}

fn good_lead(replies: u32) -> Scripted {
    match replies {
        0 => call("update_plan", plan(&["The river", "The hills"])),
        1 => call("finish", json!({"summary": "Planned."})),
        2 => call("mark", json!({})),
        _ => call("finish", json!({"summary": "Written."})),
    }
}

fn stages(stage: &Stage) -> Vec<String> {
    let events = stage.events().into_iter();
    let entered = events.filter_map(|event| match event.payload {
        Payload::StageEntered(entered) => Some(format!("{} {}", entered.stage, entered.name)),
        _ => None,
    });
    entered.collect()
}

/// What the model was last sent as the lead.
fn last_of_lead(model: &ScriptedModel) -> SeenRequest {
    let mut seen = model.seen();
    seen.retain(|request| !is_helper(request));
    seen.pop().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_harness_goes_from_stage_to_stage_and_gives_each_part_to_a_helper() {
    let mut cast = cast(good_lead);
    let agent = agent(&cast);
    let run = cast
        .stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(stages(&cast.stage), ["1 plan", "2 research", "3 write"]);
    assert_eq!(cast.look.done().len(), 2, "one helper for each part");
    assert_eq!(cast.mark.done().len(), 1);
    let by: Vec<Actor> = cast
        .stage
        .events()
        .into_iter()
        .filter_map(|event| match event.payload {
            Payload::ActionProposed(proposed) if proposed.tool == "delegate" => Some(proposed.by),
            _ => None,
        })
        .collect();
    assert_eq!(by, [Actor::Harness]);
    let briefed = cast.model.seen().into_iter().find(is_helper).unwrap();
    assert!(briefed.contains("Look into your part."));
    assert!(
        briefed.contains("Describe the valley."),
        "a helper knows the whole"
    );
}

#[tokio::test(start_paused = true)]
async fn each_stage_is_told_where_it_stands_with_what_the_helpers_found_before_it() {
    let mut cast = cast(good_lead);
    let agent = agent(&cast);
    cast.stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    let last = last_of_lead(&cast.model);
    let text: Vec<String> = last
        .messages()
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    let place = |words: &str| {
        text.iter()
            .position(|text| text.contains(words))
            .unwrap_or_else(|| panic!("{words}: {text:#?}"))
    };
    assert!(place("Stage 1 of 3: plan.") < place("Stage 2 of 3: research."));
    assert!(place("Stage 2 of 3: research.") < place("The helpers of the stage report"));
    assert!(place("The helpers of the stage report") < place("Stage 3 of 3: write."));
    let report = &text[place("The helpers of the stage report")];
    assert!(report.contains("## The river: done") && report.contains("It is so."));
    assert!(
        report.contains("<untrusted"),
        "they had read what is not to be believed"
    );
    assert!(
        text.last()
            .is_some_and(|tail| tail.contains("stage 3 of 3, write"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_stage_whose_criteria_do_not_hold_goes_on_whatever_the_model_says() {
    let mut cast = cast(|replies| match replies {
        0 => call("update_plan", plan(&["The river"])),
        1 | 2 => call("finish", json!({"summary": "Planned."})),
        _ => good_lead(replies - 1),
    });
    cast.stage.world = Arc::new(checking(&cast, [false]));
    let agent = agent(&cast);
    let run = cast
        .stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(count(&cast.stage.events(), "verification.finished"), 2);
    assert_eq!(stages(&cast.stage).len(), 3);
}

fn checking(cast: &Cast, verdicts: [bool; 1]) -> TestWorld {
    let delegate = Arc::new(FakeTool::new("delegate", Effect::Read, Repeat::Repeatable));
    let tools = [
        Arc::new(planner()),
        cast.look.clone(),
        cast.mark.clone(),
        delegate,
    ];
    TestWorld::new(cast.model.clone(), tools).checking(verdicts)
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_another_stage_is_refused_with_a_word() {
    let mut cast = cast(|replies| match replies {
        0 => call("mark", json!({})),
        _ => good_lead(replies - 1),
    });
    let agent = agent(&cast);
    cast.stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    assert_eq!(cast.mark.done().len(), 1, "only the one of the last stage");
    let denied = cast
        .stage
        .events()
        .into_iter()
        .find_map(|event| match event.payload {
            Payload::ActionDecided(decided) if !decided.why.is_empty() => Some(decided.why),
            _ => None,
        });
    assert_eq!(
        denied.as_deref(),
        Some("mark is not for the stage “plan”, which has update_plan")
    );
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_leaves_no_parts_for_the_next_is_not_done() {
    let mut cast = cast(|replies| match replies {
        0 => call("finish", json!({"summary": "Nothing to plan."})),
        _ => good_lead(replies - 1),
    });
    let agent = agent(&cast);
    let run = cast
        .stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let told = last_of_lead(&cast.model);
    assert!(told.contains("no item is open: write one for each part with update_plan"));
    assert_eq!(cast.look.done().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn more_parts_than_helpers_are_told_before_anything_is_begun() {
    let mut cast = cast(|replies| match replies {
        0 => call("update_plan", plan(&["1", "2", "3"])),
        1 => call("finish", json!({"summary": "Planned."})),
        _ => good_lead(replies - 2),
    });
    let mut agent = agent(&cast);
    agent.budget.children = 2;
    let run = cast
        .stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    assert!(last_of_lead(&cast.model).contains("at most 2, and 3 are open"));
    assert_eq!(run.children.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn where_no_helper_does_its_part_the_run_is_handed_off_and_then_goes_on_by_itself() {
    let model = ScriptedModel::answering(|request| match is_helper(request) {
        // A helper that never does anything but call a tool that is not there.
        true => call("nothing", json!({"n": request.replies()})),
        false => good_lead(request.replies()),
    });
    let mut cast = cast_of(Arc::new(model));
    let mut agent = agent(&cast);
    agent.budget.steps = 20;
    let run = cast
        .stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    let Phase::HandedOff {
        reason, message, ..
    } = &run.phase
    else {
        panic!("{:?}", run.phase);
    };
    assert_eq!(*reason, HandoffReason::NoProgress);
    assert_eq!(message, "No helper of the stage “research” did its part.");
    let run = cast.stage.on_wish(Wish::Resume).await;
    // The agent went through the rest itself, and nobody was delegated to again.
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(run.children.len(), 2);
    assert_eq!(stages(&cast.stage).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_fork_from_the_middle_of_a_stage_gives_its_parts_to_helpers_anew() {
    let mut cast = cast(good_lead);
    let agent = agent(&cast);
    cast.stage
        .drive(agent, "Describe the valley.")
        .await
        .unwrap();
    let events = cast.stage.events();
    let begun = |event: &&Event| matches!(event.payload, Payload::ChildSpawned(_));
    let at = events.iter().rfind(begun).expect("helpers were begun").seq;
    let run = RunId::from_parts(2, 2);
    let mut fork = Run::fold(&copied(events, at, run));
    let forked = RunForked {
        from_run: cast.stage.run,
        from_seq: at,
        workspace: "fork".to_owned(),
        agent: None,
        model: None,
        price: None,
        takes: Takes::default(),
        results: Vec::new(),
    };
    let resumed = RunResumed {
        why: ResumeReason::Asked,
    };
    for (seq, payload) in (at + 1..).zip([Payload::from(forked), resumed.into()]) {
        let event = Event {
            run,
            seq,
            at: 1,
            payload,
        };
        fork.check(&event).expect("a fork may be gone on with");
        fork.apply(&event);
    }
    fork.tools_owed = false;
    let Next::Propose(call) = fork.next(1) else {
        panic!("{:?}", fork.next(1));
    };
    assert_eq!((call.name.as_str(), call.by), ("delegate", Actor::Harness));
}

#[tokio::test(start_paused = true)]
async fn a_helper_of_a_stage_is_told_the_whole_question() {
    let mut cast = cast(good_lead);
    let agent = agent(&cast);
    let question = format!(
        "Describe the valley. {}And never guess.",
        "Be thorough. ".repeat(20)
    );
    cast.stage.drive(agent, &question).await.unwrap();
    let seen = cast.model.seen();
    let told = seen.iter().filter(|request| is_helper(request));
    assert!(told.clone().count() > 0);
    assert!(
        told.clone()
            .all(|request| request.contains("And never guess."))
    );
}
