//! The model of the research: it asks for one step after the other, and measures what it is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};
use longrein_testkit::{Scripted, ScriptedModel, SeenRequest, call, say};
use serde_json::json;

use super::workload::{Doing, Fact, FactKind, Workload};

/// What stands in every request of the run itself, and in none beside it.
const OF_THE_RUN: &str = r#""tools":["#;
/// How a request names a result that can be read on in.
const READS_ON: &str = r#"read_result with \"result\": \""#;
/// How a request offers the tool that looks back.
const RECALLS: &str = r#""name":"recall""#;
/// Letters of an action's id.
const ID_LETTERS: usize = 16;
/// How many bytes of two requests are compared at once.
const COMPARED_BYTES: usize = 4_096;
/// How many facts are looked for in one step.
const RECALLED_AT_ONCE: usize = 4;
/// What a summary says where one is asked for.
const SUMMARY: &str = r#"{"decisions": ["One step after the other."], "findings": [{"text": "What was read is in the log.", "sources": []}], "failed": [], "open": []}"#;

/// What the model was sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Requests of the run, without those in which facts were looked for at the end.
    pub requests: u32,
    /// Requests beside the run's own, for summaries.
    pub side_requests: u32,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes that equal the front of the run's request before.
    pub same_bytes: u64,
    /// The largest one's bytes.
    pub peak_bytes: u64,
    /// Facts that the last one held.
    pub in_view: u32,
    /// Facts that it did not hold, and that the model found when it looked back.
    pub recalled: u32,
}

/// How far the research is.
#[derive(Default)]
struct State {
    sent: Sent,
    before: Option<Arc<[u8]>>,
    /// Whether the last request of the research was looked at.
    looked: bool,
    /// Facts that are looked for, and those that were asked for last.
    missing: Vec<Fact>,
    asked: Vec<Fact>,
}

/// The model of a research.
pub struct Meter {
    scripted: ScriptedModel,
    state: Arc<Mutex<State>>,
}

impl Meter {
    /// A model that does this research and then looks for what was planted.
    pub fn new(workload: Arc<Workload>) -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let of_script = state.clone();
        let scripted = ScriptedModel::answering(move |request| {
            let mut state = locked(&of_script);
            state.answer(&workload, request)
        });
        Self {
            scripted: scripted.keeping(0),
            state,
        }
    }

    /// What it was sent so far.
    pub fn sent(&self) -> Sent {
        locked(&self.state).sent.clone()
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A panic elsewhere leaves nothing half done in here.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Model for Meter {
    fn dialect(&self) -> &dyn Dialect {
        self.scripted.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        self.scripted.send(call).await
    }
}

impl State {
    fn answer(&mut self, workload: &Workload, request: &SeenRequest) -> Scripted {
        let steps = workload.steps.len() as u32;
        if !request.contains(OF_THE_RUN) {
            self.measure(request, false);
            return say(SUMMARY);
        }
        if self.sent.requests <= steps {
            self.measure(request, true);
        }
        let number = self.sent.requests;
        if number <= steps {
            return self.step(workload, number, request);
        }
        self.look_back(workload, request)
    }

    fn measure(&mut self, request: &SeenRequest, of_the_run: bool) {
        let sent = &mut self.sent;
        let bytes = request.body.len() as u64;
        sent.bytes += bytes;
        sent.peak_bytes = sent.peak_bytes.max(bytes);
        if !of_the_run {
            sent.side_requests += 1;
            return;
        }
        sent.requests += 1;
        if let Some(before) = self.before.replace(request.body.clone()) {
            sent.same_bytes += same_front(&before, &request.body) as u64;
        }
    }

    fn step(&self, workload: &Workload, number: u32, request: &SeenRequest) -> Scripted {
        let step = json!({ "step": number });
        match workload.fact(number).map(|fact| fact.kind) {
            Some(FactKind::Receipt) => return call("post", step),
            Some(FactKind::Source) => return call("page", step),
            Some(FactKind::OpenItem) => return call("update_plan", workload.plan(number)),
            // The tool has the person say it.
            Some(FactKind::Constraint) => return call("note", step),
            None => {}
        }
        match workload.steps[number as usize - 1] {
            Doing::Search => call("search", step),
            Doing::Page => call("page", step),
            Doing::Table => call("table", step),
            Doing::Note => call("note", step),
            Doing::ReadOn => match offloaded(request) {
                Some(result) => {
                    // One syllable and the number make every call another one.
                    let pattern = format!("lum|{number}");
                    call("read_result", json!({"result": result, "pattern": pattern}))
                }
                None => call("note", step),
            },
        }
    }

    /// What the last request of the research holds is in view; the rest is looked for.
    fn look_back(&mut self, workload: &Workload, request: &SeenRequest) -> Scripted {
        let holds = |fact: &&Fact| request.contains(&fact.value);
        if !std::mem::replace(&mut self.looked, true) {
            let (held, missing): (Vec<&Fact>, Vec<&Fact>) = workload.facts.iter().partition(holds);
            self.sent.in_view = held.len() as u32;
            self.missing = missing.into_iter().cloned().collect();
            if !request.contains(RECALLS) {
                self.missing.clear();
            }
        } else {
            self.sent.recalled += self.asked.iter().filter(holds).count() as u32;
        }
        let count = self.missing.len().min(RECALLED_AT_ONCE);
        self.asked = self.missing.drain(..count).collect();
        if self.asked.is_empty() {
            return say("Done.");
        }
        let nothing = Scripted::reply(Vec::new());
        self.asked.iter().fold(nothing, |reply, fact| {
            reply.and_call("recall", json!({"query": fact.topic}))
        })
    }
}

/// The name of the result that the request offers last to be read on in.
fn offloaded(request: &SeenRequest) -> Option<String> {
    let text = request.text();
    let at = text.rfind(READS_ON)? + READS_ON.len();
    text.get(at..at + ID_LETTERS).map(str::to_owned)
}

/// How many bytes two requests have in common before they differ.
fn same_front(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.chunks(COMPARED_BYTES).zip(other.chunks(COMPARED_BYTES));
    let mut same = 0;
    for (left, right) in pieces {
        if left != right {
            return same + left.iter().zip(right).take_while(|(a, b)| a == b).count();
        }
        same += left.len();
    }
    same
}
