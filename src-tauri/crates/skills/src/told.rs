//! A review in the words that a person reads: as parts for the window, as plain text for a terminal
//! and for the card of an action that waits.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::kept::FileChange;
use crate::review::{FileKind, Flag, FlagKind, ReachKind, Review, ReviewedFile};

/// The most lines of one part; the others are counted.
const LINES_LIMIT: usize = 40;

/// A review in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ToldReview {
    /// The skill's name.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// What it is made of; it goes back with a yes.
    pub hash: String,
    /// Whether it takes the place of one that was approved before.
    pub is_change: bool,
    /// What it is in few words: `licence`, `MIT`.
    pub facts: Vec<ReviewFact>,
    /// What is in it, part by part. None is empty.
    pub parts: Vec<ReviewPart>,
    /// How its texts differ from what was approved, line by line.
    pub changes: Vec<FileChange>,
}

/// One fact of a review.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ReviewFact {
    /// What it is about.
    pub name: String,
    /// How it is.
    pub value: String,
}

/// One part of a review.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ReviewPart {
    /// What it is about.
    pub title: String,
    /// Whether a person should look at it before all others.
    pub is_warning: bool,
    /// Its lines.
    pub lines: Vec<ReviewLine>,
    /// How many more there are.
    pub more: u32,
}

/// One line of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ReviewLine {
    /// The file, with line and column where there are some.
    pub place: String,
    /// What is said of it.
    pub words: String,
}

impl ToldReview {
    /// A review in words.
    pub fn of(review: &Review) -> Self {
        Self {
            name: review.name.clone(),
            description: crate::show::brief(&review.description, 1_024),
            hash: review.hash.to_string(),
            is_change: review.change.is_some(),
            facts: facts(review),
            parts: parts(review),
            changes: review.changes.clone(),
        }
    }
}

/// The whole review as plain text: what changed first, line by line, then what is in it.
pub fn told(review: &Review) -> String {
    let told = ToldReview::of(review);
    let mut text = format!("{}\n{}\n", told.name, told.description);
    for fact in &told.facts {
        let _ = write!(text, "\n{}: {}", fact.name, fact.value);
    }
    let changed = usize::from(told.is_change).min(told.parts.len());
    let (changed, others) = told.parts.split_at(changed);
    changed.iter().for_each(|part| tell(part, &mut text));
    for change in &told.changes {
        let _ = write!(text, "\n\n{}\n{}", change.path, change.lines.trim_end());
    }
    others.iter().for_each(|part| tell(part, &mut text));
    text
}

fn tell(part: &ReviewPart, text: &mut String) {
    let _ = write!(text, "\n\n{}", part.title);
    for line in &part.lines {
        let gap = if line.words.is_empty() { "" } else { "  " };
        let _ = write!(text, "\n  {}{gap}{}", line.place, line.words);
    }
    if part.more > 0 {
        let _ = write!(text, "\n  … and {} more", part.more);
    }
}

/// What changed, or what a new one holds, in one sentence without a full stop.
pub fn told_briefly(review: &Review) -> String {
    match &review.change {
        Some(change) => change.to_string(),
        None => format!(
            "{}, {}, {} that would run something",
            counted(review.files.len(), "file"),
            size(review.total_bytes),
            counted(review.commands.len(), "line"),
        ),
    }
}

fn facts(review: &Review) -> Vec<ReviewFact> {
    let mut facts = vec![
        ("hash", review.hash.to_string()),
        ("licence", licence(review)),
    ];
    if let Some(needs) = &review.compatibility {
        facts.push(("needs", crate::show::brief(needs, 500)));
    }
    if !review.allowed_tools.is_empty() {
        let tools = crate::show::brief(&review.allowed_tools.join(" "), 300);
        facts.push((
            "asks for tools",
            format!("{tools} (it is given none by this)"),
        ));
    }
    let fact = |(name, value): (&str, String)| ReviewFact {
        name: name.to_owned(),
        value,
    };
    facts.into_iter().map(fact).collect()
}

fn parts(review: &Review) -> Vec<ReviewPart> {
    let line = |place: &str, words: String| ReviewLine {
        place: place.to_owned(),
        words,
    };
    let at = |file: &str, number: u32| format!("{file}:{number}");
    let commands = review.commands.iter();
    let commands = commands.map(|of| line(&at(&of.file, of.line), of.text.clone()));
    let reaches = review.reaches.iter().map(|reach| {
        let what = match reach.kind {
            ReachKind::Host => "host",
            ReachKind::Network => "network, by",
            ReachKind::Variable => "variable",
            ReachKind::Path => "path",
        };
        let words = format!("{what} {}", reach.value);
        line(&at(&reach.file, reach.line), words)
    });
    let problems = review.problems.iter().map(|problem| {
        let place = match problem.line {
            Some(number) => at(&problem.file, number),
            None => problem.file.clone(),
        };
        line(&place, format!("{} {}", problem.what, problem.remedy))
    });
    let title = format!(
        "{}, {}",
        counted(review.files.len(), "file"),
        size(review.total_bytes)
    );
    let left_out = review.left_out.iter().map(|path| line(path, String::new()));
    let mut parts = vec![
        part("Changed since it was approved", true, changed(review)),
        part("Look at", true, review.flags.iter().map(flag).collect()),
        part("Would run", false, commands.collect()),
        part("Reaches", false, reaches.collect()),
        part(&title, false, review.files.iter().map(file).collect()),
        part("Not installed with it", false, left_out.collect()),
        part("By the specification", false, problems.collect()),
    ];
    // What the review itself has only counted is counted where it is looked at first.
    parts[1].more += review.beyond;
    parts.retain(|part| !part.lines.is_empty() || part.more > 0);
    parts
}

fn part(title: &str, is_warning: bool, mut lines: Vec<ReviewLine>) -> ReviewPart {
    let more = lines.len().saturating_sub(LINES_LIMIT);
    lines.truncate(LINES_LIMIT);
    ReviewPart {
        title: title.to_owned(),
        is_warning,
        lines,
        more: u32::try_from(more).unwrap_or(u32::MAX),
    }
}

fn changed(review: &Review) -> Vec<ReviewLine> {
    let Some(change) = &review.change else {
        return Vec::new();
    };
    let changed = change.changed.iter().map(|file| {
        let runs = if file.became_executable {
            ", may be run now"
        } else {
            ""
        };
        let (before, now) = (size(file.bytes_before), size(file.bytes_now));
        ReviewLine {
            place: file.path.clone(),
            words: format!("changed, {before} → {now}{runs}"),
        }
    });
    let of = |words: &'static str| {
        move |path: &String| ReviewLine {
            place: path.clone(),
            words: words.to_owned(),
        }
    };
    let added = change.added.iter().map(of("added"));
    let removed = change.removed.iter().map(of("removed"));
    changed.chain(added).chain(removed).collect()
}

fn licence(review: &Review) -> String {
    let stated = review.licence.stated.as_deref();
    let stated = stated.map(|stated| crate::show::brief(stated, 200));
    let files = review.licence.files.join(", ");
    match (stated, files.is_empty()) {
        (Some(stated), true) => stated,
        (Some(stated), false) => format!("{stated} ({files})"),
        (None, false) => files,
        (None, true) => "not stated".to_owned(),
    }
}

fn file(file: &ReviewedFile) -> ReviewLine {
    let kind = match &file.kind {
        FileKind::Text => "text".to_owned(),
        FileKind::Script { language } => format!("{language} program"),
        FileKind::Program => "machine code, which can't be read here".to_owned(),
        FileKind::Archive => "archive, which is not looked into".to_owned(),
        FileKind::Binary => "other bytes".to_owned(),
        FileKind::Link { target, leads_out } => match leads_out {
            true => format!("link out of the skill, to {target}"),
            false => format!("link to {target}"),
        },
        FileKind::Special => "pipe, socket or device".to_owned(),
    };
    let runs = if file.executable { ", may be run" } else { "" };
    ReviewLine {
        place: file.path.clone(),
        words: format!("{}, {kind}{runs}", size(file.bytes)),
    }
}

fn flag(flag: &Flag) -> ReviewLine {
    let mut place = flag.file.clone();
    for number in [flag.line, flag.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    let what = flag_in_words(flag.kind);
    let words = match flag.text.is_empty() {
        true => what.to_owned(),
        false => format!("{what}: {}", flag.text),
    };
    ReviewLine { place, words }
}

/// What a flag is about, in words.
pub(crate) fn flag_in_words(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Hidden { .. } => "a character that is not seen",
        FlagKind::Comment => "text that is not shown when the file is rendered",
        FlagKind::IgnoreRules => "it asks to ignore rules, or to be somebody else",
        FlagKind::Secrecy => "it asks to keep something from you",
        FlagKind::Bypass => "it asks to get around an approval, a sandbox or a policy",
        FlagKind::Secrets => "it is about keys, tokens or passwords",
        FlagKind::Fetched => "it fetches and runs code, or installs packages",
        FlagKind::Dynamic => "it makes code while it runs",
        FlagKind::Destructive => "it removes or overwrites much",
        FlagKind::Encoded => "a long text in an encoding that nobody reads",
        FlagKind::Program => "machine code, which can't be read here",
        FlagKind::Archive => "an archive, which was not looked into",
        FlagKind::LinkOut => "a link out of the folder",
        FlagKind::NotScanned => "too large to be looked through",
        FlagKind::AsksForTools => "it asks for tools, and is given none by this",
        FlagKind::NoLicence => "it says nothing of a licence",
    }
}

fn counted(number: usize, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        number => format!("{number} {word}s"),
    }
}

/// A size as people read it.
pub(crate) fn size(bytes: u32) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", f64::from(bytes) / 1e3),
        _ => format!("{:.1} MB", f64::from(bytes) / 1e6),
    }
}
