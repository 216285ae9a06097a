//! An agent's specification as the file that says it in full.

use std::fmt::Write;

use longrein_protocol::agent::{AgentSpec, Criterion, Decision, ToolSettings, Uncited};
use longrein_protocol::{Effect, Repeat};

/// Lists longer than this are written with one item per line.
const LINE_LETTERS: usize = 96;

/// Writes the file with every default filled in. Reading it again gives the same specification.
pub(super) fn to_toml(spec: &AgentSpec) -> String {
    let mut file = File::default();
    file.line("name", &text(&spec.name));
    file.line("description", &text(&spec.description));
    file.line("instructions", &long_text(&spec.instructions));
    file.table("model");
    file.line("use", &list("use", &spec.model.use_));
    file.line("max_output_tokens", &number(spec.model.max_output_tokens));
    file.line("window_tokens", &number(spec.model.window_tokens));
    if let Some(temperature) = spec.model.temperature {
        file.line("temperature", &fraction(temperature));
    }
    file.table("tools");
    file.line("allow", &list("allow", &spec.tools.allow));
    for (tool, settings) in &spec.tools.settings {
        file.table(&format!("tools.{}", text(tool)));
        file.settings(settings);
    }
    for rule in &spec.policy {
        file.table_of_list("policy");
        file.line("tool", &text(&rule.tool));
        file.line("decision", decision(rule.decision));
    }
    file.table("library");
    file.line("folders", &list("folders", &spec.library.folders));
    file.table("context");
    file.line("compact_at", &fraction(spec.context.compact_at));
    file.line(
        "offload_above_tokens",
        &number(spec.context.offload_above_tokens),
    );
    file.table("budget");
    file.line("steps", &number(spec.budget.steps));
    file.optional("tokens_in", spec.budget.tokens_in);
    file.optional("tokens_out", spec.budget.tokens_out);
    file.optional("working_minutes", spec.budget.working_minutes);
    file.optional("actions", spec.budget.actions);
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

    fn optional(&mut self, key: &str, value: Option<u32>) {
        if let Some(value) = value {
            self.line(key, &number(value));
        }
    }

    fn settings(&mut self, settings: &ToolSettings) {
        if let Some(known) = settings.effect {
            self.line("effect", effect(known));
        }
        if let Some(known) = settings.repeat {
            self.line("repeat", repeat(known));
        }
        self.optional("result_tokens", settings.result_tokens);
        self.optional("timeout_seconds", settings.timeout_seconds);
    }

    fn criterion(&mut self, criterion: &Criterion) {
        match criterion {
            Criterion::File(file) => {
                self.line("file", &text(&file.file));
                self.line("min_bytes", &number(file.min_bytes));
            }
            Criterion::Evidence(evidence) => {
                self.line("evidence", &text(&evidence.evidence));
                self.line("uncited", uncited(evidence.uncited));
                self.line("min_citations", &number(evidence.min_citations));
            }
        }
    }

    fn push(&mut self, words: std::fmt::Arguments<'_>) {
        // Writing to a text can't fail.
        let _ = self.text.write_fmt(words);
    }
}

/// A text in one line; what it escapes, TOML reads back.
fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        push_escaped(&mut quoted, letter);
    }
    quoted.push('"');
    quoted
}

/// A text over several lines, when it has them.
fn long_text(words: &str) -> String {
    if !words.contains('\n') {
        return text(words);
    }
    let mut quoted = String::with_capacity(words.len() + 8);
    quoted.push_str("\"\"\"\n");
    for letter in words.chars() {
        match letter {
            '\n' => quoted.push('\n'),
            // A quote can only be taken for the end when others follow it.
            '"' if !quoted.ends_with('"') => quoted.push('"'),
            _ => push_escaped(&mut quoted, letter),
        }
    }
    if quoted.ends_with('"') && !quoted.ends_with("\\\"") {
        quoted.pop();
        quoted.push_str("\\\"");
    }
    quoted.push_str("\\\n\"\"\"");
    quoted
}

fn push_escaped(quoted: &mut String, letter: char) {
    match letter {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\n' => quoted.push_str("\\n"),
        '\t' => quoted.push_str("\\t"),
        '\r' => quoted.push_str("\\r"),
        _ if letter.is_control() => {
            let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
        }
        _ => quoted.push(letter),
    }
}

fn list(key: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| text(item)).collect();
    let line = format!("[{}]", items.join(", "));
    if key.len() + " = ".len() + line.chars().count() <= LINE_LETTERS {
        return line;
    }
    format!("[\n  {},\n]", items.join(",\n  "))
}

/// A number, with a line between thousands when it is long.
fn number(number: u32) -> String {
    let digits = number.to_string();
    if digits.len() <= 5 {
        return digits;
    }
    let groups: Vec<&str> = {
        let head = digits.len() % 3;
        let (first, rest) = digits.split_at(head);
        let tail = rest
            .as_bytes()
            .chunks(3)
            .filter_map(|group| std::str::from_utf8(group).ok());
        std::iter::once(first)
            .filter(|first| !first.is_empty())
            .chain(tail)
            .collect()
    };
    groups.join("_")
}

/// A number that TOML reads back as one with a fraction.
fn fraction(number: f64) -> String {
    format!("{number:?}")
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "\"read\"",
        Effect::Workspace => "\"workspace\"",
        Effect::Reversible => "\"reversible\"",
        Effect::Irreversible => "\"irreversible\"",
    }
}

fn repeat(repeat: Repeat) -> &'static str {
    match repeat {
        Repeat::Repeatable => "\"repeatable\"",
        Repeat::Once => "\"once\"",
    }
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "\"allow\"",
        Decision::Ask => "\"ask\"",
        Decision::Deny => "\"deny\"",
    }
}

fn uncited(uncited: Uncited) -> &'static str {
    match uncited {
        Uncited::Allow => "\"allow\"",
        Uncited::Forbid => "\"forbid\"",
    }
}
