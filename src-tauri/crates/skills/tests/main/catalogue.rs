//! Which skill a name means, which are shadowed, and which are left out.

use std::fs;

use longrein_skills::{PlaceKind, SkillError, Standing, Use};

use crate::kit::{World, manifest, skill, write, yes};

#[test]
fn every_place_is_looked_in_and_the_first_that_was_accepted_counts() {
    let world = World::with(true);
    let places = [
        ("project/.longrein/skills", PlaceKind::Project),
        ("project/.agents/skills", PlaceKind::ProjectAgents),
        ("project/.claude/skills", PlaceKind::ProjectClaude),
        ("data/skills", PlaceKind::Installed),
        ("home/.agents/skills", PlaceKind::UserAgents),
        ("home/.claude/skills", PlaceKind::UserClaude),
    ];
    for (at, (place, _)) in places.iter().enumerate() {
        let folder = skill(&world.at(place), "beans");
        // Each is another one, so that each is approved for itself.
        write(&folder.join("which.txt"), at.to_string());
    }
    let found: Vec<PlaceKind> = world.listed("beans").iter().map(|one| one.place).collect();
    let kinds: Vec<PlaceKind> = places.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(found, kinds);
    // Nobody accepted any of them: the first is meant.
    for (at, listed) in world.listed("beans").iter().enumerate() {
        assert_eq!(listed.standing, Standing::Unreviewed);
        let shadowed = Use::Shadowed {
            by: PlaceKind::Project,
            folder: world.at("project/.longrein/skills/beans"),
            same_folder: false,
        };
        assert_eq!(listed.use_, if at == 0 { Use::Used } else { shadowed });
    }
    world.approve("beans");
    assert_eq!(world.used("beans").place, PlaceKind::Project);
}

#[test]
fn what_nobody_reviewed_stands_before_nothing_that_was_accepted() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    world.install(&source).unwrap();
    let planted = skill(&world.at("project/.agents/skills"), "beans");
    write(
        &planted.join("SKILL.md"),
        manifest("beans") + "Send the beans away.\n",
    );
    assert_eq!(world.used("beans").place, PlaceKind::Installed);
    let listed = world.listed("beans");
    assert_eq!(listed[0].place, PlaceKind::ProjectAgents);
    assert_eq!(listed[0].standing, Standing::Unreviewed);
    assert!(matches!(
        listed[0].use_,
        Use::Shadowed {
            by: PlaceKind::Installed,
            ..
        }
    ));
    assert!(!world.skills.load("beans").unwrap().body.contains("away"));
    // It can be looked at and accepted all the same, and counts from then on.
    let review = world.skills.review_at(&planted).unwrap();
    world
        .skills
        .approve_at(&planted, &yes(&review.hash))
        .unwrap();
    assert_eq!(world.used("beans").folder, planted);
}

#[test]
fn a_model_is_told_only_of_what_was_accepted() {
    let world = World::new();
    skill(&world.at("home/.agents/skills"), "beans");
    let told = || -> Vec<String> {
        let catalogue = world.skills.catalogue();
        let offered = catalogue.offered().map(|skill| skill.name.clone());
        offered.filter(|name| name == "beans").collect()
    };
    assert_eq!(told(), [] as [&str; 0]);
    world.approve("beans");
    assert_eq!(told(), ["beans"]);
    write(&world.at("home/.agents/skills/beans/new.md"), "x");
    assert_eq!(told(), [] as [&str; 0]);
}

#[test]
fn what_was_accepted_once_stands_before_others_also_when_it_changed() {
    let world = World::new();
    skill(&world.at("home/.agents/skills"), "beans");
    world.approve("beans");
    let source = skill(&world.at("outside"), "beans");
    write(&source.join("other.txt"), "another one");
    world.install(&source).unwrap();
    write(
        &world.at("data/skills/beans/scripts/sort.py"),
        "print('changed')\n",
    );
    assert_eq!(world.used("beans").place, PlaceKind::Installed);
    assert!(matches!(
        world.skills.load("beans"),
        Err(SkillError::Changed { .. })
    ));
}

#[test]
fn other_programs_folders_are_only_read_when_asked_for() {
    let world = World::with(false);
    skill(&world.at("home/.claude/skills"), "beans");
    skill(&world.at("project/.claude/skills"), "beans");
    assert_eq!(world.listed("beans"), []);
}

#[test]
fn a_skill_that_cant_be_used_is_listed_with_its_reason() {
    let world = World::new();
    let place = world.at("home/.agents/skills");
    write(&place.join("empty/notes.md"), "nothing");
    write(&place.join("mute/SKILL.md"), "---\nname: mute\n---\nDo.\n");
    write(&place.join("garbled/SKILL.md"), "---\nname: [\n---\nDo.\n");
    skill(&place, "good");
    for name in ["empty", "mute", "garbled"] {
        let listed = world.listed(name);
        assert_eq!(listed.len(), 1, "{name}");
        assert_eq!(listed[0].use_, Use::LeftOut, "{name}");
        assert!(!listed[0].problems.is_empty());
        let error = world.skills.load(name).unwrap_err();
        assert!(matches!(error, SkillError::Unusable { .. }), "{error}");
    }
    assert_eq!(world.used("good").name, "good");
}

#[test]
fn a_skill_with_mistakes_is_used_under_a_name_that_is_allowed() {
    let world = World::new();
    let place = world.at("home/.agents/skills");
    write(
        &place.join("Bean Sorter/SKILL.md"),
        "---\nname: Bean_Sorter\ndescription: Sorts: beans, peas and all the others.\ntags: x\n---\nDo.\n",
    );
    let listed = world.used("bean-sorter");
    assert_eq!(
        listed.manifest.unwrap().description,
        "Sorts: beans, peas and all the others."
    );
    assert!(listed.problems.len() >= 3, "{:?}", listed.problems);
}

#[test]
fn a_name_that_nothing_has_is_told_with_the_nearest() {
    let world = World::new();
    skill(&world.at("home/.agents/skills"), "bean-sorter");
    let error = world.skills.load("bean-sortr").unwrap_err();
    assert_eq!(
        error.to_string(),
        "There is no skill “bean-sortr”. Did you mean “bean-sorter”?"
    );
}

#[test]
fn what_is_no_folder_or_begins_with_a_dot_is_no_skill() {
    let world = World::new();
    let place = world.at("home/.agents/skills");
    write(&place.join("README.md"), "x");
    skill(&place, ".hidden");
    let names: Vec<String> = world
        .skills
        .catalogue()
        .skills
        .into_iter()
        .filter(|skill| skill.place != PlaceKind::Bundled)
        .map(|skill| skill.name)
        .collect();
    assert_eq!(names, [] as [String; 0]);
}

#[test]
fn a_place_with_more_than_anybody_reads_says_so() {
    let world = World::new();
    for at in 0..=longrein_skills::SKILLS_LIMIT {
        fs::create_dir_all(world.at("home/.agents/skills").join(format!("s{at:04}"))).unwrap();
    }
    let catalogue = world.skills.catalogue();
    assert_eq!(catalogue.faults.len(), 1);
    assert!(catalogue.faults[0].what.contains("only the first 256"));
}

#[test]
fn a_place_that_cant_be_listed_is_told_and_hides_no_other() {
    let world = World::new();
    // A file where a folder should be.
    write(&world.at("project/.agents/skills"), "x");
    skill(&world.at("home/.agents/skills"), "beans");
    let catalogue = world.skills.catalogue();
    assert_eq!(catalogue.faults.len(), 1);
    assert_eq!(catalogue.faults[0].path, world.at("project/.agents/skills"));
    assert!(catalogue.find("beans").is_ok());
}

#[test]
fn a_damaged_record_of_approvals_approves_nothing_and_is_not_overwritten() {
    let world = World::new();
    let source = skill(&world.at("outside"), "beans");
    world.install(&source).unwrap();
    let records = world.at("data/skills/records.json");
    for damage in ["{", "{\"v\": 2, \"skills\": []}", ""] {
        fs::write(&records, damage).unwrap();
        let catalogue = world.skills.catalogue();
        assert_eq!(catalogue.faults.len(), 1, "{damage}");
        assert_eq!(world.used("beans").standing, Standing::Unreviewed);
        let error = world.skills.load("beans").unwrap_err();
        assert!(matches!(error, SkillError::Records { .. }), "{error}");
        let other = skill(&world.at("outside"), "peas");
        world.install(&other).unwrap_err();
        assert_eq!(fs::read_to_string(&records).unwrap(), damage);
        assert!(!world.at("data/skills/peas").exists());
    }
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_persons_own_link_to_a_skill_is_followed_and_told() {
        let world = World::new();
        let real = skill(&world.at("outside"), "beans");
        let place = world.at("home/.agents/skills");
        fs::create_dir_all(&place).unwrap();
        symlink(&real, place.join("beans")).unwrap();
        let listed = world.used("beans");
        assert_eq!(listed.folder, real);
        assert_eq!(listed.linked_from, Some(place.join("beans")));
        world.approve("beans");
        assert!(world.skills.load("beans").is_ok());
    }

    #[test]
    fn one_folder_that_is_reached_in_two_ways_is_told_as_one() {
        let world = World::with(true);
        let real = skill(&world.at("project/.agents/skills"), "beans");
        let place = world.at("project/.claude/skills");
        fs::create_dir_all(&place).unwrap();
        symlink(&real, place.join("beans")).unwrap();
        let listed = world.listed("beans");
        assert_eq!(listed[0].use_, Use::Used);
        assert!(matches!(
            listed[1].use_,
            Use::Shadowed {
                same_folder: true,
                ..
            }
        ));
    }

    #[test]
    fn a_projects_link_out_of_the_project_is_not_followed() {
        let world = World::new();
        let real = skill(&world.at("outside"), "beans");
        let place = world.at("project/.agents/skills");
        fs::create_dir_all(&place).unwrap();
        symlink(&real, place.join("beans")).unwrap();
        let listed = world.listed("beans");
        assert_eq!(listed[0].use_, Use::LeftOut);
        assert_eq!(listed[0].hash, None);
        assert!(listed[0].problems[0].what.contains("out of the project"));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told() {
        let world = World::new();
        let place = world.at("home/.agents/skills");
        fs::create_dir_all(&place).unwrap();
        symlink("/nowhere/at/all", place.join("beans")).unwrap();
        assert_eq!(world.listed("beans")[0].use_, Use::LeftOut);
    }
}
