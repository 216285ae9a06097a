//! The log in one SQLite file per data folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use longrein_protocol::body::NewBlob;
use longrein_protocol::view::RunLine;
use longrein_protocol::wish::Wish;
use longrein_protocol::{BlobHash, Event, Millis, RunId};
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::append::{AppendWork, BlobsWork, FenceWork, LineWork, WishWork};
use crate::blobs::{self, ReadyBlob};
use crate::chain::RowHash;
use crate::check::{self, CheckReport};
use crate::delete::{self, DeleteWork, Deleted};
use crate::fault;
use crate::file_system;
use crate::log::{Append, Fence, Log, LogError, Reading};
use crate::projection::{self, Rebuilt};
use crate::reader::{self, Readers};
use crate::rows;
use crate::schema::{self, Access};
use crate::watch::Changes;
use crate::wishes;
use crate::writer::{Work, Writer, WriterStats};

/// How deep folders lie beneath the data folder that count as its own.
const OWN_FOLDERS_DEPTH: u32 = 8;

/// How many events are read at once where a whole run is needed.
const PAGE_OF_EVENTS: u32 = 4_096;

/// The log, its blobs, inbox and lists, in a data folder. Cheap to clone; all clones are one
/// store. Its methods need a Tokio runtime of either kind. When the last clone is dropped, what
/// waits to be written is written and the file is closed.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    data_dir: PathBuf,
    database: PathBuf,
    newer: Option<u32>,
    reading: Access,
    writer: Option<Writer>,
    readers: Readers,
    commits: watch::Sender<u64>,
}

impl Store {
    /// Opens the data folder; makes it (for its owner only), or makes an older one new, after a
    /// copy of its database. One that a newer version wrote can be read but not written, and so
    /// can one that this process may only read. One of this user's is closed to others.
    ///
    /// # Errors
    /// [`LogError::Full`], [`LogError::Io`], [`LogError::Damaged`].
    pub fn open(data_dir: impl AsRef<Path>) -> Result<Self, LogError> {
        let data_dir = data_dir.as_ref().to_path_buf();
        let database = data_dir.join(schema::FILE_NAME);
        let opened = schema::open(&data_dir)?;
        let (commits, _) = watch::channel(0);
        let writer = match (opened.newer, opened.reading) {
            (Some(_), _) | (_, Access::ReadOnly | Access::Unchanging) => None,
            _ => Some(Writer::start(
                opened.connection,
                database.clone(),
                commits.clone(),
            )?),
        };
        Ok(Self {
            shared: Arc::new(Shared {
                readers: Readers::new(database.clone(), opened.reading),
                data_dir,
                database,
                newer: opened.newer,
                reading: opened.reading,
                writer,
                commits,
            }),
        })
    }

    /// The folder that it was opened on.
    pub fn data_dir(&self) -> &Path {
        &self.shared.data_dir
    }

    /// The schema of the database when a newer version wrote it: then it can only be read.
    pub fn newer_schema(&self) -> Option<u32> {
        self.shared.newer
    }

    /// Whether this process may only read the data folder.
    pub fn is_read_only(&self) -> bool {
        matches!(self.shared.reading, Access::ReadOnly | Access::Unchanging)
    }

    /// Takes the next fencing number of a tree. Only for who holds the tree's lock: use
    /// [`crate::TreeLock::acquire`].
    ///
    /// # Errors
    /// Those of a write.
    pub async fn take_fence(&self, tree: RunId) -> Result<Fence, LogError> {
        self.write(|reply| Box::new(FenceWork::new(tree, reply)))
            .await
    }

    /// Puts a wish into the inbox of a run and returns its row number. A secret that this process
    /// knows is masked in it.
    ///
    /// # Errors
    /// [`LogError::NoRun`], and those of a write.
    pub async fn post_wish(&self, run: RunId, wish: Wish, at: Millis) -> Result<i64, LogError> {
        self.write(|reply| {
            Box::new(WishWork {
                run,
                wish: wishes::masked(wish),
                at,
                id: 0,
                reply,
            })
        })
        .await
    }

    /// Keeps content that a wish will refer to. Who keeps the same twice keeps it once.
    ///
    /// # Errors
    /// Those of a write.
    pub async fn keep(&self, blobs: Vec<NewBlob>) -> Result<(), LogError> {
        let blobs = self.ready(blobs).await?;
        self.write(|reply| Box::new(BlobsWork { blobs, reply }))
            .await
    }

    /// Lines of runs, newest first, at most `limit`, older than `before`. A line that can't be
    /// read is there as [`longrein_protocol::view::RunState::Unreadable`].
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub async fn runs(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunLine>, LogError> {
        self.look(move |connection| projection::runs(connection, limit, before))
            .await
    }

    /// The line of one run.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Io`].
    pub async fn run_line(&self, run: RunId) -> Result<RunLine, LogError> {
        let line = self
            .look(move |connection| projection::run_line(connection, run))
            .await?;
        line.ok_or(LogError::NoRun(run))
    }

    /// The root of the tree that a run belongs to; its lock and its fence are the tree's.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Io`].
    pub async fn tree_of(&self, run: RunId) -> Result<RunId, LogError> {
        let tree = self
            .look(move |connection| projection::tree_of(connection, run))
            .await?;
        tree.ok_or(LogError::NoRun(run))
    }

    /// Runs whose id begins with `prefix` in either case, newest first, at most 16.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub async fn find_run(&self, prefix: &str) -> Result<Vec<RunId>, LogError> {
        let Some(range) = projection::id_range(prefix) else {
            return Ok(Vec::new());
        };
        self.look(move |connection| projection::find_run(connection, range))
            .await
    }

    /// Actions that a person was or may be asked about whose id begins with `prefix`, with their
    /// runs, at most 16.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub async fn find_action(&self, prefix: &str) -> Result<Vec<(String, RunId)>, LogError> {
        let prefix = prefix.to_ascii_lowercase();
        self.look(move |connection| projection::find_action(connection, &prefix))
            .await
    }

    /// The last row of a run and its hash, which vouches for every row before it.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Io`].
    pub async fn head(&self, run: RunId) -> Result<(u32, RowHash), LogError> {
        let path = self.shared.database.clone();
        let work = move |connection: &Connection| reader::head(connection, &path, run);
        self.shared.readers.with(work).await
    }

    /// Reads several blobs at once and checks their hashes. Those that are missing or damaged are
    /// not among what is found.
    ///
    /// # Errors
    /// [`LogError::Io`], [`LogError::Damaged`].
    pub async fn blobs(
        &self,
        hashes: Vec<BlobHash>,
    ) -> Result<HashMap<BlobHash, Arc<[u8]>>, LogError> {
        let data_dir = self.shared.data_dir.clone();
        let work = move |connection: &Connection| {
            let mut found = HashMap::with_capacity(hashes.len());
            for hash in hashes {
                match blobs::read(connection, &data_dir, hash) {
                    Ok(bytes) => found.insert(hash, bytes),
                    Err(LogError::Blob(_)) => continue,
                    Err(error) => return Err(error),
                };
            }
            Ok(found)
        };
        self.shared.readers.with(work).await
    }

    /// Begins to watch for commits of any process.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn watch(&self) -> Result<Changes, LogError> {
        let connection = schema::connect(&self.shared.database, self.shared.reading)?;
        Ok(Changes::new(connection, self.shared.commits.subscribe()))
    }

    /// Checks one run, or all of them with all blobs: chain, payloads, gaps, content; with all of
    /// them also the file itself. Goes on after every damage.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Io`] when the database can't be read at all.
    pub async fn check(&self, run: Option<RunId>) -> Result<CheckReport, LogError> {
        let data_dir = self.shared.data_dir.clone();
        let work = move |connection: &Connection| check::check(connection, &data_dir, run);
        self.shared.readers.with(work).await
    }

    /// Writes the line of every run anew from its events, and which actions can be named.
    /// `fold` makes a line of a run's events, as far as they can be read.
    ///
    /// # Errors
    /// Those of reading and writing; lines written before stay.
    pub async fn rebuild(
        &self,
        fold: &(dyn Fn(&[Event]) -> Option<RunLine> + Sync),
    ) -> Result<u32, LogError> {
        let runs = self.look(check::all_runs).await?;
        let mut rebuilt = 0;
        for run in runs {
            let reading = self.read_whole(run).await?;
            let last = move |connection: &Connection| rows::last(connection, run);
            // Only the list knows of it: that is a damage, and the list its only trace.
            let Ok(Some((seq, _))) = self.look(last).await else {
                continue;
            };
            let tree = self.tree_from_events(run, &reading).await?;
            let Rebuilt { line, actions } = projection::rebuild(run, &reading, fold);
            self.write(|reply| {
                Box::new(LineWork {
                    run,
                    tree,
                    seq,
                    line,
                    actions,
                    reply,
                })
            })
            .await?;
            rebuilt += 1;
        }
        Ok(rebuilt)
    }

    /// Moves what is in the write-ahead log into the database and empties it; for measuring.
    ///
    /// # Errors
    /// [`LogError::Io`], [`LogError::Full`], [`LogError::Newer`].
    pub async fn checkpoint(&self) -> Result<(), LogError> {
        self.writer()?;
        let path = self.shared.database.clone();
        let task = tokio::task::spawn_blocking(move || {
            let connection = schema::connect(&path, Access::Write)?;
            let checkpoint =
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            checkpoint.map_err(|error| fault::database(&path, &error))
        });
        task.await.unwrap_or(Err(LogError::Closed))
    }

    /// Takes a run tree out of the log for good, with the contents that no other run refers to, and
    /// what is left of it in the write-ahead log. Only for who holds the tree's lock.
    ///
    /// # Errors
    /// Those of a write; nothing is taken out then.
    pub async fn delete(&self, fence: Fence) -> Result<Deleted, LogError> {
        let survey = self
            .look(move |connection| delete::survey(connection, fence.tree))
            .await?;
        let data_dir = self.shared.data_dir.clone();
        let deleted = self
            .write(|reply| {
                Box::new(DeleteWork {
                    fence,
                    survey,
                    data_dir,
                    done: Deleted::default(),
                    reply,
                })
            })
            .await?;
        self.checkpoint().await?;
        Ok(deleted)
    }

    /// What each run's events take in the database, in bytes.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub async fn bytes_of_runs(&self) -> Result<HashMap<RunId, u64>, LogError> {
        self.look(delete::bytes_of_runs).await
    }

    /// What the log takes on disk, in bytes: the database with its write-ahead log, and blobs.
    pub fn bytes_on_disk(&self) -> u64 {
        let beside = |suffix: &str| {
            let file = self
                .shared
                .data_dir
                .join(format!("{}{suffix}", schema::FILE_NAME));
            file.metadata().map_or(0, |meta| meta.len())
        };
        let database = beside("") + beside("-wal") + beside("-shm");
        database
            + file_system::bytes_beneath(&self.shared.data_dir.join("blobs"), OWN_FOLDERS_DEPTH)
    }

    /// What the writer has done so far.
    pub fn writer_stats(&self) -> WriterStats {
        self.shared
            .writer
            .as_ref()
            .map(Writer::stats)
            .unwrap_or_default()
    }

    async fn read_whole(&self, run: RunId) -> Result<Reading, LogError> {
        let mut whole = Reading::default();
        loop {
            let from = whole.events.len() as u32 + 1;
            let page = self.read(run, from, PAGE_OF_EVENTS).await?;
            let last = page.events.len() < PAGE_OF_EVENTS as usize;
            whole.events.extend(page.events);
            whole.damage = page.damage;
            if last || whole.damage.is_some() {
                return Ok(whole);
            }
        }
    }

    /// The tree as the list knows it, else as the first events of the run and its ancestors say.
    async fn tree_from_events(&self, run: RunId, reading: &Reading) -> Result<RunId, LogError> {
        if let Ok(tree) = self.tree_of(run).await {
            return Ok(tree);
        }
        let (mut tree, mut parent) = (run, projection::parent(&reading.events));
        for _ in 0..projection::DEPTH_LIMIT {
            let Some(above) = parent else { break };
            tree = above;
            parent = match self.read(above, 1, 1).await {
                Ok(first) => projection::parent(&first.events),
                Err(LogError::NoRun(_)) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(tree)
    }

    /// Runs a query on a reading connection.
    async fn look<T, W>(&self, work: W) -> Result<T, LogError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let path = self.shared.database.clone();
        let work = move |connection: &Connection| {
            work(connection).map_err(|error| fault::database(&path, &error))
        };
        self.shared.readers.with(work).await
    }

    /// Hands a piece of work to the writer and waits until it is durable.
    async fn write<T, W>(&self, work: W) -> Result<T, LogError>
    where
        W: FnOnce(oneshot::Sender<Result<T, LogError>>) -> Box<dyn Work>,
    {
        let writer = self.writer()?;
        let (reply, answer) = oneshot::channel();
        writer.send(work(reply)).await?;
        answer.await.unwrap_or(Err(LogError::Closed))
    }

    /// The writer, unless a newer version wrote the file or it can only be read.
    fn writer(&self) -> Result<&Writer, LogError> {
        let why_not = || match self.shared.newer {
            Some(found) => LogError::Newer {
                found,
                known: schema::known(),
            },
            None => LogError::ReadOnly {
                path: self.shared.data_dir.display().to_string(),
            },
        };
        self.shared.writer.as_ref().ok_or_else(why_not)
    }

    /// Large blobs go to their files before the append is handed to the writer.
    async fn ready(&self, new: Vec<NewBlob>) -> Result<Vec<ReadyBlob>, LogError> {
        let mut ready = Vec::with_capacity(new.len());
        for blob in new {
            ready.push(if blobs::may_be_large(&blob) && self.writer().is_ok() {
                let data_dir = self.shared.data_dir.clone();
                let work =
                    move |connection: &Connection| ReadyBlob::large(connection, &data_dir, blob);
                self.shared.readers.with(work).await?
            } else {
                ReadyBlob::small(blob)
            });
        }
        Ok(ready)
    }
}

impl Log for Store {
    fn append(&self, mut append: Append) -> BoxFuture<'_, Result<(), LogError>> {
        async move {
            let blobs = self.ready(std::mem::take(&mut append.blobs)).await?;
            self.write(|reply| Box::new(AppendWork::new(append, blobs, reply)))
                .await
        }
        .boxed()
    }

    fn read(&self, run: RunId, from: u32, limit: u32) -> BoxFuture<'_, Result<Reading, LogError>> {
        let path = self.shared.database.clone();
        let work = move |connection: &Connection| reader::read(connection, &path, run, from, limit);
        self.shared.readers.with(work).boxed()
    }

    fn blob(&self, hash: BlobHash) -> BoxFuture<'_, Result<Arc<[u8]>, LogError>> {
        let data_dir = self.shared.data_dir.clone();
        let work = move |connection: &Connection| blobs::read(connection, &data_dir, hash);
        self.shared.readers.with(work).boxed()
    }

    fn wishes(&self, run: RunId) -> BoxFuture<'_, Result<Vec<(i64, Wish)>, LogError>> {
        let path = self.shared.database.clone();
        let work = move |connection: &Connection| reader::wishes(connection, &path, run);
        self.shared.readers.with(work).boxed()
    }
}
