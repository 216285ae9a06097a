//! Folders that are larger than anybody reads.

use std::fs::{self, File};

use longrein_skills::{DEPTH_LIMIT, ENTRIES_LIMIT, ProblemCode, TOTAL_LIMIT_BYTES, check};

use crate::kit::{World, skill, write};

fn is_over_the_limit(folder: &std::path::Path) {
    let checked = check(folder).unwrap();
    let codes: Vec<ProblemCode> = checked
        .problems
        .iter()
        .map(|problem| problem.code)
        .collect();
    assert_eq!(codes, [ProblemCode::FolderLimit]);
    assert!(!checked.is_usable());
}

#[test]
fn a_file_of_a_terabyte_is_not_read() {
    let world = World::new();
    let folder = skill(&world.at("project/.agents/skills"), "beans");
    let file = File::create(folder.join("huge.bin")).unwrap();
    // Sparse: it takes no room, and would take for ever to read.
    file.set_len(1 << 40).unwrap();
    is_over_the_limit(&folder);
    assert!(world.install(&folder).is_err());
    assert!(world.skills.load("beans").is_err());
}

#[test]
fn files_that_are_too_much_together_are_not_read() {
    let all = tempfile::tempdir().unwrap();
    let folder = skill(all.path(), "beans");
    for at in 0..5 {
        let file = File::create(folder.join(format!("part-{at}"))).unwrap();
        file.set_len(TOTAL_LIMIT_BYTES / 4).unwrap();
    }
    is_over_the_limit(&folder);
}

#[test]
fn more_files_than_anybody_reads_are_not_read() {
    let all = tempfile::tempdir().unwrap();
    let folder = skill(all.path(), "beans");
    fs::create_dir(folder.join("many")).unwrap();
    for at in 0..=ENTRIES_LIMIT {
        fs::write(folder.join(format!("many/{at}")), "").unwrap();
    }
    is_over_the_limit(&folder);
}

#[test]
fn folders_that_go_down_for_ever_are_not_followed() {
    let all = tempfile::tempdir().unwrap();
    let folder = skill(all.path(), "beans");
    let deep = ["d"; DEPTH_LIMIT + 1].join("/");
    write(&folder.join(deep).join("file"), "x");
    is_over_the_limit(&folder);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_leave_a_skill_out_and_are_bounded_too() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let all = tempfile::tempdir().unwrap();
    let folder = skill(all.path(), "beans");
    fs::create_dir(folder.join("many")).unwrap();
    for at in 0..ENTRIES_LIMIT {
        let mut name = at.to_string().into_bytes();
        name.push(0xff);
        fs::write(folder.join("many").join(OsStr::from_bytes(&name)), "").unwrap();
    }
    let checked = check(&folder).unwrap();
    assert!(!checked.is_usable());
    assert!(checked.problems.len() <= ENTRIES_LIMIT);
}
