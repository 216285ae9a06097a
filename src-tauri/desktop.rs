//! What the desktop app holds while it runs: the installation, the list of runs, what the window
//! follows.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longrein_app::{AppErrorCode, Driving, Longrein, Recovered};
use longrein_protocol::RunId;
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::wish::Wish;
use longrein_store::Log as _;

use crate::at_work::AtWork;
use crate::bridge::BridgeError;
use crate::commands::skills::Offers;
use crate::quit::Leaving;
use crate::run_list::RunList;
use crate::subscriptions::Subscriptions;

/// How long it is waited after the list could not be read.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// How long the index of the search waits after a change, so that many are taken in at once.
const INDEX_PAUSE: Duration = Duration::from_secs(5);
/// How often a wish that a run left unread as it stopped makes the run be taken up again.
const UNREAD_WISH_ATTEMPTS: u32 = 3;

/// The state behind every command.
pub struct Desktop {
    longrein: Longrein,
    runs: RunList,
    subscriptions: Subscriptions,
    leaving: Leaving,
    servers_at_work: AtWork,
    to_open: Mutex<Option<RunId>>,
    offers: Offers,
}

impl Desktop {
    /// The app with this installation.
    pub fn new(longrein: Longrein, runs: RunList) -> Self {
        Self {
            longrein,
            runs,
            subscriptions: Subscriptions::default(),
            leaving: Leaving::default(),
            servers_at_work: AtWork::default(),
            to_open: Mutex::default(),
            offers: Offers::default(),
        }
    }

    /// The installation.
    pub fn longrein(&self) -> &Longrein {
        &self.longrein
    }

    /// The list of runs.
    pub fn runs(&self) -> RunList {
        self.runs.clone()
    }

    /// What the window follows.
    pub fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// Skills that wait for a person's yes.
    pub fn offers(&self) -> &Offers {
        &self.offers
    }

    /// Whether the app is on its way out.
    pub fn leaving(&self) -> &Leaving {
        &self.leaving
    }

    /// What goes on with MCP servers for the window.
    pub fn servers_at_work(&self) -> &AtWork {
        &self.servers_at_work
    }

    /// Keeps a run that the window shows as soon as it can.
    pub fn open_later(&self, run: RunId) {
        *self.to_open.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    }

    /// Takes the run that the window is to show.
    pub fn take_to_open(&self) -> Option<RunId> {
        self.to_open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// The runs of this process that are at work, and would stop with it, as they stand now.
    pub async fn at_work(&self) -> Vec<RunLine> {
        let mut working = Vec::new();
        for run in self.longrein.runs_driven_here() {
            match self.longrein.run_line(run).await {
                Ok(line) if line.state == RunState::Running => working.push(line),
                Ok(_) => {}
                Err(error) => tracing::warn!("run {run} can't be looked at: {error}"),
            }
        }
        working
    }

    /// Puts a wish into a run's inbox, and takes the run up when nobody drives it.
    ///
    /// # Errors
    /// When there is no such run, it can't be continued, or the disk refuses.
    pub async fn ask(&self, run: RunId, wish: Wish) -> Result<(), BridgeError> {
        let line = self.longrein.run_line(run).await?;
        self.longrein.wish(run, wish).await?;
        let why = match line.state {
            RunState::Interrupted => ResumeReason::Interrupted,
            _ => ResumeReason::Asked,
        };
        match self.longrein.take_up(run, why).await {
            Ok(driving) => {
                tokio::spawn(mind_unread_wishes(self.longrein.clone(), driving));
                Ok(())
            }
            // Whoever drives it reads its inbox.
            Err(error) if error.code == AppErrorCode::Busy => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes up the runs that were going when their process ended, now and as long as this lives:
    /// the process of a run may die while the window is open.
    pub async fn take_up_interrupted(&self) {
        let mut recovery = self.longrein.recovery();
        loop {
            match recovery.next().await {
                Ok(found) => found.into_iter().for_each(warn_of_refusal),
                Err(error) => {
                    tracing::warn!("interrupted runs can't be looked for: {error}");
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
        }
    }
}

/// Keeps the index of the search near to what the log says, as long as this lives, so that a search
/// waits for little. What is written meanwhile is taken in once it has been quiet for a moment.
pub async fn keep_search_ready(longrein: Longrein) {
    loop {
        // Begun before, so that nothing is missed that is written meanwhile.
        let changes = longrein.store().watch();
        if let Err(error) = longrein.index_texts().await {
            tracing::warn!("the index of the search is not brought up to date: {error}");
        }
        let changed = match changes {
            Ok(mut changes) => changes.changed().await,
            Err(error) => Err(error),
        };
        let pause = match changed {
            Ok(()) => INDEX_PAUSE,
            Err(_) => LOOK_AGAIN,
        };
        tokio::time::sleep(pause).await;
    }
}

/// A run that can't be continued stays in the list and says why.
fn warn_of_refusal(found: Recovered) {
    if let Err(error) = found.driving {
        tracing::warn!("run {} is not taken up: {error}", found.run);
    }
}

/// A wish may arrive just as its run stops, too late for the driver to read it. Then the run is
/// taken up once more for the wish's sake.
async fn mind_unread_wishes(longrein: Longrein, mut driving: Driving) {
    for _ in 0..UNREAD_WISH_ATTEMPTS {
        let run = driving.run;
        driving.ended().await;
        let unread = longrein.store().wishes(run).await;
        if !unread.is_ok_and(|wishes| !wishes.is_empty()) {
            return;
        }
        match longrein.take_up(run, ResumeReason::Asked).await {
            Ok(again) => driving = again,
            Err(_) => return,
        }
    }
}
