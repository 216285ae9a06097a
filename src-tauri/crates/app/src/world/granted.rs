//! What an agent is granted, and what its file says of tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use longrein_core::disclosure;
use longrein_core::policy::{covers, grant_place, grants, may_be_granted};
use longrein_mcp::{Confinement, FlagKind, McpServer};
use longrein_protocol::ToolSpec;
use longrein_protocol::agent::{AgentSpec, ToolSettings};
use longrein_runtime::ports::Tool;
use longrein_runtime::world::ToolBox;
use longrein_tools::{AgentOffer, finding};

use crate::config::{Config, EnvValue, McpConfig};

/// Milliseconds of a second.
const MS_PER_SECOND: u32 = 1_000;

/// The saved agents that an agent may give work to, as the model is told of them.
pub(super) fn agents_of(agent: &AgentSpec) -> Vec<AgentOffer> {
    let saved = agent.agents.saved.iter();
    let offers = saved.map(|saved| AgentOffer {
        name: saved.name.clone(),
        description: saved.agent.description.clone(),
    });
    offers.collect()
}

/// The servers whose tools an agent's grants name.
pub(super) fn servers_of(agent: &AgentSpec) -> Vec<String> {
    let mut names: Vec<String> = agent
        .tools
        .allow
        .iter()
        .filter_map(|grant| Some(grant.split_once('.')?.0.to_owned()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// A tool as an agent is granted it, with the place of the grant; `None` where it is not granted.
pub(super) fn placed(agent: &AgentSpec, config: &Config, tool: Arc<dyn Tool>) -> Option<Granted> {
    let name = &tool.spec().name;
    let mut spec = with_settings(tool.spec().clone(), agent.tools.settings.get(name));
    if let Some(server) = spec.server() {
        spec.reach.secrets = secrets_of(config, server);
    }
    if !grants(&agent.tools, name, Some(spec.effect)) {
        return None;
    }
    let place = grant_place(&agent.tools.allow, name, Some(spec.effect))?;
    Some((place, tool, spec))
}

/// What the agent's file says of a tool, over what the tool says of itself.
pub(super) fn with_settings(mut spec: ToolSpec, settings: Option<&ToolSettings>) -> ToolSpec {
    let Some(settings) = settings.cloned() else {
        return spec;
    };
    spec.effect = settings.effect.unwrap_or(spec.effect);
    spec.repeat = settings.repeat.unwrap_or(spec.repeat);
    spec.result_tokens = settings.result_tokens.unwrap_or(spec.result_tokens);
    // One that holds a limit of its own is told it where it is made.
    if let Some(seconds) = settings.timeout_seconds.filter(|_| spec.timeout_ms > 0) {
        spec.timeout_ms = seconds.saturating_mul(MS_PER_SECOND);
    }
    spec.recovery = settings.recovery.unwrap_or(spec.recovery);
    spec.path_arguments = settings.paths.unwrap_or(spec.path_arguments);
    spec.reach.urls = settings.urls.unwrap_or(spec.reach.urls);
    spec.reach.commands = settings.commands.unwrap_or(spec.reach.commands);
    spec
}

/// The variables of our environment and the kept secrets that a server is given; each is a secret
/// that it is granted.
pub(super) fn secrets_of(config: &Config, server: &str) -> Vec<String> {
    let given = config.mcp.get(server).map(McpConfig::values);
    let variables = given.into_iter().flatten().filter_map(|value| match value {
        EnvValue::Variable(variable) => Some(variable.clone()),
        EnvValue::Secret(name) => Some(name.to_string()),
        EnvValue::Plain(_) => None,
    });
    let mut variables: Vec<String> = variables.collect();
    variables.sort();
    variables.dedup();
    variables
}

/// What a person should know of a server before they trust what its tools did: what is left out, what
/// is odd about the words of tools that are granted, and that nothing keeps its program away from
/// the data folder.
pub(super) fn notes_of(name: &str, server: &McpServer, allow: &[String]) -> Vec<String> {
    let left_out = server.problems().into_iter().map(|problem| {
        format!(
            "{name}.{} is left out: {}.",
            problem.tool,
            problem.message.trim_end_matches('.')
        )
    });
    let mut notes: Vec<String> = left_out.collect();
    let flags = server.flags().into_iter();
    let granted = flags.filter(|flag| may_be_granted(allow, &format!("{name}.{}", flag.tool)));
    notes.extend(granted.map(|flag| {
        let what = match flag.kind {
            FlagKind::HiddenCharacters => "characters that nobody sees",
            FlagKind::Instructions => "orders to the model",
            FlagKind::SecretPlace => "a place where secrets lie",
            FlagKind::Shadows => "a name like that of another tool",
        };
        format!(
            "{name}.{} is described with {what}: {}",
            flag.tool, flag.found
        )
    }));
    if let Some(Confinement::None(why)) = server.confinement() {
        notes.push(why);
    }
    notes
}

/// What is granted of servers and covers no tool that they offer: a name that is written wrongly, or
/// a selector of tools of which nothing is known.
pub(super) fn idle_grants(allow: &[String], granted: &[Granted]) -> Vec<String> {
    let of_servers = allow.iter().filter(|grant| grant.contains('.'));
    let idle = of_servers.filter(|grant| {
        let mut specs = granted.iter().map(|(.., spec)| spec);
        !specs.any(|spec| covers(grant, &spec.name, Some(spec.effect)))
    });
    let told = idle.map(|grant| {
        format!("“{grant}” of the agent's grants covers no tool that its server offers.")
    });
    told.collect()
}

/// A granted tool, with the place of its grant.
pub(super) type Granted = (usize, Arc<dyn Tool>, ToolSpec);

/// The tools in the order of their grants, of which those of servers with many are hidden. One
/// that can't be offered is left out.
///
/// `about` is what servers say that they are for.
pub(super) fn boxed(
    agent: &AgentSpec,
    mut granted: Vec<Granted>,
    about: BTreeMap<String, String>,
) -> ToolBox {
    granted.sort_by_key(|(place, ..)| *place);
    let offered: Vec<ToolSpec> = granted.iter().map(|(.., spec)| spec.clone()).collect();
    let names = disclosure::hidden(agent, &offered);
    let mut tools = ToolBox::default();
    let mut hidden = Vec::with_capacity(names.len());
    for (_, tool, spec) in granted {
        let entered = match names.contains(&spec.name) {
            true => tools.hide(tool, spec.clone()).map(|()| hidden.push(spec)),
            false => tools.add(tool, spec),
        };
        if let Err(error) = entered {
            tracing::warn!("{error}");
        }
    }
    if hidden.is_empty() {
        return tools;
    }
    for line in disclosure::lines(&hidden) {
        tools.tell(line);
    }
    for tool in finding(hidden, about) {
        let spec = with_settings(
            tool.spec().clone(),
            agent.tools.settings.get(&tool.spec().name),
        );
        if let Err(error) = tools.add(tool, spec) {
            tracing::warn!("{error}");
        }
    }
    tools
}
