//! "Always": what it would make, in words, and that the words are what it matches.

use expect_test::expect;
use longrein_core::policy::{Looked, in_words, offers};
use longrein_core::run::Run;
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::{Scope, StandingRule};
use serde_json::{Value, json};

use super::world::{action, decided, facts_of, rule, run_with};

fn offered(run: &Run, tool: &str, arguments: &Value) -> Vec<PolicyRule> {
    let facts = facts_of(run, tool, arguments, Looked::default());
    offers(run, &action(run, tool, arguments), arguments, &facts)
}

/// The same run after a person said "always".
fn always(run: &Run, rules: &[PolicyRule]) -> Run {
    let mut run = run.clone();
    run.rules.extend(rules.iter().map(|rule| StandingRule {
        id: "always".to_owned(),
        scope: Scope::Run,
        rule: rule.clone(),
        tainted: false,
    }));
    run
}

fn sh(command: &str) -> (&'static str, Value) {
    ("sh", json!({"command": command}))
}

/// Actions that no rule speaks of.
fn unspoken() -> Vec<(&'static str, Value)> {
    vec![
        ("ch.post", json!({"text": "see https://example.org/"})),
        ("hook.send", json!({"url": "https://Hooks.example.org/x"})),
        (
            "hook.send",
            json!({"url": ["https://a.org/", "https://b.org:81/", "https://a.org/2"]}),
        ),
        ("up.load", json!({"file": "out/page.html"})),
        (
            "up.load",
            json!({"file": "out/a.css", "more": ["out/b.css"]}),
        ),
        ("up.load", json!({"file": "out/a*.css"})),
        (
            "up.load",
            json!({"file": "out/a.css", "url": "https://a.org/"}),
        ),
        sh("git log --oneline | wc -l"),
        sh("rm -rf build"),
        sh("curl -s https://a.org/x"),
        sh("git log && curl https://a.org/x"),
        sh("git log > log.txt"),
        sh("git $x"),
        sh("python3 -c 'print(1)'"),
        sh("sudo git log"),
        ("hook.send", json!({"url": "https://evil.com\\@good.com/"})),
        ("up.load", json!({"file": "../secret.md"})),
    ]
}

#[test]
fn always_makes_the_narrowest_rules_that_a_person_would_expect() {
    let run = run_with(&[]);
    let mut lines = String::new();
    for (tool, arguments) in &unspoken() {
        let rules = offered(&run, tool, arguments);
        let words: Vec<String> = rules.iter().map(in_words).collect();
        lines.push_str(&format!("{tool} {arguments}\n"));
        words
            .iter()
            .for_each(|words| lines.push_str(&format!("    {words}\n")));
        if !rules.is_empty() {
            let decided = decided(&always(&run, &rules), tool, arguments.clone());
            assert_eq!(
                decided.decision,
                Decision::Allow,
                "{tool} {arguments}: {}",
                decided.why
            );
        }
    }
    expect![[r#"
        ch.post {"text":"see https://example.org/"}
            ch.post
        hook.send {"url":"https://Hooks.example.org/x"}
            hook.send, only to hooks.example.org
        hook.send {"url":["https://a.org/","https://b.org:81/","https://a.org/2"]}
            hook.send, only to a.org
            hook.send, only to b.org:81
        up.load {"file":"out/page.html"}
            up.load, only on out/page.html
        up.load {"file":"out/a.css","more":["out/b.css"]}
            up.load
        up.load {"file":"out/a*.css"}
        up.load {"file":"out/a.css","url":"https://a.org/"}
            up.load, only to a.org
        sh {"command":"git log --oneline | wc -l"}
            sh, only commands that begin with “git log”
            sh, only commands that begin with “wc -l”
        sh {"command":"rm -rf build"}
            sh, only commands that begin with “rm -rf build”
        sh {"command":"curl -s https://a.org/x"}
            sh, only to a.org, only commands that begin with “curl -s https://a.org/x”
        sh {"command":"git log && curl https://a.org/x"}
        sh {"command":"git log > log.txt"}
            sh, only commands that begin with “> log.txt”
            sh, only commands that begin with “git log”
        sh {"command":"git $x"}
        sh {"command":"python3 -c 'print(1)'"}
        sh {"command":"sudo git log"}
            sh, only commands that begin with “sudo git”
            sh, only commands that begin with “git log”
        hook.send {"url":"https://evil.com\\@good.com/"}
        up.load {"file":"../secret.md"}
    "#]]
    .assert_eq(&lines);
}

#[test]
fn what_is_offered_covers_nothing_that_its_words_do_not_say() {
    let hook = |url: &str| ("hook.send", json!({"url": url}));
    let rows = [
        (
            hook("https://a.org/x"),
            vec![hook("https://a.org/y")],
            vec![
                hook("https://b.org/"),
                hook("https://a.org:81/"),
                ("ch.post", json!({})),
            ],
        ),
        (
            ("up.load", json!({"file": "out/page.html"})),
            vec![("up.load", json!({"file": "out/page.html", "title": "x"}))],
            vec![
                ("up.load", json!({"file": "out/other.html"})),
                ("up.load", json!({"file": "out/page.html", "more": ["x"]})),
                ("up.load", json!({})),
            ],
        ),
        (
            sh("git log --oneline"),
            vec![sh("git log -5")],
            vec![
                sh("git push"),
                sh("git log; make"),
                sh("git -C x log"),
                sh("git log > x"),
            ],
        ),
        (
            sh("curl -s https://a.org/x"),
            vec![],
            vec![
                sh("curl -s https://b.org/x"),
                sh("curl -s https://a.org/x https://b.org/"),
            ],
        ),
        (
            sh("sudo git log"),
            vec![sh("sudo git log -5"), sh("git log")],
            vec![sh("sudo git push"), sh("sudo rm x")],
        ),
    ];
    let run = run_with(&[]);
    for ((tool, arguments), same, others) in rows {
        let rules = offered(&run, tool, &arguments);
        assert!(!rules.is_empty(), "{tool} {arguments}");
        let allowing = always(&run, &rules);
        for (expected, actions) in [(Decision::Allow, same), (Decision::Ask, others)] {
            for (other, with) in actions {
                let decided = decided(&allowing, other, with.clone());
                assert_eq!(
                    decided.decision, expected,
                    "{rules:?}\n{other} {with}: {}",
                    decided.why
                );
            }
        }
    }
}

#[test]
fn nothing_is_offered_where_a_rule_asks_or_denies() {
    let post = json!({});
    for text in [r#"ask: tool = "ch.post""#, r#"deny: tool = "ch.*""#] {
        assert_eq!(offered(&run_with(&[rule(text)]), "ch.post", &post), []);
    }
    assert_eq!(offered(&run_with(&[]), "ch.post", &post).len(), 1);
    assert_eq!(offered(&run_with(&[]), "other.tool", &post), []);
}

#[test]
fn a_rule_in_words_says_exactly_what_it_matches() {
    let rows = [
        r#"allow: tool = "ch.post", host = "hooks.example.org""#,
        r#"allow: tool = "ch.*", effect = "read""#,
        r#"allow: effect = "reversible""#,
        r#"deny: host = "*.Example.org:8080""#,
        r#"deny: host = "https://example.org""#,
        r#"ask: command = "git push""#,
        r#"allow: command = "git log""#,
        r#"allow: tool = "write_file", path = "notes/**""#,
        r#"allow: path = "notes/*.md""#,
        r#"deny: path = "**/secret.md""#,
        r##"allow: tool = "ch.post", effect = "irreversible", args = { channel = "#a*", "/to/name" = "x" }"##,
        "ask:",
    ];
    let words: Vec<String> = rows.iter().map(|text| in_words(&rule(text))).collect();
    expect![[r#"
        ch.post, only to hooks.example.org
        every tool of ch that only reads
        every tool that changes something outside that can be taken back
        every tool, when it reaches example.org:8080 and the hosts beneath it
        every tool, when it reaches “https://example.org”, which is no host
        every tool, when a command begins with “git push”
        every tool, only commands that begin with “git log”
        write_file, only on notes and what is in it
        every tool, only on notes/*.md (* is any name)
        every tool, when it touches **/secret.md (** is any folders)
        ch.post, as long as it changes something outside for good, with to/name “x”, with channel “#a*” (* is any text)
        every tool"#]].assert_eq(&words.join("\n"));
}
