//! Where the runs of this process get pages of the web from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::RunId;
use longrein_tools::Web;
use longrein_web::{Cache, Fetcher, Settings};

use crate::config::WebConfig;

/// One fetcher for all runs, and what each run tree has fetched, as long as this process drives it.
pub(crate) struct Pages {
    fetcher: Arc<Fetcher>,
    fetched: Mutex<HashMap<RunId, Arc<Cache>>>,
}

impl Pages {
    pub(crate) fn new() -> Self {
        Self {
            fetcher: Arc::new(longrein_tools::fetcher(Settings::default())),
            fetched: Mutex::default(),
        }
    }

    /// For the runs of a tree: what one of them has fetched, all of them have.
    pub(crate) fn of(&self, tree: Option<RunId>, config: &WebConfig) -> Web {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = tree.map(|tree| Arc::clone(fetched.entry(tree).or_default()));
        Web {
            fetcher: Arc::clone(&self.fetcher),
            cache: cache.unwrap_or_default(),
            ignore_robots: config.ignore_robots.clone(),
        }
    }

    /// Lets go of what a tree has fetched: what it cites is in its log.
    pub(crate) fn forget(&self, tree: RunId) {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.remove(&tree);
    }
}
