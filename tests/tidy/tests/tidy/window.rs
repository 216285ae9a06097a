//! What the front end may name and show.

use longrein_tidy::{SourceFile, Tree, Violations, demand_none};

const UI_SOURCES: &[&str] = &[".ts", ".svelte", ".css", ".html"];

/// Ranges of letters that are pictures: emoji, dingbats, geometric shapes and the selector that
/// turns a letter into one. Icons are drawn as strokes instead.
const PICTURES: &[(u32, u32)] = &[
    (0x23E9, 0x23FA),
    (0x25A0, 0x27BF),
    (0x2B1B, 0x2B55),
    (0xFE0F, 0xFE0F),
    (0x1F000, 0x1FAFF),
];

fn front_end(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.written(UI_SOURCES)
        .filter(|file| file.path.starts_with("ui/"))
}

fn imports_tauri(line: &str) -> bool {
    ["from", "import"].iter().any(|word| line.contains(word))
        && ["\"@tauri-apps/", "'@tauri-apps/"]
            .iter()
            .any(|name| line.contains(name))
}

#[test]
fn one_file_of_the_front_end_knows_tauri() -> Result<(), Violations> {
    let tree = Tree::read();
    let knowing: Vec<String> = front_end(&tree)
        .filter(|file| file.path.starts_with("ui/src/"))
        .filter(|file| file.text.lines().any(imports_tauri))
        .map(|file| file.path.clone())
        .collect();
    let others = knowing
        .into_iter()
        .filter(|path| path != "ui/src/host/tauri.ts")
        .collect();
    demand_none("Only ui/src/host/tauri.ts may import @tauri-apps.", others)
}

#[test]
fn the_front_end_shows_no_emoji_and_no_text_for_an_icon() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for file in front_end(&tree) {
        for (at, line) in file.lines() {
            let picture = line.chars().find(|&letter| {
                let code = u32::from(letter);
                PICTURES
                    .iter()
                    .any(|&(from, to)| (from..=to).contains(&code))
            });
            if let Some(letter) = picture {
                violations.push(format!("{}:{at}: U+{:04X}", file.path, u32::from(letter)));
            }
        }
    }
    demand_none("A letter is used as a picture.", violations)
}

#[test]
fn the_front_end_runs_no_text_as_code() -> Result<(), Violations> {
    let tree = Tree::read();
    let mut violations = Vec::new();
    for file in front_end(&tree).filter(|file| file.path.starts_with("ui/src/")) {
        for (at, line) in file.lines() {
            let runs = [" eval(", "new Function(", "document.write("];
            if runs.iter().any(|call| line.contains(call)) {
                violations.push(format!("{}:{at}: {}", file.path, line.trim()));
            }
        }
    }
    demand_none("Text would be run as code.", violations)
}
