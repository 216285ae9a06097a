//! The run's line in lists.

use longrein_protocol::event::Outcome;
use longrein_protocol::view::{KnotShape, RunLine, RunState};

use super::{Acceptance, ActionStage, Phase, REIN_KNOTS, Request, Run};

/// The name of the provider whose models are demonstration stand-ins.
pub const DEMO_PROVIDER: &str = "demo/";

impl Run {
    /// The run as a list shows it. `Running` means that the log says so: whether anybody drives
    /// it is for the caller to find out.
    pub fn line(&self) -> RunLine {
        let created = self.created.as_ref();
        let model = created
            .map(|created| created.model.clone())
            .unwrap_or_default();
        let (state, reason, _) = self.standing();
        RunLine {
            run: self.id.map(|id| id.to_string()).unwrap_or_default(),
            parent: created
                .and_then(|created| created.parent)
                .map(|parent| parent.to_string()),
            root: created
                .and_then(|created| created.root)
                .map(|root| root.to_string()),
            title: self.title.clone(),
            agent: created
                .map(|created| created.agent.name.clone())
                .unwrap_or_default(),
            demo: model.starts_with(DEMO_PROVIDER),
            model,
            state,
            reason,
            since: self.since,
            created_at: self.created_at,
            updated_at: self.last_at,
            steps: self.used.steps,
            tokens_in: self.tokens_known().0,
            tokens_out: self.tokens_known().1,
            working_ms: self.used.working_ms,
            cost_micro: self
                .money_known()
                .map(|micro| u32::try_from(micro).unwrap_or(u32::MAX)),
            cost_estimated: self.cost_estimated,
            seq: self.seq,
            rein: self.rein.iter().copied().collect(),
        }
    }

    /// Ties a knot into the small rein. The first one stays when it is full.
    pub(super) fn knot(&mut self, shape: KnotShape) {
        if self.rein.len() == REIN_KNOTS {
            self.rein.remove(1);
        }
        self.rein.push_back(shape);
    }

    /// What it is doing, what it waits for or why it stopped, and what the person can do.
    pub fn standing(&self) -> (RunState, String, String) {
        let plain = |state, reason: &str| (state, reason.to_owned(), String::new());
        match &self.phase {
            Phase::Created | Phase::Going => self.going(),
            Phase::Paused => (
                RunState::Paused,
                "Paused by you.".to_owned(),
                "Resume it when you like.".to_owned(),
            ),
            Phase::HandedOff {
                message, remedy, ..
            } => (RunState::HandedOff, message.clone(), remedy.clone()),
            Phase::Finished(Outcome::Accepted) => {
                plain(RunState::Accepted, "Every criterion holds.")
            }
            Phase::Finished(Outcome::Unverified) if self.criteria().is_empty() => plain(
                RunState::Unverified,
                "Finished; the agent sets no criteria.",
            ),
            Phase::Finished(Outcome::Unverified) => plain(
                RunState::Unverified,
                "Taken as it is by you, before every criterion held.",
            ),
            Phase::Finished(Outcome::Failed) => plain(RunState::Failed, "It can't go on."),
            Phase::Cancelled => plain(RunState::Cancelled, "Cancelled by you."),
        }
    }

    fn going(&self) -> (RunState, String, String) {
        let running = self.actions.iter().any(|action| self.works(action));
        if let (Some((reason, remedy)), false) = (self.waits_for_person(), running) {
            return (RunState::Waiting, reason, remedy.to_owned());
        }
        let reason = match &self.request {
            Request::Failed {
                retry_at: Some(_),
                message,
                ..
            } => format!("Trying again: {message}"),
            _ => String::new(),
        };
        (RunState::Running, reason, String::new())
    }

    /// What a person is waited for, and what they can do.
    fn waits_for_person(&self) -> Option<(String, &'static str)> {
        if let Acceptance::Asked(text) = &self.acceptance {
            let remedy = "Accept the result, or send it back with a reason.";
            return Some((format!("The result waits for you: {text}"), remedy));
        }
        self.actions.iter().find_map(|action| match action.stage {
            ActionStage::Asked => {
                let reason = format!("{} waits for your answer.", action.tool);
                Some((reason, "Approve it, or refuse it with a reason."))
            }
            ActionStage::Started => action.questions.first().map(|open| {
                let server = &open.question.server;
                let reason = format!(
                    "The server {server} asks you something for {}.",
                    action.tool
                );
                (reason, "Answer it, or decline.")
            }),
            ActionStage::Questioned => Some(("It asks you a question.".to_owned(), "Answer it.")),
            _ => None,
        })
    }
}
