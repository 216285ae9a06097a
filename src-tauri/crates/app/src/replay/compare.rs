//! Two runs side by side, aligned by step.

use std::sync::Arc;

use longrein_core::view::View;
use longrein_protocol::event::Payload;
use longrein_protocol::view::{Row, RowContent, RunLine};
use longrein_protocol::{Event, RunId};
use serde::{Deserialize, Serialize};

use super::request::cut;
use crate::Longrein;
use crate::error::AppError;

/// The most steps of one page.
pub const STEPS_ON_A_PAGE: usize = 200;
/// The most bytes of one side's words.
const WORDS_BYTES: usize = 4 << 10;

/// Two runs, aligned by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Comparison {
    /// The one run.
    pub left: RunLine,
    /// The other.
    pub right: RunLine,
    /// The last event that both have from the same run, where one is a fork of the other, or both
    /// are of a third; 0 where they share none.
    pub shared: u32,
    /// The first thing in which they differ; `None` where they don't.
    pub diverges: Option<Divergence>,
    /// A page of the steps, in order.
    pub steps: Vec<ComparedStep>,
    /// The step that the next page begins with; `None` behind the last.
    pub next: Option<u32>,
}

/// The first thing in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Divergence {
    /// The step; 0 stands for what was before the first.
    pub step: u32,
    /// The event of the one run; `None` where it had ended.
    pub left: Option<u32>,
    /// The event of the other run; `None` where it had ended.
    pub right: Option<u32>,
    /// In words.
    pub words: String,
}

/// A step of both runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ComparedStep {
    /// Its number; 0 stands for what was before the first.
    pub step: u32,
    /// Whether both say the same.
    pub same: bool,
    /// What stands side by side, in order.
    pub rows: Vec<ComparedRows>,
}

/// A row of the one run and the row beside it of the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ComparedRows {
    /// Of the one run; `None` where it has no more.
    pub left: Option<ComparedRow>,
    /// Of the other run; `None` where it has no more.
    pub right: Option<ComparedRow>,
    /// Whether they say the same.
    pub same: bool,
}

/// A row, in words without ids and times.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ComparedRow {
    /// The key of the row in its run.
    pub row: String,
    /// The event that made it.
    pub seq: u32,
    /// What it is: `you`, `answer`, `web_fetch`.
    pub title: String,
    /// What it says; cut after 4 KB.
    pub words: String,
}

impl Longrein {
    /// Compares two runs as they stand, from a step on. Runs that are forks of one another are the
    /// same up to where they part.
    ///
    /// # Errors
    /// When there is no such run, or nothing of it can be read.
    pub async fn compare(
        &self,
        left: RunId,
        right: RunId,
        from_step: u32,
    ) -> Result<Comparison, AppError> {
        let shared = self.shared(left, right).await?;
        let (left_line, right_line) = (self.run_line(left).await?, self.run_line(right).await?);
        let left = self.past(left, None).await?;
        let right = self.past(right, None).await?;
        let last = last_step(&left.view).max(last_step(&right.view));
        let all = (0..=last).map(|step| compared(&left.view, &right.view, step));
        let mut diverges = None;
        let mut steps = Vec::new();
        let mut next = None;
        for step in all {
            if !step.same && diverges.is_none() {
                diverges = divergence(&step);
            }
            let on_the_page = step.step >= from_step && !step.rows.is_empty();
            if on_the_page && steps.len() < STEPS_ON_A_PAGE {
                steps.push(step);
            } else if on_the_page {
                next = next.or(Some(step.step));
                if diverges.is_some() {
                    break;
                }
            }
        }
        Ok(Comparison {
            left: left_line,
            right: right_line,
            shared,
            diverges,
            steps,
            next,
        })
    }

    /// The last event that two runs have from the same run.
    async fn shared(&self, left: RunId, right: RunId) -> Result<u32, AppError> {
        let (left, right) = (self.ancestry(left).await?, self.ancestry(right).await?);
        let common = left.iter().flat_map(|(of, until)| {
            let same = right.iter().filter(move |(other, _)| other == of);
            same.map(move |(_, other)| (*until).min(*other))
        });
        let shared = common.max().unwrap_or(0);
        Ok(match shared {
            // A run compared with itself.
            u32::MAX => self.past(left[0].0, None).await?.seq(),
            shared => shared,
        })
    }

    /// A run and those that it was forked from, each with the last event that it has of them.
    async fn ancestry(&self, run: RunId) -> Result<Vec<(RunId, u32)>, AppError> {
        let mut forks: Vec<(RunId, u32)> = Vec::new();
        self.events_from(run, 1, |event: Event| {
            if let Payload::RunForked(forked) = &event.payload {
                forks.push((forked.from_run, forked.from_seq));
            }
            true
        })
        .await?;
        // A fork of a fork has the events of both; the last one is the nearest.
        let mut found = vec![(run, u32::MAX)];
        found.extend(forks);
        Ok(found)
    }
}

fn last_step(view: &View) -> u32 {
    view.rows().iter().map(|row| row.step).max().unwrap_or(0)
}

/// The rows of a step: rows come in the order of their steps.
fn of_step(view: &View, step: u32) -> &[Arc<Row>] {
    let rows = view.rows();
    let begin = rows.partition_point(|row| row.step < step);
    let end = rows.partition_point(|row| row.step <= step);
    &rows[begin..end]
}

fn compared(left: &View, right: &View, step: u32) -> ComparedStep {
    let (left, right) = (of_step(left, step), of_step(right, step));
    let told = |rows: &[Arc<Row>]| -> Vec<(ComparedRow, u64)> {
        rows.iter().filter_map(|row| told(row)).collect()
    };
    let (left, right) = (told(left), told(right));
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    let mut rows = Vec::new();
    loop {
        let (left, right) = (left.next(), right.next());
        if left.is_none() && right.is_none() {
            break;
        }
        let same = match (&left, &right) {
            (Some((left, left_rest)), Some((right, right_rest))) => {
                (&left.title, &left.words, left_rest) == (&right.title, &right.words, right_rest)
            }
            _ => false,
        };
        rows.push(ComparedRows {
            left: left.map(|(row, _)| row),
            right: right.map(|(row, _)| row),
            same,
        });
    }
    ComparedStep {
        step,
        same: rows.iter().all(|rows| rows.same),
        rows,
    }
}

fn divergence(step: &ComparedStep) -> Option<Divergence> {
    let first = step.rows.iter().find(|rows| !rows.same)?;
    let (left, right) = (&first.left, &first.right);
    let words = match (left, right) {
        (Some(left), Some(right)) if left.title == right.title => {
            format!("{} is another one", left.title)
        }
        (Some(left), Some(right)) => format!("{} here, {} there", left.title, right.title),
        (Some(left), None) => format!("{} here, nothing there", left.title),
        (None, Some(right)) => format!("nothing here, {} there", right.title),
        (None, None) => return None,
    };
    Some(Divergence {
        step: step.step,
        left: left.as_ref().map(|row| row.seq),
        right: right.as_ref().map(|row| row.seq),
        words,
    })
}

/// A row in words without ids and times, with the hash of the part that is cut; `None` for one that
/// says how its run went, and nothing of what was worked out.
fn told(row: &Row) -> Option<(ComparedRow, u64)> {
    let (title, words) = match &row.content {
        RowContent::Question { text } => ("you".to_owned(), text.clone()),
        RowContent::Answer { text, .. } => ("answer".to_owned(), text.clone()),
        RowContent::Action(action) => (
            action.tool.clone(),
            [
                action.arguments.as_str(),
                action.outcome.as_str(),
                action.result.as_str(),
            ]
            .join("\n"),
        ),
        RowContent::Notice { text } => ("notice".to_owned(), text.clone()),
        RowContent::Verification { results, .. } => {
            let lines = results.iter().map(|result| {
                format!("{}: {} {}", result.criterion, result.holds, result.evidence)
            });
            ("check".to_owned(), lines.collect::<Vec<_>>().join("\n"))
        }
        RowContent::Acceptance { text, state, .. } => {
            ("acceptance".to_owned(), format!("{text}\n{state:?}"))
        }
        RowContent::Rules { text, .. } => ("rules".to_owned(), text.clone()),
        RowContent::Budget { text, .. } => ("limits".to_owned(), text.clone()),
        RowContent::Side { text, answer, .. } => ("side".to_owned(), format!("{text}\n{answer}")),
        RowContent::Files { text, .. } => ("files".to_owned(), text.clone()),
        RowContent::Compacted { text, .. } => ("compacted".to_owned(), text.clone()),
        RowContent::Stop { state, text, .. } => ("end".to_owned(), format!("{state:?}: {text}")),
        RowContent::Splice { .. } | RowContent::ModelTrouble { .. } => return None,
    };
    let (shown, _) = cut(&words, WORDS_BYTES);
    let rest = blake3::hash(&words.as_bytes()[shown.len()..]);
    let rest = rest
        .as_bytes()
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Some((
        ComparedRow {
            row: row.key.clone(),
            seq: row.seq,
            title,
            words: shown,
        },
        rest,
    ))
}
