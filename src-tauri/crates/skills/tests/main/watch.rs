//! Changes among the skills are noticed.

use std::time::Duration;

use longrein_skills::Watch;

use crate::kit::{World, skill, write};

/// How long a change may take to be noticed; far longer than it does.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn a_changed_file_and_a_new_skill_are_noticed() {
    let world = World::new();
    let folder = skill(&world.at("home/.agents/skills"), "beans");
    let mut watch = Watch::start(world.skills.places(), &world.skills.catalogue());
    assert!(watch.is_watching());
    let seen = watch.now();
    assert!(!watch.changed_since(seen));
    write(&folder.join("scripts/sort.py"), "print('changed')\n");
    assert!(watch.wait(seen, LIMIT));
    assert!(watch.changed_since(seen));
    // A place that was not there yet.
    watch.follow(world.skills.places(), &world.skills.catalogue());
    let seen = watch.now();
    let folder = skill(&world.at("project/.agents/skills"), "peas");
    assert!(watch.wait(seen, LIMIT));
    watch.follow(world.skills.places(), &world.skills.catalogue());
    let seen = watch.now();
    write(&folder.join("SKILL.md"), "changed");
    assert!(watch.wait(seen, LIMIT));
}

#[cfg(unix)]
#[test]
fn a_change_behind_a_link_is_noticed() {
    let world = World::new();
    let real = skill(&world.at("outside"), "beans");
    let place = world.at("home/.agents/skills");
    std::fs::create_dir_all(&place).unwrap();
    std::os::unix::fs::symlink(&real, place.join("beans")).unwrap();
    let watch = Watch::start(world.skills.places(), &world.skills.catalogue());
    let seen = watch.now();
    write(&real.join("SKILL.md"), "changed");
    assert!(watch.wait(seen, LIMIT));
}

#[test]
fn waiting_for_nothing_ends() {
    let world = World::new();
    let watch = Watch::start(world.skills.places(), &world.skills.catalogue());
    assert!(!watch.wait(watch.now(), Duration::from_millis(1)));
}
