//! A world for the driver: scripted model, fake tools, a clock that tests may pause, seeded
//! chance. What it keeps outlives a driver, as the outside world would.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::run::Run;
use longrein_keys::{Masker, SecretText};
use longrein_models::{Pace, Paced};
use longrein_protocol::agent::{AgentSpec, Criterion, PolicyRule};
use longrein_protocol::event::{Payload, Price, RunCreated};
use longrein_protocol::gate::{PathFact, Scope, SecretFact, StandingRule};
use longrein_protocol::source::CriterionResult;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{BlobHash, HARNESS_VERSION, Millis, ToolSpec};
use longrein_runtime::ports::{
    Asks, Chance, Clock, LiveText, Model, ModelError, NoLiveText, RunContext, Verifier,
};
use longrein_runtime::world::{OnDisk, ToolBox, Unavailable, World};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gate::Gate;
use crate::tool::FakeTool;

/// Where simulated time begins: 2026-01-01.
pub(crate) const EPOCH_MS: Millis = 1_767_225_600_000;

/// Tokio's clock, which a test may pause: then waiting takes no time.
pub struct TestClock(Instant);

impl Default for TestClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Millis {
        EPOCH_MS + self.monotonic_ms() as Millis
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Chance from a seed (SplitMix64).
pub struct SeededChance(Mutex<u64>);

impl SeededChance {
    /// The same seed gives the same chance.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Chance for SeededChance {
    fn random(&self) -> u128 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        u128::from(Self::next(&mut state)) << 64 | u128::from(Self::next(&mut state))
    }
}

/// A world made of stand-ins.
pub struct TestWorld {
    model: Arc<dyn Model>,
    tools: Vec<Arc<FakeTool>>,
    verdicts: Mutex<Vec<bool>>,
    check_gate: Option<Gate>,
    masker: Masker,
    pace: Option<Pace>,
    screen: Arc<dyn LiveText>,
    files: Mutex<BTreeMap<String, BlobHash>>,
    rules: Mutex<RulesOnDisk>,
}

/// The rules that stand on disk.
#[derive(Default)]
enum RulesOnDisk {
    #[default]
    None,
    These(Vec<StandingRule>),
    Unreadable,
}

impl TestWorld {
    /// With this model, the tools, `finish` and `ask_person`.
    pub fn new(model: Arc<dyn Model>, tools: impl IntoIterator<Item = Arc<FakeTool>>) -> Self {
        let own = ["finish", "ask_person"]
            .map(|name| Arc::new(FakeTool::new(name, Effect::Read, Repeat::Repeatable)));
        Self {
            model,
            tools: tools.into_iter().chain(own).collect(),
            verdicts: Mutex::default(),
            check_gate: None,
            masker: Masker::default(),
            pace: None,
            screen: Arc::new(NoLiveText),
            files: Mutex::default(),
            rules: Mutex::default(),
        }
    }

    /// Whether the criteria hold, check by check; after the last one they hold. A judge is asked,
    /// a tool is called and a person is waited for, whatever is said here.
    #[must_use]
    pub fn checking(self, verdicts: impl IntoIterator<Item = bool>) -> Self {
        let mut verdicts: Vec<bool> = verdicts.into_iter().collect();
        verdicts.reverse();
        Self {
            verdicts: Mutex::new(verdicts),
            ..self
        }
    }

    /// Whose checks wait at a gate.
    #[must_use]
    pub fn checking_behind(self, gate: &Gate) -> Self {
        Self {
            check_gate: Some(gate.clone()),
            ..self
        }
    }

    /// That knows these secrets.
    #[must_use]
    pub fn knowing(self, secrets: impl IntoIterator<Item = String>) -> Self {
        Self {
            masker: Masker::new(secrets.into_iter().map(SecretText::exact)),
            ..self
        }
    }

    /// Whose provisional text is shown here.
    #[must_use]
    pub fn showing(self, screen: Arc<dyn LiveText>) -> Self {
        Self { screen, ..self }
    }

    /// Where all runs and children keep the pace of one key.
    #[must_use]
    pub fn paced(self, pace: Pace) -> Self {
        Self {
            pace: Some(pace),
            ..self
        }
    }

    /// Somebody writes a file of the workspace.
    pub fn write_file(&self, path: &str, content: &str) {
        let content = BlobHash::of(content.as_bytes());
        locked(&self.files).insert(path.to_owned(), content);
    }

    /// Somebody changes the rules on disk; they hold everywhere.
    pub fn write_rules(&self, rules: impl IntoIterator<Item = PolicyRule>) {
        let standing = rules
            .into_iter()
            .enumerate()
            .map(|(number, rule)| StandingRule {
                id: format!("rule {number}"),
                scope: Scope::Everywhere,
                rule,
                tainted: false,
            });
        *locked(&self.rules) = RulesOnDisk::These(standing.collect());
    }

    /// Somebody makes the rules on disk unreadable.
    pub fn break_rules(&self) {
        *locked(&self.rules) = RulesOnDisk::Unreadable;
    }

    /// An agent that is granted every tool of this world.
    pub fn agent(&self) -> AgentSpec {
        let allow: Vec<&str> = self
            .tools
            .iter()
            .map(|tool| tool.spec.name.as_str())
            .collect();
        serde_json::from_value(json!({"name": "test", "tools": {"allow": allow}}))
            .expect("the fields above are those of an agent")
    }

    /// The first event of a run of `agent`.
    pub fn created(agent: AgentSpec) -> Payload {
        Self::created_at_price(agent, None)
    }

    /// The first event of a run of `agent` whose model's tokens cost so much.
    pub fn created_at_price(agent: AgentSpec, price: Option<Price>) -> Payload {
        let hash = BlobHash::of(agent.name.as_bytes());
        Payload::RunCreated(RunCreated {
            window_tokens: agent.model.window_tokens,
            agent,
            agent_hash: hash,
            model: "test/scripted".to_owned(),
            harness: HARNESS_VERSION.to_owned(),
            workspace: String::new(),
            project: None,
            price,
            takes: Default::default(),
            tainted: false,
            private: false,
            depth: 0,
            parent: None,
            root: None,
            copies: None,
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves nothing half done in here.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable(message: String) -> Unavailable {
    Unavailable {
        message,
        remedy: "Mend it.".to_owned(),
    }
}

#[async_trait]
impl World for TestWorld {
    fn model(&self, _name: &str) -> Result<Arc<dyn Model>, ModelError> {
        let model = self.model.clone();
        Ok(match &self.pace {
            Some(pace) => Arc::new(Paced::new(model, pace.clone())),
            None => model,
        })
    }

    async fn open_tools(&self, _run: &Run) -> Result<ToolBox, Unavailable> {
        let mut tools = ToolBox::default();
        for tool in &self.tools {
            let added = tools.add(tool.clone(), tool.spec.clone());
            added.map_err(|error| unavailable(error.to_string()))?;
        }
        Ok(tools)
    }

    async fn look(
        &self,
        _run: &Run,
        spec: &ToolSpec,
        arguments: &Value,
    ) -> (Vec<PathFact>, Vec<SecretFact>) {
        let files = locked(&self.files);
        let path = |name: &String| {
            let path = arguments.get(name)?.as_str()?;
            Some(PathFact {
                argument: name.clone(),
                real: (!path.contains("..")).then(|| path.to_owned()),
                content: files.get(path).copied(),
            })
        };
        let paths = spec.path_arguments.iter().filter_map(path).collect();
        (paths, Vec::new())
    }

    async fn policy(&self, _run: &Run) -> Result<Option<OnDisk>, Unavailable> {
        match &*locked(&self.rules) {
            RulesOnDisk::None => Ok(None),
            RulesOnDisk::These(rules) => Ok(Some(OnDisk {
                hash: BlobHash::of(format!("{rules:?}").as_bytes()),
                rules: rules.clone(),
            })),
            RulesOnDisk::Unreadable => {
                Err(unavailable("The rules on disk can't be read.".to_owned()))
            }
        }
    }

    fn masker(&self) -> Masker {
        self.masker.clone()
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        Arc::new(FixedVerifier {
            holds: locked(&self.verdicts).pop().unwrap_or(true),
            gate: self.check_gate.clone(),
        })
    }

    fn live(&self, _run: &Run) -> Arc<dyn LiveText> {
        self.screen.clone()
    }
}

struct FixedVerifier {
    holds: bool,
    gate: Option<Gate>,
}

#[async_trait]
impl Verifier for FixedVerifier {
    async fn verify(
        &self,
        criteria: &[Criterion],
        _context: &RunContext,
        asks: &dyn Asks,
    ) -> Vec<CriterionResult> {
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
        let mut results = Vec::with_capacity(criteria.len());
        for criterion in criteria {
            let said = match criterion {
                Criterion::Judge(judge) => Some(asks.judge(None, "Judge.", &judge.judge).await),
                Criterion::Tool(tool) => Some(asks.tool(&tool.tool, json!(tool.args)).await),
                _ => None,
            };
            let waits = matches!(criterion, Criterion::Person(_));
            let (holds, evidence) = match said {
                None => (self.holds && !waits, "the test says so".to_owned()),
                Some(Ok(text)) => (text != "no", text),
                Some(Err(error)) => (false, error.message),
            };
            let off = (!holds && !waits).then(|| "It is not there.".to_owned());
            results.push(CriterionResult {
                criterion: criterion.in_words(),
                holds,
                waits,
                evidence,
                difference: off.into_iter().collect(),
            });
        }
        results
    }
}
