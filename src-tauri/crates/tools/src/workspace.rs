//! The run's workspace. Every path is taken beneath one open folder, so that no link, no `..`
//! and no rename in the middle leads out of it.

use std::io::{self, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};
use longrein_runtime::ports::ToolError;

use crate::error;
use crate::page::RENDERED;

/// The longest path that a tool takes.
pub(crate) const PATH_LIMIT_BYTES: usize = 1_024;
/// What an unfinished file is called until it is renamed; the same for every attempt, so that
/// what a crash left behind is replaced.
const UNFINISHED: &str = ".longrein-unfinished";

/// The workspace, opened for one call.
pub(crate) struct Workspace {
    root: Dir,
}

impl Workspace {
    pub(crate) fn open(path: &Path) -> Result<Self, ToolError> {
        Dir::open_ambient_dir(path, ambient_authority())
            .map(|root| Self { root })
            .map_err(|error| error::failed(format!("the workspace could not be opened: {error}")))
    }

    /// A folder of the workspace; `.` is the workspace itself.
    pub(crate) fn folder(&self, path: &str) -> Result<Dir, ToolError> {
        self.root
            .open_dir(path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotADirectory => {
                    error::conflict(format!("`{path}` is a file, not a folder"))
                }
                _ => error::of_path(path, &error),
            })
    }

    /// What stands at `path`, after the links that stay beneath the workspace.
    pub(crate) fn metadata(&self, path: &str) -> Result<Metadata, ToolError> {
        self.root
            .metadata(path)
            .map_err(|error| error::of_path(path, &error))
    }

    /// Opens a regular file for reading. It never waits for a writer, and nothing but a regular
    /// file is ever opened.
    pub(crate) fn open_file(&self, path: &str) -> Result<(File, u64), ToolError> {
        open_regular(&self.root, path)
    }

    /// Reads a whole regular file of at most `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ToolError> {
        let (mut file, bytes) = self.open_file(path)?;
        if bytes > limit {
            return Err(error::failed(format!(
                "`{path}` has {bytes} bytes, more than the {limit} that this tool takes"
            )));
        }
        let mut content = Vec::with_capacity(bytes as usize);
        // The file may grow while it is read.
        let read = io::Read::take(&mut file, limit + 1);
        io::copy(&mut { read }, &mut content).map_err(|error| error::of_path(path, &error))?;
        if content.len() as u64 > limit {
            return Err(error::conflict(format!("`{path}` grew while it was read")));
        }
        Ok(content)
    }

    /// Writes a whole file that is no published copy, or leaves what was there. Returns whether a
    /// file was replaced.
    pub(crate) fn write(&self, path: &str, content: &[u8]) -> Result<bool, ToolError> {
        own(path)?;
        self.replace(path, content, false)
    }

    /// Writes a published copy, like [`Workspace::write`]. `path` lies beneath [`RENDERED`].
    pub(crate) fn deliver(&self, path: &str, content: &[u8]) -> Result<bool, ToolError> {
        self.replace(path, content, true)
    }

    /// Folders are made, the bytes go to a file beside the old one, reach the disk, and take the
    /// name in one step.
    fn replace(&self, path: &str, content: &[u8], delivers: bool) -> Result<bool, ToolError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if name == "." {
            return Err(error::conflict(
                "the workspace itself is a folder, not a file",
            ));
        }
        self.make_folders(folder, path)?;
        // Where the links lead: one within the workspace may lead in among the copies, or away.
        let real = self.root.canonicalize(folder);
        let real = real.map_err(|error| error::of_path(path, &error))?;
        match (is_rendered(&real.to_string_lossy()), delivers) {
            (true, false) => return Err(published(path)),
            (false, true) => {
                return Err(error::not_permitted(format!(
                    "`{folder}` is a link to another folder, so no copy is published through it; remove the link"
                )));
            }
            _ => {}
        }
        let folder = self
            .root
            .open_dir(folder)
            .map_err(|error| error::of_path(path, &error))?;
        let before = match folder.symlink_metadata(name) {
            Ok(metadata) => Some(replaceable(path, metadata)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error::of_path(path, &error)),
        };
        let written = write_beside(&folder, content, before.as_ref())
            .and_then(|()| folder.rename(UNFINISHED, &folder, name))
            .and_then(|()| sync_folder(&folder));
        written.map_err(|error| {
            // Best effort: a leftover is replaced by the next write in this folder.
            let _ = folder.remove_file(UNFINISHED);
            error::of_path(path, &error)
        })?;
        Ok(before.is_some())
    }

    fn make_folders(&self, folder: &str, path: &str) -> Result<(), ToolError> {
        let Err(made) = self.root.create_dir_all(folder) else {
            return Ok(());
        };
        // Something that is no folder has the name: a file, or a link that leads out.
        let taken = io::Error::from(io::ErrorKind::NotADirectory);
        let error = match made.kind() {
            io::ErrorKind::AlreadyExists => self.root.metadata(folder).err().unwrap_or(taken),
            _ => made,
        };
        Err(error::of_path(path, &error))
    }
}

/// Opens a regular file beneath `folder`, never waiting for anything.
pub(crate) fn open_regular(folder: &Dir, path: &str) -> Result<(File, u64), ToolError> {
    let of_path = |error: io::Error| error::of_path(path, &error);
    // Asked before opening, because opening a device may already act on it.
    regular(path, folder.metadata(path).map_err(of_path)?.file_type())?;
    let mut options = OpenOptions::new();
    options.read(true);
    never_wait(&mut options);
    let file = folder.open_with(path, &options).map_err(of_path)?;
    // Asked again, because the name may have been given to something else in between.
    let metadata = file.metadata().map_err(of_path)?;
    regular(path, metadata.file_type())?;
    Ok((file, metadata.len()))
}

fn never_wait(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

fn regular(path: &str, kind: FileType) -> Result<(), ToolError> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(error::conflict(format!(
            "`{path}` is a folder, not a file; list_files shows what is in it"
        )))
    } else {
        Err(error::not_permitted(format!(
            "`{path}` is not a regular file (a pipe, a socket or a device), and is not opened"
        )))
    }
}

fn replaceable(path: &str, metadata: Metadata) -> Result<Metadata, ToolError> {
    if metadata.is_symlink() {
        return Err(error::not_permitted(format!(
            "`{path}` is a link; write to the file that it names instead"
        )));
    }
    regular(path, metadata.file_type())?;
    Ok(metadata)
}

fn write_beside(folder: &Dir, content: &[u8], before: Option<&Metadata>) -> io::Result<()> {
    match folder.remove_file(UNFINISHED) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = folder.open_with(UNFINISHED, &options)?;
    file.write_all(content)?;
    if let Some(before) = before {
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()
}

/// The new name has to be on disk, too.
fn sync_folder(folder: &Dir) -> io::Result<()> {
    // Opened anew: the handle that paths are taken beneath may be good for nothing else.
    if cfg!(unix) {
        folder.open(".")?.sync_all()
    } else {
        Ok(())
    }
}

/// Whether `path`, as [`beneath`] gives it, lies in the folder of the published copies. Some file
/// systems take other letters and other ends for the same name.
pub(crate) fn is_rendered(path: &str) -> bool {
    let first = path.split(['/', '\\']).next().unwrap_or(path);
    let first = first.trim_end_matches(['.', ' ']).to_uppercase();
    first == RENDERED.to_uppercase()
}

/// Refuses a path that only publishing may write to.
///
/// # Errors
/// `NotPermitted` when it lies in the folder of the published copies.
pub(crate) fn own(path: &str) -> Result<(), ToolError> {
    if is_rendered(path) {
        return Err(published(path));
    }
    Ok(())
}

fn published(path: &str) -> ToolError {
    error::not_permitted(format!(
        "`{path}` lies among the published copies, which publish_artifact writes; change the original and publish it again"
    ))
}

/// A path as a model wrote it, as names beneath the workspace joined by `/`; `.` is the workspace.
pub(crate) fn beneath(path: &str) -> Result<String, ToolError> {
    if path.len() > PATH_LIMIT_BYTES {
        return Err(error::invalid(format!(
            "the path is longer than {PATH_LIMIT_BYTES} bytes"
        )));
    }
    if path.contains(char::is_control) {
        return Err(error::invalid("the path contains a control character"));
    }
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with(['/', '\\', '~']) || drive {
        return Err(error::not_permitted(format!(
            "`{path}` is not beneath the workspace; write paths relative to the workspace, like `notes/plan.md`"
        )));
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return Err(error::leads_out(path)),
            name if cfg!(windows) && name.contains(['\\', ':']) => {
                return Err(error::leads_out(path));
            }
            name => names.push(name),
        }
    }
    Ok(if names.is_empty() {
        ".".to_owned()
    } else {
        names.join("/")
    })
}

#[cfg(test)]
mod tests {
    use longrein_protocol::ToolErrorClass;

    use super::*;

    #[test]
    fn a_path_is_taken_beneath_the_workspace() {
        assert_eq!(beneath("./notes//plan.md").unwrap(), "notes/plan.md");
        assert_eq!(beneath("").unwrap(), ".");
        assert_eq!(beneath("a...b/..c").unwrap(), "a...b/..c");
    }

    #[test]
    fn a_path_that_leads_out_is_refused_before_it_is_used() {
        for path in [
            "..",
            "a/../../b",
            "a/..",
            "/etc/passwd",
            "~/x",
            "\\\\host\\share",
            "C:\\x",
            "c:x",
        ] {
            assert_eq!(
                beneath(path).unwrap_err().class,
                ToolErrorClass::NotPermitted,
                "{path}"
            );
        }
        for path in ["a\0b", "a\nb", &"x".repeat(2_000)] {
            assert_eq!(
                beneath(path).unwrap_err().class,
                ToolErrorClass::InvalidArguments,
                "{path:?}"
            );
        }
    }
}
