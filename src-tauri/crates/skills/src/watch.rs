//! Says that something changed among the skills, so that whoever shows or uses them looks again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};

use crate::catalogue::Catalogue;
use crate::place::Places;

/// The most folders that are watched one by one.
const FOLDERS_LIMIT: usize = 64;
/// How far above a place that does not exist yet a folder is looked for that does.
const ABOVE_LIMIT: usize = 4;

/// Watches the places of skills, and the folders that links in them lead to.
pub struct Watch {
    changed: Arc<Changed>,
    /// `None` where the system can't watch.
    watcher: Option<RecommendedWatcher>,
    watched: Vec<(PathBuf, RecursiveMode)>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = out.debug_struct("Watch");
        out.field("watched", &self.watched).finish_non_exhaustive()
    }
}

/// How often something changed. One number is enough: it says that, not what.
#[derive(Debug, Default)]
struct Changed {
    times: Mutex<u64>,
    told: Condvar,
    /// Below which a change counts: the folder above a place sees much that is none of it.
    places: Mutex<Vec<PathBuf>>,
}

impl Changed {
    fn times(&self) -> MutexGuard<'_, u64> {
        // A number can't be left half changed.
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // It is replaced whole.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one of the paths lies in a place, or on the way to one.
    fn concerns(&self, paths: &[PathBuf]) -> bool {
        let places = self.places();
        paths.iter().any(|path| {
            places
                .iter()
                .any(|place| path.starts_with(place) || place.starts_with(path))
        })
    }

    fn tell(&self) {
        *self.times() += 1;
        self.told.notify_all();
    }
}

/// A point in time, to ask what changed since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen(u64);

impl Watch {
    /// Begins to watch. Take `now` before reading the catalogue, so that no change falls between.
    pub fn start(places: &Places, catalogue: &Catalogue) -> Self {
        let changed = Arc::new(Changed::default());
        let teller = Arc::clone(&changed);
        let on_event = move |event: notify::Result<notify::Event>| match event {
            // Reading is no change.
            Ok(event) if event.kind.is_access() => {}
            // An event without a path says that others were lost.
            Ok(event) if !event.paths.is_empty() && !teller.concerns(&event.paths) => {}
            // An error may hide a change.
            Ok(_) | Err(_) => teller.tell(),
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(on_event, config)
            .inspect_err(|error| tracing::debug!(%error, "skills can't be watched"))
            .ok();
        let mut watch = Self {
            changed,
            watcher,
            watched: Vec::new(),
        };
        watch.follow(places, catalogue);
        watch
    }

    /// Watches what is there now: call it after each look at the catalogue, since places come and
    /// go.
    pub fn follow(&mut self, places: &Places, catalogue: &Catalogue) {
        let wanted = wanted(places, catalogue);
        let linked = linked(catalogue);
        let all = places.list().into_iter().map(|place| place.folder);
        *self.changed.places() = all.chain(linked).collect();
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        for (folder, mode) in &self.watched {
            if !wanted.contains(&(folder.clone(), *mode)) {
                // It may be gone, and its watch with it.
                let _ = watcher.unwatch(folder);
            }
        }
        let mut watched = Vec::new();
        for (folder, mode) in wanted {
            // Asked for again even where it is watched: a folder may have been made anew under
            // its old name.
            match watcher.watch(&folder, mode) {
                Ok(()) => watched.push((folder, mode)),
                Err(error) => {
                    tracing::debug!(%error, folder = %folder.display(), "a place of skills can't be watched");
                }
            }
        }
        self.watched = watched;
    }

    /// Whether changes are noticed at all: not every system or disk can tell.
    pub fn is_watching(&self) -> bool {
        self.watcher.is_some() && !self.watched.is_empty()
    }

    /// This moment.
    pub fn now(&self) -> Seen {
        Seen(*self.changed.times())
    }

    /// Whether something changed since then. It does not wait.
    pub fn changed_since(&self, seen: Seen) -> bool {
        *self.changed.times() != seen.0
    }

    /// Waits until something changed since then, at most for `limit`; says whether it did.
    pub fn wait(&self, seen: Seen, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut times = self.changed.times();
        while *times == seen.0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.told.wait_timeout(times, left);
            times = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// The folders to watch: a place with all that is in it, or the nearest folder above that is there.
fn wanted(places: &Places, catalogue: &Catalogue) -> Vec<(PathBuf, RecursiveMode)> {
    let mut wanted: Vec<(PathBuf, RecursiveMode)> = Vec::new();
    let mut add = |folder: PathBuf, mode| {
        let is_new = !wanted.iter().any(|(known, _)| *known == folder);
        if is_new && wanted.len() < FOLDERS_LIMIT {
            wanted.push((folder, mode));
        }
    };
    for place in places.list() {
        if place.folder.is_dir() {
            add(place.folder, RecursiveMode::Recursive);
        } else if let Some(above) = above(&place.folder) {
            add(above, RecursiveMode::NonRecursive);
        }
    }
    for folder in linked(catalogue).filter(|folder| folder.is_dir()) {
        add(folder, RecursiveMode::Recursive);
    }
    wanted
}

/// The folders that links in places lead to.
fn linked(catalogue: &Catalogue) -> impl Iterator<Item = PathBuf> + '_ {
    let skills = catalogue.skills.iter();
    skills
        .filter(|skill| skill.linked_from.is_some())
        .map(|skill| skill.folder.clone())
}

fn above(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .skip(1)
        .take(ABOVE_LIMIT)
        .find(|above| above.is_dir())
        .map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_a_place_or_on_the_way_to_one_counts() {
        let changed = Changed::default();
        *changed.places() = vec![PathBuf::from("home/.agents/skills")];
        let concerns = |path: &str| changed.concerns(&[PathBuf::from(path)]);
        for path in [
            "home/.agents",
            "home/.agents/skills",
            "home/.agents/skills/beans/SKILL.md",
        ] {
            assert!(concerns(path), "{path}");
        }
        for path in [
            "home/notes.md",
            "home/.agents/other",
            "home/.agents/skills-old",
        ] {
            assert!(!concerns(path), "{path}");
        }
    }
}
