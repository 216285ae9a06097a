//! Reading: a few connections that never write, used from blocking threads. The write-ahead log
//! lets them see the last commit while the writer is in the middle of the next one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::RunId;
use longrein_protocol::wish::Wish;
use rusqlite::{Connection, ErrorCode, params};
use tokio::sync::Semaphore;

use crate::chain::RowHash;
use crate::codec::Decoder;
use crate::fault;
use crate::log::{Damage, DamageKind, LogError, Reading};
use crate::rows::{self, Content, SELECT_FROM, StoredRow, key};
use crate::schema::{self, Access};

/// How many reads go on at once; more wait.
const READERS: usize = 4;

/// The most wishes that are taken at once.
const WISHES_AT_ONCE: u32 = 256;

/// The reading connections of a store.
pub(crate) struct Readers {
    path: PathBuf,
    access: Access,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, access: Access) -> Self {
        Self {
            path,
            access,
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Runs `work` with a connection on a blocking thread.
    pub(crate) async fn with<T, W>(&self, work: W) -> Result<T, LogError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, LogError> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| LogError::Closed)?;
        let (path, access) = (self.path.clone(), self.access);
        let idle = Arc::clone(&self.idle);
        let task = tokio::task::spawn_blocking(move || {
            let ready = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match ready {
                Some(connection) => connection,
                None => schema::connect(&path, access)?,
            };
            let answer = work(&connection);
            idle.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            drop(permit);
            answer
        });
        // It only fails when the runtime ends or the work panicked.
        task.await.unwrap_or(Err(LogError::Closed))
    }
}

/// Reads events from `from` and stops before the first damage.
pub(crate) fn read(
    connection: &Connection,
    path: &Path,
    run: RunId,
    from: u32,
    limit: u32,
) -> Result<Reading, LogError> {
    let mut decoder = Decoder::new().map_err(|error| fault::file(path, &error))?;
    let mut reading = Reading::default();
    let outcome = read_into(
        connection,
        &mut decoder,
        run,
        (from.max(1), limit),
        &mut reading,
    );
    let next = from.max(1) + reading.events.len() as u32;
    match outcome {
        Ok(()) => {}
        Err(error) if is_damage(&error) => {
            reading.damage = Some(damage(run, next, DamageKind::Unreadable))
        }
        Err(error) => return Err(fault::database(path, &error)),
    }
    if reading.events.is_empty() && reading.damage.is_none() && !exists(connection, path, run)? {
        return Err(LogError::NoRun(run));
    }
    Ok(reading)
}

/// Whether SQLite met bytes that can't be, in the pages of a table.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt))
        || matches!(
            error,
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::IntegralValueOutOfRange(..)
        )
}

fn damage(run: RunId, seq: u32, what: DamageKind) -> Damage {
    Damage { run, seq, what }
}

fn read_into(
    connection: &Connection,
    decoder: &mut Decoder,
    run: RunId,
    (from, limit): (u32, u32),
    reading: &mut Reading,
) -> rusqlite::Result<()> {
    // One snapshot for the rows and for the head that they have to end at.
    let snapshot = connection.unchecked_transaction()?;
    let mut next = from;
    let mut select = snapshot.prepare_cached(SELECT_FROM)?;
    let mut found = select.query(params![key(run), from, limit])?;
    let mut before = rows::hash_before(&snapshot, run, from)?;
    while let Some(row) = found.next()? {
        let row = StoredRow::take(row)?;
        let Some(hash_before) = before.filter(|_| row.seq == next) else {
            reading.damage = Some(damage(run, row.seq, DamageKind::Gap));
            return Ok(());
        };
        match open_row(&snapshot, decoder, run, &row, &hash_before) {
            Ok(event) => reading.events.push(event),
            Err(what) => {
                reading.damage = Some(damage(run, row.seq, what));
                return Ok(());
            }
        }
        before = row.hash;
        next += 1;
    }
    let read_to_the_end = next - from < limit;
    if read_to_the_end
        && let Some((head, _)) = rows::recorded_head(&snapshot, run)
        && head >= next
    {
        reading.damage = Some(damage(run, head + 1, DamageKind::Gap));
    }
    Ok(())
}

fn open_row(
    connection: &Connection,
    decoder: &mut Decoder,
    run: RunId,
    row: &StoredRow,
    before: &RowHash,
) -> Result<longrein_protocol::Event, DamageKind> {
    let opened = row.open(run, before, decoder);
    if !opened.follows {
        return Err(rows::blame(connection, run, row, decoder));
    }
    match opened.content {
        Content::Event(event) => Ok(*event),
        Content::Redacted => Err(DamageKind::Unreadable),
        Content::Damaged(what) => Err(what),
    }
}

fn exists(connection: &Connection, path: &Path, run: RunId) -> Result<bool, LogError> {
    let last = rows::last(connection, run);
    Ok(last
        .map_err(|error| fault::database(path, &error))?
        .is_some())
}

/// The last row of a run.
pub(crate) fn head(
    connection: &Connection,
    path: &Path,
    run: RunId,
) -> Result<(u32, RowHash), LogError> {
    let last = rows::last(connection, run).map_err(|error| fault::database(path, &error))?;
    match last {
        Some((seq, Some(hash))) => Ok((seq, hash)),
        Some((seq, None)) => Err(LogError::Io {
            path: format!("event {seq} of run {run}"),
            message: "its hash is damaged".to_owned(),
        }),
        None => Err(LogError::NoRun(run)),
    }
}

/// Wishes that no event has answered yet. One that this version can't read stays where it is.
pub(crate) fn wishes(
    connection: &Connection,
    path: &Path,
    run: RunId,
) -> Result<Vec<(i64, Wish)>, LogError> {
    let select = || -> rusqlite::Result<Vec<(i64, String)>> {
        let sql =
            "SELECT id, wish FROM inbox WHERE run = ?1 AND taken_at IS NULL ORDER BY id LIMIT ?2";
        let mut select = connection.prepare_cached(sql)?;
        let found = select.query_map(params![key(run), WISHES_AT_ONCE], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        found.collect()
    };
    let found = select().map_err(|error| fault::database(path, &error))?;
    let parse = |(id, json): (i64, String)| match serde_json::from_str(&json) {
        Ok(wish) => Some((id, wish)),
        Err(error) => {
            tracing::warn!(%run, id, %error, "a wish in the inbox can't be read");
            None
        }
    };
    Ok(found.into_iter().filter_map(parse).collect())
}
