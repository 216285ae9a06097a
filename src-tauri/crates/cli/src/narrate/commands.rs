//! What an action ran, and the end of what that said. Both are a model's and a program's words:
//! bounded, and without anything that steers the terminal. What is secret is masked in the log.

use longrein_core::policy::{COMMAND_TOOLS, RUN_CODE};
use longrein_protocol::view::{ActionRow, ActionState};
use serde_json::Value;

use super::Line;
use crate::screen::Tone;
use crate::text;

/// The most lines of what was run that are told.
const RUN_LINES: usize = 8;
/// The most lines of the end of what it said.
const SAID_LINES: usize = 6;
/// The most letters of each.
const LINE_LETTERS: usize = 160;

/// The lines beneath the one of an action; none where it runs nothing.
pub fn lines(action: &ActionRow) -> Vec<Line> {
    if !COMMAND_TOOLS.contains(&action.tool.as_str()) {
        return Vec::new();
    }
    let mut lines = ran(action);
    if matches!(action.state, ActionState::Succeeded | ActionState::Failed) {
        lines.extend(said(action));
    }
    lines
}

fn ran(action: &ActionRow) -> Vec<Line> {
    let (field, mark) = match action.tool.as_str() {
        RUN_CODE => ("code", ">"),
        _ => ("command", "$"),
    };
    let arguments = serde_json::from_str::<Value>(&action.arguments).ok();
    let whole = arguments.and_then(|arguments| Some(arguments.get(field)?.as_str()?.to_owned()));
    // Those that are too long for a row are no JSON any more.
    let whole = whole.unwrap_or_else(|| action.arguments.clone());
    let ran = text::plain_lines(whole.trim_end());
    let count = ran.lines().count();
    let shown = ran.lines().take(RUN_LINES).enumerate();
    let mut lines: Vec<Line> = shown
        .map(|(number, line)| {
            let mark = if number == 0 { mark } else { " " };
            Line::new(Tone::Plain, format!("  {mark} {}", cut(line)))
        })
        .collect();
    if let Some(more) = count.checked_sub(RUN_LINES).filter(|more| *more > 0) {
        let more = text::counted(u32::try_from(more).unwrap_or(u32::MAX), "more line");
        lines.push(Line::new(Tone::Quiet, format!("    … {more}")));
    }
    lines
}

/// The end of it, without how the command ended: the action's own line says that.
fn said(action: &ActionRow) -> Vec<Line> {
    let said = text::plain_lines(&action.result);
    let all: Vec<&str> = said.lines().collect();
    let is_ours = |line: &&str| line.starts_with("[exit status ") || line.starts_with("[ended");
    let end = all.iter().rposition(is_ours).unwrap_or(all.len());
    let shown = all[..end].iter().rev().take(SAID_LINES).rev();
    let shown: Vec<Line> = shown
        .map(|line| Line::new(Tone::Quiet, format!("  | {}", cut(line))))
        .collect();
    let before = (end > shown.len()).then(|| Line::new(Tone::Quiet, "  | …".to_owned()));
    let notes = all[end..].iter().skip(1);
    let notes = notes.map(|line| Line::new(Tone::Accent, format!("  {}", cut(line))));
    before.into_iter().chain(shown).chain(notes).collect()
}

fn cut(line: &str) -> String {
    let line = line.replace('\t', "    ");
    match line.char_indices().nth(LINE_LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::tests::action;
    use super::*;

    fn told(tool: &str, arguments: &Value, result: &str) -> Vec<String> {
        let row = ActionRow {
            tool: tool.to_owned(),
            arguments: arguments.to_string(),
            result: result.to_owned(),
            ..action(ActionState::Succeeded)
        };
        lines(&row).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_command_is_told_with_the_end_of_what_it_said() {
        let arguments = serde_json::json!({"command": "cd a &&\n\u{1b}[31mls", "intent": "Look"});
        let said: Vec<String> = (0..9).map(|number| format!("line {number}\n")).collect();
        let result = format!(
            "{}[exit status 0, after 0.1 s]\n[1 process was ended]",
            said.concat()
        );
        assert_eq!(
            told("run_command", &arguments, &result),
            [
                "  $ cd a &&",
                "    ls",
                "  | …",
                "  | line 3",
                "  | line 4",
                "  | line 5",
                "  | line 6",
                "  | line 7",
                "  | line 8",
                "  [1 process was ended]",
            ]
        );
    }

    #[test]
    fn a_long_program_is_cut_and_counted() {
        let code: Vec<String> = (0..10).map(|number| format!("print({number})\n")).collect();
        let told = told("run_code", &serde_json::json!({"code": code.concat()}), "");
        assert_eq!(told.first().map(String::as_str), Some("  > print(0)"));
        assert_eq!(told.last().map(String::as_str), Some("    … 2 more lines"));
    }

    #[test]
    fn what_runs_nothing_is_told_in_its_line_alone() {
        assert!(told("search_library", &serde_json::json!({"query": "x"}), "y").is_empty());
    }
}
