//! Criteria that can't be checked, and what is said of each.

use expect_test::expect;

use super::{problems, refused};

#[test]
fn a_criterion_that_can_not_be_checked_is_told() {
    refused(
        "[[done_when]]\nfile = \"/etc/passwd\"\n[[done_when]]\nfile = \"../up\"\n[[done_when]]\nevidence = \"~/page\"",
        expect![[r#"
            2:8 done_when[1].file | “/etc/passwd” is not beneath the workspace. | Give the path from the workspace down, as in file = "index.html".
            4:8 done_when[2].file | “../up” is not beneath the workspace. | Give the path from the workspace down, as in file = "index.html".
            6:12 done_when[3].evidence | “~/page” is not beneath the workspace. | Give the path from the workspace down, as in evidence = "index.html".
        "#]],
    );
    refused(
        "[[done_when]]\nfile = \"\"\n[[done_when]]\nfile = \"pages/\"",
        expect![[r#"
            2:8 done_when[1].file | “” does not name a file. | Give the path from the workspace down, as in file = "index.html".
            4:8 done_when[2].file | “pages/” does not name a file. | Give the path from the workspace down, as in file = "index.html".
        "#]],
    );
    refused(
        "[[done_when]]\n[[done_when]]\nfile = \"a\"\nevidence = \"a\"",
        expect![[r#"
            1:1 done_when[1] | The criterion says nothing. | Write what it is about, as in file = "index.html"; there are file, evidence, schema, text, links, tool, judge, command, plan and person.
            2:1 done_when[2] | One criterion can't have both file and evidence. | Write two [[done_when]], one with file and one with evidence.
        "#]],
    );
    refused(
        "[[done_when]]\nfile = \"a\"\n[[done_when]]\nfile = \"a\"\nmin_bytes = 1",
        expect![[r#"
            3:1 done_when[2] | The same criterion stands twice. | Keep one of the two.
        "#]],
    );
    refused(
        "[[done_when]]\nevidence = \"a\"\nuncited = \"forbidden\"\nmin_citations = 10_001",
        expect![[r#"
            3:11 done_when[1].uncited | done_when[1].uncited can't be “forbidden”. | Did you mean “forbid”?
            4:17 done_when[1].min_citations | done_when[1].min_citations can't be 10001. | Give a number from 0 to 10,000.
        "#]],
    );
}

#[test]
fn the_sizes_and_the_type_of_a_file_have_to_be_possible() {
    refused(
        r#"
[[done_when]]
file = "a"
min_bytes = 2000
max_bytes = 1000
[[done_when]]
file = "b"
media_type = "HTML"
[[done_when]]
file = "c"
media_type = "*/*"
[[done_when]]
evidence = "a"
numbers = "ask"
max_bytes = 3
"#,
        expect![[r#"
            5:13 done_when[1].max_bytes | No file has at least 2000 and at most 1000 bytes. | Make max_bytes larger than min_bytes.
            8:14 done_when[2].media_type | “HTML” is not a media type. | Write it in lower case, as in "text/html" or "image/*".
            11:14 done_when[3].media_type | “*/*” is not a media type. | Write it in lower case, as in "text/html" or "image/*".
            14:11 done_when[4].numbers | done_when[4].numbers can't be “ask”. | Known are allow and forbid.
            15:1 done_when[4].max_bytes | There is no key “max_bytes” here. | Write it under [[done_when]] beside file.
        "#]],
    );
}

#[test]
fn a_schema_has_to_be_one() {
    refused(
        r#"
[[done_when]]
schema = "data.json"
[[done_when]]
schema = "data.json"
against = "array"
[[done_when]]
schema = "data.json"
against = { type = "list" }
[[done_when]]
schema = "data.json"
against = { properties = { made = { const = 2026-11-29 }, size = { maximum = inf } } }
[[done_when]]
schema = "../data.json"
against = { "$ref" = "https://example.org/schema.json" }
"#,
        expect![[r##"
            3:10 done_when[1].against | The criterion has no “against”. | Write it like this: against = { type = "array", minItems = 3 }
            6:11 done_when[2].against | done_when[2].against must be a table, not a text. | Write it like this: against = { type = "array", minItems = 3 }
            9:11 done_when[3].against | This is not a JSON Schema at /type: "list" is not valid under any of the schemas listed in the 'anyOf' keyword. | Write it like this: against = { type = "array", minItems = 3 }
            12:45 done_when[4].against.properties.made.const | done_when[4].against.properties.made.const is a date, which JSON does not have. | Write it as a text, in quotes.
            14:10 done_when[5].schema | “../data.json” is not beneath the workspace. | Give the path from the workspace down, as in schema = "index.html".
            15:11 done_when[5].against | The schema refers to https://example.org/schema.json, which is not fetched. | Put what it refers to under "$defs" and write "#/$defs/name".
        "##]],
    );
}

#[test]
fn a_text_has_to_be_tested_by_expressions_that_can_be_read() {
    refused(
        r#"
[[done_when]]
text = "report.md"
[[done_when]]
text = "report.md"
must = ["(open", ""]
must_not = ["[z-a]", "x", "x"]
[[done_when]]
text = "report.md"
must = ["Limits"]
must_not = ["Limits"]
[[done_when]]
links = "index.html"
must = ["x"]
min = -1
"#,
        expect![[r#"
            3:8 done_when[1] | The criterion does not say what must, or must not, stand in the file. | Write it like this: must = ['## Limits']
            6:9 done_when[2].must | “(open” is no regular expression: unclosed group. | Put “\” before a sign that stands for itself, and write it in single quotes.
            6:18 done_when[2].must | An empty expression matches everywhere. | Say what it has to find.
            7:13 done_when[2].must_not | “[z-a]” is no regular expression: invalid character class range, the start must be <= the end. | Put “\” before a sign that stands for itself, and write it in single quotes.
            7:27 done_when[2].must_not | “x” stands twice in done_when[2].must_not. | Keep one of the two.
            11:13 done_when[3].must_not | “Limits” must and must not match. | Keep one of the two.
            14:1 done_when[4].must | There is no key “must” here. | Write it under [[done_when]] beside text.
            15:7 done_when[4].min | done_when[4].min can't be -1. | Give a number from 0 to 10,000.
        "#]],
    );
}

#[test]
fn the_tool_of_a_criterion_is_granted_only_reads_and_is_tested_in_one_way() {
    refused(
        r#"
[tools]
allow = ["files", "tracker.read", "tracker.post", "exa.*"]
[tools."tracker.post"]
effect = "reversible"
[[done_when]]
tool = "tracker.read"
[[done_when]]
tool = "tracker.read"
pointer = "status"
equals = "closed"
matches = "closed("
[[done_when]]
tool = "tracker.post"
equals = true
[[done_when]]
tool = "write_file"
equals = true
[[done_when]]
tool = "finish"
equals = true
[[done_when]]
tool = "slack.read"
equals = 1
[[done_when]]
tool = "exa.*"
equals = 1
[[done_when]]
tool = "read_files"
equals = 1
[[done_when]]
tool = "exa.search"
args = "x"
equals = 1
"#,
        expect![[r#"
            7:8 done_when[1] | The criterion does not say what the answer has to be. | Write equals = "closed", or matches = '^closed'.
            10:11 done_when[2].pointer | “status” is not a JSON pointer. | Write it like this: pointer = "/status"
            12:11 done_when[2].matches | “closed(” is no regular expression: unclosed group. | Put “\” before a sign that stands for itself, and write it in single quotes.
            12:11 done_when[2].matches | One criterion can't have both equals and matches. | Keep one, or write two [[done_when]].
            14:8 done_when[3].tool | A criterion only reads, and the effect of “tracker.post” is reversible. | Name a tool that reads.
            17:8 done_when[4].tool | A criterion only reads, and the effect of “write_file” is workspace. | Name a tool that reads.
            20:8 done_when[5].tool | “finish” gives no answer that could be tested. | Name a tool that reads.
            23:8 done_when[6].tool | “slack.read” is not granted to this agent. | Add “slack.read” to allow in [tools].
            26:8 done_when[7].tool | “exa.*” is not the name of a tool of a server. | Write server.tool, one tool at a time.
            29:8 done_when[8].tool | There is no tool “read_files”. | Did you mean “read_file”?
            33:8 done_when[9].args | done_when[9].args must be a table, not a text. | Write it like this: args = { id = 7 }
        "#]],
    );
}

#[test]
fn a_judge_needs_a_rubric_and_a_file_and_a_person_a_question() {
    refused(
        r#"
[[done_when]]
judge = "  "
[[done_when]]
judge = "It is fair."
of = "/etc/passwd"
model = "gpt"
[[done_when]]
person = true
[[done_when]]
person = ""
[[done_when]]
of = "index.html"
[[done_when]]
judges = "It is fair."
"#,
        expect![[r#"
            3:9 done_when[1].of | The criterion has no “of”. | Write it like this: of = "index.html"
            3:9 done_when[1].judge | “judge” says nothing. | Write it like this: judge = "Every claim is fair to its source."
            6:6 done_when[2].of | “/etc/passwd” is not beneath the workspace. | Give the path from the workspace down, as in of = "index.html".
            7:9 done_when[2].model | “gpt” is not the name of a model. | Write provider/model, or leave it out: then the run's own model judges.
            9:10 done_when[3].person | done_when[3].person must be a text, not true or false. | Write it like this: person = "Read the page and accept it."
            11:10 done_when[4].person | “person” says nothing. | Write it like this: person = "Read the page and accept it."
            13:1 done_when[5].of | There is no key “of” here. | Write it under [[done_when]] beside judge.
            15:1 done_when[6].judges | There is no key “judges”. | Did you mean “judge”?
        "#]],
    );
}

#[test]
fn criteria_of_every_kind_without_mistakes_are_taken() {
    let told = problems(
        r#"
[tools]
allow = ["tracker.*"]
[tools."tracker.read"]
effect = "read"
[[done_when]]
file = "data.json"
media_type = "application/json"
max_bytes = 10
[[done_when]]
schema = "data.json"
[done_when.against]
type = "object"
[[done_when]]
text = "a"
must_not = ['\bTODO\b']
[[done_when]]
links = "index.html"
[[done_when]]
tool = "tracker.read"
args = { id = 7, deep = { list = [1, 2.5, "x", true] } }
pointer = "/issue/state"
equals = "closed"
[[done_when]]
judge = "It is fair."
of = "index.html"
[[done_when]]
person = "Accept the page."
"#,
    );
    assert_eq!(told, "usable\n");
}
