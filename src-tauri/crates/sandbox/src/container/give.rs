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

/// Opens a workspace again that its own user can't enter any more; says whether that was so. Its
/// mode is the one thing of it that a command can change and nobody inside may be able to put right.
///
/// # Errors
/// When it is not there, or belongs to somebody else.
#[cfg(unix)]
pub fn mend(workspace: &Path) -> Result<bool, SandboxError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(workspace).map_err(SandboxError::file(workspace))?;
    let mode = metadata.permissions().mode();
    if mode & OWNERS == OWNERS {
        return Ok(false);
    }
    let open = std::fs::Permissions::from_mode(mode | OWNERS);
    std::fs::set_permissions(workspace, open).map_err(SandboxError::file(workspace))?;
    Ok(true)
}

/// Elsewhere a folder has no such mode.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn mend(_workspace: &Path) -> Result<bool, SandboxError> {
    Ok(false)
}

/// What the owner of a workspace may do there.
#[cfg(unix)]
const OWNERS: u32 = 0o700;

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
        AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fchmod, fchown, fstat, open,
        openat, statat,
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
        let (user, _) = new_owner();
        if owner == 0 {
            // What root runs without its rights, as servers are, still comes in, by its group.
            fchown(&folder, user, None)?;
            fchmod(&folder, Mode::RWXU | Mode::RWXG)?;
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn owner(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("it is there").uid()
    }

    /// Who is not root owns what they write, and hands nothing over.
    #[test]
    fn what_root_wrote_is_handed_over_and_nothing_behind_a_link() {
        let is_root = rustix::process::geteuid().is_root();
        let mine = rustix::process::geteuid().as_raw();
        let place = tempfile::tempdir().expect("a folder");
        let (workspace, outside) = (place.path().join("w"), place.path().join("outside"));
        fs::create_dir_all(workspace.join("a/b")).expect("ours");
        fs::create_dir(&outside).expect("ours");
        fs::write(workspace.join("a/b/f"), "x").expect("ours");
        fs::write(outside.join("f"), "x").expect("ours");
        symlink(&outside, workspace.join("out")).expect("ours");
        symlink(outside.join("f"), workspace.join("file")).expect("ours");
        hand_over(&workspace).expect("it is ours");
        let theirs = if is_root {
            super::super::COMMAND_USER.0
        } else {
            mine
        };
        for path in ["", "a", "a/b", "a/b/f", "out", "file"] {
            assert_eq!(owner(&workspace.join(path)), theirs, "{path}");
        }
        assert_eq!((owner(&outside), owner(&outside.join("f"))), (mine, mine));
    }

    #[test]
    fn a_folder_that_becomes_a_link_meanwhile_hands_nothing_over_behind_it() {
        let place = tempfile::tempdir().expect("a folder");
        let (workspace, outside) = (place.path().join("w"), place.path().join("outside"));
        fs::create_dir_all(workspace.join("d")).expect("ours");
        fs::create_dir(&outside).expect("ours");
        fs::write(outside.join("f"), "x").expect("ours");
        let (folder, aside) = (workspace.join("d"), workspace.join("aside"));
        let target = outside.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let swapping = std::thread::spawn(move || {
            while !stopping.load(Ordering::Relaxed) {
                fs::rename(&folder, &aside).expect("ours");
                symlink(&target, &folder).expect("ours");
                fs::remove_file(&folder).expect("ours");
                fs::rename(&aside, &folder).expect("ours");
            }
        });
        for _ in 0..300 {
            hand_over(&workspace).expect("it is ours");
        }
        stop.store(true, Ordering::Relaxed);
        swapping.join().expect("it ends");
        let mine = rustix::process::geteuid().as_raw();
        assert_eq!((owner(&outside), owner(&outside.join("f"))), (mine, mine));
    }
}
