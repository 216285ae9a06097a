//! Keeps the index fresh while the library is open.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};

use super::Shelves;

/// How long changes are gathered before the folders are looked through.
const GATHER: Duration = Duration::from_millis(300);
/// How long the index is worked on before others may use it.
const SLICE: Duration = Duration::from_secs(1);
/// The most slices in a row; a library that needs more goes on at the next change or search.
const SLICES_LIMIT: usize = 3_600;

/// The background thread of one library. It ends when this is dropped.
pub(super) struct Watch {
    closed: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

impl Watch {
    pub(super) fn start(shelves: &Arc<Shelves>) -> Self {
        // One waiting word is enough: it says that something changed, not what.
        let (wake, woken) = mpsc::sync_channel(1);
        let closed = Arc::new(AtomicBool::new(false));
        let watch = Self {
            closed: Arc::clone(&closed),
            wake: wake.clone(),
        };
        let shelves = Arc::downgrade(shelves);
        let started = thread::Builder::new()
            .name("longrein-library".to_owned())
            .spawn(move || keep_fresh(&shelves, &closed, wake, &woken));
        if let Err(error) = started {
            tracing::warn!(%error, "the library is not watched; each search looks for changes itself");
        }
        watch
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Full is as good as sent: the thread is about to look.
        let _ = self.wake.try_send(());
    }
}

fn keep_fresh(
    shelves: &Weak<Shelves>,
    closed: &AtomicBool,
    wake: SyncSender<()>,
    woken: &Receiver<()>,
) {
    let folders = shelves
        .upgrade()
        .map(|shelves| shelves.folders.clone())
        .unwrap_or_default();
    // Watched from before the first look, so that no change falls in between.
    let _watcher = watcher(&folders, wake);
    loop {
        for _ in 0..SLICES_LIMIT {
            let Some(shelves) = shelves
                .upgrade()
                .filter(|_| !closed.load(Ordering::Relaxed))
            else {
                return;
            };
            let stop =
                || closed.load(Ordering::Relaxed) || shelves.searching.load(Ordering::Relaxed) > 0;
            match shelves.refresh(Instant::now() + SLICE, &stop) {
                Ok(refreshed) if refreshed.left > 0 => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::debug!(%error, "the library could not be read ahead");
                    break;
                }
            }
        }
        if woken.recv().is_err() || closed.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(GATHER);
    }
}

/// `None` where the system can't watch: each search looks for changes anyway.
fn watcher(folders: &[PathBuf], wake: SyncSender<()>) -> Option<RecommendedWatcher> {
    let changed = move |event: notify::Result<notify::Event>| {
        if !event.is_ok_and(|event| event.kind.is_access()) {
            // Full is as good as sent.
            let _ = wake.try_send(());
        }
    };
    // As everywhere in the library: a link leads nowhere.
    let config = Config::default().with_follow_symlinks(false);
    let watched = RecommendedWatcher::new(changed, config).and_then(|mut watcher| {
        for folder in folders {
            watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    watched
        .inspect_err(|error| tracing::debug!(%error, "the library's folders can't be watched"))
        .ok()
}
