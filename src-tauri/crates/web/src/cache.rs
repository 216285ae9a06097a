//! What one run has fetched already.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::page::{Page, Part};
use crate::recent::Recent;
use crate::robots::Rules;

/// How many pages a run keeps.
pub const PAGES_LIMIT: usize = 128;
/// How many bytes they may have in all, with their texts.
pub const PAGES_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The pages and the `robots.txt` rules of one run. It may be dropped at any time: what a run
/// cites is in its log.
pub struct Cache {
    pages: Mutex<Recent<Key, Arc<Page>>>,
    pub(crate) rules: Rules,
}

/// A page is the same only when it was asked for in the same way. One that the person allowed
/// past `robots.txt` does not answer to somebody who may not pass.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub address: String,
    pub part: Part,
    pub robots_ignored: bool,
}

impl Cache {
    /// An empty cache with the usual bounds.
    pub fn new() -> Self {
        Self::bounded(PAGES_LIMIT, PAGES_LIMIT_BYTES)
    }

    /// An empty cache for at most `pages` pages with at most `bytes` bytes in all.
    pub fn bounded(pages: usize, bytes: usize) -> Self {
        Self {
            pages: Mutex::new(Recent::new(pages, bytes)),
            rules: Rules::new(),
        }
    }

    pub(crate) fn page(&self, key: &Key) -> Option<Arc<Page>> {
        self.locked().get(key)
    }

    /// The same page, read for its other part.
    pub(crate) fn other_part(&self, key: &Key) -> Option<Arc<Page>> {
        let part = match key.part {
            Part::Main => Part::Whole,
            Part::Whole => Part::Main,
        };
        self.locked().get(&Key {
            part,
            ..key.clone()
        })
    }

    pub(crate) fn keep(&self, key: Key, page: Arc<Page>) {
        let weight = page.weight();
        self.locked().put(key, page, weight);
    }

    /// How many pages are kept.
    pub fn len(&self) -> usize {
        self.locked().len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are kept.
    pub fn weight(&self) -> usize {
        self.locked().weight()
    }

    fn locked(&self) -> MutexGuard<'_, Recent<Key, Arc<Page>>> {
        // A panic elsewhere leaves the map whole.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}
