//! What a person is shown before a skill counts: every file, what it would run, where it reaches,
//! and what is hidden in it. Facts with their places, no verdicts: nothing here says that a skill
//! is safe, and nothing here decides.

mod commands;
mod facts;
mod kind;
mod orders;
mod reach;

use serde::{Deserialize, Serialize};

use crate::check::Examined;
use crate::error::SkillError;
use crate::folder::{EntryKind, FILE_LIMIT_BYTES, Source};
use crate::hash::{ContentHash, Difference, Fingerprint, size};
use crate::hidden::HiddenKind;
use crate::kept::FileChange;
use crate::problem::Problem;

use facts::Facts;

/// The largest text file that is looked through, in bytes. A larger one is said not to have been.
const SCAN_LIMIT_BYTES: u64 = 1024 * 1024;

/// What a person is shown of a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Review {
    /// Its name.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// What it is made of: an approval is of exactly this.
    pub hash: ContentHash,
    /// Under which licence it is.
    pub licence: Licence,
    /// What it says it needs of the machine.
    pub compatibility: Option<String>,
    /// The tools that it asks for. It is given none by this.
    pub allowed_tools: Vec<String>,
    /// Every file, by path.
    pub files: Vec<ReviewedFile>,
    /// The size of all files, in bytes.
    pub total_bytes: u32,
    /// Files that were there and are not installed, by path.
    pub left_out: Vec<String>,
    /// What its text and its scripts would have run.
    pub commands: Vec<Command>,
    /// Where it reaches.
    pub reaches: Vec<Reach>,
    /// What a person should look at.
    pub flags: Vec<Flag>,
    /// How many more commands, reaches and flags there are than are shown.
    pub beyond: u32,
    /// What the specification finds wrong with it.
    pub problems: Vec<Problem>,
    /// How it differs from what was approved or installed before; `None` for a new one.
    pub change: Option<Difference>,
    /// The same line by line, as far as the texts that were approved are still at hand.
    pub changes: Vec<FileChange>,
}

/// A skill's licence.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Licence {
    /// What the manifest says.
    pub stated: Option<String>,
    /// The files that look like one.
    pub files: Vec<String>,
}

/// What a file is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum FileKind {
    /// Text.
    Text,
    /// A program as text.
    Script {
        /// Its language, as people name it.
        language: String,
    },
    /// A program as machine code or bytecode: it can't be read here.
    Program,
    /// An archive: it is not looked into.
    Archive,
    /// Any other bytes.
    Binary,
    /// A link, which is never followed.
    Link {
        /// Where it leads.
        target: String,
        /// Whether that is outside the skill's folder.
        leads_out: bool,
    },
    /// A pipe, a socket or a device, which is never opened.
    Special,
}

/// A file as it is shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ReviewedFile {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u32,
    /// Whether it may be run as it is.
    pub executable: bool,
    /// What it is.
    pub kind: FileKind,
}

/// A line that would run something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Command {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The line's text, cut where it is very long.
    pub text: String,
}

/// What kind of place outside the skill is reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ReachKind {
    /// A host of an address.
    Host,
    /// A library that speaks to the network.
    Network,
    /// A variable of the environment.
    Variable,
    /// A path outside the skill and the workspace.
    Path,
}

/// A place outside the skill that is named in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Reach {
    /// What kind of place.
    pub kind: ReachKind,
    /// The host, library, variable or path.
    pub value: String,
    /// The file that names it first.
    pub file: String,
    /// The line there, from 1.
    pub line: u32,
    /// How often it is named in all.
    pub times: u32,
}

/// What a flag is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// A character that is not seen, or that turns the reading direction.
    Hidden {
        /// What it does.
        what: HiddenKind,
    },
    /// Text that is not shown when the file is rendered.
    Comment,
    /// Text that asks to ignore rules or to be somebody else.
    IgnoreRules,
    /// Text that asks to keep something from the person.
    Secrecy,
    /// Text that asks to get around an approval, a sandbox or a policy.
    Bypass,
    /// Text or code about keys, tokens and passwords.
    Secrets,
    /// Code from elsewhere is fetched and run, or packages are installed.
    Fetched,
    /// Code that is made while it runs.
    Dynamic,
    /// Much is removed or overwritten.
    Destructive,
    /// A long text in an encoding that nobody reads.
    Encoded,
    /// Machine code or bytecode.
    Program,
    /// An archive, which was not looked into.
    Archive,
    /// A link that leads out of the folder.
    LinkOut,
    /// A file that is too large to be looked through.
    NotScanned,
    /// It asks for tools.
    AsksForTools,
    /// It says nothing of a licence.
    NoLicence,
}

/// A fact that a person should look at, with its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Flag {
    /// What it is about.
    pub kind: FlagKind,
    /// The file.
    pub file: String,
    /// The line, from 1; `None` for the whole file.
    pub line: Option<u32>,
    /// The column in characters, from 1, where it is one character.
    pub column: Option<u32>,
    /// What stands there, with hidden characters written out.
    pub text: String,
}

impl Review {
    /// Looks through a skill.
    ///
    /// # Errors
    /// When a file can't be read.
    pub(crate) fn of(
        source: &Source,
        examined: &Examined,
        fingerprint: Fingerprint,
        change: Option<Difference>,
    ) -> Result<Self, SkillError> {
        let mut facts = Facts::default();
        let mut files = Vec::new();
        let mut licence = Licence::default();
        for entry in &examined.contents.entries {
            // All of this is for people to look at.
            let path = crate::show::path(&entry.path);
            let kind = match &entry.kind {
                EntryKind::File => {
                    let bytes = source.read(&entry.path, FILE_LIMIT_BYTES)?;
                    look_at(&path, &bytes, &mut facts)
                }
                EntryKind::Link { target, leads_out } => {
                    if *leads_out {
                        facts.whole_file(FlagKind::LinkOut, &path, target);
                    }
                    FileKind::Link {
                        target: crate::show::brief(target, 200),
                        leads_out: *leads_out,
                    }
                }
                EntryKind::Special => FileKind::Special,
            };
            if kind::is_licence(&path) {
                licence.files.push(path.clone());
            }
            files.push(ReviewedFile {
                path,
                bytes: size(entry.bytes),
                executable: entry.executable,
                kind,
            });
        }
        let manifest = examined.parsed.manifest.as_ref();
        licence.stated = manifest.and_then(|manifest| manifest.license.clone());
        if licence == Licence::default() {
            facts.whole_file(FlagKind::NoLicence, &examined.manifest_file, "");
        }
        let allowed_tools = manifest.map_or_else(Vec::new, |of| of.allowed_tools.clone());
        if !allowed_tools.is_empty() {
            let asked = allowed_tools.join(" ");
            facts.whole_file(FlagKind::AsksForTools, &examined.manifest_file, &asked);
        }
        let entries = examined.contents.entries.iter();
        let total: u64 = entries.map(|entry| entry.bytes).sum();
        Ok(Self {
            name: examined.parsed.name.clone(),
            description: manifest.map_or_else(String::new, |of| of.description.clone()),
            hash: fingerprint.hash,
            licence,
            compatibility: manifest.and_then(|of| of.compatibility.clone()),
            allowed_tools,
            files,
            total_bytes: size(total),
            left_out: Vec::new(),
            beyond: facts.beyond,
            commands: facts.commands,
            reaches: facts.reaches,
            flags: facts.flags,
            problems: examined.parsed.problems.clone(),
            change,
            changes: Vec::new(),
        })
    }
}

/// Takes down what a file holds, and says what it is.
fn look_at(path: &str, bytes: &[u8], facts: &mut Facts) -> FileKind {
    let kind = kind::of(path, bytes);
    match &kind {
        FileKind::Program => facts.whole_file(FlagKind::Program, path, ""),
        FileKind::Archive => facts.whole_file(FlagKind::Archive, path, ""),
        FileKind::Text | FileKind::Script { .. } => {
            if bytes.len() as u64 > SCAN_LIMIT_BYTES {
                facts.whole_file(FlagKind::NotScanned, path, "");
            } else if let Ok(text) = std::str::from_utf8(bytes) {
                facts.hidden(path, text);
                // Read as a model would, for which what is not seen is there all the same.
                let seen = facts::plain(text);
                orders::find(path, &seen, facts);
                commands::find(path, &kind, &seen, facts);
                reach::find(path, &kind, &seen, facts);
            }
        }
        FileKind::Binary | FileKind::Link { .. } | FileKind::Special => {}
    }
    kind
}
