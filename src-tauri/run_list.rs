//! The list of runs, read once for everybody who shows it: the window, the tray, the question
//! before quitting.

use std::sync::Arc;
use std::time::Duration;

use longrein_app::{AppError, Longrein};
use longrein_protocol::RunId;
use longrein_protocol::view::{RunLine, RunState};
use tokio::sync::watch;

/// The most runs that the list holds; older ones are found by their id.
const LIST_RUNS: u32 = 5_000;
/// The newest runs are read at every change; of the others only those that are going.
const NEWEST_RUNS: u32 = 64;
/// The list is read at most this often.
const PACE: Duration = Duration::from_millis(120);
/// The whole list is read this often without a change: a process that drove a run may have died,
/// which no event tells.
const RECHECK: Duration = Duration::from_secs(3);

/// The list as it was last read, and news of it.
#[derive(Clone)]
pub struct RunList(watch::Receiver<Arc<Vec<RunLine>>>);

impl RunList {
    /// Reads the list and keeps it read, in the background, until every copy is gone.
    ///
    /// # Errors
    /// What the first reading gives.
    pub async fn open(longrein: &Longrein) -> Result<Self, AppError> {
        let lines = longrein.runs(LIST_RUNS, None).await?;
        let (sender, lines) = watch::channel(Arc::new(lines));
        tokio::spawn(keep_read(longrein.clone(), sender));
        Ok(Self(lines))
    }

    /// The runs, newest first.
    pub fn lines(&self) -> Vec<RunLine> {
        self.0.borrow().to_vec()
    }

    /// The runs that work or wait, newest first.
    pub fn going(&self) -> Vec<RunLine> {
        self.0
            .borrow()
            .iter()
            .filter(|line| is_going(line.state))
            .cloned()
            .collect()
    }

    /// Waits until a line has changed since the last return. Cancel-safe.
    ///
    /// Returns `false` when there will be no more news.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

/// Whether a run works or waits for an answer.
pub fn is_going(state: RunState) -> bool {
    matches!(state, RunState::Running | RunState::Waiting)
}

/// The lines of `now` that `before` does not have like this.
pub fn news(before: &[RunLine], now: &[RunLine]) -> Vec<RunLine> {
    let known: std::collections::HashMap<&str, &RunLine> = before
        .iter()
        .map(|line| (line.run.as_str(), line))
        .collect();
    now.iter()
        .filter(|line| {
            known
                .get(line.run.as_str())
                .is_none_or(|known| *known != *line)
        })
        .cloned()
        .collect()
}

async fn keep_read(longrein: Longrein, sender: watch::Sender<Arc<Vec<RunLine>>>) {
    let Ok(mut changes) = longrein.store().watch() else {
        return;
    };
    while !sender.is_closed() {
        let told = match tokio::time::timeout(RECHECK, changes.changed()).await {
            Ok(Ok(())) => true,
            Ok(Err(_)) => return,
            Err(_) => false,
        };
        let before = sender.borrow().clone();
        let read = if told {
            reread(&longrein, &before).await
        } else {
            longrein.runs(LIST_RUNS, None).await
        };
        match read {
            Ok(lines) => {
                sender.send_if_modified(|known| {
                    let is_news = **known != lines;
                    if is_news {
                        *known = Arc::new(lines);
                    }
                    is_news
                });
            }
            Err(error) => tracing::warn!("the list of runs can't be read: {error}"),
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Reads what is likely to have changed: the newest runs, and those that were going.
async fn reread(longrein: &Longrein, before: &[RunLine]) -> Result<Vec<RunLine>, AppError> {
    let mut lines = longrein.runs(NEWEST_RUNS, None).await?;
    let Some(oldest) = lines.last().map(|line| line.run.clone()) else {
        return Ok(lines);
    };
    // Ids sort by the time of creation, so what was not read is what comes after the oldest.
    for line in before.iter().filter(|line| line.run < oldest) {
        let fresh = match line.run.parse::<RunId>() {
            Ok(run) if is_going(line.state) => longrein.run_line(run).await?,
            _ => line.clone(),
        };
        lines.push(fresh);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(run: &str, state: RunState) -> RunLine {
        RunLine {
            run: run.to_owned(),
            parent: None,
            root: None,
            title: "What is known?".to_owned(),
            agent: "research".to_owned(),
            model: "demo/researcher".to_owned(),
            demo: true,
            state,
            reason: String::new(),
            since: 0,
            created_at: 0,
            updated_at: 0,
            steps: 0,
            tokens_in: 0,
            tokens_out: 0,
            working_ms: 0,
            cost_micro: None,
            cost_estimated: false,
            seq: 1,
            rein: Vec::new(),
        }
    }

    #[test]
    fn news_is_what_is_new_or_has_changed() {
        let before = [line("B", RunState::Running), line("A", RunState::Accepted)];
        let now = [
            line("C", RunState::Running),
            line("B", RunState::Accepted),
            line("A", RunState::Accepted),
        ];
        let told: Vec<String> = news(&before, &now)
            .into_iter()
            .map(|line| line.run)
            .collect();
        assert_eq!(told, ["C", "B"]);
        assert!(news(&now, &now).is_empty());
    }
}
