//! What runs that this process drives show before it is committed: the text of a request that
//! streams, and the output of actions that run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::{ActionId, RunId};
use longrein_runtime::ports::{LiveAction, LiveText};
use tokio::sync::watch;

/// What a request has streamed so far; empty between requests.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Provisional {
    /// The answer.
    pub text: String,
    /// The reasoning.
    pub thinking: String,
}

/// What running actions show of themselves, by their ids.
pub type Acting = BTreeMap<ActionId, Shown>;

/// What one running action shows of itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What it is doing, in a few words.
    pub doing: String,
    /// The last part of its output.
    pub output: String,
}

/// The most bytes of provisional text that are kept for the screen; the rest comes with the
/// committed response.
const PROVISIONAL_BYTES: usize = 256 * 1024;
/// The most bytes of an action's output that are kept for the screen: the last ones.
const OUTPUT_BYTES: usize = 16 * 1024;

/// What every run of this process shows.
#[derive(Clone, Default)]
pub struct LiveHub(Arc<Mutex<HashMap<RunId, OfRun>>>);

#[derive(Clone, Default)]
struct OfRun {
    text: watch::Sender<Provisional>,
    acting: watch::Sender<Acting>,
}

impl LiveHub {
    fn of(&self, run: RunId) -> OfRun {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.entry(run).or_default().clone()
    }

    /// Follows a run's provisional text.
    pub fn follow(&self, run: RunId) -> watch::Receiver<Provisional> {
        self.of(run).text.subscribe()
    }

    /// Follows what a run's actions show.
    pub fn follow_actions(&self, run: RunId) -> watch::Receiver<Acting> {
        self.of(run).acting.subscribe()
    }

    /// Takes the text of a run's next request; what was there is cleared.
    pub fn begin(&self, run: RunId) -> Arc<dyn LiveText> {
        let sender = self.of(run).text;
        sender.send_replace(Provisional::default());
        Arc::new(Live(sender))
    }

    /// Takes what an action of a run shows, until it is dropped.
    pub fn action(&self, run: RunId, action: ActionId) -> Arc<dyn LiveAction> {
        let acting = self.of(run).acting;
        Arc::new(LiveOf { action, acting })
    }

    /// Forgets a run that is no longer driven here.
    pub fn end(&self, run: RunId) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_run) = runs.remove(&run) {
            of_run.text.send_replace(Provisional::default());
            of_run.acting.send_replace(Acting::default());
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

struct LiveOf {
    action: ActionId,
    acting: watch::Sender<Acting>,
}

impl LiveOf {
    fn with(&self, change: impl FnOnce(&mut Shown)) {
        self.acting
            .send_modify(|acting| change(acting.entry(self.action.clone()).or_default()));
    }
}

impl LiveAction for LiveOf {
    fn output(&self, more: &str) {
        self.with(|shown| {
            shown.output.push_str(more);
            let excess = shown.output.len().saturating_sub(OUTPUT_BYTES);
            shown
                .output
                .drain(..shown.output.ceil_char_boundary(excess));
        });
    }

    fn doing(&self, words: &str) {
        self.with(|shown| words.clone_into(&mut shown.doing));
    }
}

impl Drop for LiveOf {
    fn drop(&mut self) {
        self.acting
            .send_if_modified(|acting| acting.remove(&self.action).is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_action_that_runs_the_last_output_is_shown_and_of_one_that_ended_nothing() {
        let (hub, run) = (LiveHub::default(), RunId::from_parts(0, 1));
        let acting = hub.follow_actions(run);
        let live = hub.action(run, ActionId("A1".to_owned()));
        assert!(acting.borrow().is_empty(), "it has shown nothing yet");
        live.doing("starting the box");
        live.output(&"é".repeat(OUTPUT_BYTES));
        live.output("last");
        {
            let acting = acting.borrow();
            let shown = &acting[&ActionId("A1".to_owned())];
            assert_eq!(shown.doing, "starting the box");
            assert!(shown.output.len() <= OUTPUT_BYTES && shown.output.ends_with("élast"));
        }
        drop(live);
        assert!(acting.borrow().is_empty());
    }
}
