//! The panel.

use longrein_protocol::event::{ArtifactPublished, Event, HandoffReason, Limit, Payload};
use longrein_protocol::source::{CriterionResult, SourceRecord};
use longrein_protocol::view::{ArtifactLine, Meter, Money, ReachedLimit, RunHead, SourceLine};

use super::View;
use crate::compile::context_parts;
use crate::run::{Acceptance, DEMO_PROVIDER, Phase};

/// A new limit is suggested that is at least so much more than what the next step would need.
const ROOM_NUMERATOR: u64 = 5;
const ROOM_DENOMINATOR: u64 = 4;
/// A suggestion has at most so many digits that are not nought.
const SUGGESTED_DIGITS: u32 = 2;

impl View {
    /// The panel.
    pub fn head(&self) -> RunHead {
        let run = &self.run;
        let line = run.line();
        let (state, reason, remedy) = run.standing();
        let (tokens_in, tokens_out) = run.tokens_known();
        let held = run.unsettled;
        let minutes = run.limits.working_minutes;
        let seconds = minutes.map(|minutes| minutes.saturating_mul(60));
        let handed_off = match &run.phase {
            Phase::HandedOff { reason, .. } => Some(*reason),
            _ => None,
        };
        RunHead {
            run: line.run,
            parent: run
                .created
                .as_ref()
                .and_then(|created| created.parent)
                .map(|parent| parent.to_string())
                .unwrap_or_default(),
            title: line.title,
            agent: line.agent,
            demo: line.model.starts_with(DEMO_PROVIDER),
            model: line.model,
            state,
            reason,
            remedy,
            since: run.since,
            created_at: run.created_at,
            steps: meter(run.used.steps, 0, run.limits.steps),
            tokens_in: meter(tokens_in, held.tokens_in, run.limits.tokens_in),
            tokens_out: meter(tokens_out, held.tokens_out, run.limits.tokens_out),
            working_seconds: meter(run.used.working_ms / 1_000, 0, seconds),
            actions: meter(run.used.actions, 0, run.limits.actions),
            money: Money {
                used_micro: run.money_known().unwrap_or_default(),
                held_micro: held.money_micro,
                limit_micro: run.limits.money_micro,
                known: run.money_known().is_some(),
                estimated: run.cost_estimated,
            },
            warned: self.warned(),
            reached: self
                .reached
                .filter(|_| handed_off == Some(HandoffReason::Budget)),
            plan: run.plan.clone(),
            notes: run.pins.clone(),
            context: context_parts(run),
            window_tokens: run.window_tokens(),
            stages: run.stage_lines(),
            sources: run.sources.iter().map(source_line).collect(),
            artifacts: self.artifacts.clone(),
            done_when: self.done_when(),
            verified: run.verifications > 0,
            acceptance: match &run.acceptance {
                Acceptance::Asked(text) => Some(text.clone()),
                Acceptance::None => None,
            },
            digest: self.digest.clone().filter(|_| handed_off.is_some()),
            rules: run.rules.iter().map(|rule| self.rule_line(rule)).collect(),
            tainted: run.tainted,
        }
    }

    /// Keeps what the panel shows and the state behind it does not.
    pub(super) fn note_for_the_panel(&mut self, event: &Event) {
        match &event.payload {
            Payload::ArtifactPublished(artifact) => self.publish(artifact),
            Payload::BudgetExceeded(exceeded) => {
                self.reached = Some(ReachedLimit {
                    limit: exceeded.limit,
                    used: exceeded.used,
                    of: exceeded.of,
                    suggested: suggested(exceeded.used, exceeded.of),
                });
            }
            Payload::RunHandedOff(handed_off) => self.digest.clone_from(&handed_off.digest),
            _ => {}
        }
    }

    fn warned(&self) -> Vec<Limit> {
        let mut warned = self.run.warned.clone();
        warned.sort_unstable();
        warned.dedup();
        warned
    }

    fn done_when(&self) -> Vec<CriterionResult> {
        if !self.run.results.is_empty() {
            return self.run.results.clone();
        }
        let unchecked = |criterion: &longrein_protocol::agent::Criterion| CriterionResult {
            criterion: criterion.in_words(),
            holds: false,
            waits: false,
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
}

fn meter(used: u32, held: u32, limit: Option<u32>) -> Meter {
    Meter { used, held, limit }
}

/// Half as much again as the limit, and a good deal more than what the next step would need,
/// rounded up to a number that is easy to read.
fn suggested(used: u64, of: u64) -> u64 {
    let half_more = of.saturating_add(of / 2);
    let with_room = used.saturating_mul(ROOM_NUMERATOR) / ROOM_DENOMINATOR;
    let wanted = half_more.max(with_room).max(of.saturating_add(1));
    let digits = wanted.ilog10() + 1;
    let unit = 10u64.pow(digits.saturating_sub(SUGGESTED_DIGITS));
    wanted.div_ceil(unit).saturating_mul(unit)
}

fn source_line(source: &SourceRecord) -> SourceLine {
    SourceLine {
        id: source.id.to_string(),
        meta: source.meta.clone(),
        passages: source.shown.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::suggested;

    #[test]
    fn a_suggested_limit_leaves_room_and_is_easy_to_read() {
        let suggestions = [
            (81, 80),
            (6, 5),
            (3_012_000, 3_000_000),
            (2_600_000, 2_000_000),
            (1, 0),
        ];
        let told = suggestions.map(|(used, of)| suggested(used, of));
        assert_eq!(told, [120, 7, 4_500_000, 3_300_000, 1]);
        assert_eq!(suggested(u64::MAX, u64::MAX), u64::MAX);
    }
}
