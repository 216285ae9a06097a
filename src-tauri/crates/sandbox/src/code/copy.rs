//! A copy of a workspace: what it holds at a moment, without what leads out of it.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

/// How deep folders are entered.
const DEPTH_MAX: usize = 128;

/// What may still be copied.
pub struct Room {
    /// Bytes of files.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
}

/// Copies what a folder holds into another one, which is empty: files, folders, and links as links.
/// Pipes, sockets and devices are left out. Nothing is opened through a link.
///
/// # Errors
/// When there is more than there is room for, or the disk refuses.
pub fn copy(from: &Path, to: &Path, mut room: Room) -> io::Result<()> {
    copy_files((from, "."), (to, "."), &mut room, &[])
}

/// The same of a folder beneath a root, without what lies in it under one of these names, into one
/// beneath another root, which is made. Both are reached beneath their roots: a link on the way, or
/// one that is put there meanwhile, leads nowhere. Where there is no such folder, nothing is copied.
///
/// # Errors
/// As for [`copy`].
pub fn copy_files(
    (from, inner): (&Path, &str),
    (to, place): (&Path, &str),
    room: &mut Room,
    left_out: &[&str],
) -> io::Result<()> {
    let from = Dir::open_ambient_dir(from, ambient_authority())?;
    let from = match inner {
        "." => from,
        inner => match from.open_dir(inner) {
            Ok(folder) => folder,
            Err(_) => return Ok(()),
        },
    };
    let to = Dir::open_ambient_dir(to, ambient_authority())?;
    to.create_dir_all(place)?;
    folder(&from, &to.open_dir(place)?, DEPTH_MAX, room, left_out)
}

fn folder(
    from: &Dir,
    to: &Dir,
    depth: usize,
    room: &mut Room,
    left_out: &[&str],
) -> io::Result<()> {
    for entry in from.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if left_out.iter().any(|left| name == *left) {
            continue;
        }
        room.entries = room.entries.checked_sub(1).ok_or_else(too_much)?;
        // What is gone meanwhile is not there.
        let Ok(metadata) = from.symlink_metadata(&name) else {
            continue;
        };
        if metadata.is_symlink() {
            let target = from.read_link_contents(&name)?;
            to.symlink_contents(target, &name)?;
        } else if metadata.is_dir() {
            let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
            to.create_dir(&name)?;
            folder(
                &from.open_dir(&name)?,
                &to.open_dir(&name)?,
                depth,
                room,
                &[],
            )?;
        } else if metadata.is_file() {
            file(from, to, &name, room)?;
        }
    }
    Ok(())
}

fn file(from: &Dir, to: &Dir, name: &std::ffi::OsStr, room: &mut Room) -> io::Result<()> {
    // It may be a pipe by now: opening one must not wait.
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags as i32);
    let source = from.open_with(name, &options)?;
    let metadata = source.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let mut target = to.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    // One that grows meanwhile is copied as long as there is room.
    let mut bounded = io::Read::take(source, room.bytes.saturating_add(1));
    let copied = io::copy(&mut bounded, &mut target)?;
    room.bytes = room.bytes.checked_sub(copied).ok_or_else(too_much)?;
    target.set_permissions(metadata.permissions())
}

fn too_deep() -> io::Error {
    io::Error::other("its folders lie deeper than can be copied")
}

fn too_much() -> io::Error {
    io::Error::other("the workspace holds more than can be copied")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        bytes: 1 << 20,
        entries: 100,
    };

    #[test]
    fn files_and_links_are_copied_and_pipes_are_left_out() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(from.path().join("a")).unwrap();
        std::fs::write(from.path().join("a/b"), "text").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", from.path().join("out")).unwrap();
        let pipe = from.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        copy(from.path(), to.path(), ROOM).unwrap();
        assert_eq!(
            std::fs::read_to_string(to.path().join("a/b")).unwrap(),
            "text"
        );
        let link = std::fs::read_link(to.path().join("out")).unwrap();
        assert_eq!(link, Path::new("/etc/passwd"));
        assert!(!to.path().join("pipe").exists());
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(from.path().join("a"), vec![0; 100]).unwrap();
        let room = Room { bytes: 99, ..ROOM };
        assert!(copy(from.path(), to.path(), room).is_err());
    }
}
