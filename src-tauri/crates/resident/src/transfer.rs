//! Files in and out, by whoever starts this: it has no right that the starter has not.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::{Failure, Trying};

/// The largest file that is taken in or given out at a time.
const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// `put PATH MODE`: standard input becomes the file, in one step; folders are made.
pub(crate) fn put(arguments: &[OsString]) -> Result<(), Failure> {
    const USAGE: &str = "put PATH MODE";
    let [path, mode] = arguments else {
        return Err(Failure::Usage(USAGE));
    };
    let mode = mode
        .to_str()
        .and_then(|mode| u32::from_str_radix(mode, 8).ok());
    let mode = mode.ok_or(Failure::Usage(USAGE))?;
    let path = PathBuf::from(path);
    let folder = path.parent().ok_or(Failure::Usage(USAGE))?;
    std::fs::create_dir_all(folder).trying(|| format!("making {}", folder.display()))?;
    let mut partial = path.clone().into_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = written(&partial, mode).and_then(|()| std::fs::rename(&partial, &path));
    if written.is_err() {
        // The error below says what matters.
        let _ = std::fs::remove_file(&partial);
    }
    written.trying(|| format!("writing {}", path.display()))
}

fn written(path: &Path, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    let copied = io::copy(&mut io::stdin().lock().take(FILE_MAX_BYTES + 1), &mut file)?;
    if copied > FILE_MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // The mask of whoever started this has no say.
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// `get PATH OFFSET LENGTH`: that part of the file to standard output.
pub(crate) fn get(arguments: &[OsString]) -> Result<(), Failure> {
    const USAGE: &str = "get PATH OFFSET LENGTH";
    let [path, offset, length] = arguments else {
        return Err(Failure::Usage(USAGE));
    };
    let number = |text: &OsString| text.to_str().and_then(|text| text.parse::<u64>().ok());
    let (Some(offset), Some(length)) = (number(offset), number(length)) else {
        return Err(Failure::Usage(USAGE));
    };
    let path = PathBuf::from(path);
    let mut file = regular(&path).trying(|| format!("opening {}", path.display()))?;
    file.seek(SeekFrom::Start(offset))
        .trying(|| format!("reading {}", path.display()))?;
    let mut output = io::stdout().lock();
    io::copy(&mut file.take(length.min(FILE_MAX_BYTES)), &mut output)
        .and_then(|_| output.flush())
        .trying(|| format!("reading {}", path.display()))
}

/// Opens a regular file and nothing that could block for ever.
fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ));
    }
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}
