//! How long a snapshot of a usual workspace takes: 2,000 files, 55 MB.
//!
//! `cargo bench -p longrein-sandbox --bench snapshot`

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use longrein_sandbox::snapshot::{
    ContentsFolder, DEFAULT_IGNORED, SnapshotLimits, SnapshotRules, take,
};

const FILES: usize = 2_000;
const FILE_BYTES: usize = 27_500;
const ROUNDS: usize = 15;
/// Files that changed a moment ago are read again; a round begins when none did.
const SETTLE: Duration = Duration::from_millis(2_100);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    fill(&workspace)?;
    let contents = ContentsFolder::at(folder.path().join("contents"));
    let patterns = DEFAULT_IGNORED.iter().copied();
    let rules = SnapshotRules::new(patterns, SnapshotLimits::default())?;
    std::thread::sleep(SETTLE);

    let begun = Instant::now();
    let mut manifest = take(&workspace, None, &rules, &contents)?;
    show("first", &mut [begun.elapsed()]);

    let mut unchanged = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        manifest = take(&workspace, Some(&manifest), &rules, &contents)?;
        unchanged.push(begun.elapsed());
    }
    show("unchanged", &mut unchanged);

    let mut changed = Vec::new();
    for round in 0..ROUNDS {
        fs::write(path(&workspace, round * 7), round.to_string())?;
        let begun = Instant::now();
        take(&workspace, Some(&manifest), &rules, &contents)?;
        changed.push(begun.elapsed());
    }
    show("a few changed", &mut changed);
    Ok(())
}

fn path(workspace: &Path, number: usize) -> std::path::PathBuf {
    workspace
        .join(format!("d{}", number % 40))
        .join(format!("f{number}"))
}

fn fill(workspace: &Path) -> Result<(), Box<dyn Error>> {
    for number in 0..FILES {
        let path = path(workspace, number);
        fs::create_dir_all(path.parent().ok_or("it has a folder")?)?;
        let text = format!("{number} ").repeat(FILE_BYTES / 5);
        fs::write(path, &text.as_bytes()[..FILE_BYTES.min(text.len())])?;
    }
    Ok(())
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort();
    let median = times[times.len() / 2];
    println!("{what:<14} {:>8.1} ms", median.as_secs_f64() * 1_000.0);
}
