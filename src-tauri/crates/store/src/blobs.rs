//! Content by hash: small blobs in the database, large ones in files beneath `blobs/`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longrein_protocol::BlobHash;
use longrein_protocol::body::NewBlob;
use rusqlite::{Connection, OptionalExtension, params};

use crate::codec::{Decoder, Encoder};
use crate::fault;
use crate::file_system;
use crate::log::LogError;
use crate::schema;

/// A blob of more than this many bytes, compressed, is a file of its own.
pub(crate) const FILE_ABOVE_BYTES: usize = 64 << 10;

/// The level for files; they may be large, so it is a quick one.
const FILE_LEVEL: i32 = 3;

/// The most bytes that are set aside before a blob is read: its row may be damaged.
const READ_AHEAD_BYTES: u64 = 16 << 20;

/// The folder of files that are not finished, beneath `blobs/`.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Numbers the unfinished files of this process.
static UNFINISHED_COUNT: AtomicU64 = AtomicU64::new(0);

/// A blob on its way into the database.
#[derive(Debug)]
pub(crate) struct ReadyBlob {
    pub hash: BlobHash,
    raw_len: u64,
    data: Data,
}

#[derive(Debug)]
enum Data {
    /// Not compressed yet.
    Raw(Vec<u8>),
    /// As the table holds it.
    Row(Vec<u8>),
    /// Already on disk, there.
    File(PathBuf),
}

impl ReadyBlob {
    /// A blob that is small whatever it compresses to, so that the writer may compress it.
    pub(crate) fn small(blob: NewBlob) -> Self {
        Self {
            hash: blob.hash,
            raw_len: blob.bytes.len() as u64,
            data: Data::Raw(blob.bytes),
        }
    }

    /// A blob that may be large: compressed here, and written to its file when it stays large.
    /// The file is durable before this returns, so before any row refers to it.
    pub(crate) fn large(
        connection: &Connection,
        data_dir: &Path,
        blob: NewBlob,
    ) -> Result<Self, LogError> {
        let path = file_path(data_dir, blob.hash);
        let in_file = |error: io::Error| fault::file(&path, &error);
        let known = Self {
            hash: blob.hash,
            raw_len: blob.bytes.len() as u64,
            data: Data::File(path.clone()),
        };
        if lies_in_a_file(connection, blob.hash) && path.is_file() {
            return Ok(known);
        }
        let frame = zstd::bulk::compress(&blob.bytes, FILE_LEVEL).map_err(in_file)?;
        if frame.len() <= FILE_ABOVE_BYTES {
            // The dictionary does no harm here, and there is one way to read a row.
            let row = Encoder::new().and_then(|mut encoder| encoder.bytes(&blob.bytes));
            return Ok(Self {
                data: Data::Row(row.map_err(in_file)?),
                ..known
            });
        }
        write_file(data_dir, &path, &frame).map_err(in_file)?;
        Ok(known)
    }

    /// Compresses what is still raw.
    pub(crate) fn encode(&mut self, encoder: &mut Encoder) -> io::Result<()> {
        if let Data::Raw(bytes) = &self.data {
            self.data = Data::Row(encoder.bytes(bytes)?);
        }
        Ok(())
    }

    /// Whether its file, where it has one, is still there: the only run that had the same content may
    /// have been deleted since.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(&self.data, Data::File(path) if !path.is_file())
    }

    /// Adds the row unless the content is there already.
    pub(crate) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let data = match &self.data {
            Data::Raw(bytes) | Data::Row(bytes) => Some(bytes),
            Data::File(_) => None,
        };
        let sql =
            "INSERT INTO blobs (hash, raw_len, data) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        connection
            .prepare_cached(sql)?
            .execute(params![self.hash.0, self.raw_len as i64, data])?;
        Ok(())
    }
}

/// Whether a row says that the content is in its file. A file without a row may be half of
/// something that never became durable, so it is written again.
fn lies_in_a_file(connection: &Connection, hash: BlobHash) -> bool {
    let sql = "SELECT data IS NULL FROM blobs WHERE hash = ?1";
    let found = connection
        .prepare_cached(sql)
        .and_then(|mut select| select.query_row([hash.0], |row| row.get(0)));
    found.unwrap_or(false)
}

/// Whether a blob has to go through [`ReadyBlob::large`].
pub(crate) fn may_be_large(blob: &NewBlob) -> bool {
    blob.bytes.len() > FILE_ABOVE_BYTES
}

/// Reads a blob and checks it against its hash.
pub(crate) fn read(
    connection: &Connection,
    data_dir: &Path,
    hash: BlobHash,
) -> Result<Arc<[u8]>, LogError> {
    let database = data_dir.join(schema::FILE_NAME);
    let row: Option<(i64, Option<Vec<u8>>)> = connection
        .prepare_cached("SELECT raw_len, data FROM blobs WHERE hash = ?1")
        .and_then(|mut select| {
            select
                .query_row([hash.0], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
        .map_err(|error| fault::database(&database, &error))?;
    let (raw_len, data) = row.ok_or(LogError::Blob(hash))?;
    let raw_len = u64::try_from(raw_len).map_err(|_| LogError::Blob(hash))?;
    let bytes = match data {
        Some(stored) => decode_row(&database, &stored, raw_len)?,
        None => read_file(&file_path(data_dir, hash), raw_len)?,
    };
    match bytes {
        Some(bytes) if BlobHash::of(&bytes) == hash => Ok(bytes.into()),
        _ => Err(LogError::Blob(hash)),
    }
}

fn decode_row(database: &Path, stored: &[u8], raw_len: u64) -> Result<Option<Vec<u8>>, LogError> {
    let mut decoder = Decoder::new().map_err(|error| fault::file(database, &error))?;
    Ok(usize::try_from(raw_len)
        .ok()
        .and_then(|limit| decoder.bytes(stored, limit)))
}

/// The content of a blob's file; `None` when it is missing or damaged.
fn read_file(path: &Path, raw_len: u64) -> Result<Option<Vec<u8>>, LogError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault::file(path, &error)),
    };
    let mut bytes = Vec::with_capacity(raw_len.min(READ_AHEAD_BYTES) as usize);
    let read = zstd::stream::read::Decoder::new(file).and_then(|decoder| {
        decoder
            .take(raw_len.saturating_add(1))
            .read_to_end(&mut bytes)
    });
    Ok(read.is_ok().then_some(bytes))
}

/// Where the file of a blob lies.
pub(crate) fn file_path(data_dir: &Path, hash: BlobHash) -> PathBuf {
    let name = hash.to_string();
    data_dir
        .join("blobs")
        .join(&name[..2])
        .join(format!("{name}.zst"))
}

fn write_file(data_dir: &Path, path: &Path, frame: &[u8]) -> io::Result<()> {
    let blobs = data_dir.join("blobs");
    let unfinished = blobs.join(UNFINISHED);
    fs::create_dir_all(&unfinished)?;
    let folder = path.parent().unwrap_or(&blobs);
    if !folder.is_dir() {
        fs::create_dir_all(folder)?;
        file_system::sync_folder(&blobs)?;
    }
    let number = UNFINISHED_COUNT.fetch_add(1, Ordering::Relaxed);
    let draft = unfinished.join(format!("{}-{number}", std::process::id()));
    let written = write_and_publish(&draft, path, frame);
    if written.is_err() {
        // The space is what is needed most now; a draft that stays is swept at the next start.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_and_publish(draft: &Path, path: &Path, frame: &[u8]) -> io::Result<()> {
    let mut file = file_system::private_file(draft)?;
    file.write_all(frame)?;
    drop(file);
    file_system::publish(draft, path)
}
