//! One event per line: the envelope (`run`, `seq`, `at`, `v`, `type`) with the payload's fields
//! beside it.
//!
//! A line that is printed refers to a body over 1 KB by hash. An export stands alone: where a
//! body is first referred to, its content stands beside the hash, as `text` or, when it is no
//! UTF-8, as `base64`. Its last line also carries `head`, the hash of the run's last row, which
//! vouches for every row before it.

use std::collections::HashSet;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longrein_keys::Masker;
use longrein_protocol::event::SCHEMA_VERSION;
use longrein_protocol::{BlobHash, Event, Millis, Payload, RunId};
use longrein_store::{Damage, Log as _, LogError, Store};
use serde::Serialize;
use serde_json::{Map, Value};

/// Events that are read at once.
const PAGE_EVENTS: u32 = 256;

#[derive(Serialize)]
struct Line<'e> {
    run: RunId,
    seq: u32,
    at: Millis,
    v: u16,
    #[serde(flatten)]
    payload: &'e Payload,
}

impl<'e> Line<'e> {
    fn of(event: &'e Event) -> Self {
        Self {
            run: event.run,
            seq: event.seq,
            at: event.at,
            v: SCHEMA_VERSION,
            payload: &event.payload,
        }
    }
}

/// An event as one line of JSON, without the line break.
///
/// # Errors
/// When an event can't be written as JSON, which none of the known types can bring about.
pub fn line(event: &Event) -> serde_json::Result<String> {
    serde_json::to_string(&Line::of(event))
}

/// What was exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// Events, one line each.
    pub events: u32,
    /// Different bodies that stand in the lines.
    pub blobs: u32,
    /// Bodies that are missing or damaged: their lines have the hash alone.
    pub missing: Vec<BlobHash>,
    /// The hash of the last row, in hexadecimal; `None` when the log is damaged.
    pub head: Option<String>,
    /// Where the log can't be read any further.
    pub damage: Option<Damage>,
    /// Lines and bodies in which a secret stood that is known now, and was not when they were
    /// recorded. It is masked in the file; the head vouches for the log, in which it still stands.
    pub masked: u32,
}

/// Why a run can't be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Reading.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Writing.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// An event is no JSON.
    #[error("an event can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Writes a run as JSON Lines, as far as its log can be read. What `masker` knows leaves with no
/// line, nor with a body that is no text.
///
/// # Errors
/// [`ExportError`]; what was written until then is not a whole export.
pub async fn export<W: Write>(
    store: &Store,
    run: RunId,
    masker: &Masker,
    out: W,
) -> Result<Exported, ExportError> {
    let mut export = Export {
        store,
        masker,
        out,
        carried: HashSet::new(),
        held: None,
        exported: Exported {
            events: 0,
            blobs: 0,
            missing: Vec::new(),
            head: None,
            damage: None,
            masked: 0,
        },
    };
    export.run(run).await?;
    Ok(export.exported)
}

struct Export<'s, W> {
    store: &'s Store,
    masker: &'s Masker,
    out: W,
    carried: HashSet<BlobHash>,
    /// The line that is not written yet, because it may be the last, with its place.
    held: Option<(u32, Map<String, Value>)>,
    exported: Exported,
}

impl<W: Write> Export<'_, W> {
    async fn run(&mut self, run: RunId) -> Result<(), ExportError> {
        loop {
            let from = self.exported.events + 1;
            let reading = self.store.read(run, from, PAGE_EVENTS).await?;
            let is_last = reading.events.len() < PAGE_EVENTS as usize;
            for event in &reading.events {
                self.event(event).await?;
            }
            self.exported.damage = reading.damage;
            if is_last || self.exported.damage.is_some() {
                break;
            }
        }
        if self.exported.damage.is_none() {
            self.vouch(run).await?;
        }
        self.write_held()?;
        Ok(self.out.flush()?)
    }

    async fn event(&mut self, event: &Event) -> Result<(), ExportError> {
        self.write_held()?;
        let mut line = serde_json::to_value(Line::of(event))?;
        let mut wanted = Vec::new();
        references(&line, &mut wanted);
        for hash in wanted {
            if self.carried.insert(hash) {
                self.carry(hash, &mut line).await?;
            }
        }
        if let Value::Object(fields) = line {
            self.held = Some((event.seq, fields));
        }
        self.exported.events = event.seq;
        Ok(())
    }

    async fn carry(&mut self, hash: BlobHash, line: &mut Value) -> Result<(), ExportError> {
        let bytes = match self.store.blob(hash).await {
            Ok(bytes) => bytes,
            Err(LogError::Blob(hash)) => {
                self.exported.missing.push(hash);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let mut bytes = bytes.to_vec();
        self.exported.masked += u32::from(self.masker.bytes(&mut bytes));
        let (name, content) = match std::str::from_utf8(&bytes) {
            Ok(text) => ("text", text.to_owned()),
            Err(_) => ("base64", STANDARD.encode(&bytes)),
        };
        if let Some(reference) = first_reference(line, hash) {
            reference.insert(name.to_owned(), content.into());
            self.exported.blobs += 1;
        }
        Ok(())
    }

    /// Lays the head's hash into the last line, when the run did not grow in between.
    async fn vouch(&mut self, run: RunId) -> Result<(), ExportError> {
        let (seq, head) = self.store.head(run).await?;
        if let Some((held, fields)) = &mut self.held
            && *held == seq
        {
            let head = BlobHash(head).to_string();
            fields.insert("head".to_owned(), head.clone().into());
            self.exported.head = Some(head);
        }
        Ok(())
    }

    fn write_held(&mut self) -> Result<(), ExportError> {
        if let Some((_, fields)) = self.held.take() {
            let mut line = serde_json::to_string(&fields)?;
            self.exported.masked += u32::from(self.masker.text(&mut line));
            line.push('\n');
            self.out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

/// The hash of `{"blob": HASH, "bytes": N}`.
fn reference(fields: &Map<String, Value>) -> Option<BlobHash> {
    let is_reference = fields.len() == 2 && fields.get("bytes").is_some_and(Value::is_u64);
    let hash = fields.get("blob").filter(|_| is_reference)?;
    hash.as_str()?.parse().ok()
}

fn references(value: &Value, found: &mut Vec<BlobHash>) {
    match value {
        Value::Object(fields) => match reference(fields) {
            Some(hash) => found.push(hash),
            None => fields.values().for_each(|value| references(value, found)),
        },
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn first_reference(value: &mut Value, hash: BlobHash) -> Option<&mut Map<String, Value>> {
    match value {
        Value::Object(fields) => {
            if reference(fields) == Some(hash) {
                return Some(fields);
            }
            fields
                .values_mut()
                .find_map(|value| first_reference(value, hash))
        }
        Value::Array(items) => items
            .iter_mut()
            .find_map(|value| first_reference(value, hash)),
        _ => None,
    }
}
