//! An agent's specification as the file that says it in full.

mod value;

use std::fmt::Write;

use longrein_protocol::agent::{
    AgentSpec, Budget, Criterion, PolicyRule, SandboxSettings, Stage, TextCriterion, ToolCriterion,
    ToolSettings,
};
use longrein_protocol::tool::Recovery;

use super::choices::{DECISIONS, EACHES, EFFECTS, PERMITS, PLAN_GOALS, REPEATS, THINKINGS, word};
use crate::policy::runs_commands;
use value::{fraction, json, list, long_text, number, table, table_of_texts, text};

/// Writes the file with every default filled in. Reading it again gives the same specification.
pub(super) fn to_toml(spec: &AgentSpec) -> String {
    let mut file = File::default();
    file.line("name", &text(&spec.name));
    file.line("description", &text(&spec.description));
    file.line("instructions", &long_text(&spec.instructions));
    file.table("model");
    file.list("use", &spec.model.use_);
    file.line("max_output_tokens", &number(spec.model.max_output_tokens));
    file.line("window_tokens", &number(spec.model.window_tokens));
    if let Some(temperature) = spec.model.temperature {
        file.line("temperature", &fraction(temperature));
    }
    if let Some(thinking) = spec.model.thinking {
        file.line("thinking", &text(word(THINKINGS, &thinking)));
    }
    file.table("tools");
    file.list("allow", &spec.tools.allow);
    if !spec.tools.preload.is_empty() {
        file.list("preload", &spec.tools.preload);
    }
    for (tool, settings) in &spec.tools.settings {
        file.settings(&format!("tools.{}", text(tool)), settings);
    }
    for rule in &spec.policy {
        file.table_of_list("policy");
        file.rule(rule);
    }
    file.table("skills");
    file.list("use", &spec.skills.use_);
    if !spec.agents.is_none() {
        file.table("agents");
        file.list("use", &spec.agents.use_);
    }
    file.table("library");
    file.list("folders", &spec.library.folders);
    if !spec.sandbox.is_default() || runs_commands(&spec.tools) {
        file.sandbox(&spec.sandbox);
    }
    file.table("context");
    file.line("compact_at", &fraction(spec.context.compact_at));
    if !spec.context.summaries {
        file.line("summaries", "false");
    }
    file.optional_text("summary_model", spec.context.summary_model.as_ref());
    file.line(
        "offload_above_tokens",
        &number(spec.context.offload_above_tokens),
    );
    file.line("server_tools", &number(spec.context.server_tools));
    file.line(
        "server_tool_tokens",
        &number(spec.context.server_tool_tokens),
    );
    file.budget(&spec.budget);
    for stage in &spec.stages {
        file.stage(stage);
    }
    for criterion in &spec.done_when {
        file.table_of_list("done_when");
        file.criterion(criterion);
    }
    file.text
}

#[derive(Default)]
struct File {
    text: String,
}

impl File {
    fn table(&mut self, name: &str) {
        self.push(format_args!("\n[{name}]\n"));
    }

    fn table_of_list(&mut self, name: &str) {
        self.push(format_args!("\n[[{name}]]\n"));
    }

    fn line(&mut self, key: &str, value: &str) {
        self.push(format_args!("{key} = {value}\n"));
    }

    fn list(&mut self, key: &str, items: &[String]) {
        self.line(key, &list(key, items));
    }

    fn optional(&mut self, key: &str, value: Option<u32>) {
        if let Some(value) = value {
            self.line(key, &number(value));
        }
    }

    fn optional_text(&mut self, key: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.line(key, &text(value));
        }
    }

    fn word(&mut self, key: &str, word: &str) {
        self.line(key, &text(word));
    }

    fn settings(&mut self, name: &str, settings: &ToolSettings) {
        self.table(name);
        if let Some(known) = settings.effect {
            self.word("effect", word(EFFECTS, &known));
        }
        if let Some(known) = settings.repeat {
            self.word("repeat", word(REPEATS, &known));
        }
        self.optional("result_tokens", settings.result_tokens);
        self.optional("timeout_seconds", settings.timeout_seconds);
        for (key, names) in [
            ("paths", &settings.paths),
            ("urls", &settings.urls),
            ("commands", &settings.commands),
        ] {
            if let Some(names) = names {
                self.list(key, names);
            }
        }
        if let Some(trusted) = settings.trusted {
            self.line("trusted", &trusted.to_string());
        }
        if let Some(recovery) = &settings.recovery {
            self.recovery(&format!("{name}.recovery"), recovery);
        }
    }

    fn recovery(&mut self, name: &str, recovery: &Recovery) {
        self.table(name);
        self.optional_text("key_argument", recovery.key_argument.as_ref());
        self.optional("key_valid_seconds", recovery.key_valid_seconds);
        self.optional_text("status_tool", recovery.status_tool.as_ref());
        self.optional_text("status_pointer", recovery.status_pointer.as_ref());
        self.optional_text("undo_tool", recovery.undo_tool.as_ref());
        self.optional_text("undo_argument", recovery.undo_argument.as_ref());
    }

    fn rule(&mut self, rule: &PolicyRule) {
        self.optional_text("tool", rule.tool.as_ref());
        if let Some(effect) = rule.effect {
            self.word("effect", word(EFFECTS, &effect));
        }
        if !rule.args.is_empty() {
            self.line("args", &table_of_texts(&rule.args));
        }
        self.optional_text("path", rule.path.as_ref());
        self.optional_text("host", rule.host.as_ref());
        self.optional_text("command", rule.command.as_ref());
        self.word("decision", word(DECISIONS, &rule.decision));
    }

    fn sandbox(&mut self, sandbox: &SandboxSettings) {
        self.table("sandbox");
        self.optional_text("image", sandbox.image.as_ref());
        self.word("memory", &sandbox.memory.to_string());
        self.line("cpus", &fraction(sandbox.cpus));
        self.line("processes", &number(sandbox.processes));
        self.word("disk", &sandbox.disk.to_string());
        self.line("timeout_seconds", &number(sandbox.timeout_seconds));
        self.list("hosts", &sandbox.hosts);
    }

    fn budget(&mut self, budget: &Budget) {
        self.table("budget");
        self.line("steps", &number(budget.steps));
        self.optional("tokens_in", budget.tokens_in);
        self.optional("tokens_out", budget.tokens_out);
        self.optional("working_minutes", budget.working_minutes);
        self.optional("actions", budget.actions);
        if let Some(usd) = budget.money_usd {
            self.line("money_usd", &fraction(usd));
        }
        // Left out it would be the default again.
        self.line("idle_steps", &number(budget.idle_steps.unwrap_or(0)));
        self.line("children", &number(budget.children));
        self.line("depth", &number(budget.depth));
    }

    fn stage(&mut self, stage: &Stage) {
        self.table_of_list("stage");
        self.line("name", &text(&stage.name));
        self.line("instructions", &long_text(&stage.instructions));
        if !stage.tools.is_empty() {
            self.list("tools", &stage.tools);
        }
        if let Some(each) = stage.each {
            self.word("each", word(EACHES, &each));
        }
        for criterion in &stage.done_when {
            self.table_of_list("stage.done_when");
            self.criterion(criterion);
        }
    }

    fn criterion(&mut self, criterion: &Criterion) {
        match criterion {
            Criterion::File(file) => {
                self.line("file", &text(&file.file));
                self.line("min_bytes", &number(file.min_bytes));
                self.optional("max_bytes", file.max_bytes);
                self.optional_text("media_type", file.media_type.as_ref());
            }
            Criterion::Evidence(evidence) => {
                self.line("evidence", &text(&evidence.evidence));
                self.word("uncited", word(PERMITS, &evidence.uncited));
                self.word("numbers", word(PERMITS, &evidence.numbers));
                self.line("min_citations", &number(evidence.min_citations));
            }
            Criterion::Schema(schema) => {
                self.line("schema", &text(&schema.schema));
                self.optional_json("against", Some(&schema.against));
            }
            Criterion::Text(known) => self.text_criterion(known),
            Criterion::Links(links) => {
                self.line("links", &text(&links.links));
                self.line("min", &number(links.min));
            }
            Criterion::Tool(tool) => self.tool_criterion(tool),
            Criterion::Judge(judge) => {
                self.line("judge", &long_text(&judge.judge));
                self.line("of", &text(&judge.of));
                self.optional_text("model", judge.model.as_ref());
            }
            Criterion::Command(command) => {
                self.line("command", &long_text(&command.command));
                self.line("status", &number(command.status));
                self.optional_text("matches", command.matches.as_ref());
            }
            Criterion::Plan(plan) => {
                self.word("plan", word(PLAN_GOALS, &plan.plan));
                self.line("min", &number(plan.min));
            }
            Criterion::Person(person) => self.line("person", &long_text(&person.person)),
        }
    }

    fn text_criterion(&mut self, criterion: &TextCriterion) {
        self.line("text", &text(&criterion.text));
        for (key, expressions) in [("must", &criterion.must), ("must_not", &criterion.must_not)] {
            if !expressions.is_empty() {
                self.list(key, expressions);
            }
        }
    }

    fn tool_criterion(&mut self, criterion: &ToolCriterion) {
        self.line("tool", &text(&criterion.tool));
        if !criterion.args.is_empty() {
            self.line("args", &table(&criterion.args));
        }
        if !criterion.pointer.is_empty() {
            self.line("pointer", &text(&criterion.pointer));
        }
        self.optional_json("equals", criterion.equals.as_ref());
        self.optional_text("matches", criterion.matches.as_ref());
    }

    fn optional_json(&mut self, key: &str, value: Option<&serde_json::Value>) {
        if let Some(value) = value.and_then(json) {
            self.line(key, &value);
        }
    }

    fn push(&mut self, words: std::fmt::Arguments<'_>) {
        // Writing to a text can't fail.
        let _ = self.text.write_fmt(words);
    }
}
