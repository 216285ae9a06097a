//! The files of the repository: those that git tracks or would track.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file of the repository.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// Its content.
    pub text: String,
    /// Written by a program: `.gitattributes` says `linguist-generated`.
    pub generated: bool,
}

impl SourceFile {
    /// Whether the path ends with one of these, each with its dot.
    pub fn ends_with(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.path.ends_with(ending))
    }

    /// The lines, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
    }
}

/// All text files of the repository.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The repository's root.
    pub root: PathBuf,
    /// Its text files, sorted by path.
    pub files: Vec<SourceFile>,
}

impl Tree {
    /// Reads what git tracks, and what it would track if it were added, so that a rule speaks
    /// up before the commit. Binary files are left out.
    ///
    /// # Panics
    /// When git can't list the files: without them there is nothing to judge.
    pub fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("the package lies two folders below the root")
            .to_path_buf();
        let generated = generated_paths(&root);
        let mut files: Vec<SourceFile> = listed(&root)
            .into_iter()
            .filter_map(|path| {
                // A file may be listed and gone, or hold bytes that are no text.
                let text = std::fs::read_to_string(root.join(&path)).ok()?;
                let generated = generated.contains(&path);
                Some(SourceFile {
                    path,
                    text,
                    generated,
                })
            })
            .collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        assert!(
            !files.is_empty(),
            "git lists no file under {}",
            root.display()
        );
        Self { root, files }
    }

    /// The files that people wrote and whose names end like this.
    pub fn written<'a>(&'a self, endings: &'a [&'a str]) -> impl Iterator<Item = &'a SourceFile> {
        self.files
            .iter()
            .filter(move |file| !file.generated && file.ends_with(endings))
    }
}

fn listed(root: &Path) -> Vec<String> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .expect("git is needed to list the files");
    assert!(
        output.status.success(),
        "git ls-files failed in {}",
        root.display()
    );
    let names = String::from_utf8_lossy(&output.stdout);
    names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The paths that `.gitattributes` names, without patterns, as generated.
fn generated_paths(root: &Path) -> Vec<String> {
    let attributes = std::fs::read_to_string(root.join(".gitattributes"))
        .expect(".gitattributes says which files are generated");
    attributes
        .lines()
        .filter(|line| !line.starts_with('#') && line.contains("linguist-generated"))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}
