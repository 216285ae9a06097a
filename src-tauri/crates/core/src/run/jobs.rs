//! Commands that run beside the steps, and what actions come to while they run.

use longrein_protocol::ActionId;
use longrein_protocol::event::{ActionProgressed, JobFinished, JobStarted, Payload, Progress};

use super::{Job, Run};

/// Why a job ended with its run.
const RUN_ENDED: &str = "ended with the run";

impl Run {
    /// Jobs of whose end nothing is known.
    pub fn open_jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| job.outcome.is_none())
    }

    /// Whether an action left a command running of whose end nothing is known.
    pub fn is_job(&self, action: &ActionId) -> bool {
        self.open_jobs().any(|job| job.action == *action)
    }

    pub(super) fn apply_to_running(&mut self, payload: &Payload) {
        match payload {
            Payload::ActionProgressed(progressed) => self.action_progressed(progressed),
            Payload::JobStarted(started) => self.job_started(started),
            Payload::JobFinished(finished) => self.job_finished(finished),
            _ => {}
        }
    }

    fn action_progressed(&mut self, progressed: &ActionProgressed) {
        match &progressed.what {
            Progress::Boxed { life } => self.with_action(&progressed.action, |action| {
                action.life = Some(life.clone());
            }),
            Progress::Requested(request) if request.refused.is_none() => {
                self.with_action(&progressed.action, |action| action.reached = true);
            }
            // They are told for the record; nothing of the state rests on them.
            Progress::Requested(_) | Progress::Answered(_) => {}
            Progress::Replayed(replayed) => self.replayed(&progressed.action, replayed),
        }
    }

    fn job_started(&mut self, started: &JobStarted) {
        self.jobs.push(Job {
            name: started.job.clone(),
            action: started.action.clone(),
            intent: started.intent.clone(),
            outcome: None,
        });
    }

    fn job_finished(&mut self, finished: &JobFinished) {
        let mut jobs = self.jobs.iter_mut();
        if let Some(job) = jobs.find(|job| job.name == finished.job) {
            job.outcome = Some(finished.outcome.clone());
        }
    }

    /// Nothing of the run goes on: what is open closes, and `why`.
    pub(super) fn close_all(&mut self, why: &str) {
        self.close_open(why);
        self.end_jobs(RUN_ENDED);
    }

    /// What still runs is no longer this run's.
    pub(super) fn end_jobs(&mut self, why: &str) {
        for job in self.jobs.iter_mut().filter(|job| job.outcome.is_none()) {
            job.outcome = Some(why.to_owned());
        }
    }
}
