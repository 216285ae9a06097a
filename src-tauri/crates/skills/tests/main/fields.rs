//! Front matter whose fields break a rule of the specification.

use expect_test::expect;

use crate::broken::{DESCRIPTION, front, told};

#[test]
fn no_name() {
    told(
        front(DESCRIPTION),
        expect![[r#"
        error: SKILL.md:2: `name` is missing or empty. Add `name: beans`.
        as beans, usable"#]],
    );
}

#[test]
fn an_empty_name() {
    told(
        front(&format!("name:\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: `name` is missing or empty. Add `name: beans`.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_in_upper_case() {
    told(
        front(&format!("name: Beans\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “Beans” has upper-case letters. Use lower-case letters, digits and single hyphens inside: `beans`.
        error: SKILL.md:2: The name “Beans” is not that of its folder, “beans”. Rename one after the other.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_with_an_underscore() {
    told(
        front(&format!("name: be_ans\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “be_ans” has `_` in it. Use lower-case letters, digits and single hyphens inside: `be-ans`.
        error: SKILL.md:2: The name “be_ans” is not that of its folder, “beans”. Rename one after the other.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_with_a_space() {
    told(
        front(&format!("name: my beans\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “my beans” has a space in it. Use lower-case letters, digits and single hyphens inside: `my-beans`.
        error: SKILL.md:2: The name “my beans” is not that of its folder, “beans”. Rename one after the other.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_with_outer_hyphens() {
    told(
        front(&format!("name: \"-beans\"\n{DESCRIPTION}")),
        expect![[r#"
            error: SKILL.md:2: The name “-beans” begins or ends with a hyphen. Use lower-case letters, digits and single hyphens inside: `beans`.
            error: SKILL.md:2: The name “-beans” is not that of its folder, “beans”. Rename one after the other.
            as beans, usable"#]],
    );
}

#[test]
fn a_name_with_two_hyphens() {
    told(
        front(&format!("name: be--ans\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “be--ans” has two hyphens in a row. Use lower-case letters, digits and single hyphens inside: `be-ans`.
        error: SKILL.md:2: The name “be--ans” is not that of its folder, “beans”. Rename one after the other.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_that_is_too_long() {
    let name = "b".repeat(65);
    told(
        front(&format!("name: {name}\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb” has 65 characters, more than 64. Use lower-case letters, digits and single hyphens inside: `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb`.
        error: SKILL.md:2: The name “bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb” is not that of its folder, “beans”. Rename one after the other.
        as beans, usable"#]],
    );
}

#[test]
fn a_name_that_is_not_the_folders() {
    told(
        front(&format!("name: peas\n{DESCRIPTION}")),
        expect![[r#"
        error: SKILL.md:2: The name “peas” is not that of its folder, “beans”. Rename one after the other.
        as peas, usable"#]],
    );
}

#[test]
fn a_name_with_a_character_that_is_not_seen() {
    told(
        front(&format!("name: \"be\\u200bans\"\n{DESCRIPTION}")),
        expect![[r#"
            error: SKILL.md:2: `name` holds U+200B, which is not seen. Remove it; it is not taken over.
            as beans, usable"#]],
    );
}

#[test]
fn a_name_that_is_a_list() {
    told(
        front(&format!("name:\n  - beans\n{DESCRIPTION}")),
        expect![[r#"
            error: SKILL.md:2: `name` is no text. Write text on the same line, in quotes if it has signs in it.
            as beans, usable"#]],
    );
}

#[test]
fn no_description() {
    told(
        front("name: beans"),
        expect![[r#"
        left out: SKILL.md:2: `description` is missing or empty, so no model would know when to use the skill. Say in one or two sentences what the skill does and when to use it.
        as beans, not usable"#]],
    );
}

#[test]
fn an_empty_description() {
    told(
        front("name: beans\ndescription: \"  \""),
        expect![[r#"
        left out: SKILL.md:3: `description` is missing or empty, so no model would know when to use the skill. Say in one or two sentences what the skill does and when to use it.
        as beans, not usable"#]],
    );
}

#[test]
fn a_description_that_is_too_long() {
    let long = "bean ".repeat(205);
    told(
        front(&format!("name: beans\ndescription: {long}end")),
        expect![[r#"
            error: SKILL.md:3: `description` has 1028 characters, more than 1024. Shorten it; details belong into the body.
            as beans, usable"#]],
    );
}

#[test]
fn a_description_with_an_unquoted_colon() {
    told(
        front(
            "name: beans\ndescription: Sorts beans. Use when: there are beans\n  of more than one colour: always.",
        ),
        expect![[r#"
            error: SKILL.md:3: The value has a colon or another sign of YAML and no quotes around it. Put the value in double quotes.
            as beans, usable"#]],
    );
}

#[test]
fn an_unknown_field() {
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\nlicence: MIT\nversion: 2"
        )),
        expect![[r#"
            error: SKILL.md:4: The specification has no field `licence`. Did you mean `license`?
            error: SKILL.md:5: The specification has no field `version`. Put it under `metadata`, as text.
            as beans, usable"#]],
    );
}

#[test]
fn a_field_that_occurs_twice() {
    told(
        front(&format!("name: beans\n{DESCRIPTION}\nname: peas")),
        expect![[r#"
            error: SKILL.md:4: `name` is here a second time. Keep one of them; the first one counts.
            as beans, usable"#]],
    );
}

#[test]
fn a_compatibility_note_that_is_too_long() {
    let long = "x".repeat(501);
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\ncompatibility: {long}"
        )),
        expect![[r#"
            error: SKILL.md:4: `compatibility` has 501 characters; it has 1 to 500 where it is given. Name only what the skill needs of the machine, or remove the field.
            as beans, usable"#]],
    );
}

#[test]
fn an_empty_compatibility_note() {
    told(
        front(&format!("name: beans\n{DESCRIPTION}\ncompatibility:")),
        expect![[r#"
            error: SKILL.md:4: `compatibility` has 0 characters; it has 1 to 500 where it is given. Name only what the skill needs of the machine, or remove the field.
            as beans, usable"#]],
    );
}

#[test]
fn metadata_that_are_text() {
    told(
        front(&format!("name: beans\n{DESCRIPTION}\nmetadata: Ada")),
        expect![[r#"
            error: SKILL.md:4: `metadata` is no mapping. Write `name: text` lines under it, indented by two spaces.
            as beans, usable"#]],
    );
}

#[test]
fn tools_that_are_a_mapping() {
    told(
        front(&format!(
            "name: beans\n{DESCRIPTION}\nallowed-tools:\n  read: true"
        )),
        expect![[r#"
            error: SKILL.md:4: `allowed-tools` names tools by text, and this is none. Write the tools' names in one line with spaces between, or as a list of them.
            as beans, usable"#]],
    );
}
