//! A mistake in a file that a person wrote: where, what, and what would mend it.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file can be used, but part of it has no effect.
    Warning,
    /// The file can't be used.
    Error,
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// Whether the file can be used all the same.
    pub severity: Severity,
    /// Counted from 1; 0 where the mistake stands nowhere, as in a file that can't be read.
    pub line: u32,
    /// In characters, counted from 1; 0 where the mistake stands nowhere.
    pub column: u32,
    /// The key, as in `budget.steps` or `done_when[2].file`; empty for the file as a whole.
    pub path: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What would mend it, in a sentence.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        write!(f, "{}", self.message)?;
        if !self.remedy.is_empty() {
            write!(f, " {}", self.remedy)?;
        }
        Ok(())
    }
}

/// Where the lines of a text begin, to turn a byte into a line and a column.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// Line and column of the first byte of `span`, both counted from 1.
    pub(super) fn place(&self, span: &Range<usize>) -> (u32, u32) {
        let byte = self.text.floor_char_boundary(span.start);
        let line = self.starts.partition_point(|start| *start <= byte);
        // The first start is 0, so that at least one is not after the byte.
        let before = &self.text[self.starts[line - 1]..byte];
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (count(line), count(before.chars().count() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_line_and_a_column_in_characters() {
        let lines = Lines::of("a\nbäc\n");
        let place = |byte| lines.place(&(byte..byte));
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (2, 1));
        assert_eq!(place(5), (2, 3));
        assert_eq!(place(7), (3, 1));
        assert_eq!(place(99), (3, 1));
    }
}
