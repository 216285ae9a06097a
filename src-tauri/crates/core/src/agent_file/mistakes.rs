//! Files with mistakes, and what is said of each.

mod criteria;
mod recovery;
mod rules;
mod sandbox;
mod stages;

use expect_test::{Expect, expect};

use super::{Checked, check, parse};

fn problems(text: &str) -> String {
    let Checked { spec, problems } = check(text, "given.agent.toml");
    let usable = if spec.is_some() { "usable\n" } else { "" };
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| {
            format!(
                "{}:{} {} | {} | {}\n",
                problem.line, problem.column, problem.path, problem.message, problem.remedy
            )
        })
        .collect();
    format!("{}{usable}", lines.concat())
}

fn refused(text: &str, expected: Expect) {
    assert!(parse(text, "given.agent.toml").is_err(), "{text}");
    expected.assert_eq(&problems(text));
}

#[test]
fn what_is_no_toml_is_told_line_by_line() {
    refused(
        "name = research\nsteps = = 3\n[budget]\nsteps = 0",
        expect![[r#"
            1:8  | This is not TOML: string values must be quoted, expected literal string. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
            2:9  | This is not TOML: extra `=`, expected nothing. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
            4:9 budget.steps | budget.steps can't be 0. | Give a number from 1 to 1,000,000.
        "#]],
    );
    refused(
        "name = \"research",
        expect![[r#"
        1:17  | This is not TOML: invalid basic string, expected `"`. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
    "#]],
    );
    refused(
        "[model\nuse = [\"local/any\"]",
        expect![[r#"
            1:7  | This is not TOML: unclosed table, expected `]`. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
        "#]],
    );
    refused(
        "name = \"a\"\nname = \"b\"",
        expect![[r#"
        2:1  | This is not TOML: duplicate key. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
    "#]],
    );
    refused(
        "[budget]\nsteps = 1\n[budget]\nsteps = 2",
        expect![[r#"
        3:2  | This is not TOML: duplicate key. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
        4:1  | This is not TOML: duplicate key. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
    "#]],
    );
    refused(
        "description = \"\"\"\nnever closed",
        expect![[r#"
        2:13  | This is not TOML: invalid multi-line basic string, expected `"`. | Texts stand in quotes, lists in [ ], and each key stands once in its table.
    "#]],
    );
    refused(
        &"#".repeat(super::reader::FILE_BYTES_MAX + 1),
        expect![[r#"
            1:1  | The file has 262145 bytes. | At most 262144 bytes are read; move long texts elsewhere.
        "#]],
    );
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one_or_its_place() {
    refused(
        "instruction = \"x\"",
        expect![[r#"
        1:1 instruction | There is no key “instruction”. | Did you mean “instructions”?
    "#]],
    );
    refused(
        "[budgt]\nsteps = 3",
        expect![[r#"
        1:2 budgt | There is no key “budgt”. | Did you mean “budget”?
    "#]],
    );
    refused(
        "[budget]\nstep = 3",
        expect![[r#"
        2:1 budget.step | There is no key “step”. | Did you mean “steps”?
    "#]],
    );
    refused(
        "steps = 3",
        expect![[r#"
        1:1 steps | There is no key “steps” here. | Write it under [budget].
    "#]],
    );
    refused(
        "[model]\nzzz = 3",
        expect![[r#"
            2:1 model.zzz | There is no key “zzz”. | Known are use, max_output_tokens, window_tokens, temperature and thinking.
        "#]],
    );
    refused(
        "[tools]\nalow = [\"files\"]",
        expect![[r#"
        2:1 tools.alow | There is no key “alow”. | Did you mean “allow”?
    "#]],
    );
    refused(
        "[tools.\"a.b\"]\nefect = \"read\"",
        expect![[r#"
        1:8 tools."a.b" | “a.b” is not granted to this agent, so this has no effect. | Add “a.b” to allow in [tools], or take this out.
        2:1 tools."a.b".efect | There is no key “efect”. | Did you mean “effect”?
    "#]],
    );
    refused(
        "[[done_when]]\nfiles = \"a\"",
        expect![[r#"
        2:1 done_when[1].files | There is no key “files”. | Did you mean “file”?
    "#]],
    );
    refused(
        "[[done_when]]\nfile = \"a\"\nuncited = \"forbid\"",
        expect![[r#"
            3:1 done_when[1].uncited | There is no key “uncited” here. | Write it under [[done_when]] beside evidence.
        "#]],
    );
}

#[test]
fn a_value_of_another_kind_is_told_with_the_kind_and_an_example() {
    refused(
        "name = 7",
        expect![[r#"
        1:8 name | name must be a text, not a whole number. | Write it like this: name = "research"
    "#]],
    );
    refused(
        "description = [\"x\"]",
        expect![[r#"
        1:15 description | description must be a text, not a list. | Write it like this: description = "Answers a question with one cited page."
    "#]],
    );
    refused(
        "model = \"local/any\"",
        expect![[r#"
        1:9 model | model must be a table, not a text. | Write it like this: [model]
    "#]],
    );
    refused(
        "[model]\nuse = \"local/any\"",
        expect![[r#"
        2:7 model.use | model.use must be a list of texts, not a text. | Write it like this: use = ["local/any"]
    "#]],
    );
    refused(
        "[model]\nuse = [1]",
        expect![[r#"
            2:8 model.use | each part of model.use must be a text, not a whole number. | Write it like this: use = ["local/any"]
        "#]],
    );
    refused(
        "[tools]\nallow = \"files\"",
        expect![[r#"
        2:9 tools.allow | tools.allow must be a list of texts, not a text. | Write it like this: allow = ["files", "search_library", "server.tool"]
    "#]],
    );
}

#[test]
fn a_list_a_number_or_a_table_of_another_kind_is_told_too() {
    refused(
        "[policy]\ntool = \"a.b\"",
        expect![[r#"
        1:1 policy | policy must be a list of tables, not a table. | Write it like this: [[policy]]
    "#]],
    );
    refused(
        "policy = [1]",
        expect![[r#"
            1:11 policy[1] | policy[1] must be a table, not a whole number. | Write it like this: [[policy]]
        "#]],
    );
    refused(
        "[budget]\nsteps = \"many\"\ntokens_in = 1.5\nactions = true",
        expect![[r#"
            2:9 budget.steps | budget.steps must be a whole number, not a text. | Write it like this: steps = 80
            3:13 budget.tokens_in | budget.tokens_in must be a whole number, not a number with a fraction. | Write it like this: tokens_in = 2_000_000
            4:11 budget.actions | budget.actions must be a whole number, not true or false. | Write it like this: actions = 200
        "#]],
    );
    refused(
        "[context]\ncompact_at = \"75 %\"",
        expect![[r#"
        2:14 context.compact_at | context.compact_at must be a number, not a text. | Write it like this: compact_at = 0.75
    "#]],
    );
    refused(
        "[library]\nfolders = [1979-05-27]",
        expect![[r#"
            2:12 library.folders | each part of library.folders must be a text, not a date. | Write it like this: folders = ["~/Papers"]
        "#]],
    );
}

#[test]
fn a_number_out_of_range_is_told_with_the_range() {
    refused(
        "[budget]\nsteps = 0\ntokens_in = -5\nworking_minutes = 99999999999999999999\nactions = 0x0",
        expect![[r#"
            2:9 budget.steps | budget.steps can't be 0. | Give a number from 1 to 1,000,000.
            3:13 budget.tokens_in | budget.tokens_in can't be -5. | Give a number from 1,000 to 4,294,967,295.
            4:19 budget.working_minutes | budget.working_minutes can't be 99999999999999999999. | Give a number from 1 to 525,600.
            5:11 budget.actions | budget.actions can't be 0x0. | Give a number from 1 to 1,000,000.
        "#]],
    );
    refused(
        "[context]\ncompact_at = 1.5\noffload_above_tokens = 3",
        expect![[r#"
            2:14 context.compact_at | context.compact_at can't be 1.5. | Give a number from 0.2 to 0.95.
            3:24 context.offload_above_tokens | context.offload_above_tokens can't be 3. | Give a number from 100 to 1,000,000.
        "#]],
    );
    refused(
        "[model]\nthinking = \"hard\"",
        expect![[r#"
            2:12 model.thinking | model.thinking can't be “hard”. | Known are off, low, medium and high.
        "#]],
    );
    refused(
        "[model]\ntemperature = nan\nmax_output_tokens = 0",
        expect![[r#"
            2:15 model.temperature | model.temperature can't be nan. | Give a number from 0 to 2.
            3:21 model.max_output_tokens | model.max_output_tokens can't be 0. | Give a number from 16 to 1,000,000.
        "#]],
    );
    refused(
        "[model]\nmax_output_tokens = 40000",
        expect![[r#"
        2:21 model.max_output_tokens | An answer of 40000 tokens leaves no room in a window of 32768. | Make max_output_tokens much smaller than window_tokens.
    "#]],
    );
    refused(
        "[model]\nwindow_tokens = 4096",
        expect![[r#"
        2:17 model.window_tokens | An answer of 8192 tokens leaves no room in a window of 4096. | Make max_output_tokens much smaller than window_tokens.
    "#]],
    );
    refused(
        "[[done_when]]\nfile = \"a\"\nmin_bytes = 0",
        expect![[r#"
        3:13 done_when[1].min_bytes | done_when[1].min_bytes can't be 0. | Give a number from 1 to 1,000,000,000.
    "#]],
    );
}

#[test]
fn a_name_that_stands_for_nothing_is_told() {
    refused(
        "name = \"My Agent\"",
        expect![[r#"
        1:8 name | “My Agent” can't be the name of an agent. | Use lower-case letters, digits and “-”, at most 64, as in name = "research".
    "#]],
    );
    refused(
        "[model]\nuse = [\"gpt\", \"local/\", \"a b/c\", \"/x\"]",
        expect![[r#"
            2:8 model.use | “gpt” is not the name of a model. | Write provider/model, as in use = ["local/any"].
            2:15 model.use | “local/” is not the name of a model. | Write provider/model, as in use = ["local/any"].
            2:25 model.use | “a b/c” is not the name of a model. | Write provider/model, as in use = ["local/any"].
            2:34 model.use | “/x” is not the name of a model. | Write provider/model, as in use = ["local/any"].
        "#]],
    );
    refused(
        "[tools]\nallow = [\"file\", \"read\", \"*\", \".x\", \"exa.\", \"shell\", \"a b.c\"]",
        expect![[r#"
            2:10 tools.allow | There is no tool “file”. | Did you mean “files”?
            2:18 tools.allow | There is no tool “read”. | Known are files, search_library, web_fetch, delegate, run_command, run_code, read_file, write_file, edit_file, list_files and search_files, and server.tool for the tools of MCP servers.
            2:26 tools.allow | There is no tool “*”. | Known are files, search_library, web_fetch, delegate, run_command, run_code, read_file, write_file, edit_file, list_files and search_files, and server.tool for the tools of MCP servers.
            2:31 tools.allow | “.x” is not the name of a tool of a server. | Write server.tool, or server.* for all of its tools.
            2:37 tools.allow | “exa.” is not the name of a tool of a server. | Write server.tool, or server.* for all of its tools.
            2:45 tools.allow | There is no tool “shell”. | Known are files, search_library, web_fetch, delegate, run_command, run_code, read_file, write_file, edit_file, list_files and search_files, and server.tool for the tools of MCP servers.
            2:54 tools.allow | “a b.c” is not the name of a tool of a server. | Write server.tool, or server.* for all of its tools.
        "#]],
    );
    refused(
        "[tools]\nallow = [\"files\", \"files\"]",
        expect![[r#"
        2:19 tools.allow | “files” stands twice in tools.allow. | Keep one of the two.
    "#]],
    );
}

#[test]
fn what_is_designed_and_not_built_is_refused_rather_than_ignored() {
    refused(
        r#"
[model]
use = ["local/a", "local/b"]
[tools]
allow = ["pin_note", "find_tools"]
preload = ["exa.search"]
"#,
        expect![[r#"
            5:10 tools.allow | “pin_note” is not built yet. | Take it out: it would have no effect.
            6:12 tools.preload | “exa.search” is not granted to this agent, so this has no effect. | Add “exa.search” to allow in [tools], or take this out.
        "#]],
    );
}

#[test]
fn a_selector_that_is_none_is_told_with_the_nearest_and_one_tool_is_wanted_for_settings() {
    refused(
        "[tools]\nallow = [\"exa.@read\", \"@write\", \"exa.@reed\", \"@all\"]\n[tools.\"exa.@read\"]\neffect = \"read\"",
        expect![[r#"
            2:33 tools.allow | “exa.@reed” stands for no tools. | Did you mean “exa.@read”?
            2:46 tools.allow | “@all” stands for no tools. | Known are @read, @write and @destructive, and server.@read.
            3:8 tools."exa.@read" | “exa.@read” stands for several tools, and one is needed here. | Write server.tool, one tool at a time.
        "#]],
    );
}

#[test]
fn skills_are_named_by_their_folders_names() {
    refused(
        "[skills]\nuse = [\"research-page\", \"*\", \"my page\"]\nallow = []",
        expect![[r#"
            2:30 skills.use | “my page” is not the name of a skill. | Write the name of its folder, as longrein skills list tells it, or "*" for all that you approved.
            3:1 skills.allow | There is no key “allow” here. | Write it under [tools].
        "#]],
    );
}

#[test]
fn what_has_no_effect_is_a_warning_and_the_file_can_be_used() {
    expect![[r#"
        2:16 instructions | The instructions are empty. | Say what the agent is for and how it works, or take the key out.
        5:8 tools.read_file | “read_file” is not granted to this agent, so this has no effect. | Add “read_file” to allow in [tools], or take this out.
        8:8 policy[1].tool | “slack.*” is not granted to this agent, so this has no effect. | Add “slack.*” to allow in [tools], or take this out.
        usable
    "#]].assert_eq(&problems(
        r#"
instructions = "  "
[tools]
allow = ["exa.search"]
[tools.read_file]
result_tokens = 100
[[policy]]
tool = "slack.*"
decision = "deny"
[[policy]]
tool = "exa.*"
decision = "ask"
[[policy]]
tool = "finish"
decision = "ask"
"#,
    ));
}

#[test]
fn every_mistake_is_told_at_once_and_in_the_order_of_the_file() {
    refused(
        r#"name = "Bad Name"
[budget]
steps = -1
stepps = 4
[model]
use = ["no-slash"]
[[done_when]]
file = "/x"
"#,
        expect![[r#"
            1:8 name | “Bad Name” can't be the name of an agent. | Use lower-case letters, digits and “-”, at most 64, as in name = "research".
            3:9 budget.steps | budget.steps can't be -1. | Give a number from 1 to 1,000,000.
            4:1 budget.stepps | There is no key “stepps”. | Did you mean “steps”?
            6:8 model.use | “no-slash” is not the name of a model. | Write provider/model, as in use = ["local/any"].
            8:8 done_when[1].file | “/x” is not beneath the workspace. | Give the path from the workspace down, as in file = "index.html".
        "#]],
    );
}
