//! Good skills: nothing is wrong with them, and everything that they say is read.

use std::fs;

use longrein_skills::{Manifest, Severity, check};

use crate::kit::{keep, write};

fn checked(name: &str, text: &str) -> Manifest {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join(name);
    write(&folder.join("SKILL.md"), text);
    keep(&folder);
    let checked = check(&folder).unwrap();
    let wrong: Vec<String> = checked
        .problems
        .iter()
        .filter(|problem| problem.severity > Severity::Advice)
        .map(ToString::to_string)
        .collect();
    assert_eq!(wrong, [] as [String; 0], "{text}");
    assert!(checked.is_publishable() && checked.is_usable());
    checked.manifest.unwrap()
}

#[test]
fn everything_that_a_manifest_may_say_is_read() {
    let manifest = checked(
        "pdf-processing",
        "---\nname: pdf-processing\ndescription: Extracts text from PDF files. Use for PDF.\nlicense: Apache-2.0\ncompatibility: Requires Python 3.11+\nmetadata:\n  author: example-org\n  version: \"1.0\"\nallowed-tools: Bash(git add:*) Bash(jq:*) Read\n---\n\nBody.\n",
    );
    assert_eq!(manifest.name, "pdf-processing");
    assert_eq!(
        manifest.description,
        "Extracts text from PDF files. Use for PDF."
    );
    assert_eq!(manifest.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(
        manifest.compatibility.as_deref(),
        Some("Requires Python 3.11+")
    );
    assert_eq!(manifest.metadata["version"], "1.0");
    assert_eq!(
        manifest.allowed_tools,
        ["Bash(git add:*)", "Bash(jq:*)", "Read"]
    );
}

#[test]
fn every_way_to_write_a_value_is_taken() {
    let folded = checked(
        "a",
        "---\nname: a\ndescription: >\n  Does one thing\n  and another thing.\n---\nDo.\n",
    );
    assert_eq!(folded.description, "Does one thing and another thing.");
    let literal = checked(
        "a",
        "---\nname: \"a\"\ndescription: |-\n  One thing here\n  and another there.\n---\nDo.\n",
    );
    assert_eq!(literal.description, "One thing here\nand another there.");
    let quoted = checked(
        "a",
        "---\nname: 'a'\ndescription: 'It''s this: use it when that.'\n---\nDo.\n",
    );
    assert_eq!(quoted.description, "It's this: use it when that.");
    let tools = checked(
        "a",
        "---\nname: a # the name\ndescription: Does this and that for you.\nallowed-tools:\n  - Read\n  - Bash(git:*)\n---\nDo.\n",
    );
    assert_eq!(tools.allowed_tools, ["Read", "Bash(git:*)"]);
    let windows = checked(
        "a",
        "---\r\nname: a\r\ndescription: Does this and that for you.\r\n---\r\nDo.\r\n",
    );
    assert_eq!(windows.description, "Does this and that for you.");
    let spaced = checked(
        "a",
        "---  \nname: a\ndescription: Does this and that for you.\n---\t\nDo.\n",
    );
    assert_eq!(spaced.name, "a");
}

#[test]
fn names_of_every_script_and_length_are_taken() {
    for name in ["a", "7", "データ分析", "naïve-bayes", &"x".repeat(64)] {
        let text =
            format!("---\nname: {name}\ndescription: Does this and that for you.\n---\nDo.\n");
        assert_eq!(checked(name, &text).name, name);
    }
}

#[test]
fn a_name_of_another_form_of_the_same_letters_is_the_folders() {
    let text = "---\nname: cafe\u{301}\ndescription: Does this and that for you.\n---\nDo.\n";
    assert_eq!(checked("caf\u{e9}", text).name, "caf\u{e9}");
}

#[test]
fn what_version_control_and_systems_leave_is_no_part_of_a_skill() {
    let all = tempfile::tempdir().unwrap();
    let folder = crate::kit::skill(all.path(), "beans");
    write(&folder.join(".git/config"), "x");
    write(&folder.join(".DS_Store"), "x");
    fs::write(folder.join("scripts/Thumbs.db"), "x").unwrap();
    assert_eq!(check(&folder).unwrap().problems, []);
}

#[test]
fn no_cut_and_no_stray_byte_is_more_than_a_problem() {
    let whole = "---\nname: a\ndescription: >\n  Does: this\n  and \"that\".\nmetadata:\n  b: 'c'\n  d: |\n    é\nallowed-tools:\n  - x(y)\n---\n# Do\n[a](b.md)\n";
    let whole = whole.as_bytes();
    for at in 0..whole.len() {
        let mut spoiled = whole.to_vec();
        for byte in [0, b'\n', b'\t', b'"', b':', b'{', b'-', 0xff] {
            spoiled[at] = byte;
            let parsed = longrein_skills::parse("a", &spoiled);
            assert!(parsed.manifest.is_some() || !parsed.problems.is_empty());
        }
        let cut = longrein_skills::parse("a", &whole[..at]);
        assert!(cut.manifest.is_some() || !cut.problems.is_empty());
    }
}

#[test]
fn a_text_without_a_limit_of_its_own_is_kept_in_part_and_said() {
    let long = "x".repeat(2_000);
    let text = format!(
        "---\nname: a\ndescription: Does this and that for you.\nlicense: {long}\nmetadata:\n  b: {long}\n---\nDo.\n"
    );
    let parsed = longrein_skills::parse("a", text.as_bytes());
    assert_eq!(parsed.problems.len(), 2);
    let manifest = parsed.manifest.unwrap();
    assert_eq!(manifest.license.unwrap().len(), 1_024);
    assert_eq!(manifest.metadata["b"].len(), 1_024);
}
