//! Files with mistakes and what is said of them; files without, and what becomes of them.

use expect_test::{Expect, expect};
use longrein_protocol::agent::{Criterion, Uncited};
use longrein_protocol::{AgentSpec, Effect, Repeat};

use super::{Checked, check, hash, is_model_name, json_schema, parse, to_toml};

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
        expect![[""]],
    );
    refused("name = \"research", expect![[""]]);
    refused("[model\nuse = [\"local/any\"]", expect![[""]]);
    refused("name = \"a\"\nname = \"b\"", expect![[""]]);
    refused("[budget]\nsteps = 1\n[budget]\nsteps = 2", expect![[""]]);
    refused("description = \"\"\"\nnever closed", expect![[""]]);
    refused(
        &"#".repeat(super::reader::FILE_BYTES_MAX + 1),
        expect![[""]],
    );
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one_or_its_place() {
    refused("instruction = \"x\"", expect![[""]]);
    refused("[budgt]\nsteps = 3", expect![[""]]);
    refused("[budget]\nstep = 3", expect![[""]]);
    refused("steps = 3", expect![[""]]);
    refused("[model]\nzzz = 3", expect![[""]]);
    refused("[tools]\nalow = [\"files\"]", expect![[""]]);
    refused("[tools.\"a.b\"]\nefect = \"read\"", expect![[""]]);
    refused("[[done_when]]\nfiles = \"a\"", expect![[""]]);
    refused(
        "[[done_when]]\nfile = \"a\"\nuncited = \"forbid\"",
        expect![[""]],
    );
}

#[test]
fn a_value_of_another_kind_is_told_with_the_kind_and_an_example() {
    refused("name = 7", expect![[""]]);
    refused("description = [\"x\"]", expect![[""]]);
    refused("model = \"local/any\"", expect![[""]]);
    refused("[model]\nuse = \"local/any\"", expect![[""]]);
    refused("[model]\nuse = [1]", expect![[""]]);
    refused("[tools]\nallow = \"files\"", expect![[""]]);
    refused("[policy]\ntool = \"a.b\"", expect![[""]]);
    refused("policy = [1]", expect![[""]]);
    refused(
        "[budget]\nsteps = \"many\"\ntokens_in = 1.5\nactions = true",
        expect![[""]],
    );
    refused("[context]\ncompact_at = \"75 %\"", expect![[""]]);
    refused("[library]\nfolders = [1979-05-27]", expect![[""]]);
}

#[test]
fn a_number_out_of_range_is_told_with_the_range() {
    refused(
        "[budget]\nsteps = 0\ntokens_in = -5\nworking_minutes = 99999999999999999999\nactions = 0x0",
        expect![[""]],
    );
    refused(
        "[context]\ncompact_at = 1.5\noffload_above_tokens = 3",
        expect![[""]],
    );
    refused(
        "[model]\ntemperature = nan\nmax_output_tokens = 0",
        expect![[""]],
    );
    refused("[model]\nmax_output_tokens = 40000", expect![[""]]);
    refused("[model]\nwindow_tokens = 4096", expect![[""]]);
    refused("[[done_when]]\nfile = \"a\"\nmin_bytes = 0", expect![[""]]);
}

#[test]
fn a_name_that_stands_for_nothing_is_told() {
    refused("name = \"My Agent\"", expect![[""]]);
    refused(
        "[model]\nuse = [\"gpt\", \"local/\", \"a b/c\", \"/x\"]",
        expect![[""]],
    );
    refused(
        "[tools]\nallow = [\"file\", \"read\", \"*\", \".x\", \"exa.\", \"shell\", \"a b.c\"]",
        expect![[""]],
    );
    refused("[tools]\nallow = [\"files\", \"files\"]", expect![[""]]);
    refused(
        "[tools.slack.post_message]\neffect = \"read\"",
        expect![[""]],
    );
    refused("[tools.\"slack.*\"]\neffect = \"read\"", expect![[""]]);
    refused(
        "[tools.\"a.b\"]\neffect = \"write\"\nrepeat = \"twice\"",
        expect![[""]],
    );
    refused(
        "[[policy]]\ntool = \"serch_library\"\ndecision = \"always\"",
        expect![[""]],
    );
    refused(
        "[[policy]]\n[[policy]]\ntool = \"files\"\ndecision = \"ask\"",
        expect![[""]],
    );
    refused(
        "[library]\nfolders = [\"Papers\", \"~joe/x\"]",
        expect![[""]],
    );
}

#[test]
fn a_criterion_that_can_not_be_checked_is_told() {
    refused(
        "[[done_when]]\nfile = \"/etc/passwd\"\n[[done_when]]\nfile = \"../up\"\n[[done_when]]\nevidence = \"~/page\"",
        expect![[""]],
    );
    refused(
        "[[done_when]]\nfile = \"\"\n[[done_when]]\nfile = \"pages/\"",
        expect![[""]],
    );
    refused(
        "[[done_when]]\n[[done_when]]\nfile = \"a\"\nevidence = \"a\"",
        expect![[""]],
    );
    refused(
        "[[done_when]]\nfile = \"a\"\n[[done_when]]\nfile = \"a\"\nmin_bytes = 1",
        expect![[""]],
    );
    refused(
        "[[done_when]]\nevidence = \"a\"\nuncited = \"forbidden\"\nmin_citations = 0",
        expect![[""]],
    );
}

#[test]
fn what_is_designed_and_not_built_is_refused_rather_than_ignored() {
    refused(
        r#"
[model]
use = ["local/a", "local/b"]
thinking = "medium"
[tools]
allow = ["run_code", "delegate", "web_fetch"]
preload = ["exa.search"]
[tools."a.b"]
repeat = "keyed"
[tools."a.c"]
repeat = "queryable"
[[policy]]
tool = "a.b"
args = { channel = "x" }
decision = "ask"
[skills]
use = ["page"]
[sandbox]
hosts = []
[budget]
money_usd = 3.0
children = 8
[[stage]]
name = "first"
[[done_when]]
command = "make test"
[[done_when]]
judge = "is it good?"
[[done_when]]
person = true
"#,
        expect![[""]],
    );
}

#[test]
fn what_has_no_effect_is_a_warning_and_the_file_can_be_used() {
    expect![[""]].assert_eq(&problems(
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
        expect![[""]],
    );
}

const FULL: &str = r#"
name = "full"
description = "Says \"everything\""
instructions = """
First line.
  A quote: "so", three: ""\" and a \\ backslash.
Last "line\""""

[model]
use = ["open-router/meta/llama:70b"]
max_output_tokens = 1000
window_tokens = 1_000_000
temperature = 0

[tools]
allow = ["files", "search_library", "exa.*", "slack.post_message"]

[tools."slack.post_message"]
effect = "reversible"
repeat = "repeatable"
result_tokens = 2000
timeout_seconds = 5

[[policy]]
tool = "slack.post_message"
decision = "ask"

[library]
folders = ["~/Papers", "/srv/notes with a very long name, to make the list longer than a line", "~"]

[context]
compact_at = 0.5
offload_above_tokens = 500

[budget]
steps = 5
tokens_in = 5_000
tokens_out = 6_000
working_minutes = 7
actions = 8

[[done_when]]
file = "pages/index.html"
min_bytes = 1000

[[done_when]]
evidence = "pages/index.html"
uncited = "forbid"
min_citations = 3
"#;

#[test]
fn a_whole_file_is_read_and_written_and_read_again_as_the_same() {
    let spec = parse(FULL, "x").unwrap();
    assert_eq!(spec.instructions.lines().count(), 3);
    let settings = &spec.tools.settings["slack.post_message"];
    assert_eq!(
        (settings.effect, settings.repeat),
        (Some(Effect::Reversible), Some(Repeat::Repeatable))
    );
    assert!(
        matches!(&spec.done_when[1], Criterion::Evidence(known) if known.uncited == Uncited::Forbid)
    );
    let written = to_toml(&spec);
    let read = parse(&written, "y").unwrap_or_else(|problems| panic!("{problems:#?}\n{written}"));
    assert_eq!(read, spec);
    assert_eq!(to_toml(&read), written);
    let json = serde_json::to_value(&spec).unwrap();
    assert_eq!(serde_json::from_value::<AgentSpec>(json).unwrap(), spec);
}

#[test]
fn texts_survive_being_written_whatever_they_hold() {
    for instructions in [
        "\"\"\"",
        "a\n\"\"\"\nb",
        "ends in quote\n\"",
        "ends in two\n\"\"",
        "back\\slash\n\\",
        "tab\t\r\nnul\u{0}\u{7f}é",
        "\"\n\"",
        "# not a comment\n[nor] = 'this'",
    ] {
        let spec = AgentSpec {
            instructions: instructions.to_owned(),
            ..parse("", "a").unwrap()
        };
        let read = parse(&to_toml(&spec), "a").unwrap();
        assert_eq!(read.instructions, instructions);
    }
}

#[test]
fn an_empty_file_is_an_agent_called_after_it_with_every_default() {
    let spec = parse("", "research.agent.toml").unwrap();
    assert_eq!(spec.name, "research");
    expect![[""]].assert_eq(&to_toml(&spec));
}

#[test]
fn the_hash_is_of_what_the_file_says_and_not_of_its_layout() {
    let plain = parse("name = \"a\"\n[budget]\nsteps = 80", "x").unwrap();
    let laid_out = parse("# a comment\nname   = 'a'", "y").unwrap();
    let other = parse("name = \"a\"\n[budget]\nsteps = 81", "x").unwrap();
    assert_eq!(hash(&plain), hash(&laid_out));
    assert_ne!(hash(&plain), hash(&other));
}

#[test]
fn names_of_models_have_a_provider_and_a_model() {
    for (name, sound) in [
        ("local/any", true),
        ("demo/researcher", true),
        ("openrouter/meta-llama/llama-3:free", true),
        ("local", false),
        ("local/", false),
        ("/any", false),
        ("lo cal/any", false),
        ("local/a ny", false),
    ] {
        assert_eq!(is_model_name(name), sound, "{name}");
    }
}

#[test]
fn the_schema_knows_every_section_and_no_other() {
    let schema = json_schema();
    let mut known: Vec<&str> = super::keys::ROOT
        .iter()
        .filter(|key| key.built)
        .map(|key| key.name)
        .collect();
    let mut described: Vec<&str> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    known.sort_unstable();
    described.sort_unstable();
    assert_eq!(described, known);
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.get("required").is_none());
}
