//! A run as Markdown: what was asked, done and said, for a notebook or an issue.

use std::fmt::Write as _;

use longrein_protocol::view::{ActionRow, RowContent, RunHead};

use crate::story::Story;
use crate::words;

/// The most bytes of a result that stand in the text.
const RESULT_BYTES: usize = 2_000;

/// The transcript of a run.
pub fn markdown(story: &Story) -> String {
    let mut text = String::new();
    let head = &story.view.head;
    let _ = writeln!(text, "# {}\n", line(&head.title));
    let state = words::of_run(head.state);
    let facts = words::facts(head).join(" · ");
    let _ = writeln!(
        text,
        "{state} · {facts} · {}\n",
        words::moment(head.created_at)
    );
    rows(&mut text, story, 2);
    sources(&mut text, head);
    let _ = writeln!(text, "---\n\nRun `{}`, event {}.", head.run, story.view.seq);
    words::tame(&text)
}

/// Words as a quote: nothing in them is a heading or a line of the transcript itself.
fn quoted(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

fn rows(text: &mut String, story: &Story, level: usize) {
    let hashes = "#".repeat(level.min(6));
    for row in &story.view.rows {
        // Writing to a text can't fail.
        let _ = match &row.content {
            RowContent::Question { text: words } => {
                writeln!(text, "{hashes} You\n\n{}\n", quoted(words))
            }
            RowContent::Answer { text: words, .. } if words.is_empty() => Ok(()),
            RowContent::Answer { text: words, .. } => writeln!(text, "{}\n", quoted(words)),
            RowContent::Action(action) => {
                card(text, action);
                let begun = story.children.iter();
                for child in begun.filter(|child| child.of_action == action.action) {
                    let title = line(&child.view.head.title);
                    let _ = writeln!(text, "{hashes}# Helper: {title}\n");
                    rows(text, child, level + 2);
                }
                Ok(())
            }
            RowContent::Verification { results, .. } => {
                for result in results {
                    let mark = if result.holds { "x" } else { " " };
                    let _ = writeln!(text, "- [{mark}] {}", line(&result.criterion));
                }
                writeln!(text)
            }
            RowContent::Stop {
                state, text: words, ..
            } => writeln!(text, "**{}.** {}\n", words::of_run(*state), line(words)),
            RowContent::Notice { text: words }
            | RowContent::Acceptance { text: words, .. }
            | RowContent::Rules { text: words, .. }
            | RowContent::Budget { text: words, .. }
            | RowContent::Side { text: words, .. }
            | RowContent::Splice { text: words }
            | RowContent::Files { text: words, .. }
            | RowContent::Compacted { text: words, .. }
            | RowContent::ModelTrouble { text: words, .. } => {
                writeln!(text, "*{}*\n", line(words).replace('*', "\\*"))
            }
        };
    }
}

fn card(text: &mut String, action: &ActionRow) {
    let outcome = match action.outcome.as_str() {
        "" => words::of_action(action.state),
        outcome => outcome,
    };
    let (tool, brief) = (&action.tool, line(&action.brief));
    let _ = writeln!(text, "- `{tool}` {brief}: {}\n", line(outcome));
    let end = action.result.floor_char_boundary(RESULT_BYTES);
    if end == 0 {
        return;
    }
    let (shown, more) = (&action.result[..end], action.result.len() > end);
    let fence = fence(shown);
    let more = if more { "\n…" } else { "" };
    let block = format!("{fence}text\n{shown}{more}\n{fence}");
    let _ = writeln!(text, "  {}\n", block.replace('\n', "\n  "));
}

/// A fence that nothing within ends.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    "`".repeat(longest.unwrap_or(0).max(2) + 1)
}

fn sources(text: &mut String, head: &RunHead) {
    if head.sources.is_empty() {
        return;
    }
    let _ = writeln!(text, "## Sources\n");
    for source in &head.sources {
        let place = source.meta.url.as_ref().or(source.meta.file.as_ref());
        let place = place.map(|place| format!(", {}", line(place)));
        let title = line(&source.meta.title);
        let _ = writeln!(
            text,
            "- {}: {title}{}",
            source.id,
            place.unwrap_or_default()
        );
    }
    let _ = writeln!(text);
}

/// Words on one line.
fn line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_within() {
        assert_eq!(fence("no marks"), "```");
        assert_eq!(fence("```rust\nx\n````"), "`````");
    }
}
