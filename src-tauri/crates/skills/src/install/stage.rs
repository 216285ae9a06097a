//! The folder in which a skill is put together before it shows.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{UNFINISHED, refuse, zip};
use crate::check::LOWER_MANIFEST_FILE;
use crate::error::SkillError;
use crate::folder::{FILE_LIMIT_BYTES, Source};
use crate::load::write_new;
use crate::manifest::{MANIFEST_FILE, MANIFEST_LIMIT_BYTES};
use crate::records::{Origin, real};

/// The most folders of what was given that are looked into for a skill.
const INNER_LIMIT: usize = 256;
/// What running a script leaves behind: no part of what is installed.
pub(super) const NOT_COPIED: [&str; 2] = ["__pycache__", ".pytest_cache"];

/// A folder beside the installed skills that nobody looks into. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct Stage {
    folder: TempDir,
}

/// What was put together in a stage.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) origin: Origin,
    /// What its folder was named where it came from.
    pub(super) folder_name: String,
    /// What was there and is not copied, by path.
    pub(super) left_out: Vec<String>,
}

impl Stage {
    pub(super) fn new(shelf: &Path) -> Result<Self, SkillError> {
        let folder = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(shelf)
            .map_err(SkillError::io(shelf, "written"))?;
        Ok(Self { folder })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the skill is put together.
    pub(super) fn content(&self) -> PathBuf {
        self.folder.path().join("skill")
    }

    /// Copies or unpacks the skill at `source`.
    pub(super) fn fill(&self, source: &Path) -> Result<Staged, SkillError> {
        let metadata = fs::metadata(source).map_err(SkillError::io(source, "read"))?;
        if metadata.is_dir() {
            let found = skill_in(source, source)?;
            let origin = Origin::Folder { path: real(&found) };
            return self.copy(&found, origin);
        }
        if is_manifest(source) {
            return self.alone(source);
        }
        let unpacked = self.folder.path().join("unpacked");
        let hash = zip::unpack(source, &unpacked)?;
        let found = skill_in(&unpacked, source)?;
        let origin = Origin::Zip {
            path: real(source),
            hash,
        };
        let mut staged = self.copy(&found, origin)?;
        if found == unpacked {
            // A zip of the skill's files alone is named as the skill would be.
            let stem = source.file_stem().unwrap_or_default();
            staged.folder_name = stem.to_string_lossy().into_owned();
        }
        Ok(staged)
    }

    /// A manifest that was given by itself: what lies beside it is not meant.
    fn alone(&self, manifest: &Path) -> Result<Staged, SkillError> {
        let manifest = real(manifest);
        let (folder, name) =
            manifest
                .parent()
                .zip(manifest.file_name())
                .ok_or_else(|| SkillError::NotASkill {
                    path: manifest.clone(),
                })?;
        let source = Source::open(folder)?;
        let bytes = source.read(&name.to_string_lossy(), MANIFEST_LIMIT_BYTES)?;
        let place = self.content().join(MANIFEST_FILE);
        write_new(&place, &bytes, false)
            .and_then(|file| file.sync_all())
            .map_err(SkillError::io(&place, "written"))?;
        let folder_name = folder.file_name().unwrap_or_default();
        Ok(Staged {
            folder_name: folder_name.to_string_lossy().into_owned(),
            origin: Origin::Folder { path: manifest },
            left_out: Vec::new(),
        })
    }

    fn copy(&self, folder: &Path, origin: Origin) -> Result<Staged, SkillError> {
        let name = real(folder)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let source = Source::open(folder)?;
        let contents = source.contents()?;
        let (left_out, kept): (Vec<_>, Vec<_>) = contents
            .entries
            .iter()
            .partition(|entry| is_not_copied(&entry.path));
        refuse(
            &name,
            contents
                .problems
                .iter()
                .filter(|problem| !is_not_copied(&problem.file)),
        )?;
        let target = self.content();
        fs::create_dir(&target).map_err(SkillError::io(&target, "made"))?;
        for entry in kept {
            let bytes = source.read(&entry.path, FILE_LIMIT_BYTES)?;
            let place = target.join(&entry.path);
            write_new(&place, &bytes, entry.executable)
                .and_then(|file| file.sync_all())
                .map_err(SkillError::io(&place, "written"))?;
        }
        Ok(Staged {
            origin,
            folder_name: name,
            left_out: left_out
                .into_iter()
                .map(|entry| entry.path.clone())
                .collect(),
        })
    }
}

fn is_not_copied(path: &str) -> bool {
    path.split('/').any(|part| NOT_COPIED.contains(&part))
}

/// The folder at or in `folder` that is a skill. `shown` is what the person named.
fn skill_in(folder: &Path, shown: &Path) -> Result<PathBuf, SkillError> {
    if is_skill(folder) {
        return Ok(folder.to_path_buf());
    }
    let entries = fs::read_dir(folder).map_err(SkillError::io(shown, "listed"))?;
    let mut found: Vec<PathBuf> = entries
        .take(INNER_LIMIT)
        .flatten()
        // A link is not gone into: it could lead anywhere.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| is_skill(path))
        .collect();
    found.sort();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(SkillError::NotASkill {
            path: shown.to_path_buf(),
        }),
        _ => Err(SkillError::Several {
            path: shown.to_path_buf(),
            names: found
                .iter()
                .filter_map(|path| path.file_name())
                .map(|name| crate::show::brief(&name.to_string_lossy(), 80))
                .collect(),
        }),
    }
}

fn is_manifest(file: &Path) -> bool {
    [MANIFEST_FILE, LOWER_MANIFEST_FILE]
        .iter()
        .any(|name| file.file_name().is_some_and(|file| file == *name))
}

fn is_skill(folder: &Path) -> bool {
    [MANIFEST_FILE, LOWER_MANIFEST_FILE]
        .iter()
        .any(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}
