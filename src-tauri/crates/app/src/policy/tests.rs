//! Policy files with and without mistakes, and edits.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use longrein_protocol::Effect;
use longrein_protocol::agent::Decision;

use super::*;

const WHOLE: &str = r##"# my rules

# never to the announcements
[[rule]]
scope = "everywhere"
tool = "slack.post_message"
args = { channel = "#ann-*" }
decision = "deny"

[[rule]]
scope = "agent"
agent = "research"   # mine
host = "*.example.org"
decision = "allow"
"##;

fn told(text: &str, expected: Expect) {
    let Checked { rules, problems } = check(text);
    let usable = if rules.is_some() { "usable\n" } else { "" };
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} | {problem}\n", problem.path))
        .collect();
    expected.assert_eq(&format!("{}{usable}", lines.concat()));
}

fn allow(tool: &str) -> PolicyRule {
    PolicyRule {
        tool: Some(tool.to_owned()),
        effect: None,
        args: BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision: Decision::Allow,
    }
}

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(path(folder.path()), text).unwrap();
    folder
}

fn text(folder: &tempfile::TempDir) -> String {
    fs::read_to_string(path(folder.path())).unwrap()
}

#[test]
fn a_whole_file_is_read_and_each_rule_is_for_whom_it_says() {
    let rules = check(WHOLE).rules.unwrap();
    assert_eq!(rules.len(), 2);
    assert_eq!(
        (rules[0].scope(), rules[1].scope()),
        (Scope::Everywhere, Scope::Agent)
    );
    assert!(rules[0].is_for("research") && rules[0].is_for("audit"));
    assert!(rules[1].is_for("research") && !rules[1].is_for("audit"));
    assert_eq!(rules[0].rule.args["channel"], "#ann-*");
    let standing = rules[1].standing();
    assert_eq!(
        (standing.scope, standing.tainted, standing.id.len()),
        (Scope::Agent, false, 10)
    );
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load(folder.path()).unwrap(), []);
}

#[test]
fn a_rule_that_says_something_else_has_another_name() {
    let rule = KeptRule::new(None, allow("a.b"));
    assert_eq!(rule.id, KeptRule::new(None, allow("a.b")).id);
    assert_ne!(rule.id, KeptRule::new(None, allow("a.c")).id);
    assert_ne!(
        rule.id,
        KeptRule::new(Some("research".to_owned()), allow("a.b")).id
    );
}

#[test]
fn every_mistake_is_told_with_its_line_and_a_remedy() {
    told(
        r#"
[[rules]]
scope = "everywhere"
[[rule]]
decision = "allow"
[[rule]]
scope = "run"
tool = "a.b"
decision = "allow"
[[rule]]
scope = "agent"
tool = "a.b"
decision = "always"
[[rule]]
scope = "agent"
agent = "My Agent"
host = "https://example.org/x"
decision = "allow"
[[rule]]
scope = "everywhere"
agent = "research"
tool = "a.b"
decision = "ask"
tainted = true
[[rule]]
scope = "everywhere"
tool = "a.b"
decision = "ask"
[[rule]]
decision = "ask"
tool = "a.b"
scope = "everywhere"
"#,
        expect![[r#"
            rules | line 2, column 3: There is no key “rules”. Did you mean “rule”?
            rule[1].scope | line 4, column 1: The rule does not say how far it reaches. Write scope = "everywhere", or scope = "agent" and the agent's name.
            rule[1] | line 4, column 1: The rule has no condition. Say what it speaks of: tool, effect, args, path, host or command.
            rule[2].scope | line 7, column 9: rule[2].scope can't be “run”. Known are agent and everywhere.
            rule[3].agent | line 10, column 1: The rule does not say for which agent it is. Write it like this: agent = "research"
            rule[3].decision | line 13, column 12: rule[3].decision can't be “always”. Known are allow, ask and deny.
            rule[4].agent | line 16, column 9: “My Agent” can't be the name of an agent. Write it like this: agent = "research"
            rule[4].host | line 17, column 8: “https://example.org/x” is an address, not a host. Give the host alone, as in host = "example.org".
            rule[5].agent | line 21, column 9: A rule that holds everywhere is for no agent in particular. Write scope = "agent", or take agent out.
            rule[5].tainted | line 24, column 1: There is no key “tainted”. Known are scope, agent, tool, effect, args, path, host, command and decision.
            rule[7] | line 29, column 1: The same rule stands twice. Keep one of the two.
        "#]],
    );
    told(
        "decision = \"allow\"\n",
        expect![[r#"
        decision | line 1, column 1: There is no key “decision” here. Write it under [[rule]].
    "#]],
    );
    told(
        "[[rule]]\nscope = \"everywhere\ntool = 3\n",
        expect![[r#"
         | line 2, column 20: This is not TOML: invalid basic string, expected `"`. Texts stand in quotes, lists in [ ], and each key stands once in its table.
        rule[1].tool | line 3, column 8: rule[1].tool must be a text, not a whole number. Write it like this: tool = "slack.post_message"
    "#]],
    );
}

#[test]
fn a_file_that_can_not_be_read_is_told_and_never_taken_for_an_empty_one() {
    let folder = folder_with("[[rule]]\nscope = \"everywhere\"\ntool = \"a.b\"\n");
    let error = as_error(&load(folder.path()).unwrap_err());
    assert_eq!(
        (error.message.as_str(), error.remedy.as_str()),
        (
            "policy.toml, line 1: The rule has no decision.",
            "Write it like this: decision = \"ask\""
        )
    );
    fs::write(path(folder.path()), [0xff, 0xfe]).unwrap();
    let problems = load(folder.path()).unwrap_err();
    assert_eq!(problems[0].remedy, "Save it as UTF-8 text.");
    fs::remove_file(path(folder.path())).unwrap();
    fs::create_dir(path(folder.path())).unwrap();
    let error = as_error(&load(folder.path()).unwrap_err());
    assert!(
        error.message.contains("policy.toml can't be read"),
        "{}",
        error.message
    );
}

#[test]
fn a_file_with_a_mistake_is_not_touched_by_any_edit() {
    for broken in [
        "[[rule]\n",
        "[[rule]]\nscope = \"everywhere\"\n",
        "# fine\nsurprise = true\n",
    ] {
        let folder = folder_with(broken);
        for error in [
            add(folder.path(), vec![KeptRule::new(None, allow("a.b"))]).unwrap_err(),
            revoke(folder.path(), "a").unwrap_err(),
        ] {
            assert!(
                error.message.starts_with("policy.toml was not changed"),
                "{}",
                error.message
            );
        }
        assert_eq!(text(&folder), broken);
    }
}

#[test]
fn a_rule_is_added_once_and_what_stands_there_stays() {
    let folder = folder_with(WHOLE);
    let new = KeptRule::new(
        Some("research".to_owned()),
        PolicyRule {
            effect: Some(Effect::Irreversible),
            args: BTreeMap::from([("/a/0".to_owned(), "say \"x\"\n*".to_owned())]),
            path: Some("notes/**".to_owned()),
            host: Some("example.org:8080".to_owned()),
            command: Some("git log".to_owned()),
            ..allow("slack.*")
        },
    );
    let rules = vec![new.clone(), new.clone()];
    assert_eq!(add(folder.path(), rules.clone()).unwrap(), rules);
    let once = text(&folder);
    assert!(once.starts_with(WHOLE), "{once}");
    assert_eq!(load(folder.path()).unwrap()[2], new);
    add(folder.path(), vec![new]).unwrap();
    assert_eq!(text(&folder), once);
}

#[test]
fn a_new_file_says_what_it_is_and_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    add(folder.path(), Vec::new()).unwrap();
    assert!(!path(folder.path()).exists());
    let rule = KeptRule::new(None, allow("slack.post_message"));
    add(folder.path(), vec![rule]).unwrap();
    let mode = fs::metadata(path(folder.path()))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    expect![[r##"
        # Rules that hold beside those of agent files: what was answered with "always", and what you
        # write here yourself. Deny beats ask, ask beats allow. A change narrows runs that are going at
        # once; it never widens them.

        [[rule]]
        scope = "everywhere"
        tool = "slack.post_message"
        decision = "allow"
    "##]].assert_eq(&text(&folder));
}

#[test]
fn a_revoked_rule_takes_its_own_comment_with_it_and_no_other() {
    let folder = folder_with(WHOLE);
    let rules = load(folder.path()).unwrap();
    let gone = revoke(folder.path(), &rules[0].id[..4]).unwrap();
    assert_eq!(gone, rules[0]);
    expect![[r##"
        # my rules

        [[rule]]
        scope = "agent"
        agent = "research"   # mine
        host = "*.example.org"
        decision = "allow"
    "##]]
    .assert_eq(&text(&folder));
    revoke(folder.path(), &rules[1].id).unwrap();
    expect![[r#"
        # my rules
    "#]]
    .assert_eq(&text(&folder));
    assert_eq!(load(folder.path()).unwrap(), []);
}

#[test]
fn a_rule_is_revoked_by_one_name_only() {
    let folder = folder_with(WHOLE);
    for id in ["", "zzz"] {
        let error = revoke(folder.path(), id).unwrap_err();
        assert_eq!(error.code, crate::AppErrorCode::NotFound);
    }
    // Of seventeen names two begin with the same of sixteen digits.
    let rules = (0..17).map(|number| KeptRule::new(None, allow(&format!("a.t{number}"))));
    let added = add(folder.path(), rules.collect()).unwrap();
    let shared = added.iter().find(|rule| {
        let alike = added.iter().filter(|other| other.id[..1] == rule.id[..1]);
        alike.count() > 1
    });
    let error = revoke(folder.path(), &shared.unwrap().id[..1]).unwrap_err();
    assert!(
        error.message.starts_with("Several rules begin with"),
        "{}",
        error.message
    );
    assert_eq!(load(folder.path()).unwrap().len(), 19);
}

#[test]
fn a_rule_that_no_file_can_say_is_refused_and_nothing_is_written() {
    let folder = folder_with(WHOLE);
    let rule = PolicyRule {
        path: Some("../outside".to_owned()),
        ..allow("a.b")
    };
    let sound = KeptRule::new(None, allow("a.b"));
    let error = add(folder.path(), vec![sound, KeptRule::new(None, rule)]).unwrap_err();
    assert!(
        error
            .message
            .starts_with("The rule can't be kept in a file."),
        "{}",
        error.message
    );
    assert_eq!(text(&folder), WHOLE);
}

#[test]
fn rules_that_are_added_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let rule = KeptRule::new(None, allow(&format!("a.t{number}")));
            scope.spawn(|| add(folder.path(), vec![rule]).unwrap());
        }
    });
    assert_eq!(load(folder.path()).unwrap().len(), 8);
}
