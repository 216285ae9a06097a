//! The sections of an agent file, each read into its part of the specification.

use longrein_protocol::agent::{
    AgentChoice, AgentSpec, Budget, ContextLimits, Library, ModelChoice, SkillChoice, ToolGrants,
};
use toml::Spanned;
use toml::de::DeTable;

use super::choices::THINKINGS;
use super::reader::{At, Fields, Reader};
use super::{criteria, keys, policy, sandbox, settings, stages};
use crate::policy::is_granted;
use crate::run::DELEGATE;

/// Reads the whole file; what can't be used keeps its default and is reported.
pub(super) fn read(
    reader: &mut Reader<'_>,
    document: &Spanned<DeTable<'_>>,
    name_hint: &str,
) -> AgentSpec {
    let root = reader.root(document, keys::ROOT);
    let mut grants = settings::read(reader, root);
    let mut policy = policy::read(reader, root, &grants);
    // What the table of a tool decides is a rule like any other.
    policy.extend(settings::decided(&mut grants));
    AgentSpec {
        name: name(reader, root, name_hint),
        description: text(reader, root, "description"),
        instructions: instructions(reader, root),
        model: model(reader, root),
        policy,
        skills: skills(reader, root),
        agents: Box::new(agents(reader, root, &grants)),
        library: library(reader, root),
        sandbox: Box::new(sandbox::read(reader, root, &grants)),
        context: Box::new(context(reader, root)),
        budget: Box::new(budget(reader, root)),
        stages: stages::read(reader, root, &grants),
        done_when: criteria::read(reader, root, &grants),
        finding: None,
        tools: Box::new(grants),
    }
}

fn text(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> String {
    reader
        .text(fields, key)
        .map_or_else(String::new, |text| text.value)
}

fn name(reader: &mut Reader<'_>, root: Fields<'_>, name_hint: &str) -> String {
    let hint = name_hint.strip_suffix(".toml").unwrap_or(name_hint);
    let hint = hint.strip_suffix(".agent").unwrap_or(hint);
    let remedy = format!(
        "Use lower-case letters, digits and “-”, at most {}, as in name = \"research\".",
        keys::NAME_LETTERS_MAX
    );
    match reader.text(root, "name") {
        Some(name) if !is_agent_name(&name.value) => {
            let message = format!("“{}” can't be the name of an agent.", name.value);
            reader.error(&name.span, "name", message, remedy);
            String::new()
        }
        Some(name) => name.value,
        None if is_agent_name(hint) => hint.to_owned(),
        None => {
            if !reader.is_broken() && reader.value(root, "name").is_none() {
                reader.error(&(0..0), "name", "The agent has no name.", remedy);
            }
            String::new()
        }
    }
}

/// Whether a text is the name of an agent: lower-case letters, digits and hyphens.
pub(super) fn is_agent_name(name: &str) -> bool {
    (1..=keys::NAME_LETTERS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-')
}

fn instructions(reader: &mut Reader<'_>, root: Fields<'_>) -> String {
    let Some(instructions) = reader.text(root, "instructions") else {
        return String::new();
    };
    if instructions.value.trim().is_empty() {
        reader.warning(
            &instructions.span,
            "instructions",
            "The instructions are empty.",
            "Say what the agent is for and how it works, or take the key out.",
        );
    }
    instructions.value.trim().to_owned()
}

fn model(reader: &mut Reader<'_>, root: Fields<'_>) -> ModelChoice {
    let mut model = ModelChoice::default();
    let Some(value) = reader.value(root, "model") else {
        return model;
    };
    let Some(fields) = reader.table(value, "model", keys::MODEL) else {
        return model;
    };
    if let Some(names) = reader.texts(fields, "use") {
        model.use_ = model_names(reader, names, "model.use");
    }
    let output = reader.whole(fields, "max_output_tokens", &keys::MAX_OUTPUT_TOKENS);
    let window = reader.whole(fields, "window_tokens", &keys::WINDOW_TOKENS);
    model.max_output_tokens = output.unwrap_or(model.max_output_tokens);
    model.window_tokens = window.unwrap_or(model.window_tokens);
    model.temperature = reader.number(fields, "temperature", &keys::TEMPERATURE);
    model.thinking = reader.choice(fields, "thinking", THINKINGS, &[]);
    if model.max_output_tokens >= model.window_tokens {
        let key = if output.is_some() {
            "max_output_tokens"
        } else {
            "window_tokens"
        };
        let span = reader
            .value(fields, key)
            .map_or(value.span(), Spanned::span);
        let message = format!(
            "An answer of {} tokens leaves no room in a window of {}.",
            model.max_output_tokens, model.window_tokens
        );
        let remedy = "Make max_output_tokens much smaller than window_tokens.";
        reader.error(&span, &format!("model.{key}"), message, remedy);
    }
    model
}

fn model_names(reader: &mut Reader<'_>, names: Vec<At<String>>, key: &str) -> Vec<String> {
    for name in &names {
        if !is_model_name(&name.value) {
            let message = format!("“{}” is not the name of a model.", name.value);
            let remedy = "Write provider/model, as in use = [\"local/any\"].";
            reader.error(&name.span, key, message, remedy);
        }
    }
    names.into_iter().map(|name| name.value).collect()
}

/// Whether a text is `provider/model`: the provider in letters, digits, `-` and `_`, the model in
/// anything without blanks (models have slashes and colons in their names).
pub(super) fn is_model_name(name: &str) -> bool {
    let Some((provider, model)) = name.split_once('/') else {
        return false;
    };
    let sound_provider = !provider.is_empty()
        && provider
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
    let sound_model = !model.is_empty()
        && !model.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    sound_provider && sound_model
}

fn skills(reader: &mut Reader<'_>, root: Fields<'_>) -> SkillChoice {
    let mut skills = SkillChoice::default();
    let Some(value) = reader.value(root, "skills") else {
        return skills;
    };
    let Some(fields) = reader.table(value, "skills", keys::SKILLS) else {
        return skills;
    };
    let Some(names) = reader.texts(fields, "use") else {
        return skills;
    };
    skills.use_.clear();
    for name in names {
        if name.value == SkillChoice::ALL || is_skill_name(&name.value) {
            skills.use_.push(name.value);
        } else {
            let message = format!("“{}” is not the name of a skill.", name.value);
            let remedy = "Write the name of its folder, as longrein skills list tells it, or \"*\" for all that you approved.";
            reader.error(&name.span, "skills.use", message, remedy);
        }
    }
    skills
}

/// Whether a text may be the name of a skill: letters, digits and hyphens.
fn is_skill_name(name: &str) -> bool {
    let sound = |letter: char| letter.is_alphanumeric() || letter == '-';
    (1..=keys::NAME_LETTERS_MAX).contains(&name.chars().count()) && name.chars().all(sound)
}

fn agents(reader: &mut Reader<'_>, root: Fields<'_>, grants: &ToolGrants) -> AgentChoice {
    let mut agents = AgentChoice::default();
    let Some(value) = reader.value(root, "agents") else {
        return agents;
    };
    let Some(fields) = reader.table(value, "agents", keys::AGENTS) else {
        return agents;
    };
    for name in reader.texts(fields, "use").unwrap_or_default() {
        let named = &name.value;
        let (message, remedy) = if !is_agent_name(named) {
            let message = format!("“{named}” is not the name of an agent.");
            (message, "Write a name that longrein agents lists.")
        } else if agents.use_.contains(named) {
            let message = format!("“{named}” stands twice in agents.use.");
            (message, "Keep one of the two.")
        } else if agents.use_.len() == keys::AGENTS_MAX {
            let message = format!("There are more than {} agents.", keys::AGENTS_MAX);
            (message, "Keep those that the work needs.")
        } else {
            agents.use_.push(name.value);
            continue;
        };
        reader.error(&name.span, "agents.use", message, remedy);
    }
    if !agents.is_none() && !is_granted(&grants.allow, DELEGATE, None) {
        let message = "The agent has no way to give them work.";
        let remedy = "Add \"delegate\" to allow under [tools].";
        reader.warning(&value.span(), "agents", message, remedy);
    }
    agents
}

fn library(reader: &mut Reader<'_>, root: Fields<'_>) -> Library {
    let mut library = Library::default();
    let Some(value) = reader.value(root, "library") else {
        return library;
    };
    let Some(fields) = reader.table(value, "library", keys::LIBRARY) else {
        return library;
    };
    for folder in reader.texts(fields, "folders").unwrap_or_default() {
        let path = &folder.value;
        if path == "~" || path.starts_with("~/") || path.starts_with('/') {
            library.folders.push(folder.value);
        } else {
            let message = format!("“{path}” is not a full path.");
            let remedy = "Begin it with “/” or “~/”: an agent file may lie anywhere.";
            reader.error(&folder.span, "library.folders", message, remedy);
        }
    }
    library
}

fn context(reader: &mut Reader<'_>, root: Fields<'_>) -> ContextLimits {
    let mut context = ContextLimits::default();
    let Some(value) = reader.value(root, "context") else {
        return context;
    };
    let Some(fields) = reader.table(value, "context", keys::CONTEXT) else {
        return context;
    };
    if let Some(share) = reader.number(fields, "compact_at", &keys::COMPACT_AT) {
        context.compact_at = share;
    }
    if let Some(summaries) = reader.flag(fields, "summaries") {
        context.summaries = summaries;
    }
    if let Some(model) = reader.text(fields, "summary_model") {
        let mut names = model_names(reader, vec![model], "context.summary_model");
        context.summary_model = names.pop();
    }
    if let Some(tokens) = reader.whole(fields, "offload_above_tokens", &keys::OFFLOAD_ABOVE_TOKENS)
    {
        context.offload_above_tokens = tokens;
    }
    if let Some(tools) = reader.whole(fields, "server_tools", &keys::SERVER_TOOLS) {
        context.server_tools = tools;
    }
    if let Some(tokens) = reader.whole(fields, "server_tool_tokens", &keys::SERVER_TOOL_TOKENS) {
        context.server_tool_tokens = tokens;
    }
    context
}

fn budget(reader: &mut Reader<'_>, root: Fields<'_>) -> Budget {
    let mut budget = Budget::default();
    let Some(value) = reader.value(root, "budget") else {
        return budget;
    };
    let Some(fields) = reader.table(value, "budget", keys::BUDGET) else {
        return budget;
    };
    if let Some(steps) = reader.whole(fields, "steps", &keys::STEPS) {
        budget.steps = steps;
    }
    let limits = [
        ("tokens_in", &keys::TOKENS, &mut budget.tokens_in),
        ("tokens_out", &keys::TOKENS, &mut budget.tokens_out),
        (
            "working_minutes",
            &keys::WORKING_MINUTES,
            &mut budget.working_minutes,
        ),
        ("actions", &keys::ACTIONS, &mut budget.actions),
    ];
    for (key, range, limit) in limits {
        if let Some(number) = reader.whole(fields, key, range) {
            *limit = Some(number);
        }
    }
    if let Some(children) = reader.whole(fields, "children", &keys::CHILDREN) {
        budget.children = children;
    }
    if let Some(depth) = reader.whole(fields, "depth", &keys::DEPTH) {
        budget.depth = depth;
    }
    budget.money_usd = reader.number(fields, "money_usd", &keys::MONEY_USD);
    if let Some(steps) = reader.whole(fields, "idle_steps", &keys::IDLE_STEPS) {
        budget.idle_steps = (steps > 0).then_some(steps);
    }
    budget
}
