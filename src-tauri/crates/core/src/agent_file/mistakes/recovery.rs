//! What is said of a tool's recovery and arguments, where it does not fit together.

use expect_test::{Expect, expect};

use super::{problems, refused};

const TOOLS: &str = "[tools]\nallow = [\"files\", \"lab.*\"]\n";

fn said(of: &str, expected: Expect) {
    refused(&format!("{TOOLS}{of}"), expected);
}

#[test]
fn a_key_and_a_question_need_what_they_are_made_of() {
    said(
        "[tools.\"lab.post\"]\nrepeat = \"keyed\"\n[tools.\"lab.put\"]\nrepeat = \"queryable\"",
        expect![[r#"
            4:10 tools."lab.post".repeat | repeat = "keyed" needs the argument that takes the key. | Write [tools."lab.post".recovery] with key_argument = "idempotency_key".
            6:10 tools."lab.put".repeat | repeat = "queryable" needs the tool that says what became of an action. | Write [tools."lab.put".recovery] with status_tool = "server.status".
        "#]],
    );
    said(
        r#"
[tools."lab.post"]
repeat = "keyed"
recovery = { status_tool = "lab.status" }
[tools."lab.put"]
repeat = "queryable"
recovery = { status_pointer = "/state", key_valid_seconds = 0 }
[tools."lab.get"]
effect = "read"
repeat = "keyed"
recovery = { key_argument = "" }
"#,
        expect![[r#"
            5:10 tools."lab.post".repeat | repeat = "keyed" needs the argument that takes the key. | Write [tools."lab.post".recovery] with key_argument = "idempotency_key".
            6:28 tools."lab.post".recovery.status_tool | “status_tool” has no effect without repeat = "queryable". | Write repeat = "queryable" beside effect, or take this out.
            8:10 tools."lab.put".repeat | repeat = "queryable" needs the tool that says what became of an action. | Write [tools."lab.put".recovery] with status_tool = "server.status".
            9:61 tools."lab.put".recovery.key_valid_seconds | tools."lab.put".recovery.key_valid_seconds can't be 0. | Give a number from 1 to 31,536,000.
            9:61 tools."lab.put".recovery.key_valid_seconds | “key_valid_seconds” has no effect without repeat = "keyed". | Write repeat = "keyed" beside effect, or take this out.
            12:10 tools."lab.get".repeat | A tool that only reads is started again anyway. | Take repeat and recovery out.
            13:29 tools."lab.get".recovery.key_argument | key_argument names no argument. | Write it like this: key_argument = "idempotency_key"
        "#]],
    );
}

#[test]
fn what_has_no_effect_on_this_kind_of_tool_is_refused() {
    said(
        r#"
[tools."lab.post"]
[tools."lab.post".recovery]
key_argument = "key"
key_valid_seconds = 60
[tools."lab.put"]
repeat = "once"
[tools."lab.put".recovery]
status_tool = "lab.status"
status_pointer = "/state"
[tools."lab.get"]
recovery = {}
[tools."lab.old"]
recovery = { keyargument = "key" }
"#,
        expect![[r#"
            6:16 tools."lab.post".recovery.key_argument | “key_argument” has no effect without repeat = "keyed". | Write repeat = "keyed" beside effect, or take this out.
            7:21 tools."lab.post".recovery.key_valid_seconds | “key_valid_seconds” has no effect without repeat = "keyed". | Write repeat = "keyed" beside effect, or take this out.
            11:15 tools."lab.put".recovery.status_tool | “status_tool” has no effect without repeat = "queryable". | Write repeat = "queryable" beside effect, or take this out.
            12:18 tools."lab.put".recovery.status_pointer | “status_pointer” has no effect without repeat = "queryable". | Write repeat = "queryable" beside effect, or take this out.
            14:12 tools."lab.get".recovery | The table says nothing. | Take it out.
            16:14 tools."lab.old".recovery.keyargument | There is no key “keyargument”. | Did you mean “key_argument”?
        "#]],
    );
}

#[test]
fn the_tools_that_recovery_names_are_others_and_granted_and_a_status_tool_reads() {
    said(
        r#"
[tools."lab.post"]
repeat = "queryable"
recovery = { status_tool = "lab.post", undo_tool = "slack.delete", undo_argument = "id" }
[tools."lab.put"]
repeat = "queryable"
recovery = { status_tool = "lab.write", status_pointer = "state", undo_tool = "lab.*" }
[tools."lab.write"]
effect = "workspace"
recovery = { undo_tool = "lab.unwrite", undo_argument = "id" }
[tools."lab.add"]
repeat = "queryable"
recovery = { status_tool = "write_file", undo_argument = "id" }
[tools."lab.sum"]
repeat = "queryable"
recovery = { status_tool = "slack.status" }
"#,
        expect![[r#"
            6:28 tools."lab.post".recovery.status_tool | “lab.post” can't be its own status_tool. | Name another tool.
            6:52 tools."lab.post".recovery.undo_tool | “slack.delete” is not granted to this agent. | Add “slack.delete” to allow in [tools].
            9:28 tools."lab.put".recovery.status_tool | A status tool only reads, and the effect of “lab.write” is workspace. | Name a tool that only reads.
            9:58 tools."lab.put".recovery.status_pointer | “state” is not a JSON pointer. | Write it like this: status_pointer = "/state"
            9:79 tools."lab.put".recovery.undo_tool | “lab.*” is not the name of a tool of a server. | Write server.tool, one tool at a time.
            9:79 tools."lab.put".recovery.undo_tool | “undo_tool” needs the argument that takes the receipt. | Write it like this: undo_argument = "id"
            12:26 tools."lab.write".recovery.undo_tool | A tool that changes nothing outside leaves nothing to take back. | Take undo_tool and undo_argument out.
            15:28 tools."lab.add".recovery.status_tool | A status tool only reads, and the effect of “write_file” is workspace. | Name a tool that only reads.
            15:58 tools."lab.add".recovery.undo_argument | “undo_argument” needs the tool that takes the effect back. | Write it like this: undo_tool = "server.delete"
            18:28 tools."lab.sum".recovery.status_tool | “slack.status” is not granted to this agent. | Add “slack.status” to allow in [tools].
        "#]],
    );
}

#[test]
fn what_is_known_of_a_built_in_tool_is_not_said_again() {
    said(
        r#"
[tools.write_file]
effect = "irreversible"
paths = []
repeat = "keyed"
[tools.read_file.recovery]
key_argument = "key"
[tools.lab.post]
effect = "read"
"#,
        expect![[r#"
            6:9 tools.write_file.paths | “write_file” is built in: there is nothing to say of its paths. | Take it out.
            7:10 tools.write_file.repeat | “write_file” is built in: it takes no key and can't be asked. | Write repeat = "once", or take it out.
            8:1 tools.read_file.recovery | “read_file” is built in: there is nothing to say of its recovery. | Take it out.
            10:8 tools.lab | The name of a tool with a dot stands in quotes: “lab.post”. | Write [tools."lab.post"].
        "#]],
    );
}

#[test]
fn names_of_arguments_are_lists_of_names() {
    said(
        r#"
[tools."lab.post"]
paths = "file"
urls = ["address", "address", ""]
commands = [1]
"#,
        expect![[r#"
            5:9 tools."lab.post".paths | tools."lab.post".paths must be a list of texts, not a text. | Write it like this: paths = ["file"]
            6:20 tools."lab.post".urls | “address” stands twice in tools."lab.post".urls. | Keep one of the two.
            6:31 tools."lab.post".urls | “” is not the name of an argument. | Write it like this: urls = ["address"]
            7:13 tools."lab.post".commands | each part of tools."lab.post".commands must be a text, not a whole number. | Write it like this: commands = ["script"]
        "#]],
    );
}

#[test]
fn recovery_that_fits_together_is_taken() {
    let told = problems(&format!(
        "{TOOLS}{}",
        r#"
[tools."lab.post"]
repeat = "keyed"
paths = []
urls = ["address"]
[tools."lab.post".recovery]
key_argument = "key"
key_valid_seconds = 3600
undo_tool = "lab.delete"
undo_argument = "id"
[tools."lab.put"]
repeat = "queryable"
recovery = { status_tool = "lab.status", status_pointer = "", key_argument = "key" }
[tools."lab.status"]
effect = "read"
"#
    ));
    assert_eq!(told, "usable\n");
}
