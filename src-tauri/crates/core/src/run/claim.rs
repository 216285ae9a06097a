//! When the model claims that the work is done, or gives no usable reply.

use longrein_protocol::Body;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::block::{Origin, StopReason, Trust};
use longrein_protocol::event::{
    AcceptanceRequested, ActionFinished, HandoffReason, NoticeGiven, Outcome, Payload, RunFinished,
    TurnFinished,
};
use longrein_protocol::source::CriterionResult;

use super::next::{FINISH, Next, WaitsFor, inline};
use super::{Acceptance, Action, ActionStage, REPLY_ATTEMPTS, Run, VERIFICATION_ATTEMPTS};

/// Whether the work is done, as far as the criteria say.
enum Standing {
    /// It is.
    Ends(Outcome),
    /// It is not known yet.
    Owes(Next),
    /// It is not: what is off.
    Off(Vec<String>),
}

impl Run {
    pub(super) fn open_finish(&self) -> Option<&Action> {
        self.actions
            .iter()
            .find(|action| action.stage == ActionStage::Allowed && action.tool == FINISH)
    }

    pub(super) fn next_of_finish(&self, finish: &Action) -> Next {
        if self.person_waits() {
            return self.finish_refused(
                finish,
                vec!["The person has said more. Read it first.".to_owned()],
            );
        }
        match self.standing_of_criteria() {
            Standing::Ends(outcome) => self.end(Some(finish), outcome),
            Standing::Owes(next) => next,
            Standing::Off(lines) => self.finish_refused(finish, lines),
        }
    }

    /// Whether the work is done, as far as the criteria say.
    fn standing_of_criteria(&self) -> Standing {
        if let Some(line) = self.unfit_for_next_stage() {
            return Standing::Off(vec![line]);
        }
        if self.criteria().is_empty() {
            return Standing::Ends(Outcome::Unverified);
        }
        if self.checking {
            return Standing::Owes(Next::Wait(WaitsFor::Checks));
        }
        if !self.checked {
            return Standing::Owes(Next::Verify {
                attempt: self.verifications + 1,
            });
        }
        if self.results.iter().all(|result| result.holds) {
            return Standing::Ends(Outcome::Accepted);
        }
        let mut open = self.results.iter().filter(|result| !result.holds);
        if !open.clone().all(|result| result.waits) {
            return Standing::Off(differences(&self.results));
        }
        Standing::Owes(match self.acceptance {
            Acceptance::Asked(_) => Next::Wait(WaitsFor::Person),
            Acceptance::None => {
                let text = open.next().map_or("", |result| result.criterion.as_str());
                let asked = AcceptanceRequested {
                    text: text.to_owned(),
                };
                Next::Append(vec![asked.into()])
            }
        })
    }

    pub(super) fn finish_refused(&self, finish: &Action, lines: Vec<String>) -> Next {
        let text = format!("Not finished:\n- {}", lines.join("\n- "));
        let finished = finish_result(finish, text, Some(ToolErrorClass::Conflict), "not finished");
        let mut payloads = vec![finished];
        payloads.extend(self.out_of_attempts(&lines));
        Next::Append(payloads)
    }

    pub(super) fn next_of_claim(&self) -> Next {
        let lines = match self.standing_of_criteria() {
            Standing::Ends(outcome) => return self.end(None, outcome),
            Standing::Owes(next) => return next,
            Standing::Off(lines) => lines,
        };
        let text = format!(
            "You stopped, but the work is not done:\n- {}",
            lines.join("\n- ")
        );
        let mut payloads = vec![NoticeGiven { text: inline(text) }.into()];
        payloads.extend(self.out_of_attempts(&lines));
        Next::Append(payloads)
    }

    pub(super) fn out_of_attempts(&self, lines: &[String]) -> Option<Payload> {
        (self.checked && self.verifications >= VERIFICATION_ATTEMPTS).then(|| {
            let first = lines.first().map_or("", String::as_str);
            let message = format!(
                "The result was checked {} times and does not hold: {first}",
                self.verifications
            );
            self.handoff(
                HandoffReason::Verification,
                message,
                "Say what to do about it, or take the result as it is: longrein accept RUN",
            )
        })
    }

    pub(super) fn end(&self, finish: Option<&Action>, outcome: Outcome) -> Next {
        let entering = self.entering();
        if !entering.is_empty() {
            let words = "this stage is done";
            let finished =
                finish.map(|finish| finish_result(finish, words.to_owned(), None, words));
            return Next::Append(finished.into_iter().chain(entering).collect());
        }
        let words = match outcome {
            Outcome::Accepted => "accepted: every criterion holds",
            Outcome::Unverified | Outcome::Failed => "finished, without criteria to check",
        };
        let mut payloads: Vec<Payload> = Vec::new();
        payloads.extend(finish.map(|finish| finish_result(finish, words.to_owned(), None, words)));
        payloads.push(TurnFinished {}.into());
        payloads.push(
            RunFinished {
                outcome,
                message: String::new(),
                by: None,
            }
            .into(),
        );
        Next::Append(payloads)
    }

    pub(super) fn next_of_bad_reply(&self, stop: StopReason) -> Next {
        if stop == StopReason::Refused {
            return self.hand_off(
                HandoffReason::ProviderRefused,
                "The provider refused to answer this.".to_owned(),
                "Say it differently, or use another model.",
            );
        }
        if self.bad_replies >= REPLY_ATTEMPTS {
            return self.hand_off(
                HandoffReason::NoReply,
                format!(
                    "The model gave no usable reply {} times in a row.",
                    self.bad_replies
                ),
                "Say how to go on, or use another model.",
            );
        }
        let text = match stop {
            StopReason::Length => {
                "Your last reply was cut off by the output limit. Go on in smaller parts."
            }
            StopReason::End if self.agent().is_some_and(|agent| agent.finding.is_some()) => {
                "Words alone are no report here. Call finish with its summary and its finding."
            }
            _ => "Your last reply was empty. Go on with the task: call a tool, or call finish.",
        };
        Next::Append(vec![
            NoticeGiven {
                text: Body::Text(text.to_owned()),
            }
            .into(),
        ])
    }
}

fn finish_result(
    finish: &Action,
    text: String,
    error: Option<ToolErrorClass>,
    outcome: &str,
) -> Payload {
    ActionFinished {
        action: finish.id.clone(),
        error,
        result: inline(text),
        shown: None,
        file: None,
        media: Vec::new(),
        outcome: outcome.to_owned(),
        origin: Origin::Harness,
        trust: Trust::Trusted,
        receipt: None,
        latency_ms: 0,
    }
    .into()
}

/// The most lines of a difference that the model is told at once.
const DIFFERENCE_LINES: usize = 12;

/// The most characters of one such line.
const DIFFERENCE_LINE_CHARS: usize = 600;

fn differences(results: &[CriterionResult]) -> Vec<String> {
    let off = results.iter().filter(|result| !result.holds);
    off.flat_map(|result| {
        let whole = result
            .difference
            .is_empty()
            .then(|| format!("{}: {}", result.criterion, result.evidence));
        whole.into_iter().chain(result.difference.iter().cloned())
    })
    .take(DIFFERENCE_LINES)
    .map(|line| line.chars().take(DIFFERENCE_LINE_CHARS).collect())
    .collect()
}
