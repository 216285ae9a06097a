//! The world of the research: a model that measures, tools that bring what the workload says, and
//! the built-in tools that every agent has.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::policy::ALWAYS_GRANTED;
use longrein_core::run::Run;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{Payload, RunCreated};
use longrein_protocol::source::SourceMeta;
use longrein_protocol::tool::{Effect, Reach, Recovery, Repeat};
use longrein_protocol::wish::Wish;
use longrein_protocol::{BlobHash, HARNESS_VERSION, RunId, ToolSpec};
use longrein_runtime::past::RECALL;
use longrein_runtime::ports::{
    Captured, LiveText, Model, ModelError, NoLiveText, Part, Tool, ToolCall, ToolError, ToolOutput,
    Verifier,
};
use longrein_runtime::world::{ToolBox, Unavailable, World};
use longrein_store::Store;
use longrein_tools::{HarnessVerifier, ToolsConfig, builtin_tools};
use serde_json::json;

use super::meter::Meter;
use super::workload::{FactKind, Workload};

const MODEL: &str = "bench/research";
/// What the research's own tools bring.
const TOOLS: [&str; 5] = ["search", "page", "table", "note", "post"];
const LIMIT_MS: u32 = 60_000;
/// More than any result has: what is shown of one is the agent's affair.
const RESULT_TOKENS: u32 = 1_000_000;

/// The world of one research.
pub struct ResearchWorld {
    model: Arc<Meter>,
    tools: Vec<Arc<dyn Tool>>,
}

impl ResearchWorld {
    /// A world in which `run` of this store does the research, and may look back where it `recalls`.
    pub fn new(workload: Arc<Workload>, store: &Store, run: RunId, recalls: bool) -> Self {
        let own = TOOLS.iter().map(|name| {
            let tool: Arc<dyn Tool> = Arc::new(Bringing {
                spec: spec(name),
                workload: workload.clone(),
                store: store.clone(),
                run,
            });
            tool
        });
        let built_in = builtin_tools(ToolsConfig::default()).into_iter();
        let has = |name: &str| ALWAYS_GRANTED.contains(&name) && (recalls || name != RECALL);
        let granted = built_in.filter(|tool| has(&tool.spec().name));
        let tools = own.chain(granted).collect();
        Self {
            model: Arc::new(Meter::new(workload)),
            tools,
        }
    }

    /// The model, with what it was sent.
    pub fn model(&self) -> &Meter {
        &self.model
    }

    /// The first event of the run.
    pub fn created(agent: AgentSpec) -> Payload {
        Payload::RunCreated(RunCreated {
            agent_hash: BlobHash::of(agent.name.as_bytes()),
            window_tokens: agent.model.window_tokens,
            agent,
            model: MODEL.to_owned(),
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

    /// The agent of the research, whose limits end nothing.
    ///
    /// # Errors
    /// Never: what it is made of is an agent.
    pub fn agent(window_tokens: u32) -> Result<AgentSpec, serde_json::Error> {
        serde_json::from_value(json!({
            "name": "bench",
            "instructions": "Research until you are told to stop.",
            "model": {"use": [MODEL], "window_tokens": window_tokens, "max_output_tokens": 1_024},
            "tools": {"allow": TOOLS},
            "budget": {
                "steps": u32::MAX, "tokens_in": null, "tokens_out": null,
                "working_minutes": null, "idle_steps": null,
            },
        }))
    }
}

fn spec(name: &str) -> ToolSpec {
    let brings = name != "post";
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does one {name} of the research."),
        schema: json!({
            "type": "object",
            "properties": {"step": {"type": "integer"}},
            "required": ["step"],
            "additionalProperties": false,
        }),
        effect: if brings {
            Effect::Read
        } else {
            Effect::Workspace
        },
        repeat: Repeat::Repeatable,
        timeout_ms: LIMIT_MS,
        result_tokens: RESULT_TOKENS,
        path_arguments: Vec::new(),
        reach: Reach::default(),
        recovery: Recovery::default(),
        untrusted: brings,
    }
}

#[async_trait]
impl World for ResearchWorld {
    fn model(&self, _name: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(self.model.clone())
    }

    async fn open_tools(&self, _run: &Run) -> Result<ToolBox, Unavailable> {
        let mut tools = ToolBox::default();
        for tool in &self.tools {
            let added = tools.add(tool.clone(), tool.spec().clone());
            added.map_err(|error| Unavailable {
                message: error.to_string(),
                remedy: String::new(),
            })?;
        }
        Ok(tools)
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        Arc::new(HarnessVerifier)
    }

    fn live(&self, _run: &Run) -> Arc<dyn LiveText> {
        Arc::new(NoLiveText)
    }
}

/// Brings what the workload says.
struct Bringing {
    spec: ToolSpec,
    workload: Arc<Workload>,
    store: Store,
    run: RunId,
}

#[async_trait]
impl Tool for Bringing {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let step = call.arguments["step"].as_u64().unwrap_or(0) as u32;
        let fact = self.workload.fact(step);
        if let Some(fact) = fact.filter(|fact| fact.kind == FactKind::Constraint) {
            // The person says it meanwhile; it enters when the step is over.
            let text = format!("From here on, for {}: {}.", fact.topic, fact.value);
            let wish = Wish::Say { text };
            let said = self.store.post_wish(self.run, wish, longrein_app::now());
            said.await
                .map_err(|error| ToolError::uncertain(error.to_string()))?;
        }
        Ok(match (self.spec.name.as_str(), fact) {
            ("search", _) => ToolOutput::text(self.workload.search(step), "found"),
            ("table", _) => ToolOutput::text(self.workload.table(step), "read"),
            ("page", Some(fact)) if fact.kind == FactKind::Source => {
                self.passage(step, &format!("{} {}", fact.topic, fact.value))
            }
            ("page", _) => ToolOutput::text(self.workload.page(step), "read"),
            ("post", Some(fact)) => ToolOutput {
                receipt: Some(fact.value.clone()),
                ..ToolOutput::text(
                    format!("Posted {}; the receipt is {}.", fact.topic, fact.value),
                    "posted",
                )
            },
            _ => ToolOutput::text(self.workload.note(step), "noted"),
        })
    }
}

impl Bringing {
    fn passage(&self, step: u32, title: &str) -> ToolOutput {
        let page = self.workload.page(step);
        let end = Workload::passage(&page) as u32;
        let captured = Captured {
            meta: SourceMeta {
                title: title.to_owned(),
                url: Some(format!("https://source.example/{step}")),
                media_type: "text/markdown".to_owned(),
                ..SourceMeta::default()
            },
            bytes: page.as_bytes().into(),
            text: page.into(),
            range: longrein_protocol::source::TextRange {
                start: 0,
                end,
                page: None,
            },
        };
        ToolOutput {
            parts: vec![Part::Passage(Box::new(captured))],
            outcome: "read".to_owned(),
            ..ToolOutput::default()
        }
    }
}
