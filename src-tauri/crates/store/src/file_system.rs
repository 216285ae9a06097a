//! Folders, files and locks as the data folder needs them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::fault;
use crate::log::LogError;

/// How often a lock that is held is tried again.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// Makes a folder that only its owner may enter, with those above it. One that is there is left
/// as it is.
///
/// # Errors
/// What the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

pub(crate) fn private_folder(path: &Path) -> Result<(), LogError> {
    make_private_folder(path).map_err(|error| fault::file(path, &error))
}

/// Closes a folder of this user to everybody else. One that all users share (as `/tmp` is) and
/// one on a file system without modes stay as they are: nothing depends on it.
#[cfg(unix)]
pub(crate) fn close_to_others(path: &Path) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    const OTHERS: u32 = 0o077;
    const SHARED: u32 = 0o1000;
    let Ok(found) = path.metadata() else { return };
    let mode = found.mode() & 0o7777;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if is_own && mode & OTHERS != 0 && mode & SHARED == 0 {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS));
    }
}

/// Elsewhere a folder of this user is closed already.
#[cfg(not(unix))]
pub(crate) fn close_to_others(_path: &Path) {}

/// Whether something is there that this process may read but not write.
#[cfg(unix)]
pub(crate) fn is_read_only(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::READ_OK).is_ok() && access(path, Access::WRITE_OK).is_err()
}

/// Elsewhere the first write tells.
#[cfg(not(unix))]
pub(crate) fn is_read_only(_path: &Path) -> bool {
    false
}

/// Opens a file for reading and writing, for its owner only, and makes it when it is missing.
/// The file is closed when another program is executed.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Takes the lock of a file if nobody holds it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Takes the lock of a file, waiting for its holder at most `limit`. Held until it is dropped.
pub(crate) fn wait_for_lock(path: &Path, limit: Duration) -> Result<File, LogError> {
    let in_file = |error: io::Error| fault::file(path, &error);
    let file = private_file(path).map_err(in_file)?;
    let begin = Instant::now();
    while !try_lock(&file).map_err(in_file)? {
        if begin.elapsed() > limit {
            let message = "another process has kept this lock for too long";
            return Err(in_file(io::Error::new(io::ErrorKind::TimedOut, message)));
        }
        std::thread::sleep(LOCK_POLL);
    }
    Ok(file)
}

/// Gives a finished file its name, durably: its bytes first, then the name.
pub(crate) fn publish(unfinished: &Path, path: &Path) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, path)?;
    sync_folder(path.parent().unwrap_or(path))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// For removals: what is already gone is as good as removed.
pub(crate) fn if_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound {
        Ok(())
    } else {
        Err(error)
    }
}

/// The bytes of all files beneath `path`; what can't be read counts nothing.
pub fn bytes_beneath(path: &Path, depth: u32) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return 0;
    };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() && depth > 0 => bytes_beneath(&entry.path(), depth - 1),
        Ok(meta) if meta.is_file() => meta.len(),
        _ => 0,
    };
    entries.flatten().map(size).sum()
}

/// Whether `path` lies on a file system of another machine, where locks and syncs do not hold
/// what they promise. `None` when the system doesn't say.
#[cfg(target_os = "linux")]
pub fn is_network_file_system(path: &Path) -> Option<bool> {
    /// NFS, SMB, SMB2, CIFS, Coda, AFS (two), NCP, 9P, Ceph, FUSE (sshfs and the like), OCFS2, Lustre, GPFS.
    const MAGIC: &[u32] = &[
        0x6969,
        0x517b,
        0xfe53_4d42,
        0xff53_4d42,
        0x7375_7245,
        0x5346_414f,
        0x6b41_4653,
        0x564c,
        0x0102_1997,
        0x00c3_6400,
        0x6573_5546,
        0x7461_636f,
        0x0bd0_0bd0,
        0x4750_4653,
    ];
    let found = rustix::fs::statfs(path).ok()?;
    Some(MAGIC.contains(&(found.f_type as u32)))
}

/// Whether `path` lies on a file system of another machine. Not known here.
#[cfg(not(target_os = "linux"))]
pub fn is_network_file_system(_path: &Path) -> Option<bool> {
    None
}
