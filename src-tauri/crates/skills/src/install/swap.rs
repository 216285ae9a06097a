//! Putting a folder in the place of another, in one step.

use std::fs;
use std::io;
use std::path::Path;

use crate::records::sync_folder;

/// Moves `new` to `target`. What was at `target` is at `new` afterwards.
///
/// # Errors
/// When the disk refuses; nothing moved then.
pub(super) fn put(new: &Path, target: &Path) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok() {
        exchange(new, target)?;
    } else {
        fs::rename(new, target)?;
    }
    for folder in [new.parent(), target.parent()].into_iter().flatten() {
        sync_folder(folder)?;
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(new: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // Some file systems can't: then it is two steps.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => in_two_steps(new, target),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(new: &Path, target: &Path) -> io::Result<()> {
    in_two_steps(new, target)
}

/// For a moment nothing is at `target`. A crash then leaves the skill out, and what it was in the
/// stage; no half of it ever shows.
fn in_two_steps(new: &Path, target: &Path) -> io::Result<()> {
    let aside = new.with_extension("before");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &Path, text: &str) {
        fs::create_dir(path).unwrap();
        fs::write(path.join("file"), text).unwrap();
    }

    fn check(put: impl Fn(&Path, &Path) -> io::Result<()>) {
        let all = tempfile::tempdir().unwrap();
        let (new, target) = (all.path().join("new"), all.path().join("target"));
        folder(&new, "new");
        folder(&target, "old");
        put(&new, &target).unwrap();
        assert_eq!(fs::read_to_string(target.join("file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(new.join("file")).unwrap(), "old");
    }

    #[test]
    fn one_folder_takes_the_place_of_another() {
        check(put);
        check(in_two_steps);
    }

    #[test]
    fn what_was_there_stays_when_the_new_one_is_not_there() {
        let all = tempfile::tempdir().unwrap();
        let target = all.path().join("target");
        folder(&target, "old");
        for put in [put, in_two_steps] {
            put(&all.path().join("missing"), &target).unwrap_err();
            assert_eq!(fs::read_to_string(target.join("file")).unwrap(), "old");
        }
    }
}
