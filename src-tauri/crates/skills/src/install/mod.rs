//! Installing: a skill is copied or unpacked into a folder that nobody looks into, reviewed there,
//! and moved to its place in one step once a person has approved exactly that.

mod stage;
mod swap;
mod zip;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::check::Examined;
use crate::error::SkillError;
use crate::folder::Source;
use crate::hash::{ContentHash, Fingerprint};
use crate::kept;
use crate::problem::{Problem, ProblemCode, Severity};
use crate::records::{self, Origin, Record, Records};
use crate::review::Review;

pub use self::zip::{PARTS_LIMIT, RATIO_LIMIT, ZIP_LIMIT_BYTES};

/// What begins with this is being put in or taken out, and is no skill.
const UNFINISHED: &str = ".unfinished-";
/// The file that is locked while the installed skills change.
const LOCK_FILE: &str = ".lock";
/// How long another process is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How long before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(25);
/// What is begun and older than this was left behind by a crash.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);
/// The most that is looked through for what was left behind.
const SWEEP_LIMIT: usize = 4_096;

/// A person's yes to a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Approval {
    /// What the person saw: the hash in the review.
    pub seen: ContentHash,
    /// Who they are.
    pub by: String,
    /// When, in milliseconds since the Unix epoch.
    pub at: i64,
}

/// What happens when a skill of the same name is installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfThere {
    /// It is an error.
    Refuse,
    /// The new one takes its place.
    Replace,
}

/// A skill that is ready to be installed, and not yet there. Dropped, it is gone.
#[derive(Debug)]
pub struct Offer {
    name: String,
    stage: stage::Stage,
    origin: Origin,
    review: Review,
}

impl Offer {
    /// The name under which it would be installed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the person is shown.
    pub fn review(&self) -> &Review {
        &self.review
    }
}

/// The folder of installed skills.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

/// Held while the installed skills change.
#[derive(Debug)]
pub(crate) struct Alone {
    // The lock ends with the file.
    _file: File,
}

impl Shelf {
    /// Opens the folder of installed skills; makes it where it is not there, for its owner only.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn open(folder: &Path) -> Result<Self, SkillError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder
            .create(folder)
            .map_err(SkillError::io(folder, "made"))?;
        Ok(Self {
            folder: records::real(folder),
        })
    }

    /// Copies or unpacks the skill at `source`, a folder or a zip, and says what it is. Nothing
    /// shows yet.
    ///
    /// # Errors
    /// When it is no skill; when it has several; when it can't be used or installed as it is; when
    /// it is larger than is taken.
    pub fn prepare(&self, source: &Path) -> Result<Offer, SkillError> {
        self.sweep();
        let stage = stage::Stage::new(&self.folder)?;
        let staged = stage.fill(source)?;
        let source_now = Source::open(&stage.content())?;
        let mut examined = Examined::of(&source_now, &staged.folder_name)?;
        let name = examined.parsed.name.clone();
        refuse(&name, examined.parsed.problems.iter())?;
        // It gets its own name as its folder's, so that difference is mended by installing.
        let problems = &mut examined.parsed.problems;
        problems.retain(|problem| problem.code != ProblemCode::NameMismatch);
        let fingerprint = Fingerprint::of(&source_now, &examined.contents)?;
        let before = self.installed(&name)?;
        let difference = before.as_ref().map(|before| fingerprint.difference(before));
        let changes =
            before.map(|before| kept::changes(&self.folder, &source_now, &before, &fingerprint));
        let mut review = Review::of(&source_now, &examined, fingerprint, difference)?;
        review.changes = changes.unwrap_or_default();
        review.left_out = staged.left_out;
        Ok(Offer {
            name,
            stage,
            origin: staged.origin,
            review,
        })
    }

    /// Puts a prepared skill in its place, in one step, and takes the approval down.
    ///
    /// # Errors
    /// When it is not what the person saw; when one of its name is there and is not to be
    /// replaced; when the disk refuses. What was there before is still there then.
    pub fn install(
        &self,
        offer: Offer,
        approval: &Approval,
        if_there: IfThere,
    ) -> Result<Record, SkillError> {
        let _alone = self.alone()?;
        let source = Source::open(&offer.stage.content())?;
        let contents = source.contents()?;
        let fingerprint = Fingerprint::of(&source, &contents)?;
        if fingerprint.hash != approval.seen {
            return Err(SkillError::NotWhatWasSeen {
                name: offer.name,
                seen: approval.seen.clone(),
                found: fingerprint.hash,
            });
        }
        let target = self.folder.join(&offer.name);
        let is_there = fs::symlink_metadata(&target).is_ok();
        if is_there && if_there == IfThere::Refuse {
            return Err(SkillError::Exists { name: offer.name });
        }
        let mut records = Records::read(&self.folder)?;
        let record = Record {
            name: offer.name.clone(),
            folder: target.clone(),
            origin: offer.origin.clone(),
            approved_by: approval.by.clone(),
            approved_at: approval.at,
            fingerprint,
        };
        kept::keep(&self.folder, &source, &record.fingerprint);
        records.set(record.clone())?;
        // Taken down first: until the folder follows, what lies there counts as changed and asks.
        records.write(&self.folder)?;
        let moved = swap::put(&offer.stage.content(), &target)
            .map_err(SkillError::io(target.clone(), "put in its place"));
        if let Err(error) = moved {
            records.forget(&target);
            records.write(&self.folder)?;
            return Err(error);
        }
        kept::sweep(&self.folder, &records);
        // What was replaced lies in the stage now, and goes with it.
        Ok(record)
    }

    /// Takes an installed skill out, in one step, and every approval of what lay there.
    pub(crate) fn remove(&self, target: &Path) -> Result<PathBuf, SkillError> {
        let _alone = self.alone()?;
        let mut records = Records::read(&self.folder)?;
        // Asked while the link still leads there.
        let folder = records::real(target);
        let is_link = fs::symlink_metadata(target)
            .map_err(SkillError::io(target, "removed"))?
            .is_symlink();
        if is_link {
            // Only the link is ours; what it leads to is not.
            fs::remove_file(target).map_err(SkillError::io(target, "removed"))?;
        } else {
            let stage = stage::Stage::new(&self.folder)?;
            let away = stage.path().join("removed");
            fs::rename(target, &away).map_err(SkillError::io(target, "removed"))?;
        }
        let forgotten = [folder.as_path(), target].map(|folder| records.forget(folder));
        if forgotten.iter().any(Option::is_some) {
            records.write(&self.folder)?;
            kept::sweep(&self.folder, &records);
        }
        Ok(target.to_path_buf())
    }

    /// Waits until nobody else changes the installed skills.
    ///
    /// # Errors
    /// When that takes too long.
    pub(crate) fn alone(&self) -> Result<Alone, SkillError> {
        let path = self.folder.join(LOCK_FILE);
        let of_lock = || SkillError::io(path.clone(), "locked");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(of_lock())?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Alone { _file: file }),
                Err(fs::TryLockError::Error(error)) => return Err(of_lock()(error)),
                Err(fs::TryLockError::WouldBlock) if begun.elapsed() >= LOCK_WAIT => {
                    return Err(SkillError::Busy {
                        limit_s: LOCK_WAIT.as_secs(),
                    });
                }
                Err(fs::TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            }
        }
    }

    /// What is installed under this name, whatever was approved of it.
    fn installed(&self, name: &str) -> Result<Option<Fingerprint>, SkillError> {
        let folder = self.folder.join(name);
        if fs::metadata(&folder).is_err() {
            return Ok(None);
        }
        let source = Source::open(&folder)?;
        let contents = source.contents()?;
        if crate::problem::fatal(&contents.problems).is_some() {
            return Ok(None);
        }
        Fingerprint::of(&source, &contents).map(Some)
    }

    /// Removes what a crash left behind. What can't be removed is tried again the next time.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.take(SWEEP_LIMIT).flatten() {
            let name = entry.file_name();
            let is_ours = name.to_string_lossy().starts_with(UNFINISHED);
            let age = || {
                entry
                    .metadata()?
                    .modified()?
                    .elapsed()
                    .map_err(io::Error::other)
            };
            if is_ours && age().is_ok_and(|age| age > LEFT_BEHIND) {
                let removed = fs::remove_dir_all(entry.path());
                if let Err(error) = removed {
                    tracing::debug!(%error, path = %entry.path().display(), "what a crash left behind stays");
                }
            }
        }
    }
}

/// What can't be installed: what can't be used, and what would not be kept as it is.
fn refuse<'p>(name: &str, problems: impl Iterator<Item = &'p Problem>) -> Result<(), SkillError> {
    let keeps_out = |problem: &&Problem| {
        let is_unkept = matches!(
            problem.code,
            ProblemCode::Link | ProblemCode::SpecialFile | ProblemCode::FileName
        );
        problem.severity == Severity::Fatal || (problem.severity == Severity::Error && is_unkept)
    };
    let problems: Vec<Problem> = problems.filter(keeps_out).cloned().collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(SkillError::Refused {
        name: crate::show::brief(name, 80),
        problems,
    })
}
