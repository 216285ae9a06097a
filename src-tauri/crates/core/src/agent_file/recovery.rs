//! `[tools."server.tool".recovery]`: how an unknown outcome is found out, and what takes it back.

use longrein_protocol::agent::ToolGrants;
use longrein_protocol::tool::Recovery;
use longrein_protocol::{Effect, Repeat};

use super::choices::{EFFECTS, word};
use super::keys;
use super::policy::is_outward;
use super::reader::{Fields, Reader};
use super::tools::{self, Grant};
use crate::policy::may_be_granted;

/// Reads the table.
pub(super) fn read(reader: &mut Reader<'_>, fields: Fields<'_>) -> Recovery {
    Recovery {
        key_argument: argument(reader, fields, "key_argument"),
        key_valid_seconds: reader.whole(fields, "key_valid_seconds", &keys::KEY_VALID_SECONDS),
        status_tool: tool(reader, fields, "status_tool"),
        status_pointer: reader
            .pointer(fields, "status_pointer")
            .map(|pointer| pointer.value),
        undo_tool: tool(reader, fields, "undo_tool"),
        undo_argument: argument(reader, fields, "undo_argument"),
    }
}

fn argument(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<String> {
    let name = reader.text(fields, key)?;
    if name.value.trim().is_empty() {
        let message = format!("{key} names no argument.");
        let remedy = format!("Write it like this: {}", fields.example(key));
        reader.error(&name.span, &fields.path_of(key), message, remedy);
    }
    Some(name.value)
}

fn tool(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<String> {
    let name = reader.text(fields, key)?;
    let path = fields.path_of(key);
    tools::check(reader, &name, &path, Grant::Single).then_some(name.value)
}

/// Checks that what is said of one tool fits together and fits the other tools.
pub(super) fn check(reader: &mut Reader<'_>, fields: Fields<'_>, tool: &str, grants: &ToolGrants) {
    let check = Check {
        settings: fields,
        tool,
        grants,
    };
    check.repeat(reader);
    let path = fields.path_of("recovery");
    let table = reader
        .value(fields, "recovery")
        .filter(|value| value.get_ref().is_table());
    if let Some(table) = table
        && let Some(recovery) = reader.open_table(table, &path, keys::RECOVERY)
    {
        check.idle(reader, recovery);
        check.undo(reader, recovery);
        check.other_tools(reader, recovery);
    }
}

/// What is needed to look at one tool.
struct Check<'c> {
    /// The tool's table.
    settings: Fields<'c>,
    tool: &'c str,
    grants: &'c ToolGrants,
}

impl Check<'_> {
    fn repeat_said(&self) -> Option<Repeat> {
        self.grants.settings.get(self.tool)?.repeat
    }

    fn effect_said(&self) -> Option<Effect> {
        self.grants.settings.get(self.tool)?.effect
    }

    /// What a kind of repeatability needs.
    fn repeat(&self, reader: &mut Reader<'_>) {
        let (Some(value), Some(repeat)) =
            (reader.value(self.settings, "repeat"), self.repeat_said())
        else {
            return;
        };
        let (name, key, what) = match repeat {
            Repeat::Keyed => ("keyed", "key_argument", "the argument that takes the key"),
            Repeat::Queryable => (
                "queryable",
                "status_tool",
                "the tool that says what became of an action",
            ),
            Repeat::Repeatable | Repeat::Once | Repeat::Reattach | Repeat::Replay => return,
        };
        let (span, path) = (value.span(), self.settings.path_of("repeat"));
        if self.effect_said() == Some(Effect::Read) {
            let message = "A tool that only reads is started again anyway.";
            reader.error(&span, &path, message, "Take repeat and recovery out.");
        } else if !self.says(reader, key) {
            let message = format!("repeat = \"{name}\" needs {what}.");
            let remedy = format!(
                "Write [tools.\"{}\".recovery] with {}.",
                self.tool,
                keys::example(keys::RECOVERY, key)
            );
            reader.error(&span, &path, message, remedy);
        }
    }

    /// Whether a key of the recovery is written, well or not.
    fn says(&self, reader: &Reader<'_>, key: &str) -> bool {
        let recovery = reader.value(self.settings, "recovery");
        recovery
            .and_then(|value| value.get_ref().as_table())
            .is_some_and(|table| table.contains_key(key))
    }

    /// Keys that do nothing for this kind of repeatability.
    fn idle(&self, reader: &mut Reader<'_>, recovery: Fields<'_>) {
        let with: [(&str, &[Repeat], &str); 4] = [
            ("key_argument", &[Repeat::Keyed, Repeat::Queryable], "keyed"),
            ("key_valid_seconds", &[Repeat::Keyed], "keyed"),
            ("status_tool", &[Repeat::Queryable], "queryable"),
            ("status_pointer", &[Repeat::Queryable], "queryable"),
        ];
        for (key, kinds, name) in with {
            let Some(value) = reader.value(recovery, key) else {
                continue;
            };
            if self.repeat_said().is_some_and(|said| kinds.contains(&said)) {
                continue;
            }
            let message = format!("“{key}” has no effect without repeat = \"{name}\".");
            let remedy = format!("Write repeat = \"{name}\" beside effect, or take this out.");
            reader.error(&value.span(), &recovery.path_of(key), message, remedy);
        }
    }

    fn undo(&self, reader: &mut Reader<'_>, recovery: Fields<'_>) {
        let both = [
            (
                "undo_tool",
                "undo_argument",
                "the argument that takes the receipt",
            ),
            (
                "undo_argument",
                "undo_tool",
                "the tool that takes the effect back",
            ),
        ];
        for (key, other, what) in both {
            if let Some(value) = reader.value(recovery, key)
                && reader.value(recovery, other).is_none()
            {
                let message = format!("“{key}” needs {what}.");
                let remedy = format!("Write it like this: {}", recovery.example(other));
                reader.error(&value.span(), &recovery.path_of(key), message, remedy);
            }
        }
        if let Some(value) = reader.value(recovery, "undo_tool")
            && self.effect_said().is_some_and(|effect| !is_outward(effect))
        {
            let message = "A tool that changes nothing outside leaves nothing to take back.";
            let remedy = "Take undo_tool and undo_argument out.";
            reader.error(
                &value.span(),
                &recovery.path_of("undo_tool"),
                message,
                remedy,
            );
        }
    }

    /// The tools that it names: each is another one, granted, and the one that is asked only reads.
    fn other_tools(&self, reader: &mut Reader<'_>, recovery: Fields<'_>) {
        for key in ["status_tool", "undo_tool"] {
            let Some(value) = reader.value(recovery, key) else {
                continue;
            };
            let Some(named) = value
                .get_ref()
                .as_str()
                .filter(|name| tools::is_sound(name))
            else {
                continue;
            };
            let (span, path) = (value.span(), recovery.path_of(key));
            let effect = tools::effect(named, self.grants);
            if named == self.tool {
                let message = format!("“{named}” can't be its own {key}.");
                reader.error(&span, &path, message, "Name another tool.");
            } else if !may_be_granted(&self.grants.allow, named) {
                let message = format!("“{named}” is not granted to this agent.");
                let remedy = format!("Add “{named}” to allow in [tools].");
                reader.error(&span, &path, message, remedy);
            } else if let Some(effect) = effect.filter(|effect| *effect != Effect::Read)
                && key == "status_tool"
            {
                let message = format!(
                    "A status tool only reads, and the effect of “{named}” is {}.",
                    word(EFFECTS, &effect)
                );
                reader.error(&span, &path, message, "Name a tool that only reads.");
            }
        }
    }
}
