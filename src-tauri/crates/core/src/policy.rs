//! The gate: whether an action may start. Pure; the same state gives the same decision.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::event::{ActionDecided, Check};
use longrein_protocol::tool::Effect;

use crate::run::{Action, Run};

/// Tools that every agent has: they touch nothing but the run itself.
pub const ALWAYS_GRANTED: &[&str] = &["update_plan", "read_source", "publish_artifact", "finish"];
/// The tools that `files` stands for.
pub const FILE_TOOLS: &[&str] = &[
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
];

/// Whether a list of grants covers a tool.
pub fn is_granted(allow: &[String], tool: &str) -> bool {
    ALWAYS_GRANTED.contains(&tool)
        || allow.iter().any(|grant| match grant.as_str() {
            "files" => FILE_TOOLS.contains(&tool),
            grant => matches(grant, tool),
        })
}

/// Whether a name or `server.*` covers a tool.
fn matches(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(server) => tool.split_once('.').is_some_and(|(of, _)| of == server),
        None => pattern == tool,
    }
}

/// Decides an action. Arguments were checked against the schema when it was proposed; paths are
/// kept beneath the workspace by the tools themselves, which open nothing else.
pub fn decide(run: &Run, action: &Action) -> ActionDecided {
    let checks = [
        granted(run, action),
        within_budget(run, action),
        by_rule(run, action),
        by_taint(run, action),
    ];
    let worst = checks.iter().max_by_key(|check| check.decision);
    let (decision, why) = worst.map_or((Decision::Deny, String::new()), |check| {
        (check.decision, check.facts.clone())
    });
    ActionDecided {
        action: action.id.clone(),
        decision,
        why,
        checks: checks
            .into_iter()
            .filter(|check| check.decision != Decision::Allow)
            .collect(),
    }
}

fn check(name: &str, decision: Decision, facts: impl Into<String>) -> Check {
    Check {
        check: name.to_owned(),
        decision,
        facts: facts.into(),
    }
}

fn granted(run: &Run, action: &Action) -> Check {
    let known = run.tool(&action.tool).is_some();
    if known
        && run
            .agent()
            .is_some_and(|agent| is_granted(&agent.tools.allow, &action.tool))
    {
        return check("granted", Decision::Allow, "");
    }
    check(
        "granted",
        Decision::Deny,
        format!("{} is not granted to this agent", action.tool),
    )
}

fn within_budget(run: &Run, action: &Action) -> Check {
    let limit = run.agent().and_then(|agent| agent.budget.actions);
    match limit {
        Some(limit) if action.attempt == 0 && run.used.actions >= limit => check(
            "budget",
            Decision::Deny,
            format!("the limit of {limit} actions is reached"),
        ),
        _ => check("budget", Decision::Allow, ""),
    }
}

fn by_rule(run: &Run, action: &Action) -> Check {
    let rules = run.agent().map_or(&[][..], |agent| &agent.policy);
    let strictest = rules
        .iter()
        .filter(|rule| matches(&rule.tool, &action.tool))
        .max_by_key(|rule| rule.decision);
    match strictest {
        Some(PolicyRule { tool, decision }) => check(
            "rules",
            *decision,
            format!("the agent's rule for {tool} says {}", word(*decision)),
        ),
        None => match action.effect {
            Effect::Read => check("effect", Decision::Allow, "it only reads"),
            Effect::Workspace => check("effect", Decision::Allow, "it changes the workspace only"),
            Effect::Reversible => check("effect", Decision::Ask, "it changes something outside"),
            Effect::Irreversible => check("effect", Decision::Ask, "it can't be taken back"),
        },
    }
}

fn by_taint(run: &Run, action: &Action) -> Check {
    let outward = action.effect >= Effect::Reversible;
    if run.tainted && outward {
        return check(
            "taint",
            Decision::Ask,
            "this run has read untrusted text, and the action reaches outside",
        );
    }
    check("taint", Decision::Allow, "")
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}
