//! Installing, updating and removing: whole or not at all.

use std::fs;

use longrein_skills::{
    Approval, IfThere, Origin, PlaceKind, Records, Shelf, SkillError, Standing, Use,
};

use crate::kit::{World, manifest, skill, write, yes};

#[test]
fn a_folder_is_installed_as_it_was_reviewed_and_on_record() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    let record = world.install(&source).unwrap();
    let listed = world.used("beans");
    assert_eq!(listed.place, PlaceKind::Installed);
    assert!(listed.standing.is_trusted());
    assert_eq!(listed.hash, Some(record.fingerprint.hash.clone()));
    assert_eq!(record.origin, Origin::Folder { path: source });
    assert_eq!(
        (record.approved_by.as_str(), record.approved_at),
        ("Ada", 1_700_000_000_000)
    );
    let read = Records::read(&world.at("data/skills")).unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [&record]);
    assert_eq!(world.shelved(), ["beans", "records.json"]);
}

#[test]
fn nothing_shows_before_a_person_said_yes() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    let shelf = world.shelf();
    let offer = shelf.prepare(&source).unwrap();
    assert_eq!(offer.name(), "beans");
    assert_eq!(world.listed("beans"), []);
    drop(offer);
    assert_eq!(world.shelved(), [] as [&str; 0]);
}

#[test]
fn what_changes_at_the_source_after_the_review_is_not_installed() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    let shelf = world.shelf();
    let offer = shelf.prepare(&source).unwrap();
    let approval = yes(&offer.review().hash);
    write(&source.join("scripts/sort.py"), "print('evil')\n");
    shelf.install(offer, &approval, IfThere::Refuse).unwrap();
    let script = world.skills.read("beans", "scripts/sort.py").unwrap();
    assert_eq!(script.text("beans").unwrap(), "print('sorted')\n");
}

#[test]
fn another_hash_than_that_of_the_review_installs_nothing() {
    let world = World::new();
    let shelf = world.shelf();
    let seen = world.review(&skill(&world.at("outside"), "peas")).hash;
    let offer = shelf
        .prepare(&skill(&world.at("outside"), "beans"))
        .unwrap();
    let error = shelf
        .install(offer, &yes(&seen), IfThere::Refuse)
        .unwrap_err();
    assert!(
        matches!(error, SkillError::NotWhatWasSeen { .. }),
        "{error}"
    );
    assert_eq!(world.shelved(), [] as [&str; 0]);
}

#[test]
fn a_second_one_of_the_same_name_is_refused_until_it_is_meant() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    let first = world.install(&source).unwrap();
    write(&source.join("scripts/sort.py"), "print('better')\n");
    let error = world.install(&source).unwrap_err();
    assert!(matches!(error, SkillError::Exists { .. }), "{error}");
    assert_eq!(world.used("beans").hash, Some(first.fingerprint.hash));
    let review = world.review(&source);
    assert_eq!(review.change.unwrap().changed[0].path, "scripts/sort.py");
    let second = world.update(&source).unwrap();
    assert_eq!(world.used("beans").hash, Some(second.fingerprint.hash));
    assert!(world.skills.load("beans").is_ok());
    assert_eq!(world.shelved(), ["beans", "records.json"]);
    assert_eq!(
        Records::read(&world.at("data/skills"))
            .unwrap()
            .iter()
            .count(),
        1
    );
}

#[test]
fn the_skill_gets_its_own_name_whatever_its_folder_was_named() {
    let world = World::new();
    let source = world.at("outside/download (1)");
    write(&source.join("SKILL.md"), manifest("beans"));
    let review = world.review(&source);
    assert_eq!(review.problems, [], "what installing mends is no problem");
    world.install(&source).unwrap();
    assert!(world.at("data/skills/beans/SKILL.md").exists());
}

#[test]
fn a_folder_around_a_skill_is_looked_into() {
    let world = World::new();
    skill(&world.at("outside/repo"), "beans");
    write(&world.at("outside/repo/README.md"), "x");
    world.install(&world.at("outside/repo")).unwrap();
    assert_eq!(world.used("beans").place, PlaceKind::Installed);
    skill(&world.at("outside/repo"), "peas");
    let error = world.install(&world.at("outside/repo")).unwrap_err();
    let SkillError::Several { names, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(names, ["beans", "peas"]);
    let error = world.install(&world.at("project")).unwrap_err();
    assert!(matches!(error, SkillError::NotASkill { .. }), "{error}");
}

#[test]
fn a_manifest_by_itself_is_installed_without_what_lies_beside_it() {
    let world = World::new();
    write(&world.at("outside/SKILL.md"), manifest("beans"));
    write(&world.at("outside/private.txt"), "x");
    let record = world.install(&world.at("outside/SKILL.md")).unwrap();
    let files: Vec<_> = record.fingerprint.files.keys().collect();
    assert_eq!(files, ["SKILL.md"]);
    assert!(world.skills.load("beans").is_ok());
}

#[test]
fn what_cant_be_used_is_not_installed() {
    let world = World::new();
    let source = world.at("outside/beans");
    write(&source.join("SKILL.md"), "---\nname: beans\n---\nDo.\n");
    let error = world.install(&source).unwrap_err();
    assert!(matches!(error, SkillError::Refused { .. }), "{error}");
    assert_eq!(world.shelved(), [] as [&str; 0]);
}

#[test]
fn what_running_and_version_control_leave_is_left_out_and_said() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    write(
        &source.join("scripts/__pycache__/sort.cpython-311.pyc"),
        b"\0\0",
    );
    write(&source.join(".git/config"), "x");
    let review = world.review(&source);
    assert_eq!(
        review.left_out,
        ["scripts/__pycache__/sort.cpython-311.pyc"]
    );
    world.install(&source).unwrap();
    let folder = world.at("data/skills/beans");
    assert!(!folder.join("scripts/__pycache__").exists());
    assert!(!folder.join(".git").exists());
    assert!(world.skills.load("beans").is_ok());
}

#[cfg(unix)]
#[test]
fn a_folder_with_links_or_pipes_is_not_installed() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    std::os::unix::fs::symlink("/etc/hostname", source.join("out")).unwrap();
    let error = world.install(&source).unwrap_err();
    assert!(
        error.to_string().contains("link to “/etc/hostname”"),
        "{error}"
    );
    fs::remove_file(source.join("out")).unwrap();
    crate::broken::pipe(&source.join("pipe"));
    world.install(&source).unwrap_err();
    assert_eq!(world.shelved(), [] as [&str; 0]);
}

#[test]
fn a_removed_skill_is_gone_with_its_approval() {
    let world = World::new();
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    world.skills.remove("beans").unwrap();
    assert_eq!(world.listed("beans"), []);
    assert_eq!(
        Records::read(&world.at("data/skills"))
            .unwrap()
            .iter()
            .count(),
        0
    );
    assert_eq!(world.shelved(), ["records.json"]);
    // Put there by hand again, it is asked about again.
    skill(&world.at("data/skills"), "beans");
    assert_eq!(world.used("beans").standing, Standing::Unreviewed);
}

#[test]
fn a_skill_that_lies_elsewhere_is_not_removed_from_here() {
    let world = World::new();
    let folder = skill(&world.at("home/.agents/skills"), "beans");
    let error = world.skills.remove("beans").unwrap_err();
    assert!(matches!(error, SkillError::NotInstalled { .. }), "{error}");
    assert!(folder.exists());
    let error = world.skills.remove("peas").unwrap_err();
    assert!(matches!(error, SkillError::Unknown { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn removing_a_link_leaves_what_it_leads_to() {
    let world = World::new();
    let real = skill(&world.at("outside"), "beans");
    std::os::unix::fs::symlink(&real, world.at("data/skills/beans")).unwrap();
    assert_eq!(world.used("beans").use_, Use::Used);
    world.approve("beans");
    world.skills.remove("beans").unwrap();
    assert!(real.join("SKILL.md").exists());
    assert_eq!(world.listed("beans"), []);
    assert_eq!(
        Records::read(&world.at("data/skills"))
            .unwrap()
            .iter()
            .count(),
        0
    );
}

#[test]
fn what_a_crash_left_behind_is_no_skill() {
    let world = World::new();
    skill(&world.at("data/skills/.unfinished-abc"), "skill");
    assert_eq!(world.listed("skill"), []);
    world
        .install(&skill(&world.at("outside"), "beans"))
        .unwrap();
    assert_eq!(world.used("beans").place, PlaceKind::Installed);
}

#[test]
fn two_at_once_take_turns() {
    let world = World::new();
    let sources: Vec<_> = (0..4)
        .map(|at| skill(&world.at("outside"), &format!("beans-{at}")))
        .collect();
    std::thread::scope(|scope| {
        for source in &sources {
            scope.spawn(|| world.install(source).unwrap());
        }
    });
    let records = Records::read(&world.at("data/skills")).unwrap();
    assert_eq!(records.iter().count(), sources.len());
    for at in 0..4 {
        assert!(world.skills.load(&format!("beans-{at}")).is_ok());
    }
}

#[cfg(unix)]
#[test]
fn the_folder_of_installed_skills_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("data/skills");
    Shelf::open(&folder).unwrap();
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn an_approval_is_read_and_written_as_json() {
    let world = World::new();
    let seen = world.review(&skill(&world.at("outside"), "beans")).hash;
    let text = serde_json::to_string(&yes(&seen)).unwrap();
    assert_eq!(serde_json::from_str::<Approval>(&text).unwrap(), yes(&seen));
}
