//! `[[stage]]`: the fixed path of an agent's work.

use std::ops::Range;

use longrein_protocol::agent::{Each, Stage, ToolGrants};

use super::choices::EACHES;
use super::criteria::words;
use super::reader::{At, Fields, Reader};
use super::sections::is_agent_name;
use super::tools::{self, Grant};
use super::{criteria, keys};
use crate::policy::may_be_granted;
use crate::run::DELEGATE;

/// The most stages of one file.
const STAGES_MAX: usize = 16;
/// The longest instructions that helpers are given, in characters: their part follows.
const HELPER_LETTERS_MAX: usize = 6_000;

/// Reads every stage, and reports a path that can't be gone.
pub(super) fn read(reader: &mut Reader<'_>, root: Fields<'_>, grants: &ToolGrants) -> Vec<Stage> {
    let tables = reader.tables(root, "stage");
    if let Some(beyond) = tables.get(STAGES_MAX) {
        let message = format!("The file has {} stages.", tables.len());
        let remedy = format!("At most {STAGES_MAX} are read; put several into one.");
        reader.error(&beyond.span(), "stage", message, remedy);
    }
    let count = tables.len().min(STAGES_MAX);
    let mut stages: Vec<Stage> = Vec::with_capacity(count);
    for (position, value) in tables.into_iter().take(STAGES_MAX).enumerate() {
        let path = format!("stage[{}]", position + 1);
        let Some(fields) = reader.table(value, &path, keys::STAGE) else {
            continue;
        };
        let Some(stage) = stage(reader, fields, grants) else {
            continue;
        };
        let at = Place {
            path: &path,
            span: value.span(),
            is_first: position == 0,
            is_last: position + 1 == count,
        };
        check_end(reader, &at, &stage);
        check_helpers(reader, &at, &stage, grants);
        if stages.iter().any(|other| other.name == stage.name) {
            let message = format!("Two stages are called “{}”.", stage.name);
            reader.error(&at.span, &path, message, "Give each a name of its own.");
        }
        stages.push(stage);
    }
    stages
}

/// Where a stage stands.
struct Place<'p> {
    path: &'p str,
    span: Range<usize>,
    is_first: bool,
    is_last: bool,
}

fn stage(reader: &mut Reader<'_>, fields: Fields<'_>, grants: &ToolGrants) -> Option<Stage> {
    let each = reader.choice(fields, "each", EACHES, &[]);
    let tools = tools_of(reader, fields, grants);
    let done_when = criteria::read(reader, fields, grants);
    let name = need(reader, fields, "name");
    let instructions = need(reader, fields, "instructions");
    let name = name?;
    if !is_agent_name(&name) {
        let span = reader
            .value(fields, "name")
            .map_or(0..0, toml::Spanned::span);
        let message = format!("“{name}” can't be the name of a stage.");
        let remedy = "Use lower-case letters, digits and “-”, as in name = \"plan\".";
        reader.error(&span, &fields.path_of("name"), message, remedy);
    }
    Some(Stage {
        name,
        instructions: instructions?,
        tools,
        each,
        done_when,
    })
}

/// A text without which a stage is none.
fn need(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Option<String> {
    if reader.value(fields, key).is_some() {
        return words(reader, fields, key);
    }
    if !reader.is_broken() {
        let first = fields.entries().next();
        let span = first.map_or(0..0, |(_, span, _)| span);
        let message = format!("The stage has no “{key}”.");
        let remedy = format!("Write it like this: {}", fields.example(key));
        reader.error(&span, &fields.path_of(key), message, remedy);
    }
    None
}

fn tools_of(reader: &mut Reader<'_>, fields: Fields<'_>, grants: &ToolGrants) -> Vec<String> {
    let path = fields.path_of("tools");
    let named: Vec<At<String>> = reader.texts(fields, "tools").unwrap_or_default();
    let mut tools = Vec::with_capacity(named.len());
    for tool in named {
        if tools::check(reader, &tool, &path, Grant::Groups) {
            tools::warn_if_not_granted(reader, &tool, &path, &grants.allow);
            tools.push(tool.value);
        }
    }
    tools
}

/// The harness has to know when a stage is over.
fn check_end(reader: &mut Reader<'_>, at: &Place<'_>, stage: &Stage) {
    let path = format!("{}.done_when", at.path);
    if at.is_last && !stage.done_when.is_empty() {
        let message = format!(
            "“{}” is the last stage, which is done when the agent is.",
            stage.name
        );
        let remedy = "Write these criteria under [[done_when]], after the stages.";
        reader.error(&at.span, &path, message, remedy);
    }
    if !at.is_last && stage.done_when.is_empty() && stage.each.is_none() {
        let message = format!("Nothing says when “{}” is done.", stage.name);
        let remedy =
            "Write what has to hold then, as in done_when = [{ plan = \"made\", min = 3 }].";
        reader.error(&at.span, &path, message, remedy);
    }
}

fn check_helpers(reader: &mut Reader<'_>, at: &Place<'_>, stage: &Stage, grants: &ToolGrants) {
    if stage.each != Some(Each::Plan) {
        return;
    }
    let path = format!("{}.each", at.path);
    if at.is_first {
        let message = "No stage before this one makes the plan.";
        let remedy = "Put a stage before it that ends with done_when = [{ plan = \"made\" }].";
        reader.error(&at.span, &path, message, remedy);
    }
    if !may_be_granted(&grants.allow, DELEGATE) {
        let message =
            format!("The helpers of this stage are begun by “{DELEGATE}”, which is not granted.");
        let remedy = format!("Add “{DELEGATE}” to allow in [tools].");
        reader.error(&at.span, &path, message, remedy);
    }
    if stage.instructions.chars().count() > HELPER_LETTERS_MAX {
        let message = format!("The instructions have more than {HELPER_LETTERS_MAX} letters.");
        let remedy = "Say what every helper needs, and put the rest into a skill.";
        reader.error(
            &at.span,
            &format!("{}.instructions", at.path),
            message,
            remedy,
        );
    }
}
