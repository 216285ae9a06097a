//! What leaves the process: requests and actions. Each was committed before it starts, and ends
//! as a message to its driver.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::policy::Onward;
use longrein_core::run::{Action, ActionStage, Phase, Request};
use longrein_protocol::event::{ActionStarted, Payload, ResumeReason, RunResumed};
use longrein_protocol::tool::READ_RESULT;
use longrein_protocol::{ActionId, BlobHash, Body, ToolErrorClass};
use longrein_store::log::Log;
use tokio::sync::watch;

use crate::asking::{ByDriver, Waits};
use crate::checking::{CHECK, JUDGE};
use crate::driver::{CANCEL_GRACE, DriveError, Driver, Message};
use crate::mask;
use crate::past::LogPast;
use crate::patience::{self, Retry};
use crate::ports::{
    BlobRead, CancellationToken, Clock, Model, ModelCall, ModelError, ModelReply, NobodyThere,
    PublishedArtifact, RunContext, Tool, ToolCall, ToolError, ToolOutput,
};
use crate::recovery::query_name;
use crate::summing::SUMMARY;
use crate::wire;
use crate::world::BadCall;

/// The name of the request among what is in flight.
pub(crate) const MODEL: &str = "model";
/// How a request ended.
#[derive(Debug)]
pub(crate) struct ModelEnd {
    pub result: Result<ModelReply, ModelError>,
    pub latency_ms: u32,
}

/// How an action ended.
#[derive(Debug)]
pub(crate) struct ToolEnd {
    pub action: ActionId,
    pub result: Result<ToolOutput, ToolError>,
    pub latency_ms: u32,
}

impl Driver {
    pub(crate) fn send(&mut self, model: Arc<dyn Model>, body: Arc<[u8]>) {
        let cancel = CancellationToken::new();
        self.in_flight.insert(MODEL.to_owned(), cancel.clone());
        let call = ModelCall {
            body,
            cancel,
            live: mask::live(&self.ports.world.masker(), self.ports.world.live(&self.run)),
        };
        let (clock, sender) = (self.ports.clock.clone(), self.sender());
        tokio::spawn(async move {
            let began = clock.monotonic_ms();
            let result = model.send(call).await;
            let latency_ms = since(began, clock.monotonic_ms());
            // A driver that is gone has no use for the answer.
            let _ = sender
                .send(Message::Model(Box::new(ModelEnd { result, latency_ms })))
                .await;
        });
    }

    /// Starts actions whose starts are committed together. Every check is made once more before;
    /// what it no longer allows does not start.
    pub(crate) async fn start(&mut self, ids: &[ActionId]) -> Result<(), DriveError> {
        if !self.records_files_for(ids).await? {
            return Ok(());
        }
        let mut ready = Vec::with_capacity(ids.len());
        for id in ids {
            if !self.still_allowed(id).await? {
                if !matches!(self.run.phase, Phase::Going) {
                    break;
                }
                continue;
            }
            let Some(action) = self.run.action(id).cloned() else {
                continue;
            };
            let key = idempotency_key(self.run.id, id);
            let attempt = action.attempt + 1;
            let secrets = action.facts.secrets.iter();
            self.record(ActionStarted {
                action: id.clone(),
                key: key.clone(),
                attempt,
                credentials: secrets.map(|fact| fact.secret.clone()).collect(),
            })?;
            ready.push((action, key, attempt));
        }
        let mut calls = Vec::with_capacity(ready.len());
        for (action, key, attempt) in ready {
            calls.push(self.call(&action, key, attempt).await?);
        }
        #[cfg(feature = "effect-before-fact")]
        for (tool, call) in std::mem::take(&mut calls) {
            self.spawn(tool, call);
            // Lets the effect happen before its start is durable: what the crash sweep must catch.
            tokio::task::yield_now().await;
        }
        self.commit().await?;
        for (tool, call) in calls {
            if self.lays_back_for(&call.action).await? {
                self.spawn(tool, call);
            }
        }
        Ok(())
    }

    async fn call(
        &mut self,
        action: &Action,
        key: String,
        attempt: u32,
    ) -> Result<(String, ToolCall), DriveError> {
        let mut arguments = self.arguments(&action.arguments).await?;
        let recovery = self.run.tool(&action.tool).map(|tool| &tool.recovery);
        if let Some(argument) = recovery.and_then(|recovery| recovery.key_argument.as_ref()) {
            arguments[argument] = key.clone().into();
        }
        let call = ToolCall {
            run: self.fence.tree,
            action: action.id.clone(),
            key,
            attempt,
            onward: Arc::new(Onward::of(
                &self.run,
                &action.tool,
                action.effect,
                &arguments,
            )),
            arguments,
            facts: action.facts.clone(),
            context: self.context_for(&action.tool),
            // The driver puts itself in their place when it starts the call.
            person: Arc::new(NobodyThere),
            cancel: CancellationToken::new(),
            beside: self.beside(action),
        };
        Ok((action.tool.clone(), call))
    }

    /// A body that may still wait for its commit, as text in place.
    pub(crate) fn body_at_hand(&self, body: &Body) -> Body {
        let Body::Blob { blob, .. } = body else {
            return body.clone();
        };
        match self.blobs.iter().find(|kept| kept.hash == *blob) {
            Some(kept) => Body::Text(String::from_utf8_lossy(&kept.bytes).into_owned()),
            None => body.clone(),
        }
    }

    /// The arguments of an action, an object.
    pub(crate) async fn arguments(&self, body: &Body) -> Result<serde_json::Value, DriveError> {
        let text = wire::body_text(&*self.ports.log, &self.body_at_hand(body)).await?;
        Ok(parse_arguments(&text).unwrap_or_else(|_| serde_json::json!({})))
    }

    fn spawn(&mut self, name: String, mut call: ToolCall) {
        self.in_flight
            .insert(call.action.0.clone(), call.cancel.clone());
        let tool = self
            .tools
            .as_ref()
            .and_then(|tools| tools.tool(&name))
            .cloned();
        let timeout_ms = self.run.tool(&name).map_or(0, |spec| spec.timeout_ms);
        let (clock, sender) = (self.ports.clock.clone(), self.sender());
        let (person, waits) = ByDriver::new(call.action.clone(), sender.clone(), clock.clone());
        call.person = Arc::new(person);
        tokio::spawn(async move {
            let began = clock.monotonic_ms();
            let action = call.action.clone();
            let limit = Limit {
                timeout_ms,
                waits: waits.clone(),
            };
            let result = match tool {
                Some(tool) => within(&*clock, &name, limit, &*tool, call).await,
                None => Err(ToolError::new(
                    ToolErrorClass::NotFound,
                    format!("{name} is not there any more."),
                )),
            };
            let ended = clock.monotonic_ms();
            // What the person took to answer is no working time.
            let waited = waits.borrow().waited_ms(ended);
            let latency_ms = since(began.saturating_add(waited), ended);
            // A driver that is gone finds the action in flight in its log.
            let _ = sender
                .send(Message::Tool(Box::new(ToolEnd {
                    action,
                    result,
                    latency_ms,
                })))
                .await;
        });
    }

    /// What tools and the verifier may know of the run; made anew when it changed.
    pub(crate) fn run_context(&mut self) -> Arc<RunContext> {
        if let Some(context) = &self.context {
            return context.clone();
        }
        let artifacts = self.run.artifacts.iter().map(|artifact| PublishedArtifact {
            path: artifact.path.clone(),
            media_type: artifact.media_type.clone(),
            original: artifact.original.hash(),
        });
        let context = Arc::new(RunContext {
            workspace: self
                .run
                .created
                .as_ref()
                .map(|created| created.workspace.clone().into())
                .unwrap_or_default(),
            sources: self.run.sources.clone(),
            artifacts: artifacts.collect(),
            plan: self.run.plan.clone(),
            jobs: self.run.jobs.clone(),
            results: Vec::new(),
            notes: self.run.pins.clone(),
            blobs: Arc::new(LogBlobs(self.ports.log.clone())),
            past: Arc::new(LogPast {
                log: self.ports.log.clone(),
                run: self.run.id.unwrap_or(self.fence.tree),
            }),
        });
        self.context = Some(context.clone());
        context
    }

    /// What one tool may know of the run.
    fn context_for(&mut self, tool: &str) -> Arc<RunContext> {
        let context = self.run_context();
        if tool != READ_RESULT {
            return context;
        }
        Arc::new(RunContext {
            results: self.run.results_kept.clone(),
            ..RunContext::clone(&context)
        })
    }

    /// What is to be done about a failed request, with words that say so.
    pub(crate) fn retry(&self, error: &mut ModelError) -> Retry {
        if !matches!(self.run.request, Request::InFlight { .. }) {
            return Retry::default();
        }
        let now = self.ports.clock.now();
        let has_other = self.run.fallback(error.class).is_some();
        let random = self.ports.chance.random();
        let retry = patience::retry(error, self.run.patience, has_other, now, random);
        patience::tell(error, retry, now);
        retry
    }

    /// What the log says is on its way, and this driver does not run, was lost: with the process
    /// before, or when this driver last stood still.
    pub(crate) fn own_up_to_lost(&mut self) -> Result<(), DriveError> {
        let runs = |name: &str| self.in_flight.contains_key(name);
        let run = &self.run;
        let request = matches!(run.request, Request::InFlight { .. }) && !runs(MODEL);
        let check = run.checking && !runs(CHECK);
        let summary = run.summaries.before.is_some() && !runs(SUMMARY);
        let delegates = |id: &ActionId| run.children.iter().any(|child| child.action == *id);
        let action = run.actions.iter().any(|action| {
            let started = action.stage == ActionStage::Started;
            started && !runs(&action.id.0) && !delegates(&action.id)
        });
        if request || check || summary || action {
            let why = ResumeReason::Interrupted;
            self.record(RunResumed { why })?;
        }
        Ok(())
    }

    /// Ends everything in flight, and waits for it within a bound.
    pub(crate) async fn end_effects(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        // What is found again by whoever takes the run up goes on, unless the person ended it.
        if self.run.phase != Phase::Cancelled {
            self.let_go.cancel();
        }
        for cancel in self.in_flight.values() {
            cancel.cancel();
        }
        let clock = self.ports.clock.clone();
        let limit = clock.sleep(CANCEL_GRACE);
        tokio::pin!(limit);
        while !self.in_flight.is_empty() {
            tokio::select! {
                biased;
                message = self.next_message() => match message {
                    Some(Message::Model(_)) => { self.in_flight.remove(MODEL); }
                    Some(Message::Tool(end)) => { self.in_flight.remove(&end.action.0); }
                    Some(Message::Checked(_)) => { self.in_flight.remove(CHECK); }
                    Some(Message::Queried(end)) => { self.in_flight.remove(&query_name(&end.action)); }
                    Some(Message::Judged(_)) => { self.in_flight.remove(JUDGE); }
                    Some(Message::SummedUp(_)) => { self.in_flight.remove(SUMMARY); }
                    Some(Message::Child(rest)) => self.children.rest_later(*rest),
                    Some(Message::Told(told)) => told.refuse(),
                    Some(
                        Message::Wake
                        | Message::Judge(_)
                        | Message::CancelRun
                        | Message::Called(_)
                        | Message::Stuck(_)
                        | Message::Word(_),
                    ) => {}
                    None => break,
                },
                () = &mut limit => break,
            }
        }
        self.in_flight.clear();
        self.let_go = CancellationToken::new();
    }
}

impl Drop for Driver {
    /// A driver that is let go leaves nothing running.
    fn drop(&mut self) {
        self.let_go.cancel();
        self.in_flight.values().for_each(CancellationToken::cancel);
    }
}

/// Whether what tools may know of their run is another after this.
pub(crate) fn is_in_context(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::SourceCaptured(_)
            | Payload::PlanUpdated(_)
            | Payload::NotePinned(_)
            | Payload::NoteUnpinned(_)
            | Payload::ArtifactPublished(_)
            | Payload::JobStarted(_)
            | Payload::JobFinished(_)
    )
}

/// How long a call may take. It does not go on while the call waits for the person.
pub(crate) struct Limit {
    timeout_ms: u32,
    waits: watch::Receiver<Waits>,
}

impl Limit {
    /// A limit for a call that asks nobody.
    pub(crate) fn of(timeout_ms: u32) -> Self {
        Self {
            timeout_ms,
            waits: watch::channel(Waits::default()).1,
        }
    }
}

/// Runs a tool once, no longer than its limit; a tool whose limit is 0 has one of its own.
pub(crate) async fn within(
    clock: &dyn Clock,
    name: &str,
    limit: Limit,
    tool: &dyn Tool,
    call: ToolCall,
) -> Result<ToolOutput, ToolError> {
    let Limit {
        timeout_ms,
        mut waits,
    } = limit;
    if timeout_ms == 0 {
        return tool.run(call).await;
    }
    let cancel = call.cancel.clone();
    let began = clock.monotonic_ms();
    let mut running = tool.run(call);
    loop {
        let now = clock.monotonic_ms();
        let waited = *waits.borrow_and_update();
        let worked = now
            .saturating_sub(began)
            .saturating_sub(waited.waited_ms(now));
        let left = u64::from(timeout_ms).saturating_sub(worked);
        tokio::select! {
            biased;
            result = &mut running => return result,
            Ok(()) = waits.changed() => {}
            () = clock.sleep(Duration::from_millis(left)), if !waited.is_waiting() => {
                cancel.cancel();
                let message = format!("{name} did not end within {timeout_ms} ms.");
                return Err(ToolError::uncertain(message));
            }
        }
    }
}

/// The same for every attempt of an action, different for every run.
pub(crate) fn idempotency_key(run: Option<longrein_protocol::RunId>, action: &ActionId) -> String {
    let run = run.map(|run| run.to_string()).unwrap_or_default();
    BlobHash::of(format!("{run} {action}").as_bytes()).to_string()[..32].to_owned()
}

pub(crate) fn parse_arguments(text: &str) -> Result<serde_json::Value, BadCall> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(fields)) => Ok(serde_json::Value::Object(fields)),
        Ok(_) => Err(BadCall::NotAnObject),
        Err(error) => Err(BadCall::NotJson(error)),
    }
}

pub(crate) fn since(began: u64, ended: u64) -> u32 {
    u32::try_from(ended.saturating_sub(began)).unwrap_or(u32::MAX)
}

/// Reads what is durable.
pub(crate) struct LogBlobs(pub Arc<dyn Log>);

#[async_trait::async_trait]
impl BlobRead for LogBlobs {
    async fn read(&self, hash: BlobHash) -> Result<Arc<[u8]>, ToolError> {
        let read = self.0.blob(hash).await;
        read.map_err(|error| ToolError::new(ToolErrorClass::NotFound, error.to_string()))
    }
}
