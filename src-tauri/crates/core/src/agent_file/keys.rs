//! The keys of an agent file, with an example of each, and what their numbers may be.

use std::ops::RangeInclusive;

use longrein_protocol::agent::Size;

use super::reader::Key;

/// The file itself.
pub(super) const ROOT: &[Key] = &[
    Key::new("name", "name = \"research\""),
    Key::new(
        "description",
        "description = \"Answers a question with one cited page.\"",
    ),
    Key::new(
        "instructions",
        "instructions = \"You research one question.\"",
    ),
    Key::new("model", "[model]"),
    Key::new("tools", "[tools]"),
    Key::new("policy", "[[policy]]"),
    Key::new("skills", "[skills]"),
    Key::new("agents", "[agents]"),
    Key::new("library", "[library]"),
    Key::new("sandbox", "[sandbox]"),
    Key::new("context", "[context]"),
    Key::new("budget", "[budget]"),
    Key::new("done_when", "[[done_when]]"),
    Key::new("stage", "[[stage]]"),
];

/// `[model]`
pub(super) const MODEL: &[Key] = &[
    Key::new("use", "use = [\"local/any\"]"),
    Key::new("max_output_tokens", "max_output_tokens = 8192"),
    Key::new("window_tokens", "window_tokens = 32768"),
    Key::new("temperature", "temperature = 0.2"),
    Key::new("thinking", "thinking = \"medium\""),
];

/// `[tools]`; a key that is none of these is the name of a tool.
pub(super) const TOOLS: &[Key] = &[
    Key::new(
        "allow",
        "allow = [\"files\", \"search_library\", \"server.tool\"]",
    ),
    Key::new("preload", "preload = [\"server.tool\"]"),
];

/// `[tools."server.tool"]`
pub(super) const TOOL: &[Key] = &[
    Key::new("effect", "effect = \"irreversible\""),
    Key::new("repeat", "repeat = \"once\""),
    Key::new("result_tokens", "result_tokens = 2000"),
    Key::new("timeout_seconds", "timeout_seconds = 60"),
    Key::new("paths", "paths = [\"file\"]"),
    Key::new("urls", "urls = [\"address\"]"),
    Key::new("commands", "commands = [\"script\"]"),
    Key::new("decision", "decision = \"ask\""),
    Key::new("trusted", "trusted = true"),
    Key::new("recovery", "recovery = { key_argument = \"key\" }"),
];

/// `[tools."server.tool".recovery]`
pub(super) const RECOVERY: &[Key] = &[
    Key::new("key_argument", "key_argument = \"idempotency_key\""),
    Key::new("key_valid_seconds", "key_valid_seconds = 86_400"),
    Key::new("status_tool", "status_tool = \"server.status\""),
    Key::new("status_pointer", "status_pointer = \"/state\""),
    Key::new("undo_tool", "undo_tool = \"server.delete\""),
    Key::new("undo_argument", "undo_argument = \"id\""),
];

/// The line that shows how a key is written.
pub(super) fn example(keys: &[Key], name: &str) -> &'static str {
    let known = keys.iter().find(|key| key.name == name);
    known.map_or("", |key| key.example)
}

/// `[skills]`
pub(super) const SKILLS: &[Key] = &[Key::new("use", "use = [\"research-page\"]")];

/// `[agents]`
pub(super) const AGENTS: &[Key] = &[Key::new("use", "use = [\"checker\"]")];

/// The most agents that one may give work to.
pub(super) const AGENTS_MAX: usize = 16;

/// `[library]`
pub(super) const LIBRARY: &[Key] = &[Key::new("folders", "folders = [\"~/Papers\"]")];

/// `[sandbox]`
pub(super) const SANDBOX: &[Key] = &[
    Key::new("image", "image = \"localhost/lab/tools:1\""),
    Key::new("memory", "memory = \"2GiB\""),
    Key::new("cpus", "cpus = 2"),
    Key::new("processes", "processes = 512"),
    Key::new("disk", "disk = \"10GiB\""),
    Key::new("timeout_seconds", "timeout_seconds = 600"),
    Key::new(
        "hosts",
        "hosts = [\"packages.example.org\", \"files.example.org\"]",
    ),
];

/// `[context]`
pub(super) const CONTEXT: &[Key] = &[
    Key::new("compact_at", "compact_at = 0.75"),
    Key::new("summaries", "summaries = true"),
    Key::new("summary_model", "summary_model = \"local/any\""),
    Key::new("offload_above_tokens", "offload_above_tokens = 4000"),
    Key::new("server_tools", "server_tools = 8"),
    Key::new("server_tool_tokens", "server_tool_tokens = 3000"),
];

/// `[budget]`
pub(super) const BUDGET: &[Key] = &[
    Key::new("steps", "steps = 80"),
    Key::new("tokens_in", "tokens_in = 2_000_000"),
    Key::new("tokens_out", "tokens_out = 100_000"),
    Key::new("working_minutes", "working_minutes = 60"),
    Key::new("actions", "actions = 200"),
    Key::new("money_usd", "money_usd = 3.0"),
    Key::new("idle_steps", "idle_steps = 40"),
    Key::new("children", "children = 8"),
    Key::new("depth", "depth = 3"),
];

/// `[[stage]]`
pub(super) const STAGE: &[Key] = &[
    Key::new("name", "name = \"plan\""),
    Key::new("instructions", "instructions = \"Write the plan.\""),
    Key::new("tools", "tools = [\"search_library\"]"),
    Key::new("each", "each = \"plan\""),
    Key::new("done_when", "done_when = [{ plan = \"made\", min = 3 }]"),
];

/// `[[done_when]]` with `plan`
pub(super) const PLAN_CRITERION: &[Key] = &[
    Key::new("plan", "plan = \"made\""),
    Key::new("min", "min = 3"),
];

/// `[[done_when]]` with `file`
pub(super) const FILE_CRITERION: &[Key] = &[
    Key::new("file", "file = \"index.html\""),
    Key::new("min_bytes", "min_bytes = 1000"),
    Key::new("max_bytes", "max_bytes = 1_000_000"),
    Key::new("media_type", "media_type = \"text/html\""),
];

/// `[[done_when]]` with `evidence`
pub(super) const EVIDENCE_CRITERION: &[Key] = &[
    Key::new("evidence", "evidence = \"index.html\""),
    Key::new("uncited", "uncited = \"forbid\""),
    Key::new("numbers", "numbers = \"forbid\""),
    Key::new("min_citations", "min_citations = 3"),
];

/// `[[done_when]]` with `schema`
pub(super) const SCHEMA_CRITERION: &[Key] = &[
    Key::new("schema", "schema = \"data.json\""),
    Key::new("against", "against = { type = \"array\", minItems = 3 }"),
];

/// `[[done_when]]` with `text`
pub(super) const TEXT_CRITERION: &[Key] = &[
    Key::new("text", "text = \"report.md\""),
    Key::new("must", "must = ['## Limits']"),
    Key::new("must_not", "must_not = ['(?i)todo']"),
];

/// `[[done_when]]` with `links`
pub(super) const LINKS_CRITERION: &[Key] = &[
    Key::new("links", "links = \"index.html\""),
    Key::new("min", "min = 3"),
];

/// `[[done_when]]` with `tool`
pub(super) const TOOL_CRITERION: &[Key] = &[
    Key::new("tool", "tool = \"tracker.read\""),
    Key::new("args", "args = { id = 7 }"),
    Key::new("pointer", "pointer = \"/status\""),
    Key::new("equals", "equals = \"closed\""),
    Key::new("matches", "matches = '^closed'"),
];

/// `[[done_when]]` with `judge`
pub(super) const JUDGE_CRITERION: &[Key] = &[
    Key::new("judge", "judge = \"Every claim is fair to its source.\""),
    Key::new("of", "of = \"index.html\""),
    Key::new("model", "model = \"local/any\""),
];

/// `[[done_when]]` with `command`
pub(super) const COMMAND_CRITERION: &[Key] = &[
    Key::new("command", "command = \"python3 -m pytest -q\""),
    Key::new("status", "status = 0"),
    Key::new("matches", "matches = '[0-9]+ passed'"),
];

/// `[[done_when]]` with `person`
pub(super) const PERSON_CRITERION: &[Key] = &[Key::new(
    "person",
    "person = \"Read the page and accept it.\"",
)];

/// `[[done_when]]` while it is not known which kind it is.
pub(super) const CRITERION: &[Key] = &[
    Key::new("file", "file = \"index.html\""),
    Key::new("evidence", "evidence = \"index.html\""),
    Key::new("schema", "schema = \"data.json\""),
    Key::new("text", "text = \"report.md\""),
    Key::new("links", "links = \"index.html\""),
    Key::new("tool", "tool = \"tracker.read\""),
    Key::new("judge", "judge = \"Every claim is fair to its source.\""),
    Key::new("person", "person = \"Read the page and accept it.\""),
    Key::new("command", "command = \"python3 -m pytest -q\""),
    Key::new("plan", "plan = \"made\""),
];

/// Where a key belongs that stands elsewhere.
pub(super) const PLACES: &[(&str, &str)] = &[
    ("use", "[model]"),
    ("max_output_tokens", "[model]"),
    ("window_tokens", "[model]"),
    ("temperature", "[model]"),
    ("allow", "[tools]"),
    ("preload", "[tools]"),
    ("folders", "[library]"),
    ("compact_at", "[context]"),
    ("summaries", "[context]"),
    ("summary_model", "[context]"),
    ("offload_above_tokens", "[context]"),
    ("image", "[sandbox]"),
    ("memory", "[sandbox]"),
    ("cpus", "[sandbox]"),
    ("processes", "[sandbox]"),
    ("disk", "[sandbox]"),
    ("hosts", "[sandbox]"),
    ("server_tools", "[context]"),
    ("server_tool_tokens", "[context]"),
    ("steps", "[budget]"),
    ("tokens_in", "[budget]"),
    ("tokens_out", "[budget]"),
    ("working_minutes", "[budget]"),
    ("actions", "[budget]"),
    ("money_usd", "[budget]"),
    ("idle_steps", "[budget]"),
    ("children", "[budget]"),
    ("depth", "[budget]"),
    ("repeat", "[tools.\"server.tool\"]"),
    ("timeout_seconds", "[tools.\"server.tool\"]"),
    ("result_tokens", "[tools.\"server.tool\"]"),
    ("key_argument", "[tools.\"server.tool\".recovery]"),
    ("key_valid_seconds", "[tools.\"server.tool\".recovery]"),
    ("status_tool", "[tools.\"server.tool\".recovery]"),
    ("status_pointer", "[tools.\"server.tool\".recovery]"),
    ("undo_tool", "[tools.\"server.tool\".recovery]"),
    ("undo_argument", "[tools.\"server.tool\".recovery]"),
    ("decision", "[[policy]]"),
    ("host", "[[policy]]"),
    ("min_bytes", "[[done_when]] beside file"),
    ("max_bytes", "[[done_when]] beside file"),
    ("media_type", "[[done_when]] beside file"),
    ("uncited", "[[done_when]] beside evidence"),
    ("numbers", "[[done_when]] beside evidence"),
    ("min_citations", "[[done_when]] beside evidence"),
    ("against", "[[done_when]] beside schema"),
    ("must", "[[done_when]] beside text"),
    ("must_not", "[[done_when]] beside text"),
    ("pointer", "[[done_when]] beside tool"),
    ("equals", "[[done_when]] beside tool"),
    ("matches", "[[done_when]] beside tool or command"),
    ("status", "[[done_when]] beside command"),
    ("of", "[[done_when]] beside judge"),
    ("each", "[[stage]]"),
    (
        "description",
        "the head of the file, before the first [table]",
    ),
    (
        "instructions",
        "the head of the file, before the first [table]",
    ),
];

/// Tools that are granted by name, besides those for files.
pub(super) const SINGLE_TOOLS: &[&str] = &[
    "search_library",
    "web_fetch",
    "delegate",
    "run_command",
    "run_code",
];

/// Tools that the design names and this version does not have.
pub(super) const LATER_TOOLS: &[&str] = &["read_result", "pin_note", "recall"];

/// The longest name of an agent.
pub(super) const NAME_LETTERS_MAX: usize = 64;

pub(super) const MAX_OUTPUT_TOKENS: RangeInclusive<u32> = 16..=1_000_000;
pub(super) const WINDOW_TOKENS: RangeInclusive<u32> = 2_048..=10_000_000;
pub(super) const TEMPERATURE: RangeInclusive<f64> = 0.0..=2.0;
pub(super) const RESULT_TOKENS: RangeInclusive<u32> = 50..=1_000_000;
pub(super) const TIMEOUT_SECONDS: RangeInclusive<u32> = 1..=86_400;
pub(super) const COMPACT_AT: RangeInclusive<f64> = 0.2..=0.95;
pub(super) const OFFLOAD_ABOVE_TOKENS: RangeInclusive<u32> = 100..=1_000_000;
/// 0: the model looks for the tools of every server.
pub(super) const SERVER_TOOLS: RangeInclusive<u32> = 0..=10_000;
pub(super) const SERVER_TOOL_TOKENS: RangeInclusive<u32> = 0..=1_000_000;
pub(super) const STEPS: RangeInclusive<u32> = 1..=1_000_000;
pub(super) const TOKENS: RangeInclusive<u32> = 1_000..=u32::MAX;
pub(super) const WORKING_MINUTES: RangeInclusive<u32> = 1..=525_600;
pub(super) const ACTIONS: RangeInclusive<u32> = 1..=1_000_000;
pub(super) const MONEY_USD: RangeInclusive<f64> = 0.01..=100_000.0;
/// 0 switches the rule off.
pub(super) const IDLE_STEPS: RangeInclusive<u32> = 0..=1_000_000;
/// 0: it has none.
pub(super) const CHILDREN: RangeInclusive<u32> = 0..=1_000;
/// 0: its children have none.
pub(super) const DEPTH: RangeInclusive<u32> = 0..=8;
pub(super) const KEY_VALID_SECONDS: RangeInclusive<u32> = 1..=31_536_000;
pub(super) const MEMORY: RangeInclusive<Size> = Size(64 << 20)..=Size(16 << 40);
pub(super) const DISK: RangeInclusive<Size> = Size(1 << 20)..=Size(16 << 40);
pub(super) const CPUS: RangeInclusive<f64> = 0.1..=1_024.0;
/// A few of them are the agent's of the box.
pub(super) const PROCESSES: RangeInclusive<u32> = 16..=100_000;
pub(super) const EXIT_STATUS: RangeInclusive<u32> = 0..=255;
pub(super) const MIN_BYTES: RangeInclusive<u32> = 1..=1_000_000_000;
pub(super) const MIN_ITEMS: RangeInclusive<u32> = 1..=100;
pub(super) const MIN_LINKS: RangeInclusive<u32> = 0..=10_000;
pub(super) const MIN_CITATIONS: RangeInclusive<u32> = 0..=10_000;

/// What the schema says of whole numbers: the type, its key, the range.
pub(super) const WHOLE_RANGES: &[(&str, &str, RangeInclusive<u32>)] = &[
    ("ModelChoice", "max_output_tokens", MAX_OUTPUT_TOKENS),
    ("ModelChoice", "window_tokens", WINDOW_TOKENS),
    ("ToolSettings", "result_tokens", RESULT_TOKENS),
    ("ToolSettings", "timeout_seconds", TIMEOUT_SECONDS),
    (
        "ContextLimits",
        "offload_above_tokens",
        OFFLOAD_ABOVE_TOKENS,
    ),
    ("SandboxSettings", "processes", PROCESSES),
    ("SandboxSettings", "timeout_seconds", TIMEOUT_SECONDS),
    ("ContextLimits", "server_tools", SERVER_TOOLS),
    ("ContextLimits", "server_tool_tokens", SERVER_TOOL_TOKENS),
    ("Budget", "steps", STEPS),
    ("Budget", "tokens_in", TOKENS),
    ("Budget", "tokens_out", TOKENS),
    ("Budget", "working_minutes", WORKING_MINUTES),
    ("Budget", "actions", ACTIONS),
    ("Budget", "idle_steps", IDLE_STEPS),
    ("Budget", "children", CHILDREN),
    ("Budget", "depth", DEPTH),
    ("Recovery", "key_valid_seconds", KEY_VALID_SECONDS),
    ("CommandCriterion", "status", EXIT_STATUS),
    ("FileCriterion", "min_bytes", MIN_BYTES),
    ("FileCriterion", "max_bytes", MIN_BYTES),
    ("LinksCriterion", "min", MIN_LINKS),
    ("EvidenceCriterion", "min_citations", MIN_CITATIONS),
];

/// The same of numbers with a fraction.
pub(super) const FRACTION_RANGES: &[(&str, &str, RangeInclusive<f64>)] = &[
    ("ModelChoice", "temperature", TEMPERATURE),
    ("ContextLimits", "compact_at", COMPACT_AT),
    ("SandboxSettings", "cpus", CPUS),
    ("Budget", "money_usd", MONEY_USD),
];
