//! Rules in words. What the words say is what the rule matches: a person agrees to the words.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::{Scope, StandingRule};
use longrein_protocol::tool::Effect;

use super::rules::RuleHost;
use super::selector::Selector;

/// What a rule matches, in words: `ch.post, only to hooks.example.org`. What it then decides is
/// [`PolicyRule::decision`] and not part of the words.
///
/// A rule that allows has to cover everything that an action touches, so its words say *only*; one
/// that asks or denies speaks up when anything fits.
pub fn in_words(rule: &PolicyRule) -> String {
    let allows = rule.decision == Decision::Allow;
    let mut parts = vec![subject(rule)];
    parts.extend(rule.args.iter().map(|(name, pattern)| {
        let argument = format!("with {} “{pattern}”", name.trim_start_matches('/'));
        argument
            + if pattern.contains('*') {
                " (* is any text)"
            } else {
                ""
            }
    }));
    parts.extend(rule.path.as_deref().map(|path| on_path(path, allows)));
    parts.extend(rule.host.as_deref().map(|host| to_host(host, allows)));
    parts.extend(rule.command.as_deref().map(|command| match allows {
        true => format!("only commands that begin with “{command}”"),
        false => format!("when a command begins with “{command}”"),
    }));
    parts.join(", ")
}

/// Who is meant: `ch.post`, `every tool of ch that only reads`.
fn subject(rule: &PolicyRule) -> String {
    let tools = match rule.tool.as_deref() {
        None => "every tool".to_owned(),
        Some(tool) => match (tool.strip_suffix(".*"), Selector::of(tool)) {
            (Some(server), _) => format!("every tool of {server}"),
            (None, Some((Some(server), selector))) => {
                format!("every tool of {server} {}", selector.in_words())
            }
            (None, Some((None, selector))) => format!("every tool {}", selector.in_words()),
            (None, None) => tool.to_owned(),
        },
    };
    let Some(effect) = rule.effect else {
        return tools;
    };
    let one = rule
        .tool
        .as_deref()
        .is_some_and(|tool| !tool.ends_with(".*") && Selector::of(tool).is_none());
    let joint = if one { ", as long as it" } else { " that" };
    let does = match effect {
        Effect::Read => "only reads",
        Effect::Workspace => "changes the workspace only",
        Effect::Reversible => "changes something outside that can be taken back",
        Effect::Irreversible => "changes something outside for good",
    };
    format!("{tools}{joint} {does}")
}

fn on_path(path: &str, allows: bool) -> String {
    let folder = path
        .strip_suffix("/**")
        .filter(|folder| !folder.contains('*'));
    let place = match folder {
        Some(folder) => format!("{folder} and what is in it"),
        None if path == "**" => "the workspace".to_owned(),
        None if path.contains("**") => format!("{path} (** is any folders)"),
        None if path.contains('*') => format!("{path} (* is any name)"),
        None => path.to_owned(),
    };
    match allows {
        true => format!("only on {place}"),
        false => format!("when it touches {place}"),
    }
}

fn to_host(pattern: &str, allows: bool) -> String {
    let place = match RuleHost::read(pattern) {
        Some(host) => host.in_words(),
        None => format!("“{pattern}”, which is no host"),
    };
    match allows {
        true => format!("only to {place}"),
        false => format!("when it reaches {place}"),
    }
}

/// Whose a standing rule is, as the words before its own.
pub(super) fn whose(standing: &StandingRule) -> &'static str {
    match standing.scope {
        Scope::Run => "your rule for this run",
        Scope::Agent => "your rule for this agent",
        Scope::Everywhere => "your rule for every run",
    }
}

/// A decision as the verb of a rule.
pub(super) fn says(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allows",
        Decision::Ask => "asks about",
        Decision::Deny => "denies",
    }
}

/// What a declared effect means.
pub(super) fn effect_in_words(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "it only reads",
        Effect::Workspace => "it changes the workspace only",
        Effect::Reversible => "it changes something outside, which can be taken back",
        Effect::Irreversible => "it changes something outside, which can't be taken back",
    }
}
