//! What has to hold of every log and every world, whatever goes wrong. The laws are held against
//! each event at the moment when it becomes durable, and against the world when it is touched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use longrein_core::run::{Action, ActionStage, Next, Phase, Run, WaitsFor};
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::event::{Payload, Verdict};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, Event, Millis};

use super::catalogue::KEY_VALID_SECONDS;

/// The longest that a run may go without an event while it waits for nobody.
const SILENCE_MS: u64 = 300_000;

/// A law.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Law {
    /// Events follow each other without gap, and the state allows each.
    Log,
    /// Folding in pieces equals folding in one go, and what is next follows from the log.
    Fold,
    /// What the core makes of each state is what the log says: decisions, requests, what follows.
    DerivedAgain,
    /// What leaves the process was announced on disk before.
    FactBeforeEffect,
    /// An action that can't be repeated happens at most once.
    OnceAtMostOnce,
    /// An action with a key happens once for its key.
    KeyedOncePerKey,
    /// An action that can be asked about happens at most once.
    QueryableAtMostOnce,
    /// What a person has to allow does not start before they did, and not after they did not.
    Approved,
    /// No skill is given that is not what the person approved, or not one of the agent's.
    SkillApproved,
    /// An approval starts its action once.
    ApprovalOnce,
    /// A tool is given the effective arguments: the edited ones where there was an edit.
    EffectiveArguments,
    /// No limit is passed.
    Budget,
    /// Every request ends once.
    RequestEndsOnce,
    /// What may or may not have happened is put to a person before it is tried again.
    UncertainIsAsked,
    /// An action is taken back once.
    CompensatedOnce,
    /// What the files are is recorded before the model is told of it.
    FilesRecorded,
    /// A program that is begun anew finds the files as they were, and all that it is told was done.
    FilesLaidBack,
    /// Nothing begins after the run was cancelled.
    Cancelled,
    /// What was read can't be unread.
    Taint,
    /// A run ends, waits for a person or is handed to one.
    NeverStuck,
    /// Killed anywhere, a run comes to the same end.
    SameEnd,
    /// The driver makes no event that it refuses itself.
    Driver,
}

/// A law that was broken, and how.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{law:?}: {how}")]
pub struct Violation {
    /// Which.
    pub law: Law,
    /// How.
    pub how: String,
}

/// What the laws know of one action.
#[derive(Default)]
struct Known {
    approvals: u32,
    first_starts: u32,
    first_start_at: Millis,
    may_retry: bool,
    finally_not_done: bool,
    compensated: bool,
}

/// Holds the laws against everything that becomes durable.
#[derive(Default)]
pub(super) struct Laws {
    /// The durable state.
    pub run: Run,
    /// How many events of each type are durable.
    pub counts: BTreeMap<&'static str, u32>,
    /// The actions of which a person was asked, in order.
    pub asked: Vec<ActionId>,
    /// The questions that a person was asked, in order.
    pub questioned: Vec<ActionId>,
    /// Whether anything was ever uncertain.
    pub uncertain: bool,
    /// The first violation.
    pub violation: Option<Violation>,
    /// A law that is not held against anything: to see that another one catches the same fault.
    pub blind_to: Option<Law>,
    /// The hashes of the requests that were announced.
    announced: HashSet<String>,
    known: HashMap<ActionId, Known>,
    request_open: bool,
    side_open: bool,
    quiet_since_ms: u64,
}

impl Laws {
    /// Takes note of a violation; the first one counts.
    pub fn broken(&mut self, law: Law, how: impl fmt::Display) {
        if self.violation.is_none() && self.blind_to != Some(law) {
            let seq = self.run.seq;
            let how = format!("{how} (after event {seq})");
            self.violation = Some(Violation { law, how });
        }
    }

    /// How many events of a type are durable.
    pub fn count(&self, name: &str) -> u32 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// A process begins: the time until its first event is nobody's silence.
    pub fn process_begins(&mut self, now_ms: u64) {
        self.quiet_since_ms = now_ms;
    }

    /// An event became durable.
    pub fn committed(&mut self, event: &Event, now_ms: u64) {
        if let Err(illegal) = self.run.check(event) {
            self.broken(Law::Log, &illegal);
        }
        self.silence(now_ms);
        self.before(event);
        let (tainted, private) = (self.run.tainted, self.run.private_read);
        self.run.apply(event);
        // A start that is made again is not another one.
        let again =
            matches!(&event.payload, Payload::ActionStarted(started) if started.attempt > 1);
        if !again {
            *self.counts.entry(event.payload.name()).or_default() += 1;
        }
        if (tainted && !self.run.tainted) || (private && !self.run.private_read) {
            self.broken(Law::Taint, "what was read is forgotten");
        }
        self.after(event);
    }

    fn silence(&mut self, now_ms: u64) {
        let quiet = now_ms.saturating_sub(self.quiet_since_ms);
        self.quiet_since_ms = now_ms;
        // A run that delegated waits as long as those that it delegated to.
        let delegates = self.run.open_children().next().is_some();
        let going = self.run.phase == Phase::Going && !delegates;
        let waits = matches!(
            self.run.next(self.run.last_at),
            Next::Wait(WaitsFor::Person)
        );
        if going && !waits && quiet > SILENCE_MS {
            self.broken(
                Law::NeverStuck,
                format!("{quiet} ms went by without an event"),
            );
        }
    }

    fn closes(&mut self) {
        if !std::mem::take(&mut self.request_open) {
            self.broken(Law::RequestEndsOnce, "a request ends that is not open");
        }
    }

    /// What has to hold in the state before an event.
    fn before(&mut self, event: &Event) {
        match &event.payload {
            Payload::ModelRequested(requested) => {
                self.announced.insert(requested.body_sha256.clone());
                self.opens(true);
            }
            Payload::SideRequested(requested) => {
                self.announced.insert(requested.body_sha256.clone());
                self.opens(false);
            }
            Payload::ModelResponded(_) | Payload::ModelFailed(_) | Payload::ModelAbandoned(_) => {
                self.closes();
            }
            Payload::SideResponded(_) | Payload::SideFailed(_) => self.side_open = false,
            // A check that was cut short is made again; what its request used stays reserved.
            Payload::RunResumed(_) => self.side_open = false,
            Payload::RunCancelled(_) | Payload::RunFinished(_) | Payload::TurnStarted(_) => {
                self.request_open = false;
                self.side_open = false;
            }
            Payload::ActionStarted(started) => {
                self.starts(&started.action, started.attempt, event.at);
            }
            Payload::ApprovalResolved(resolved) if resolved.approved => {
                let known = self.known.entry(resolved.action.clone()).or_default();
                known.approvals += 1;
            }
            Payload::ActionUncertain(_) => self.uncertain = true,
            Payload::ActionReconciled(reconciled) => {
                let person = reconciled.by.is_some();
                let known = self.known.entry(reconciled.action.clone()).or_default();
                known.may_retry = person && reconciled.verdict == Verdict::Retry;
            }
            Payload::ActionQueried(queried) => {
                let not_done = longrein_protocol::event::StatusAnswer::NotDone;
                let known = self.known.entry(queried.action.clone()).or_default();
                known.finally_not_done = queried.answer == not_done;
            }
            Payload::ActionCompensated(compensated) => {
                let known = self.known.entry(compensated.action.clone()).or_default();
                if std::mem::replace(&mut known.compensated, true) {
                    self.broken(Law::CompensatedOnce, "it was taken back before");
                }
            }
            Payload::ApprovalRequested(asked) => self.asked.push(asked.action.clone()),
            Payload::QuestionAsked(asked) => self.questioned.push(asked.action.clone()),
            _ => {}
        }
    }

    fn opens(&mut self, own: bool) {
        let open = if own {
            &mut self.request_open
        } else {
            &mut self.side_open
        };
        if std::mem::replace(open, true) {
            self.broken(
                Law::RequestEndsOnce,
                "a request begins before the last one ended",
            );
        }
    }

    /// What has to hold in the state after an event.
    fn after(&mut self, event: &Event) {
        if let Payload::ModelRequested(_) | Payload::SideRequested(_) = event.payload {
            let (used, limits) = (self.run.used, self.run.limits);
            let passed = |used: u32, limit: Option<u32>| limit.is_some_and(|limit| used > limit);
            let money = limits
                .money_micro
                .is_some_and(|limit| used.money_micro > limit);
            if passed(used.steps, limits.steps)
                || passed(used.tokens_in, limits.tokens_in)
                || passed(used.tokens_out, limits.tokens_out)
                || money
            {
                self.broken(Law::Budget, format!("{used:?} is more than {limits:?}"));
            }
        }
    }

    fn starts(&mut self, id: &ActionId, attempt: u32, at: Millis) {
        let Some(action) = self.run.action(id).cloned() else {
            return self.broken(Law::Log, format!("{id} starts and is not there"));
        };
        if self.run.phase == Phase::Cancelled {
            self.broken(Law::Cancelled, format!("{} starts", action.tool));
        }
        if let Some(limit) = self.run.limits.actions {
            let by_model = action.by != Actor::Person;
            if attempt == 1 && by_model && self.run.used.actions >= limit {
                self.broken(Law::Budget, format!("more than {limit} actions"));
            }
        }
        self.starts_with_right(&action);
        let known = self.known.entry(id.clone()).or_default();
        if attempt == 1 {
            known.first_starts += 1;
            known.first_start_at = at;
            if known.first_starts > 1 {
                self.broken(Law::ApprovalOnce, format!("{} starts anew", action.tool));
            }
        } else {
            self.starts_again(&action, at);
        }
    }

    /// An own reading of the rules: this world's rules speak of tools only.
    fn starts_with_right(&mut self, action: &Action) {
        let unseen = self.skill_is_unseen(action);
        let speaks = |rule: &PolicyRule, decision: Decision| {
            let tool = rule.tool.as_deref();
            rule.decision == decision && tool.is_none_or(|tool| tool == action.tool)
        };
        let own = self.run.agent().map_or(&[][..], |agent| &agent.policy);
        let standing = &self.run.rules;
        let denied = own.iter().any(|rule| speaks(rule, Decision::Deny))
            || standing
                .iter()
                .any(|rule| speaks(&rule.rule, Decision::Deny));
        if denied {
            return self.broken(
                Law::Approved,
                format!("{} starts against a rule", action.tool),
            );
        }
        if action.by == Actor::Person || (action.effect <= Effect::Workspace && !unseen) {
            return;
        }
        let clean = !self.run.tainted;
        // No rule speaks of what is in a skill.
        let allowed = own
            .iter()
            .any(|rule| speaks(rule, Decision::Allow) && clean)
            || standing
                .iter()
                .any(|rule| speaks(&rule.rule, Decision::Allow) && (clean || rule.tainted));
        if allowed && !unseen {
            return;
        }
        let approvals = self
            .known
            .get(&action.id)
            .map_or(0, |known| known.approvals);
        // A decision that rested on a rule has no binding; the one before it had.
        let binding = action.facts.binding.or(action.approved);
        let bound = action.approved.is_some() && action.approved == binding;
        if approvals == 0 || !bound {
            let how = format!(
                "{} starts with {approvals} approvals, bound: {bound}",
                action.tool
            );
            self.broken(Law::Approved, how);
        }
    }

    /// Whether an action loads a skill at which nobody has looked as it is.
    fn skill_is_unseen(&mut self, action: &Action) -> bool {
        let Some(fact) = &action.facts.skill else {
            return false;
        };
        let granted = self.run.agent().map(|agent| &agent.skills.use_);
        let is_granted = |name: &String| name == "*" || *name == fact.skill;
        if !granted.is_some_and(|names| names.iter().any(is_granted)) {
            let how = format!("{} is loaded and not granted", fact.skill);
            self.broken(Law::SkillApproved, how);
        }
        fact.ask.is_some()
    }

    fn starts_again(&mut self, action: &Action, at: Millis) {
        let known = self.known.entry(action.id.clone()).or_default();
        let told = std::mem::take(&mut known.may_retry);
        let not_done = std::mem::take(&mut known.finally_not_done);
        let age = at.saturating_sub(known.first_start_at);
        let valid = (0..=i64::from(KEY_VALID_SECONDS) * 1_000).contains(&age);
        let may = match action.repeat {
            _ if action.effect == Effect::Read => true,
            Repeat::Repeatable => true,
            Repeat::Keyed => valid,
            Repeat::Queryable => not_done,
            // Starting it again only looks for what is there.
            Repeat::Reattach | Repeat::Replay => true,
            Repeat::Once => false,
        };
        if !may && !told {
            let how = format!("{} starts again by itself", action.tool);
            self.broken(Law::UncertainIsAsked, how);
        }
    }

    /// Whether a request with these bytes was announced.
    pub fn has_announced(&self, sha256: &str) -> bool {
        self.announced.contains(sha256)
    }

    /// Whether a call that reaches a tool was announced.
    pub fn call_arrives(&mut self, tool: &str, id: &ActionId, attempt: u32) {
        let announced = self.run.action(id).is_some_and(|action| {
            action.stage == ActionStage::Started && action.attempt == attempt
        });
        if !announced {
            let how = format!("{tool} is called and its start is not on disk");
            self.broken(Law::FactBeforeEffect, how);
        }
    }

    /// What has to hold when nothing happens any more.
    pub fn at_rest(&mut self, now: Millis) {
        let next = self.run.next(now);
        let delegates = self.run.open_children().next().is_some();
        let rests = match next {
            Next::Stopped | Next::Wait(WaitsFor::Person) => true,
            Next::Wait(WaitsFor::Actions) => delegates,
            _ => false,
        };
        if !rests {
            self.broken(Law::NeverStuck, format!("at rest, and {next:?} is owed"));
        }
        // What was lost is looked after when the run goes on.
        let still = matches!(self.run.phase, Phase::Paused | Phase::HandedOff { .. });
        let open = |action: &&Action| match action.stage {
            // What runs in a box is found again.
            ActionStage::Started if still && action.repeat == Repeat::Replay => false,
            ActionStage::Started => !delegates,
            ActionStage::Lost => self.run.phase == Phase::Going,
            _ => false,
        };
        if let Some(action) = self.run.actions.iter().find(open) {
            let how = format!("at rest, and {} is {:?}", action.tool, action.stage);
            self.broken(Law::NeverStuck, how);
        }
        let ended = !matches!(self.run.phase, Phase::Going);
        if self.request_open && !ended {
            self.broken(Law::RequestEndsOnce, "at rest, and a request is open");
        }
    }
}
