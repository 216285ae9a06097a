//! Results that are too long to be shown.

use std::sync::Arc;

use longrein_core::run::{Phase, Run};
use longrein_protocol::Body;
use longrein_protocol::block::Trust;
use longrein_protocol::event::{Outcome, Payload, ResultOffloaded};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_runtime::history;
use longrein_runtime::ports::{ToolCall, ToolOutput};
use longrein_store::{Fault, FaultKind, Moment};
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, TestWorld, call, say};
use serde_json::json;

use crate::stage::{Stage, count};

/// A tool that returns as many letters as it is asked for.
fn weigh() -> Arc<FakeTool> {
    let answer = |call: &ToolCall| {
        let letters = call.arguments["letters"].as_u64().unwrap_or(0) as usize;
        let row = format!("{{\"row\": {letters}}}\n");
        Ok(ToolOutput::text(
            row.repeat(letters / row.len() + 1),
            "weighed",
        ))
    };
    let tool = FakeTool::new("weigh", Effect::Read, Repeat::Repeatable);
    Arc::new(tool.untrusted().answering(answer))
}

fn model(letters: &'static [u64]) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::answering(move |request| {
        if request.replies() > 0 {
            return say("Done.");
        }
        letters
            .iter()
            .fold(Scripted::reply(Vec::new()), |reply, letters| {
                reply.and_call("weigh", json!({"letters": letters}))
            })
    }))
}

fn offloaded(stage: &Stage) -> Vec<ResultOffloaded> {
    let events = stage.events().into_iter();
    let offloaded = events.filter_map(|event| match event.payload {
        Payload::ResultOffloaded(offloaded) => Some(offloaded),
        _ => None,
    });
    offloaded.collect()
}

async fn driven(letters: &'static [u64]) -> (Stage, Run, Arc<ScriptedModel>) {
    let model = model(letters);
    let mut stage = Stage::new(TestWorld::new(model.clone(), [weigh()]));
    let mut agent = stage.world.agent();
    agent.model.window_tokens = 100_000;
    let run = stage.drive(agent, "Weigh.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    (stage, run, model)
}

#[tokio::test(start_paused = true)]
async fn a_result_over_the_limit_is_shown_by_what_it_is_made_of_and_kept_whole() {
    let (stage, run, model) = driven(&[400_000, 100]).await;
    let events = offloaded(&stage);
    assert_eq!(events.len(), 1);
    let kept = &run.results_kept[0];
    assert_eq!(
        (&kept.action, kept.trust),
        (&events[0].action, Trust::Untrusted)
    );
    assert!(kept.body.len() >= 400_000);
    let request = model.seen().pop().unwrap();
    let shown = request.text();
    assert!(shown.len() < 20_000, "{}", shown.len());
    assert!(
        shown.contains("of JSON Lines: too long to be shown whole"),
        "{shown}"
    );
    assert!(shown.contains("<untrusted id="), "its label stays");
    for number in 1..=2 {
        let past = history::request(&*stage.log, stage.run, number).await;
        let past = past.unwrap().unwrap();
        assert_eq!(past.sealed.sha256, past.requested.body_sha256);
    }
}

#[tokio::test(start_paused = true)]
async fn of_results_that_are_too_much_together_the_largest_go_first() {
    let (stage, run, _) = driven(&[9_000, 15_000, 15_500, 14_000, 15_900, 12_000]).await;
    let gone: Vec<usize> = offloaded(&stage)
        .iter()
        .map(|offloaded| {
            let kept = run.results_kept.iter();
            let mut kept = kept.filter(|kept| kept.action == offloaded.action);
            kept.next().unwrap().body.len() / 100 * 100
        })
        .collect();
    assert_eq!(
        gone,
        [15_500, 15_900],
        "none is over its own limit of 16,000"
    );
}

#[tokio::test(start_paused = true)]
async fn a_small_window_takes_less_of_a_step() {
    let model = model(&[6_000, 7_000, 8_000]);
    let mut stage = Stage::new(TestWorld::new(model, [weigh()]));
    let mut agent = stage.world.agent();
    agent.model.window_tokens = 8_000;
    stage.drive(agent, "Weigh.").await.unwrap();
    assert_eq!(offloaded(&stage).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn killed_at_every_commit_a_long_result_is_still_shown_by_what_it_is_made_of() {
    let mut killed = 0;
    for append in 1..40 {
        for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
            let mut stage = Stage::new(TestWorld::new(model(&[60_000, 9_000]), [weigh()]));
            let agent = stage.world.agent();
            let kind = FaultKind::Crash;
            stage.log.inject(Fault {
                append,
                moment,
                kind,
            });
            if stage.drive(agent.clone(), "Weigh.").await.is_ok() {
                continue;
            }
            killed += 1;
            stage.reopen();
            let run = match stage.events().is_empty() {
                true => stage.drive(agent, "Weigh.").await.unwrap(),
                false => stage.drive_on().await.unwrap(),
            };
            let at = format!("append {append} {moment:?}");
            assert_eq!(run.phase, Phase::Finished(Outcome::Unverified), "{at}");
            assert_eq!(offloaded(&stage).len(), 1, "{at}");
            assert_eq!(count(&stage.events(), "action.finished"), 2, "{at}");
            assert!(
                matches!(run.results_kept[0].body, Body::Blob { .. }),
                "{at}"
            );
        }
    }
    assert!(killed >= 8, "killed only {killed} times");
}

#[tokio::test(start_paused = true)]
async fn what_is_read_of_a_result_keeps_its_label_and_its_source() {
    let read = FakeTool::new("read_result", Effect::Read, Repeat::Repeatable).answering(|call| {
        let kept = call.context.results[0].clone();
        Ok(ToolOutput {
            origin: Some((kept.origin, kept.trust)),
            ..ToolOutput::text(format!("part of {}", kept.action), "part")
        })
    });
    let peek = FakeTool::new("peek", Effect::Read, Repeat::Repeatable).answering(|call| {
        assert!(
            call.context.results.is_empty(),
            "no other tool is given results"
        );
        Ok(ToolOutput::text("peeked", "peeked"))
    });
    let model = Arc::new(ScriptedModel::by_progress([
        call("weigh", json!({"letters": 60_000})),
        call("read_result", json!({})).and_call("peek", json!({})),
        say("Done."),
    ]));
    let tools = [weigh(), Arc::new(read), Arc::new(peek)];
    let mut stage = Stage::new(TestWorld::new(model.clone(), tools));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Weigh.").await.unwrap();
    let last = model.seen().pop().unwrap();
    let part = last.messages().into_iter().find_map(|message| {
        let text = message["content"].as_str()?.to_owned();
        text.contains("part of").then_some(text)
    });
    let part = part.unwrap();
    assert!(
        part.starts_with("<untrusted id=") && part.contains("from=\"weigh\""),
        "{part}"
    );
    assert_eq!(run.results_kept.len(), 1);
}
