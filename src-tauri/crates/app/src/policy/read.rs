//! Reads `policy.toml`.

use longrein_core::agent_file::reader::{Fields, Key, Reader};
use longrein_core::agent_file::{Problem, Severity, is_agent_name, rules};
use longrein_protocol::gate::Scope;

use super::KeptRule;

const ROOT: &[Key] = &[Key::new("rule", "[[rule]]")];

const OWN: [Key; 2] = [
    Key::new("scope", "scope = \"everywhere\""),
    Key::new("agent", "agent = \"research\""),
];

/// Where a key belongs that stands elsewhere.
const PLACES: &[(&str, &str)] = &[
    ("scope", "[[rule]]"),
    ("agent", "[[rule]]"),
    ("tool", "[[rule]]"),
    ("effect", "[[rule]]"),
    ("args", "[[rule]]"),
    ("path", "[[rule]]"),
    ("host", "[[rule]]"),
    ("command", "[[rule]]"),
    ("decision", "[[rule]]"),
];

/// How far a rule of a file may reach. One run's rules stand in its log.
const SCOPES: &[(&str, Scope)] = &[("agent", Scope::Agent), ("everywhere", Scope::Everywhere)];

/// The most rules that a file may have.
pub(super) const RULES_MAX: usize = 500;

/// What was read of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The rules in the order of the file; `None` when a problem is an error.
    pub rules: Option<Vec<KeptRule>>,
    /// Every mistake, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads the text of a policy file.
pub fn check(text: &str) -> Checked {
    let (document, mut reader) = Reader::open(text, PLACES);
    let root = reader.root(&document, ROOT);
    let rules = all(&mut reader, root);
    let problems = reader.into_problems();
    let usable = problems
        .iter()
        .all(|problem| problem.severity != Severity::Error);
    Checked {
        rules: usable.then_some(rules),
        problems,
    }
}

fn all(reader: &mut Reader<'_>, root: Fields<'_>) -> Vec<KeptRule> {
    let mut found: Vec<KeptRule> = Vec::new();
    let keys: Vec<Key> = OWN.into_iter().chain(rules::KEYS).collect();
    let tables = reader.tables(root, "rule");
    if let Some(beyond) = tables.get(RULES_MAX) {
        let message = format!("The file has {} rules.", tables.len());
        let remedy = format!("At most {RULES_MAX} are read; say more with fewer.");
        reader.error(&beyond.span(), "rule", message, remedy);
    }
    for (position, value) in tables.into_iter().take(RULES_MAX).enumerate() {
        let path = format!("rule[{}]", position + 1);
        let Some(fields) = reader.table(value, &path, &keys) else {
            continue;
        };
        let span = value.span();
        let agent = whose(reader, fields, &span);
        let rule = rules::read(reader, fields, &span);
        let (Some(agent), Some(rule)) = (agent, rule) else {
            continue;
        };
        let kept = KeptRule::new(agent, rule);
        if found.contains(&kept) {
            let message = "The same rule stands twice.";
            reader.error(&span, &path, message, "Keep one of the two.");
        }
        found.push(kept);
    }
    found
}

/// The agent that a rule is for, `Some(None)` where it is for all. A rule says so itself: none
/// reaches further because a line was forgotten.
fn whose(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    span: &std::ops::Range<usize>,
) -> Option<Option<String>> {
    let agent = reader.text(fields, "agent");
    if reader.value(fields, "scope").is_none() && !reader.is_broken() {
        let message = "The rule does not say how far it reaches.";
        let remedy = "Write scope = \"everywhere\", or scope = \"agent\" and the agent's name.";
        reader.error(span, &fields.path_of("scope"), message, remedy);
    }
    let scope = reader.choice(fields, "scope", SCOPES, &[])?;
    match (scope, agent) {
        (Scope::Agent, Some(agent)) if is_agent_name(&agent.value) => Some(Some(agent.value)),
        (Scope::Agent, Some(agent)) => {
            let message = format!("“{}” can't be the name of an agent.", agent.value);
            let remedy = "Write it like this: agent = \"research\"";
            reader.error(&agent.span, &fields.path_of("agent"), message, remedy);
            None
        }
        (Scope::Agent, None) => {
            if !reader.is_broken() && reader.value(fields, "agent").is_none() {
                let message = "The rule does not say for which agent it is.";
                let remedy = "Write it like this: agent = \"research\"";
                reader.error(span, &fields.path_of("agent"), message, remedy);
            }
            None
        }
        (_, Some(agent)) => {
            let message = "A rule that holds everywhere is for no agent in particular.";
            let remedy = "Write scope = \"agent\", or take agent out.";
            reader.error(&agent.span, &fields.path_of("agent"), message, remedy);
            None
        }
        (_, None) => Some(None),
    }
}
