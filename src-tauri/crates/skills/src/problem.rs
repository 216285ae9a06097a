//! What is wrong with a skill: each with its place, what it is, and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most problems of one skill that are kept; what is beyond is counted in the last one.
pub(crate) const PROBLEMS_LIMIT: usize = 100;

/// How much a problem matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The specification allows it, and it could be better.
    Advice,
    /// The specification forbids it. The skill is loaded all the same, but not fit to publish.
    Error,
    /// The skill can't be used: it is listed with this as its reason.
    Fatal,
}

/// Which kind of problem it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The folder has no `SKILL.md`.
    NoManifest,
    /// The file is named `skill.md`.
    ManifestCase,
    /// The file can't be read, or is no regular file.
    Unreadable,
    /// The file is not UTF-8.
    NotUtf8,
    /// The file is longer than is read.
    TooLong,
    /// A mark of the encoding stands before the first line.
    ByteOrderMark,
    /// The file does not begin with `---`.
    NoFrontMatter,
    /// The front matter has no closing `---`.
    Unclosed,
    /// `---` stands inside the front matter, where the reference validator cuts it.
    InnerDashes,
    /// The front matter is no YAML.
    NotYaml,
    /// A value holds `: ` and is not quoted.
    UnquotedColon,
    /// The front matter is no mapping of names to values.
    NotAMapping,
    /// The front matter is deeper or larger than is read.
    TooDeep,
    /// An anchor, an alias or a tag.
    YamlExtra,
    /// `{…}` or `[…]`.
    FlowStyle,
    /// Indentation that differs between mappings.
    UnevenIndent,
    /// A field occurs twice.
    Twice,
    /// A field that the specification does not know.
    UnknownField,
    /// A field has a value of another kind.
    WrongKind,
    /// `name` is missing or empty.
    NoName,
    /// `name` has too many characters.
    NameTooLong,
    /// `name` has characters that are not allowed, or hyphens in the wrong place.
    NameLetters,
    /// `name` is not the folder's.
    NameMismatch,
    /// `description` is missing or empty.
    NoDescription,
    /// `description` has too many characters.
    DescriptionTooLong,
    /// `description` has so few words that no model would know when to use the skill.
    DescriptionShort,
    /// `compatibility` is empty or too long.
    Compatibility,
    /// A character that is not seen or that turns the reading direction.
    HiddenCharacter,
    /// There are no instructions.
    EmptyBody,
    /// The instructions are longer than recommended.
    LongBody,
    /// A file that the instructions name is not in the folder.
    MissingFile,
    /// A name that not every system can keep.
    FileName,
    /// A link.
    Link,
    /// Neither file, folder nor link.
    SpecialFile,
    /// The folder is deeper, has more files or is larger than is read.
    FolderLimit,
    /// There were more problems than are kept.
    More,
}

/// One thing that is wrong with a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// Which kind it is.
    pub code: ProblemCode,
    /// The file, relative to the skill's folder; empty for the folder itself.
    pub file: String,
    /// The line in it, from 1; `None` where no line is to blame.
    pub line: Option<u32>,
    /// What is wrong, as a sentence.
    pub what: String,
    /// What to do about it, as a sentence.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => {}
            (file, None) => write!(out, "{file}: ")?,
            (file, Some(line)) => write!(out, "{file}:{line}: ")?,
        }
        write!(out, "{} {}", self.what, self.remedy)
    }
}

/// The problems of one skill as they are found. It keeps a bounded number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    beyond: u32,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        // A fatal one is the reason that is shown: it is never among those that are only counted.
        if self.kept.len() < PROBLEMS_LIMIT || problem.severity == Severity::Fatal {
            self.kept.push(problem);
        } else {
            self.beyond += 1;
        }
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.add(problem);
        }
    }

    /// Sorted by file and line, the worst first where they share a place.
    pub(crate) fn finish(self) -> Vec<Problem> {
        let mut kept = self.kept;
        kept.sort_by(|one, other| {
            (&one.file, one.line)
                .cmp(&(&other.file, other.line))
                .then(other.severity.cmp(&one.severity))
        });
        kept.dedup();
        if self.beyond > 0 {
            kept.push(Problem {
                severity: Severity::Error,
                code: ProblemCode::More,
                file: String::new(),
                line: None,
                what: format!("There are {} more problems.", self.beyond),
                remedy: "Mend these first, then check again.".to_owned(),
            });
        }
        kept
    }
}

/// A problem of the folder's `SKILL.md`.
pub(crate) fn of_manifest(
    severity: Severity,
    code: ProblemCode,
    line: Option<usize>,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> Problem {
    Problem {
        severity,
        code,
        file: crate::MANIFEST_FILE.to_owned(),
        line: line.and_then(|line| u32::try_from(line).ok()),
        what: what.into(),
        remedy: remedy.into(),
    }
}

/// A problem of a file or folder of the skill.
pub(crate) fn of_file(
    severity: Severity,
    code: ProblemCode,
    file: &str,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> Problem {
    Problem {
        severity,
        code,
        file: crate::show::path(file),
        line: None,
        what: what.into(),
        remedy: remedy.into(),
    }
}

/// The first reason why the skill can't be used.
pub(crate) fn fatal(problems: &[Problem]) -> Option<&Problem> {
    problems
        .iter()
        .find(|problem| problem.severity == Severity::Fatal)
}
