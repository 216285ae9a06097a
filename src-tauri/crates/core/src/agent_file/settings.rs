//! `[tools]`: what is granted, and what the person says of each tool.

use std::collections::BTreeMap;

use longrein_protocol::agent::{PolicyRule, ToolGrants, ToolSettings};
use longrein_protocol::{Repeat, tool::Recovery};
use toml::Spanned;
use toml::de::DeValue;

use super::choices::{DECISIONS, EFFECTS, REPEATS};
use super::keys;
use super::reader::{At, Fields, Reader, join};
use super::recovery;
use super::tools::{self, Grant};

/// Keys that say of a server's tool what is known of a built-in one.
const KNOWN_OF_BUILT_IN: &[&str] = &["paths", "urls", "commands", "trusted", "recovery"];

/// A table of settings, with the tool that it speaks of.
pub(super) struct Said<'d> {
    pub(super) tool: At<String>,
    value: &'d Spanned<DeValue<'d>>,
}

/// Reads the section.
pub(super) fn read(reader: &mut Reader<'_>, root: Fields<'_>) -> ToolGrants {
    let mut grants = ToolGrants::default();
    let Some(value) = reader.value(root, "tools") else {
        return grants;
    };
    let Some(fields) = reader.open_table(value, "tools", keys::TOOLS) else {
        return grants;
    };
    for allowed in reader.texts(fields, "allow").unwrap_or_default() {
        if tools::check(reader, &allowed, "tools.allow", Grant::Groups) {
            grants.allow.push(allowed.value);
        }
    }
    for preloaded in reader.texts(fields, "preload").unwrap_or_default() {
        if tools::check(reader, &preloaded, "tools.preload", Grant::Servers) {
            tools::warn_of_preload(reader, &preloaded, &grants.allow);
            grants.preload.push(preloaded.value);
        }
    }
    let mut tables = Vec::new();
    for (name, span, value) in fields.entries() {
        let known = keys::TOOLS.iter().find(|key| key.name == name);
        match (known, value.get_ref()) {
            (Some(key), _) if key.built => {}
            (Some(_), _) => reader.not_built(&span, &fields.path_of(name), name),
            (None, DeValue::Table(table)) => {
                let tool = At {
                    value: name.to_owned(),
                    span,
                };
                if tools::check_settings_name(reader, &tool, table) {
                    tables.push(Said { tool, value });
                }
            }
            (None, _) => reader.unknown_key(fields, name, &span),
        }
    }
    for said in &tables {
        let settings = settings(reader, said, &grants.allow);
        grants.settings.insert(said.tool.value.clone(), settings);
    }
    // What one tool says of another is looked at when all have been read.
    for said in &tables {
        check_together(reader, said, &grants);
    }
    grants
}

/// Takes out what the tables of tools decide, as rules.
pub(super) fn decided(grants: &mut ToolGrants) -> Vec<PolicyRule> {
    let tables = grants.settings.iter_mut();
    let rules = tables.filter_map(|(tool, said)| {
        Some(PolicyRule {
            tool: Some(tool.clone()),
            effect: None,
            args: BTreeMap::new(),
            path: None,
            host: None,
            command: None,
            decision: said.decision.take()?,
        })
    });
    rules.collect()
}

fn settings(reader: &mut Reader<'_>, said: &Said<'_>, allow: &[String]) -> ToolSettings {
    let path = join("tools", &said.tool.value);
    let Some(fields) = reader.table(said.value, &path, keys::TOOL) else {
        return ToolSettings::default();
    };
    tools::warn_if_not_granted(reader, &said.tool, &path, allow);
    let repeat = reader.choice(fields, "repeat", REPEATS, &[]);
    if tools::is_built_in(&said.tool.value) {
        refuse_of_built_in(reader, fields, &said.tool.value, repeat);
    }
    ToolSettings {
        effect: reader.choice(fields, "effect", EFFECTS, &[]),
        repeat,
        result_tokens: reader.whole(fields, "result_tokens", &keys::RESULT_TOKENS),
        timeout_seconds: reader.whole(fields, "timeout_seconds", &keys::TIMEOUT_SECONDS),
        recovery: recovery_table(reader, fields),
        paths: arguments(reader, fields, "paths"),
        urls: arguments(reader, fields, "urls"),
        commands: arguments(reader, fields, "commands"),
        decision: reader.choice(fields, "decision", DECISIONS, &[]),
        trusted: reader.flag(fields, "trusted"),
    }
}

fn refuse_of_built_in(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    tool: &str,
    repeat: Option<Repeat>,
) {
    for key in KNOWN_OF_BUILT_IN {
        if let Some(value) = reader.value(fields, key) {
            let message = format!("“{tool}” is built in: there is nothing to say of its {key}.");
            let path = fields.path_of(key);
            reader.error(&value.span(), &path, message, "Take it out.");
        }
    }
    if let Some(value) = reader.value(fields, "repeat")
        && matches!(repeat, Some(Repeat::Keyed | Repeat::Queryable))
    {
        let message = format!("“{tool}” is built in: it takes no key and can't be asked.");
        let remedy = "Write repeat = \"once\", or take it out.";
        reader.error(&value.span(), &fields.path_of("repeat"), message, remedy);
    }
}

/// Names of arguments; an empty list says that there are none.
fn arguments(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<Vec<String>> {
    let names = reader.texts(fields, key)?;
    for name in &names {
        if name.value.trim().is_empty() || name.value.contains(char::is_control) {
            let message = format!("“{}” is not the name of an argument.", name.value);
            let remedy = format!("Write it like this: {}", fields.example(key));
            reader.error(&name.span, &fields.path_of(key), message, remedy);
        }
    }
    Some(names.into_iter().map(|name| name.value).collect())
}

fn recovery_table(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<Recovery> {
    let value = reader.value(fields, "recovery")?;
    let path = fields.path_of("recovery");
    let fields = reader.table(value, &path, keys::RECOVERY)?;
    let recovery = recovery::read(reader, fields);
    if recovery == Recovery::default() && fields.entries().next().is_none() {
        let message = "The table says nothing.";
        reader.warning(&value.span(), &path, message, "Take it out.");
    }
    (recovery != Recovery::default()).then_some(recovery)
}

fn check_together(reader: &mut Reader<'_>, said: &Said<'_>, grants: &ToolGrants) {
    let path = join("tools", &said.tool.value);
    if tools::is_built_in(&said.tool.value) || reader.is_broken() {
        return;
    }
    if let Some(fields) = reader.open_table(said.value, &path, keys::TOOL) {
        recovery::check(reader, fields, &said.tool.value, grants);
    }
}
