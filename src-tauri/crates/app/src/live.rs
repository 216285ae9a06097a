//! Provisional text of runs that this process drives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::RunId;
use longrein_runtime::ports::LiveText;
use tokio::sync::watch;

/// What a request has streamed so far; empty between requests.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Provisional {
    /// The answer.
    pub text: String,
    /// The reasoning.
    pub thinking: String,
}

/// The most bytes of provisional text that are kept for the screen; the rest comes with the
/// committed response.
const PROVISIONAL_BYTES: usize = 256 * 1024;

/// The provisional text of every run of this process.
#[derive(Clone, Default)]
pub struct LiveHub(Arc<Mutex<HashMap<RunId, watch::Sender<Provisional>>>>);

impl LiveHub {
    fn sender(&self, run: RunId) -> watch::Sender<Provisional> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.entry(run)
            .or_insert_with(|| watch::channel(Provisional::default()).0)
            .clone()
    }

    /// Follows a run's provisional text.
    pub fn follow(&self, run: RunId) -> watch::Receiver<Provisional> {
        self.sender(run).subscribe()
    }

    /// Takes the text of a run's next request; what was there is cleared.
    pub fn begin(&self, run: RunId) -> Arc<dyn LiveText> {
        let sender = self.sender(run);
        sender.send_replace(Provisional::default());
        Arc::new(Live(sender))
    }

    /// Forgets a run that is no longer driven here.
    pub fn end(&self, run: RunId) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = runs.remove(&run) {
            sender.send_replace(Provisional::default());
        }
    }
}

struct Live(watch::Sender<Provisional>);

impl LiveText for Live {
    fn text(&self, more: &str) {
        self.0
            .send_modify(|provisional| extend(&mut provisional.text, more));
    }

    fn thinking(&self, more: &str) {
        self.0
            .send_modify(|provisional| extend(&mut provisional.thinking, more));
    }
}

fn extend(text: &mut String, more: &str) {
    if text.len() + more.len() <= PROVISIONAL_BYTES {
        text.push_str(more);
    }
}
