//! Names of tools in an agent file.

use longrein_protocol::Effect;
use longrein_protocol::agent::ToolGrants;
use toml::de::DeTable;

use super::keys;
use super::reader::{At, Reader, join, list, nearest};
use crate::policy::selector::{SELECTORS, Selector};
use crate::policy::{ALWAYS_GRANTED, FILE_TOOLS, FILES, may_be_granted};

/// Built-in tools that change nothing, the run itself included.
const READING: &[&str] = &[
    "read_file",
    "list_files",
    "search_files",
    "search_library",
    "web_fetch",
    "read_source",
    "read_result",
    "recall",
];

/// Built-in tools that change the workspace or the run.
const CHANGING: &[&str] = &[
    "write_file",
    "edit_file",
    "update_plan",
    "pin_note",
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
    if text.contains('@') {
        return check_selector(reader, name, path, grant);
    }
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

/// The same for `@read` and its like, which stand where several tools may be spoken of.
fn check_selector(reader: &mut Reader<'_>, name: &At<String>, path: &str, grant: Grant) -> bool {
    let text = name.value.as_str();
    let (server, word) = match text.split_once('.') {
        Some((server, word)) => (Some(server), word),
        None => (None, text),
    };
    let is_selector = Selector::of(text).is_some();
    let is_sound = server.is_none_or(is_word);
    if is_selector && is_sound && grant != Grant::Single {
        return true;
    }
    let names: Vec<&str> = SELECTORS.iter().map(|(name, _)| *name).collect();
    let message = match is_selector && grant == Grant::Single {
        true => format!("“{text}” stands for several tools, and one is needed here."),
        false => format!("“{text}” stands for no tools."),
    };
    let remedy = match (grant, nearest(word, &names)) {
        (Grant::Single, _) => "Write server.tool, one tool at a time.".to_owned(),
        (_, Some(near)) if is_sound => {
            let server = server.map_or(String::new(), |server| format!("{server}."));
            format!("Did you mean “{server}{near}”?")
        }
        _ => format!("Known are {}, and server.@read.", list(&names)),
    };
    reader.error(&name.span, path, message, remedy);
    false
}

/// The names that are worth writing; those that are always granted are not.
fn known_names(grant: Grant) -> Vec<&'static str> {
    let group = (grant == Grant::Groups).then_some(FILES);
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
    // Which tools have an effect is known when their servers are asked; the server is known now.
    let name = match Selector::of(name) {
        Some((None, _)) => return,
        Some((Some(server), _)) => &format!("{server}.*"),
        None => name,
    };
    let covered = match name.strip_suffix(".*") {
        Some(server) => allow
            .iter()
            .any(|granted| granted.split_once('.').is_some_and(|(of, _)| of == server)),
        None if name == FILES => FILE_TOOLS.iter().any(|tool| may_be_granted(allow, tool)),
        None => may_be_granted(allow, name),
    };
    if !covered {
        let message = format!("“{name}” is not granted to this agent, so this has no effect.");
        let remedy = format!("Add “{name}” to allow in [tools], or take this out.");
        reader.warning(&tool.span, path, message, remedy);
    }
}

/// Preloading says something of the tools of servers only.
pub(super) fn warn_of_preload(reader: &mut Reader<'_>, tool: &At<String>, allow: &[String]) {
    let name = tool.value.as_str();
    if name.contains('.') {
        return warn_if_not_granted(reader, tool, "tools.preload", allow);
    }
    let message = format!("“{name}” is built in: it always stands in a request.");
    reader.warning(&tool.span, "tools.preload", message, "Take it out.");
}

/// Whether a rule for `pattern` speaks of a tool.
pub(super) fn covers(pattern: &str, tool: &str) -> bool {
    // Which tools have an effect is not known here, so any of them may be meant.
    if let Some((server, _)) = Selector::of(pattern) {
        let of = tool.split_once('.').map(|(of, _)| of);
        return server.is_none_or(|server| of == Some(server));
    }
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
        || tool.split_once('.').is_some_and(|(server, tool)| {
            is_word(server) && !tool.is_empty() && tool != "*" && !tool.starts_with('@')
        })
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
