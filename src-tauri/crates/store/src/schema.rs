//! The database file: how it is opened, what it holds, and how an older one is made new.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longrein_protocol::Payload;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use crate::fault;
use crate::file_system;
use crate::log::LogError;

/// The name of the database in the data folder.
pub(crate) const FILE_NAME: &str = "longrein.db";

/// One script per schema version, in order. A script that was released is never changed.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("schema-1.sql")];

/// Says in the file's header whose it is.
const APPLICATION_ID: i32 = 0x4c67_726e;

/// A payload of up to 2 KB stays on its page; with SQLite's usual 4,096 only 1 KB would.
const PAGE_BYTES: u32 = 8_192;

/// The write-ahead log is cut back to this after a burst; below it, its blocks are used again,
/// which costs the disk less than new ones.
const WAL_LIMIT_BYTES: u32 = 16 << 20;

/// Each connection may keep this much of the file in memory (negative: in KiB).
const CACHE_KIB: i32 = -1_024;

/// How often a locked database is tried again: together about a minute.
const BUSY_ATTEMPTS: i32 = 12_000;
const BUSY_WAIT: Duration = Duration::from_millis(5);
/// The first attempts wait less: the usual lock lasts for one commit of another process.
const BUSY_EAGER_ATTEMPTS: i32 = 20;
const BUSY_EAGER_WAIT: Duration = Duration::from_millis(1);

/// How long the first start of another process may take to make the file.
const SETUP_WAIT: Duration = Duration::from_secs(60);

/// A database that is ready, and who may write to it.
pub(crate) struct Opened {
    /// A connection that may write, unless the file is newer than this version or `reading` says
    /// that the folder can't be written.
    pub connection: Connection,
    /// The schema of the file when it is newer than what this version knows.
    pub newer: Option<u32>,
    /// How further connections read.
    pub reading: Access,
}

/// The schema version that this build writes.
pub(crate) fn known() -> u32 {
    MIGRATIONS.len() as u32
}

/// Opens the database of a data folder, makes it when it is missing, and makes an older one new.
pub(crate) fn open(data_dir: &Path) -> Result<Opened, LogError> {
    let path = data_dir.join(FILE_NAME);
    if path.exists() && (file_system::is_read_only(data_dir) || file_system::is_read_only(&path)) {
        return open_to_read(data_dir, &path);
    }
    file_system::private_folder(data_dir)?;
    file_system::close_to_others(data_dir);
    for folder in ["blobs", "locks"] {
        file_system::private_folder(&data_dir.join(folder))?;
    }
    let in_file = |error: rusqlite::Error| fault::database(&path, &error);
    let mut connection = connect(&path, Access::Write)?;
    if !is_ready(&connection).map_err(in_file)? {
        // Two first starts at once: one makes the file, the other waits and finds it made.
        let _setup = file_system::wait_for_lock(&data_dir.join("locks/setup"), SETUP_WAIT)?;
        set_up(&mut connection, &path, MIGRATIONS)?;
    }
    let found = version(&connection).map_err(in_file)?;
    if found > known() {
        connection
            .pragma_update(None, "query_only", true)
            .map_err(in_file)?;
        return Ok(Opened {
            connection,
            newer: Some(found),
            reading: Access::Read,
        });
    }
    name_types(&mut connection).map_err(in_file)?;
    Ok(Opened {
        connection,
        newer: None,
        reading: Access::Read,
    })
}

/// Opens a database where nothing may be written. An older one is not made new there.
fn open_to_read(data_dir: &Path, path: &Path) -> Result<Opened, LogError> {
    // Somebody else who may write it has it open, or left a log that has to be read with it.
    let log = path.with_extension("db-wal").metadata();
    let is_shared = path.with_extension("db-shm").exists();
    let reading = if is_shared || log.is_ok_and(|log| log.len() > 0) {
        Access::ReadOnly
    } else {
        Access::Unchanging
    };
    let connection = connect(path, reading)?;
    let found = version(&connection).map_err(|error| fault::database(path, &error))?;
    if found < known() {
        return Err(LogError::ReadOnly {
            path: data_dir.display().to_string(),
        });
    }
    Ok(Opened {
        connection,
        newer: Some(found).filter(|found| *found > known()),
        reading,
    })
}

/// What a connection may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Everything; the file is made when it is missing.
    Write,
    /// Reading only.
    Read,
    /// Reading where nothing can be written.
    ReadOnly,
    /// The same, of a file that nobody writes to: SQLite needs no files beside it then.
    Unchanging,
}

/// The flags and the name that a connection is opened with.
fn flags_and_name(path: &Path, access: Access) -> (OpenFlags, PathBuf) {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let writing = flags | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let reading = flags | OpenFlags::SQLITE_OPEN_READ_ONLY;
    match access {
        Access::Write => (writing | OpenFlags::SQLITE_OPEN_CREATE, path.to_path_buf()),
        // Not SQLITE_OPEN_READ_ONLY: the first reader after a crash has to recover the log.
        Access::Read => (writing, path.to_path_buf()),
        Access::ReadOnly => (reading, path.to_path_buf()),
        Access::Unchanging => {
            let name = path.as_os_str().as_encoded_bytes().iter();
            let name: String = name.map(|byte| format!("%{byte:02x}")).collect();
            let address = format!("file:{name}?immutable=1");
            (reading | OpenFlags::SQLITE_OPEN_URI, address.into())
        }
    }
}

/// Opens a connection with the settings that every connection has.
pub(crate) fn connect(path: &Path, access: Access) -> Result<Connection, LogError> {
    let (flags, name) = flags_and_name(path, access);
    let connect = || -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_with_flags(&name, flags)?;
        connection.busy_handler(Some(wait_while_busy))?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        match access {
            Access::Write => {
                connection.pragma_update(None, "synchronous", "FULL")?;
                connection.pragma_update(None, "journal_size_limit", WAL_LIMIT_BYTES)?;
            }
            _ => connection.pragma_update(None, "query_only", true)?,
        }
        Ok(connection)
    };
    connect().map_err(|error| fault::database(path, &error))
}

fn wait_while_busy(attempt: i32) -> bool {
    std::thread::sleep(if attempt < BUSY_EAGER_ATTEMPTS {
        BUSY_EAGER_WAIT
    } else {
        BUSY_WAIT
    });
    attempt < BUSY_ATTEMPTS
}

/// The schema version that the file says it has.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn is_ready(connection: &Connection) -> rusqlite::Result<bool> {
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(journal == "wal" && version(connection)? >= known())
}

/// Brings a file to the last of `migrations`, in one transaction, after a copy of what was there.
pub(crate) fn set_up(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), LogError> {
    let in_file = |error: rusqlite::Error| fault::database(path, &error);
    let found = version(connection).map_err(in_file)?;
    if found as usize > migrations.len() {
        return Ok(());
    }
    if found == 0 {
        connection
            .pragma_update(None, "page_size", PAGE_BYTES)
            .map_err(in_file)?;
    }
    let wal = "PRAGMA journal_mode = WAL";
    connection.query_row(wal, [], |_| Ok(())).map_err(in_file)?;
    if found > 0 && (found as usize) < migrations.len() {
        back_up(connection, path, found)?;
    }
    migrate(connection, migrations).map_err(in_file)
}

fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again: another process may have done it while this one waited.
    let found = version(&transaction)? as usize;
    for script in migrations.iter().skip(found) {
        transaction.execute_batch(script)?;
    }
    if found < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", migrations.len() as u32)?;
    }
    transaction.commit()
}

/// The copy that is kept of a database with schema `version` before it is made new.
pub(crate) fn backup_path(path: &Path, version: u32) -> PathBuf {
    path.with_extension(format!("schema-{version}.db"))
}

fn back_up(connection: &Connection, path: &Path, version: u32) -> Result<(), LogError> {
    let backup = backup_path(path, version);
    let unfinished = backup.with_extension("unfinished");
    let remove = fs::remove_file(&unfinished);
    if let Err(error) = remove.or_else(file_system::if_missing) {
        return Err(fault::file(&unfinished, &error));
    }
    let target = unfinished.to_string_lossy();
    connection
        .execute("VACUUM INTO ?1", params![target])
        .map_err(|error| fault::database(path, &error))?;
    file_system::publish(&unfinished, &backup).map_err(|error| fault::file(&backup, &error))
}

/// Gives every type that this version knows its number, so that an append never has to.
fn name_types(connection: &mut Connection) -> rusqlite::Result<()> {
    let count = "SELECT count(*) FROM types WHERE name IN (SELECT value FROM json_each(?1))";
    let names = serde_json::to_string(Payload::NAMES).unwrap_or_default();
    let named: i64 = connection.query_row(count, [&names], |row| row.get(0))?;
    if named == Payload::NAMES.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for name in Payload::NAMES {
        transaction.execute(
            "INSERT INTO types (name) VALUES (?1) ON CONFLICT DO NOTHING",
            [name],
        )?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests;
