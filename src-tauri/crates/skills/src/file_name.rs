//! Names of files that every system can keep, and that show what they are.

use unicode_normalization::UnicodeNormalization;

use crate::hidden;

/// The longest name of one file or folder, in bytes.
const PART_LIMIT_BYTES: usize = 200;
/// The longest path inside a skill, in bytes.
const PATH_LIMIT_BYTES: usize = 400;

/// Names that some systems keep for devices, whatever follows a dot.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// What is wrong with a path inside a skill, to be said after the path; `None` for a good one.
/// `/` stands between its parts.
pub(crate) fn fault(path: &str) -> Option<&'static str> {
    if path.len() > PATH_LIMIT_BYTES {
        return Some("is a longer path than is kept");
    }
    path.split('/').find_map(part_fault)
}

fn part_fault(part: &str) -> Option<&'static str> {
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    match part {
        "" => Some("has an empty part"),
        "." | ".." => Some("leads to another folder"),
        _ if part.len() > PART_LIMIT_BYTES => Some("is a longer name than is kept"),
        _ if part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) => {
            Some("has a sign in it that some systems don't allow in names")
        }
        _ if part.ends_with(['.', ' ']) => Some("ends with a dot or a space"),
        _ if part.chars().any(|letter| {
            hidden::kind_of(letter).is_some() || letter == '\n' || letter == '\t'
        }) =>
        {
            Some("holds a character that is not seen")
        }
        _ if DEVICES
            .iter()
            .any(|device| stem.eq_ignore_ascii_case(device)) =>
        {
            Some("is a device's name on some systems")
        }
        _ => None,
    }
}

/// The path as a system compares it that tells neither case nor forms of letters apart.
pub(crate) fn folded(path: &str) -> String {
    path.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_that_every_system_keeps() {
        for good in [
            "a.md",
            "scripts/run.py",
            "ä/ö.txt",
            ".hidden",
            "console.log",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            "a//b",
            "../a",
            "a/./b",
            "a\\b",
            "c:d",
            "a.",
            "a ",
            "nul",
            "AUX.txt",
            "a\u{202e}b",
            "a\nb",
            "a?b",
        ] {
            assert!(fault(bad).is_some(), "{bad:?}");
        }
        assert!(fault(&"a".repeat(PART_LIMIT_BYTES + 1)).is_some());
        assert!(fault(&"abc/".repeat(PATH_LIMIT_BYTES / 4 + 1)).is_some());
    }

    #[test]
    fn names_that_some_system_takes_for_one_fold_to_one() {
        assert_eq!(folded("Readme.MD"), folded("README.md"));
        assert_eq!(folded("e\u{301}"), folded("É"));
        assert_ne!(folded("a"), folded("b"));
    }
}
