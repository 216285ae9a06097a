//! A skill's folder as it lies on the disk: what is in it, and the bytes of its files. No link is
//! followed, nothing but regular files is opened, and nothing is waited for.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};

use crate::bundled::BundledSkill;
use crate::error::SkillError;
use crate::file_name;
use crate::problem::{Problem, ProblemCode, Severity, of_file};

/// The most files and folders of one skill.
pub const ENTRIES_LIMIT: usize = 1_000;
/// How deep its folders go.
pub const DEPTH_LIMIT: usize = 8;
/// The largest file, in bytes.
pub const FILE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;
/// The largest skill, in bytes.
pub const TOTAL_LIMIT_BYTES: u64 = 32 * 1024 * 1024;

/// What version control and systems leave in a folder: no part of any skill. It is not read,
/// listed, hashed or copied.
pub const LEFT_OUT: [&str; 7] = [
    ".git",
    ".hg",
    ".svn",
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "__MACOSX",
];

/// What something in a skill's folder is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    File,
    /// Where it leads, as it is written; and whether that is outside the skill's folder.
    Link {
        target: String,
        leads_out: bool,
    },
    /// A pipe, a socket, a device.
    Special,
}

/// A file of a skill, or what stands where one could.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Relative to the skill's folder, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) kind: EntryKind,
    pub(crate) bytes: u64,
    pub(crate) executable: bool,
}

/// Everything in a skill's folder, by path.
#[derive(Clone, Default, Debug)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    pub(crate) problems: Vec<Problem>,
}

/// Where a skill's files come from.
#[derive(Debug)]
pub(crate) enum Source {
    Folder { dir: Dir, path: PathBuf },
    Bundled(&'static BundledSkill),
}

impl Source {
    /// Opens a folder; a link to one is followed, since that is how the person named it.
    pub(crate) fn open(path: &Path) -> Result<Self, SkillError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(SkillError::io(path, "opened"))?;
        Ok(Self::Folder {
            dir,
            path: path.to_path_buf(),
        })
    }

    /// Everything that is in it.
    ///
    /// # Errors
    /// When the folder can't be listed. What is too deep or too much is a fatal problem.
    pub(crate) fn contents(&self) -> Result<Contents, SkillError> {
        match self {
            Self::Bundled(skill) => Ok(Contents {
                entries: skill.entries(),
                problems: Vec::new(),
            }),
            Self::Folder { dir, path } => {
                let mut walk = Walk::default();
                walk.folder(dir, "", 0)
                    .map_err(SkillError::io(path, "listed"))?;
                Ok(walk.finish())
            }
        }
    }

    /// The bytes of a regular file of at most `limit` bytes.
    pub(crate) fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, SkillError> {
        match self {
            Self::Bundled(skill) => skill.read(file).ok_or_else(|| SkillError::Io {
                path: PathBuf::from(file),
                what: "read",
                cause: io::ErrorKind::NotFound.into(),
            }),
            Self::Folder { dir, path } => read_regular(dir, file, limit, &path.join(file)),
        }
    }
}

/// Reads a regular file beneath `dir`, never waiting for anything and never through a link.
fn read_regular(dir: &Dir, file: &str, limit: u64, shown: &Path) -> Result<Vec<u8>, SkillError> {
    let of_file = || SkillError::io(shown, "read");
    let not_a_file = || SkillError::NotAFile {
        place: shown.display().to_string(),
    };
    // Asked before opening, because opening a device may already act on it.
    let kind = dir.symlink_metadata(file).map_err(of_file())?.file_type();
    if !kind.is_file() {
        return Err(not_a_file());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    never_wait(&mut options);
    let opened = dir.open_with(file, &options).map_err(of_file())?;
    // Asked again, because the name may have been given to something else in between.
    let metadata = opened.metadata().map_err(of_file())?;
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    let too_large = |bytes: u64| SkillError::TooLarge {
        place: shown.display().to_string(),
        what: format!("has {bytes} bytes"),
        limit,
        unit: "bytes",
    };
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    opened
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(of_file())?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

fn never_wait(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        metadata.mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

#[derive(Default)]
struct Walk {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    seen: usize,
    bytes: u64,
    full: bool,
}

impl Walk {
    fn folder(&mut self, dir: &Dir, above: &str, depth: usize) -> io::Result<()> {
        for entry in dir.entries()? {
            if self.full {
                break;
            }
            let entry = entry?;
            let name = entry.file_name();
            self.seen += 1;
            if self.seen > ENTRIES_LIMIT {
                let path = format!("{above}{}", name.to_string_lossy());
                let what = format!("There are more than {ENTRIES_LIMIT} files and folders.");
                self.limit(&path, &what);
                break;
            }
            let Some(name) = name.to_str() else {
                let shown = format!("{above}{}", name.to_string_lossy());
                let what = "The name is no UTF-8, so the file can be neither named nor approved.";
                self.fatal(ProblemCode::FileName, &shown, what, "Rename it.");
                continue;
            };
            if LEFT_OUT.contains(&name) {
                continue;
            }
            let path = format!("{above}{name}");
            if let Some(fault) = file_name::fault(&path) {
                self.problems.push(of_file(
                    Severity::Error,
                    ProblemCode::FileName,
                    &path,
                    format!("The name {fault}."),
                    "Rename it.",
                ));
            }
            // Not followed: a link tells of itself.
            let metadata = dir.symlink_metadata(name)?;
            if metadata.is_dir() {
                self.inner(dir, name, &path, depth + 1)?;
            } else {
                self.entry(dir, name, path, &metadata);
            }
        }
        Ok(())
    }

    fn inner(&mut self, dir: &Dir, name: &str, path: &str, depth: usize) -> io::Result<()> {
        if depth > DEPTH_LIMIT {
            let what = format!("Folders go deeper than {DEPTH_LIMIT} levels.");
            self.limit(path, &what);
            return Ok(());
        }
        self.folder(&dir.open_dir(name)?, &format!("{path}/"), depth)
    }

    fn entry(&mut self, dir: &Dir, name: &str, path: String, metadata: &Metadata) {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_symlink() => self.link(dir, name, &path),
            kind => self.special(&path, kind),
        };
        let bytes = match kind {
            EntryKind::File => metadata.len(),
            EntryKind::Link { .. } | EntryKind::Special => 0,
        };
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > FILE_LIMIT_BYTES {
            let what = format!("The file has {bytes} bytes, more than {FILE_LIMIT_BYTES}.");
            self.limit(&path, &what);
        } else if self.bytes > TOTAL_LIMIT_BYTES {
            let what = format!("The files together have more than {TOTAL_LIMIT_BYTES} bytes.");
            self.limit(&path, &what);
        }
        let executable = kind == EntryKind::File && is_executable(metadata);
        self.entries.push(Entry {
            path,
            kind,
            bytes,
            executable,
        });
    }

    fn link(&mut self, dir: &Dir, name: &str, path: &str) -> EntryKind {
        // Read as it is written: a target that is no UTF-8 is told with marks in its place.
        let target = dir
            .read_link_contents(name)
            .map(|target| target.to_string_lossy().into_owned())
            .unwrap_or_default();
        let leads_out = leads_out(path, &target);
        let where_to = if leads_out {
            ", out of the skill's folder"
        } else {
            ""
        };
        self.problems.push(of_file(
            Severity::Error,
            ProblemCode::Link,
            path,
            format!(
                "It is a link to “{}”{where_to}.",
                crate::show::brief(&target, 200)
            ),
            "Put the file itself there: links are neither followed nor installed.",
        ));
        EntryKind::Link { target, leads_out }
    }

    fn special(&mut self, path: &str, _kind: FileType) -> EntryKind {
        self.problems.push(of_file(
            Severity::Error,
            ProblemCode::SpecialFile,
            path,
            "It is neither a file nor a folder but a pipe, a socket or a device.",
            "Remove it: it is never opened.",
        ));
        EntryKind::Special
    }

    fn fatal(&mut self, code: ProblemCode, path: &str, what: &str, remedy: &str) {
        self.problems
            .push(of_file(Severity::Fatal, code, path, what, remedy));
    }

    fn limit(&mut self, path: &str, what: &str) {
        self.full = true;
        let remedy = "Remove what the skill does not need.";
        self.fatal(ProblemCode::FolderLimit, path, what, remedy);
    }

    fn finish(mut self) -> Contents {
        self.entries.sort_by(|one, other| one.path.cmp(&other.path));
        let mut folded: Vec<(String, &str)> = self
            .entries
            .iter()
            .map(|entry| (file_name::folded(&entry.path), entry.path.as_str()))
            .collect();
        folded.sort();
        let twice = folded.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let problems: Vec<Problem> = twice
            .map(|pair| {
                of_file(
                    Severity::Error,
                    ProblemCode::FileName,
                    pair[1].1,
                    format!("Some systems take “{}” and this for one name.", pair[0].1),
                    "Rename one of them.",
                )
            })
            .collect();
        self.problems.extend(problems);
        Contents {
            entries: self.entries,
            problems: self.problems,
        }
    }
}

/// Whether a link at `path` with this target leads out of the folder, as far as its words say. A
/// link to a link inside is told where that stands.
fn leads_out(path: &str, target: &str) -> bool {
    if target.starts_with('/') || target.contains('\\') || target.contains(':') {
        return true;
    }
    let mut depth = path.split('/').count() as i64 - 1;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}
