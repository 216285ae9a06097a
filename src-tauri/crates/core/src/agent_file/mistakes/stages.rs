//! What is said of a path that can't be gone.

use expect_test::expect;

use super::refused;
use crate::agent_file::{parse, to_toml};

#[test]
fn a_path_that_ends_nowhere_or_begins_with_helpers_is_told() {
    refused(
        r#"
[[stage]]
name = "first"
instructions = "Look."
each = "plan"
[[stage]]
name = "Second"
tools = ["search_library"]
[[stage]]
name = "first"
instructions = "Write."
each = "list"
done_when = [{ file = "a.html" }]
"#,
        expect![[r#"
            2:1 stage[1].each | No stage before this one makes the plan. | Put a stage before it that ends with done_when = [{ plan = "made" }].
            2:1 stage[1].each | The helpers of this stage are begun by “delegate”, which is not granted. | Add “delegate” to allow in [tools].
            7:1 stage[2].instructions | The stage has no “instructions”. | Write it like this: instructions = "Write the plan."
            7:8 stage[2].name | “Second” can't be the name of a stage. | Use lower-case letters, digits and “-”, as in name = "plan".
            8:10 stage[2].tools | “search_library” is not granted to this agent, so this has no effect. | Add “search_library” to allow in [tools], or take this out.
            9:1 stage[3].done_when | “first” is the last stage, which is done when the agent is. | Write these criteria under [[done_when]], after the stages.
            9:1 stage[3] | Two stages are called “first”. | Give each a name of its own.
            12:8 stage[3].each | stage[3].each can't be “list”. | Known is plan.
        "#]],
    );
}

#[test]
fn criteria_of_a_stage_are_read_as_those_of_the_file_are() {
    refused(
        r#"
[[stage]]
name = "plan"
instructions = "Plan."
done_when = [{ plan = "mad" }, { plan = "made", min = 0 }, "made"]
[[stage]]
name = "write"
instructions = "Write."
[[done_when]]
plan = "closed"
min = 1
of = "x"
"#,
        expect![[r#"
            5:23 stage[1].done_when[1].plan | stage[1].done_when[1].plan can't be “mad”. | Did you mean “made”?
            5:55 stage[1].done_when[2].min | stage[1].done_when[2].min can't be 0. | Give a number from 1 to 100.
            5:60 stage[1].done_when[3] | stage[1].done_when[3] must be a table, not a text. | Write it like this: [[stage.done_when]]
            12:1 done_when[1].of | There is no key “of” here. | Write it under [[done_when]] beside judge.
        "#]],
    );
}

#[test]
fn a_path_is_read_and_written_as_it_is() {
    let text = r#"
name = "a"
[tools]
allow = ["search_library", "delegate"]
[[stage]]
name = "plan"
instructions = "Plan."
tools = ["search_library"]
done_when = [{ plan = "made", min = 3 }, { file = "notes.md" }]
[[stage]]
name = "parts"
instructions = "Do your part."
each = "plan"
[[stage]]
name = "whole"
instructions = "Put it together."
[[done_when]]
plan = "closed"
"#;
    let spec = parse(text, "a").unwrap();
    assert_eq!(spec.stages.len(), 3);
    assert_eq!(parse(&to_toml(&spec), "a").unwrap(), spec);
}
