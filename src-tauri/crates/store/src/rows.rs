//! One row of the events table, and whether it is whole.

use longrein_protocol::{Event, Millis, RunId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use crate::chain::{self, BEFORE_FIRST, Link, RowHash};
use crate::codec::{self, Decoder, PAYLOAD_LIMIT_BYTES, Parsed};
use crate::log::DamageKind;

/// Rows of one run from a sequence number on.
pub(crate) const SELECT_FROM: &str = "SELECT e.seq, e.at, t.name, e.v, e.payload, e.payload_hash, e.hash \
     FROM events e LEFT JOIN types t ON t.id = e.type \
     WHERE e.run = ?1 AND e.seq >= ?2 ORDER BY e.seq LIMIT ?3";

/// The lower bits of a run's id are chance, the upper ones its time.
const RANDOM_BITS: u32 = 80;

/// The key of a run in every table.
pub(crate) fn key(run: RunId) -> [u8; 16] {
    run.0.0.to_be_bytes()
}

/// The run of a key.
pub(crate) fn run_of(key: &[u8]) -> Option<RunId> {
    let number = u128::from_be_bytes(key.try_into().ok()?);
    Some(RunId::from_parts((number >> RANDOM_BITS) as Millis, number))
}

/// A row as it lies in the file. A column that does not have its type is as good as missing.
#[derive(Debug)]
pub(crate) struct StoredRow {
    pub seq: u32,
    at: Option<Millis>,
    kind: Option<String>,
    v: Option<u16>,
    payload: Option<Vec<u8>>,
    payload_hash: Option<RowHash>,
    pub hash: Option<RowHash>,
}

impl StoredRow {
    /// Takes the columns of [`SELECT_FROM`].
    pub(crate) fn take(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            at: integer(row.get_ref(1)?),
            kind: text(row.get_ref(2)?),
            v: integer(row.get_ref(3)?).and_then(|v| v.try_into().ok()),
            payload: blob(row.get_ref(4)?).map(<[u8]>::to_vec),
            payload_hash: hash_of(row.get_ref(5)?),
            hash: hash_of(row.get_ref(6)?),
        })
    }

    /// Whether its payload was taken out on purpose.
    fn is_redacted(&self) -> bool {
        self.payload.is_none() && self.payload_hash.is_some()
    }

    /// Checks the row against the one before it and opens it.
    pub(crate) fn open(&self, run: RunId, before: &RowHash, decoder: &mut Decoder) -> Opened {
        let json = self
            .payload
            .as_deref()
            .and_then(|stored| decoder.bytes(stored, PAYLOAD_LIMIT_BYTES));
        let payload_hash = match &json {
            Some(json) => Some(chain::payload_hash(json)),
            None if self.is_redacted() => self.payload_hash,
            None => None,
        };
        let follows = self.follows(run, before, payload_hash.as_ref());
        let content = match (&json, &self.kind, self.v) {
            (Some(json), Some(kind), Some(v)) => match codec::parse(kind, v, json) {
                Parsed::Payload(payload) => Content::Event(Box::new(Event {
                    run,
                    seq: self.seq,
                    at: self.at.unwrap_or_default(),
                    payload: *payload,
                })),
                Parsed::Unknown(kind) => Content::Damaged(DamageKind::UnknownType(kind)),
                Parsed::Unreadable => Content::Damaged(DamageKind::Unreadable),
            },
            (None, Some(_), Some(_)) if self.is_redacted() => Content::Redacted,
            _ => Content::Damaged(DamageKind::Unreadable),
        };
        Opened {
            follows,
            json,
            content,
        }
    }

    fn follows(&self, run: RunId, before: &RowHash, payload_hash: Option<&RowHash>) -> bool {
        let (Some(at), Some(kind), Some(v), Some(payload)) =
            (self.at, &self.kind, self.v, payload_hash)
        else {
            return false;
        };
        let link = Link {
            run,
            seq: self.seq,
            at,
            kind,
            v,
            payload,
        };
        self.hash == Some(link.hash(before))
    }
}

/// A row that was looked at.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Whether its hash follows from the row before it and from what it holds.
    pub follows: bool,
    /// The payload's JSON, where it could be decoded.
    pub json: Option<Vec<u8>>,
    /// What it says.
    pub content: Content,
}

/// What a row says.
#[derive(Debug)]
pub(crate) enum Content {
    Event(Box<Event>),
    Redacted,
    Damaged(DamageKind),
}

/// The last row of a run: its number, and its hash where that is one.
pub(crate) fn last(
    connection: &Connection,
    run: RunId,
) -> rusqlite::Result<Option<(u32, Option<RowHash>)>> {
    let sql = "SELECT seq, hash FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
    let mut select = connection.prepare_cached(sql)?;
    let last = select.query_row([key(run)], |row| {
        Ok((row.get(0)?, hash_of(row.get_ref(1)?)))
    });
    last.optional()
}

/// The hash that the row at `seq` has to follow; `None` when the row before it is missing.
pub(crate) fn hash_before(
    connection: &Connection,
    run: RunId,
    seq: u32,
) -> rusqlite::Result<Option<RowHash>> {
    if seq <= 1 {
        return Ok(Some(BEFORE_FIRST));
    }
    let sql = "SELECT hash FROM events WHERE run = ?1 AND seq = ?2";
    let found = connection
        .prepare_cached(sql)?
        .query_row(params![key(run), seq - 1], |row| {
            Ok(hash_of(row.get_ref(0)?))
        })
        .optional()?;
    Ok(found.flatten())
}

/// The last row that the list of runs knows of: where the log itself ends earlier, its tail is
/// missing. A list that can't be read knows of none: it is no reason to doubt the log.
pub(crate) fn recorded_head(connection: &Connection, run: RunId) -> Option<(u32, RowHash)> {
    let sql = "SELECT seq, head FROM runs WHERE run = ?1";
    let mut select = connection.prepare_cached(sql).ok()?;
    let recorded = select.query_row([key(run)], |row| Ok((row.get(0)?, row.get(1)?)));
    recorded.ok()
}

/// Which half of a row that does not follow is at fault. When the row after it (or, for the last
/// one, the recorded head) follows from its hash, then its hash is right and its content is not.
pub(crate) fn blame(
    connection: &Connection,
    run: RunId,
    row: &StoredRow,
    decoder: &mut Decoder,
) -> DamageKind {
    let next = connection
        .prepare_cached(SELECT_FROM)
        .and_then(|mut select| {
            select
                .query_row(params![key(run), row.seq + 1, 1], StoredRow::take)
                .optional()
        });
    let hash_holds = match (&row.hash, next) {
        (Some(hash), Ok(Some(next))) if next.seq == row.seq + 1 => {
            next.open(run, hash, decoder).follows
        }
        (Some(hash), Ok(None)) => recorded_head(connection, run) == Some((row.seq, *hash)),
        _ => false,
    };
    if hash_holds {
        DamageKind::Payload
    } else {
        DamageKind::Chain
    }
}

fn integer(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    value.as_str().ok().map(str::to_owned)
}

fn hash_of(value: ValueRef<'_>) -> Option<RowHash> {
    blob(value).and_then(|bytes| bytes.try_into().ok())
}

fn blob(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}
