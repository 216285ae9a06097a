//! The skills that ship: written here, embedded in the program, and trusted as the program is.

use std::path::{Path, PathBuf};

use crate::folder::{Entry, EntryKind};

/// A skill that is part of the program.
#[derive(Debug)]
pub(crate) struct BundledSkill {
    pub(crate) name: &'static str,
    /// Path and bytes, by path.
    files: &'static [(&'static str, &'static [u8])],
}

macro_rules! bundled {
    ($name:literal: $($file:literal),+ $(,)?) => {
        BundledSkill {
            name: $name,
            files: &[$((
                $file,
                include_bytes!(concat!("../../../../skills/", $name, "/", $file)).as_slice(),
            )),+],
        }
    };
}

/// The skills that ship, by name.
pub(crate) static BUNDLED: &[BundledSkill] = &[
    bundled!("data-analysis":
        "SKILL.md",
        "references/cleaning.md",
        "references/statistics.md",
        "scripts/chart.py",
        "scripts/clean.py",
        "scripts/compute.py",
        "scripts/expressions.py",
        "scripts/profile.py",
        "scripts/report.py",
        "scripts/tables.py",
    ),
    bundled!("research-page":
        "SKILL.md",
        "assets/page.html",
        "references/checklist.md",
        "references/evidence.md",
        "scripts/check_page.py",
        "scripts/new_page.py",
    ),
];

impl BundledSkill {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |&(path, bytes): &(&str, &[u8])| Entry {
            path: path.to_owned(),
            kind: EntryKind::File,
            bytes: bytes.len() as u64,
            // Its scripts are given to an interpreter.
            executable: false,
        };
        self.files.iter().map(entry).collect()
    }

    pub(crate) fn read(&self, file: &str) -> Option<Vec<u8>> {
        let found = self.files.iter().find(|(path, _)| *path == file)?;
        Some(found.1.to_vec())
    }
}

/// The folder that bundled skills are said to lie in; nothing is read there.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new("(bundled)").join(name)
}

/// The bundled skill of this name.
pub(crate) fn find(name: &str) -> Option<&'static BundledSkill> {
    BUNDLED.iter().find(|skill| skill.name == name)
}

/// The names of the skills that ship.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|skill| skill.name)
}
