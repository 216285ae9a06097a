//! The runs that this process drives.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::RunId;
use longrein_protocol::event::{ResumeReason, RunResumed};
use longrein_protocol::view::RunState;
use longrein_runtime::{Driver, Waker, history};
use longrein_store::{Store, TreeLock};
use tokio::sync::{Notify, watch};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode, of_lock};

/// The drivers of this process.
#[derive(Default)]
pub(crate) struct Drivers(Mutex<Driven>);

#[derive(Default)]
struct Driven {
    driving: HashMap<RunId, Driving>,
    /// Runs that this process let go on purpose: it does not take them up again by itself.
    let_go: HashSet<RunId>,
}

impl Drivers {
    fn with<T>(&self, act: impl FnOnce(&mut Driven) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this process let the run go on purpose, and has not taken it up again.
    pub(crate) fn has_let_go(&self, run: RunId) -> bool {
        self.with(|driven| driven.let_go.contains(&run))
    }
}

/// A run that this process drives.
#[derive(Clone)]
pub struct Driving {
    /// The run.
    pub run: RunId,
    ended: watch::Receiver<Option<Ended>>,
    let_go: Arc<Notify>,
}

/// How driving a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// The state that it stopped in.
    pub state: RunState,
    /// Why.
    pub reason: String,
    /// What the person can do.
    pub remedy: String,
    /// A failure of the driver itself; the run stays resumable.
    pub failure: Option<String>,
}

impl Driving {
    /// Stops driving where it stands: servers are ended, the lock is let go. What was in flight is
    /// found in the log by whoever takes the run up; the run says that it was interrupted.
    pub fn let_go(&self) {
        self.let_go.notify_one();
    }

    /// Whether it has ended, and not because the driver failed.
    pub(crate) fn ended_well(&self) -> bool {
        let ended = self.ended.borrow();
        ended.as_ref().is_some_and(|ended| ended.failure.is_none())
    }

    /// Waits until the run stops.
    pub async fn ended(mut self) -> Ended {
        match self.ended.wait_for(Option::is_some).await {
            Ok(ended) => ended.clone().unwrap_or_else(lost),
            Err(_) => lost(),
        }
    }
}

fn lost() -> Ended {
    Ended {
        state: RunState::Interrupted,
        reason: "The driver ended without a word.".to_owned(),
        remedy: "Resume the run.".to_owned(),
        failure: Some("The driver ended without a word.".to_owned()),
    }
}

impl Longrein {
    /// Takes up a run that nobody drives and drives it in the background. A run that this process
    /// drives already is returned as it is. A child is taken up with its whole tree: what is
    /// returned is the driving of the tree's first run.
    ///
    /// # Errors
    /// [`AppErrorCode::Busy`] when another process drives it, [`AppErrorCode::Unreadable`] when
    /// its log is damaged.
    pub async fn take_up(&self, run: RunId, why: ResumeReason) -> Result<Driving, AppError> {
        if let Some(driving) = self.driven_here(run) {
            return Ok(driving);
        }
        let tree = self.inner.store.tree_of(run).await?;
        if let Some(driving) = self.driven_here(tree) {
            return Ok(driving);
        }
        let (lock, fence) = TreeLock::acquire(&self.inner.store, tree)
            .await
            .map_err(|error| of_lock(run, error))?;
        self.reap_boxes().await;
        let past = history::load(&self.inner.store, tree).await?;
        if let Some(damage) = past.damage {
            return Err(AppError::new(
                AppErrorCode::Unreadable,
                format!(
                    "Event {} of run {tree} is damaged, so the run can be read but not continued.",
                    damage.seq
                ),
                "See what is damaged with: longrein log check",
            ));
        }
        let underway = past.run.is_underway();
        let mut driver = Driver::new(self.ports(), fence, past.run);
        if underway {
            // Whatever it is taken up for, the process before ended without a word.
            let why = match why {
                ResumeReason::Asked => ResumeReason::Interrupted,
                why => why,
            };
            driver.record(RunResumed { why })?;
        }
        Ok(self.drive_in_background(tree, driver, lock))
    }

    /// Ends the process that drives a run, then takes the run up. `others` are the further runs
    /// that the process drives, which end with it; the caller has asked about them.
    ///
    /// # Errors
    /// When the process can't be ended, and those of [`Longrein::take_up`].
    pub async fn take_over(&self, run: RunId) -> Result<Driving, AppError> {
        let tree = self.inner.store.tree_of(run).await?;
        let data = self.inner.paths.data.clone();
        if let Some(holder) = TreeLock::holder(&data, tree) {
            let ended = tokio::task::spawn_blocking(move || {
                longrein_store::lock::end_holder(&data, &holder)
            })
            .await;
            let ended =
                ended.map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))?;
            ended.map_err(|error| of_lock(run, error))?;
        }
        self.take_up(run, ResumeReason::TakenOver).await
    }

    /// Every run that the process driving `run` drives.
    pub async fn driven_with(&self, run: RunId) -> Result<Vec<RunId>, AppError> {
        let tree = self.inner.store.tree_of(run).await?;
        let holder = TreeLock::holder(&self.inner.paths.data, tree);
        Ok(holder
            .map(|holder| longrein_store::lock::driven_by(&self.inner.paths.data, holder.pid))
            .unwrap_or_default())
    }

    /// The driver of a run in this process.
    pub fn driven_here(&self, run: RunId) -> Option<Driving> {
        self.inner
            .drivers
            .with(|driven| driven.driving.get(&run).cloned())
    }

    /// Runs that this process drives.
    pub fn runs_driven_here(&self) -> Vec<RunId> {
        self.inner
            .drivers
            .with(|driven| driven.driving.keys().copied().collect())
    }

    pub(crate) fn drive_in_background(
        &self,
        run: RunId,
        mut driver: Driver,
        lock: TreeLock,
    ) -> Driving {
        let (sender, ended) = watch::channel(None);
        let driving = Driving {
            run,
            ended,
            let_go: Arc::default(),
        };
        self.inner.drivers.with(|driven| {
            driven.let_go.remove(&run);
            driven.driving.insert(run, driving.clone());
        });
        let waker = driver.waker();
        let alarm = tokio::spawn(wake_on_change(self.inner.store.clone(), waker));
        let (app, let_go) = (self.clone(), driving.let_go.clone());
        tokio::spawn(async move {
            let failure = tokio::select! {
                driven = driver.drive(true) => driven.err(),
                () = let_go.notified() => {
                    app.inner.drivers.with(|driven| driven.let_go.insert(run));
                    None
                }
            };
            alarm.abort();
            let ended = how_it_ended(&driver, failure);
            let first = driver.run().clone();
            drop(driver);
            app.inner.world.close(run, &first).await;
            app.close_left(run, &first).await;
            app.inner.live.end(run);
            drop(lock);
            app.inner.drivers.with(|driven| driven.driving.remove(&run));
            sender.send_replace(Some(ended));
        });
        driving
    }
}

/// Wakes a driver whenever something was committed, so that it reads its inbox.
async fn wake_on_change(store: Store, waker: Waker) {
    let Ok(mut changes) = store.watch() else {
        return;
    };
    while changes.changed().await.is_ok() {
        waker.wake();
    }
}

fn how_it_ended(driver: &Driver, failure: Option<longrein_runtime::DriveError>) -> Ended {
    let (state, reason, remedy) = driver.run().standing();
    match failure {
        None => Ended {
            state,
            reason,
            remedy,
            failure: None,
        },
        Some(error) => {
            let error = AppError::from(error);
            Ended {
                state: RunState::HandedOff,
                reason: error.message.clone(),
                remedy: error.remedy,
                failure: Some(error.message),
            }
        }
    }
}
