//! Lays a snapshot out in a new folder.

use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::{Contents, Entry, Hash, Manifest};
use crate::SandboxError;

/// The bytes that are copied at a time.
const PIECE_BYTES: usize = 128 * 1024;

/// Lays a snapshot out in a folder that must not be there yet, so that nothing is overwritten. It
/// is its owner's alone.
/// Links come last, so that nothing is written through one.
///
/// # Errors
/// When the folder is there, a path or content of the snapshot is not what it should be, or
/// writing fails. What was written until then is removed.
pub fn restore(
    manifest: &Manifest,
    contents: &dyn Contents,
    into: &Path,
) -> Result<(), SandboxError> {
    let mut folder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(into).map_err(SandboxError::file(into))?;
    let restored = lay_out(manifest, contents, into);
    if restored.is_err() {
        // The error says what matters.
        let _ = std::fs::remove_dir_all(into);
    }
    restored
}

/// Makes a folder that is found to hold one thing hold another again. What is in neither, since
/// snapshots leave it out, stays, and with it the folders that hold it. To do it twice is to do it
/// once.
///
/// # Errors
/// When something that is in no snapshot stands in the way, a content is not what it should be, or
/// writing fails. Some of it may be laid back by then.
pub fn lay_back(
    found: &Manifest,
    wanted: &Manifest,
    contents: &dyn Contents,
    folder: &Path,
) -> Result<(), SandboxError> {
    let root =
        Dir::open_ambient_dir(folder, ambient_authority()).map_err(SandboxError::file(folder))?;
    let changes = found.changes(wanted);
    // From the end: what is in a folder goes before the folder.
    for change in changes.iter().rev() {
        let removed = match change.before {
            Some(Entry::Folder) => root.remove_dir(&change.path),
            Some(Entry::File { .. } | Entry::Link { .. }) => root.remove_file(&change.path),
            None => out_of_the_way(&root, &change.path),
        };
        match removed {
            Err(error) if !stays(&error) => {
                return Err(SandboxError::file(folder.join(&change.path))(error));
            }
            _ => {}
        }
    }
    let missing = changes
        .into_iter()
        .filter_map(|change| Some((change.path, change.after?)));
    let missing = Manifest {
        entries: missing.collect(),
        ..Manifest::default()
    };
    lay_out(&missing, contents, folder)
}

/// What holds nothing that could be lost makes room.
fn out_of_the_way(root: &Dir, path: &str) -> io::Result<()> {
    let kind = root.symlink_metadata(path)?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => Ok(()),
        false => root.remove_file(path),
    }
}

/// Whether something that was to be removed is not there, or holds what no snapshot has.
fn stays(error: &io::Error) -> bool {
    use io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | DirectoryNotEmpty | NotADirectory)
}

fn lay_out(manifest: &Manifest, contents: &dyn Contents, into: &Path) -> Result<(), SandboxError> {
    let root =
        Dir::open_ambient_dir(into, ambient_authority()).map_err(SandboxError::file(into))?;
    let (links, others): (Vec<_>, Vec<_>) = manifest
        .entries
        .iter()
        .partition(|(_, entry)| matches!(entry, Entry::Link { .. }));
    for (path, entry) in others.into_iter().chain(links) {
        let laid = match entry {
            Entry::Folder => root.create_dir_all(path),
            Entry::File {
                hash, executable, ..
            } => file(&root, path, *hash, *executable, contents),
            Entry::Link { target } => link(&root, path, target),
        };
        laid.map_err(SandboxError::file(into.join(path)))?;
    }
    Ok(())
}

/// The folder of an entry; it is made where the manifest does not name it.
fn parent(root: &Dir, path: &str) -> io::Result<()> {
    match path.rsplit_once('/') {
        Some((folder, _)) => root.create_dir_all(folder),
        None => Ok(()),
    }
}

fn file(
    root: &Dir,
    path: &str,
    hash: Hash,
    executable: bool,
    contents: &dyn Contents,
) -> io::Result<()> {
    parent(root, path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.mode(if executable { 0o755 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    let mut to = root.open_with(path, &options)?;
    let mut from = contents.open(hash).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("its content is not kept any more"),
        _ => error,
    })?;
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            break;
        }
        hasher.update(&piece[..count]);
        to.write_all(&piece[..count])?;
    }
    let found = hasher.finalize().to_hex();
    if *found != *hash.to_string() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "its kept content is damaged",
        ));
    }
    Ok(())
}

#[cfg(unix)]
fn link(root: &Dir, path: &str, target: &str) -> io::Result<()> {
    parent(root, path)?;
    // As it was, wherever it points: it is not followed, here or by whoever reads it.
    root.symlink_contents(target, path)
}

/// Where links need a right that few have, a file that says where it led stands in its place.
#[cfg(not(unix))]
fn link(root: &Dir, path: &str, target: &str) -> io::Result<()> {
    parent(root, path)?;
    root.write(path, target)
}
