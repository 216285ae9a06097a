//! Eight children at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_core::run::{Phase, Run};
use longrein_protocol::event::{ChildFinished, Outcome, Payload};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply, ToolOutput};
use longrein_store::{Fault, FaultKind, Moment};
use longrein_testkit::{FakeTool, Gate, ScriptedModel, SeenRequest, TestWorld, call, say};
use serde_json::{Value, json};

use crate::stage::{Stage, count};

const CHILDREN: usize = 8;
/// How long the model takes for every answer.
const ANSWER: Duration = Duration::from_secs(10);
/// What children read and their parent is not told.
const INNER: &str = "what only the child has read";

/// A model that takes its time and counts how many requests it has at once.
struct Counting {
    scripted: ScriptedModel,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Model for Counting {
    fn dialect(&self) -> &dyn Dialect {
        self.scripted.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(ANSWER).await;
        let reply = self.scripted.send(call).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        reply
    }
}

fn tasks(count: usize) -> Value {
    let tasks = (1..=count).map(|number| {
        let (title, brief) = (format!("Part {number}"), format!("Look at part {number}."));
        json!({"title": title, "brief": brief})
    });
    json!({"tasks": tasks.collect::<Vec<_>>()})
}

/// The parent, which is asked to lead, delegates and then says that all is done; a child looks and
/// reports.
fn answer(request: &SeenRequest, count: usize) -> longrein_testkit::Scripted {
    match (request.contains("Lead."), request.replies()) {
        (true, 0) => call("delegate", tasks(count)),
        (true, _) => say("All done."),
        (false, 0) => call("look", json!({})),
        (false, _) => call("finish", json!({"summary": "It is so."})),
    }
}

fn counting(count: usize) -> Arc<Counting> {
    Arc::new(Counting {
        scripted: ScriptedModel::answering(move |request| answer(request, count)),
        now: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
    })
}

fn look() -> Arc<FakeTool> {
    let look = FakeTool::new("look", Effect::Read, Repeat::Repeatable);
    Arc::new(look.answering(|_| Ok(ToolOutput::text(INNER.repeat(100), "looked"))))
}

fn delegate() -> Arc<FakeTool> {
    Arc::new(FakeTool::new("delegate", Effect::Read, Repeat::Repeatable))
}

fn stage_of(model: Arc<dyn Model>) -> Stage {
    Stage::new(TestWorld::new(model, [look(), delegate()]))
}

fn children(stage: &Stage) -> Vec<Run> {
    let events = stage.events().into_iter();
    let ids = events.filter_map(|event| match event.payload {
        Payload::ChildSpawned(spawned) => Some(spawned.child),
        _ => None,
    });
    ids.map(|child| Run::fold(&stage.log.durable(child)))
        .collect()
}

fn ends(stage: &Stage) -> Vec<ChildFinished> {
    let events = stage.events().into_iter();
    let ends = events.filter_map(|event| match event.payload {
        Payload::ChildFinished(finished) => Some(finished),
        _ => None,
    });
    ends.collect()
}

#[tokio::test(start_paused = true)]
async fn eight_children_work_at_once_and_their_parent_grows_by_their_findings_alone() {
    let model = counting(CHILDREN);
    let mut stage = stage_of(model.clone());
    let agent = stage.world.agent();
    let began = tokio::time::Instant::now();
    let run = stage.drive(agent, "Lead.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(
        model.most.load(Ordering::SeqCst),
        CHILDREN,
        "by the model's own count"
    );
    // Two answers of the parent and two of the children, which wait for none of each other.
    assert_eq!(began.elapsed().as_secs(), 4 * ANSWER.as_secs());
    let seen = model.scripted.seen();
    let parents: Vec<&SeenRequest> = seen.iter().filter(|seen| seen.contains("Lead.")).collect();
    let [first, last] = parents[..] else {
        panic!("{} requests of the parent", parents.len());
    };
    assert!(!last.contains(INNER));
    let findings: usize = ends(&stage).iter().map(|end| end.finding.len()).sum();
    let asked = tasks(CHILDREN).to_string().len();
    let grown = last.body.len() - first.body.len();
    let around = 100 * CHILDREN + 600;
    assert!(
        grown < findings + asked * 2 + around,
        "{grown} bytes for {findings}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_child_uses_more_than_its_grant_and_all_count_for_the_parent() {
    let mut stage = stage_of(counting(CHILDREN));
    let mut agent = stage.world.agent();
    agent.budget.tokens_in = Some(200_000);
    let run = stage.drive(agent, "Lead.").await.unwrap();
    let mut used = 0;
    for child in &run.children {
        let end = child.ended.as_ref().unwrap();
        let grant = child.grant.tokens_in.unwrap();
        // What a request needs is reserved before it is sent, so that its estimate alone can be off.
        assert!(
            end.used.tokens_in <= grant,
            "{} of {grant}",
            end.used.tokens_in
        );
        used += end.used.tokens_in;
    }
    assert!(used > 0 && run.used.tokens_in > used);
    assert!(run.used.tokens_in <= 200_000);
    assert_eq!(run.granted, (0, 0), "what was granted is given back");
}

#[tokio::test(start_paused = true)]
async fn killed_in_the_middle_all_eight_go_on_where_they_were() {
    let mut killed = 0;
    for append in (1..120).step_by(5) {
        for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
            let mut stage = stage_of(counting(CHILDREN));
            let agent = stage.world.agent();
            let kind = FaultKind::Crash;
            stage.log.inject(Fault {
                append,
                moment,
                kind,
            });
            if stage.drive(agent.clone(), "Lead.").await.is_ok() {
                continue;
            }
            killed += 1;
            stage.reopen();
            let model = counting(CHILDREN);
            let world = TestWorld::new(model, [look(), delegate()]);
            stage.world = Arc::new(world);
            let run = match stage.events().is_empty() {
                true => stage.drive(agent, "Lead.").await.unwrap(),
                false => stage.drive_on().await.unwrap(),
            };
            let at = format!("append {append} {moment:?}");
            assert_eq!(run.phase, Phase::Finished(Outcome::Unverified), "{at}");
            assert_eq!(count(&stage.events(), "child.spawned"), CHILDREN, "{at}");
            assert_eq!(count(&stage.events(), "child.finished"), CHILDREN, "{at}");
            for child in children(&stage) {
                assert_eq!(child.phase, Phase::Finished(Outcome::Unverified), "{at}");
                assert_eq!(child.used.steps, 2, "{at}: no step is made twice");
            }
        }
    }
    assert!(killed > 10, "killed only {killed} times");
}

#[tokio::test(start_paused = true)]
async fn cancelling_reaches_all_eight() {
    let gate = Gate::new();
    let held = FakeTool::new("look", Effect::Workspace, Repeat::Once).held_before(&gate);
    let held = Arc::new(held);
    let world = TestWorld::new(counting(CHILDREN), [held.clone(), delegate()]);
    let mut stage = Stage::new(world);
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Lead.").await.unwrap();
    let waker = driver.waker();
    let driving = tokio::spawn(async move { driver.drive(true).await });
    gate.reached(CHILDREN as u32).await;
    stage.wish(Wish::Cancel).await;
    waker.wake();
    driving.await.unwrap().unwrap();
    assert!(held.done().is_empty());
    let children = children(&stage);
    assert_eq!(children.len(), CHILDREN);
    assert!(children.iter().all(|child| child.phase == Phase::Cancelled));
    assert_eq!(Run::fold(&stage.events()).phase, Phase::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn one_too_many_or_one_too_deep_is_refused_with_a_word() {
    let cases = [
        (
            CHILDREN,
            4,
            3,
            "This run may have 4 children in all and has had 0.",
        ),
        (
            CHILDREN,
            8,
            0,
            "Children may not have children any more at this depth",
        ),
        (CHILDREN + 1, 20, 3, "A delegation has from 1 to 8 tasks."),
    ];
    for (asked, children, depth, words) in cases {
        let model = counting(asked);
        let mut stage = stage_of(model.clone());
        let mut agent = stage.world.agent();
        (agent.budget.children, agent.budget.depth) = (children, depth);
        let run = stage.drive(agent, "Lead.").await.unwrap();
        assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
        assert_eq!(count(&stage.events(), "child.spawned"), 0);
        let told = model.scripted.seen().pop().unwrap().last_result();
        assert!(
            told.as_deref().is_some_and(|told| told.contains(words)),
            "{told:?}"
        );
    }
}
