//! Names of tools in an agent file.

use longrein_protocol::Effect;
use longrein_protocol::agent::ToolGrants;
use toml::de::DeTable;

use super::keys;
use super::reader::{At, Reader, join, list, nearest};
use crate::policy::{ALWAYS_GRANTED, FILE_TOOLS, is_granted};

/// Built-in tools that change nothing, the run itself included.
const READING: &[&str] = &[
    "read_file",
    "list_files",
    "search_files",
    "search_library",
    "web_fetch",
    "read_source",
];

/// Built-in tools that change the workspace or the run.
const CHANGING: &[&str] = &[
    "write_file",
    "edit_file",
    "update_plan",
    "load_skill",
    "publish_artifact",
    "run_command",
    "run_code",
];

/// Built-in tools with an argument that is a path.
pub(super) const WITH_PATHS: &[&str] = &[
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "publish_artifact",
];

/// Which names stand for several tools where one is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// `files` and `server.*`.
    Groups,
    /// `server.*` only.
    Servers,
    /// None.
    Single,
}

/// Whether this is a name of a tool that may be granted or spoken of; reports it when not.
pub(super) fn check(reader: &mut Reader<'_>, name: &At<String>, path: &str, grant: Grant) -> bool {
    let text = name.value.as_str();
    if let Some((server, tool)) = text.split_once('.') {
        let is_group = tool == "*";
        if is_word(server) && !tool.is_empty() && (!is_group || grant != Grant::Single) {
            return true;
        }
        let message = format!("“{text}” is not the name of a tool of a server.");
        let remedy = match grant {
            Grant::Single => "Write server.tool, one tool at a time.",
            _ => "Write server.tool, or server.* for all of its tools.",
        };
        reader.error(&name.span, path, message, remedy);
        return false;
    }
    if keys::LATER_TOOLS.contains(&text) {
        reader.not_built(&name.span, path, text);
        return false;
    }
    let known = known_names(grant);
    if known.contains(&text) || ALWAYS_GRANTED.contains(&text) {
        return true;
    }
    let message = format!("There is no tool “{text}”.");
    let remedy = match nearest(text, &known).or_else(|| nearest(text, ALWAYS_GRANTED)) {
        Some(near) => format!("Did you mean “{near}”?"),
        None => format!(
            "Known are {}, and server.tool for the tools of MCP servers.",
            list(&known)
        ),
    };
    reader.error(&name.span, path, message, remedy);
    false
}

/// The names that are worth writing; those that are always granted are not.
fn known_names(grant: Grant) -> Vec<&'static str> {
    let group = (grant == Grant::Groups).then_some("files");
    let singles = keys::SINGLE_TOOLS.iter().chain(FILE_TOOLS);
    group.into_iter().chain(singles.copied()).collect()
}

/// The same for `[tools.NAME]`, where a name without quotes becomes a table of tables.
pub(super) fn check_settings_name(
    reader: &mut Reader<'_>,
    name: &At<String>,
    table: &DeTable<'_>,
) -> bool {
    let path = join("tools", &name.value);
    let only_entry = table.iter().next().filter(|_| table.len() == 1);
    if let Some((tool, value)) = only_entry
        && value.get_ref().is_table()
        && !is_built_in(&name.value)
        && is_word(&name.value)
    {
        let full = format!("{}.{}", name.value, tool.get_ref());
        let message = format!("The name of a tool with a dot stands in quotes: “{full}”.");
        reader.error(
            &name.span,
            &path,
            message,
            format!("Write [tools.\"{full}\"]."),
        );
        return false;
    }
    check(reader, name, &path, Grant::Single)
}

/// Settings and rules for a tool that the agent does not have do nothing.
pub(super) fn warn_if_not_granted(
    reader: &mut Reader<'_>,
    tool: &At<String>,
    path: &str,
    allow: &[String],
) {
    let name = tool.value.as_str();
    let covered = match name.strip_suffix(".*") {
        Some(server) => allow
            .iter()
            .any(|granted| granted.split_once('.').is_some_and(|(of, _)| of == server)),
        None => is_granted(allow, name),
    };
    if !covered {
        let message = format!("“{name}” is not granted to this agent, so this has no effect.");
        let remedy = format!("Add “{name}” to allow in [tools], or take this out.");
        reader.warning(&tool.span, path, message, remedy);
    }
}

/// Whether a rule for `pattern` speaks of a tool.
pub(super) fn covers(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(server) => tool.split_once('.').is_some_and(|(of, _)| of == server),
        None => pattern == tool,
    }
}

/// Whether it is a tool of the harness and not of a server.
pub(super) fn is_built_in(tool: &str) -> bool {
    let known = [READING, CHANGING, keys::SINGLE_TOOLS, ALWAYS_GRANTED];
    known.into_iter().any(|names| names.contains(&tool))
}

/// Whether this can be the name of one tool at all.
pub(super) fn is_sound(tool: &str) -> bool {
    is_built_in(tool)
        || tool
            .split_once('.')
            .is_some_and(|(server, tool)| is_word(server) && !tool.is_empty() && tool != "*")
}

/// The effect of a tool, as far as it is known without its server.
pub(super) fn effect(tool: &str, grants: &ToolGrants) -> Option<Effect> {
    let said = grants.settings.get(tool).and_then(|said| said.effect);
    said.or_else(|| READING.contains(&tool).then_some(Effect::Read))
        .or_else(|| CHANGING.contains(&tool).then_some(Effect::Workspace))
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter))
}
