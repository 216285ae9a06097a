//! Many runs and their children on one key.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_core::run::{Phase, Run};
use longrein_protocol::RunId;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{Outcome, Payload};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_runtime::Driver;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};
use longrein_testkit::{FakeTool, Pace, ScriptedModel, TestWorld, call, say};
use serde_json::json;
use tokio::time::Instant;

use crate::stage::Stage;

const PER_SECOND: usize = 5;
const RUNS: u64 = 4;
/// Steps of each child.
const LOOKS: u32 = 6;

/// A provider that allows so many requests in each second, takes a while for each, and asks to wait
/// a second where there are more.
struct Limited {
    inner: ScriptedModel,
    allowed: Mutex<VecDeque<Instant>>,
    refused: Mutex<u32>,
}

impl Limited {
    fn allows(&self) -> bool {
        let now = Instant::now();
        let mut allowed = self.allowed.lock().unwrap();
        while allowed
            .front()
            .is_some_and(|at| *at + Duration::from_secs(1) <= now)
        {
            allowed.pop_front();
        }
        let allows = allowed.len() < PER_SECOND;
        if allows {
            allowed.push_back(now);
        } else {
            *self.refused.lock().unwrap() += 1;
        }
        allows
    }
}

#[async_trait]
impl Model for Limited {
    fn dialect(&self) -> &dyn Dialect {
        self.inner.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let allows = self.allows();
        tokio::time::sleep(Duration::from_millis(300)).await;
        if allows {
            return self.inner.send(call).await;
        }
        Err(ModelError {
            class: ModelErrorClass::RateLimited,
            message: "Too many requests.".to_owned(),
            remedy: "Wait.".to_owned(),
            retry_after: Some(Duration::from_secs(1)),
            unreachable: false,
            unsent: false,
        })
    }
}

fn limited() -> Arc<Limited> {
    let inner = ScriptedModel::answering(|request| {
        let tasks = json!([
            {"title": "First", "brief": "Look."},
            {"title": "Second", "brief": "Look."},
        ]);
        match (request.contains("Lead."), request.replies()) {
            (true, 0) => call("delegate", json!({ "tasks": tasks })),
            (true, _) => say("All done."),
            (false, done) if done < LOOKS => call("look", json!({ "n": done })),
            (false, _) => call("finish", json!({"summary": "I looked."})),
        }
    });
    Arc::new(Limited {
        inner,
        allowed: Mutex::default(),
        refused: Mutex::default(),
    })
}

/// From when a request was owed to when it was answered, at most, by the log.
fn longest_wait(run: &[longrein_protocol::Event]) -> i64 {
    let (mut longest, mut since) = (0, None);
    for event in run {
        match &event.payload {
            Payload::ContextCompiled(_) => since = Some(event.at),
            Payload::ModelResponded(_) => {
                longest = longest.max(since.take().map_or(0, |since| event.at - since));
            }
            _ => {}
        }
    }
    longest
}

#[tokio::test(start_paused = true)]
async fn four_runs_with_eight_children_share_five_requests_a_second_and_none_starves() {
    let provider = limited();
    let tools = ["look", "delegate"]
        .map(|name| Arc::new(FakeTool::new(name, Effect::Read, Repeat::Repeatable)));
    let world = TestWorld::new(provider.clone(), tools).paced(Pace::of("local"));
    let mut stage = Stage::new(world);
    let began = Instant::now();
    let mut driving = Vec::new();
    for number in 0..RUNS {
        let run = RunId::from_parts(1, 100 + u128::from(number));
        let fence = stage.log.take_fence(run).await.unwrap();
        let mut driver = Driver::new(stage.ports(), fence, Run::default());
        driver
            .record(TestWorld::created(stage.world.agent()))
            .unwrap();
        driver.say("Lead.".to_owned()).unwrap();
        driver.commit().await.unwrap();
        driving.push(tokio::spawn(async move {
            driver.drive(false).await.unwrap();
            (run, driver.run().phase.clone())
        }));
    }
    let mut logs = Vec::new();
    for run in driving {
        let (run, phase) = run.await.unwrap();
        assert_eq!(phase, Phase::Finished(Outcome::Unverified));
        let events = stage.log.durable(run);
        for event in &events {
            if let Payload::ChildSpawned(spawned) = &event.payload {
                logs.push(stage.log.durable(spawned.child));
            }
        }
        logs.push(events);
    }
    assert_eq!(logs.len(), 12);
    let requests = RUNS as u32 * (2 + 2 * (LOOKS + 1));
    let refused = *provider.refused.lock().unwrap();
    assert!(refused <= 16, "{refused} refusals for {requests} requests");
    let longest = logs.iter().map(|log| longest_wait(log)).max().unwrap();
    assert!(longest < 15_000, "{longest} ms");
    // At five a second they take 13 seconds.
    let took = began.elapsed();
    assert!(took < Duration::from_secs(40), "{took:?}");
}
