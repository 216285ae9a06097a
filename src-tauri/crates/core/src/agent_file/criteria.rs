//! `[[done_when]]`: what has to hold before a run is done.

mod answers;
mod files;

use std::ops::Range;

use longrein_protocol::agent::{Criterion, ToolGrants};

use super::keys;
use super::reader::{At, Fields, Key, Reader, list};

/// A kind of criterion.
struct Kind {
    /// The key by which it is known.
    key: &'static str,
    keys: &'static [Key],
    read: fn(&mut Reader<'_>, Fields<'_>, &ToolGrants) -> Option<Criterion>,
}

const KINDS: &[Kind] = &[
    Kind {
        key: "file",
        keys: keys::FILE_CRITERION,
        read: files::file,
    },
    Kind {
        key: "evidence",
        keys: keys::EVIDENCE_CRITERION,
        read: files::evidence,
    },
    Kind {
        key: "schema",
        keys: keys::SCHEMA_CRITERION,
        read: files::schema,
    },
    Kind {
        key: "text",
        keys: keys::TEXT_CRITERION,
        read: files::text,
    },
    Kind {
        key: "links",
        keys: keys::LINKS_CRITERION,
        read: files::links,
    },
    Kind {
        key: "tool",
        keys: keys::TOOL_CRITERION,
        read: answers::tool,
    },
    Kind {
        key: "judge",
        keys: keys::JUDGE_CRITERION,
        read: answers::judge,
    },
    Kind {
        key: "command",
        keys: keys::COMMAND_CRITERION,
        read: answers::command,
    },
    Kind {
        key: "plan",
        keys: keys::PLAN_CRITERION,
        read: answers::plan,
    },
    Kind {
        key: "person",
        keys: keys::PERSON_CRITERION,
        read: answers::person,
    },
];

/// Reads every criterion of the file, or of one of its stages, that can be used and reports the others.
pub(super) fn read(reader: &mut Reader<'_>, of: Fields<'_>, grants: &ToolGrants) -> Vec<Criterion> {
    let mut criteria: Vec<Criterion> = Vec::new();
    for (position, value) in reader.tables(of, "done_when").into_iter().enumerate() {
        let path = format!("{}[{}]", of.path_of("done_when"), position + 1);
        let Some(fields) = reader.open_table(value, &path, keys::CRITERION) else {
            continue;
        };
        if refuse_later(reader, fields) {
            continue;
        }
        let has = |kind: &&Kind| reader.value(fields, kind.key).is_some();
        let kinds: Vec<&Kind> = KINDS.iter().filter(has).collect();
        let criterion = match kinds.as_slice() {
            [] => {
                unknown(reader, fields, &value.span());
                None
            }
            [kind] => reader
                .table(value, &path, kind.keys)
                .and_then(|fields| (kind.read)(reader, fields, grants)),
            [first, second, ..] => {
                let (first, second) = (first.key, second.key);
                let message = format!("One criterion can't have both {first} and {second}.");
                let remedy =
                    format!("Write two [[done_when]], one with {first} and one with {second}.");
                reader.error(&value.span(), &path, message, remedy);
                None
            }
        };
        let Some(criterion) = criterion else { continue };
        if criteria.contains(&criterion) {
            let message = "The same criterion stands twice.";
            reader.error(&value.span(), &path, message, "Keep one of the two.");
        } else {
            criteria.push(criterion);
        }
    }
    criteria
}

/// Whether it is of a kind that nothing checks yet.
fn refuse_later(reader: &mut Reader<'_>, fields: Fields<'_>) -> bool {
    let later = |name: &str| {
        keys::CRITERION
            .iter()
            .any(|key| key.name == name && !key.built)
    };
    let mut refused = false;
    for (name, span, _) in fields.entries().filter(|(name, ..)| later(name)) {
        reader.not_built(&span, &fields.path_of(name), name);
        refused = true;
    }
    refused
}

fn unknown(reader: &mut Reader<'_>, fields: Fields<'_>, span: &Range<usize>) {
    for (name, span, _) in fields.entries() {
        reader.unknown_key(fields, name, &span);
    }
    if fields.entries().next().is_none() && !reader.is_broken() {
        let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
        let remedy = format!(
            "Write what it is about, as in file = \"index.html\"; there are {}.",
            list(&kinds)
        );
        reader.error(span, fields.path(), "The criterion says nothing.", remedy);
    }
}

/// The path of a file beneath the workspace.
fn beneath_workspace(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<String> {
    let path = reader.text(fields, key)?;
    let text = path.value.as_str();
    let leaves = text.starts_with(['/', '~'])
        || text.contains('\\')
        || text.split('/').any(|part| part == "..");
    let names_a_file =
        !text.trim().is_empty() && !text.ends_with('/') && !text.contains(char::is_control);
    if names_a_file && !leaves {
        return Some(path.value);
    }
    let message = if leaves {
        format!("“{text}” is not beneath the workspace.")
    } else {
        format!("“{text}” does not name a file.")
    };
    let remedy = format!("Give the path from the workspace down, as in {key} = \"index.html\".");
    reader.error(&path.span, &fields.path_of(key), message, remedy);
    None
}

/// Reports a key without which the criterion can't be checked.
fn need(reader: &mut Reader<'_>, fields: Fields<'_>, (key, beside): (&str, &str)) {
    if reader.is_broken() || reader.value(fields, key).is_some() {
        return;
    }
    let span = reader
        .value(fields, beside)
        .map_or(0..0, toml::Spanned::span);
    let message = format!("The criterion has no “{key}”.");
    let remedy = format!("Write it like this: {}", fields.example(key));
    reader.error(&span, &fields.path_of(key), message, remedy);
}

/// Whether a text is a regular expression that says something; reports it when not.
fn is_expression(reader: &mut Reader<'_>, text: &At<String>, path: &str) -> bool {
    if text.value.is_empty() {
        let message = "An empty expression matches everywhere.";
        reader.error(&text.span, path, message, "Say what it has to find.");
        return false;
    }
    let Err(error) = regex::Regex::new(&text.value) else {
        return true;
    };
    // The last line says what; those before draw where.
    let told = error.to_string();
    let last = told.lines().last().unwrap_or_default();
    let fault = last.strip_prefix("error: ").unwrap_or(last);
    let message = format!("“{}” is no regular expression: {fault}.", text.value);
    let remedy = "Put “\\” before a sign that stands for itself, and write it in single quotes.";
    reader.error(&text.span, path, message, remedy);
    false
}

/// A text that says something to whoever reads it.
pub(super) fn words(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<String> {
    let text = reader.text(fields, key)?;
    if text.value.trim().is_empty() {
        let message = format!("“{key}” says nothing.");
        let remedy = format!("Write it like this: {}", fields.example(key));
        reader.error(&text.span, &fields.path_of(key), message, remedy);
        return None;
    }
    Some(text.value.trim().to_owned())
}
