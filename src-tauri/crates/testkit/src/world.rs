//! A world for the driver: scripted model, fake tools, a clock that tests may pause, seeded
//! chance. What it keeps outlives a driver, as the outside world would.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::run::Run;
use longrein_protocol::agent::{AgentSpec, Criterion};
use longrein_protocol::event::{Payload, RunCreated};
use longrein_protocol::source::CriterionResult;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{BlobHash, HARNESS_VERSION, Millis, ToolSpec};
use longrein_runtime::ports::{
    Asks, Chance, Clock, LiveText, Model, ModelError, NoLiveText, RunContext, Tool, ToolCall,
    ToolError, ToolOutput, Verifier,
};
use longrein_runtime::world::{ToolBox, Unavailable, World};
use serde_json::{Value, json};
use tokio::time::Instant;

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

type Act = dyn Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync;

/// A tool that keeps count of what it did to the world.
pub struct FakeTool {
    spec: ToolSpec,
    act: Box<Act>,
    done: Mutex<Vec<Value>>,
    /// Held calls wait here, before their effect or after it.
    hold: Option<(crate::Gate, bool)>,
}

impl FakeTool {
    /// A tool that takes any object and answers `done`.
    pub fn new(name: &str, effect: Effect, repeat: Repeat) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("Does {name}."),
            schema: json!({"type": "object"}),
            effect,
            repeat,
            timeout_ms: 60_000,
            result_tokens: 4_000,
            path_arguments: Vec::new(),
            reach: longrein_protocol::tool::Reach::default(),
            recovery: longrein_protocol::tool::Recovery::default(),
            untrusted: false,
        };
        let act = Box::new(|_: &ToolCall| Ok(ToolOutput::text("done", "done")));
        Self {
            spec,
            act,
            done: Mutex::default(),
            hold: None,
        }
    }

    /// With another answer.
    #[must_use]
    pub fn answering(
        mut self,
        act: impl Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.act = Box::new(act);
        self
    }

    /// With another schema of its arguments.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.spec.schema = schema;
        self
    }

    /// Whose results are untrusted text.
    #[must_use]
    pub fn untrusted(mut self) -> Self {
        self.spec.untrusted = true;
        self
    }

    /// Held at a gate, before its effect.
    #[must_use]
    pub fn held_before(mut self, gate: &crate::Gate) -> Self {
        self.hold = Some((gate.clone(), true));
        self
    }

    /// Held at a gate, after its effect.
    #[must_use]
    pub fn held_after(mut self, gate: &crate::Gate) -> Self {
        self.hold = Some((gate.clone(), false));
        self
    }

    /// The arguments of every call whose effect happened.
    pub fn done(&self) -> Vec<Value> {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn held(&self, before: bool) {
        if let Some((gate, _)) = self.hold.as_ref().filter(|(_, at)| *at == before) {
            gate.pass().await;
        }
    }
}

#[async_trait]
impl Tool for FakeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        self.held(true).await;
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(call.arguments.clone());
        self.held(false).await;
        (self.act)(&call)
    }
}

/// A world made of stand-ins.
pub struct TestWorld {
    model: Arc<dyn Model>,
    tools: Vec<Arc<FakeTool>>,
    verdicts: Mutex<Vec<bool>>,
    secrets: Vec<String>,
}

impl TestWorld {
    /// With this model, the tools, and `finish`.
    pub fn new(model: Arc<dyn Model>, tools: impl IntoIterator<Item = Arc<FakeTool>>) -> Self {
        let finish = Arc::new(FakeTool::new("finish", Effect::Read, Repeat::Repeatable));
        Self {
            model,
            tools: tools.into_iter().chain([finish]).collect(),
            verdicts: Mutex::default(),
            secrets: Vec::new(),
        }
    }

    /// Whether the criteria hold, check by check; after the last one they hold.
    #[must_use]
    pub fn checking(self, verdicts: impl IntoIterator<Item = bool>) -> Self {
        let mut verdicts: Vec<bool> = verdicts.into_iter().collect();
        verdicts.reverse();
        Self {
            verdicts: Mutex::new(verdicts),
            ..self
        }
    }

    /// That knows these secrets.
    #[must_use]
    pub fn knowing(self, secrets: impl IntoIterator<Item = String>) -> Self {
        Self {
            secrets: secrets.into_iter().collect(),
            ..self
        }
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
        let hash = BlobHash::of(agent.name.as_bytes());
        Payload::RunCreated(RunCreated {
            window_tokens: agent.model.window_tokens,
            agent,
            agent_hash: hash,
            model: "test/scripted".to_owned(),
            harness: HARNESS_VERSION.to_owned(),
            workspace: String::new(),
            price: None,
            tainted: false,
            private: false,
            depth: 0,
            parent: None,
        })
    }
}

#[async_trait]
impl World for TestWorld {
    fn model(&self, _name: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self.model.clone())
    }

    async fn open_tools(&self, _run: &Run) -> Result<ToolBox, Unavailable> {
        let mut tools = ToolBox::default();
        for tool in &self.tools {
            let added = tools.add(tool.clone(), tool.spec.clone());
            added.map_err(|error| Unavailable {
                message: error.to_string(),
                remedy: String::new(),
            })?;
        }
        Ok(tools)
    }

    fn secrets(&self) -> &[String] {
        &self.secrets
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        let holds = self
            .verdicts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or(true);
        Arc::new(FixedVerifier(holds))
    }

    fn live(&self, _run: &Run) -> Arc<dyn LiveText> {
        Arc::new(NoLiveText)
    }
}

struct FixedVerifier(bool);

#[async_trait]
impl Verifier for FixedVerifier {
    async fn verify(
        &self,
        criteria: &[Criterion],
        _context: &RunContext,
        _asks: &dyn Asks,
    ) -> Vec<CriterionResult> {
        let result = |criterion: &Criterion| CriterionResult {
            criterion: criterion.in_words(),
            holds: self.0,
            waits: false,
            evidence: "the test says so".to_owned(),
            difference: if self.0 {
                Vec::new()
            } else {
                vec!["It is not there.".to_owned()]
            },
        };
        criteria.iter().map(result).collect()
    }
}
