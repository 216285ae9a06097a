//! Regular expressions of an agent file, within bounds.

use longrein_runtime::ports::ToolError;
use regex::{Regex, RegexBuilder};

use super::shown;
use crate::error;

/// How large a compiled pattern may be.
const SIZE_LIMIT_BYTES: usize = 1024 * 1024;

/// Compiles a pattern. `^` and `$` are the ends of lines.
pub(super) fn pattern(written: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(written)
        .multi_line(true)
        .size_limit(SIZE_LIMIT_BYTES)
        .dfa_size_limit(SIZE_LIMIT_BYTES)
        .build()
        .map_err(|problem| {
            let why = problem.to_string();
            // The message of a syntax error draws the pattern; its last line says what is wrong.
            let why = why.lines().last().unwrap_or_default();
            error::invalid(format!(
                "the pattern “{}” of this agent can't be used: {}. The person has to mend it in the agent's file.",
                shown(written),
                why.trim().trim_start_matches("error: ").trim_end_matches('.')
            ))
        })
}
