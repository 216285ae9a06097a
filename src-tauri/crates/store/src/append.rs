//! Every kind of work that the writer does: appending, wishes, fences, projections.

use longrein_protocol::event::SCHEMA_VERSION;
use longrein_protocol::view::RunLine;
use longrein_protocol::wish::Wish;
use longrein_protocol::{Millis, Payload, RunId};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::oneshot;

use crate::blobs::ReadyBlob;
use crate::chain::{BEFORE_FIRST, Link, RowHash};
use crate::codec::Encoder;
use crate::fault::Failure;
use crate::log::{Append, Fence, LogError, RunAppend};
use crate::rows::{self, key};
use crate::writer::Work;

/// Appends events.
pub(crate) struct AppendWork {
    append: Append,
    blobs: Vec<ReadyBlob>,
    payloads: Vec<Vec<(RowHash, Vec<u8>)>>,
    reply: oneshot::Sender<Result<(), LogError>>,
}

impl AppendWork {
    /// `blobs` are those of the append, ready to be stored.
    pub(crate) fn new(
        append: Append,
        blobs: Vec<ReadyBlob>,
        reply: oneshot::Sender<Result<(), LogError>>,
    ) -> Self {
        Self {
            append,
            blobs,
            payloads: Vec::new(),
            reply,
        }
    }
}

impl Work for AppendWork {
    fn prepare(&mut self, encoder: &mut Encoder) -> Result<(), LogError> {
        let refuse = |what: String| {
            move |error: std::io::Error| LogError::Io {
                path: what,
                message: error.to_string(),
            }
        };
        encode(&mut self.blobs, encoder)?;
        for part in &self.append.runs {
            let mut payloads = Vec::with_capacity(part.events.len());
            for event in &part.events {
                let what = format!("event {} of run {}", event.seq, event.run);
                payloads.push(encoder.payload(&event.payload).map_err(refuse(what))?);
            }
            self.payloads.push(payloads);
        }
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        let fence = self.append.fence;
        if fence_number(connection, fence.tree)? != fence.number {
            return Err(LogError::Fenced.into());
        }
        insert(&self.blobs, connection)?;
        for (part, payloads) in self.append.runs.iter().zip(&self.payloads) {
            append_run(connection, fence.tree, part, payloads)?;
        }
        take_wishes(connection, &self.append)
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        // A caller that no longer waits does not undo what is on disk.
        let _ = self.reply.send(outcome);
    }
}

fn append_run(
    connection: &Connection,
    tree: RunId,
    part: &RunAppend,
    payloads: &[(RowHash, Vec<u8>)],
) -> Result<(), Failure> {
    let (mut last, hash) = rows::last(connection, part.run)?.unwrap_or((0, Some(BEFORE_FIRST)));
    let mut before = hash.ok_or_else(|| LogError::Io {
        path: format!("event {last} of run {}", part.run),
        message: "its hash is damaged".to_owned(),
    })?;
    let sql = "INSERT INTO events (run, seq, at, type, v, hash, payload) \
         VALUES (?1, ?2, ?3, (SELECT id FROM types WHERE name = ?4), ?5, ?6, ?7)";
    let mut insert = connection.prepare_cached(sql)?;
    for (event, (payload_hash, stored)) in part.events.iter().zip(payloads) {
        if event.run != part.run || event.seq != last + 1 {
            return Err(LogError::Sequence {
                run: event.run,
                last,
                given: event.seq,
            }
            .into());
        }
        let link = Link {
            run: event.run,
            seq: event.seq,
            at: event.at,
            kind: event.payload.name(),
            v: SCHEMA_VERSION,
            payload: payload_hash,
        };
        before = link.hash(&before);
        last = event.seq;
        insert.execute(params![
            key(event.run),
            event.seq,
            event.at,
            link.kind,
            link.v,
            before,
            stored
        ])?;
        note_action(connection, event.run, &event.payload)?;
    }
    put_line(connection, tree, &part.line, part.run, (last, before))
}

/// The action of an event after which a person may name it.
pub(crate) fn named_action(payload: &Payload) -> Option<&str> {
    match payload {
        Payload::ApprovalRequested(event) => Some(&event.action.0),
        Payload::ActionUncertain(event) => Some(&event.action.0),
        Payload::QuestionAsked(event) => Some(&event.action.0),
        // What left a receipt may be taken back.
        Payload::ActionFinished(event) if event.receipt.is_some() => Some(&event.action.0),
        _ => None,
    }
}

pub(crate) fn note_action(
    connection: &Connection,
    run: RunId,
    payload: &Payload,
) -> rusqlite::Result<()> {
    if let Some(action) = named_action(payload) {
        let sql = "INSERT INTO actions (action, run) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        connection
            .prepare_cached(sql)?
            .execute(params![action, key(run)])?;
    }
    Ok(())
}

/// Writes a run's line. A run belongs to one tree for ever, so a fence of another tree is no
/// right to append to it; and a line never goes back behind what was once durable.
fn put_line(
    connection: &Connection,
    tree: RunId,
    line: &RunLine,
    run: RunId,
    head: (u32, RowHash),
) -> Result<(), Failure> {
    let sql = "INSERT INTO runs (run, tree, seq, head, created_at, updated_at, state, line) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (run) DO UPDATE SET \
             seq = ?3, head = ?4, created_at = ?5, updated_at = ?6, state = ?7, line = ?8 \
         WHERE tree = ?2 AND seq <= ?3";
    let changed = connection.prepare_cached(sql)?.execute(params![
        key(run),
        key(tree),
        head.0,
        head.1,
        line.created_at,
        line.updated_at,
        state_name(line),
        json(line)?,
    ])?;
    if changed > 0 {
        return Ok(());
    }
    match rows::recorded_head(connection, run) {
        // Rows at the end of this log were lost; going on would hide it.
        Some((last, _)) if last > head.0 => Err(LogError::Sequence {
            run,
            last,
            given: head.0,
        }
        .into()),
        _ => Err(LogError::Fenced.into()),
    }
}

/// The state's name as it is written in JSON.
fn state_name(line: &RunLine) -> String {
    match serde_json::to_value(line.state) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, LogError> {
    serde_json::to_string(value).map_err(|error| LogError::Io {
        path: "a row".to_owned(),
        message: error.to_string(),
    })
}

fn take_wishes(connection: &Connection, append: &Append) -> Result<(), Failure> {
    let events = append.runs.iter().flat_map(|part| &part.events);
    let at = events.map(|event| event.at).max().unwrap_or_default();
    let sql = "UPDATE inbox SET taken_at = ?2 WHERE id = ?1 AND taken_at IS NULL";
    for id in &append.taken {
        connection.prepare_cached(sql)?.execute(params![id, at])?;
    }
    Ok(())
}

pub(crate) fn fence_number(connection: &Connection, tree: RunId) -> rusqlite::Result<u64> {
    let number: Option<i64> = connection
        .prepare_cached("SELECT number FROM fences WHERE tree = ?1")?
        .query_row([key(tree)], |row| row.get(0))
        .optional()?;
    Ok(number.unwrap_or(0).unsigned_abs())
}

/// Takes the next fencing number of a tree: whoever held the last one may not append any more.
pub(crate) struct FenceWork {
    tree: RunId,
    number: u64,
    reply: oneshot::Sender<Result<Fence, LogError>>,
}

impl FenceWork {
    pub(crate) fn new(tree: RunId, reply: oneshot::Sender<Result<Fence, LogError>>) -> Self {
        Self {
            tree,
            number: 0,
            reply,
        }
    }
}

impl Work for FenceWork {
    fn prepare(&mut self, _encoder: &mut Encoder) -> Result<(), LogError> {
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        let sql = "INSERT INTO fences (tree, number) VALUES (?1, 1) \
             ON CONFLICT (tree) DO UPDATE SET number = number + 1 RETURNING number";
        let number: i64 = connection
            .prepare_cached(sql)?
            .query_row([key(self.tree)], |row| row.get(0))?;
        self.number = number.unsigned_abs();
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let fence = Fence {
            tree: self.tree,
            number: self.number,
        };
        let _ = self.reply.send(outcome.map(|()| fence));
    }
}

/// Puts a wish into the inbox.
pub(crate) struct WishWork {
    pub run: RunId,
    pub wish: Wish,
    pub at: Millis,
    pub id: i64,
    pub reply: oneshot::Sender<Result<i64, LogError>>,
}

impl Work for WishWork {
    fn prepare(&mut self, _encoder: &mut Encoder) -> Result<(), LogError> {
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        if rows::last(connection, self.run)?.is_none() {
            return Err(LogError::NoRun(self.run).into());
        }
        let sql = "INSERT INTO inbox (run, at, wish) VALUES (?1, ?2, ?3)";
        let wish = json(&self.wish)?;
        connection
            .prepare_cached(sql)?
            .execute(params![key(self.run), self.at, wish])?;
        self.id = connection.last_insert_rowid();
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let _ = self.reply.send(outcome.map(|()| self.id));
    }
}

/// Keeps blobs that something else will refer to.
pub(crate) struct BlobsWork {
    pub blobs: Vec<ReadyBlob>,
    pub reply: oneshot::Sender<Result<(), LogError>>,
}

impl Work for BlobsWork {
    fn prepare(&mut self, encoder: &mut Encoder) -> Result<(), LogError> {
        encode(&mut self.blobs, encoder)
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        insert(&self.blobs, connection)
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let _ = self.reply.send(outcome);
    }
}

fn insert(blobs: &[ReadyBlob], connection: &Connection) -> Result<(), Failure> {
    for blob in blobs {
        if !blob.is_there() {
            return Err(LogError::Blob(blob.hash).into());
        }
        blob.insert(connection)?;
    }
    Ok(())
}

fn encode(blobs: &mut [ReadyBlob], encoder: &mut Encoder) -> Result<(), LogError> {
    for blob in blobs {
        let path = blob.hash.to_string();
        blob.encode(encoder).map_err(|error| LogError::Io {
            path,
            message: error.to_string(),
        })?;
    }
    Ok(())
}

/// Writes the line of a run anew, as its events say, unless it went on meanwhile.
pub(crate) struct LineWork {
    pub run: RunId,
    pub tree: RunId,
    /// The last event that the line was folded from.
    pub seq: u32,
    pub line: RunLine,
    pub actions: Vec<String>,
    pub reply: oneshot::Sender<Result<(), LogError>>,
}

impl Work for LineWork {
    fn prepare(&mut self, _encoder: &mut Encoder) -> Result<(), LogError> {
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        let Some(last) = rows::last(connection, self.run)? else {
            return Ok(());
        };
        if last.0 != self.seq {
            return Ok(());
        }
        for action in &self.actions {
            let sql = "INSERT OR REPLACE INTO actions (action, run) VALUES (?1, ?2)";
            connection
                .prepare_cached(sql)?
                .execute(params![action, key(self.run)])?;
        }
        // A head beyond the last row is the only trace of a tail that was lost: it stays.
        let recorded = rows::recorded_head(connection, self.run);
        let last = (last.0, last.1.unwrap_or_default());
        let head = recorded
            .filter(|recorded| recorded.0 > last.0)
            .unwrap_or(last);
        connection.execute("DELETE FROM runs WHERE run = ?1", [key(self.run)])?;
        put_line(connection, self.tree, &self.line, self.run, head)
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let _ = self.reply.send(outcome);
    }
}
