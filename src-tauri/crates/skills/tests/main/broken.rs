//! Broken skills, generated: each is told exactly what is wrong with it, and where. Those whose
//! fields break a rule are in `fields`.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use longrein_skills::{Severity, check};

use crate::kit::{keep, manifest, write};

/// Checks a folder `beans` whose `SKILL.md` is this.
pub fn told(text: impl AsRef<[u8]>, expected: Expect) {
    folder_told(|folder| write(&folder.join("SKILL.md"), text), expected);
}

fn folder_told(make: impl FnOnce(&Path), expected: Expect) {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("beans");
    fs::create_dir(&folder).unwrap();
    make(&folder);
    keep(&folder);
    let checked = check(&folder).unwrap();
    let mut shown: Vec<String> = checked
        .problems
        .iter()
        .map(|problem| {
            let weight = match problem.severity {
                Severity::Advice => "advice",
                Severity::Error => "error",
                Severity::Fatal => "left out",
            };
            format!("{weight}: {problem}")
        })
        .collect();
    shown.push(format!(
        "as {}, {}",
        checked.name,
        match (checked.is_usable(), checked.is_publishable()) {
            (true, true) => "publishable",
            (true, false) => "usable",
            (false, _) => "not usable",
        }
    ));
    let folder = folder.display().to_string();
    expected.assert_eq(&shown.join("\n").replace(&folder, "FOLDER"));
}

pub const DESCRIPTION: &str = "description: Sorts beans by colour. Use when there are beans.";

pub fn front(fields: &str) -> String {
    format!("---\n{fields}\n---\n\nSort them.\n")
}

#[test]
fn a_folder_without_a_manifest() {
    folder_told(
        |_| {},
        expect![[r#"
        left out: The folder has no SKILL.md. Add one that begins with `---`, `name:`, `description:` and `---`.
        as beans, not usable"#]],
    );
}

#[test]
fn an_empty_file() {
    told(
        "",
        expect![[r#"
        left out: SKILL.md:1: It does not begin with `---`, so it has no front matter. Begin the file with `---`, then `name:` and `description:`, then `---`.
        as beans, not usable"#]],
    );
}

#[test]
fn no_front_matter() {
    told(
        "# Beans\n\nSort them.\n",
        expect![[r#"
        left out: SKILL.md:1: It does not begin with `---`, so it has no front matter. Begin the file with `---`, then `name:` and `description:`, then `---`.
        as beans, not usable"#]],
    );
}

#[test]
fn blank_lines_before_the_front_matter() {
    told(
        format!("\n\n{}", manifest("beans")),
        expect![[r#"
        error: SKILL.md:1: Blank lines stand before the first `---`. Remove them: the file begins with `---`.
        as beans, usable"#]],
    );
}

#[test]
fn a_byte_order_mark() {
    told(
        format!("\u{feff}{}", manifest("beans")),
        expect![[r#"
        error: SKILL.md:1: A byte order mark stands before the first `---`. Save the file as UTF-8 without a mark.
        as beans, usable"#]],
    );
}

#[test]
fn front_matter_without_an_end() {
    told(
        format!("---\nname: beans\n{DESCRIPTION}\n"),
        expect![[r#"
        left out: SKILL.md:1: The front matter that begins here has no end. Write a line `---` after its last field.
        as beans, not usable"#]],
    );
}

#[test]
fn empty_front_matter() {
    told(
        "---\n---\nSort them.\n",
        expect![[r#"
        left out: SKILL.md:2: The front matter is no list of fields with values. Write one field to a line: `name: …`, `description: …`.
        as beans, not usable"#]],
    );
}

#[test]
fn front_matter_that_is_a_list() {
    told(
        front("- name\n- description"),
        expect![[r#"
        left out: SKILL.md:2: The front matter is no list of fields with values. Write one field to a line: `name: …`, `description: …`.
        as beans, not usable"#]],
    );
}

#[test]
fn bytes_that_are_no_text() {
    told(
        b"---\nname: beans\ndescription: \xff\n---\n",
        expect![[r#"
        left out: SKILL.md:3: Here stands a byte that is no UTF-8. Save the file as UTF-8.
        as beans, not usable"#]],
    );
}

#[test]
fn tabs_for_indentation() {
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\nmetadata:\n\tauthor: Ada"
        )),
        expect![[r#"
            left out: SKILL.md:5: The front matter can't be read: tabs disallowed within this context (block indentation). Indent with spaces: YAML takes no tabs.
            as beans, not usable"#]],
    );
}

#[test]
fn a_quote_without_an_end() {
    told(
        front("name: beans\ndescription: \"Sorts beans"),
        expect![[r#"
        left out: SKILL.md:3: The front matter can't be read: while scanning a quoted scalar, found unexpected end of stream. Mend the line “description: "Sorts beans”; text with signs in it goes into quotes.
        as beans, not usable"#]],
    );
}

#[test]
fn values_in_brackets_and_braces() {
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\nmetadata: {{a: b}}\nallowed-tools: [read]"
        )),
        expect![[r#"
            error: SKILL.md:4: A value in brackets or braces is not read by every program. Put quotes around it if it is text; else write one entry to a line.
            error: SKILL.md:5: A value in brackets or braces is not read by every program. Put quotes around it if it is text; else write one entry to a line.
            as beans, usable"#]],
    );
}

#[test]
fn anchors_aliases_and_tags() {
    told(
        front("name: &n beans\ndescription: !!str Sorts beans by colour, one by one.\nlicense: *n"),
        expect![[r#"
            error: SKILL.md:2: Anchors (`&`) and aliases (`*`) are not part of front matter; an alias counts as empty. Write the value out, in quotes if it begins with `&` or `*`.
            error: SKILL.md:3: Tags (`!`) are not part of front matter. Remove the tag, or put the value in quotes.
            error: SKILL.md:4: Anchors (`&`) and aliases (`*`) are not part of front matter; an alias counts as empty. Write the value out, in quotes if it begins with `&` or `*`.
            as beans, usable"#]],
    );
}

#[test]
fn three_hyphens_in_a_value() {
    told(
        front("name: beans\ndescription: Sorts beans --- all of them --- by colour."),
        expect![[r#"
            error: SKILL.md:3: `---` stands inside the front matter, and other readers end it here. Write one or two hyphens, or a dash.
            as beans, usable"#]],
    );
}

#[test]
fn uneven_indentation() {
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\nmetadata:\n    a:\n      b: c\n    d: e"
        )),
        expect![[r#"
            advice: SKILL.md:5: A value under `metadata` is no text, and is left out. Metadata are names with text; write it as text.
            error: SKILL.md:6: This is indented by another step than the lines above. Indent every level by the same number of spaces.
            as beans, usable"#]],
    );
}

#[test]
fn a_manifest_that_is_too_large() {
    let long = format!("{}{}", manifest("beans"), "x".repeat(512 * 1024));
    told(
        long,
        expect![[r#"
        left out: SKILL.md: FOLDER/SKILL.md has 524412 bytes; at most 524288 bytes are taken. Move what is long into files under references/.
        as beans, not usable"#]],
    );
}

#[test]
fn a_manifest_that_is_a_folder() {
    folder_told(
        |folder| write(&folder.join("SKILL.md/inner"), "x"),
        expect![[r#"
            left out: The folder has no SKILL.md. Add one that begins with `---`, `name:`, `description:` and `---`.
            as beans, not usable"#]],
    );
}

#[test]
fn front_matter_that_is_a_bomb() {
    let deep = format!(
        "name: beans\n{DESCRIPTION}\nmetadata: {}",
        "[".repeat(1_000)
    );
    told(
        front(&deep),
        expect![[r#"
        left out: SKILL.md:4: The front matter can't be read: recursion limit exceeded. Mend the line “metadata: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…”; text with signs in it goes into quotes.
        as beans, not usable"#]],
    );
}

#[test]
fn a_body_that_names_files_that_are_not_there() {
    told(
        format!(
            "{}\nSee [the guide](references/guide.md), [the web](https://example.org) and [above](#top).\nRun `scripts/go.py`.\n",
            manifest("beans")
        ),
        expect![[r#"
            advice: SKILL.md:11: It names “references/guide.md”, and the folder has no such file. Add the file or correct the path, which begins at the skill's folder.
            advice: SKILL.md:12: It names “scripts/go.py”, and the folder has no such file. Add the file or correct the path, which begins at the skill's folder.
            as beans, publishable"#]],
    );
}

#[test]
fn no_instructions_and_a_short_description() {
    told(
        "---\nname: beans\ndescription: Sorts beans.\n---\n",
        expect![[r#"
            advice: SKILL.md:3: `description` is so short that a model may not see when to use the skill. Say what it does, when to use it, and the words people use for that.
            advice: SKILL.md:5: There are no instructions after the front matter. Say step by step what to do.
            as beans, publishable"#]],
    );
}

#[test]
fn more_instructions_than_advised() {
    told(
        format!("{}{}", manifest("beans"), "Sort.\n".repeat(500)),
        expect![[r#"
            advice: SKILL.md:6: The instructions have 504 lines, more than 500. Move what is not always needed into files under references/.
            as beans, publishable"#]],
    );
}

#[cfg(unix)]
#[test]
fn links_pipes_and_names_that_not_every_system_keeps() {
    folder_told(
        |folder| {
            write(&folder.join("SKILL.md"), manifest("beans"));
            write(&folder.join("notes/a:b.md"), "x");
            write(&folder.join("Read.md"), "x");
            write(&folder.join("READ.md"), "x");
            std::os::unix::fs::symlink("/etc/hostname", folder.join("out")).unwrap();
            std::os::unix::fs::symlink("SKILL.md", folder.join("inside")).unwrap();
            pipe(&folder.join("pipe"));
        },
        expect![[r#"
            error: Read.md: Some systems take “READ.md” and this for one name. Rename one of them.
            error: inside: It is a link to “SKILL.md”. Put the file itself there: links are neither followed nor installed.
            error: notes/a:b.md: The name has a sign in it that some systems don't allow in names. Rename it.
            error: out: It is a link to “/etc/hostname”, out of the skill's folder. Put the file itself there: links are neither followed nor installed.
            error: pipe: It is neither a file nor a folder but a pipe, a socket or a device. Remove it: it is never opened.
            as beans, usable"#]],
    );
}

#[cfg(unix)]
#[test]
fn a_manifest_that_is_a_pipe_is_not_waited_for() {
    folder_told(
        |folder| pipe(&folder.join("SKILL.md")),
        expect![[r#"
        left out: SKILL.md: It is no regular file, and is not opened. Put the file itself there.
        error: SKILL.md: It is neither a file nor a folder but a pipe, a socket or a device. Remove it: it is never opened.
        as beans, not usable"#]],
    );
}

#[cfg(unix)]
#[test]
fn a_manifest_that_is_a_link_is_not_followed() {
    folder_told(
        |folder| {
            let other = folder.parent().unwrap().join("other.md");
            write(&other, manifest("beans"));
            std::os::unix::fs::symlink("../other.md", folder.join("SKILL.md")).unwrap();
        },
        expect![[r#"
            left out: SKILL.md: It is no regular file, and is not opened. Put the file itself there.
            error: SKILL.md: It is a link to “../other.md”, out of the skill's folder. Put the file itself there: links are neither followed nor installed.
            as beans, not usable"#]],
    );
}

#[cfg(unix)]
pub fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}
