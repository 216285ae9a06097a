//! Reads a workspace.

use std::collections::HashSet;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::{Contents, Entry, Hash, Manifest, SnapshotRules, Stamp, Why};
use crate::SandboxError;

/// A change within this time before the snapshot may be followed by another one with the same
/// time: file systems count in ticks of some milliseconds, and some in seconds.
const FRESH_NS: i64 = 2_000_000_000;
/// The most names of one folder that are looked at.
const NAMES_MAX: usize = 1 << 20;
/// How often a file is read that changes meanwhile.
const TRIES: usize = 2;

/// Takes a snapshot of a workspace. What `before` holds unchanged is not read again, if its
/// content is still kept. What it holds is durable when this returns.
///
/// # Errors
/// When the workspace itself can't be opened, or contents can't be kept. An entry that can't be
/// read is left out, and the manifest says so.
pub fn take(
    workspace: &Path,
    before: Option<&Manifest>,
    rules: &SnapshotRules,
    contents: &dyn Contents,
) -> Result<Manifest, SandboxError> {
    let root = Dir::open_ambient_dir(workspace, ambient_authority());
    let root = root.map_err(SandboxError::file(workspace))?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut taking = Taking {
        before,
        rules,
        contents,
        kept: before
            .map(|before| contents.kept(hashes(before)))
            .unwrap_or_default(),
        // A time that is far off would only make files be read again.
        fresh_ns: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX) - FRESH_NS,
        bytes: 0,
        manifest: Manifest::default(),
    };
    taking
        .folder(&root, "", rules.limits.depth)
        .and_then(|()| contents.settle())
        .map_err(SandboxError::file(workspace))?;
    Ok(taking.manifest)
}

/// The contents of a manifest's files.
fn hashes(manifest: &Manifest) -> HashSet<Hash> {
    let entries = manifest.entries.values();
    let hashes = entries.filter_map(|entry| match entry {
        Entry::File { hash, .. } => Some(*hash),
        Entry::Folder | Entry::Link { .. } => None,
    });
    hashes.collect()
}

struct Taking<'a> {
    before: Option<&'a Manifest>,
    rules: &'a SnapshotRules,
    contents: &'a dyn Contents,
    /// Those of `before` that are still kept.
    kept: HashSet<Hash>,
    fresh_ns: i64,
    bytes: u64,
    manifest: Manifest,
}

impl Taking<'_> {
    fn leave_out(&mut self, path: &str, why: Why) {
        self.manifest.left_out.add(path, why);
    }

    /// All of a folder, in the order of names, so that a limit is always reached at the same.
    /// Only what can't be kept is an error.
    fn folder(&mut self, folder: &Dir, prefix: &str, depth: usize) -> io::Result<()> {
        let Ok(entries) = folder.entries() else {
            self.leave_out(prefix, Why::Unreadable);
            return Ok(());
        };
        let mut names = Vec::new();
        for entry in entries {
            if names.len() >= NAMES_MAX {
                self.leave_out(prefix, Why::TooMany);
                break;
            }
            match entry {
                Ok(entry) => names.push(entry.file_name()),
                Err(_) => self.leave_out(prefix, Why::Unreadable),
            }
        }
        names.sort();
        for name in names {
            let Some(name) = name.to_str() else {
                self.leave_out(&joined(prefix, &name.to_string_lossy()), Why::Name);
                continue;
            };
            let path = joined(prefix, name);
            if self.manifest.entries.len() >= self.rules.limits.entries {
                self.leave_out(&path, Why::TooMany);
                continue;
            }
            match self.entry(folder, name, &path, depth) {
                Ok(Ok(())) => {}
                Ok(Err(why)) => self.leave_out(&path, why),
                // Gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &Dir,
        name: &str,
        path: &str,
        depth: usize,
    ) -> io::Result<Result<(), Why>> {
        let metadata = match folder.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(())),
            Err(_) => return Ok(Err(Why::Unreadable)),
        };
        if self.rules.ignores(path, metadata.is_dir()) {
            return Ok(Err(Why::Ignored));
        }
        if metadata.is_dir() {
            return self.below(folder, name, path, depth);
        }
        if metadata.is_symlink() {
            return Ok(self.link(folder, name, path));
        }
        if !metadata.is_file() {
            return Ok(Err(Why::Special));
        }
        self.file(folder, name, path, &metadata)
    }

    fn below(
        &mut self,
        folder: &Dir,
        name: &str,
        path: &str,
        depth: usize,
    ) -> io::Result<Result<(), Why>> {
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(Err(Why::TooDeep));
        };
        // A link that took the name meanwhile leads no further than this folder, and not for ever:
        // depth and entries are counted.
        let Ok(below) = folder.open_dir(name) else {
            return Ok(Err(Why::Unreadable));
        };
        self.manifest.entries.insert(path.to_owned(), Entry::Folder);
        self.folder(&below, path, depth).map(Ok)
    }

    fn link(&mut self, folder: &Dir, name: &str, path: &str) -> Result<(), Why> {
        let target = folder
            .read_link_contents(name)
            .map_err(|_| Why::Unreadable)?;
        let target = target.to_str().ok_or(Why::Name)?.to_owned();
        self.manifest
            .entries
            .insert(path.to_owned(), Entry::Link { target });
        Ok(())
    }

    fn file(
        &mut self,
        folder: &Dir,
        name: &str,
        path: &str,
        metadata: &Metadata,
    ) -> io::Result<Result<(), Why>> {
        let bytes = metadata.len();
        if bytes > self.rules.limits.file_bytes {
            return Ok(Err(Why::TooLarge));
        }
        if self.bytes + bytes > self.rules.limits.total_bytes {
            return Ok(Err(Why::Full));
        }
        if let Some(entry) = self.unchanged(path, metadata) {
            self.bytes += bytes;
            self.manifest.entries.insert(path.to_owned(), entry);
            return Ok(Ok(()));
        }
        for _ in 0..TRIES {
            match self.read(folder, name, path)? {
                Ok(Some(entry)) => {
                    self.bytes += entry.bytes();
                    self.manifest.entries.insert(path.to_owned(), entry);
                    return Ok(Ok(()));
                }
                Ok(None) => {}
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Err(Why::Changing))
    }

    /// The entry of an earlier snapshot, if it is still true.
    fn unchanged(&self, path: &str, metadata: &Metadata) -> Option<Entry> {
        let entry = self.before?.entries.get(path)?;
        let Entry::File {
            hash,
            bytes,
            executable,
            stamp,
        } = entry
        else {
            return None;
        };
        let now = stamp_of(metadata, self.fresh_ns);
        let is_same = !stamp.fresh
            && (stamp.file, stamp.written_ns, stamp.changed_ns)
                == (now.file, now.written_ns, now.changed_ns)
            && *bytes == metadata.len()
            && *executable == is_executable(metadata);
        (is_same && self.kept.contains(hash)).then(|| entry.clone())
    }

    /// Hash and length of a file that is as long as it was, where that is what it held: then it is
    /// kept already, and nothing is written.
    fn still(
        &self,
        path: &str,
        metadata: &Metadata,
        file: &mut File,
    ) -> io::Result<Option<(Hash, u64)>> {
        let before = self.before.and_then(|before| before.entries.get(path));
        let Some(Entry::File { hash, bytes, .. }) = before else {
            return Ok(None);
        };
        if *bytes != metadata.len() || !self.kept.contains(hash) {
            return Ok(None);
        }
        let read = Hash::read(file, self.rules.limits.file_bytes)?;
        if read == (*hash, *bytes) {
            return Ok(Some(read));
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(None)
    }

    /// Reads a file and keeps its content; `Ok(None)` when it changed meanwhile.
    fn read(&self, folder: &Dir, name: &str, path: &str) -> io::Result<Result<Option<Entry>, Why>> {
        let Ok(mut file) = open(folder, name) else {
            return Ok(Err(Why::Unreadable));
        };
        // Asked of what was opened: the name may have been given to something else in between.
        let begun = file.metadata()?;
        if !begun.is_file() {
            return Ok(Err(Why::Special));
        }
        let limit = self.rules.limits.file_bytes;
        let (hash, bytes) = match self.still(path, &begun, &mut file)? {
            Some(kept) => kept,
            None => self.contents.keep(&mut file, limit)?,
        };
        if bytes > limit {
            return Ok(Err(Why::TooLarge));
        }
        let ended = file.metadata()?;
        let stamp = stamp_of(&ended, self.fresh_ns);
        let is_still = stamp == stamp_of(&begun, self.fresh_ns) && bytes == ended.len();
        let executable = is_executable(&ended);
        Ok(Ok(is_still.then_some(Entry::File {
            hash,
            bytes,
            executable,
            stamp,
        })))
    }
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}/{name}")
    }
}

/// Opens a file for reading and never waits for a writer, nor follows a link.
fn open(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    folder.open_with(name, &options)
}

#[cfg(unix)]
fn stamp_of(metadata: &Metadata, fresh_ns: i64) -> Stamp {
    use cap_std::fs::MetadataExt;
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let changed_ns = nanoseconds(metadata.ctime(), metadata.ctime_nsec());
    Stamp {
        file: metadata.ino(),
        written_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns,
        fresh: changed_ns > fresh_ns,
    }
}

/// Where the system tells no time of change that programs can't set, a file is always read.
#[cfg(not(unix))]
fn stamp_of(_metadata: &Metadata, _fresh_ns: i64) -> Stamp {
    Stamp {
        file: 0,
        written_ns: 0,
        changed_ns: 0,
        fresh: true,
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    metadata.mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &Metadata) -> bool {
    false
}
