//! The crash sweep: killed at every commit, on both sides of it, a run comes to the same end.

use std::sync::Arc;

use longrein_core::run::{Phase, Run};
use longrein_protocol::Event;
use longrein_protocol::event::{HandoffReason, Outcome, Verdict};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_store::{Fault, FaultKind, Moment};
use longrein_testkit::{FakeTool, ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, count};

struct Cast {
    stage: Stage,
    read: Arc<FakeTool>,
    write: Arc<FakeTool>,
    once: Arc<FakeTool>,
}

fn cast() -> Cast {
    let read = Arc::new(FakeTool::new("read", Effect::Read, Repeat::Repeatable));
    let write = Arc::new(FakeTool::new(
        "write",
        Effect::Workspace,
        Repeat::Repeatable,
    ));
    let once = Arc::new(FakeTool::new("once", Effect::Workspace, Repeat::Once));
    let model = ScriptedModel::by_progress([
        call("read", json!({"n": 1})).and_call("read", json!({"n": 2})),
        call("write", json!({"n": 3})),
        call("once", json!({"n": 4})),
        call("finish", json!({})),
        say("It is there now."),
    ]);
    let tools = [read.clone(), write.clone(), once.clone()];
    let world = TestWorld::new(Arc::new(model), tools).checking([false]);
    Cast {
        stage: Stage::new(world),
        read,
        write,
        once,
    }
}

/// Drives to the end; a person says of an uncertain action whether it happened.
async fn to_the_end(cast: &mut Cast) -> Run {
    for _ in 0..4 {
        let run = cast.stage.drive_on().await.unwrap();
        let Phase::HandedOff {
            reason: HandoffReason::Uncertain,
            ..
        } = run.phase
        else {
            return run;
        };
        let verdict = if cast.once.done().is_empty() {
            Verdict::NotHappened
        } else {
            Verdict::Happened
        };
        let action = run
            .actions
            .iter()
            .find(|action| action.tool == "once")
            .unwrap()
            .id
            .clone();
        cast.stage
            .log
            .post_wish(cast.stage.run, Wish::Settle { action, verdict }, 1)
            .await
            .unwrap();
    }
    panic!("the run was handed off again and again");
}

#[tokio::test(start_paused = true)]
async fn crash_sweep() {
    let appends = {
        let mut reference = cast();
        let agent = with_criterion(&reference);
        let run = reference.stage.drive(agent, "Go.").await.unwrap();
        assert_eq!(run.phase, Phase::Finished(Outcome::Accepted));
        reference.stage.log.appends()
    };
    let mut killed = 0;
    for append in 1..=appends {
        for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
            let mut cast = cast();
            cast.stage.log.inject(Fault {
                append,
                moment,
                kind: FaultKind::Crash,
            });
            let agent = with_criterion(&cast);
            let driven = cast.stage.drive(agent.clone(), "Go.").await;
            assert!(
                driven.is_err(),
                "the crash at append {append} did not strike"
            );
            killed += 1;
            cast.stage.reopen();
            if cast.stage.events().is_empty() {
                continue;
            }
            let run = to_the_end(&mut cast).await;
            let at = format!("append {append}, {moment:?}");
            assert_eq!(run.phase, Phase::Finished(Outcome::Accepted), "{at}");
            assert!(
                cast.once.done().len() <= 1,
                "{at}: the effect happened twice"
            );
            let done = (cast.read.done(), cast.write.done());
            assert!(
                done.0.len() >= 2 && !done.1.is_empty(),
                "{at}: {done:?}\n{}",
                cast.stage.story()
            );
            check_log(&cast.stage.events(), &at);
        }
    }
    println!("{killed} kill points");
}

fn with_criterion(cast: &Cast) -> longrein_protocol::AgentSpec {
    let mut agent = cast.stage.world.agent();
    agent.done_when = serde_json::from_value(json!([{"file": "index.html"}])).unwrap();
    agent
}

/// What holds for every log, crash or not.
fn check_log(events: &[Event], at: &str) {
    for (number, event) in (1..).zip(events) {
        assert_eq!(event.seq, number, "{at}: a gap");
    }
    let mut run = Run::default();
    for event in events {
        run.check(event)
            .unwrap_or_else(|illegal| panic!("{at}: {illegal}"));
        run.apply(event);
    }
    let answered = count(events, "model.responded") + count(events, "model.abandoned");
    assert_eq!(
        count(events, "model.requested"),
        answered,
        "{at}: a request without an end"
    );
}

#[tokio::test(start_paused = true)]
async fn killed_again_during_every_recovery_a_run_still_ends() {
    for append in 2..12 {
        let mut cast = cast();
        let agent = with_criterion(&cast);
        cast.stage.log.inject(Fault {
            append,
            moment: Moment::AfterCommit,
            kind: FaultKind::Crash,
        });
        let _ = cast.stage.drive(agent, "Go.").await;
        for again in 1..4 {
            cast.stage.reopen();
            cast.stage.log.inject(Fault {
                append: again,
                moment: Moment::AfterCommit,
                kind: FaultKind::Crash,
            });
            let _ = cast.stage.drive_on().await;
        }
        cast.stage.reopen();
        let run = to_the_end(&mut cast).await;
        assert_eq!(
            run.phase,
            Phase::Finished(Outcome::Accepted),
            "append {append}"
        );
        assert!(
            cast.once.done().len() <= 1,
            "append {append}: the effect happened twice"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn folding_in_one_go_equals_folding_in_pieces_and_the_log_says_what_is_next() {
    let mut cast = cast();
    let agent = with_criterion(&cast);
    let end = cast.stage.drive(agent, "Go.").await.unwrap();
    let events = cast.stage.events();
    assert_eq!(Run::fold(&events), end);
    for cut in 0..=events.len() {
        let mut run = Run::fold(&events[..cut]);
        let text: Vec<String> = events[cut..]
            .iter()
            .map(|event| serde_json::to_string(event).unwrap())
            .collect();
        assert_eq!(run.next(5), Run::fold(&events[..cut]).next(5));
        for line in text {
            run.apply(&serde_json::from_str(&line).unwrap());
        }
        assert_eq!(run, end, "cut at {cut}");
    }
}
