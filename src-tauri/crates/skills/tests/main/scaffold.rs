//! A new skill.

use std::fs;

use longrein_skills::{SkillError, check, scaffold};

#[test]
fn a_new_skill_passes_the_check() {
    let all = tempfile::tempdir().unwrap();
    let description =
        "Sorts \"beans\": by colour, --- or size \\ weight.\nUse when there are beans.";
    let folder = scaffold(&all.path().join("made"), "bean-sorter", description).unwrap();
    let checked = check(&folder).unwrap();
    assert_eq!(checked.problems, []);
    assert_eq!(
        checked.manifest.unwrap().description,
        "Sorts \"beans\": by colour, — or size \\ weight. Use when there are beans."
    );
    let names: Vec<_> = fs::read_dir(all.path().join("made")).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing else is left");
}

#[test]
fn a_name_or_description_that_is_not_allowed_makes_nothing() {
    let all = tempfile::tempdir().unwrap();
    for name in ["Bean Sorter", "", "a--b", "../out", "a/b"] {
        let error = scaffold(all.path(), name, "Sorts beans.").unwrap_err();
        assert!(
            matches!(error, SkillError::BadName { .. }),
            "{name}: {error}"
        );
    }
    for description in [" \n", &"x".repeat(1_025)] {
        let error = scaffold(all.path(), "beans", description).unwrap_err();
        assert!(
            matches!(error, SkillError::BadDescription { .. }),
            "{error}"
        );
    }
    assert_eq!(fs::read_dir(all.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_there_is_not_touched() {
    let all = tempfile::tempdir().unwrap();
    fs::create_dir(all.path().join("beans")).unwrap();
    let error = scaffold(all.path(), "beans", "Sorts beans.").unwrap_err();
    assert!(matches!(error, SkillError::Exists { .. }), "{error}");
    assert_eq!(fs::read_dir(all.path().join("beans")).unwrap().count(), 0);
}
