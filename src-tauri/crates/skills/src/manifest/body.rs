//! The body: what the specification advises for it.

use super::BODY_LINES_ADVISED;
use crate::problem::{ProblemCode, Problems, Severity, of_manifest};

pub(super) fn judge(body: &str, body_line: usize, problems: &mut Problems) {
    let lines = body.lines().count();
    if body.trim().is_empty() {
        problems.add(of_manifest(
            Severity::Advice,
            ProblemCode::EmptyBody,
            Some(body_line),
            "There are no instructions after the front matter.",
            "Say step by step what to do.",
        ));
    } else if lines > BODY_LINES_ADVISED {
        problems.add(of_manifest(
            Severity::Advice,
            ProblemCode::LongBody,
            Some(body_line),
            format!("The instructions have {lines} lines, more than {BODY_LINES_ADVISED}."),
            "Move what is not always needed into files under references/.",
        ));
    }
}
