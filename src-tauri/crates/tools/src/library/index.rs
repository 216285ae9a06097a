//! The full-text index: one SQLite file per set of folders. It is derived; a damaged or older one
//! is thrown away and made again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use longrein_protocol::BlobHash;
use longrein_protocol::source::{SourceMeta, TextRange};
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};

/// Raised whenever the same bytes would be indexed differently.
const FORMAT: i32 = 2;
/// How long a process waits for another one that writes the same index.
const BUSY_LIMIT: Duration = Duration::from_secs(20);
/// How often it asks, where SQLite itself does not wait.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// What a word in the title weighs against one in the text.
const TITLE_WEIGHT: f64 = 3.0;

const SCHEMA: &str = "
    CREATE TABLE document(
        id INTEGER PRIMARY KEY,
        folder INTEGER NOT NULL,
        path TEXT NOT NULL,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        -- 0 while the file is so young that a change might not show in its time.
        settled INTEGER NOT NULL,
        -- NULL where the file could not be read.
        hash BLOB,
        meta TEXT NOT NULL,
        text TEXT NOT NULL,
        -- What the reader of a result should know, as a JSON list of sentences.
        notes TEXT NOT NULL,
        UNIQUE(folder, path)
    );
    CREATE TABLE passage(
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        page INTEGER
    );
    CREATE INDEX passage_document ON passage(document);
    CREATE VIRTUAL TABLE fulltext USING fts5(
        title, words, content='', contentless_delete=1,
        tokenize=\"porter unicode61 remove_diacritics 2\"
    );
";

/// An open index.
pub(super) struct Index {
    connection: Connection,
}

/// What is known of an indexed file.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) id: i64,
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) settled: bool,
    pub(super) hash: Option<BlobHash>,
}

/// A file as it is to be indexed.
pub(super) struct Entered {
    pub(super) folder: u32,
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) settled: bool,
    pub(super) content: Content,
}

/// What is to be stored of a file.
pub(super) enum Content {
    /// The bytes are the ones already indexed.
    Same(i64),
    /// It was read.
    Read(Box<Readable>),
    /// It could not be read.
    Unreadable { problem: String },
}

/// A file that was read.
pub(super) struct Readable {
    pub(super) hash: BlobHash,
    pub(super) meta: SourceMeta,
    pub(super) text: String,
    pub(super) passages: Vec<TextRange>,
    /// What the reader of a result should know.
    pub(super) notes: Vec<String>,
}

/// A passage that matches, best first.
pub(super) struct Hit {
    pub(super) document: i64,
    pub(super) range: TextRange,
}

/// An indexed document.
pub(super) struct Indexed {
    pub(super) folder: u32,
    pub(super) path: String,
    pub(super) hash: BlobHash,
    pub(super) meta: SourceMeta,
    pub(super) text: String,
}

/// A document with something that the reader of a result should know.
pub(super) struct Noted {
    pub(super) path: String,
    pub(super) readable: bool,
    pub(super) notes: Vec<String>,
}

impl Index {
    /// Opens the index at `path`, making it when it is missing, damaged or of another format.
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let deadline = Instant::now() + BUSY_LIMIT;
        let mut mended = false;
        loop {
            match Self::try_open(path) {
                Err(error) if is_damage(&error) && !mended => {
                    tracing::warn!(%error, "the library index is damaged and is made again");
                    remove(path);
                    mended = true;
                }
                // The change to a write-ahead log does not wait for others by itself.
                Err(error) if is_busy(&error) && Instant::now() < deadline => {
                    thread::sleep(BUSY_PAUSE)
                }
                outcome => return outcome,
            }
        }
    }

    fn try_open(path: &Path) -> rusqlite::Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // What is forgotten is overwritten: it may have held a secret.
        connection.pragma_update(None, "secure_delete", true)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let format: i32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format != FORMAT {
            transaction.execute_batch(
                "DROP TABLE IF EXISTS fulltext; DROP TABLE IF EXISTS passage; DROP TABLE IF EXISTS document;",
            )?;
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        transaction.commit()?;
        Ok(Self { connection })
    }

    /// Everything that is indexed, by folder and path.
    pub(super) fn known(&self) -> rusqlite::Result<BTreeMap<(u32, String), Known>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT folder, path, id, size, modified, settled, hash FROM document",
        )?;
        let rows = statement.query_map([], |row| {
            let known = Known {
                id: row.get(2)?,
                size: row.get::<_, i64>(3)?.cast_unsigned(),
                modified: row.get(4)?,
                settled: row.get(5)?,
                hash: row.get::<_, Option<[u8; 32]>>(6)?.map(BlobHash),
            };
            Ok(((row.get(0)?, row.get(1)?), known))
        })?;
        rows.collect()
    }

    /// Stores a batch of files and forgets those that are gone, all or nothing.
    pub(super) fn store(&mut self, entered: &[Entered], gone: &[i64]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for id in gone {
            forget(&transaction, *id)?;
        }
        for entry in entered {
            enter(&transaction, entry)?;
        }
        transaction.commit()
    }

    /// The best `limit` passages for a full-text expression.
    pub(super) fn search(&self, expression: &str, limit: usize) -> rusqlite::Result<Vec<Hit>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT passage.document, passage.start, passage.end, passage.page
             FROM fulltext JOIN passage ON passage.id = fulltext.rowid
             WHERE fulltext MATCH ?1 ORDER BY bm25(fulltext, ?2, 1.0), passage.id LIMIT ?3",
        )?;
        let rows = statement.query_map(params![expression, TITLE_WEIGHT, limit as i64], |row| {
            let range = TextRange {
                start: row.get(1)?,
                end: row.get(2)?,
                page: row.get(3)?,
            };
            Ok(Hit {
                document: row.get(0)?,
                range,
            })
        })?;
        rows.collect()
    }

    /// One document with its text; `None` when it could not be read or is gone.
    pub(super) fn document(&self, id: i64) -> rusqlite::Result<Option<Indexed>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT folder, path, hash, meta, text FROM document WHERE id = ?1 AND hash IS NOT NULL",
        )?;
        statement
            .query_row([id], |row| {
                Ok(Indexed {
                    folder: row.get(0)?,
                    path: row.get(1)?,
                    hash: BlobHash(row.get(2)?),
                    meta: json(row, 3)?,
                    text: row.get(4)?,
                })
            })
            .optional()
    }

    /// How many documents could be read, and how many could not.
    pub(super) fn counts(&self) -> rusqlite::Result<(u32, u32)> {
        self.connection.query_row(
            "SELECT COUNT(hash), COUNT(*) - COUNT(hash) FROM document",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// The first `limit` titles with their paths.
    pub(super) fn titles(&self, limit: usize) -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT path, meta FROM document WHERE hash IS NOT NULL ORDER BY folder, path LIMIT ?1",
        )?;
        let rows = statement.query_map([limit as i64], |row| {
            let meta: SourceMeta = json(row, 1)?;
            Ok((row.get(0)?, meta.title))
        })?;
        rows.collect()
    }

    /// The first `limit` documents with something to say.
    pub(super) fn noted(&self, limit: usize) -> rusqlite::Result<Vec<Noted>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT path, hash IS NOT NULL, notes FROM document WHERE notes <> '[]'
             ORDER BY hash IS NOT NULL, folder, path LIMIT ?1",
        )?;
        let rows = statement.query_map([limit as i64], |row| {
            Ok(Noted {
                path: row.get(0)?,
                readable: row.get(1)?,
                notes: json(row, 2)?,
            })
        })?;
        rows.collect()
    }
}

fn json<T: serde::de::DeserializeOwned>(
    row: &rusqlite::Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}

fn written<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn forget(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    forget_passages(transaction, id)?;
    transaction
        .prepare_cached("DELETE FROM document WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

fn forget_passages(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "DELETE FROM fulltext WHERE rowid IN (SELECT id FROM passage WHERE document = ?1)",
        )?
        .execute([id])?;
    transaction
        .prepare_cached("DELETE FROM passage WHERE document = ?1")?
        .execute([id])?;
    Ok(())
}

fn enter(transaction: &Transaction<'_>, entry: &Entered) -> rusqlite::Result<()> {
    match &entry.content {
        Content::Same(id) => {
            transaction
                .prepare_cached(
                    "UPDATE document SET size = ?2, modified = ?3, settled = ?4 WHERE id = ?1",
                )?
                .execute(params![
                    id,
                    entry.size.cast_signed(),
                    entry.modified,
                    entry.settled
                ])?;
        }
        Content::Read(read) => {
            let Readable {
                hash,
                meta,
                text,
                passages,
                notes,
            } = &**read;
            let id = enter_document(transaction, entry, Some(*hash), meta, text, notes)?;
            enter_passages(transaction, id, &meta.title, text, passages)?;
        }
        Content::Unreadable { problem } => {
            let (meta, notes) = (SourceMeta::default(), [problem.clone()]);
            enter_document(transaction, entry, None, &meta, "", &notes)?;
        }
    }
    Ok(())
}

/// Writes a document's row, without passages yet. Its id stays, so that two processes that index
/// the same file leave one document.
fn enter_document(
    transaction: &Transaction<'_>,
    entry: &Entered,
    hash: Option<BlobHash>,
    meta: &SourceMeta,
    text: &str,
    notes: &[String],
) -> rusqlite::Result<i64> {
    let id: i64 = transaction
        .prepare_cached(
            "INSERT INTO document(folder, path, size, modified, settled, hash, meta, text, notes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT(folder, path) DO UPDATE SET size = excluded.size,
                modified = excluded.modified, settled = excluded.settled, hash = excluded.hash,
                meta = excluded.meta, text = excluded.text, notes = excluded.notes
             RETURNING id",
        )?
        .query_row(
            params![
                entry.folder,
                entry.path,
                entry.size.cast_signed(),
                entry.modified,
                entry.settled,
                hash.map(|hash| hash.0),
                written(meta)?,
                text,
                written(&notes)?
            ],
            |row| row.get(0),
        )?;
    forget_passages(transaction, id)?;
    Ok(id)
}

fn enter_passages(
    transaction: &Transaction<'_>,
    document: i64,
    title: &str,
    text: &str,
    passages: &[TextRange],
) -> rusqlite::Result<()> {
    let mut passage = transaction.prepare_cached(
        "INSERT INTO passage(document, start, end, page) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut words = transaction
        .prepare_cached("INSERT INTO fulltext(rowid, title, words) VALUES (?1, ?2, ?3)")?;
    for range in passages {
        passage.execute(params![document, range.start, range.end, range.page])?;
        let shown = text
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default();
        words.execute(params![transaction.last_insert_rowid(), title, shown])?;
    }
    Ok(())
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
    )
}

/// Best effort: what can't be removed is told by the next attempt to open it.
fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}
