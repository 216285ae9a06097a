//! The library: the person's folders of documents, indexed for full-text search.
//!
//! The index follows the folders: a thread keeps it fresh while the library is open, and every
//! search looks for changes first, so a result never rests on a file as it was.

pub(crate) mod document;
mod index;
mod passages;
mod query;
mod scan;
#[cfg(test)]
mod tests;
mod tool;
mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longrein_protocol::BlobHash;
use longrein_runtime::ports::{CancellationToken, Captured};

use document::DocumentError;
use index::{Content, Entered, Hit, Index, Known, Readable};
pub(crate) use query::expression;
use scan::{Entry, Scan};
pub(crate) use tool::search_library;

/// How long one search may spend on files that are new; the rest is read in the background.
const REFRESH_LIMIT: Duration = Duration::from_secs(90);
/// A file changed so shortly before it was read that a second change might show the same time.
const UNSETTLED: Duration = Duration::from_secs(2);
/// How often one search looks again when a document changes under it.
const ATTEMPTS: usize = 2;
/// Files are stored in batches of at most so many, or so much text.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// The most passages of one document while other documents have some, too.
const PER_DOCUMENT: usize = 3;
/// How many passages are ranked for each one shown.
const RANKED_PER_SHOWN: usize = 8;
/// The most notes and titles that a result carries.
const NOTES_LIMIT: usize = 20;

/// Why a library can't be opened or searched.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The folder is not there.
    #[error("the library folder {} does not exist: make it, or name another one under [library] folders", .0.display())]
    Missing(PathBuf),
    /// It is a file.
    #[error("the library folder {} is a file: name the folder that holds it under [library] folders", .0.display())]
    NotAFolder(PathBuf),
    /// The system refuses.
    #[error("the library folder {} can't be read ({source}): let this user read it, or name another one under [library] folders", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The place of the index can't be used.
    #[error("the library index in {} can't be written ({message}): free space or let this user write there", folder.display())]
    Index {
        /// The folder of the indexes.
        folder: PathBuf,
        /// What SQLite or the system says.
        message: String,
    },
    /// Another process has been writing the index for too long.
    #[error("another process is reading the library just now: try again in a minute")]
    Busy,
    /// The search was stopped.
    #[error("stopped before it ended")]
    Cancelled,
}

/// The person's documents, ready to be searched. Cheap to make: reading begins in the background.
pub struct Library {
    shelves: Arc<Shelves>,
    _watch: watch::Watch,
}

/// What the library and its background thread share.
struct Shelves {
    folders: Vec<PathBuf>,
    index_dir: PathBuf,
    index_path: PathBuf,
    index: Mutex<Option<Index>>,
    /// Held while changes are looked for, so that what one reads is never stored after what
    /// another one read later.
    refreshing: Mutex<()>,
    /// Searches that want to look for changes now: the background makes way for them.
    searching: AtomicUsize,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Best first.
    pub passages: Vec<Captured>,
    /// How many documents the library has.
    pub documents: usize,
    /// The titles of some of them, with their names; only when nothing matched.
    pub titles: Vec<(String, String)>,
    /// Documents that could not be read or not in full, and what else is missing, in sentences.
    pub notes: Vec<String>,
    /// Whether a document was no longer what had been indexed.
    stale: bool,
}

/// How far a look for changes came.
#[derive(Default, Debug)]
struct Refreshed {
    /// Files that have changed and were not read for lack of time.
    left: usize,
    /// What could not be looked at.
    notes: Vec<String>,
}

impl Library {
    /// Opens the library over `folders`, with its index beneath `index_dir`.
    ///
    /// # Errors
    /// When a folder is missing or unreadable, or the index's folder can't be made.
    pub fn open(folders: &[PathBuf], index_dir: &Path) -> Result<Self, LibraryError> {
        let shelves = Arc::new(Shelves::open(folders, index_dir)?);
        let watch = watch::Watch::start(&shelves);
        Ok(Self {
            shelves,
            _watch: watch,
        })
    }

    /// Finds the passages that fit `query` best, after a look for changes. Blocks.
    ///
    /// # Errors
    /// When a folder has become unreadable, the index can't be used, or `cancel` was called.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        cancel: &CancellationToken,
    ) -> Result<Findings, LibraryError> {
        let deadline = Instant::now() + REFRESH_LIMIT;
        let stop = || cancel.is_cancelled();
        let mut findings = Findings::default();
        for _ in 0..ATTEMPTS {
            self.shelves.searching.fetch_add(1, Ordering::Relaxed);
            let refreshed = self.shelves.refresh(deadline, &stop);
            self.shelves.searching.fetch_sub(1, Ordering::Relaxed);
            let refreshed = refreshed?;
            if stop() {
                return Err(LibraryError::Cancelled);
            }
            findings = self.shelves.find(query, limit)?;
            findings.notes.extend(refreshed.notes);
            if refreshed.left > 0 {
                findings.notes.push(format!(
                    "{} more files are still being read: search again later for more",
                    refreshed.left
                ));
            }
            if !findings.stale {
                break;
            }
        }
        Ok(findings)
    }
}

fn check(folder: &Path) -> Result<(), LibraryError> {
    let problem = match fs::metadata(folder) {
        Ok(metadata) if !metadata.is_dir() => {
            return Err(LibraryError::NotAFolder(folder.to_owned()));
        }
        Ok(_) => fs::read_dir(folder).err(),
        Err(error) => Some(error),
    };
    match problem {
        None => Ok(()),
        Some(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(LibraryError::Missing(folder.to_owned()))
        }
        Some(source) => Err(LibraryError::Unreadable {
            folder: folder.to_owned(),
            source,
        }),
    }
}

impl Shelves {
    fn open(folders: &[PathBuf], index_dir: &Path) -> Result<Self, LibraryError> {
        for folder in folders {
            check(folder)?;
        }
        fs::create_dir_all(index_dir).map_err(|error| LibraryError::Index {
            folder: index_dir.to_owned(),
            message: error.to_string(),
        })?;
        let names: Vec<String> = folders
            .iter()
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect();
        let name = BlobHash::of(names.join("\0").as_bytes()).to_string();
        Ok(Self {
            folders: folders.to_owned(),
            index_dir: index_dir.to_owned(),
            index_path: index_dir.join(format!("{}.db", &name[..16])),
            index: Mutex::new(None),
            refreshing: Mutex::new(()),
            searching: AtomicUsize::new(0),
        })
    }

    /// Runs `work` on the index, which is opened by the first who needs it.
    fn with_index<T>(
        &self,
        work: impl FnOnce(&mut Index) -> rusqlite::Result<T>,
    ) -> Result<T, LibraryError> {
        // A panic in another use left at most a transaction that is rolled back.
        let mut slot = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |error: rusqlite::Error| {
            if index::is_busy(&error) {
                return LibraryError::Busy;
            }
            LibraryError::Index {
                folder: self.index_dir.clone(),
                message: error.to_string(),
            }
        };
        let index = match &mut *slot {
            Some(index) => index,
            empty => empty.insert(Index::open(&self.index_path).map_err(told)?),
        };
        work(index).map_err(told)
    }

    /// Brings the index up to date with the folders, as far as the time allows.
    fn refresh(
        &self,
        deadline: Instant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Refreshed, LibraryError> {
        // A panic in another look left the index as it was.
        let _refreshing = self
            .refreshing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut scan = Scan::default();
        for (number, folder) in (0..).zip(&self.folders) {
            check(folder)?;
            scan.add(number, folder)
                .map_err(|source| LibraryError::Unreadable {
                    folder: folder.clone(),
                    source,
                })?;
        }
        let mut known = self.with_index(|index| index.known())?;
        let mut changed = Vec::new();
        let (entries, notes) = scan.found();
        for entry in entries {
            let before = known.remove(&(entry.folder, entry.path.clone()));
            let same = before.as_ref().is_some_and(|before| {
                before.settled && before.size == entry.size && before.modified == entry.modified
            });
            if !same {
                changed.push((entry, before));
            }
        }
        let mut gone: Vec<i64> = known.into_values().map(|known| known.id).collect();
        let mut left = changed.len();
        let mut batch = Batch::default();
        for (entry, before) in changed {
            if stop() || Instant::now() >= deadline {
                break;
            }
            let entered = self.entered(entry, before);
            // A folder that is taken away in the middle makes nothing unreadable that was read.
            if matches!(entered.content, Content::Unreadable { .. }) {
                check(&self.folders[entered.folder as usize])?;
            }
            batch.add(entered);
            left -= 1;
            if batch.is_full() {
                self.store(&mut batch, &mut gone)?;
            }
        }
        self.store(&mut batch, &mut gone)?;
        Ok(Refreshed { left, notes })
    }

    fn store(&self, batch: &mut Batch, gone: &mut Vec<i64>) -> Result<(), LibraryError> {
        let (entered, gone) = (std::mem::take(batch).entered, std::mem::take(gone));
        if entered.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.with_index(|index| index.store(&entered, &gone))
    }

    /// Reads a file that is new or may have changed.
    fn entered(&self, entry: Entry, before: Option<Known>) -> Entered {
        let mut settled = is_settled(entry.modified);
        let read = scan::read(&self.folders[entry.folder as usize], &entry.path);
        let content = read.and_then(|bytes| {
            let hash = BlobHash::of(&bytes);
            match before.filter(|before| before.hash == Some(hash)) {
                Some(before) => Ok(Content::Same(before.id)),
                None => self.content(&entry, hash, &bytes),
            }
        });
        let content = content.unwrap_or_else(|problem| {
            // What is wrong with the bytes stays wrong; what is wrong around them may pass.
            settled &= !problem.may_pass();
            Content::Unreadable {
                problem: problem.to_string(),
            }
        });
        Entered {
            folder: entry.folder,
            path: entry.path,
            size: entry.size,
            modified: entry.modified,
            settled,
            content,
        }
    }

    fn content(
        &self,
        entry: &Entry,
        hash: BlobHash,
        bytes: &[u8],
    ) -> Result<Content, DocumentError> {
        let mut document = document::read(entry.kind, &self.name(entry), bytes)?;
        document.mask(&longrein_keys::Known::of_process().masker());
        let paged = document.meta.pdf.is_some();
        let passages = passages::passages(&document.text, &document.hidden, paged);
        Ok(Content::Read(Box::new(Readable {
            hash,
            meta: document.meta,
            text: document.text,
            passages,
            notes: document.notes,
        })))
    }

    /// How a document is called: by its path beneath its folder, and, where the library has several
    /// folders, by the folder's name before that. Never by a whole path.
    fn name(&self, entry: &Entry) -> String {
        let folder = self.folders[entry.folder as usize].file_name();
        match folder.filter(|_| self.folders.len() > 1) {
            Some(folder) => format!("{}/{}", folder.to_string_lossy(), entry.path),
            None => entry.path.clone(),
        }
    }

    fn find(&self, query: &str, limit: usize) -> Result<Findings, LibraryError> {
        let Some(expression) = query::expression(query) else {
            return Ok(Findings::default());
        };
        let hits = self.with_index(|index| index.search(&expression, limit * RANKED_PER_SHOWN))?;
        let mut findings = Findings::default();
        let (readable, _) = self.with_index(|index| index.counts())?;
        findings.documents = readable as usize;
        self.capture(chosen(hits, limit), &mut findings)?;
        if findings.passages.is_empty() {
            findings.titles = self.with_index(|index| index.titles(NOTES_LIMIT))?;
        }
        for noted in self.with_index(|index| index.noted(NOTES_LIMIT))? {
            let verb = if noted.readable {
                "was not read in full"
            } else {
                "could not be read"
            };
            findings
                .notes
                .push(format!("{} {verb}: {}", noted.path, noted.notes.join("; ")));
        }
        Ok(findings)
    }

    /// Reads the documents of the chosen passages once more: what is captured is what lies there
    /// now, and it must be what was indexed.
    fn capture(&self, chosen: Vec<Hit>, findings: &mut Findings) -> Result<(), LibraryError> {
        let mut read: BTreeMap<i64, Option<Captured>> = BTreeMap::new();
        for hit in chosen {
            if !read.contains_key(&hit.document) {
                let captured = match self.with_index(|index| index.document(hit.document))? {
                    Some(document) => self.captured(document, findings),
                    None => None,
                };
                // The same bytes in two places are one document.
                let twice = captured.as_ref().is_some_and(|captured| {
                    read.values()
                        .flatten()
                        .any(|other| other.bytes == captured.bytes)
                });
                read.insert(hit.document, captured.filter(|_| !twice));
            }
            if let Some(Some(document)) = read.get(&hit.document) {
                findings.passages.push(Captured {
                    range: hit.range,
                    ..document.clone()
                });
            }
        }
        Ok(())
    }

    fn captured(&self, document: index::Indexed, findings: &mut Findings) -> Option<Captured> {
        match scan::read(self.folders.get(document.folder as usize)?, &document.path) {
            Ok(bytes) if BlobHash::of(&bytes) == document.hash => Some(Captured {
                meta: document.meta,
                bytes: bytes.into(),
                text: document.text.into(),
                range: longrein_protocol::source::TextRange {
                    start: 0,
                    end: 0,
                    page: None,
                },
            }),
            Ok(_) => {
                findings.notes.push(format!(
                    "{} changed while it was searched: search again",
                    document.path
                ));
                findings.stale = true;
                None
            }
            Err(problem) => {
                findings
                    .notes
                    .push(format!("{} could not be read: {problem}", document.path));
                None
            }
        }
    }
}

/// The first `limit` hits, of which no document has more than its share while others have some.
fn chosen(hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let mut shares: BTreeMap<i64, usize> = BTreeMap::new();
    let (mut chosen, rest): (Vec<Hit>, Vec<Hit>) = hits.into_iter().partition(|hit| {
        let share = shares.entry(hit.document).or_default();
        *share += 1;
        *share <= PER_DOCUMENT
    });
    chosen.truncate(limit);
    let room = limit - chosen.len();
    chosen.extend(rest.into_iter().take(room));
    chosen
}

fn is_settled(modified: i64) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos());
    u128::from(modified.max(0).cast_unsigned()) + UNSETTLED.as_nanos() < now
}

/// Files on their way into the index.
#[derive(Default)]
struct Batch {
    entered: Vec<Entered>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, entered: Entered) {
        if let Content::Read(read) = &entered.content {
            self.bytes += read.text.len();
        }
        self.entered.push(entered);
    }

    fn is_full(&self) -> bool {
        self.entered.len() >= BATCH_FILES || self.bytes >= BATCH_BYTES
    }
}
