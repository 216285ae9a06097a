//! The world that a step is measured in: a model that asks for one tick after the other, and a
//! tool that ticks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use longrein_core::run::Run;
use longrein_protocol::agent::{AgentSpec, Criterion};
use longrein_protocol::event::{Payload, RunCreated};
use longrein_protocol::source::CriterionResult;
use longrein_protocol::{BlobHash, Effect, HARNESS_VERSION, Millis, Repeat, ToolSpec};
use longrein_runtime::ports::{
    Asks, Clock, LiveText, Model, ModelError, NoLiveText, RunContext, Tool, ToolCall, ToolError,
    ToolOutput, Verifier,
};
use longrein_runtime::world::{ToolBox, Unavailable, World};
use longrein_testkit::{ScriptedModel, call, say};
use serde_json::json;

const MODEL: &str = "bench/scripted";
const TICK: &str = "tick";
const WINDOW_TOKENS: u32 = 32_768;
/// More than any bench takes, so that no budget ends it.
const STEPS_BUDGET: u32 = 2_000_000;
const TICK_LIMIT_MS: u32 = 60_000;
const RESULT_TOKENS: u32 = 1_000;

/// A world of one model and one tool.
pub struct BenchWorld {
    model: Arc<dyn Model>,
    tick: Arc<Tick>,
}

impl BenchWorld {
    /// A world whose model asks for `steps` ticks and then is done.
    pub fn new(steps: u32) -> Self {
        let answers = ScriptedModel::answering(move |request| {
            if request.number < steps {
                return call(TICK, json!({"number": request.number}));
            }
            say("Done.")
        });
        Self {
            model: Arc::new(answers.keeping(0)),
            tick: Arc::new(Tick::new()),
        }
    }

    /// The first event of the run.
    pub fn created() -> Payload {
        let mut agent = AgentSpec {
            name: "bench".to_owned(),
            description: String::new(),
            instructions: "Tick until you are told to stop.".to_owned(),
            model: Default::default(),
            tools: Default::default(),
            policy: Vec::new(),
            skills: Default::default(),
            sandbox: Default::default(),
            agents: Default::default(),
            library: Default::default(),
            context: Default::default(),
            budget: Default::default(),
            stages: Vec::new(),
            done_when: Vec::new(),
            finding: None,
        };
        agent.model.use_ = vec![MODEL.to_owned()];
        agent.model.window_tokens = WINDOW_TOKENS;
        agent.tools.allow = vec![TICK.to_owned()];
        agent.budget.steps = STEPS_BUDGET;
        agent.budget.tokens_in = None;
        agent.budget.working_minutes = None;
        agent.budget.idle_steps = None;
        // Its model does one thing; what summaries cost is told by `bench context`.
        agent.context.summaries = false;
        Payload::RunCreated(RunCreated {
            agent_hash: BlobHash::of(agent.name.as_bytes()),
            agent,
            model: MODEL.to_owned(),
            window_tokens: WINDOW_TOKENS,
            harness: HARNESS_VERSION.to_owned(),
            workspace: String::new(),
            project: None,
            price: None,
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

#[async_trait]
impl World for BenchWorld {
    fn model(&self, _name: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self.model.clone())
    }

    async fn open_tools(&self, _run: &Run) -> Result<ToolBox, Unavailable> {
        let mut tools = ToolBox::default();
        let added = tools.add(self.tick.clone(), self.tick.spec.clone());
        added.map_err(|error| Unavailable {
            message: error.to_string(),
            remedy: String::new(),
        })?;
        Ok(tools)
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        Arc::new(NothingToVerify)
    }

    fn live(&self, _run: &Run) -> Arc<dyn LiveText> {
        Arc::new(NoLiveText)
    }
}

struct NothingToVerify;

#[async_trait]
impl Verifier for NothingToVerify {
    async fn verify(
        &self,
        _criteria: &[Criterion],
        _context: &RunContext,
        _asks: &dyn Asks,
    ) -> Vec<CriterionResult> {
        Vec::new()
    }
}

/// Says which tick it was.
struct Tick {
    spec: ToolSpec,
}

impl Tick {
    fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": false,
        });
        let spec = ToolSpec {
            name: TICK.to_owned(),
            description: "Ticks once.".to_owned(),
            schema,
            effect: Effect::Workspace,
            repeat: Repeat::Repeatable,
            timeout_ms: TICK_LIMIT_MS,
            result_tokens: RESULT_TOKENS,
            path_arguments: Vec::new(),
            reach: longrein_protocol::tool::Reach::default(),
            recovery: longrein_protocol::tool::Recovery::default(),
            untrusted: false,
        };
        Self { spec }
    }
}

#[async_trait]
impl Tool for Tick {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(
            format!("Tick {}.", call.arguments["number"]),
            "ticked",
        ))
    }
}

/// The machine's clock.
pub struct BenchClock(Instant);

impl Default for BenchClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

#[async_trait]
impl Clock for BenchClock {
    fn now(&self) -> Millis {
        longrein_app::now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
