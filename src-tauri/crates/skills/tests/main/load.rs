//! What a model is given: only what was approved, exactly as it was approved.

use std::fs;

use longrein_skills::{Difference, SkillError, Standing};

use crate::kit::{World, manifest, skill, write, yes};

/// The difference that loading is refused for.
fn changed(world: &World, name: &str) -> Difference {
    let Err(SkillError::Changed { difference, .. }) = world.skills.load(name) else {
        panic!("the change is seen");
    };
    let Err(SkillError::Changed { .. }) = world.skills.read(name, "scripts/sort.py") else {
        panic!("the change is seen for a file as well");
    };
    *difference
}

#[test]
fn instructions_come_with_the_list_of_files_and_files_one_by_one() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let loaded = world.skills.load("beans").unwrap();
    assert_eq!(loaded.body.trim(), "# Beans\n\nSort them.");
    assert!(loaded.description.starts_with("Sorts beans"));
    let files: Vec<&str> = loaded.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["references/colours.md", "scripts/sort.py"]);
    let file = world
        .skills
        .read("beans", "./references/colours.md")
        .unwrap();
    assert_eq!(file.text("beans").unwrap(), "Black, white.\n");
    assert_eq!(file.skill, loaded.hash);
}

#[test]
fn a_file_that_the_skill_does_not_have_is_not_read() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    write(&world.at("data/secret.txt"), "x");
    for path in [
        "missing.md",
        "../../secret.txt",
        "/etc/passwd",
        "scripts",
        "",
        "scripts/../../../secret.txt",
        ".git/config",
    ] {
        let error = world.skills.read("beans", path).unwrap_err();
        assert!(
            matches!(error, SkillError::NoFile { .. }),
            "{path}: {error}"
        );
    }
}

#[test]
fn nothing_is_given_that_nobody_reviewed() {
    let world = World::new();
    skill(&world.at("project/.agents/skills"), "beans");
    let error = world.skills.load("beans").unwrap_err();
    assert!(matches!(error, SkillError::Unreviewed { .. }), "{error}");
    assert!(world.skills.read("beans", "scripts/sort.py").is_err());
    assert!(world.skills.copy_to("beans", &world.at("out")).is_err());
    assert!(!world.at("out").exists());
    world.approve("beans");
    assert!(world.skills.load("beans").is_ok());
    assert_eq!(
        world.used("beans").standing,
        Standing::Approved {
            by: "Ada".to_owned(),
            at: 1_700_000_000_000
        }
    );
}

#[test]
fn every_kind_of_change_asks_again_and_is_described() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let folder = world.at("data/skills/beans");
    write(&folder.join("scripts/new.py"), "x");
    fs::remove_file(folder.join("references/colours.md")).unwrap();
    write(&folder.join("scripts/sort.py"), "print('other')\n");
    let difference = changed(&world, "beans");
    assert_eq!(difference.added, ["scripts/new.py"]);
    assert_eq!(difference.removed, ["references/colours.md"]);
    assert_eq!(difference.changed[0].path, "scripts/sort.py");
    assert!(difference.changed[0].content);
    assert_eq!(
        difference.to_string(),
        "added: scripts/new.py; removed: references/colours.md; changed: scripts/sort.py"
    );
    let review = world.skills.review("beans").unwrap();
    assert_eq!(review.change, Some(difference));
    world.approve("beans");
    assert!(world.skills.load("beans").is_ok());
}

#[test]
fn a_change_that_is_taken_back_is_no_change() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let manifest_path = world.at("data/skills/beans/SKILL.md");
    write(&manifest_path, manifest("beans") + "More.\n");
    changed(&world, "beans");
    write(&manifest_path, manifest("beans"));
    assert!(world.skills.load("beans").is_ok());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_be_run_now_is_a_change() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    crate::kit::make_executable(&world.at("data/skills/beans/scripts/sort.py"));
    let difference = changed(&world, "beans");
    assert_eq!(difference.changed.len(), 1);
    assert!(difference.changed[0].became_executable);
    assert!(!difference.changed[0].content);
}

#[cfg(unix)]
#[test]
fn a_link_or_pipe_that_appears_is_a_change_and_is_never_opened() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let folder = world.at("data/skills/beans");
    write(&world.at("secret"), "secret");
    std::os::unix::fs::symlink(world.at("secret"), folder.join("note.md")).unwrap();
    crate::broken::pipe(&folder.join("pipe"));
    assert_eq!(changed(&world, "beans").added, ["note.md", "pipe"]);
    world.approve("beans");
    let loaded = world.skills.load("beans").unwrap();
    assert!(
        loaded
            .files
            .iter()
            .all(|file| file.path != "note.md" && file.path != "pipe")
    );
    for path in ["note.md", "pipe"] {
        let error = world.skills.read("beans", path).unwrap_err();
        assert!(matches!(error, SkillError::NoFile { .. }), "{error}");
    }
    // Where the link leads is part of what was approved.
    fs::remove_file(folder.join("note.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.join("note.md")).unwrap();
    changed(&world, "beans");
}

#[test]
fn what_version_control_does_beside_a_skill_is_no_change() {
    let world = World::new();
    let folder = skill(&world.at("project/.agents/skills"), "beans");
    world.approve("beans");
    write(&folder.join(".git/HEAD"), "x");
    write(&folder.join(".DS_Store"), "x");
    assert!(world.skills.load("beans").is_ok());
    assert!(world.skills.read("beans", ".git/HEAD").is_err());
}

#[test]
fn only_what_the_person_saw_is_approved() {
    let world = World::new();
    let folder = skill(&world.at("project/.agents/skills"), "beans");
    let seen = world.skills.review("beans").unwrap().hash;
    write(&folder.join("scripts/sort.py"), "print('swapped')\n");
    let error = world.skills.approve("beans", &yes(&seen)).unwrap_err();
    assert!(
        matches!(error, SkillError::NotWhatWasSeen { .. }),
        "{error}"
    );
    assert!(world.skills.load("beans").is_err());
}

#[test]
fn the_same_content_is_approved_wherever_it_lies() {
    let world = World::new();
    skill(&world.at("home/.agents/skills"), "beans");
    world.approve("beans");
    let copy = skill(&world.at("project/.agents/skills"), "beans");
    assert_eq!(world.used("beans").folder, copy);
    assert!(world.skills.load("beans").is_ok());
}

#[test]
fn a_skill_is_copied_for_a_sandbox_as_it_was_approved() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    #[cfg(unix)]
    crate::kit::make_executable(&source.join("scripts/sort.py"));
    world.install(&source).unwrap();
    let target = world.at("sandbox");
    let hash = world.skills.copy_to("beans", &target).unwrap();
    assert_eq!(hash, world.used("beans").hash.unwrap());
    assert_eq!(
        fs::read_to_string(target.join("SKILL.md")).unwrap(),
        manifest("beans")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let script = fs::metadata(target.join("scripts/sort.py")).unwrap();
        assert_eq!(script.permissions().mode() & 0o111, 0o111);
    }
    assert!(
        world.skills.copy_to("beans", &target).is_err(),
        "nothing is overwritten"
    );
}

#[test]
fn a_hash_says_names_bytes_and_nothing_else() {
    let world = World::new();
    let one = world.review(&skill(&world.at("outside/one"), "beans"));
    let again = world.review(&skill(&world.at("outside/two"), "beans"));
    assert_eq!(
        one.hash, again.hash,
        "where it lies and when does not count"
    );
    let moved = skill(&world.at("outside/three"), "beans");
    fs::rename(
        moved.join("references/colours.md"),
        moved.join("colours.md"),
    )
    .unwrap();
    assert_ne!(world.review(&moved).hash, one.hash);
    let split = skill(&world.at("outside/four"), "beans");
    write(&split.join("scripts/sort.py"), "print('sorted')");
    write(&split.join("scripts/tail"), "\n");
    assert_ne!(world.review(&split).hash, one.hash);
    // The same on every machine and in every version.
    assert_eq!(
        one.hash.as_str(),
        "73084402007690f4a610556d5aa9b18faf96461f2d4e04b85e96cdae90d9d6c4"
    );
}
