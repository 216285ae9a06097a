//! The resident agent that this build carries.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::SandboxError;

/// A static Linux binary; empty where the build could not make one.
const BINARY: &[u8] = include_bytes!(env!("LONGREIN_RESIDENT"));
/// The architecture that it runs on, as Rust names it.
const ARCHITECTURE: &str = env!("LONGREIN_RESIDENT_ARCH");
/// Where it lies in every box.
pub(crate) const INSIDE: &str = "/longrein/resident";
/// How much of its hash is in its file's name.
const HASH_CHARS: usize = 16;

/// The names that engines give to an architecture.
fn is_architecture(name: &str) -> bool {
    match ARCHITECTURE {
        "x86_64" => ["x86_64", "amd64"].contains(&name),
        "aarch64" => ["aarch64", "arm64"].contains(&name),
        other => other == name,
    }
}

/// Whether this build's agent runs on an engine of that architecture.
pub(crate) fn check(architecture: &str) -> Result<(), SandboxError> {
    if BINARY.is_empty() || !is_architecture(architecture) {
        return Err(SandboxError::NoResident {
            wanted: architecture.to_owned(),
        });
    }
    Ok(())
}

/// Puts the agent into a folder, once for each version, and says where it is.
pub(crate) fn put(folder: &Path) -> Result<PathBuf, SandboxError> {
    if BINARY.is_empty() {
        return Err(SandboxError::NoResident {
            wanted: ARCHITECTURE.to_owned(),
        });
    }
    let hash = blake3::hash(BINARY).to_hex();
    put_file(
        folder,
        &format!("resident-{}", &hash[..HASH_CHARS]),
        BINARY,
        0o755,
    )
}

/// Puts a file that never changes under its name into a folder that others can read.
pub(crate) fn put_file(
    folder: &Path,
    name: &str,
    bytes: &[u8],
    mode: u32,
) -> Result<PathBuf, SandboxError> {
    let path = folder.join(name);
    // A running container may have it mounted: what is whole already is not touched.
    if fs::metadata(&path).is_ok_and(|file| file.len() == bytes.len() as u64) {
        return Ok(path);
    }
    let written = write(folder, &path, bytes, mode);
    written
        .map(|()| path.clone())
        .map_err(SandboxError::file(path))
}

fn write(folder: &Path, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let mut file = fs::File::create(&partial)?;
    file.write_all(bytes)?;
    set_mode(&partial, mode)?;
    drop(file);
    fs::rename(partial, path)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Only where a container runs does the mode matter, and its engine sets it there.
#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_of_another_architecture_is_refused() {
        assert!(check(ARCHITECTURE).is_ok());
        assert!(matches!(
            check("s390x"),
            Err(SandboxError::NoResident { .. })
        ));
    }
}
