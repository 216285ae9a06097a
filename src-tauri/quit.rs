//! Leaving. What runs is on record, so leaving loses nothing; what it means for the runs is the
//! person's choice.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longrein_protocol::wish::Wish;
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::{AppHandle, Manager};
use tauri_specta::Event;
use tokio::task::AbortHandle;

use crate::bridge::QuitAsked;
use crate::desktop::Desktop;
use crate::window;

/// How long runs may take to come to a pause before the app ends anyway; the wish to pause is
/// kept and obeyed when the run is taken up again.
const PAUSE_LIMIT: Duration = Duration::from_secs(20);
/// How long a clean end may take before the process is ended.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// What quitting means for the runs that are at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum QuitChoice {
    /// The window closes now, the app ends when they have.
    Finish,
    /// They stop before their next step and wait until they are resumed.
    Pause,
    /// They stop where they are, and go on when Longrein starts again.
    Stop,
}

/// What was begun to leave; it ends when the person comes back.
#[derive(Default)]
pub struct Leaving(Mutex<Option<AbortHandle>>);

impl Leaving {
    fn begin(&self, task: AbortHandle) {
        if let Some(earlier) = self.take().replace(task) {
            earlier.abort();
        }
    }

    /// The person is back: the app stays.
    pub fn stay(&self) {
        if let Some(task) = self.take().take() {
            task.abort();
        }
    }

    fn take(&self) -> std::sync::MutexGuard<'_, Option<AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Quits when nothing is at work; otherwise asks the person in the window.
pub fn ask(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let running = match app.try_state::<Desktop>() {
            Some(desktop) => desktop.at_work().await,
            None => Vec::new(),
        };
        if running.is_empty() || !window::can_ask(&app) {
            return end(&app);
        }
        window::show(&app);
        if let Err(error) = (QuitAsked { running }).emit(&app) {
            tracing::warn!("the window can't be asked: {error}");
            end(&app);
        }
    });
}

/// Leaves in the way that the person chose.
pub fn leave(app: &AppHandle, how: QuitChoice) {
    let app = app.clone();
    let Some(desktop) = app.try_state::<Desktop>() else {
        return end(&app);
    };
    if how == QuitChoice::Stop {
        return end(&app);
    }
    if how == QuitChoice::Finish {
        window::hide(&app);
    }
    let leaving = app.clone();
    let task = tauri::async_runtime::spawn(async move {
        match how {
            QuitChoice::Pause => pause_all(&leaving).await,
            QuitChoice::Finish | QuitChoice::Stop => nothing_at_work(&leaving).await,
        }
        end(&leaving);
    });
    desktop.leaving().begin(task.inner().abort_handle());
}

async fn pause_all(app: &AppHandle) {
    let desktop = app.state::<Desktop>();
    for line in desktop.at_work().await {
        let Ok(run) = line.run.parse() else { continue };
        if let Err(error) = desktop.longrein().wish(run, Wish::Pause).await {
            tracing::warn!("run {run} can't be told to pause: {error}");
        }
    }
    if tokio::time::timeout(PAUSE_LIMIT, nothing_at_work(app))
        .await
        .is_err()
    {
        tracing::warn!(
            "not every run came to a pause in time; they pause when they are taken up again"
        );
    }
}

async fn nothing_at_work(app: &AppHandle) {
    let desktop = app.state::<Desktop>();
    let mut runs = desktop.runs();
    while !desktop.at_work().await.is_empty() && runs.changed().await {}
}

/// Ends the app, within a limit whatever stands in the way.
pub fn end(app: &AppHandle) {
    // A dialog of the system may hold the main thread: this thread does not wait for it.
    std::thread::spawn(|| {
        std::thread::sleep(EXIT_LIMIT);
        std::process::exit(0);
    });
    app.exit(0);
}
