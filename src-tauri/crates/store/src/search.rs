//! The index of the search. It is derived, so it lies in a database of its own: nothing of it is
//! written where a step is, it needs no sync, and it may be deleted at any time.
//!
//! It holds words and where they stand, and no text: that is in the log. The words are made by who
//! calls this, so that a question and a text are taken apart alike.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longrein_protocol::{Millis, RunId};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::fault;
use crate::file_system;
use crate::log::LogError;
use crate::reader::is_damage;
use crate::rows::{key, run_of};

/// The name of the database in the data folder.
const FILE_NAME: &str = "search.db";

/// The form of the tables: an index of another form is made anew.
const FORM: i32 = 1;

/// How long another process may hold the index.
const BUSY_LIMIT: Duration = Duration::from_secs(30);

/// Folded words have no case and no accents any more. The beginnings of words are looked up, most of
/// them of two or three letters and more.
const TABLES: &str = "
CREATE TABLE runs (run BLOB PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    run BLOB NOT NULL,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX texts_of_run ON texts (run);
CREATE VIRTUAL TABLE words USING fts5 (
    folded, content = '', contentless_delete = 1, prefix = '2 3',
    tokenize = \"unicode61 remove_diacritics 0\"
);
";

/// A text that is indexed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewText {
    /// The event that it is of.
    pub seq: u32,
    /// Its place among the texts of the event.
    pub part: u32,
    /// When the event was.
    pub at: Millis,
    /// Its folded words, with spaces between them.
    pub words: String,
}

/// A text in which all words were found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// Its place in the index: later texts have larger ones.
    pub id: i64,
    /// The run.
    pub run: RunId,
    /// The event.
    pub seq: u32,
    /// Its place among the texts of the event.
    pub part: u32,
    /// When the event was.
    pub at: Millis,
}

/// The index of a data folder. Its methods block.
#[derive(Clone, Debug)]
pub struct SearchIndex {
    path: PathBuf,
}

impl SearchIndex {
    /// The index of a data folder; it is made when it is first written to.
    pub fn of(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join(FILE_NAME),
        }
    }

    /// Up to which event each run is indexed.
    ///
    /// # Errors
    /// [`LogError::Io`], [`LogError::Full`], [`LogError::ReadOnly`].
    pub fn indexed(&self) -> Result<HashMap<RunId, u32>, LogError> {
        self.with(|connection| {
            let mut select = connection.prepare("SELECT run, seq FROM runs")?;
            let rows = select.query_map([], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u32>(1)?))
            })?;
            let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
            let runs = rows
                .into_iter()
                .filter_map(|(key, seq)| Some((run_of(&key)?, seq)));
            Ok(runs.collect())
        })
    }

    /// Adds the texts of a run's events behind `from`, up to `to`. Says whether that was still to be
    /// done: another process may have been quicker.
    ///
    /// # Errors
    /// Those of [`SearchIndex::indexed`].
    pub fn add(
        &self,
        run: RunId,
        (from, to): (u32, u32),
        texts: &[NewText],
    ) -> Result<bool, LogError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "SELECT seq FROM runs WHERE run = ?1";
            let indexed = transaction.query_row(sql, [key(run)], |row| row.get(0)).optional()?;
            if indexed.unwrap_or(0u32) != from {
                return Ok(false);
            }
            {
                let mut place = transaction.prepare_cached(
                    "INSERT INTO texts (run, seq, part, at) VALUES (?1, ?2, ?3, ?4)",
                )?;
                let mut words =
                    transaction.prepare_cached("INSERT INTO words (rowid, folded) VALUES (?1, ?2)")?;
                for text in texts {
                    place.execute(params![key(run), text.seq, text.part, text.at])?;
                    words.execute(params![transaction.last_insert_rowid(), text.words])?;
                }
            }
            transaction.execute(
                "INSERT INTO runs (run, seq) VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET seq = ?2",
                params![key(run), to],
            )?;
            transaction.commit()?;
            Ok(true)
        })
    }

    /// Texts that have all phrases, the newest first, at most `limit`, before the place `before`.
    /// The last word of each phrase may go on.
    ///
    /// # Errors
    /// Those of [`SearchIndex::indexed`].
    pub fn find(
        &self,
        phrases: &[Vec<String>],
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Hit>, LogError> {
        let wanted: Vec<String> = phrases.iter().map(|phrase| quoted(phrase)).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, before) = (wanted.join(" AND "), before.unwrap_or(i64::MAX));
        self.with(|connection| {
            let mut select = connection.prepare(
                "SELECT t.id, t.run, t.seq, t.part, t.at FROM words w JOIN texts t ON t.id = w.rowid \
                 WHERE w.words MATCH ?1 AND w.rowid < ?2 ORDER BY w.rowid DESC LIMIT ?3",
            )?;
            let mut rows = select.query(params![wanted, before, limit])?;
            let mut hits = Vec::new();
            while let Some(row) = rows.next()? {
                if let Some(run) = run_of(&row.get::<_, Vec<u8>>(1)?) {
                    hits.push(Hit {
                        id: row.get(0)?,
                        run,
                        seq: row.get(2)?,
                        part: row.get(3)?,
                        at: row.get(4)?,
                    });
                }
            }
            Ok(hits)
        })
    }

    /// Forgets runs.
    ///
    /// # Errors
    /// Those of [`SearchIndex::indexed`].
    pub fn forget(&self, runs: &[RunId]) -> Result<(), LogError> {
        self.with(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for run in runs {
                let run = key(*run);
                transaction.execute(
                    "DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE run = ?1)",
                    [run],
                )?;
                transaction.execute("DELETE FROM texts WHERE run = ?1", [run])?;
                transaction.execute("DELETE FROM runs WHERE run = ?1", [run])?;
            }
            transaction.commit()
        })
    }

    /// Throws all of it away, to be made anew.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn clear(&self) -> Result<(), LogError> {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            let removed = fs::remove_file(&path).or_else(file_system::if_missing);
            removed.map_err(|error| fault::file(&self.path, &error))?;
        }
        Ok(())
    }

    /// What it takes on disk, in bytes.
    pub fn bytes_on_disk(&self) -> u64 {
        let bytes = ["", "-wal", "-shm"].map(|suffix| {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            fs::metadata(path).map_or(0, |meta| meta.len())
        });
        bytes.iter().sum()
    }

    /// Does something with the index; one that is damaged is thrown away first.
    fn with<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LogError> {
        let mut attempt = || self.open().and_then(|mut connection| work(&mut connection));
        let done = match attempt() {
            Err(error) if is_damage(&error) || is_no_database(&error) => {
                self.clear()?;
                attempt()
            }
            done => done,
        };
        done.map_err(|error| fault::database(&self.path, &error))
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        let form = |connection: &Connection| {
            connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0))
        };
        if form(&connection)? == FORM {
            return Ok(connection);
        }
        file_system::close_to_others(self.path.parent().unwrap_or(Path::new(".")));
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if form(&transaction)? != FORM {
            transaction.execute_batch(
                "DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS texts; DROP TABLE IF EXISTS runs;",
            )?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", FORM)?;
        }
        transaction.commit()?;
        Ok(connection)
    }
}

fn is_no_database(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase)
}

/// A phrase as the index takes it. Words are letters and digits, so nothing has to be escaped but a
/// mark that stands for itself.
fn quoted(phrase: &[String]) -> String {
    format!("\"{}\" *", phrase.join(" ").replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u128) -> RunId {
        RunId::from_parts(1, number)
    }

    fn text(seq: u32, words: &str) -> NewText {
        NewText {
            seq,
            part: 0,
            at: i64::from(seq),
            words: words.to_owned(),
        }
    }

    fn phrases(text: &str) -> Vec<Vec<String>> {
        let words = |phrase: &str| phrase.split(' ').map(str::to_owned).collect();
        text.split(',').map(words).collect()
    }

    #[test]
    fn texts_are_found_newest_first_by_pages_and_forgotten_with_their_run() {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::of(folder.path());
        let texts = [text(2, "the vector index"), text(5, "index of vectors")];
        assert!(index.add(run(1), (0, 6), &texts).unwrap());
        assert!(
            index
                .add(run(2), (0, 3), &[text(3, "vector index again")])
                .unwrap()
        );
        // Somebody was quicker.
        assert!(!index.add(run(1), (0, 6), &texts).unwrap());
        let found = |query: &str, before| -> Vec<(RunId, u32, i64)> {
            let hits = index.find(&phrases(query), before, 10).unwrap();
            hits.iter().map(|hit| (hit.run, hit.seq, hit.id)).collect()
        };
        let all = found("vec", None);
        let places: Vec<_> = all.iter().map(|(run, seq, _)| (*run, *seq)).collect();
        assert_eq!(places, [(run(2), 3), (run(1), 5), (run(1), 2)]);
        assert_eq!(found("vec", Some(all[0].2)), all[1..]);
        assert_eq!(found("vector index", None).len(), 2);
        assert_eq!(found("index,aga", None).len(), 1);
        assert_eq!(found("nothing", None), []);
        index.forget(&[run(2)]).unwrap();
        assert_eq!(found("vec", None), all[1..]);
        assert_eq!(index.indexed().unwrap(), HashMap::from([(run(1), 6)]));
    }

    #[test]
    fn an_index_that_is_damaged_is_begun_anew_and_hides_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::of(folder.path());
        index.add(run(1), (0, 1), &[text(1, "one")]).unwrap();
        index.clear().unwrap();
        fs::write(
            folder.path().join(FILE_NAME),
            "this is no database, and it never was one",
        )
        .unwrap();
        assert_eq!(index.indexed().unwrap(), HashMap::new());
        assert!(index.add(run(1), (0, 1), &[text(1, "one")]).unwrap());
        assert_eq!(index.find(&phrases("one"), None, 9).unwrap().len(), 1);
        assert!(index.bytes_on_disk() > 0);
    }
}
