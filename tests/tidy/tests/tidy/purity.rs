//! What the code may not do, by the names it uses.

use longrein_tidy::{RustFile, SourceFile, Tree, Violations, demand_none};

/// The crates that are given time, ids and bytes, and give back what is to be done.
const PURE_FOLDERS: &[&str] = &[
    "src-tauri/crates/protocol/src/",
    "src-tauri/crates/core/src/",
];

/// What a pure crate never names: the outside world, the clock, chance and waiting.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::thread",
    "std::process",
    "std::os",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::sync::mpsc",
    "SystemTime",
    "Instant",
    "tokio",
    "futures",
    "rand",
    "getrandom",
    "Ulid::new",
    "Ulid::generate",
];

/// Endings of names that say nothing about what a thing is.
const EMPTY_ENDINGS: &[&str] = &["Manager", "Service", "Helper", "Helpers", "Utils", "Util"];
const EMPTY_MODULES: &[&str] = &["utils", "util", "helpers", "helper", "misc", "common"];

/// The Rust of the repository, and which of its files are there only for tests.
struct Code<'a> {
    files: Vec<(&'a SourceFile, RustFile)>,
    test_places: Vec<String>,
}

impl<'a> Code<'a> {
    fn read(tree: &'a Tree) -> Self {
        let files: Vec<(&SourceFile, RustFile)> = tree
            .written(&[".rs"])
            .map(|file| match RustFile::parse(&file.text) {
                Ok(parsed) => (file, parsed),
                Err(error) => panic!("{} is no Rust: {error}", file.path),
            })
            .collect();
        let test_places = files
            .iter()
            .flat_map(|(file, parsed)| {
                let folder = modules_of(&file.path);
                parsed.test_modules.iter().flat_map(move |name| {
                    [format!("{folder}{name}.rs"), format!("{folder}{name}/")]
                })
            })
            .collect();
        Self { files, test_places }
    }

    /// Test code by its place: a crate's `tests`, the test kit, and modules under `cfg(test)`.
    fn is_for_tests(&self, path: &str) -> bool {
        path.split('/')
            .any(|part| ["tests", "benches", "testkit"].contains(&part))
            || self.test_places.iter().any(|place| path.starts_with(place))
    }

    /// What ships.
    fn shipped(&self) -> impl Iterator<Item = &(&'a SourceFile, RustFile)> {
        self.files
            .iter()
            .filter(|(file, _)| !self.is_for_tests(&file.path))
    }
}

/// Where the modules lie that this file declares.
fn modules_of(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{folder}/"),
        _ => format!("{}/", path.trim_end_matches(".rs")),
    }
}

fn is_under(name: &str, banned: &str) -> bool {
    name.strip_prefix(banned)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[test]
fn pure_crates_name_nothing_outside() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    let mut seen = 0;
    let is_pure = |path: &str| PURE_FOLDERS.iter().any(|folder| path.starts_with(folder));
    for (file, parsed) in Code::read(&tree).shipped() {
        if !is_pure(&file.path) {
            continue;
        }
        seen += 1;
        for (line, name) in &parsed.paths {
            let name = name.trim_start_matches("core::").trim_start_matches("::");
            if OUTSIDE.iter().any(|banned| is_under(name, banned)) {
                violations.push(format!("{}:{line}: {name}", file.path));
            }
        }
        for (line, text) in file.lines() {
            // An `async fn` would make a pure answer depend on who polls it.
            if text.trim_start().starts_with("async fn") || text.contains(" async fn ") {
                violations.push(format!("{}:{line}: async", file.path));
            }
        }
    }
    assert!(
        seen > 0,
        "the pure crates were not found where this test looks for them"
    );
    demand_none("A pure crate reaches outside.", violations)
}

#[test]
fn nothing_outside_tests_unwraps() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for (file, parsed) in Code::read(&tree).shipped() {
        violations.extend(
            parsed
                .unwraps
                .iter()
                .map(|line| format!("{}:{line}", file.path)),
        );
    }
    demand_none(
        "`unwrap` says nothing of why it can't fail: `expect` does.",
        violations,
    )
}

#[test]
fn errors_have_types() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for (file, parsed) in Code::read(&tree).shipped() {
        violations.extend(
            parsed
                .string_errors
                .iter()
                .map(|line| format!("{}:{line}", file.path)),
        );
    }
    demand_none(
        "`Result<_, String>` can only be told apart by its text.",
        violations,
    )
}

#[test]
fn names_say_what_a_thing_is() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for (file, parsed) in &Code::read(&tree).files {
        for (line, name) in &parsed.types {
            let empty = EMPTY_ENDINGS.iter().any(|ending| name.ends_with(ending))
                || EMPTY_MODULES.contains(&name.as_str());
            if empty {
                violations.push(format!("{}:{line}: {name}", file.path));
            }
        }
    }
    demand_none("A name ends in a word that fits anything.", violations)
}

#[test]
fn no_lint_is_silenced_and_no_test_is_skipped() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for (file, parsed) in &Code::read(&tree).files {
        for (line, name) in &parsed.attributes {
            if ["allow", "ignore"].contains(&name.as_str()) {
                violations.push(format!("{}:{line}: {name}", file.path));
            }
        }
        for (line, text) in file.lines() {
            if text.contains(concat!("cfg_", "attr(")) && text.contains("allow(") {
                violations.push(format!("{}:{line}: allow", file.path));
            }
        }
    }
    demand_none("A lint is silenced or a test is skipped.", violations)
}
