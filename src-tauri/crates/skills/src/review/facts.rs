//! The facts of a review as they are found. It keeps a bounded number, and counts the rest.

use unicode_normalization::UnicodeNormalization;

use super::{Command, Flag, FlagKind, Reach, ReachKind};
use crate::hidden;
use crate::show;

/// The most flags of one kind in one file.
const FLAGS_LIMIT: usize = 20;
/// The most commands of a skill.
const COMMANDS_LIMIT: usize = 200;
/// The most places that are named as reached.
const REACHES_LIMIT: usize = 200;
/// How many characters of a line are shown.
const TEXT_LIMIT: usize = 160;
/// How many characters before a hidden one are shown.
const BEFORE_HIDDEN: usize = 20;

#[derive(Default)]
pub(super) struct Facts {
    pub(super) commands: Vec<Command>,
    pub(super) reaches: Vec<Reach>,
    pub(super) flags: Vec<Flag>,
    pub(super) beyond: u32,
}

impl Facts {
    /// A flag of a file as a whole.
    pub(super) fn whole_file(&mut self, kind: FlagKind, file: &str, text: &str) {
        self.add(Flag {
            kind,
            file: file.to_owned(),
            line: None,
            column: None,
            text: show::brief(text, TEXT_LIMIT),
        });
    }

    /// A flag of what stands at the byte `at` of `text`.
    pub(super) fn at(&mut self, kind: FlagKind, file: &str, text: &str, at: usize) {
        let (line, words) = line_at(text, at);
        let same_line = self
            .flags
            .iter()
            .any(|flag| flag.kind == kind && flag.file == file && flag.line == Some(line));
        if !same_line {
            self.add(Flag {
                kind,
                file: file.to_owned(),
                line: Some(line),
                column: None,
                text: show::brief(words, TEXT_LIMIT),
            });
        }
    }

    /// Flags every hidden character.
    pub(super) fn hidden(&mut self, file: &str, text: &str) {
        // A mark of the encoding at the very beginning is told as a problem.
        let text_start = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text_start.split('\n').collect();
        for found in hidden::find(text_start) {
            let line = lines.get(found.line - 1).copied().unwrap_or("");
            let from = (found.column - 1).saturating_sub(BEFORE_HIDDEN);
            let around: String = line
                .chars()
                .skip(from)
                .take(2 * BEFORE_HIDDEN + 1)
                .collect();
            self.add(Flag {
                kind: FlagKind::Hidden { what: found.kind },
                file: file.to_owned(),
                line: u32::try_from(found.line).ok(),
                column: u32::try_from(found.column).ok(),
                text: format!(
                    "{} in “{}”",
                    show::written(found.letter),
                    show::brief(&around, TEXT_LIMIT)
                ),
            });
        }
    }

    fn add(&mut self, flag: Flag) {
        let alike = self
            .flags
            .iter()
            .filter(|other| other.kind == flag.kind && other.file == flag.file)
            .count();
        if alike < FLAGS_LIMIT {
            self.flags.push(flag);
        } else {
            self.beyond += 1;
        }
    }

    pub(super) fn command(&mut self, file: &str, line: usize, text: &str) {
        if self.commands.len() >= COMMANDS_LIMIT {
            self.beyond += 1;
            return;
        }
        self.commands.push(Command {
            file: file.to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            text: show::brief(text, TEXT_LIMIT),
        });
    }

    pub(super) fn reach(&mut self, kind: ReachKind, value: &str, file: &str, line: usize) {
        let value = show::brief(value, TEXT_LIMIT);
        let known = self
            .reaches
            .iter_mut()
            .find(|reach| reach.kind == kind && reach.value == value);
        if let Some(known) = known {
            known.times += 1;
        } else if self.reaches.len() < REACHES_LIMIT {
            self.reaches.push(Reach {
                kind,
                value,
                file: file.to_owned(),
                line: u32::try_from(line).unwrap_or(u32::MAX),
                times: 1,
            });
        } else {
            self.beyond += 1;
        }
    }
}

/// The text without what is not seen, and with one form for letters that look alike by
/// compatibility. Its lines keep their numbers.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter(|&letter| letter == '\n' || hidden::kind_of(letter).is_none())
        .nfkc()
        .collect()
}

/// The line at the byte `at`, from 1, and its text.
fn line_at(text: &str, at: usize) -> (u32, &str) {
    let at = text.floor_char_boundary(at);
    let line = 1 + text[..at].bytes().filter(|&byte| byte == b'\n').count();
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |after| at + after);
    (u32::try_from(line).unwrap_or(u32::MAX), &text[start..end])
}
