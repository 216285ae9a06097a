//! What a compaction took out, what stands in its place, and what is kept.

use longrein_protocol::event::{ContextCompacted, Event};
use longrein_protocol::view::{KnotShape, KnotTone, Listed, RowContent};

use super::View;
use super::rows::new_knot;
use super::words::{brief, thousands};
use crate::pinned::{self, Kind};
use crate::summary;

/// The most lines that are shown under one heading.
const LINES: usize = 24;

impl View {
    pub(super) fn compacted(&mut self, event: &Event, compacted: &ContextCompacted) -> Vec<String> {
        let (before, after) = (
            thousands(compacted.tokens_before.into()),
            thousands(compacted.tokens_after.into()),
        );
        let how = match (&compacted.summary, compacted.unsummarised.as_str()) {
            (Some(summary), _) => format!(" {} summed them up.", summary.model),
            (None, "") => String::new(),
            (None, why) => format!(" There is no summary of them: {why}"),
        };
        let text = format!(
            "Older parts left the request: {before} → {after} tokens.{how} The log keeps them."
        );
        let detail = match &compacted.summary {
            Some(_) => "summed up; nothing left the log",
            None => "nothing left the log",
        };
        let label = format!("Compacted {before} → {after}");
        let knot = new_knot(KnotShape::Square, KnotTone::Plain, &label, detail);
        let details = self.details(compacted);
        self.plain(event, RowContent::Compacted { text, details }, Some(knot))
    }

    fn details(&self, compacted: &ContextCompacted) -> Vec<Listed> {
        let run = self.run();
        let mut details = vec![Listed {
            title: "Left out".to_owned(),
            lines: left_out(compacted),
        }];
        if let Some(summary) = &compacted.summary {
            let mut said = summary::fields(summary);
            if summary.left_out > 0 {
                let line = format!("{} lines for which there was no room", summary.left_out);
                said.push(("Not taken over", vec![line]));
            }
            if summary.struck > 0 {
                let line = format!("{} ids that name no source of this run", summary.struck);
                said.push(("Struck", vec![line]));
            }
            details.extend(
                said.into_iter()
                    .map(|(title, lines)| listed(title, lines, 0)),
            );
        }
        let words = run.conversation.kept.len();
        if words > 0 {
            let line = match words {
                1 => "1 message of yours, word for word".to_owned(),
                count => format!("{count} messages of yours, word for word"),
            };
            details.push(listed("Kept", vec![line], 0));
        }
        let skills = run.pinned_skills().map(|(skill, _)| skill.skill.clone());
        let skills: Vec<String> = skills.collect();
        if !skills.is_empty() {
            details.push(listed("Kept skills", skills, 0));
        }
        for group in pinned::groups(run) {
            let title = match group.kind {
                Kind::Notes => "Pinned notes",
                Kind::Plan => "Pinned plan",
                Kind::Receipts => "Pinned receipts",
                Kind::Sources => "Pinned sources",
            };
            details.push(listed(title, group.lines, group.older as usize));
        }
        details
    }
}

fn left_out(compacted: &ContextCompacted) -> Vec<String> {
    let mut lines = Vec::new();
    if compacted.dropped_before > 0 {
        let count = compacted.dropped_before;
        lines.push(format!("all before message {count}, but for your words"));
    }
    if compacted.pruned_before > compacted.dropped_before {
        let count = compacted.pruned_before;
        lines.push(format!(
            "what actions returned before message {count}, shortened to a line each"
        ));
    }
    if compacted.media_before > compacted.pruned_before {
        let count = compacted.media_before;
        lines.push(format!("images and documents before message {count}"));
    }
    lines
}

fn listed(title: &str, mut lines: Vec<String>, older: usize) -> Listed {
    let more = older + lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    for line in &mut lines {
        *line = brief(line);
    }
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    Listed {
        title: title.to_owned(),
        lines,
    }
}
