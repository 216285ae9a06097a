//! A skill's files in the workspace, where its scripts run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::load::SkillFile;

/// The folder of the workspace that skills are laid in.
pub(super) const FOLDER: &str = "skills";

/// Lays the files beneath `skills/NAME` of the workspace. One that is there is replaced; what else
/// lies there stays. No link leads out.
///
/// # Errors
/// When the disk refuses, or something else than a folder is in the way.
pub(super) fn lay(workspace: &Path, name: &str, files: &[SkillFile]) -> io::Result<()> {
    let root = Dir::open_ambient_dir(workspace, ambient_authority())?;
    let folder = Path::new(FOLDER).join(name);
    for file in files {
        let place: PathBuf = folder.join(&file.path);
        if let Some(above) = place.parent() {
            root.create_dir_all(above)?;
        }
        put(&root, &place, file)?;
    }
    Ok(())
}

fn put(root: &Dir, place: &Path, file: &SkillFile) -> io::Result<()> {
    // A new file, never an old one opened: that may be a link or a pipe, or have a second name.
    match root.remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.mode(if file.executable { 0o755 } else { 0o644 });
    }
    let mut written = root.open_with(place, &options)?;
    written.write_all(&file.bytes)
}
