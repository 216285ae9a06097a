//! Files without mistakes, and what becomes of them.

use expect_test::expect;
use longrein_protocol::agent::{Criterion, Permit};
use longrein_protocol::{AgentSpec, Effect, Repeat};

use super::{hash, is_model_name, json_schema, parse, to_toml};

const FULL: &str = r##"
name = "full"
description = "Says \"everything\""
instructions = """
First line.
  A quote: "so", three: ""\" and a \\ backslash.
Last "line\""""

[model]
use = ["open-router/meta/llama:70b", "local/any"]
max_output_tokens = 1000
window_tokens = 1_000_000
temperature = 0
thinking = "high"

[tools]
allow = ["files", "search_library", "exa.*", "slack.post_message"]

[tools."slack.post_message"]
effect = "reversible"
repeat = "keyed"
result_tokens = 2000
timeout_seconds = 5
paths = ["attachment"]
urls = []
commands = ["script", "setup"]

[tools."slack.post_message".recovery]
key_argument = "client_msg_id"
key_valid_seconds = 3_600
undo_tool = "exa.delete"
undo_argument = "id"

[tools."exa.put"]
repeat = "queryable"
recovery = { status_tool = "exa.status", status_pointer = "/job/0/state" }

[[policy]]
tool = "slack.post_message"
args = { channel = "#ann-*", "/blocks/0/text" = "a \"quote\"" }
decision = "ask"

[[policy]]
effect = "irreversible"
decision = "deny"

[[policy]]
path = "notes/**/*.md"
host = "*.example.org:8080"
command = "git log"
decision = "allow"

[library]
folders = ["~/Papers", "/srv/notes with a very long name, to make the list longer than a line", "~"]

[context]
compact_at = 0.5
summaries = false
summary_model = "local/small"
offload_above_tokens = 500

[budget]
steps = 5
tokens_in = 5_000
tokens_out = 6_000
working_minutes = 7
actions = 8
money_usd = 2.5
idle_steps = 0
children = 2
depth = 0

[[done_when]]
file = "pages/index.html"
min_bytes = 1000

[[done_when]]
evidence = "pages/index.html"
uncited = "forbid"
numbers = "allow"
min_citations = 3

[[done_when]]
file = "plot.png"
max_bytes = 5_000_000
media_type = "image/*"

[[done_when]]
schema = "data.json"
[done_when.against]
type = "object"
required = ["a b", "c"]
properties.c = { type = "array", items = { enum = [1, -2.5, "x", true, {}] } }

[[done_when]]
text = "report.md"
must = ['^## Limits$', "back\\\\slash"]
must_not = ['(?i)\btodo\b']

[[done_when]]
links = "pages/index.html"
min = 2

[[done_when]]
tool = "exa.get"
args = { id = 7, "a b" = { c = [0.5, "x"] } }
pointer = "/a~1b/0"
matches = '^closed'

[[done_when]]
tool = "exa.status"
equals = { state = "closed", tries = [] }

[[done_when]]
judge = """
Every claim is fair.
Nothing is left out."""
of = "pages/index.html"
model = "local/any"

[[done_when]]
person = "Read the page and accept it."
"##;

#[test]
fn a_whole_file_is_read_and_written_and_read_again_as_the_same() {
    let spec = parse(FULL, "x").unwrap();
    assert_eq!(spec.instructions.lines().count(), 3);
    let settings = &spec.tools.settings["slack.post_message"];
    assert_eq!(
        (settings.effect, settings.repeat),
        (Some(Effect::Reversible), Some(Repeat::Keyed))
    );
    assert!(
        matches!(&spec.done_when[1], Criterion::Evidence(known) if known.uncited == Permit::Forbid)
    );
    assert_eq!(spec.policy[0].args["/blocks/0/text"], "a \"quote\"");
    assert_eq!(spec.budget.money_micro(), Some(2_500_000));
    assert_eq!((spec.budget.children, spec.budget.depth), (2, 0));
    assert_eq!(spec.done_when.len(), 10);
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
    expect![[r#"
        name = "research"
        description = ""
        instructions = ""

        [model]
        use = []
        max_output_tokens = 8192
        window_tokens = 32768

        [tools]
        allow = []

        [skills]
        use = ["*"]

        [library]
        folders = []

        [context]
        compact_at = 0.75
        offload_above_tokens = 4000
        server_tools = 8
        server_tool_tokens = 3000

        [budget]
        steps = 80
        tokens_in = 2_000_000
        working_minutes = 60
        idle_steps = 40
        children = 8
        depth = 3
    "#]]
    .assert_eq(&to_toml(&spec));
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
    assert_eq!(schema["$defs"]["PolicyRule"]["minProperties"], 2);
    for (kind, key, range) in super::keys::WHOLE_RANGES {
        let number = &schema["$defs"][kind]["properties"][key];
        assert_eq!(number["minimum"], *range.start(), "{kind}.{key}");
        assert_eq!(number["maximum"], *range.end(), "{kind}.{key}");
    }
}
