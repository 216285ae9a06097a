//! Opening a file that a person names: never one that is waited for without end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Where the descriptors lie that this process was started with: what a shell puts in the place of
/// `<(command)`, and standard input.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
const STANDARD_INPUT: &str = "/dev/stdin";

/// Opens a regular file, or a descriptor that was handed to this process, whose other end is there
/// already. A pipe by its name may never get a writer, and a device may never end. The reader
/// still bounds what it reads: a file may grow, and a descriptor has no size.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidInput`] for what is no file.
pub fn open(path: &Path) -> io::Result<File> {
    if is_handed(path) {
        return File::open(path);
    }
    // Asked before opening, because opening a device may already act on it.
    regular(&std::fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    // Asked again, because the name may have been given to something else in between.
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Whether a path names a descriptor of this process.
fn is_handed(path: &Path) -> bool {
    let in_folder = |folder: &&str| path.parent() == Some(Path::new(folder));
    path == Path::new(STANDARD_INPUT) || DESCRIPTORS.iter().any(in_folder)
}

fn regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    let what = match metadata {
        file if file.is_file() => return Ok(()),
        folder if folder.is_dir() => "it is not a file but a folder",
        _ => "it is not a file but a pipe, a socket or a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn a_pipe_without_a_writer_and_a_device_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&pipe, &link, Path::new("/dev/zero"), folder.path()] {
            let error = open(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }

    #[test]
    fn a_file_and_a_descriptor_that_was_handed_over_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "words").unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"words").unwrap();
        drop(writer);
        let handed = format!("/dev/fd/{}", reader.as_raw_fd());
        for path in [file.as_path(), Path::new(&handed)] {
            let mut text = String::new();
            open(path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "words");
        }
    }
}
