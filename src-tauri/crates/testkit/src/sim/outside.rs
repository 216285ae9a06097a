//! What is outside the process and outlives it: effects, files, rules on disk, the provider's
//! count, the person's memory; with it the laws that are held against all of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use longrein_core::run::Phase;
use longrein_protocol::agent::Decision;
use longrein_protocol::event::{Payload, Price};
use longrein_protocol::gate::{Scope, StandingRule};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, BlobHash, Body, Event, Millis, RunId, ToolSpec};
use longrein_runtime::ports::{ToolCall, ToolError, ToolOutput};
use serde_json::Value;
use tokio::sync::Notify;

use super::boxes::Boxed;
use super::catalogue::{KEY_SLACK_SECONDS, KEY_VALID_SECONDS};
use super::laws::{Law, Laws};
use super::scenario::{Act, Deed, FaultWhat, Lands, Manner, Scenario};
use super::skills::Skills;

/// The simulated world beyond the process.
pub(super) struct Outside {
    /// What happens in it.
    pub scenario: Scenario,
    /// Told whenever something became durable.
    pub changed: Notify,
    /// Told when the process is to die.
    pub killed: Notify,
    state: Mutex<State>,
}

/// One effect that happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Landing {
    /// The tool.
    pub tool: String,
    /// The action.
    pub action: ActionId,
    /// The key that came with the call.
    pub key: String,
    /// The arguments without the key.
    pub arguments: Value,
    pub(super) repeat: Repeat,
    effect: Effect,
    /// The action whose program asked for it.
    program: Option<ActionId>,
}

/// What the state is made of. Nothing in here waits.
#[derive(Default)]
pub(super) struct State {
    pub laws: Laws,
    /// The laws of the runs that were delegated to.
    pub children: BTreeMap<RunId, Laws>,
    /// Effects, in the order in which they happened.
    pub landings: Vec<Landing>,
    pending: Vec<(u64, Landing)>,
    /// Calls that run and may still have an effect: key and action.
    running: Vec<(String, ActionId)>,
    keys: HashMap<String, u64>,
    /// The box that commands are given to.
    pub boxed: Boxed,
    asked_status: BTreeMap<String, u32>,
    calls: BTreeMap<String, u32>,
    /// Requests that reached the provider.
    pub requests: u32,
    /// Appends that were asked for.
    pub appends: u32,
    charged: Charged,
    files: BTreeMap<String, u32>,
    pub rules: RulesOnDisk,
    pub skills: Skills,
    /// What the person has done already.
    pub done: BTreeSet<String>,
}

/// What the provider has counted.
#[derive(Default)]
struct Charged {
    tokens_in: u64,
    tokens_out: u64,
    money_micro: u64,
}

/// The rules that stand on disk.
#[derive(Default)]
pub(super) struct RulesOnDisk {
    pub rules: Vec<StandingRule>,
    /// Whether there ever were any.
    pub kept: bool,
    /// Whether they can't be read.
    pub broken: bool,
}

impl RulesOnDisk {
    /// The hash of what stands there.
    pub fn hash(&self) -> BlobHash {
        BlobHash::of(format!("{:?}", self.rules).as_bytes())
    }

    /// Adds rules that reach beyond one run.
    pub fn keep(&mut self, rules: &[StandingRule]) {
        for rule in rules.iter().filter(|rule| rule.scope != Scope::Run) {
            self.kept = true;
            self.rules.retain(|old| old.id != rule.id);
            self.rules.push(rule.clone());
        }
    }
}

impl Outside {
    pub fn new(scenario: Scenario, blind_to: Option<Law>) -> Self {
        let mut state = State {
            skills: Skills::of(&scenario.skills),
            ..State::default()
        };
        state.laws.blind_to = blind_to;
        Self {
            scenario,
            changed: Notify::new(),
            killed: Notify::new(),
            state: Mutex::new(state),
        }
    }

    /// The state. Never held while something is waited for.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves nothing half done in here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Events became durable.
    pub fn committed(&self, events: &[Event], now_ms: u64) {
        let mut state = self.state();
        // While the database is busy, rules may change between a decision and its being durable.
        let prompt = !self
            .scenario
            .faults
            .iter()
            .any(|fault| fault.what == FaultWhat::Busy);
        for event in events {
            if let (Payload::ActionStarted(started), true) = (&event.payload, prompt) {
                state.starts_under_rules(&started.action);
            }
            let root = state.laws.run.id.unwrap_or(event.run);
            let laws = match event.run == root {
                true => &mut state.laws,
                false => state.children.entry(event.run).or_default(),
            };
            laws.committed(event, now_ms);
            let requests = matches!(&event.payload, Payload::ModelRequested(requested) if requested.attempt == 1);
            if requests && event.run == root && self.files_follow_the_log() {
                state.files_are_recorded();
            }
        }
        state.gather();
        drop(state);
        self.changed.notify_one();
    }

    /// Whether files change by what is written alone, and before that ends.
    fn files_follow_the_log(&self) -> bool {
        let late = |manner: &Manner| {
            manner.tool == "write" && !matches!(manner.lands, Lands::AtOnce | Lands::Never)
        };
        let by_others = |act: &Act| matches!(act.does, Deed::ChangeFile(_));
        let Scenario { manners, acts, .. } = &self.scenario;
        !manners.iter().any(late) && !acts.iter().any(by_others)
    }

    /// How the next call of a tool goes.
    pub fn manner(&self, tool: &str) -> Manner {
        let mut state = self.state();
        let calls = state.calls.entry(tool.to_owned()).or_default();
        *calls += 1;
        let number = *calls;
        drop(state);
        let planned = self.scenario.manners.iter();
        let mut planned = planned.filter(|manner| manner.tool == tool && manner.call == number);
        planned.next().cloned().unwrap_or_default()
    }
}

impl State {
    /// The root's laws, and those of the runs that were delegated to.
    pub fn all(&self) -> impl Iterator<Item = &Laws> {
        std::iter::once(&self.laws).chain(self.children.values())
    }

    /// What was found in a run that was delegated to counts as found.
    pub fn gather(&mut self) {
        for child in self.children.values_mut() {
            self.laws.uncertain |= child.uncertain;
            if let Some(violation) = child.violation.take() {
                let how = format!("in a child: {}", violation.how);
                self.laws.broken(violation.law, how);
            }
        }
    }

    /// A process begins: the time until its first events is nobody's silence.
    pub fn process_begins(&mut self, now_ms: u64) {
        self.laws.process_begins(now_ms);
        let children = self.children.values_mut();
        children.for_each(|laws| laws.process_begins(now_ms));
    }

    /// Nothing happens any more. A run that stands still may leave those that it delegated to
    /// where they are.
    pub fn at_rest(&mut self, now: Millis) {
        self.laws.at_rest(now);
        if !matches!(self.laws.run.phase, Phase::Paused | Phase::HandedOff { .. }) {
            self.children
                .values_mut()
                .for_each(|laws| laws.at_rest(now));
        }
        self.gather();
    }

    /// A request reaches the provider: holds the laws against it, and counts it.
    pub fn request_arrives(&mut self, sha256: &str) -> u32 {
        if !self.all().any(|laws| laws.has_announced(sha256)) {
            let how = "a request arrives that is not on disk";
            self.laws.broken(Law::FactBeforeEffect, how);
        }
        self.requests += 1;
        self.requests
    }

    /// Every check is made again immediately before a start: so what stands on disk at this moment
    /// does not forbid it.
    fn starts_under_rules(&mut self, action: &ActionId) {
        let action = self.laws_of(action).run.action(action);
        let tool = action.map(|action| action.tool.clone()).unwrap_or_default();
        let forbids = |rule: &StandingRule| {
            let rule = &rule.rule;
            rule.decision == Decision::Deny && rule.tool.as_deref() == Some(&tool)
        };
        if self.rules.broken || self.rules.rules.iter().any(forbids) {
            let how = format!("{tool} starts against what stands on disk");
            self.laws.broken(Law::Approved, how);
        }
    }

    fn laws_of(&mut self, action: &ActionId) -> &mut Laws {
        let mut children = self.children.values_mut();
        match children.find(|laws| laws.run.action(action).is_some()) {
            Some(laws) => laws,
            None => &mut self.laws,
        }
    }

    /// A call reaches a tool: holds the laws against it, and gives what its effect will be.
    pub fn arrives(&mut self, spec: &ToolSpec, call: &ToolCall) -> Landing {
        let action = self.laws_of(&call.action).run.action(&call.action);
        let action = action.cloned();
        let mut arguments = call.arguments.clone();
        if let (Some(name), Some(fields)) = (&spec.recovery.key_argument, arguments.as_object_mut())
        {
            fields.remove(name);
        }
        // The check of the criteria and the question to a status tool are no actions.
        let is_action = action
            .as_ref()
            .is_some_and(|action| action.tool == spec.name);
        if is_action || spec.effect != Effect::Read {
            self.laws_of(&call.action)
                .call_arrives(&spec.name, &call.action, call.attempt);
            self.gather();
        }
        let within = action.as_ref().and_then(|action| action.within.clone());
        let effective = action
            .filter(|_| is_action)
            .and_then(|action| match action.arguments {
                Body::Text(text) => serde_json::from_str::<Value>(&text).ok(),
                Body::Blob { .. } => None,
            });
        if let Some(effective) = effective.filter(|effective| *effective != arguments) {
            let how = format!("{} is given {arguments} and not {effective}", spec.name);
            self.laws.broken(Law::EffectiveArguments, how);
        }
        Landing {
            tool: spec.name.clone(),
            action: call.action.clone(),
            key: call.key.clone(),
            arguments,
            repeat: spec.repeat,
            effect: spec.effect,
            program: within.map(|within| within.action),
        }
    }

    /// An effect happens. What only reads has none.
    pub fn land(&mut self, landing: Landing, now_ms: u64) {
        if landing.effect == Effect::Read {
            return;
        }
        if landing.repeat == Repeat::Keyed {
            let valid = u64::from(KEY_VALID_SECONDS + KEY_SLACK_SECONDS) * 1_000;
            let known = self.keys.get(&landing.key);
            if known.is_some_and(|first| now_ms.saturating_sub(*first) <= valid) {
                return;
            }
            self.keys.insert(landing.key.clone(), now_ms);
        }
        if let Some(path) = landing.arguments.get("path").and_then(Value::as_str) {
            self.change_file(path);
        }
        let law = match landing.repeat {
            Repeat::Once | Repeat::Reattach => Some(Law::OnceAtMostOnce),
            Repeat::Keyed => Some(Law::KeyedOncePerKey),
            Repeat::Queryable => Some(Law::QueryableAtMostOnce),
            Repeat::Repeatable | Repeat::Replay => None,
        };
        // A program of this world asks for nothing twice, unless it is begun anew.
        let asked_again = |one: &Landing| {
            landing.program.is_some()
                && one.program == landing.program
                && one.arguments == landing.arguments
        };
        let same = |one: &Landing| {
            one.tool == landing.tool && (one.action == landing.action || asked_again(one))
        };
        let before = self.landings.iter().find(|one| same(one));
        match (law, before) {
            (Some(Law::KeyedOncePerKey), Some(before)) if before.key != landing.key => {
                let how = format!("{} happened with two keys", landing.tool);
                self.laws.broken(Law::KeyedOncePerKey, how);
            }
            (Some(law), Some(_)) => {
                self.laws
                    .broken(law, format!("{} happened twice", landing.tool));
            }
            _ => {}
        }
        self.landings.push(landing);
    }

    /// An effect will happen at `due_ms`, whatever becomes of the process.
    pub fn land_later(&mut self, landing: Landing, due_ms: u64) {
        self.pending.push((due_ms, landing));
    }

    /// Lets happen what is due.
    pub fn land_due(&mut self, now_ms: u64) {
        let pending = std::mem::take(&mut self.pending);
        let (due, later): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(at, _)| *at <= now_ms);
        self.pending = later;
        for (at, landing) in due {
            self.land(landing, at);
        }
    }

    /// Whether the effect of an action happened, or may yet: the person waits to find out.
    pub fn has_landed(&self, action: &ActionId) -> bool {
        let landings = self.landings.iter();
        let pending = self.pending.iter().map(|(_, landing)| landing);
        let landed = landings
            .chain(pending)
            .any(|landing| landing.action == *action);
        landed || self.running.iter().any(|(_, running)| running == action)
    }

    /// A call begins that may still have an effect.
    pub fn runs(&mut self, call: &ToolCall) {
        self.running.push((call.key.clone(), call.action.clone()));
    }

    /// Such a call ended.
    pub fn ran(&mut self, key: &str) {
        let place = self.running.iter().position(|(running, _)| running == key);
        place.map(|place| self.running.swap_remove(place));
    }

    /// What the status tool says of a call: `done`, `not_done`, or that it can't say.
    pub fn status(&mut self, key: &str, unknown_first: u32) -> &'static str {
        let asked = self.asked_status.entry(key.to_owned()).or_default();
        *asked += 1;
        let landed = self.landings.iter().any(|landing| landing.key == key);
        let pending = self.pending.iter().any(|(_, landing)| landing.key == key)
            || self.running.iter().any(|(running, _)| running == key);
        match (*asked <= unknown_first, landed, pending) {
            (true, _, _) | (false, false, true) => "queued",
            (false, true, _) => "done",
            (false, false, false) => "not_done",
        }
    }

    /// The provider counts a request, and the limits are held against its count.
    pub fn charge(&mut self, input: u32, output: u32, price: Option<Price>) {
        let charged = &mut self.charged;
        charged.tokens_in += u64::from(input);
        charged.tokens_out += u64::from(output);
        charged.money_micro += price.map_or(0, |price| price.of(input, 0, output));
        let limits = self.laws.run.limits;
        let of = [
            (
                "input tokens",
                charged.tokens_in,
                limits.tokens_in.map(u64::from),
            ),
            (
                "output tokens",
                charged.tokens_out,
                limits.tokens_out.map(u64::from),
            ),
            ("money", charged.money_micro, limits.money_micro),
        ];
        for (what, used, limit) in of {
            if limit.is_some_and(|limit| used > limit) {
                let how = format!("the provider has counted {used} {what} of {limit:?}");
                self.laws.broken(Law::Budget, how);
            }
        }
    }

    /// A file changes.
    pub fn change_file(&mut self, path: &str) {
        *self.files.entry(path.to_owned()).or_default() += 1;
    }

    /// A file is laid down, always the same.
    pub fn lay_file(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_insert(1);
    }

    /// A call is given a skill, whose file is laid into the workspace.
    pub fn gives_skill(&mut self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let given = self.skills.give(call)?;
        let (path, version) = given.file;
        self.files.insert(path, version);
        if !given.approved {
            let how = "a skill is given that nobody has approved as it is";
            self.laws.broken(Law::SkillApproved, how);
        }
        Ok(given.output)
    }

    /// Makes the files what they are said to have been.
    pub fn lay_back(&mut self, words: &str) {
        let files = words.lines().filter_map(|line| line.rsplit_once(' '));
        let files =
            files.filter_map(|(path, version)| Some((path.to_owned(), version.parse().ok()?)));
        self.files = files.collect();
    }

    /// Whether a file is there.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Every file with its version.
    pub fn files_in_words(&self) -> String {
        let files = self.files.iter();
        files
            .map(|(path, version)| format!("{path} {version}\n"))
            .collect()
    }

    /// What is there is recorded before a request tells the model what was done. Where others work
    /// in the same folder nobody can say what is.
    fn files_are_recorded(&mut self) {
        let run = &self.laws.run;
        let recorded = run.files.as_ref().and_then(|files| files.parts.last());
        let is_recorded = match recorded {
            Some(Body::Text(text)) => *text == self.files_in_words(),
            Some(Body::Blob { .. }) => true,
            None => self.files.is_empty(),
        };
        if run.children.is_empty() && !is_recorded {
            let how = format!("{recorded:?} is recorded of {:?}", self.files);
            self.laws.broken(Law::FilesRecorded, how);
        }
    }

    /// The hash of a file's content; `None` where there is none.
    pub fn file(&self, path: &str) -> Option<BlobHash> {
        let version = self.files.get(path)?;
        Some(BlobHash::of(format!("{path} {version}").as_bytes()))
    }
}
