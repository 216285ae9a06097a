//! The rows that every surface draws, folded from the events.
//!
//! Keys are stable: an event inserts a row or changes the row of the same key, never removes one.

mod rows;
mod words;

use std::collections::HashMap;

use longrein_protocol::Body;
use longrein_protocol::event::{ArtifactPublished, Event, Payload};
use longrein_protocol::source::CriterionResult;
use longrein_protocol::view::{
    ArtifactLine, Meter, Row, RunHead, RunState, RunView, SourceLine, ViewChange,
};

use crate::compile::{Content, context_parts};
use crate::run::{DEMO_PROVIDER, Run};

/// The most bytes of arguments or of a result that a row carries.
pub const ROW_TEXT_BYTES: usize = 8 * 1024;

/// A run as it is shown, growing with its log.
#[derive(Clone, Default)]
pub struct View {
    run: Run,
    rows: Vec<Row>,
    places: HashMap<String, usize>,
    artifacts: Vec<ArtifactLine>,
    /// The step that rows belong to.
    step: u32,
}

/// The bodies of an event that a view reads.
pub fn bodies_needed(event: &Event) -> Vec<&Body> {
    match &event.payload {
        Payload::TurnStarted(turn) => vec![&turn.input],
        Payload::TurnSteered(steered) => vec![&steered.input],
        Payload::NoticeGiven(notice) => vec![&notice.text],
        Payload::ModelResponded(responded) => responded
            .blocks
            .iter()
            .filter_map(rows::shown_body)
            .collect(),
        Payload::ActionProposed(proposed) => vec![&proposed.arguments],
        Payload::ActionRejected(rejected) => vec![&rejected.arguments],
        Payload::ActionFinished(finished) => {
            vec![finished.shown.as_ref().unwrap_or(&finished.result)]
        }
        _ => Vec::new(),
    }
}

impl View {
    /// Folds one event; `content` knows the bodies of [`bodies_needed`]. Returns the keys of the
    /// rows that are new or changed.
    pub fn apply(&mut self, event: &Event, content: &Content<'_>) -> Vec<String> {
        self.run.apply(event);
        self.step = self.run.used.steps;
        if let Payload::ArtifactPublished(artifact) = &event.payload {
            self.publish(artifact);
        }
        self.fold_rows(event, content)
    }

    /// The state behind the rows.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Every row so far.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What a subscription begins with: the panel and the newest `limit` rows.
    pub fn snapshot(&self, limit: usize) -> RunView {
        let earlier = self.rows.len().saturating_sub(limit);
        RunView {
            seq: self.run.seq,
            head: self.head(),
            rows: self.rows[earlier..].to_vec(),
            earlier: earlier as u32,
        }
    }

    /// At most `limit` rows before the row that event `seq` made.
    pub fn earlier_rows(&self, seq: u32, limit: usize) -> Vec<Row> {
        let end = self.rows.partition_point(|row| row.seq < seq);
        self.rows[end.saturating_sub(limit)..end].to_vec()
    }

    /// The rows of `keys` with the panel.
    pub fn change(&self, keys: &[String]) -> ViewChange {
        let mut places: Vec<usize> = keys
            .iter()
            .filter_map(|key| self.places.get(key).copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        ViewChange {
            seq: self.run.seq,
            head: Some(self.head()),
            rows: places
                .into_iter()
                .map(|place| self.rows[place].clone())
                .collect(),
        }
    }

    /// The panel.
    pub fn head(&self) -> RunHead {
        let run = &self.run;
        let line = run.line();
        let (state, reason, remedy) = run.standing();
        let budget = run
            .agent()
            .map(|agent| agent.budget.clone())
            .unwrap_or_default();
        let seconds = budget
            .working_minutes
            .map(|minutes| minutes.saturating_mul(60));
        RunHead {
            run: line.run,
            title: line.title,
            agent: line.agent,
            demo: line.model.starts_with(DEMO_PROVIDER),
            model: line.model,
            state,
            reason,
            remedy,
            since: run.since,
            created_at: run.created_at,
            steps: Meter {
                used: run.used.steps,
                limit: Some(budget.steps),
            },
            tokens_in: Meter {
                used: run.tokens_known().0,
                limit: budget.tokens_in,
            },
            tokens_out: Meter {
                used: run.tokens_known().1,
                limit: budget.tokens_out,
            },
            working_seconds: Meter {
                used: run.used.working_ms / 1_000,
                limit: seconds,
            },
            actions: Meter {
                used: run.used.actions,
                limit: budget.actions,
            },
            plan: run.plan.clone(),
            context: context_parts(run),
            window_tokens: run.window_tokens(),
            sources: run.sources.iter().map(source_line).collect(),
            artifacts: self.artifacts.clone(),
            done_when: self.done_when(),
            verified: run.verifications > 0,
            tainted: run.tainted,
        }
    }

    fn done_when(&self) -> Vec<CriterionResult> {
        if !self.run.results.is_empty() {
            return self.run.results.clone();
        }
        let unchecked = |criterion: &longrein_protocol::agent::Criterion| CriterionResult {
            criterion: criterion.in_words(),
            holds: false,
            evidence: "not checked yet".to_owned(),
            difference: Vec::new(),
        };
        self.run.criteria().iter().map(unchecked).collect()
    }

    fn publish(&mut self, artifact: &ArtifactPublished) {
        self.artifacts
            .retain(|line| line.path != artifact.rendered_path);
        self.artifacts.push(ArtifactLine {
            path: artifact.rendered_path.clone(),
            title: artifact.title.clone(),
            media_type: artifact.media_type.clone(),
            bytes: artifact.rendered.len() as u32,
            ledger: artifact.ledger.clone(),
        });
    }

    fn insert(&mut self, row: Row) -> Vec<String> {
        let key = row.key.clone();
        match self.places.get(&key) {
            Some(place) => self.rows[*place] = row,
            None => {
                self.places.insert(key.clone(), self.rows.len());
                self.rows.push(row);
            }
        }
        vec![key]
    }

    fn row_mut(&mut self, key: &str) -> Option<&mut Row> {
        let place = *self.places.get(key)?;
        self.rows.get_mut(place)
    }
}

/// Marks a panel or line as interrupted when its log says that it works and nobody drives it.
pub fn with_driver(state: RunState, driven: bool) -> RunState {
    if state == RunState::Running && !driven {
        RunState::Interrupted
    } else {
        state
    }
}

fn source_line(source: &longrein_protocol::source::SourceRecord) -> SourceLine {
    SourceLine {
        id: source.id.to_string(),
        meta: source.meta.clone(),
        passages: source.shown.len() as u32,
    }
}
