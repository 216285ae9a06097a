//! Taking a run tree out of the log for good, with the contents that no other run refers to.
//!
//! What other runs refer to is found out before the database is locked; inside the transaction only
//! what was written since is looked at, so that nobody waits long.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use longrein_protocol::{BlobHash, RunId};
use rusqlite::{Connection, params};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::append::fence_number;
use crate::blobs;
use crate::check::{all_runs, collect_blobs};
use crate::codec::{Decoder, Encoder, PAYLOAD_LIMIT_BYTES};
use crate::fault::{self, Failure};
use crate::file_system;
use crate::log::{Fence, LogError};
use crate::rows::{key, run_of};
use crate::writer::Work;

/// Rows that are read at once.
const PAGE_OF_ROWS: u32 = 512;

/// What was taken out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deleted {
    /// The runs.
    pub runs: Vec<RunId>,
    /// How many contents no other run refers to, and went with them.
    pub contents: u32,
}

/// What is known before the database is locked.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The runs of the tree.
    runs: Vec<RunId>,
    /// Contents that they refer to, and that no other run was seen to.
    contents: BTreeSet<BlobHash>,
    /// How far each other run was looked at.
    seen: HashMap<RunId, u32>,
}

/// Looks at what a tree refers to, and nobody else does.
pub(crate) fn survey(connection: &Connection, tree: RunId) -> rusqlite::Result<Survey> {
    let mut select = connection.prepare_cached("SELECT run FROM runs WHERE tree = ?1")?;
    let runs = select.query_map([key(tree)], |row| row.get::<_, Vec<u8>>(0))?;
    let runs: Vec<Vec<u8>> = runs.collect::<rusqlite::Result<_>>()?;
    let mut survey = Survey {
        runs: runs.iter().filter_map(|run| run_of(run)).collect(),
        ..Survey::default()
    };
    for run in survey.runs.clone() {
        each_payload(connection, run, 1, |payload, _| {
            collect_blobs(payload, &mut survey.contents);
        })?;
    }
    survey.look_at_others(connection)?;
    Ok(survey)
}

impl Survey {
    /// Takes what other runs refer to out of what would go, as far as that was not done yet.
    fn look_at_others(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        for run in all_runs(connection)? {
            if self.runs.contains(&run) || self.contents.is_empty() {
                continue;
            }
            let from = self.seen.get(&run).copied().unwrap_or(0) + 1;
            let mut last = from - 1;
            each_payload(connection, run, from, |payload, seq| {
                self.keep(payload);
                last = seq;
            })?;
            self.seen.insert(run, last);
        }
        Ok(())
    }

    fn keep(&mut self, payload: &Value) {
        let mut used = BTreeSet::new();
        collect_blobs(payload, &mut used);
        for hash in used {
            self.contents.remove(&hash);
        }
    }

    /// What wishes that nobody has read yet refer to.
    fn look_at_wishes(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut select =
            connection.prepare_cached("SELECT run, wish FROM inbox WHERE taken_at IS NULL")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let run = run_of(&row.get::<_, Vec<u8>>(0)?);
            if run.is_some_and(|run| self.runs.contains(&run)) {
                continue;
            }
            if let Ok(wish) = serde_json::from_str(&row.get::<_, String>(1)?) {
                self.keep(&wish);
            }
        }
        Ok(())
    }
}

/// Calls `visit` with every payload of a run that can be read, from a row on.
fn each_payload(
    connection: &Connection,
    run: RunId,
    from: u32,
    mut visit: impl FnMut(&Value, u32),
) -> rusqlite::Result<()> {
    let Ok(mut decoder) = Decoder::new() else {
        return Ok(());
    };
    let mut select = connection.prepare_cached(
        "SELECT seq, payload FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
    )?;
    let mut from = from;
    loop {
        let mut rows = select.query(params![key(run), from, PAGE_OF_ROWS])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            count += 1;
            let seq: u32 = row.get(0)?;
            from = seq.saturating_add(1);
            let stored: Option<Vec<u8>> = row.get(1)?;
            let json = stored.and_then(|stored| decoder.bytes(&stored, PAYLOAD_LIMIT_BYTES));
            let payload = json.and_then(|json| serde_json::from_slice(&json).ok());
            visit(&payload.unwrap_or(Value::Null), seq);
        }
        if count < PAGE_OF_ROWS {
            return Ok(());
        }
    }
}

/// Takes a tree out.
pub(crate) struct DeleteWork {
    pub fence: Fence,
    pub survey: Survey,
    pub data_dir: PathBuf,
    pub done: Deleted,
    pub reply: oneshot::Sender<Result<Deleted, LogError>>,
}

impl Work for DeleteWork {
    fn prepare(&mut self, _encoder: &mut Encoder) -> Result<(), LogError> {
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        let tree = self.fence.tree;
        if fence_number(connection, tree)? != self.fence.number {
            return Err(LogError::Fenced.into());
        }
        self.survey.look_at_others(connection)?;
        self.survey.look_at_wishes(connection)?;
        // What is deleted is not left behind in pages that are used again later.
        connection.pragma_update(None, "secure_delete", true)?;
        for run in &self.survey.runs {
            for table in ["events", "inbox", "actions", "runs"] {
                connection.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [key(*run)])?;
            }
        }
        connection.execute("DELETE FROM fences WHERE tree = ?1", [key(tree)])?;
        let mut contents = 0;
        for hash in &self.survey.contents {
            contents += connection.execute("DELETE FROM blobs WHERE hash = ?1", [hash.0])?;
        }
        // Within the transaction: who keeps the same content meanwhile finds neither row nor file,
        // and writes both.
        for hash in &self.survey.contents {
            remove(&self.data_dir, *hash)?;
        }
        self.done = Deleted {
            runs: self.survey.runs.clone(),
            contents: u32::try_from(contents).unwrap_or(u32::MAX),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let Self { reply, done, .. } = *self;
        let _ = reply.send(outcome.map(|()| done));
    }
}

fn remove(data_dir: &Path, hash: BlobHash) -> Result<(), LogError> {
    let path = blobs::file_path(data_dir, hash);
    let removed = fs::remove_file(&path).or_else(file_system::if_missing);
    removed.map_err(|error| fault::file(&path, &error))
}

/// What one run takes in the database: its events, as they are stored, in bytes.
pub(crate) fn bytes_of_runs(connection: &Connection) -> rusqlite::Result<HashMap<RunId, u64>> {
    let mut select = connection.prepare_cached(
        "SELECT run, sum(length(payload) + length(hash)) FROM events GROUP BY run",
    )?;
    let rows = select.query_map([], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Option<i64>>(1)?))
    })?;
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    let of = |(run, bytes): (Vec<u8>, Option<i64>)| {
        Some((run_of(&run)?, bytes.unwrap_or(0).unsigned_abs()))
    };
    Ok(rows.into_iter().filter_map(of).collect())
}
