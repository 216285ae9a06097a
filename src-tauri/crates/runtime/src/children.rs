//! Children: runs of the same tree, driven in the same process, whose findings come back.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use longrein_core::run::{ActionStage, Child, NewChild, OfSaved, Phase, Run};
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{
    ActionFinished, ActionStarted, ChildEnd, ChildFinished, ChildSpawned, ChildUsed, Outcome,
    PolicyChanged, ResumeReason, RunCreated, RunResumed, SourceCaptured,
};
use longrein_protocol::{
    ActionId, BlobHash, Body, HARNESS_VERSION, RunId, SourceId, ToolErrorClass,
};
use tokio::task::AbortHandle;

use crate::driver::{DriveError, Driver, Message, Waker};
use crate::effects::idempotency_key;
use crate::findings::{self, FINDING_BYTES};
use crate::history;
use crate::wire;

/// How long cancelled children may take to end: each ends its own effects within a second.
const CHILDREN_GRACE: Duration = Duration::from_millis(2_000);

/// The folder of a run's workspace in which it finds what its children delivered.
const CHILDREN: &str = "children";

/// The folder of a child: beside that of the run above. Beneath it, what commands of that run put in
/// its way would be followed.
fn beside(workspace: &str, child: RunId) -> String {
    let folder = Path::new(workspace).with_file_name(child.to_string());
    folder.to_string_lossy().into_owned()
}

/// A child's driver that came to rest, with why.
pub(crate) struct ChildRest {
    driver: Driver,
    driven: Result<(), DriveError>,
}

impl std::fmt::Debug for ChildRest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ChildRest({:?}, {:?})",
            self.driver.run().id,
            self.driven
        )
    }
}

/// The children of a driver's run.
#[derive(Default)]
pub(crate) struct Children {
    going: HashMap<RunId, Going>,
    /// Paused ones, which a wish sets going again.
    still: HashMap<RunId, Driver>,
    /// Those whose end was met while something else was waited for.
    rested: Vec<ChildRest>,
}

struct Going {
    waker: Waker,
    task: AbortHandle,
}

impl Drop for Going {
    /// A child never outlives its parent's driver: its log says where it stands.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Children {
    pub(crate) fn rest_later(&mut self, rest: ChildRest) {
        self.rested.push(rest);
    }
}

impl Driver {
    /// Begins the children that an action asks for: its start, their spawning and their first
    /// events are one transaction.
    pub(crate) async fn spawn_children(&mut self, id: &ActionId) -> Result<(), DriveError> {
        if !self.still_allowed(id).await? {
            return Ok(());
        }
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&action.arguments).await?;
        let tasks = match self.run.delegation(&arguments) {
            Ok(tasks) => tasks,
            Err(bad) => {
                let text = Body::Text(bad.to_string());
                return self.delegation_ends(id, text, Trust::Trusted, Some(bad.to_string()));
            }
        };
        self.record(ActionStarted {
            action: id.clone(),
            key: idempotency_key(self.run.id, id),
            attempt: 1,
            credentials: Vec::new(),
        })?;
        let mut drivers = Vec::with_capacity(tasks.len());
        for task in tasks {
            drivers.push(self.begin_child(id, task)?);
        }
        self.commit().await?;
        drivers
            .into_iter()
            .for_each(|driver| self.set_going(driver));
        Ok(())
    }

    fn begin_child(&mut self, action: &ActionId, task: NewChild) -> Result<Driver, DriveError> {
        let NewChild {
            title,
            brief,
            agent,
            model,
            copies,
            grant,
        } = task;
        let now = self.ports.clock.now();
        let child = RunId::from_parts(now, self.ports.chance.random());
        self.record(ChildSpawned {
            action: action.clone(),
            child,
            title: title.clone(),
            grant,
        })?;
        let mut driver = Driver::of(self.ports.clone(), self.fence, child, Run::default());
        let Some(parent) = self.run.created.clone() else {
            return Ok(driver);
        };
        let model = model.unwrap_or_else(|| OfSaved {
            name: parent.model.clone(),
            price: parent.price,
            takes: parent.takes,
        });
        driver.record(RunCreated {
            agent_hash: longrein_core::agent_file::hash(&agent),
            model: model.name,
            price: model.price,
            takes: model.takes,
            window_tokens: agent.model.window_tokens,
            agent,
            harness: HARNESS_VERSION.to_owned(),
            workspace: beside(&parent.workspace, child),
            tainted: self.run.tainted,
            private: self.run.private_read,
            depth: parent.depth + 1,
            parent: self.run.id,
            root: Some(self.fence.tree),
            copies: copies.then(|| parent.workspace.clone()),
            ..*parent
        })?;
        let rules = self.run.rules_for_child();
        if !rules.is_empty() || self.run.policy_hash.is_some() {
            driver.record(PolicyChanged {
                hash: self.run.policy_hash.unwrap_or_else(|| BlobHash::of(b"")),
                rules,
                by: "the run that delegates".to_owned(),
            })?;
        }
        driver.open_with(title, brief)?;
        self.blobs.append(&mut driver.blobs);
        self.others.extend(driver.take_events());
        Ok(driver)
    }

    /// Takes up the children that were going when this run's process ended.
    pub(crate) async fn take_up_children(&mut self) -> Result<(), DriveError> {
        let open: Vec<RunId> = self.run.open_children().map(|child| child.run).collect();
        for child in open {
            if self.children.going.contains_key(&child) || self.children.still.contains_key(&child)
            {
                continue;
            }
            let past = history::load(&*self.ports.log, child).await?;
            let mut driver = Driver::of(self.ports.clone(), self.fence, child, past.run);
            if driver.run().is_underway() {
                driver.record(RunResumed {
                    why: ResumeReason::Interrupted,
                })?;
            }
            let cancelled = self.run.phase == Phase::Cancelled;
            if cancelled {
                driver.cancelled_from_above().await?;
                driver.commit().await?;
            }
            self.set_going(driver);
        }
        if self.run.phase == Phase::Cancelled {
            self.cancel_children().await?;
        }
        Ok(())
    }

    fn set_going(&mut self, driver: Driver) {
        let Some(run) = driver.run().id else {
            return;
        };
        let (waker, parent) = (driver.waker(), self.sender());
        let task = tokio::spawn(to_its_rest(driver, parent)).abort_handle();
        self.children.going.insert(run, Going { waker, task });
    }

    /// Passes on that somebody may have put a wish into an inbox.
    pub(crate) async fn wake_children(&mut self) -> Result<(), DriveError> {
        for going in self.children.going.values() {
            going.waker.wake();
        }
        let still: Vec<RunId> = self.children.still.keys().copied().collect();
        for run in still {
            if !self.ports.log.wishes(run).await?.is_empty()
                && let Some(driver) = self.children.still.remove(&run)
            {
                self.set_going(driver);
            }
        }
        Ok(())
    }

    /// Cancels every child that has not ended, and waits for it within a bound.
    pub(crate) async fn cancel_children(&mut self) -> Result<(), DriveError> {
        for (_, mut driver) in std::mem::take(&mut self.children.still) {
            driver.cancelled_from_above().await?;
            driver.commit().await?;
            self.set_going(driver);
        }
        for going in self.children.going.values() {
            going.waker.cancel();
        }
        let clock = self.ports.clock.clone();
        let limit = clock.sleep(CHILDREN_GRACE);
        tokio::pin!(limit);
        while let Some(rest) = self.children.rested.pop() {
            self.child_rests(rest).await?;
        }
        while !self.children.going.is_empty() {
            let message = tokio::select! {
                biased;
                message = self.next_message() => message,
                () = &mut limit => break,
            };
            match message {
                Some(Message::Child(rest)) => self.child_rests(*rest).await?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    pub(crate) async fn cancelled_from_above(&mut self) -> Result<(), DriveError> {
        if self.cancel()? == crate::inbox::InboxAnswer::EndEffects {
            self.end_effects().await;
            Box::pin(self.cancel_children()).await?;
        }
        Ok(())
    }

    pub(crate) async fn child_rests(&mut self, rest: ChildRest) -> Result<(), DriveError> {
        let ChildRest { driver, driven } = rest;
        let Some(run) = driver.run().id else {
            return Ok(());
        };
        self.children.going.remove(&run);
        driven?;
        let end = match &driver.run().phase {
            Phase::Finished(Outcome::Accepted) => ChildEnd::Accepted,
            Phase::Finished(Outcome::Unverified) => ChildEnd::Unverified,
            Phase::Finished(Outcome::Failed) => ChildEnd::Failed,
            Phase::Cancelled => ChildEnd::Cancelled,
            Phase::HandedOff { .. } => ChildEnd::HandedOff,
            Phase::Paused | Phase::Going | Phase::Created => {
                self.children.still.insert(run, driver);
                return Ok(());
            }
        };
        let child = self
            .run
            .open_children()
            .find(|child| child.run == run)
            .cloned();
        let Some(child) = child else {
            return Ok(());
        };
        self.child_ended(&child, driver.run(), end).await
    }

    async fn child_ended(
        &mut self,
        child: &Child,
        state: &Run,
        end: ChildEnd,
    ) -> Result<(), DriveError> {
        let ended_well = matches!(end, ChildEnd::Accepted | ChildEnd::Unverified);
        let report = match state.report() {
            Some((body, is_finish)) => {
                let text = wire::body_text(&*self.ports.log, body).await?;
                if is_finish {
                    findings::report(&text, ended_well)
                } else {
                    text
                }
            }
            None => String::new(),
        };
        let names = self.take_sources(&child.action, state)?;
        let finding = findings::cut(&findings::renamed(&report, &names), FINDING_BYTES);
        let reason = match end {
            ChildEnd::Accepted | ChildEnd::Unverified => String::new(),
            _ => state.standing().1,
        };
        let artifacts = self.hand_up(child.run, state).await?;
        let mut sources: Vec<SourceId> = names.values().copied().collect();
        sources.sort_unstable_by_key(|source| source.0);
        let used = state.used;
        let (finding, blob) = Body::of(finding);
        self.keep(blob);
        self.record(ChildFinished {
            action: child.action.clone(),
            child: child.run,
            end,
            reason,
            finding,
            sources,
            artifacts,
            used: ChildUsed {
                steps: used.steps,
                tokens_in: used.tokens_in,
                tokens_out: used.tokens_out,
                money_micro: used.money_micro,
                actions: used.actions,
                working_ms: used.working_ms,
            },
            tainted: state.tainted,
            private: state.private_read,
        })?;
        self.end_delegation(&child.action).await
    }

    /// Lays what a child delivered down in its parent's folder, and gives the paths there. The child
    /// itself works in a folder that its parent's commands can't come to.
    async fn hand_up(&self, child: RunId, state: &Run) -> Result<Vec<String>, DriveError> {
        let mut paths = Vec::with_capacity(state.artifacts.len());
        for artifact in &state.artifacts {
            let path = format!("{CHILDREN}/{child}/{}", artifact.path);
            let body = self.body_at_hand(&artifact.original);
            let bytes = wire::body_bytes(&*self.ports.log, &body).await?;
            let world = &self.ports.world;
            paths.extend(world.hand_up(&self.run, &path, bytes).await);
        }
        Ok(paths)
    }

    /// What a child captured becomes the parent's too, so that it can cite it. Gives the parent's
    /// id for each of the child's.
    fn take_sources(
        &mut self,
        action: &ActionId,
        child: &Run,
    ) -> Result<HashMap<SourceId, SourceId>, DriveError> {
        let mut names = HashMap::new();
        let started = self
            .run
            .action(action)
            .is_some_and(|action| action.stage == ActionStage::Started);
        if !started {
            return Ok(names);
        }
        for source in &child.sources {
            let same = |own: &&longrein_protocol::source::SourceRecord| {
                own.bytes.hash() == source.bytes.hash()
            };
            let known = self.run.sources.iter().find(same).map(|own| own.id);
            let own = known.unwrap_or(SourceId(self.run.next_source()));
            names.insert(source.id, own);
            for range in &source.shown {
                self.record(SourceCaptured {
                    source: own,
                    action: action.clone(),
                    meta: source.meta.clone(),
                    bytes: source.bytes.clone(),
                    text: source.text.clone(),
                    range: *range,
                })?;
            }
        }
        Ok(names)
    }

    /// Ends a delegation when the last of its children has ended.
    async fn end_delegation(&mut self, action: &ActionId) -> Result<(), DriveError> {
        let of_action = |child: &&Child| child.action == *action;
        let children: Vec<Child> = self
            .run
            .children
            .iter()
            .filter(of_action)
            .cloned()
            .collect();
        let Some(ends) = children
            .iter()
            .map(|child| child.ended.as_deref())
            .collect::<Option<Vec<_>>>()
        else {
            return Ok(());
        };
        let started = self
            .run
            .action(action)
            .is_some_and(|action| action.stage == ActionStage::Started);
        if !started {
            return Ok(());
        }
        let mut text = String::new();
        for (child, end) in children.iter().zip(&ends) {
            let finding =
                wire::body_text(&*self.ports.log, &self.body_at_hand(&end.finding)).await?;
            text.push_str(&findings::section(&child.title, end, &finding));
        }
        let trust = if ends.iter().any(|end| end.tainted) {
            Trust::Untrusted
        } else {
            Trust::Trusted
        };
        let (body, blob) = Body::of(text);
        self.keep(blob);
        self.delegation_ends(action, body, trust, None)
    }

    fn delegation_ends(
        &mut self,
        action: &ActionId,
        result: Body,
        trust: Trust,
        refused: Option<String>,
    ) -> Result<(), DriveError> {
        let ended = self
            .run
            .children
            .iter()
            .filter(|child| child.action == *action);
        let working = ended.filter_map(|child| Some(child.ended.as_ref()?.used.working_ms));
        let latency_ms = working.max().unwrap_or(0);
        let count = self
            .run
            .children
            .iter()
            .filter(|child| child.action == *action)
            .count();
        let outcome = match (&refused, count) {
            (Some(_), _) => "not delegated".to_owned(),
            (None, 1) => "1 finding".to_owned(),
            (None, count) => format!("{count} findings"),
        };
        self.record(ActionFinished {
            action: action.clone(),
            error: refused.map(|_| ToolErrorClass::NotPermitted),
            result,
            shown: None,
            file: None,
            media: Vec::new(),
            outcome,
            origin: Origin::Tool {
                tool: longrein_core::run::DELEGATE.to_owned(),
                place: None,
            },
            trust,
            receipt: None,
            latency_ms,
        })
    }
}

/// Drives a child to its rest and tells the parent. Boxed, because a child may have children.
fn to_its_rest(
    mut driver: Driver,
    parent: tokio::sync::mpsc::Sender<Message>,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let driven = driver.drive(true).await;
        // A parent that is gone finds the child in its log.
        let rest = ChildRest { driver, driven };
        let _ = parent.send(Message::Child(Box::new(rest))).await;
    })
}
