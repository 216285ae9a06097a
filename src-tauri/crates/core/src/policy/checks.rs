//! The eight checks.

use longrein_protocol::ToolSpec;
use longrein_protocol::agent::Decision::{self, Allow, Ask, Deny};
use longrein_protocol::gate::{ActionFacts, Actor, Check, CheckName};
use longrein_protocol::tool::Effect;
use serde_json::Value;

use super::facts::declared_urls;
use super::preview::effect_in_words;
use super::rules::{InForce, Matter, allowed_by, allows_host, in_force, is_tool, verdict};
use super::{COMMAND_TOOLS, LOAD_SKILL, RUN_CODE, SKILL_ARGUMENT, grants};
use crate::run::{Action, Run};

/// All of them, in their order.
pub(super) fn all(
    run: &Run,
    action: &Action,
    arguments: &Value,
    facts: &ActionFacts,
) -> Vec<Check> {
    let spec = run.tool(&action.tool);
    let matter = Matter::of(action, spec, arguments, facts);
    let rules = in_force(run);
    vec![
        granted(run, action, spec, arguments),
        schema(arguments),
        check(CheckName::Effect, Allow, effect_in_words(matter.effect)),
        secrets(spec, facts),
        reach(spec, &rules, facts),
        budget(run, action),
        by_rules(&rules, matter),
        taint(run, spec, &rules, matter),
    ]
}

fn check(check: CheckName, decision: Decision, facts: impl Into<String>) -> Check {
    Check {
        check,
        decision,
        facts: facts.into(),
    }
}

fn granted(run: &Run, action: &Action, spec: Option<&ToolSpec>, arguments: &Value) -> Check {
    let tool = &action.tool;
    let is_granted = run
        .agent()
        .is_some_and(|agent| grants(&agent.tools, tool, spec.map(|spec| spec.effect)));
    let name = CheckName::Granted;
    if let Some(skill) = skill_not_granted(run, tool, arguments) {
        let words = format!("the skill {skill} is not granted to this agent");
        return check(name, Deny, words);
    }
    if let Some(words) = run.not_of_stage(action) {
        return check(name, Deny, words);
    }
    match spec {
        Some(_) if is_granted => check(name, Allow, ""),
        None if is_granted => check(name, Deny, format!("{tool} is not there in this run")),
        _ => check(name, Deny, format!("{tool} is not granted to this agent")),
    }
}

/// The skill that an action loads, when the agent may not have it.
fn skill_not_granted<'a>(run: &Run, tool: &str, arguments: &'a Value) -> Option<&'a str> {
    if tool != LOAD_SKILL {
        return None;
    }
    let skill = arguments.get(SKILL_ARGUMENT).and_then(Value::as_str)?;
    let covered = run.agent().is_some_and(|agent| agent.skills.covers(skill));
    (!covered).then_some(skill)
}

/// The schema itself was checked when the action was proposed, and again if a person edited it.
fn schema(arguments: &Value) -> Check {
    if arguments.is_object() {
        check(CheckName::Schema, Allow, "")
    } else {
        let facts = "the arguments are not a JSON object";
        check(CheckName::Schema, Deny, facts)
    }
}

fn secrets(spec: Option<&ToolSpec>, facts: &ActionFacts) -> Check {
    let name = CheckName::Secrets;
    let server = spec.and_then(ToolSpec::server).unwrap_or("this tool");
    for fact in &facts.secrets {
        let secret = &fact.secret;
        if !fact.granted {
            let words = format!(
                "the secret “{secret}” is not granted to {server}; name it in the configuration \
                 of {server} to grant it"
            );
            return check(name, Deny, words);
        }
        if fact.expired {
            let words = format!("the secret “{secret}” has expired; store it anew");
            return check(name, Deny, words);
        }
    }
    let needed = spec.map_or(&[][..], |spec| &spec.reach.secrets);
    let missing = needed
        .iter()
        .find(|needed| facts.secrets.iter().all(|fact| fact.secret != **needed));
    if let Some(secret) = missing {
        let words = format!("the secret “{secret}”, which {server} needs, could not be looked up");
        return check(name, Deny, words);
    }
    let names: Vec<&str> = facts
        .secrets
        .iter()
        .map(|fact| fact.secret.as_str())
        .collect();
    match names.is_empty() {
        true => check(name, Allow, ""),
        false => check(name, Allow, format!("it is given {}", names.join(", "))),
    }
}

/// Whether something hangs on how what runs in a box is read: a command line may name the hosts that
/// it reaches, or a rule that asks or denies speaks of what may stand there.
fn hangs_on_words(spec: Option<&ToolSpec>, rules: &[InForce<'_>]) -> bool {
    let Some(spec) = spec.filter(|spec| COMMAND_TOOLS.contains(&spec.name.as_str())) else {
        return true;
    };
    let reaches = spec.reach.egress;
    let speaks = |rule: &InForce<'_>| {
        let rule = rule.rule;
        let ours = rule.tool.as_deref();
        let ours = ours.is_none_or(|tool| is_tool(tool, &spec.name));
        let words = rule.command.is_some() || (reaches && rule.host.is_some());
        rule.decision != Allow && ours && words
    };
    let is_read = !spec.reach.commands.is_empty();
    spec.effect != Effect::Workspace || (reaches && is_read) || rules.iter().any(speaks)
}

fn reach(spec: Option<&ToolSpec>, rules: &[InForce<'_>], facts: &ActionFacts) -> Check {
    let name = CheckName::Reach;
    if let Some(outside) = facts.paths.iter().find(|fact| fact.real.is_none()) {
        let words = format!("“{}” leads outside the workspace", outside.argument);
        return check(name, Deny, words);
    }
    if let Some(first) = facts.unclear.first() {
        let more = match facts.unclear.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let words = format!("it can't be made out what it does: {first}{more}");
        if !hangs_on_words(spec, rules) {
            return check(
                name,
                Allow,
                format!("{words}; its box holds it all the same"),
            );
        }
        return check(name, Ask, words);
    }
    let is_program = spec.is_some_and(|spec| spec.name == RUN_CODE);
    if is_program && hangs_on_words(spec, rules) {
        let words = "a program is not read, and a rule speaks of commands or hosts";
        return check(name, Ask, words);
    }
    if let Some(ask) = facts.skill.as_ref().and_then(|skill| skill.ask.as_ref()) {
        return check(name, Ask, ask.clone());
    }
    let mut hosts: Vec<&str> = facts.urls.iter().map(|url| url.host.as_str()).collect();
    hosts.dedup();
    match hosts.is_empty() {
        true => check(name, Allow, ""),
        false => check(name, Allow, format!("it names {}", hosts.join(", "))),
    }
}

/// An action that has started was counted then, so recovery is not stopped by its own count. What
/// a person asks for themselves is not the model's to be limited.
fn budget(run: &Run, action: &Action) -> Check {
    let name = CheckName::Budget;
    let counts = action.attempt == 0 && action.by != Actor::Person;
    match run.limits.actions {
        Some(limit) if counts && run.used.actions >= limit => check(
            name,
            Deny,
            format!("the limit of {limit} actions is reached"),
        ),
        _ => check(name, Allow, ""),
    }
}

fn by_rules(rules: &[InForce<'_>], matter: Matter<'_>) -> Check {
    let (decision, words) = verdict(rules, matter).unwrap_or_else(|| {
        let decision = match matter.effect {
            Effect::Read | Effect::Workspace => Allow,
            Effect::Reversible | Effect::Irreversible => Ask,
        };
        let words = format!(
            "no rule speaks of it, and {}",
            effect_in_words(matter.effect)
        );
        (decision, words)
    });
    check(CheckName::Rules, decision, words)
}

/// Untrusted text may have made the model ask for this. A person may have said beforehand that it
/// may happen all the same, in this run only.
fn taint(run: &Run, spec: Option<&ToolSpec>, rules: &[InForce<'_>], matter: Matter<'_>) -> Check {
    let name = CheckName::Taint;
    let Some(words) = outward(run, spec, rules, matter) else {
        return check(name, Allow, "");
    };
    let explicit: Vec<InForce<'_>> = rules
        .iter()
        .filter(|rule| rule.rule.decision == Allow && rule.holds_tainted())
        .copied()
        .collect();
    if allowed_by(&explicit, matter).is_some() {
        let words = "you allowed it in this run although untrusted text was read";
        return check(name, Allow, words);
    }
    check(name, Ask, words)
}

/// Why untrusted text, or what is private, could leave by this action; `None`: it could not.
fn outward(
    run: &Run,
    spec: Option<&ToolSpec>,
    rules: &[InForce<'_>],
    matter: Matter<'_>,
) -> Option<String> {
    if run.tainted && matter.effect >= Effect::Reversible {
        let words = "this run has read untrusted text, and the action changes something outside";
        return Some(words.to_owned());
    }
    if run.tainted && spec.is_some_and(|spec| spec.reach.egress) {
        let words = "this run has read untrusted text, and the action can reach the network";
        return Some(words.to_owned());
    }
    if !run.private_read {
        return None;
    }
    // An address that the model made up may carry away what it read. This holds without any
    // untrusted text as well: the model may err by itself.
    let declared = spec.map_or(Vec::new(), |spec| declared_urls(spec, matter.arguments));
    let made_up = matter.facts.urls.iter().find(|fact| {
        !fact.known && declared.contains(&fact.url) && !allows_host(rules, matter, fact)
    })?;
    Some(format!(
        "this run has read something of your own, and the address at {} was not given to it by \
         you, a page or a search",
        made_up.host
    ))
}
