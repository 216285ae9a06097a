//! What "always" would make of an action.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::ActionFacts;
use serde_json::Value;

use super::hosts;
use super::rules::{Matter, in_force, verdict};
use super::shell::pattern;
use crate::run::{Action, Run};

/// The most rules that one answer may make.
const OFFERS_LIMIT: usize = 8;

/// The narrowest rules that a person would expect of "always", all of them together: the tool with
/// each host, with the beginning of each command, with its one path, or else the tool alone.
///
/// Empty where no rule would be of use or none could say what it matches: something is unclear, a
/// rule asks or denies (which no other rule undoes), a command is not written out.
pub fn offers(
    run: &Run,
    action: &Action,
    arguments: &Value,
    facts: &ActionFacts,
) -> Vec<PolicyRule> {
    let Some(spec) = run.tool(&action.tool) else {
        return Vec::new();
    };
    // A skill is approved by what it holds: no rule speaks of that.
    if facts
        .skill
        .as_ref()
        .is_some_and(|skill| skill.ask.is_some())
    {
        return Vec::new();
    }
    let leads_out = facts.paths.iter().any(|path| path.real.is_none());
    let spoken = verdict(
        &in_force(run),
        Matter::of(action, Some(spec), arguments, facts),
    );
    let ruled = spoken.is_some_and(|(decision, _)| decision != Decision::Allow);
    if leads_out || ruled || !facts.unclear.is_empty() {
        return Vec::new();
    }
    let tool = PolicyRule {
        tool: Some(action.tool.clone()),
        effect: None,
        args: std::collections::BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision: Decision::Allow,
    };
    let mut hosts = distinct(facts.urls.iter().map(|url| url.host.clone()));
    // What stands in the text of a message is not where a tool without addresses reaches.
    if spec.reach.urls.is_empty() && spec.reach.commands.is_empty() {
        hosts.clear();
    }
    let offered = if !facts.commands.is_empty() {
        of_commands(&tool, &hosts, facts)
    } else if !hosts.is_empty() {
        of_hosts(&tool, hosts)
    } else {
        Some(of_paths(&tool, facts))
    };
    let offered = offered.unwrap_or_default();
    if offered.len() > OFFERS_LIMIT {
        return Vec::new();
    }
    offered
}

fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// One rule for each command. A command that reaches a host is bound to it as well, which only
/// works out where there is one of each.
fn of_commands(
    tool: &PolicyRule,
    hosts: &[String],
    facts: &ActionFacts,
) -> Option<Vec<PolicyRule>> {
    let beginnings: Option<Vec<String>> = facts
        .commands
        .iter()
        .map(|words| pattern::beginning(words))
        .collect();
    let beginnings = distinct(beginnings?.into_iter());
    let host = match (hosts, &beginnings[..]) {
        ([], _) => None,
        ([host], [_]) => Some(host.clone()),
        _ => return None,
    };
    let rules = beginnings.into_iter().map(|command| PolicyRule {
        command: Some(command),
        host: host.clone(),
        ..tool.clone()
    });
    Some(rules.collect())
}

fn of_hosts(tool: &PolicyRule, hosts: Vec<String>) -> Option<Vec<PolicyRule>> {
    let rules = hosts.into_iter().map(|host| {
        hosts::of_rule(&host)?;
        Some(PolicyRule {
            host: Some(host),
            ..tool.clone()
        })
    });
    rules.collect()
}

fn of_paths(tool: &PolicyRule, facts: &ActionFacts) -> Vec<PolicyRule> {
    let paths = distinct(facts.paths.iter().filter_map(|path| path.real.clone()));
    match &paths[..] {
        // In a rule a `*` would stand for more than this one name.
        [path] if path.contains('*') => Vec::new(),
        [path] => vec![PolicyRule {
            path: Some(path.clone()),
            ..tool.clone()
        }],
        _ => vec![tool.clone()],
    }
}
