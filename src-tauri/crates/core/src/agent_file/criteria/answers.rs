//! Criteria that somebody answers: a tool, a model, a command, the plan, a person.

use longrein_protocol::Effect;
use longrein_protocol::agent::{
    CommandCriterion, Criterion, JudgeCriterion, PersonCriterion, PlanCriterion, ToolCriterion,
    ToolGrants,
};

use super::super::choices::{EFFECTS, PLAN_GOALS, word};
use super::super::keys;
use super::super::reader::{At, Fields, Reader};
use super::super::sections::is_model_name;
use super::super::tools::{self, Grant};
use super::{beneath_workspace, is_expression, need, words};
use crate::policy::may_be_granted;

/// `tool = "tracker.read"`
pub(super) fn tool(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    grants: &ToolGrants,
) -> Option<Criterion> {
    let args = reader.json_table(fields, "args").unwrap_or_default();
    let pointer = reader.pointer(fields, "pointer");
    let equals = reader.json(fields, "equals");
    let matches = reader.text(fields, "matches");
    if let Some(matches) = &matches {
        is_expression(reader, matches, &fields.path_of("matches"));
    }
    one_test(reader, fields);
    let tool = reader.text(fields, "tool")?;
    let path = fields.path_of("tool");
    if tools::check(reader, &tool, &path, Grant::Single) {
        only_reads(reader, &tool, &path, grants);
    }
    Some(Criterion::Tool(ToolCriterion {
        tool: tool.value,
        args,
        pointer: pointer.map(|pointer| pointer.value).unwrap_or_default(),
        equals,
        matches: matches.map(|matches| matches.value),
    }))
}

/// The answer is tested in exactly one way.
fn one_test(reader: &mut Reader<'_>, fields: Fields<'_>) {
    let span_of =
        |reader: &Reader<'_>, key: &str| reader.value(fields, key).map(toml::Spanned::span);
    match (span_of(reader, "equals"), span_of(reader, "matches")) {
        (Some(_), Some(span)) => {
            let message = "One criterion can't have both equals and matches.";
            let remedy = "Keep one, or write two [[done_when]].";
            reader.error(&span, &fields.path_of("matches"), message, remedy);
        }
        (None, None) if !reader.is_broken() => {
            let span = span_of(reader, "tool").unwrap_or_default();
            let message = "The criterion does not say what the answer has to be.";
            let remedy = format!(
                "Write {}, or {}.",
                fields.example("equals"),
                fields.example("matches")
            );
            reader.error(&span, fields.path(), message, remedy);
        }
        _ => {}
    }
}

/// The harness itself calls this tool, so that it has to be granted and to change nothing.
fn only_reads(reader: &mut Reader<'_>, tool: &At<String>, path: &str, grants: &ToolGrants) {
    let name = tool.value.as_str();
    if !may_be_granted(&grants.allow, name) {
        let message = format!("“{name}” is not granted to this agent.");
        let remedy = format!("Add “{name}” to allow in [tools].");
        reader.error(&tool.span, path, message, remedy);
        return;
    }
    let effect = tools::effect(name, grants);
    let is_asking = tools::is_built_in(name) && effect.is_none();
    if is_asking {
        let message = format!("“{name}” gives no answer that could be tested.");
        reader.error(&tool.span, path, message, "Name a tool that reads.");
    } else if let Some(effect) = effect.filter(|effect| *effect != Effect::Read) {
        let message = format!(
            "A criterion only reads, and the effect of “{name}” is {}.",
            word(EFFECTS, &effect)
        );
        reader.error(&tool.span, path, message, "Name a tool that reads.");
    }
}

/// `judge = "Every claim is fair to its source."`
pub(super) fn judge(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    need(reader, fields, ("of", "judge"));
    let model = reader.text(fields, "model");
    if let Some(name) = model.as_ref().filter(|name| !is_model_name(&name.value)) {
        let message = format!("“{}” is not the name of a model.", name.value);
        let remedy = "Write provider/model, or leave it out: then the run's own model judges.";
        reader.error(&name.span, &fields.path_of("model"), message, remedy);
    }
    let rubric = words(reader, fields, "judge");
    let of = beneath_workspace(reader, fields, "of");
    Some(Criterion::Judge(JudgeCriterion {
        judge: rubric?,
        of: of?,
        model: model.map(|model| model.value),
    }))
}

/// `person = "Read the page and accept it."`
pub(super) fn person(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    Some(Criterion::Person(PersonCriterion {
        person: words(reader, fields, "person")?,
    }))
}

/// `command = "python3 -m pytest -q"`
pub(super) fn command(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _: &ToolGrants,
) -> Option<Criterion> {
    let status = reader.whole(fields, "status", &keys::EXIT_STATUS);
    let matches = reader.text(fields, "matches");
    if let Some(matches) = &matches {
        is_expression(reader, matches, &fields.path_of("matches"));
    }
    let command = words(reader, fields, "command")?;
    Some(Criterion::Command(CommandCriterion {
        command,
        status: status.unwrap_or(0),
        matches: matches.map(|matches| matches.value),
    }))
}

/// `plan = "made"`
pub(super) fn plan(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _: &ToolGrants,
) -> Option<Criterion> {
    let min = reader.whole(fields, "min", &keys::MIN_ITEMS);
    Some(Criterion::Plan(PlanCriterion {
        plan: reader.choice(fields, "plan", PLAN_GOALS, &[])?,
        min: min.unwrap_or(*keys::MIN_ITEMS.start()),
    }))
}
