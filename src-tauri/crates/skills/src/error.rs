//! Why something can't be done with a skill: each kind told apart, with what to do about it.

use std::io;
use std::path::PathBuf;

use crate::hash::{ContentHash, Difference};
use crate::problem::Problem;

/// Why something can't be done with a skill.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// The system refuses.
    #[error("{} can't be {what}: {cause}.", path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What was to be done, as a participle: `read`, `written`.
        what: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// There is no skill of this name.
    #[error("There is no skill “{name}”.{}", nearest.as_ref().map(|name| format!(" Did you mean “{name}”?")).unwrap_or_default())]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The one that comes nearest, if any comes near.
        nearest: Option<String>,
    },
    /// The skill can't be used.
    #[error("The skill “{name}” can't be used. {}", problem)]
    Unusable {
        /// Its name.
        name: String,
        /// The first reason.
        problem: Box<Problem>,
    },
    /// Nobody has reviewed the skill yet.
    #[error("The skill “{name}” has not been reviewed: a person has to approve it first.")]
    Unreviewed {
        /// Its name.
        name: String,
        /// What it is made of now.
        hash: ContentHash,
    },
    /// The skill is not what was approved.
    #[error(
        "The skill “{name}” has changed since it was approved ({difference}): a person has to look at it again."
    )]
    Changed {
        /// Its name.
        name: String,
        /// What it is made of now.
        hash: ContentHash,
        /// What changed.
        difference: Box<Difference>,
    },
    /// What is to be approved is not what the person saw.
    #[error("The skill “{name}” changed while it was looked at: review it again.")]
    NotWhatWasSeen {
        /// Its name.
        name: String,
        /// What the person saw.
        seen: ContentHash,
        /// What is there.
        found: ContentHash,
    },
    /// The skill has no such file.
    #[error(
        "The skill “{name}” has no file “{path}”. `SKILL.md` and the list of its files say what it has."
    )]
    NoFile {
        /// The skill's name.
        name: String,
        /// The path that was asked for.
        path: String,
    },
    /// The file is no text.
    #[error("“{path}” of the skill “{name}” is no text.")]
    NotText {
        /// The skill's name.
        name: String,
        /// The file.
        path: String,
    },
    /// A file or folder is larger than is read.
    #[error("{place} {what}; at most {limit} {unit} are taken.")]
    TooLarge {
        /// The file or folder.
        place: String,
        /// What it has too much of.
        what: String,
        /// How much is taken.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// What is to be read is no regular file: a link, a pipe, a socket, a device.
    #[error("{place} is no regular file, and is not opened.")]
    NotAFile {
        /// The file.
        place: String,
    },
    /// Neither a folder with a skill, nor a zip of one.
    #[error("{} is neither a skill's folder nor a zip of one: it has no SKILL.md.", path.display())]
    NotASkill {
        /// What was given.
        path: PathBuf,
    },
    /// There is more than one skill in it.
    #[error("{} holds {} skills ({}): install them one by one.", path.display(), names.len(), names.join(", "))]
    Several {
        /// What was given.
        path: PathBuf,
        /// The folders in it that hold one.
        names: Vec<String>,
    },
    /// The skill can't be installed as it is.
    #[error(
        "The skill “{name}” can't be installed: {} Nothing was changed.",
        told(problems)
    )]
    Refused {
        /// Its name.
        name: String,
        /// Every reason.
        problems: Vec<Problem>,
    },
    /// The zip is damaged, or made to do harm.
    #[error("{} is not unpacked: {fault}.", path.display())]
    Zip {
        /// The zip.
        path: PathBuf,
        /// What is wrong with it.
        fault: ZipFault,
    },
    /// A skill of this name is there already, and it was not said that it be replaced.
    #[error("A skill “{name}” is installed already. Update it, or remove it first.")]
    Exists {
        /// Its name.
        name: String,
    },
    /// The name is not allowed for a skill.
    #[error(
        "“{name}” is no name for a skill. Use 1 to 64 lower-case letters, digits and single hyphens inside: “{near}”."
    )]
    BadName {
        /// The name that was given.
        name: String,
        /// One that is allowed.
        near: String,
    },
    /// The description is missing or too long.
    #[error("A description has 1 to {limit} characters; this one has {length}.")]
    BadDescription {
        /// How many it has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The skill was not installed here, so it is not removed from here.
    #[error("The skill “{name}” is not installed here; it lies in {}. Remove its folder there.", folder.display())]
    NotInstalled {
        /// Its name.
        name: String,
        /// Where it lies.
        folder: PathBuf,
    },
    /// The record of approvals is damaged, or made by a newer version; it is not overwritten.
    #[error("{} can't be read: {cause}. Until it is mended or moved away, no skill counts as approved.", path.display())]
    Records {
        /// The record.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// Another process is changing the installed skills.
    #[error(
        "Another process is changing the installed skills; it was waited for {limit_s} s. Try again."
    )]
    Busy {
        /// How long it was waited for, in seconds.
        limit_s: u64,
    },
    /// There are more records than are kept.
    #[error("There are {limit} approved skills already. Remove some first.")]
    TooMany {
        /// How many are kept.
        limit: usize,
    },
}

/// What is wrong with a zip.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ZipFault {
    /// It can't be read.
    #[error("it is damaged ({0})")]
    Damaged(String),
    /// A part of it needs a password.
    #[error("“{0}” is encrypted")]
    Encrypted(String),
    /// A name leads out of the folder, or is absolute.
    #[error("“{0}” leads out of the folder that it is unpacked into")]
    LeadsOut(String),
    /// A name that not every system can keep.
    #[error("“{name}” {fault}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A link.
    #[error("“{0}” is a link")]
    Link(String),
    /// Neither file nor folder.
    #[error("“{0}” is neither a file nor a folder")]
    Special(String),
    /// The same name twice.
    #[error("it has two parts of one name")]
    Repeated,
    /// Two names that are the same on some system.
    #[error("“{0}” and another name differ only in case or in how letters are written")]
    Twice(String),
    /// A name is both a file and a folder.
    #[error("“{0}” is both a file and a folder")]
    FileAndFolder(String),
    /// Parts of it share their bytes.
    #[error("parts of it overlap")]
    Overlap,
    /// It has more parts than are taken.
    #[error("it has more than {limit} parts")]
    Parts {
        /// How many are taken.
        limit: usize,
    },
    /// It unpacks to more than is taken.
    #[error("it unpacks to more than {limit_bytes} bytes")]
    Bytes {
        /// How many are taken.
        limit_bytes: u64,
    },
    /// It grows more by unpacking than any honest file does.
    #[error("“{name}” grows more than {limit}-fold when it is unpacked")]
    Ratio {
        /// The file.
        name: String,
        /// The largest ratio that is taken.
        limit: u64,
    },
}

impl SkillError {
    /// The system's refusal.
    pub(crate) fn io(
        path: impl Into<PathBuf>,
        what: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { path, what, cause }
    }
}

fn told(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}
