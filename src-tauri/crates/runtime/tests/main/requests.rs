//! What is sent is what the log rebuilds, and the front of a request stays.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::Phase;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{HandoffReason, Outcome};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_runtime::history;
use longrein_runtime::ports::{ReplyBlock, ToolOutput};
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, TestWorld, call, fail, say, then};
use serde_json::json;

use crate::stage::{Stage, count};

fn ticking(steps: u32) -> ScriptedModel {
    ScriptedModel::answering(move |request| {
        if request.number > steps {
            say("Done.")
        } else {
            call("tick", json!({"n": request.number}))
        }
    })
}

fn tick() -> Arc<FakeTool> {
    let answer = |call: &longrein_runtime::ports::ToolCall| {
        Ok(ToolOutput::text(
            format!("tick {} {}", call.arguments, "x".repeat(300)),
            "ticked",
        ))
    };
    Arc::new(FakeTool::new("tick", Effect::Workspace, Repeat::Repeatable).answering(answer))
}

#[tokio::test(start_paused = true)]
async fn every_request_is_rebuilt_from_the_log_byte_for_byte() {
    let model = Arc::new(ticking(60));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [tick()]));
    let mut agent = stage.world.agent();
    agent.model.window_tokens = 6_000;
    agent.context.summaries = false;
    let question = "Tick. ".repeat(400);
    let run = stage.drive(agent, &question).await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert!(
        count(&stage.events(), "context.compacted") > 1,
        "the small window was not pruned"
    );
    let seen = model.seen();
    assert_eq!(seen.len(), 61);
    for (number, request) in (1..).zip(&seen) {
        let past = history::request(&*stage.log, stage.run, number)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            past.sealed.sha256, past.requested.body_sha256,
            "request {number}"
        );
        assert_eq!(*past.sealed.bytes, *request.body, "request {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_begins_with_the_bytes_of_the_one_before_up_to_its_tail() {
    let model = Arc::new(ticking(10));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [tick()]));
    let agent = stage.world.agent();
    stage.drive(agent, "Tick.").await.unwrap();
    let seen = model.seen();
    for pair in seen.windows(2) {
        let text = pair[0].text();
        let front = match text.find("[harness] step") {
            Some(tail) => text[..tail].rfind(",{").unwrap(),
            None => text.rfind("],").unwrap(),
        };
        assert_eq!(pair[0].body[..front], pair[1].body[..front]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pruned_request_fits_the_window_and_keeps_the_persons_words() {
    let model = Arc::new(ticking(80));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [tick()]));
    let mut agent = stage.world.agent();
    agent.model.window_tokens = 6_000;
    agent.context.summaries = false;
    stage.drive(agent, "Never forget the heron.").await.unwrap();
    let seen = model.seen();
    assert!(
        seen.iter()
            .all(|request| request.text().contains("Never forget the heron."))
    );
    let largest = seen
        .iter()
        .map(|request| request.body.len() / 4)
        .max()
        .unwrap();
    assert!(largest < 6_000, "{largest} tokens");
    for request in &seen {
        let messages = request.messages();
        for (before, message) in messages.iter().zip(&messages[1..]) {
            let answered = before["role"] == "assistant" || before["role"] == "tool";
            assert!(
                message["role"] != "tool" || answered,
                "a result stands without its call"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_tried_again_with_the_same_bytes() {
    let wait = Some(Duration::from_secs(7));
    let model = Arc::new(ScriptedModel::new([
        fail(ModelErrorClass::RateLimited, wait),
        fail(ModelErrorClass::Overloaded, None),
        say("Done."),
    ]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = stage.world.agent();
    let began = tokio::time::Instant::now();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert!(began.elapsed() >= Duration::from_secs(7));
    let seen = model.seen();
    assert!(seen.iter().all(|request| request.body == seen[0].body));
    assert_eq!(run.used.steps, 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_a_person_can_mend_hands_off_and_goes_on_when_told() {
    let model = Arc::new(ScriptedModel::new([
        fail(ModelErrorClass::Auth, None),
        say("Done."),
    ]));
    let mut stage = Stage::new(TestWorld::new(model, []));
    let agent = stage.world.agent();
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert!(matches!(
        run.phase,
        Phase::HandedOff {
            reason: HandoffReason::ProviderRefused,
            ..
        }
    ));
    stage
        .log
        .post_wish(stage.run, longrein_protocol::wish::Wish::Resume, 1)
        .await
        .unwrap();
    let run = stage.drive_on().await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
}

#[tokio::test(start_paused = true)]
async fn words_said_while_a_request_is_on_its_way_come_after_its_answer() {
    let gate = longrein_testkit::Gate::new();
    let first = say("First answer.").behind(&gate);
    let model = Arc::new(ScriptedModel::new([first, then(|_| say("Second answer."))]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), []));
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Go.").await.unwrap();
    let waker = driver.waker();
    let driving = tokio::spawn(async move { driver.drive(false).await });
    gate.reached(1).await;
    let say = longrein_protocol::wish::Wish::Say {
        text: "And the heron?".to_owned(),
    };
    stage.log.post_wish(stage.run, say, 1).await.unwrap();
    waker.wake();
    while count(&stage.events(), "turn.steered") == 0 {
        assert!(
            !driving.is_finished(),
            "the words were not taken while the request was on its way"
        );
        tokio::task::yield_now().await;
    }
    gate.open();
    driving.await.unwrap().unwrap();
    let text = model.seen()[1].text().to_owned();
    assert!(text.find("First answer.").unwrap() < text.find("And the heron?").unwrap());
}

#[tokio::test(start_paused = true)]
async fn no_request_has_two_messages_of_the_user_in_a_row_while_nobody_speaks() {
    let model = Arc::new(ticking(4));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [tick()]));
    let agent = stage.world.agent();
    stage.drive(agent, "Tick.").await.unwrap();
    for request in model.seen() {
        let messages = request.messages();
        let pairs = messages.iter().zip(&messages[1..]);
        let users = pairs.filter(|(one, two)| one["role"] == "user" && two["role"] == "user");
        assert_eq!(users.count(), 0, "{}", request.text());
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_model_takes_over_when_one_is_down_and_is_sent_no_foreign_signature() {
    let thinks = ReplyBlock::Thinking {
        text: "Hm.".to_owned(),
        raw: Some("{\"signature\":\"s1\"}".to_owned()),
    };
    let asks = ReplyBlock::ToolUse {
        id: "a".to_owned(),
        name: "look".to_owned(),
        arguments: "{}".to_owned(),
        raw: None,
    };
    let model = Arc::new(ScriptedModel::answering(move |request| {
        match (request.replies(), request.contains("\"model\":\"second\"")) {
            (0, _) => Scripted::reply(vec![thinks.clone(), asks.clone()]),
            (_, false) => fail(ModelErrorClass::Auth, None),
            (_, true) => say("Done."),
        }
    }));
    let look = Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look]));
    let mut agent = stage.world.agent();
    agent.model.use_ = vec!["test/scripted".to_owned(), "other/second".to_owned()];
    let run = stage.drive(agent, "Go.").await.unwrap();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(count(&stage.events(), "model.switched"), 1);
    let last = model.seen().pop().unwrap();
    assert!(!last.contains("s1"), "{}", last.text());
}
