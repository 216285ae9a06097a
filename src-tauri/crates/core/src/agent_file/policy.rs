//! `[[policy]]`: the rules of an agent, and those of them that do nothing.

use std::ops::Range;

use longrein_protocol::Effect;
use longrein_protocol::agent::{PolicyRule, ToolGrants, ToolSettings};

use super::choices::{EFFECTS, word};
use super::reader::{At, Fields, Reader};
use super::{rules, tools};
use crate::policy::may_be_granted;

/// The most rules of one file.
const RULES_MAX: usize = 500;

/// Reads every rule, and warns of those that can never decide anything.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: Fields<'_>,
    grants: &ToolGrants,
) -> Vec<PolicyRule> {
    let mut found: Vec<At<PolicyRule>> = Vec::new();
    let tables = reader.tables(root, "policy");
    if let Some(beyond) = tables.get(RULES_MAX) {
        let message = format!("The file has {} rules.", tables.len());
        let remedy = format!("At most {RULES_MAX} are read; say more with fewer.");
        reader.error(&beyond.span(), "policy", message, remedy);
    }
    for (position, value) in tables.into_iter().take(RULES_MAX).enumerate() {
        let path = format!("policy[{}]", position + 1);
        let Some(fields) = reader.table(value, &path, &rules::KEYS) else {
            continue;
        };
        let span = value.span();
        let Some(rule) = rules::read(reader, fields, &span) else {
            continue;
        };
        warn_of_tool(reader, fields, &rule, grants);
        if found.iter().any(|other| other.value == rule) {
            let message = "The same rule stands twice.";
            reader.error(&span, &path, message, "Keep one of the two.");
            continue;
        }
        found.push(At { value: rule, span });
    }
    warn_of_stricter(reader, &found);
    found.into_iter().map(|rule| rule.value).collect()
}

/// A rule whose tool the agent does not have, or whose conditions that tool can't satisfy.
fn warn_of_tool(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    rule: &PolicyRule,
    grants: &ToolGrants,
) {
    if let Some(tool) = &rule.tool {
        let named = At {
            value: tool.clone(),
            span: span_of(reader, fields, "tool"),
        };
        tools::warn_if_not_granted(reader, &named, &fields.path_of("tool"), &grants.allow);
        let known = tools::effect(tool, grants);
        if let (Some(known), Some(asked)) = (known, rule.effect)
            && known != asked
        {
            let message = format!(
                "The effect of “{tool}” is {}, so that this rule never matches.",
                word(EFFECTS, &known)
            );
            let span = span_of(reader, fields, "effect");
            let remedy = "Leave effect out, or take the rule out.";
            reader.warning(&span, &fields.path_of("effect"), message, remedy);
        }
    }
    if rule.path.is_some() {
        let paths = Arguments {
            key: "path",
            list: "paths",
            of: |said| said.paths.as_ref(),
            built_in: tools::WITH_PATHS,
        };
        warn_of_argument(reader, fields, rule, (grants, &paths));
    }
    if rule.command.is_some() {
        let commands = Arguments {
            key: "command",
            list: "commands",
            of: |said| said.commands.as_ref(),
            built_in: &[],
        };
        warn_of_argument(reader, fields, rule, (grants, &commands));
    }
}

fn span_of(reader: &Reader<'_>, fields: Fields<'_>, key: &str) -> Range<usize> {
    reader.value(fields, key).map_or(0..0, toml::Spanned::span)
}

/// Arguments of one kind, about which a rule can speak only where they are known as such.
struct Arguments {
    /// The condition of a rule.
    key: &'static str,
    /// The key of a tool's settings that names them.
    list: &'static str,
    /// The names that the settings give.
    of: fn(&ToolSettings) -> Option<&Vec<String>>,
    /// Built-in tools that have one.
    built_in: &'static [&'static str],
}

fn warn_of_argument(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    rule: &PolicyRule,
    (grants, arguments): (&ToolGrants, &Arguments),
) {
    let tool = rule.tool.as_deref();
    if reaches(tool, grants, arguments) {
        return;
    }
    let key = arguments.key;
    let whose = match tool {
        Some(tool) => format!("No argument of “{tool}” is known as a {key}"),
        None => format!("No argument of this agent's tools is known as a {key}"),
    };
    let message = format!("{whose}, so that this rule never matches.");
    let remedy = match tool {
        Some(tool) if tools::is_built_in(tool) => "Take the rule out.".to_owned(),
        tool => {
            let tool = tool.filter(|tool| !tool.ends_with(".*"));
            let (tool, list) = (tool.unwrap_or("server.tool"), arguments.list);
            format!("Name it in [tools.\"{tool}\"], as in {list} = [\"{key}\"].")
        }
    };
    let span = span_of(reader, fields, key);
    reader.warning(&span, &fields.path_of(key), message, remedy);
}

/// Whether a tool that the rule speaks of has an argument of this kind.
fn reaches(tool: Option<&str>, grants: &ToolGrants, arguments: &Arguments) -> bool {
    let speaks_of = |name: &str| match tool {
        Some(tool) => tools::covers(tool, name),
        None => may_be_granted(&grants.allow, name),
    };
    let has = |said: &ToolSettings| (arguments.of)(said).is_some_and(|names| !names.is_empty());
    let mut settings = grants.settings.iter();
    arguments.built_in.iter().any(|name| speaks_of(name))
        || settings.any(|(name, said)| speaks_of(name) && has(said))
}

/// Of two rules with the same conditions the stricter decides, wherever it stands.
fn warn_of_stricter(reader: &mut Reader<'_>, found: &[At<PolicyRule>]) {
    for rule in found {
        let is_idle = found.iter().any(|other| {
            let same = PolicyRule {
                decision: rule.value.decision,
                ..other.value.clone()
            };
            same == rule.value && other.value.decision > rule.value.decision
        });
        if is_idle {
            let message =
                "A stricter rule has the same conditions, so that this one never decides.";
            reader.warning(&rule.span, "policy", message, "Keep the one that you mean.");
        }
    }
}

/// Whether this is an effect outside the run.
pub(super) fn is_outward(effect: Effect) -> bool {
    effect >= Effect::Reversible
}
