//! What a window shows of a run: a snapshot, then changes, never a gap.

use longrein_core::view::{self, View};
use longrein_protocol::view::{
    LiveRow, ROWS_IN_A_SNAPSHOT, RunHead, RunState, ViewChange, ViewUpdate,
};
use longrein_protocol::{ActionId, Body, Event, RunId};
use longrein_runtime::wire;
use longrein_store::Store;
use std::collections::HashMap;
use std::time::Duration;

use crate::Longrein;
use crate::error::AppError;
use crate::follow::{Followed, Follower};
use crate::live::Shown;

/// Events that are folded into one change at most.
const EVENTS_IN_A_CHANGE: usize = 512;

/// How often it is asked whether anybody drives a run: a process may end without an event.
const DRIVER_CHECK: Duration = Duration::from_secs(2);

/// The feed of one subscription.
pub struct ViewFeed {
    app: Longrein,
    run: RunId,
    follower: Follower,
    view: View,
    opened: bool,
    /// The state that was told last.
    told: Option<RunState>,
}

impl Longrein {
    /// Opens the feed of a run.
    ///
    /// # Errors
    /// When the store can't be watched.
    pub fn feed(&self, run: RunId) -> Result<ViewFeed, AppError> {
        let follower = self.follow(run, 1)?;
        Ok(ViewFeed {
            app: self.clone(),
            run,
            follower,
            view: View::default(),
            opened: false,
            told: None,
        })
    }

    /// The view of a run as its log stands now.
    ///
    /// # Errors
    /// When there is no such run, or what reading gives.
    pub async fn view(&self, run: RunId) -> Result<View, AppError> {
        let mut feed = self.feed(run)?;
        self.inner.store.run_line(run).await?;
        feed.catch_up().await?;
        Ok(feed.view)
    }
}

impl ViewFeed {
    /// The next update: first the snapshot, then changes and provisional text.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn next(&mut self) -> Result<ViewUpdate, AppError> {
        if !self.opened {
            self.opened = true;
            self.catch_up().await?;
            let mut view = self.view.snapshot(ROWS_IN_A_SNAPSHOT);
            self.mark_driver(&mut view.head);
            return Ok(ViewUpdate::Snapshot { view });
        }
        let followed = loop {
            match tokio::time::timeout(DRIVER_CHECK, self.follower.next()).await {
                Ok(followed) => break followed?,
                Err(_) => {
                    if let Some(change) = self.driver_change() {
                        return Ok(ViewUpdate::Change { change });
                    }
                }
            }
        };
        match followed {
            Followed::Event(event) => self.change(*event).await,
            Followed::Provisional(live) => Ok(ViewUpdate::Provisional {
                text: live.text,
                thinking: live.thinking,
            }),
            Followed::Acting(acting) => Ok(ViewUpdate::Acting {
                actions: acting.into_iter().map(live_row).collect(),
            }),
            Followed::Damaged(damage) => Ok(ViewUpdate::Problem {
                message: format!(
                    "Event {} is damaged: what follows can't be shown. Run: longrein log check",
                    damage.seq
                ),
            }),
        }
    }

    /// The view so far.
    pub fn view(&self) -> &View {
        &self.view
    }

    async fn catch_up(&mut self) -> Result<Vec<String>, AppError> {
        let mut keys = Vec::new();
        while let Some(Followed::Event(event)) = self.follower.ready().await? {
            self.fold(&event, &mut keys).await?;
        }
        Ok(keys)
    }

    async fn change(&mut self, first: Event) -> Result<ViewUpdate, AppError> {
        let mut keys = Vec::new();
        self.fold(&first, &mut keys).await?;
        for _ in 0..EVENTS_IN_A_CHANGE {
            let Some(Followed::Event(event)) = self.follower.ready().await? else {
                break;
            };
            self.fold(&event, &mut keys).await?;
        }
        let mut change: ViewChange = self.view.change(&keys);
        if let Some(head) = &mut change.head {
            self.mark_driver(head);
        }
        Ok(ViewUpdate::Change { change })
    }

    async fn fold(&mut self, event: &Event, keys: &mut Vec<String>) -> Result<(), AppError> {
        let texts = texts(&self.app.inner.store, view::bodies_needed(event)).await?;
        let content = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Blob { blob, .. } => texts.get(blob).cloned().unwrap_or_default(),
        };
        keys.extend(self.view.apply(event, &content));
        Ok(())
    }

    fn mark_driver(&mut self, head: &mut RunHead) {
        head.state = view::with_driver(head.state, self.app.is_driven(self.run));
        self.told = Some(head.state);
    }

    /// The panel, when its state is another one now because a driver came or went.
    fn driver_change(&mut self) -> Option<ViewChange> {
        let before = self.told;
        let mut head = self.view.head();
        self.mark_driver(&mut head);
        (self.told != before).then(|| ViewChange {
            seq: self.view.run().seq,
            head: Some(head),
            rows: Vec::new(),
        })
    }
}

fn live_row((action, shown): (ActionId, Shown)) -> LiveRow {
    LiveRow {
        key: action.0,
        doing: shown.doing,
        output: shown.output,
    }
}

async fn texts(
    store: &Store,
    bodies: Vec<&Body>,
) -> Result<HashMap<longrein_protocol::BlobHash, String>, AppError> {
    let mut texts = HashMap::new();
    for body in bodies {
        if let Body::Blob { blob, .. } = body {
            let text = match wire::body_text(store, body).await {
                Err(longrein_store::LogError::Blob(hash)) => {
                    format!("[the content {hash} is missing or damaged]")
                }
                read => read?,
            };
            texts.insert(*blob, text);
        }
    }
    Ok(texts)
}
