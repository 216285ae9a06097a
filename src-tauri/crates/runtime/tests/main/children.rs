//! Runs that a run delegates to.

use std::sync::Arc;

use longrein_core::run::{Phase, Run};
use longrein_protocol::RunId;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{ChildEnd, ChildFinished, Outcome, Payload};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_store::{Fault, FaultKind, Moment};
use longrein_testkit::{FakeTool, Gate, Scripted, ScriptedModel, TestWorld, call, say};
use serde_json::{Value, json};

use crate::stage::{Stage, count};

fn tool(name: &str, effect: Effect, repeat: Repeat) -> FakeTool {
    FakeTool::new(name, effect, repeat)
}

/// A model of which the parent, which is asked to lead, delegates these tasks and then does
/// `after`; a child does what its task says: a tool's name, then it finishes.
fn model(tasks: Value, after: fn() -> Scripted) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::answering(move |request| {
        let leads = request.contains("Lead.");
        match (leads, request.replies()) {
            (true, 0) => call("delegate", json!({ "tasks": tasks })),
            (true, 1) => after(),
            (true, _) => say("All done."),
            (false, 0) => {
                let brief = request.messages()[1]["content"]
                    .as_str()
                    .unwrap_or("")
                    .to_owned();
                call(&brief, json!({}))
            }
            (false, _) => call("finish", json!({"summary": "I looked, and it is so [S1]."})),
        }
    }))
}

fn task(title: &str, brief: &str) -> Value {
    json!({"title": title, "brief": brief})
}

struct Cast {
    stage: Stage,
    look: Arc<FakeTool>,
    mark: Arc<FakeTool>,
    post: Arc<FakeTool>,
}

fn cast(tasks: Value, after: fn() -> Scripted) -> Cast {
    let look = Arc::new(tool("look", Effect::Read, Repeat::Repeatable).untrusted());
    let mark = Arc::new(tool("mark", Effect::Workspace, Repeat::Once));
    let post = Arc::new(tool("post", Effect::Irreversible, Repeat::Once));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let tools = [look.clone(), mark.clone(), post.clone(), delegate];
    let stage = Stage::new(TestWorld::new(model(tasks, after), tools));
    Cast {
        stage,
        look,
        mark,
        post,
    }
}

fn leader(cast: &Cast) -> AgentSpec {
    cast.stage.world.agent()
}

fn ends(stage: &Stage) -> Vec<ChildFinished> {
    let events = stage.events().into_iter();
    let ends = events.filter_map(|event| match event.payload {
        Payload::ChildFinished(finished) => Some(finished),
        _ => None,
    });
    ends.collect()
}

fn children(stage: &Stage) -> Vec<Run> {
    let events = stage.events().into_iter();
    let ids = events.filter_map(|event| match event.payload {
        Payload::ChildSpawned(spawned) => Some(spawned.child),
        _ => None,
    });
    ids.map(|child: RunId| Run::fold(&stage.log.durable(child)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn tasks_are_done_side_by_side_and_their_findings_come_back() {
    let tasks = json!([task("First", "mark"), task("Second", "mark")]);
    let mut cast = cast(tasks, || say("All done."));
    let agent = leader(&cast);
    let run = cast.stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(cast.mark.done().len(), 2);
    let ends = ends(&cast.stage);
    assert!(ends.iter().all(|end| end.end == ChildEnd::Unverified));
    let known: u32 = children(&cast.stage)
        .iter()
        .map(|child| child.used.steps)
        .sum();
    assert_eq!(
        (known, run.used.steps),
        (4, 6),
        "children count for their parent"
    );
    let told = count(&cast.stage.events(), "action.finished");
    assert_eq!(told, 1, "one result for one delegation");
}

#[tokio::test(start_paused = true)]
async fn what_a_child_read_taints_its_parent() {
    for (brief, asked) in [("look", true), ("mark", false)] {
        let mut cast = cast(json!([task("One", brief)]), || call("post", json!({})));
        let mut agent = leader(&cast);
        let always = json!([{"tool": "post", "decision": "allow"}]);
        agent.policy = serde_json::from_value(always).unwrap();
        let run = cast.stage.drive(agent, "Lead.").await.unwrap();
        assert_eq!(run.tainted, asked, "{brief}");
        assert_eq!(cast.post.done().len(), usize::from(!asked), "{brief}");
        assert_eq!(
            count(&cast.stage.events(), "approval.requested"),
            usize::from(asked)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_of_a_tainted_run_is_tainted_from_its_first_event() {
    let model = Arc::new(ScriptedModel::answering(|request| {
        let lead = request.contains("Lead.");
        match (lead, request.replies()) {
            (true, 0) => call("look", json!({})),
            (true, 1) => call("delegate", json!({"tasks": [task("One", "post it")]})),
            (false, 0) => call("post", json!({})),
            _ => say("Done."),
        }
    }));
    let look = Arc::new(tool("look", Effect::Read, Repeat::Repeatable).untrusted());
    let post = Arc::new(tool("post", Effect::Irreversible, Repeat::Once));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let mut stage = Stage::new(TestWorld::new(model, [look, post.clone(), delegate]));
    let mut agent = stage.world.agent();
    agent.policy = serde_json::from_value(json!([{"tool": "post", "decision": "allow"}])).unwrap();
    let mut driver = stage.begin(agent, "Lead.").await.unwrap();
    let driving = tokio::time::timeout(std::time::Duration::from_secs(3_600), driver.drive(false));
    assert!(driving.await.is_err(), "the child waits for a person");
    drop(driver);
    let child = &children(&stage)[0];
    assert!(child.tainted);
    assert_eq!(
        child.standing().0,
        longrein_protocol::view::RunState::Waiting
    );
    assert!(post.done().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_bad_delegation_is_told_and_begins_nothing() {
    let bad = [
        (json!([]), "from 1 to 8"),
        (json!([{"title": "x"}]), "can't be read"),
        (
            json!([{"title": "x", "brief": "y", "tools": ["bank.pay"]}]),
            "bank.pay is not granted",
        ),
        (
            json!([{"title": "x", "brief": "y", "budget_share": 2.0}]),
            "200 %",
        ),
        (Value::from(vec![task("x", "y"); 9]), "from 1 to 8"),
    ];
    for (tasks, words) in bad {
        let mut cast = cast(tasks, || say("All done."));
        let agent = leader(&cast);
        let run = cast.stage.drive(agent, "Lead.").await.unwrap();
        assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
        assert_eq!(count(&cast.stage.events(), "child.spawned"), 0, "{words}");
        let told = serde_json::to_string(&cast.stage.events()).unwrap();
        assert!(told.contains(words), "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn children_can_not_be_deeper_or_more_than_the_agent_allows() {
    for (children, depth) in [(1, 3), (8, 0)] {
        let tasks = json!([task("First", "mark"), task("Second", "mark")]);
        let mut cast = cast(tasks, || say("All done."));
        let mut agent = leader(&cast);
        (agent.budget.children, agent.budget.depth) = (children, depth);
        cast.stage.drive(agent, "Lead.").await.unwrap();
        assert_eq!(count(&cast.stage.events(), "child.spawned"), 0);
        assert!(cast.mark.done().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_spends_its_grant_stops_and_its_parent_goes_on() {
    let tasks = json!([{"title": "One", "brief": "look", "budget_share": 0.2}]);
    let mut cast = cast(tasks, || say("All done."));
    let mut agent = leader(&cast);
    agent.budget.steps = 10;
    let run = cast.stage.drive(agent, "Lead.").await.unwrap();
    let end = &ends(&cast.stage)[0];
    assert_eq!((end.end, end.used.steps), (ChildEnd::HandedOff, 1));
    assert_eq!(run.used.steps, 3);
    assert_eq!(run.granted, (0, 0), "what was granted is given back");
    assert_eq!(cast.look.done().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_run_cancels_its_children_and_what_they_do() {
    let gate = Gate::new();
    let held = Arc::new(tool("held", Effect::Workspace, Repeat::Once).held_before(&gate));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let tasks = json!([task("First", "held"), task("Second", "held")]);
    let world = TestWorld::new(model(tasks, || say("All done.")), [held.clone(), delegate]);
    let mut stage = Stage::new(world);
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Lead.").await.unwrap();
    let waker = driver.waker();
    let driving = tokio::spawn(async move { driver.drive(true).await });
    gate.reached(2).await;
    stage
        .log
        .post_wish(stage.run, Wish::Cancel, 1)
        .await
        .unwrap();
    waker.wake();
    driving.await.unwrap().unwrap();
    assert!(held.done().is_empty());
    for child in children(&stage) {
        assert_eq!(child.phase, Phase::Cancelled);
    }
    assert!(
        ends(&stage)
            .iter()
            .all(|end| end.end == ChildEnd::Cancelled)
    );
    assert_eq!(Run::fold(&stage.events()).phase, Phase::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn killed_at_every_commit_a_delegation_still_comes_to_its_end() {
    let mut killed = 0;
    for append in 1..200 {
        for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
            let tasks = json!([task("First", "look"), task("Second", "look")]);
            let mut cast = cast(tasks, || call("mark", json!({})));
            let agent = leader(&cast);
            let kind = FaultKind::Crash;
            cast.stage.log.inject(Fault {
                append,
                moment,
                kind,
            });
            if cast.stage.drive(agent.clone(), "Lead.").await.is_ok() {
                continue;
            }
            killed += 1;
            cast.stage.reopen();
            let run = match cast.stage.events().is_empty() {
                true => cast.stage.drive(agent, "Lead.").await.unwrap(),
                false => cast.stage.drive_on().await.unwrap(),
            };
            let at = format!("append {append} {moment:?}");
            let uncertain = count(&cast.stage.events(), "action.uncertain") > 0;
            let ended = run.phase == Phase::Finished(Outcome::Unverified);
            assert!(ended || uncertain, "{at}: {:?}", run.phase);
            assert!(cast.mark.done().len() <= 1, "{at}");
            assert_eq!(count(&cast.stage.events(), "child.finished"), 2, "{at}");
            for child in children(&cast.stage) {
                assert_eq!(child.phase, Phase::Finished(Outcome::Unverified), "{at}");
            }
        }
    }
    assert!(killed > 20, "killed only {killed} times");
}

#[tokio::test(start_paused = true)]
async fn a_child_loads_the_skills_that_its_parent_was_granted_and_no_others() {
    let load = Arc::new(tool("load_skill", Effect::Workspace, Repeat::Repeatable));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let skill = |name: &str| call("load_skill", json!({ "name": name }));
    let model = ScriptedModel::answering(move |request| {
        match (request.contains("Lead."), request.replies()) {
            // What a task grants of tools has nothing to do with skills.
            (true, 0) => call(
                "delegate",
                json!({"tasks": [{"title": "One", "brief": "Sort.", "tools": []}]}),
            ),
            (true, _) => say("All done."),
            (false, 0) => skill("beans"),
            (false, 1) => skill("peas"),
            (false, _) => call("finish", json!({"summary": "Sorted."})),
        }
    });
    let mut stage = Stage::new(TestWorld::new(Arc::new(model), [load.clone(), delegate]));
    let mut agent = stage.world.agent();
    agent.skills.use_ = vec!["beans".to_owned()];
    let run = stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(load.done(), [json!({"name": "beans"})]);
    let child = run.children[0].run;
    let told = format!("{:?}", stage.log.durable(child));
    assert!(told.contains("the skill peas is not granted"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_finding_that_does_not_fit_its_form_comes_back_to_the_child() {
    let form = json!({
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}},
        "required": ["names"],
    });
    let task = json!({"title": "Names", "brief": "Find names.", "finding": form});
    let report = |finding: Value| call("finish", json!({"summary": "So.", "finding": finding}));
    let model = Arc::new(ScriptedModel::answering(move |request| {
        match (request.contains("Lead."), request.replies()) {
            (true, 0) => call("delegate", json!({ "tasks": [task] })),
            (true, _) => say("All done."),
            (false, 0) => say("I found a heron."),
            (false, 1) => call("finish", json!({"summary": "A heron."})),
            (false, 2) => report(json!({"names": "heron"})),
            (false, _) => report(json!({"names": ["heron", "egret"]})),
        }
    }));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [delegate]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let told: String = model
        .seen()
        .iter()
        .map(|seen| seen.text().to_owned())
        .collect();
    assert!(told.contains("Words alone are no report here."));
    assert!(told.contains("is a required property"), "{told}");
    let result = model.seen().pop().unwrap().last_result().unwrap();
    let finding = "So.\nFinding: {\"names\":[\"heron\",\"egret\"]}";
    assert!(result.contains(finding), "{result}");
}

#[tokio::test(start_paused = true)]
async fn a_child_that_never_reports_in_the_form_ends_as_one_that_stopped() {
    let form = json!({"type": "object", "required": ["names"]});
    let task = json!({"title": "Names", "brief": "Find names.", "finding": form});
    let model = Arc::new(ScriptedModel::answering(move |request| {
        match (request.contains("Lead."), request.replies()) {
            (true, 0) => call("delegate", json!({ "tasks": [task] })),
            (true, _) => say("All done."),
            (false, _) => say("I found a heron."),
        }
    }));
    let delegate = Arc::new(tool("delegate", Effect::Read, Repeat::Repeatable));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [delegate]));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    let end = &ends(&stage)[0];
    assert_eq!(end.end, ChildEnd::HandedOff);
    assert!(end.used.steps <= 4, "it does not go on for ever");
    let result = model.seen().pop().unwrap().last_result().unwrap();
    assert!(
        result.contains("I found a heron."),
        "what it said is not lost: {result}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_form_that_is_no_schema_is_refused_with_a_word() {
    for form in [
        json!({"type": "string"}),
        json!({"type": "object", "required": "names"}),
    ] {
        let task = json!({"title": "Names", "brief": "Find names.", "finding": form});
        let mut cast = cast(json!([task]), || say("All done."));
        let agent = leader(&cast);
        cast.stage.drive(agent, "Lead.").await.unwrap();
        assert_eq!(count(&cast.stage.events(), "child.spawned"), 0, "{form}");
        let told = serde_json::to_string(&cast.stage.events()).unwrap();
        assert!(told.contains("is no JSON Schema of an object"), "{form}");
    }
}
