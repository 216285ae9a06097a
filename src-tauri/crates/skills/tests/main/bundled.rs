//! The skills that ship: nothing is wrong with them, and their programs do what they say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use longrein_skills::{PlaceKind, Standing, bundled_names, check};
use tempfile::TempDir;

use crate::kit::{World, skill};

fn shipped(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../skills");
    root.canonicalize().unwrap().join(name)
}

/// A copy of a bundled skill as a sandbox gets it, with a folder to work in.
pub struct Bench {
    skill: PathBuf,
    pub work: PathBuf,
    _all: TempDir,
}

impl Bench {
    pub fn of(name: &str) -> Self {
        let world = World::new();
        let skill = world.at("skill");
        world.skills.copy_to(name, &skill).unwrap();
        let work = world.at("project");
        Self {
            skill,
            work,
            _all: world.all,
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        crate::kit::write(&self.work.join(name), text);
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work.join(name)).unwrap()
    }

    /// Runs a program of the skill, without anything that this machine has set up for people.
    pub fn run(&self, script: &str, arguments: &[&str]) -> Output {
        Command::new("python3")
            .arg("-I")
            .arg("-B")
            .arg("-W")
            .arg("error")
            .arg("-c")
            // `-I` keeps foreign folders out, the script's own among them.
            .arg("import runpy, sys; sys.argv = sys.argv[1:]; sys.path.insert(0, __import__('os').path.dirname(sys.argv[0])); runpy.run_path(sys.argv[0], run_name='__main__')")
            .arg(self.skill.join("scripts").join(script))
            .args(arguments)
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PYTHONUTF8", "1")
            .output()
            .unwrap()
    }

    /// Runs it and gives what it says; it has to end well.
    pub fn told(&self, script: &str, arguments: &[&str]) -> String {
        let output = self.run(script, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {error}");
        assert_eq!(error, "", "{script} warns of nothing");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it and gives the mistake that it tells, with its status.
    pub fn refused(&self, script: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(script, arguments);
        assert!(!output.status.success(), "{script} refuses");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!error.contains("Traceback"), "{error}");
        (output.status.code(), error)
    }
}

#[test]
fn nothing_is_wrong_with_the_skills_that_ship() {
    assert_eq!(
        bundled_names().collect::<Vec<_>>(),
        ["data-analysis", "research-page"]
    );
    for name in bundled_names() {
        let checked = check(&shipped(name)).unwrap();
        assert_eq!(checked.problems, [], "{name}");
        let text = fs::read_to_string(shipped(name).join("SKILL.md")).unwrap();
        assert!(text.lines().count() < 500, "{name}");
    }
}

#[test]
fn what_is_embedded_is_what_lies_in_the_folders() {
    let world = World::new();
    for name in bundled_names() {
        let source = shipped(name);
        world.install(&source).unwrap();
        let listed = world.listed(name);
        assert_eq!(listed[1].place, PlaceKind::Bundled);
        assert_eq!(listed[1].standing, Standing::Bundled);
        assert_eq!(
            listed[0].hash, listed[1].hash,
            "{name}: `bundled.rs` lists its files"
        );
    }
}

#[test]
fn a_bundled_skill_needs_no_approval_and_can_be_replaced_by_an_accepted_one() {
    let world = World::new();
    let loaded = world.skills.load("research-page").unwrap();
    assert_eq!(loaded.place, PlaceKind::Bundled);
    assert!(loaded.body.contains("[S3: \"exact words\"]"));
    let file = world
        .skills
        .read("research-page", "references/evidence.md")
        .unwrap();
    assert!(file.text("research-page").unwrap().contains("uncited"));
    skill(&world.at("project/.agents/skills"), "research-page");
    assert_eq!(world.used("research-page").place, PlaceKind::Bundled);
}

#[test]
fn the_review_of_a_skill_that_ships_shows_no_reach_beyond_the_folder() {
    let world = World::new();
    for name in bundled_names() {
        let review = world.skills.review(name).unwrap();
        let reaches: Vec<_> = review
            .reaches
            .iter()
            .map(|reach| (reach.kind, &reach.value))
            .collect();
        assert!(
            reaches
                .iter()
                .all(|(_, value)| value.as_str() == "www.w3.org"),
            "{name}: {reaches:?}"
        );
    }
}
