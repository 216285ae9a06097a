//! Runs that were going when their process ended, and runs that somebody wants something of and
//! nobody drives: found and taken up, at the start and as long as this process lives. The window
//! and `longrein drive` share this.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use longrein_protocol::RunId;
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::{RunLine, RunState};
use longrein_store::{Changes, Log as _};

use crate::Longrein;
use crate::drivers::Driving;
use crate::error::{AppError, AppErrorCode};

/// How often it is looked for runs without a driver. A process may end without writing a word, so
/// that nothing but looking tells.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The most runs that this process drives because they were found so; the others wait for a place.
const DRIVEN_AT_ONCE: usize = 32;

/// How often a run whose driver fails is taken up by itself; then it waits for a person.
const TAKE_UPS_IN_A_ROW: u32 = 3;

/// Runs that are read at once.
const PAGE_RUNS: u32 = 256;

/// The most pages of the list that are looked through.
const PAGES: usize = 64;

/// A run that was found without a driver, the first of its tree.
pub struct Recovered {
    /// The run.
    pub run: RunId,
    /// Its driver here, or why it can't be taken up. Such a run is left alone afterwards.
    pub driving: Result<Driving, AppError>,
}

/// Looks for runs without a driver.
pub struct Recovery {
    app: Longrein,
    every: Duration,
    /// Runs whose inbox held an unread wish at the last look. Whoever posts one mostly takes the
    /// run up himself a moment later, so that only the next look counts.
    wanted: HashSet<RunId>,
    attempts: Attempts,
    looked: bool,
    /// Tells whether the list has to be read again.
    changes: Option<Changes>,
    /// The runs that work, as the list last had them: a process may end without a commit.
    working: Vec<RunLine>,
}

impl Longrein {
    /// A look-out for runs without a driver.
    pub fn recovery(&self) -> Recovery {
        Recovery {
            app: self.clone(),
            every: LOOK_EVERY,
            wanted: HashSet::new(),
            attempts: Attempts::default(),
            looked: false,
            changes: None,
            working: Vec::new(),
        }
    }
}

impl Recovery {
    /// The same, looking at another pace.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Waits until runs without a driver were found, and takes them up: at once when this is first
    /// called, later within two seconds of the end of their process. It may be dropped and called
    /// again.
    ///
    /// # Errors
    /// What reading the list gives.
    pub async fn next(&mut self) -> Result<Vec<Recovered>, AppError> {
        loop {
            if self.looked {
                tokio::time::sleep(self.every).await;
            }
            let found = self.look().await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Looks once and takes up what has no driver.
    ///
    /// # Errors
    /// What reading the list gives.
    pub async fn look(&mut self) -> Result<Vec<Recovered>, AppError> {
        self.looked = true;
        let store = self.app.store();
        if store.is_read_only() || store.newer_schema().is_some() {
            return Ok(Vec::new());
        }
        // Also where nothing is to be taken up: what ended a run may have ended before its box.
        self.app.reap_boxes().await;
        let mut recovered = Vec::new();
        for (run, why) in self.without_driver().await? {
            if self.app.runs_driven_here().len() >= DRIVEN_AT_ONCE {
                break;
            }
            match self.app.take_up(run, why).await {
                Ok(driving) => {
                    self.attempts.begun(run, &driving);
                    let driving = Ok(driving);
                    recovered.push(Recovered { run, driving });
                }
                // Somebody was quicker.
                Err(error) if error.code == AppErrorCode::Busy => {}
                Err(error) => {
                    self.attempts.give_up(run);
                    let driving = Err(error);
                    recovered.push(Recovered { run, driving });
                }
            }
        }
        Ok(recovered)
    }

    /// The runs that should have a driver and have none, the oldest first.
    async fn without_driver(&mut self) -> Result<Vec<(RunId, ResumeReason)>, AppError> {
        let mut found = Vec::new();
        let mut wanted = HashSet::new();
        for line in self.lines().await? {
            // A child is driven with its tree.
            let tree = line.root.as_ref().unwrap_or(&line.run);
            let (Ok(run), Ok(tree)) = (line.run.parse(), tree.parse::<RunId>()) else {
                continue;
            };
            let is_ours = self.app.driven_here(tree).is_some();
            // What this process let go, as it ends or a person pleases, is for another one.
            if is_ours || self.app.inner.drivers.has_let_go(tree) || !self.attempts.may(tree) {
                continue;
            }
            let rests = matches!(
                line.state,
                RunState::Waiting | RunState::Paused | RunState::HandedOff
            );
            if line.state == RunState::Interrupted {
                found.push((tree, ResumeReason::Interrupted));
            } else if rests && is_wanted(&self.app, run, tree).await? {
                wanted.insert(tree);
            }
        }
        let twice = wanted.intersection(&self.wanted);
        found.extend(twice.map(|tree| (*tree, ResumeReason::Asked)));
        // Of several reasons for one tree the first in order stays: that it was interrupted.
        found.sort_by_key(|(tree, _)| *tree);
        found.dedup_by_key(|(tree, _)| *tree);
        self.wanted = wanted;
        Ok(found)
    }

    /// The runs that are looked at: all of them after a commit, else those that work.
    async fn lines(&mut self) -> Result<Vec<RunLine>, AppError> {
        if !self.has_changed()? && self.wanted.is_empty() {
            let working = self.working.iter().cloned();
            return Ok(working.map(|line| self.app.marked(line)).collect());
        }
        let mut lines: Vec<RunLine> = Vec::new();
        for _ in 0..PAGES {
            let before = lines.last().and_then(|line| line.run.parse().ok());
            let page = self.app.store().runs(PAGE_RUNS, before).await?;
            let is_last = page.len() < PAGE_RUNS as usize;
            lines.extend(page);
            if is_last {
                break;
            }
        }
        let works = |line: &&RunLine| line.state == RunState::Running;
        self.working = lines.iter().filter(works).cloned().collect();
        Ok(lines
            .into_iter()
            .map(|line| self.app.marked(line))
            .collect())
    }

    fn has_changed(&mut self) -> Result<bool, AppError> {
        match &mut self.changes {
            Some(changes) => Ok(changes.has_changed()),
            None => {
                self.changes = Some(self.app.store().watch()?);
                Ok(true)
            }
        }
    }
}

/// Whether somebody wants something of a run whose tree nobody drives.
async fn is_wanted(app: &Longrein, run: RunId, tree: RunId) -> Result<bool, AppError> {
    let wishes = app.store().wishes(run).await?;
    Ok(!wishes.is_empty() && !app.is_driven(tree))
}

/// How often each run was taken up in vain, so that one that always fails is not taken up for ever.
#[derive(Default)]
struct Attempts(HashMap<RunId, Attempt>);

struct Attempt {
    count: u32,
    driving: Option<Driving>,
}

impl Attempts {
    fn begun(&mut self, run: RunId, driving: &Driving) {
        let attempt = self.0.entry(run).or_insert(Attempt {
            count: 0,
            driving: None,
        });
        attempt.count += 1;
        attempt.driving = Some(driving.clone());
    }

    fn give_up(&mut self, run: RunId) {
        self.0.insert(
            run,
            Attempt {
                count: TAKE_UPS_IN_A_ROW,
                driving: None,
            },
        );
    }

    /// Whether a run may be taken up. One whose last driver came to an end of its own begins anew.
    fn may(&mut self, run: RunId) -> bool {
        let Some(attempt) = self.0.get(&run) else {
            return true;
        };
        if attempt.driving.as_ref().is_some_and(Driving::ended_well) {
            self.0.remove(&run);
            return true;
        }
        attempt.count < TAKE_UPS_IN_A_ROW
    }
}

#[cfg(test)]
mod tests;
