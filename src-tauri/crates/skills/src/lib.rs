//! Skills: folders with a `SKILL.md` (the open format of agentskills.io) that say how something is
//! done. They are read leniently and checked strictly, with every problem told; found in several
//! places with what shadows what; reviewed by a person before they count, and held to exactly what
//! was approved each time that they are used.
//!
//! - [`Skills`] is the whole: the catalogue, what a model is given, what a person approves.
//! - [`Shelf`] installs from a folder or a zip; [`scaffold`] makes a new one.
//! - [`check`] holds one folder to the whole specification.
//! - [`Watch`] says that something changed.
//!
//! A skill grants nothing. What it asks for in `allowed-tools` is shown to the person and decides
//! nothing.

mod bundled;
mod catalogue;
mod check;
mod error;
mod file_name;
mod folder;
mod give;
mod hash;
mod hidden;
mod install;
mod kept;
mod load;
mod manifest;
mod place;
mod problem;
mod records;
mod review;
mod scaffold;
mod show;
mod skill_name;
mod told;
mod watch;
mod yaml;

pub use bundled::names as bundled_names;
pub use catalogue::{Catalogue, Listed, PlaceFault, SKILLS_LIMIT, Standing, Use};
pub use check::{Checked, check};
pub use error::{SkillError, ZipFault};
pub use folder::{DEPTH_LIMIT, ENTRIES_LIMIT, FILE_LIMIT_BYTES, LEFT_OUT, TOTAL_LIMIT_BYTES};
pub use give::{LoadSkill, index, missing, seen};
pub use hash::{ChangedFile, ContentHash, Difference, FileMark, Fingerprint};
pub use hidden::HiddenKind;
pub use install::{Approval, IfThere, Offer, PARTS_LIMIT, RATIO_LIMIT, Shelf, ZIP_LIMIT_BYTES};
pub use kept::FileChange;
pub use load::{FileInfo, Loaded, SkillFile, Skills};
pub use manifest::{
    BODY_LINES_ADVISED, COMPATIBILITY_LIMIT, DESCRIPTION_LIMIT, MANIFEST_FILE,
    MANIFEST_LIMIT_BYTES, Manifest, Parsed, parse,
};
pub use place::{Place, PlaceKind, Places};
pub use problem::{Problem, ProblemCode, Severity};
pub use records::{Origin, RECORDS_FILE, RECORDS_LIMIT, Record, Records};
pub use review::{
    Command, FileKind, Flag, FlagKind, Licence, Reach, ReachKind, Review, ReviewedFile,
};
pub use scaffold::scaffold;
pub use skill_name::{NAME_LIMIT, is_valid as is_valid_name};
pub use told::{ReviewFact, ReviewLine, ReviewPart, ToldReview, told, told_briefly};
pub use watch::{Seen, Watch};
