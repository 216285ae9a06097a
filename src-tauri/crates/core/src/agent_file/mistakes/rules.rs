//! Settings of tools and rules of policy that can't be, and what is said of each.

use expect_test::expect;

use super::{problems, refused};

#[test]
fn settings_and_rules_that_can_not_be_are_told() {
    refused(
        "[tools.slack.post_message]\neffect = \"read\"",
        expect![[r#"
            1:8 tools.slack | The name of a tool with a dot stands in quotes: “slack.post_message”. | Write [tools."slack.post_message"].
        "#]],
    );
    refused(
        "[tools.\"slack.*\"]\neffect = \"read\"",
        expect![[r#"
        1:8 tools."slack.*" | “slack.*” is not the name of a tool of a server. | Write server.tool, one tool at a time.
    "#]],
    );
    refused(
        "[tools.\"a.b\"]\neffect = \"write\"\nrepeat = \"twice\"",
        expect![[r#"
            1:8 tools."a.b" | “a.b” is not granted to this agent, so this has no effect. | Add “a.b” to allow in [tools], or take this out.
            2:10 tools."a.b".effect | tools."a.b".effect can't be “write”. | Known are read, workspace, reversible and irreversible.
            3:10 tools."a.b".repeat | tools."a.b".repeat can't be “twice”. | Known are repeatable, keyed, queryable and once.
        "#]],
    );
    refused(
        "[[policy]]\ntool = \"serch_library\"\ndecision = \"always\"",
        expect![[r#"
            2:8 policy[1].tool | There is no tool “serch_library”. | Did you mean “search_library”?
            3:12 policy[1].decision | policy[1].decision can't be “always”. | Known are allow, ask and deny.
        "#]],
    );
    refused(
        "[[policy]]\n[[policy]]\ntool = \"files\"\ndecision = \"ask\"",
        expect![[r#"
            1:1 policy[1] | The rule has no condition. | Say what it speaks of: tool, effect, args, path, host or command.
            1:1 policy[1].decision | The rule has no decision. | Write it like this: decision = "ask"
            3:8 policy[2].tool | There is no tool “files”. | Known are search_library, web_fetch, delegate, run_command, run_code, read_file, write_file, edit_file, list_files and search_files, and server.tool for the tools of MCP servers.
        "#]],
    );
    refused(
        "[library]\nfolders = [\"Papers\", \"~joe/x\"]",
        expect![[r#"
            2:12 library.folders | “Papers” is not a full path. | Begin it with “/” or “~/”: an agent file may lie anywhere.
            2:22 library.folders | “~joe/x” is not a full path. | Begin it with “/” or “~/”: an agent file may lie anywhere.
        "#]],
    );
}

#[test]
fn a_rule_needs_a_condition_that_can_be_read() {
    refused(
        r##"
[[policy]]
decision = "deny"
[[policy]]
effect = "write"
decision = "ask"
[[policy]]
args = {}
decision = "ask"
[[policy]]
args = { count = 3, "" = "x", "/a~b" = "x", "/a/0" = "x" }
decision = "ask"
[[policy]]
args = "x"
decision = "ask"
[[policy]]
hosts = ["example.org"]
decision = "ask"
"##,
        expect![[r##"
            2:1 policy[1] | The rule has no condition. | Say what it speaks of: tool, effect, args, path, host or command.
            5:10 policy[2].effect | policy[2].effect can't be “write”. | Known are read, workspace, reversible and irreversible.
            8:8 policy[3].args | args names no argument. | Write it like this: args = { channel = "#ann-lab" }
            11:18 policy[4].args.count | policy[4].args.count must be a text, not a whole number. | Write it like this: count = "7"
            11:21 policy[4].args."" | An argument has a name. | Write it like this: channel = "#ann-lab"
            11:31 policy[4].args."/a~b" | This is not a JSON pointer. | Write “~” as ~0 and “/” inside a name as ~1.
            14:8 policy[5].args | policy[5].args must be a table, not a text. | Write it like this: args = { channel = "#ann-lab" }
            16:1 policy[6] | The rule has no condition. | Say what it speaks of: tool, effect, args, path, host or command.
            17:1 policy[6].hosts | There is no key “hosts”. | Did you mean “host”?
        "##]],
    );
}

#[test]
fn a_pattern_of_paths_stays_beneath_the_workspace_and_says_something() {
    let rule = |path: &str| format!("[[policy]]\npath = '{path}'\ndecision = \"deny\"\n");
    let paths = [
        "",
        "/etc/*",
        "~/x",
        "../up",
        "a/../b",
        "a\\b",
        "**",
        "**/**",
        "notes/**.md",
        "./notes",
        "notes/",
    ];
    let text: Vec<String> = paths.into_iter().map(rule).collect();
    refused(
        &text.concat(),
        expect![[r#"
        2:8 policy[1].path | “” is not a path. | Write it like this: path = "notes/**"
        5:8 policy[2].path | “/etc/*” is not beneath the workspace. | Give the path from the workspace down, as in path = "notes/**".
        8:8 policy[3].path | “~/x” is not beneath the workspace. | Give the path from the workspace down, as in path = "notes/**".
        11:8 policy[4].path | “../up” is not beneath the workspace. | Give the path from the workspace down, as in path = "notes/**".
        14:8 policy[5].path | “a/../b” is not beneath the workspace. | Give the path from the workspace down, as in path = "notes/**".
        17:8 policy[6].path | “a\b” is not beneath the workspace. | Give the path from the workspace down, as in path = "notes/**".
        20:8 policy[7].path | “**” stands for every path. | Name a folder, as in path = "notes/**", or leave path out.
        23:8 policy[8].path | “**/**” stands for every path. | Name a folder, as in path = "notes/**", or leave path out.
        26:8 policy[9].path | In “notes/**.md” the “**” is part of a name, where it means nothing. | “**” stands between slashes, for any folders; “*” stands within a name.
        29:8 policy[10].path | No path is like “./notes”: it has an empty part or a “.”. | Leave those out; a folder with all in it is path = "notes/**".
        32:8 policy[11].path | No path is like “notes/”: it has an empty part or a “.”. | Leave those out; a folder with all in it is path = "notes/**".
    "#]],
    );
    for path in [
        ".",
        "*",
        "notes/**",
        "**/*.md",
        "a b/ü.txt",
        "notes/*/x",
        "~draft.md",
    ] {
        assert_eq!(problems(&rule(path)), "usable\n", "{path}");
    }
}

#[test]
fn a_host_stands_alone_and_in_its_usual_form() {
    let rule = |host: &str| format!("[[policy]]\nhost = \"{host}\"\ndecision = \"deny\"\n");
    let hosts = [
        "",
        "https://example.org/page",
        "example.org/page",
        "me@example.org",
        "EXAMPLE.org",
        "example.org.",
        "bücher.example",
        "*",
        "*.*.org",
        "ex*.org",
        "*.127.0.0.1",
        "127.1",
        "0x7f000001",
        "[0:0::1]",
        "::1",
        "example.org:http",
        "example.org:0",
        "example.org:99999",
        "a b.org",
        "*.BÜCHER.example:8080",
    ];
    let text: Vec<String> = hosts.into_iter().map(rule).collect();
    refused(
        &text.concat(),
        expect![[r#"
        2:8 policy[1].host | “” is not a host. | Write it like this: host = "*.example.org"
        5:8 policy[2].host | “https://example.org/page” is an address, not a host. | Give the host alone, as in host = "example.org".
        8:8 policy[3].host | “example.org/page” is an address, not a host. | Give the host alone, as in host = "example.org".
        11:8 policy[4].host | “me@example.org” is an address, not a host. | Give the host alone, as in host = "example.org".
        14:8 policy[5].host | “EXAMPLE.org” is not the usual form of this host. | Write host = "example.org".
        17:8 policy[6].host | “example.org.” is not the usual form of this host. | Write host = "example.org".
        20:8 policy[7].host | “bücher.example” is not the usual form of this host. | Write host = "xn--bcher-kva.example".
        23:8 policy[8].host | “*” is not a host: “*” stands only in front, with a dot. | Write *.example.org for a domain with all its hosts; for every host leave host out.
        26:8 policy[9].host | “*.*.org” is not a host: “*” stands only in front, with a dot. | Write *.example.org for a domain with all its hosts; for every host leave host out.
        29:8 policy[10].host | “ex*.org” is not a host: “*” stands only in front, with a dot. | Write *.example.org for a domain with all its hosts; for every host leave host out.
        32:8 policy[11].host | “127.0.0.1” is an address of numbers, which has no hosts below it. | Write host = "127.0.0.1".
        35:8 policy[12].host | “127.1” is not the usual form of this host. | Write host = "127.0.0.1".
        38:8 policy[13].host | “0x7f000001” is not the usual form of this host. | Write host = "127.0.0.1".
        41:8 policy[14].host | “[0:0::1]” is not the usual form of this host. | Write host = "[::1]".
        44:8 policy[15].host | “::1” is not a host. | Write it like this: host = "*.example.org"
        47:8 policy[16].host | What stands behind “:” in “example.org:http” is not a port. | A port is a number from 1 to 65535; an IPv6 address stands in [ ].
        50:8 policy[17].host | What stands behind “:” in “example.org:0” is not a port. | A port is a number from 1 to 65535; an IPv6 address stands in [ ].
        53:8 policy[18].host | What stands behind “:” in “example.org:99999” is not a port. | A port is a number from 1 to 65535; an IPv6 address stands in [ ].
        56:8 policy[19].host | “a b.org” is not a host. | Write it like this: host = "*.example.org"
        59:8 policy[20].host | “*.BÜCHER.example:8080” is not the usual form of this host. | Write host = "*.xn--bcher-kva.example:8080".
    "#]],
    );
    for host in [
        "example.org",
        "*.example.org",
        "example.org:8080",
        "localhost",
        "127.0.0.1:80",
        "[::1]",
        "[::1]:8080",
        "xn--bcher-kva.example",
    ] {
        assert_eq!(problems(&rule(host)), "usable\n", "{host}");
    }
}

#[test]
fn a_command_is_the_first_words_of_a_simple_one() {
    let rule = |command: &str| {
        format!(
            "[[policy]]\ncommand = {command:?}\ndecision = \"deny\"\n[tools]\nallow = [\"sh.run\"]\n[tools.\"sh.run\"]\ncommands = [\"script\"]\n"
        )
    };
    for (command, expected) in [
        (
            "",
            expect![[r#"
            2:11 policy[1].command | The command has no words. | Write it like this: command = "git log"
        "#]],
        ),
        (
            "git log | sh",
            expect![[r#"
                2:11 policy[1].command | “git log | sh” is more than the words of one command: “|”. | Write the first words of a simple command, as in command = "git log"; a sign that stands for itself in quotes.
            "#]],
        ),
        (
            "git  log",
            expect![[r#"
                2:11 policy[1].command | The words of “git  log” are not one blank apart. | Write it like this: command = "git log"
            "#]],
        ),
        (
            "git *",
            expect![[r#"
            2:11 policy[1].command | “git *” has a sign that stands for others. | None is needed: the first words stand for whatever follows them.
        "#]],
        ),
        (
            "echo $HOME",
            expect![[r#"
                2:11 policy[1].command | “echo $HOME” is more than the words of one command: “$”. | Write the first words of a simple command, as in command = "git log"; a sign that stands for itself in quotes.
            "#]],
        ),
        (
            "git log >x",
            expect![[r#"
            2:11 policy[1].command | “git log >x” is more than the words of one command: “>”. | Write the first words of a simple command, as in command = "git log"; a sign that stands for itself in quotes.
        "#]],
        ),
        (
            "echo 'x",
            expect![[r#"
            2:11 policy[1].command | A quote in “echo 'x” is not closed. | Close it.
        "#]],
        ),
        (
            "git\tlog",
            expect![[r#"
                2:11 policy[1].command | The words of “git	log” are not one blank apart. | Write it like this: command = "git log"
            "#]],
        ),
    ] {
        refused(&rule(command), expected);
    }
    for command in [
        "git",
        "git log",
        "rm -rf",
        "/usr/bin/env",
        "find . -name '*.rs'",
        "echo \"a  b; c\"",
    ] {
        assert_eq!(problems(&rule(command)), "usable\n", "{command}");
    }
}

#[test]
fn a_rule_that_can_never_decide_is_a_warning() {
    let told = problems(
        r#"
[tools]
allow = ["files", "slack.post", "slack.list", "search_library"]
[tools."slack.post"]
effect = "irreversible"
paths = ["attachment"]
[[policy]]
tool = "write_file"
effect = "irreversible"
decision = "deny"
[[policy]]
tool = "slack.post"
effect = "reversible"
decision = "deny"
[[policy]]
tool = "slack.list"
path = "notes/*"
decision = "deny"
[[policy]]
tool = "slack.*"
path = "notes/*"
decision = "deny"
[[policy]]
tool = "search_library"
path = "notes/*"
decision = "deny"
[[policy]]
path = "notes/*"
decision = "deny"
[[policy]]
command = "rm"
decision = "deny"
[[policy]]
tool = "slack.post"
command = "rm"
decision = "deny"
[[policy]]
host = "example.org"
decision = "allow"
[[policy]]
host = "example.org"
decision = "ask"
"#,
    );
    expect![[r#"
        9:10 policy[1].effect | The effect of “write_file” is workspace, so that this rule never matches. | Leave effect out, or take the rule out.
        13:10 policy[2].effect | The effect of “slack.post” is irreversible, so that this rule never matches. | Leave effect out, or take the rule out.
        17:8 policy[3].path | No argument of “slack.list” is known as a path, so that this rule never matches. | Name it in [tools."slack.list"], as in paths = ["path"].
        25:8 policy[5].path | No argument of “search_library” is known as a path, so that this rule never matches. | Take the rule out.
        31:11 policy[7].command | No argument of this agent's tools is known as a command, so that this rule never matches. | Name it in [tools."server.tool"], as in commands = ["command"].
        35:11 policy[8].command | No argument of “slack.post” is known as a command, so that this rule never matches. | Name it in [tools."slack.post"], as in commands = ["command"].
        37:1 policy | A stricter rule has the same conditions, so that this one never decides. | Keep the one that you mean.
        usable
    "#]].assert_eq(&told);
}

#[test]
fn the_same_rule_twice_is_a_mistake() {
    refused(
        "[[policy]]\nhost = \"a.org\"\ndecision = \"ask\"\n[[policy]]\ndecision = \"ask\"\nhost = \"a.org\"\n",
        expect![[r#"
            4:1 policy[2] | The same rule stands twice. | Keep one of the two.
        "#]],
    );
}

#[test]
fn more_rules_than_anybody_reads_are_a_mistake() {
    let rules: Vec<String> = (0..501)
        .map(|at| format!("[[policy]]\nhost = \"h{at}.org\"\ndecision = \"deny\"\n"))
        .collect();
    refused(
        &rules.concat(),
        expect![[r#"
        1501:1 policy | The file has 501 rules. | At most 500 are read; say more with fewer.
    "#]],
    );
    assert_eq!(problems(&rules[1..].concat()), "usable\n");
}
