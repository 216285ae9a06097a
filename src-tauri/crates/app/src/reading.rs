//! Looking at what is recorded. Nothing here acts.

use longrein_core::view;
use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::{BlobHash, Body, RunId};
use longrein_runtime::history::{self, PastRequest};
use longrein_store::Log as _;
use serde::{Deserialize, Serialize};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode};

/// A past request, with whether what the log rebuilds is what was sent.
#[derive(Clone)]
pub struct RequestView {
    /// The request.
    pub request: PastRequest,
    /// Whether the SHA-256 of the rebuilt bytes is the one recorded when they were sent.
    pub exact: bool,
}

/// The most runs of one page.
const RUNS_ON_A_PAGE: usize = 100;
/// Runs that are read at once.
const RUNS_AT_ONCE: u32 = 200;
/// The most runs that are looked at for one page: with a filter, most of them may not count.
const RUNS_LOOKED_AT: usize = 10_000;

/// Which runs are listed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunsFilter {
    /// Only those of these states; empty: of any.
    #[serde(default)]
    pub states: Vec<RunState>,
    /// Only those of this agent; empty: of any.
    #[serde(default)]
    pub agent: String,
    /// Where a page before ended; empty for the first.
    #[serde(default)]
    pub after: String,
}

/// A page of runs, the newest first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunsPage {
    /// The runs.
    pub runs: Vec<RunLine>,
    /// Where the page ends, for the next one; empty where there is no more.
    pub next: String,
}

impl Longrein {
    /// A page of the runs that a filter lets through. A page ends at a run and not at a number, so
    /// that runs which begin meanwhile shift nothing.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn runs_page(&self, filter: &RunsFilter) -> Result<RunsPage, AppError> {
        let mut page = RunsPage::default();
        let mut before: Option<RunId> = filter.after.parse().ok();
        let mut looked_at = 0;
        loop {
            let lines = self.runs(RUNS_AT_ONCE, before).await?;
            let is_last = lines.len() < RUNS_AT_ONCE as usize;
            for line in lines {
                looked_at += 1;
                before = line.run.parse().ok();
                let run = line.run.clone();
                let is_wanted = filter.states.is_empty() || filter.states.contains(&line.state);
                if is_wanted && (filter.agent.is_empty() || filter.agent == line.agent) {
                    page.runs.push(line);
                }
                if page.runs.len() >= RUNS_ON_A_PAGE || looked_at >= RUNS_LOOKED_AT {
                    page.next = run;
                    return Ok(page);
                }
            }
            if is_last {
                return Ok(page);
            }
        }
    }

    /// Runs, newest first; each says whether anybody drives it.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn runs(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunLine>, AppError> {
        let lines = self.inner.store.runs(limit, before).await?;
        Ok(lines.into_iter().map(|line| self.marked(line)).collect())
    }

    /// One run's line.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn run_line(&self, run: RunId) -> Result<RunLine, AppError> {
        Ok(self.marked(self.inner.store.run_line(run).await?))
    }

    pub(crate) fn marked(&self, mut line: RunLine) -> RunLine {
        // Only a run that works needs a driver, and asking for one is a look at the disk.
        if line.state == RunState::Running {
            let root = line.root.as_ref().unwrap_or(&line.run);
            let driven = root.parse().is_ok_and(|tree| self.is_driven(tree));
            line.state = view::with_driver(line.state, driven);
        }
        if line.state == RunState::Interrupted && line.reason.is_empty() {
            line.reason = "Its process ended; nobody drives it.".to_owned();
        }
        line
    }

    /// The `number`th request of a run, rebuilt from its log.
    ///
    /// # Errors
    /// When there is no such request.
    pub async fn request(&self, run: RunId, number: u32) -> Result<RequestView, AppError> {
        let Some(request) = history::request(&self.inner.store, run, number).await? else {
            return Err(AppError::new(
                AppErrorCode::NotFound,
                format!("Run {run} has no request {number}."),
                "Requests are counted from 1.",
            ));
        };
        let exact = request.sealed.sha256 == request.requested.body_sha256;
        Ok(RequestView { request, exact })
    }

    /// The bytes of a body.
    ///
    /// # Errors
    /// When the content is missing or damaged.
    pub async fn content(&self, body: &Body) -> Result<Vec<u8>, AppError> {
        match body {
            Body::Text(text) => Ok(text.clone().into_bytes()),
            Body::Blob { blob, .. } => self.blob(*blob).await,
        }
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When the content is missing or damaged.
    pub async fn blob(&self, hash: BlobHash) -> Result<Vec<u8>, AppError> {
        Ok(self.inner.store.blob(hash).await?.to_vec())
    }
}
