//! Looking at everything: every row, every chain, every blob.

use std::collections::BTreeSet;
use std::path::Path;

use longrein_protocol::{BlobHash, RunId};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::blobs;
use crate::chain::RowHash;
use crate::codec::Decoder;
use crate::fault;
use crate::log::{Damage, DamageKind, LogError};
use crate::reader::is_damage;
use crate::rows::{self, Content, SELECT_FROM, StoredRow, key, run_of};
use crate::schema;

/// How many rows are held in memory at once.
const PAGE_OF_ROWS: u32 = 1_024;

/// The most damages of the file itself that SQLite is asked to name.
const FILE_DAMAGES: u32 = 32;

/// What a check found.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// Runs that were checked.
    pub runs: u32,
    /// Rows that were checked.
    pub events: u64,
    /// Different blobs that the events refer to and that were read.
    pub blobs: u64,
    /// Everything that is wrong, by run and row.
    pub damages: Vec<Damage>,
    /// What SQLite finds wrong with the file itself, in its words; looked for with all runs only.
    pub file: Vec<String>,
    /// Runs whose line in lists is missing or not that of their last event; a rebuild mends it.
    pub stale: Vec<RunId>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.damages.is_empty() && self.file.is_empty() && self.stale.is_empty()
    }
}

/// What is wrong with the pages of the file, which reading every row need not meet: an index, a
/// list of free pages.
fn damages_of_file(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    let check = format!("PRAGMA quick_check({FILE_DAMAGES})");
    let looked = connection.prepare(&check).and_then(|mut select| {
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            // Several may stand in one row, beneath the name of the database.
            let lines = text.lines().filter(|line| !line.starts_with("***"));
            found.extend(lines.filter(|line| *line != "ok").map(str::to_owned));
        }
        Ok(())
    });
    match looked {
        Err(error) if is_damage(&error) => found.push(error.to_string()),
        looked => looked?,
    }
    Ok(found)
}

/// Every run that has events, and every run that lists know of. A table whose pages are damaged
/// gives what it can.
pub(crate) fn all_runs(connection: &Connection) -> rusqlite::Result<Vec<RunId>> {
    let mut runs = BTreeSet::new();
    for table in ["events", "runs"] {
        match collect_runs(connection, table, &mut runs) {
            Err(error) if !is_damage(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(runs.into_iter().collect())
}

fn collect_runs(
    connection: &Connection,
    table: &str,
    runs: &mut BTreeSet<RunId>,
) -> rusqlite::Result<()> {
    // The first key after the last one found: a look per run, where DISTINCT would walk all rows.
    let next = format!("SELECT min(run) FROM {table} WHERE run > ?1");
    let mut select = connection.prepare_cached(&next)?;
    let mut after = Vec::new();
    while let Some(found) = select.query_row([&after], |row| row.get::<_, Option<Vec<u8>>>(0))? {
        runs.extend(run_of(&found));
        after = found;
    }
    Ok(())
}

/// Checks one run, or all.
pub(crate) fn check(
    connection: &Connection,
    data_dir: &Path,
    run: Option<RunId>,
) -> Result<CheckReport, LogError> {
    let database = data_dir.join(schema::FILE_NAME);
    let in_file = |error: rusqlite::Error| fault::database(&database, &error);
    let runs = match run {
        Some(run) => vec![run],
        None => all_runs(connection).map_err(in_file)?,
    };
    let mut inspection = Inspection {
        connection,
        data_dir,
        decoder: Decoder::new().map_err(|error| fault::file(&database, &error))?,
        read: BTreeSet::new(),
        broken: BTreeSet::new(),
        report: CheckReport::default(),
    };
    if run.is_none() {
        inspection.report.file = damages_of_file(connection).map_err(in_file)?;
    }
    for run in runs {
        inspection.run(run).map_err(in_file)?;
    }
    match run {
        Some(run) if inspection.report.events == 0 && inspection.report.damages.is_empty() => {
            Err(LogError::NoRun(run))
        }
        _ => Ok(inspection.report),
    }
}

struct Inspection<'a> {
    connection: &'a Connection,
    data_dir: &'a Path,
    decoder: Decoder,
    read: BTreeSet<BlobHash>,
    broken: BTreeSet<BlobHash>,
    report: CheckReport,
}

/// How far the check of one run has come.
struct Place {
    /// The next sequence number.
    next: u32,
    /// The hash that it has to follow; `None` after a gap, where nobody can say.
    before: Option<RowHash>,
}

impl Inspection<'_> {
    fn run(&mut self, run: RunId) -> rusqlite::Result<()> {
        self.report.runs += 1;
        let mut place = Place {
            next: 1,
            before: Some(crate::chain::BEFORE_FIRST),
        };
        loop {
            let page = match self.page(run, place.next) {
                Ok(page) => page,
                Err(error) if is_damage(&error) => {
                    self.note(run, place.next, DamageKind::Unreadable);
                    break;
                }
                Err(error) => return Err(error),
            };
            for row in &page {
                self.row(run, row, &mut place);
            }
            if page.len() < PAGE_OF_ROWS as usize {
                break;
            }
        }
        self.end(run, place.next)
    }

    fn page(&self, run: RunId, from: u32) -> rusqlite::Result<Vec<StoredRow>> {
        let mut select = self.connection.prepare_cached(SELECT_FROM)?;
        let rows = select.query_map(params![key(run), from, PAGE_OF_ROWS], StoredRow::take)?;
        rows.collect()
    }

    fn row(&mut self, run: RunId, row: &StoredRow, place: &mut Place) {
        self.report.events += 1;
        if row.seq != place.next {
            self.note(run, row.seq, DamageKind::Gap);
            place.before = None;
        }
        let opened = row.open(run, &place.before.unwrap_or_default(), &mut self.decoder);
        if !opened.follows && place.before.is_some() {
            let what = rows::blame(self.connection, run, row, &mut self.decoder);
            self.note(run, row.seq, what);
        } else if let Content::Damaged(what) = opened.content {
            self.note(run, row.seq, what);
        }
        if opened.follows
            && let Some(json) = opened.json
        {
            self.blobs(run, row.seq, &json);
        }
        place.before = row.hash;
        place.next = row.seq.saturating_add(1);
    }

    /// Reads every blob that a payload refers to, each once.
    fn blobs(&mut self, run: RunId, seq: u32, json: &[u8]) {
        let Ok(payload) = serde_json::from_slice(json) else {
            return;
        };
        let mut found = BTreeSet::new();
        collect_blobs(&payload, &mut found);
        for hash in found {
            if self.read.insert(hash) {
                self.report.blobs += 1;
                if blobs::read(self.connection, self.data_dir, hash).is_err() {
                    self.broken.insert(hash);
                }
            }
            if self.broken.contains(&hash) {
                self.note(run, seq, DamageKind::Blob(hash));
            }
        }
    }

    /// Compares the end of the log with what the list of runs says.
    fn end(&mut self, run: RunId, next: u32) -> rusqlite::Result<()> {
        let sql = "SELECT seq, head, line FROM runs WHERE run = ?1";
        let recorded = self
            .connection
            .prepare_cached(sql)?
            .query_row([key(run)], |row| {
                let readable = row.get_ref(2)?.as_str().is_ok_and(is_line);
                Ok((row.get::<_, u32>(0)?, row.get::<_, RowHash>(1)?, readable))
            })
            .optional();
        // A row that can't be read is a stale one.
        let recorded = recorded.ok().flatten();
        match recorded {
            Some((head, ..)) if head >= next => {
                self.note(run, head.saturating_add(1), DamageKind::Gap)
            }
            Some((head, hash, true))
                if rows::last(self.connection, run).ok().flatten() == Some((head, Some(hash))) => {}
            _ => self.report.stale.push(run),
        }
        Ok(())
    }

    fn note(&mut self, run: RunId, seq: u32, what: DamageKind) {
        self.report.damages.push(Damage { run, seq, what });
    }
}

fn is_line(text: &str) -> bool {
    serde_json::from_str::<longrein_protocol::view::RunLine>(text).is_ok()
}

/// Finds `{"blob": HASH, "bytes": N}` anywhere, in types that this version knows or not.
pub(crate) fn collect_blobs(value: &Value, found: &mut BTreeSet<BlobHash>) {
    match value {
        Value::Object(fields) => {
            if fields.len() == 2
                && fields.get("bytes").is_some_and(Value::is_u64)
                && let Some(Value::String(hash)) = fields.get("blob")
            {
                found.extend(hash.parse::<BlobHash>());
            }
            fields
                .values()
                .for_each(|value| collect_blobs(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_blobs(value, found)),
        _ => {}
    }
}
