//! What no file of the repository says.

use longrein_tidy::{SourceFile, Tree, Violations, demand_none};

/// The files in which a note to oneself would hide.
const CODE: &[&str] = &[
    ".rs", ".ts", ".svelte", ".css", ".html", ".mjs", ".js", ".toml", ".json", "Makefile", ".py",
];

/// Written in two parts, so that this file does not say them either.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("un", "implemented!"),
    concat!("@ts-", "ignore"),
    concat!("@ts-", "nocheck"),
    concat!("eslint-", "disable"),
];

const MACHINE_FOLDERS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];

const REGISTRIES: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("files.", "pythonhosted.org"),
    concat!("deb.", "debian.org"),
    concat!("security.", "debian.org"),
    concat!("arti", "factory"),
];

/// Whether the word stands by itself, and is not a part of a longer one.
fn says(line: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let ends_in_mark = word.ends_with('!');
        !before.is_some_and(is_letter) && (ends_in_mark || !after.is_some_and(is_letter))
    })
}

/// Whether a path begins with this folder; one that only has such a part in it is no harm.
fn begins_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        line[..at]
            .chars()
            .next_back()
            .is_none_or(|before| before.is_whitespace() || "\"'`(=:<>,[{|".contains(before))
    })
}

fn lines_where<'a>(
    files: impl Iterator<Item = &'a SourceFile>,
    is_fault: impl Fn(&str) -> bool,
) -> Vec<String> {
    files
        .flat_map(|file| file.lines().map(move |(at, line)| (file, at, line)))
        .filter(|(_, _, line)| is_fault(line))
        .map(|(file, at, line)| format!("{}:{at}: {}", file.path, line.trim()))
        .collect()
}

#[test]
fn nothing_is_left_to_be_done_later() -> Result<(), Violations> {
    let tree = Tree::read();
    let violations = lines_where(tree.written(CODE), |line| {
        UNFINISHED.iter().any(|word| says(line, word))
    });
    demand_none("Something is left for later.", violations)
}

#[test]
fn no_file_names_a_folder_of_one_machine() -> Result<(), Violations> {
    let tree = Tree::read();
    let violations = lines_where(tree.written(&[""]), |line| {
        MACHINE_FOLDERS
            .iter()
            .any(|folder| begins_path(line, folder))
    });
    demand_none("A path holds on one machine only.", violations)
}

#[test]
fn no_file_names_a_package_registry() -> Result<(), Violations> {
    let tree = Tree::read();
    // Lock files are written by a program, and may still not say where a mirror is.
    let violations = lines_where(tree.files.iter(), |line| {
        REGISTRIES.iter().any(|host| line.contains(host))
    });
    demand_none("A package registry's host is named.", violations)
}

#[test]
fn the_front_ends_lock_names_no_address() -> Result<(), Violations> {
    let tree = Tree::read();
    let locks = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("package-lock.json"));
    let violations = lines_where(locks, |line| line.contains("\"resolved\": \"http"));
    demand_none(
        "The lock says where packages were fetched from.",
        violations,
    )
}

#[test]
fn text_files_end_with_a_line_break_and_no_line_with_space() -> Result<(), Violations> {
    let tree = Tree::read();
    let code = [
        "Makefile", ".rs", ".ts", ".svelte", ".css", ".toml", ".mjs", ".json", ".svg",
    ];
    let mut violations = lines_where(tree.written(&code), |line| {
        line.ends_with([' ', '\t', '\r'])
    });
    for file in tree.written(&code) {
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            violations.push(format!("{}: no line break at the end", file.path));
        }
    }
    demand_none(
        "Space at the end of a line, or none at the end of a file.",
        violations,
    )
}
