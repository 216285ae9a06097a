//! Where the app is root, what it puts into a workspace belongs to root, and commands could not
//! change it. So it is handed over to whom commands run as.

use std::path::Path;

use crate::SandboxError;

/// Hands what belongs to root in a workspace over to the user of commands: links themselves, never
/// what they point to, and nothing that commands could slip in between. Does nothing where the
/// workspace belongs to anybody else.
///
/// # Errors
/// When a file's owner can't be changed.
#[cfg(target_os = "linux")]
pub fn hand_over(workspace: &Path) -> Result<(), SandboxError> {
    linux::hand_over(workspace).map_err(|error| SandboxError::file(workspace)(error.into()))
}

/// Only on Linux do owners reach into containers.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn hand_over(_workspace: &Path) -> Result<(), SandboxError> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{
        AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fchown, fstat, open, openat,
        statat,
    };
    use rustix::io::{Errno, Result};

    use crate::container::create::COMMAND_USER;

    /// How deep folders are entered.
    const DEPTH_MAX: usize = 128;
    /// The most entries that are handed over at a time.
    const ENTRIES_MAX: usize = 1_000_000;

    pub(super) fn hand_over(workspace: &Path) -> Result<()> {
        let folder = open(workspace, flags(), Mode::empty())?;
        let owner = fstat(&folder)?.st_uid;
        if !rustix::process::geteuid().is_root() || ![0, COMMAND_USER.0].contains(&owner) {
            return Ok(());
        }
        let (user, group) = new_owner();
        if owner == 0 {
            fchown(&folder, user, group)?;
        }
        let mut left = ENTRIES_MAX;
        inside(&folder, DEPTH_MAX, &mut left)
    }

    /// Folders are opened as such and never through a link.
    fn flags() -> OFlags {
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }

    fn new_owner() -> (Option<Uid>, Option<Gid>) {
        (
            Some(Uid::from_raw(COMMAND_USER.0)),
            Some(Gid::from_raw(COMMAND_USER.1)),
        )
    }

    fn inside(folder: &OwnedFd, depth: usize, left: &mut usize) -> Result<()> {
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_bytes() == b"." || name.to_bytes() == b".." {
                continue;
            }
            *left = left.checked_sub(1).ok_or(Errno::NOSPC)?;
            match one(folder, name, depth, left) {
                // Gone meanwhile, or replaced by something else.
                Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn one(folder: &OwnedFd, name: &std::ffi::CStr, depth: usize, left: &mut usize) -> Result<()> {
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let (user, group) = new_owner();
        if found.st_uid == 0 {
            chownat(folder, name, user, group, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory && depth > 0 {
            let below = openat(folder, name, flags(), Mode::empty())?;
            inside(&below, depth - 1, left)?;
        }
        Ok(())
    }
}
