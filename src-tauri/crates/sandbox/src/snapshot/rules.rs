//! What is left out on purpose, and how much a snapshot may hold.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What can be had again by the command that made it, and is large.
pub const DEFAULT_IGNORED: &[&str] = &[
    "node_modules/",
    ".venv/",
    "venv/",
    "__pycache__/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".tox/",
    // What the tools of a run are called by, made anew for each program.
    ".longrein/",
];

/// A pattern that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("'{pattern}' is no pattern of names: {error}")]
pub struct WrongPattern {
    pattern: String,
    error: ignore::Error,
}

/// How much a snapshot may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// The largest file.
    pub file_bytes: u64,
    /// All files together.
    pub total_bytes: u64,
    /// All entries.
    pub entries: usize,
    /// How deep folders are entered.
    pub depth: usize,
}

impl Default for SnapshotLimits {
    /// 256 MiB a file, 4 GiB and 100,000 entries in all, 64 folders deep.
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            total_bytes: 4 << 30,
            entries: 100_000,
            depth: 64,
        }
    }
}

/// What a snapshot takes.
#[derive(Clone, Debug)]
pub struct SnapshotRules {
    ignored: Gitignore,
    pub(super) limits: SnapshotLimits,
}

impl SnapshotRules {
    /// Patterns as in a `.gitignore`; later ones have the last word, `!` takes one back.
    ///
    /// # Errors
    /// When a pattern can't be read.
    pub fn new<'a>(
        patterns: impl IntoIterator<Item = &'a str>,
        limits: SnapshotLimits,
    ) -> Result<Self, WrongPattern> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            let added = builder.add_line(None, pattern);
            added.map_err(|error| WrongPattern {
                pattern: pattern.to_owned(),
                error,
            })?;
        }
        let ignored = builder.build();
        let ignored = ignored.map_err(|error| WrongPattern {
            pattern: String::new(),
            error,
        })?;
        Ok(Self { ignored, limits })
    }

    pub(super) fn ignores(&self, path: &str, is_folder: bool) -> bool {
        self.ignored.matched(path, is_folder).is_ignore()
    }
}
