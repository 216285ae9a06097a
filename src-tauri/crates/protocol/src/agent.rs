//! The agent specification: what an `*.agent.toml` says, with its defaults filled in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::Price;
use crate::media::Takes;
use crate::tool::{Effect, Recovery, Repeat};

pub use crate::criterion::*;
pub use crate::sandbox::*;
pub use crate::stage::*;

/// A saved configuration: model, instructions, tools, policy, budgets and completion criteria.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// Lower-case letters, digits and hyphens.
    pub name: String,
    /// What it is for, in a sentence.
    #[serde(default)]
    pub description: String,
    /// What the model is told, after the harness's own rules.
    #[serde(default)]
    pub instructions: String,
    /// Which model, and its limits.
    #[serde(default)]
    pub model: ModelChoice,
    /// Which tools, and what they may do.
    #[serde(default)]
    // Apart, so that an event that holds an agent is not much larger than all others.
    pub tools: Box<ToolGrants>,
    /// Rules that decide actions; deny beats ask beats allow.
    #[serde(default)]
    pub policy: Vec<PolicyRule>,
    /// Which skills it may load.
    #[serde(default)]
    pub skills: SkillChoice,
    /// The saved agents that it may give work to.
    #[serde(default, skip_serializing_if = "AgentChoice::is_none")]
    // Apart, so that an event that holds an agent is not much larger than all others.
    pub agents: Box<AgentChoice>,
    /// The person's documents.
    #[serde(default)]
    pub library: Library,
    /// The box that commands work in.
    #[serde(default, skip_serializing_if = "SandboxSettings::is_default")]
    pub sandbox: Box<SandboxSettings>,
    /// Limits of the context.
    #[serde(default)]
    // Apart, so that an event that holds an agent is not much larger than all others.
    pub context: Box<ContextLimits>,
    /// Hard limits.
    #[serde(default)]
    // Apart, so that an event that holds an agent is not much larger than all others.
    pub budget: Box<Budget>,
    /// The parts of its work, in their order. Without stages it finds its own way.
    #[serde(default, rename = "stage", skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// When the run is done. Without criteria the outcome is `unverified`.
    #[serde(default)]
    pub done_when: Vec<Criterion>,
    /// Of a helper: the JSON Schema of what it has to report beside its words. No file says it; it
    /// is what the one who delegates asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub finding: Option<Box<serde_json::Value>>,
}

/// Which model to use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelChoice {
    /// `provider/model`, in order: the next takes over when one is down.
    #[serde(rename = "use")]
    pub use_: Vec<String>,
    /// The most tokens that one response may have.
    pub max_output_tokens: u32,
    /// The model's window in tokens.
    pub window_tokens: u32,
    /// Sampling temperature, for providers that take one.
    pub temperature: Option<f64>,
    /// How hard the model thinks before it answers. Without it the provider decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
}

/// How hard a model thinks before it answers. Each provider's own setting that comes nearest is
/// used; a model that can't do less or more does what it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// For most tasks.
    Medium,
    /// As long as it takes.
    High,
}

impl Default for ModelChoice {
    fn default() -> Self {
        Self {
            use_: Vec::new(),
            max_output_tokens: 8_192,
            window_tokens: 32_768,
            temperature: None,
            thinking: None,
        }
    }
}

/// Which tools the agent has. Every key but `allow` is a tool's name, so none is unknown.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolGrants {
    /// Names, `server.*`, or `files` for the five file tools.
    pub allow: Vec<String>,
    /// Tools of servers that stand in every request, however many their server has: names or
    /// `server.*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preload: Vec<String>,
    /// Of a helper: the grants of those above it, each of which has to cover a tool as well. No file
    /// says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub within: Vec<Vec<String>>,
    /// What the person says of a tool: `[tools."server.tool"]`.
    #[serde(flatten)]
    pub settings: BTreeMap<String, ToolSettings>,
}

/// What the person says of one tool; each overrides what the tool says of itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// What it may do to the world.
    pub effect: Option<Effect>,
    /// Whether it may be started again when its outcome is unknown.
    pub repeat: Option<Repeat>,
    /// How much of a result the model is shown.
    pub result_tokens: Option<u32>,
    /// How long one call may take, in seconds.
    pub timeout_seconds: Option<u32>,
    /// How an unknown outcome is found out, and what takes it back.
    pub recovery: Option<Recovery>,
    /// Names of the arguments that are paths beneath the workspace.
    pub paths: Option<Vec<String>>,
    /// Names of the arguments that are addresses.
    pub urls: Option<Vec<String>>,
    /// Names of the arguments that are shell commands.
    pub commands: Option<Vec<String>>,
    /// Whether a call starts, asks or is refused. In an agent that was read from a file it has become
    /// a rule of the policy.
    pub decision: Option<Decision>,
    /// Whether what its server says of its effect is believed, whatever is said of the server.
    pub trusted: Option<bool>,
}

/// What a rule or a default says of an action.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It starts.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not start; the model is told.
    Deny,
}

/// One rule. Every condition that it names has to hold; a rule without a condition speaks of
/// everything.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// A tool's name, or `server.*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool may do to the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Arguments by name, or by JSON pointer when the key begins with `/`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
    /// A path beneath the workspace; `*` stands for a name, `**` for any folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A host, or `*.example.org` for a domain with all its hosts; `:port` may follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The first words of a simple command: `git log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it decides.
    pub decision: Decision,
}

/// Which skills the agent may load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillChoice {
    /// Names; `*` is every skill that ships or that the person approved. An empty list: none.
    #[serde(rename = "use")]
    pub use_: Vec<String>,
}

impl SkillChoice {
    /// What stands for every skill.
    pub const ALL: &str = "*";

    /// Whether the agent may load the skill of this name.
    pub fn covers(&self, skill: &str) -> bool {
        self.use_.iter().any(|name| name == Self::ALL) || self.names(skill)
    }

    /// Whether the agent's file names this very skill.
    pub fn names(&self, skill: &str) -> bool {
        self.use_.iter().any(|name| name == skill)
    }
}

impl Default for SkillChoice {
    fn default() -> Self {
        Self {
            use_: vec![Self::ALL.to_owned()],
        }
    }
}

/// Which saved agents the agent may give work to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentChoice {
    /// Names of agents, as `delegate` takes them.
    #[serde(rename = "use")]
    pub use_: Vec<String>,
    /// What they were when the run began. No file says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub saved: Vec<SavedAgent>,
}

impl AgentChoice {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.use_.is_empty()
    }

    /// The agent of this name.
    pub fn named(&self, name: &str) -> Option<&SavedAgent> {
        self.saved.iter().find(|saved| saved.name == name)
    }
}

/// A saved agent as it was when a run began that may give it work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedAgent {
    /// The name that it was found by.
    pub name: String,
    /// What its file said, defaults filled in.
    pub agent: AgentSpec,
    /// The model that it uses, `provider/model`.
    pub model: String,
    /// What the model's tokens cost; absent when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What the model takes beside text.
    #[serde(default, skip_serializing_if = "Takes::is_unknown")]
    pub takes: Takes,
}

/// Where the person's documents lie.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Library {
    /// Folders; `~` is the home folder.
    pub folders: Vec<String>,
}

/// Limits of what the model is shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContextLimits {
    /// The share of the window at which older parts are taken out.
    pub compact_at: f64,
    /// Whether a model summarises what is taken out of the conversation, beside what the harness
    /// keeps of it. It is asked when shortened results no longer save enough.
    #[serde(skip_serializing_if = "is_on")]
    pub summaries: bool,
    /// `provider/model` that writes the summaries. Without it the run's own model does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_model: Option<String>,
    /// The most tokens of one tool result that the model is shown.
    pub offload_above_tokens: u32,
    /// A server with more tools than this starts as one line; the model looks for its tools.
    pub server_tools: u32,
    /// The most tokens of the definitions of all servers' tools that stand in a request.
    pub server_tool_tokens: u32,
}

fn is_on(switch: &bool) -> bool {
    *switch
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self {
            compact_at: 0.75,
            summaries: true,
            summary_model: None,
            offload_above_tokens: 4_000,
            server_tools: 8,
            server_tool_tokens: 3_000,
        }
    }
}

/// Hard limits of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Model requests.
    pub steps: u32,
    /// Input tokens in total.
    pub tokens_in: Option<u32>,
    /// Output tokens in total.
    pub tokens_out: Option<u32>,
    /// Minutes of work; waiting for a person does not count.
    pub working_minutes: Option<u32>,
    /// Actions started.
    pub actions: Option<u32>,
    /// US dollars.
    pub money_usd: Option<f64>,
    /// Steps in a row that change nothing: no plan, file, source or artifact. In a file 0 switches
    /// the rule off.
    pub idle_steps: Option<u32>,
    /// Children that a run may have in all.
    pub children: u32,
    /// How deep children may have children.
    pub depth: u32,
}

impl Budget {
    /// The limit of money in millionths of a dollar.
    pub fn money_micro(&self) -> Option<u64> {
        self.money_usd.map(|usd| (usd * 1e6).round() as u64)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 80,
            tokens_in: Some(2_000_000),
            tokens_out: None,
            working_minutes: Some(60),
            actions: None,
            money_usd: None,
            idle_steps: Some(40),
            children: 8,
            depth: 3,
        }
    }
}
