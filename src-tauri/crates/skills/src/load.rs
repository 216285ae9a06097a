//! What a model is given of a skill: its instructions and the list of its files, then a file at a
//! time. Each is held against what a person approved, at the moment it is read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bundled;
use crate::catalogue::{Catalogue, Listed, Standing, standing};
use crate::check::Examined;
use crate::error::SkillError;
use crate::folder::{FILE_LIMIT_BYTES, Source};
use crate::hash::{ContentHash, Difference, Fingerprint, hash_of};
use crate::install::Approval;
use crate::kept;
use crate::place::{PlaceKind, Places};
use crate::problem::fatal;
use crate::records::{Origin, Record, Records};
use crate::review::Review;

/// One file of a skill, as a model is told of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FileInfo {
    /// Relative to the skill's folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u32,
    /// Whether it may be run as it is.
    pub executable: bool,
}

/// A skill as a model is given it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The instructions.
    pub body: String,
    /// Its other files, by path. What can't be opened is not among them.
    pub files: Vec<FileInfo>,
    /// What it is made of.
    pub hash: ContentHash,
    /// Where it lies.
    pub place: PlaceKind,
}

/// A file of a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillFile {
    /// Its path.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it may be run as it is.
    pub executable: bool,
    /// What the skill is made of that it belongs to.
    pub skill: ContentHash,
}

impl SkillFile {
    /// The file as text.
    ///
    /// # Errors
    /// When it is no UTF-8.
    pub fn text(&self, name: &str) -> Result<&str, SkillError> {
        std::str::from_utf8(&self.bytes).map_err(|_| SkillError::NotText {
            name: name.to_owned(),
            path: self.path.clone(),
        })
    }
}

/// The skills of all places, and what may be done with them.
#[derive(Clone, Debug)]
pub struct Skills {
    places: Places,
}

impl Skills {
    /// The skills of these places. Nothing is read yet.
    pub fn new(places: Places) -> Self {
        Self { places }
    }

    /// Where they are looked for.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Reads every place anew.
    pub fn catalogue(&self) -> Catalogue {
        Catalogue::read(&self.places)
    }

    /// The instructions of the skill that `name` means, and its list of files.
    ///
    /// # Errors
    /// When there is none, when it can't be used, when nobody approved it, and when it is not what
    /// was approved.
    pub fn load(&self, name: &str) -> Result<Loaded, SkillError> {
        let open = self.open(name)?;
        let now = open.fingerprint()?;
        open.demand_trust(&now)?;
        open.loaded(&now)
    }

    /// As `load`, with every file beside the instructions, each exactly as it was approved: for a
    /// workspace, where its scripts run.
    ///
    /// # Errors
    /// As `load`.
    pub fn load_whole(&self, name: &str) -> Result<(Loaded, Vec<SkillFile>), SkillError> {
        let open = self.open(name)?;
        let now = open.fingerprint()?;
        open.demand_trust(&now)?;
        let loaded = open.loaded(&now)?;
        let files = loaded.files.iter().map(|file| {
            Ok(SkillFile {
                path: file.path.clone(),
                bytes: open.file(&now, &file.path)?,
                executable: file.executable,
                skill: now.hash.clone(),
            })
        });
        let files = files.collect::<Result<_, SkillError>>()?;
        Ok((loaded, files))
    }

    /// One file of the skill that `name` means.
    ///
    /// # Errors
    /// As `load`; and when it has no such file.
    pub fn read(&self, name: &str, path: &str) -> Result<SkillFile, SkillError> {
        let open = self.open(name)?;
        let now = open.fingerprint()?;
        open.demand_trust(&now)?;
        let path = path.trim_start_matches("./");
        let bytes = open.file(&now, path)?;
        Ok(SkillFile {
            executable: now.files.get(path).is_some_and(|mark| mark.executable),
            path: path.to_owned(),
            bytes,
            skill: now.hash,
        })
    }

    /// Writes the skill that `name` means into the folder `target`, which it makes: for a sandbox,
    /// where its scripts run. Every file is held against what was approved.
    ///
    /// # Errors
    /// As `load`; when `target` is there already; when the disk refuses.
    pub fn copy_to(&self, name: &str, target: &Path) -> Result<ContentHash, SkillError> {
        let open = self.open(name)?;
        let now = open.fingerprint()?;
        open.demand_trust(&now)?;
        fs::create_dir(target).map_err(SkillError::io(target, "made"))?;
        if let Err(error) = open.copy(&now, target) {
            // Half a skill would be worse than none. That it can't be removed is no news then.
            let _ = fs::remove_dir_all(target);
            return Err(error);
        }
        Ok(now.hash)
    }

    /// What a person is shown of the skill that `name` means before they approve it.
    ///
    /// # Errors
    /// When there is none, or it can't be read.
    pub fn review(&self, name: &str) -> Result<Review, SkillError> {
        self.open(name)?.review()
    }

    /// As `review`, of the skill in this folder of the catalogue, whether its name means it or not.
    ///
    /// # Errors
    /// When no place has it, or it can't be read.
    pub fn review_at(&self, folder: &Path) -> Result<Review, SkillError> {
        self.open_at(folder)?.review()
    }

    /// Takes down that a person approved the skill that `name` means, where it lies. For one that
    /// changed, and for one that was found in a project.
    ///
    /// # Errors
    /// When there is none; when it is not what the person saw; when the record can't be written.
    pub fn approve(&self, name: &str, approval: &Approval) -> Result<Record, SkillError> {
        self.take_down(approval, || self.open(name))
    }

    /// As `approve`, for the skill in this folder of the catalogue, whether its name means it or
    /// not: once it is accepted, it may stand before others.
    ///
    /// # Errors
    /// As `approve`.
    pub fn approve_at(&self, folder: &Path, approval: &Approval) -> Result<Record, SkillError> {
        self.take_down(approval, || self.open_at(folder))
    }

    fn take_down(
        &self,
        approval: &Approval,
        open: impl FnOnce() -> Result<Opened, SkillError>,
    ) -> Result<Record, SkillError> {
        let shelf = crate::Shelf::open(&self.places.shelf)?;
        let _alone = shelf.alone()?;
        let open = open()?;
        let now = open.fingerprint()?;
        if now.hash != approval.seen {
            return Err(SkillError::NotWhatWasSeen {
                name: open.listed.name,
                seen: approval.seen.clone(),
                found: now.hash,
            });
        }
        let mut records = Records::read(&self.places.shelf)?;
        let origin = records
            .of_folder(&open.listed.folder)
            .map_or(Origin::InPlace, |record| record.origin.clone());
        let record = Record {
            name: open.listed.name,
            folder: open.listed.folder,
            origin,
            approved_by: approval.by.clone(),
            approved_at: approval.at,
            fingerprint: now,
        };
        kept::keep(&self.places.shelf, &open.source, &record.fingerprint);
        records.set(record.clone())?;
        records.write(&self.places.shelf)?;
        kept::sweep(&self.places.shelf, &records);
        Ok(record)
    }

    /// Removes an installed skill, and every approval of what lay there.
    ///
    /// # Errors
    /// When there is none; when it is not installed here; when the disk refuses.
    pub fn remove(&self, name: &str) -> Result<PathBuf, SkillError> {
        let catalogue = self.catalogue();
        let of_name = || catalogue.skills.iter().filter(|skill| skill.name == name);
        let installed = of_name().find(|skill| skill.place == PlaceKind::Installed);
        match (installed, of_name().next()) {
            (Some(skill), _) => {
                let found = skill.linked_from.as_ref().unwrap_or(&skill.folder);
                crate::Shelf::open(&self.places.shelf)?.remove(found)
            }
            (None, Some(elsewhere)) => Err(SkillError::NotInstalled {
                name: name.to_owned(),
                folder: elsewhere.folder.clone(),
            }),
            (None, None) => {
                Err(catalogue
                    .find(name)
                    .err()
                    .unwrap_or_else(|| SkillError::Unknown {
                        name: name.to_owned(),
                        nearest: None,
                    }))
            }
        }
    }

    fn open(&self, name: &str) -> Result<Opened, SkillError> {
        self.opened(self.catalogue().find(name)?.clone())
    }

    fn open_at(&self, folder: &Path) -> Result<Opened, SkillError> {
        let skills = self.catalogue().skills.into_iter();
        let mut here = skills.filter(|skill| skill.folder == folder);
        let listed = here.next().ok_or_else(|| SkillError::NotASkill {
            path: folder.to_path_buf(),
        })?;
        self.opened(listed)
    }

    fn opened(&self, listed: Listed) -> Result<Opened, SkillError> {
        let (source, folder_name) = if listed.place == PlaceKind::Bundled {
            let skill = bundled::find(&listed.name).ok_or_else(|| SkillError::Unknown {
                name: listed.name.clone(),
                nearest: None,
            })?;
            (Source::Bundled(skill), listed.name.clone())
        } else {
            let found = listed.linked_from.as_ref().unwrap_or(&listed.folder);
            let name = found.file_name().unwrap_or_default();
            (
                Source::open(&listed.folder)?,
                name.to_string_lossy().into_owned(),
            )
        };
        let examined = Examined::of(&source, &folder_name)?;
        let opened = Opened {
            listed,
            source,
            examined,
            shelf: self.places.shelf.clone(),
        };
        match fatal(&opened.examined.parsed.problems) {
            Some(_) => Err(opened.unusable()),
            None => Ok(opened),
        }
    }
}

/// A skill that was found, read at this moment.
struct Opened {
    listed: Listed,
    source: Source,
    examined: Examined,
    shelf: PathBuf,
}

impl Opened {
    fn fingerprint(&self) -> Result<Fingerprint, SkillError> {
        Fingerprint::of(&self.source, &self.examined.contents)
    }

    fn standing(&self, now: &Fingerprint) -> Result<Standing, SkillError> {
        if self.listed.place == PlaceKind::Bundled {
            return Ok(Standing::Bundled);
        }
        let records = Records::read(&self.shelf)?;
        Ok(standing(&self.listed.folder, now, &records))
    }

    fn review(&self) -> Result<Review, SkillError> {
        let now = self.fingerprint()?;
        let Standing::Changed { difference } = self.standing(&now)? else {
            return Review::of(&self.source, &self.examined, now, None);
        };
        let records = Records::read(&self.shelf)?;
        let approved = records.of_folder(&self.listed.folder);
        let changes = approved
            .map(|record| kept::changes(&self.shelf, &self.source, &record.fingerprint, &now));
        let mut review = Review::of(&self.source, &self.examined, now, Some(difference))?;
        review.changes = changes.unwrap_or_default();
        Ok(review)
    }

    fn loaded(&self, now: &Fingerprint) -> Result<Loaded, SkillError> {
        let Some(manifest) = self.examined.parsed.manifest.clone() else {
            return Err(self.unusable());
        };
        // What was parsed has to be what was hashed: the file may have changed in between.
        let file = now.files.get(&self.examined.manifest_file);
        if file.is_none_or(|mark| mark.hash != hash_of(&self.examined.manifest_bytes)) {
            return Err(SkillError::Changed {
                name: self.listed.name.clone(),
                hash: now.hash.clone(),
                difference: Box::new(Difference::default()),
            });
        }
        let files = now
            .files
            .iter()
            .filter(|(path, mark)| !mark.closed && **path != self.examined.manifest_file);
        Ok(Loaded {
            name: self.listed.name.clone(),
            description: manifest.description,
            body: self.examined.parsed.body.clone(),
            files: files
                .map(|(path, mark)| FileInfo {
                    path: path.clone(),
                    bytes: mark.bytes,
                    executable: mark.executable,
                })
                .collect(),
            hash: now.hash.clone(),
            place: self.listed.place,
        })
    }

    fn demand_trust(&self, now: &Fingerprint) -> Result<(), SkillError> {
        let (name, hash) = (self.listed.name.clone(), now.hash.clone());
        match self.standing(now)? {
            Standing::Bundled | Standing::Approved { .. } => Ok(()),
            Standing::Changed { difference } => Err(SkillError::Changed {
                name,
                hash,
                difference: Box::new(difference),
            }),
            Standing::Unreviewed | Standing::Unknown => Err(SkillError::Unreviewed { name, hash }),
        }
    }

    fn unusable(&self) -> SkillError {
        let problems = &self.examined.parsed.problems;
        match fatal(problems).or(problems.first()) {
            Some(problem) => SkillError::Unusable {
                name: self.listed.name.clone(),
                problem: Box::new(problem.clone()),
            },
            None => SkillError::Unknown {
                name: self.listed.name.clone(),
                nearest: None,
            },
        }
    }

    fn copy(&self, now: &Fingerprint, target: &Path) -> Result<(), SkillError> {
        for (path, mark) in now.files.iter().filter(|(_, mark)| !mark.closed) {
            let bytes = self.file(now, path)?;
            let place = target.join(path);
            write_new(&place, &bytes, mark.executable)
                .map_err(SkillError::io(place.clone(), "written"))?;
        }
        Ok(())
    }

    /// The bytes of a file, exactly as they were hashed.
    fn file(&self, now: &Fingerprint, path: &str) -> Result<Vec<u8>, SkillError> {
        let mark = now.files.get(path).filter(|mark| !mark.closed);
        let Some(mark) = mark else {
            return Err(SkillError::NoFile {
                name: self.listed.name.clone(),
                path: crate::show::brief(path, 200),
            });
        };
        let bytes = self.source.read(path, FILE_LIMIT_BYTES)?;
        if hash_of(&bytes) != mark.hash {
            return Err(SkillError::Changed {
                name: self.listed.name.clone(),
                hash: now.hash.clone(),
                difference: Box::new(Difference::default()),
            });
        }
        Ok(bytes)
    }
}

/// Writes a file that is not there yet, with the folders above it.
pub(crate) fn write_new(path: &Path, bytes: &[u8], executable: bool) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if executable { 0o755 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = executable;
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}
