//! One rule of policy, as agent files and `policy.toml` have it.

use std::collections::BTreeMap;
use std::ops::Range;

use longrein_protocol::agent::{Decision, PolicyRule};
use toml::de::DeValue;
use url::Host;

use super::choices::{DECISIONS, EFFECTS};
use super::json::is_pointer;
use super::reader::{At, Fields, Key, Reader, join};
use super::tools::{self, Grant};

/// The keys of a rule.
pub const KEYS: [Key; 7] = [
    Key::new("tool", "tool = \"slack.post_message\""),
    Key::new("effect", "effect = \"irreversible\""),
    Key::new("args", "args = { channel = \"#ann-lab\" }"),
    Key::new("path", "path = \"notes/**\""),
    Key::new("host", "host = \"*.example.org\""),
    Key::new("command", "command = \"git log\""),
    Key::new("decision", "decision = \"ask\""),
];

/// The keys that are conditions.
const CONDITIONS: [&str; 6] = ["tool", "effect", "args", "path", "host", "command"];

/// Signs that mean something to a shell where they stand outside quotes.
const SHELL_SIGNS: &[char] = &[
    '|', '&', ';', '<', '(', ')', '{', '}', '$', '`', '\\', '#', '!', '~', '\n',
];

/// Reads a rule; one with a mistake is reported and is none. `span` is where the rule stands.
pub fn read(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    span: &Range<usize>,
) -> Option<PolicyRule> {
    let errors = reader.errors();
    let has = |reader: &Reader<'_>, key: &str| reader.value(fields, key).is_some();
    if !reader.is_broken() {
        if !CONDITIONS.iter().any(|key| has(reader, key)) {
            let remedy = "Say what it speaks of: tool, effect, args, path, host or command.";
            reader.error(span, fields.path(), "The rule has no condition.", remedy);
        }
        if !has(reader, "decision") {
            let remedy = format!("Write it like this: {}", fields.example("decision"));
            let path = fields.path_of("decision");
            reader.error(span, &path, "The rule has no decision.", remedy);
        }
    }
    let rule = PolicyRule {
        tool: tool(reader, fields),
        effect: reader.choice(fields, "effect", EFFECTS, &[]),
        args: args(reader, fields),
        path: checked(reader, fields, "path", path_fault),
        host: checked(reader, fields, "host", host_fault),
        command: checked(reader, fields, "command", command_fault),
        decision: reader
            .choice(fields, "decision", DECISIONS, &[])
            .unwrap_or(Decision::Deny),
    };
    (reader.errors() == errors).then_some(rule)
}

fn tool(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<String> {
    let tool = reader.text(fields, "tool")?;
    let path = fields.path_of("tool");
    tools::check(reader, &tool, &path, Grant::Servers).then_some(tool.value)
}

fn args(reader: &mut Reader<'_>, fields: Fields<'_>) -> BTreeMap<String, String> {
    let mut args = BTreeMap::new();
    let Some(table) = reader.inner(fields, "args") else {
        return args;
    };
    let path = fields.path_of("args");
    if table.is_empty() {
        let span = reader
            .value(fields, "args")
            .map_or(0..0, toml::Spanned::span);
        let remedy = format!("Write it like this: {}", fields.example("args"));
        reader.error(&span, &path, "args names no argument.", remedy);
    }
    for (name, value) in table.iter() {
        let (span, name) = (name.span(), name.get_ref().to_string());
        let path = join(&path, &name);
        let fault = if name.trim().is_empty() {
            Some((
                "An argument has a name.",
                "Write it like this: channel = \"#ann-lab\"",
            ))
        } else if name.starts_with('/') && !is_pointer(&name) {
            Some((
                "This is not a JSON pointer.",
                "Write “~” as ~0 and “/” inside a name as ~1.",
            ))
        } else {
            None
        };
        if let Some((message, remedy)) = fault {
            reader.error(&span, &path, message, remedy);
            continue;
        }
        match value.get_ref() {
            DeValue::String(text) => {
                args.insert(name, text.to_string());
            }
            other => {
                let example = format!("{} = \"7\"", join("", &name));
                reader.wrong_type(&value.span(), &path, ("a text", other), &example);
            }
        }
    }
    args
}

/// What is wrong with a condition: what, and what would mend it.
type Fault = (String, String);

fn checked(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    key: &str,
    fault: impl Fn(&str, &str) -> Option<Fault>,
) -> Option<String> {
    let At { value, span } = reader.text(fields, key)?;
    match fault(&value, fields.example(key)) {
        None => Some(value),
        Some((message, remedy)) => {
            reader.error(&span, &fields.path_of(key), message, remedy);
            None
        }
    }
}

/// Why a text is no pattern of paths beneath the workspace. Such a pattern is compared with real
/// paths, which have no `.`, no `..` and no empty part.
fn path_fault(path: &str, example: &str) -> Option<Fault> {
    let like_this = format!("Write it like this: {example}");
    if path.trim().is_empty() || path.contains(char::is_control) {
        return Some((format!("“{path}” is not a path."), like_this));
    }
    let parts: Vec<&str> = path.split('/').collect();
    let leaves =
        path.starts_with('/') || path.contains('\\') || parts[0] == "~" || parts.contains(&"..");
    if leaves {
        let message = format!("“{path}” is not beneath the workspace.");
        let remedy = format!("Give the path from the workspace down, as in {example}.");
        return Some((message, remedy));
    }
    if parts.iter().all(|part| *part == "**") {
        let message = format!("“{path}” stands for every path.");
        let remedy = "Name a folder, as in path = \"notes/**\", or leave path out.";
        return Some((message, remedy.to_owned()));
    }
    if parts
        .iter()
        .any(|part| part.contains("**") && *part != "**")
    {
        let message = format!("In “{path}” the “**” is part of a name, where it means nothing.");
        let remedy = "“**” stands between slashes, for any folders; “*” stands within a name.";
        return Some((message, remedy.to_owned()));
    }
    // Alone, the point is the workspace itself.
    if path != "." && parts.iter().any(|part| part.is_empty() || *part == ".") {
        let message = format!("No path is like “{path}”: it has an empty part or a “.”.");
        let remedy = format!("Leave those out; a folder with all in it is {example}.");
        return Some((message, remedy));
    }
    None
}

/// Why a text is no host. Hosts are compared in their usual form, so that is how they are written.
fn host_fault(host: &str, example: &str) -> Option<Fault> {
    let like_this = format!("Write it like this: {example}");
    if host.contains(['/', '?', '#', '@']) {
        let rest = host.split_once("://").map_or(host, |(_, rest)| rest);
        let only = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let only = only.rsplit('@').next().unwrap_or_default();
        let remedy = format!("Give the host alone, as in host = \"{only}\".");
        return Some((format!("“{host}” is an address, not a host."), remedy));
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    if port.is_some_and(|port| !is_port(port)) {
        let message = format!("What stands behind “:” in “{host}” is not a port.");
        let remedy = "A port is a number from 1 to 65535; an IPv6 address stands in [ ].";
        return Some((message, remedy.to_owned()));
    }
    let (below, domain) = match name.strip_prefix("*.") {
        Some(domain) => (true, domain),
        None => (false, name),
    };
    if domain.contains('*') {
        let message = format!("“{host}” is not a host: “*” stands only in front, with a dot.");
        let remedy =
            "Write *.example.org for a domain with all its hosts; for every host leave host out.";
        return Some((message, remedy.to_owned()));
    }
    let Ok(parsed) = Host::parse(domain) else {
        return Some((format!("“{host}” is not a host."), like_this));
    };
    if below && !matches!(parsed, Host::Domain(_)) {
        let message = format!("“{domain}” is an address of numbers, which has no hosts below it.");
        return Some((message, format!("Write host = \"{domain}\".")));
    }
    let usual = parsed.to_string();
    let usual = usual.trim_end_matches('.');
    if usual.is_empty() {
        return Some((format!("“{host}” is not a host."), like_this));
    }
    if usual != domain {
        let (front, port) = (
            if below { "*." } else { "" },
            port.map(|port| format!(":{port}")).unwrap_or_default(),
        );
        let message = format!("“{host}” is not the usual form of this host.");
        return Some((message, format!("Write host = \"{front}{usual}{port}\".")));
    }
    None
}

fn is_port(port: &str) -> bool {
    let digits = port.bytes().all(|letter| letter.is_ascii_digit());
    digits && !port.starts_with('0') && port.parse::<u16>().is_ok()
}

/// Why a text is not the first words of a simple command. Quotes keep blanks and signs together.
fn command_fault(command: &str, example: &str) -> Option<Fault> {
    if command.trim().is_empty() {
        let message = "The command has no words.".to_owned();
        return Some((message, format!("Write it like this: {example}")));
    }
    let mut quote = None;
    let mut bare = String::new();
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                bare.push('_');
            }
            (Some(_), _) => {}
            (None, letter) => bare.push(letter),
        }
    }
    if quote.is_some() {
        let message = format!("A quote in “{command}” is not closed.");
        return Some((message, "Close it.".to_owned()));
    }
    let leads_on = bare.split(' ').any(|word| word.starts_with('>'));
    let sign = bare.chars().find(|sign| SHELL_SIGNS.contains(sign));
    if let Some(sign) = sign.or(leads_on.then_some('>')) {
        let message = format!("“{command}” is more than the words of one command: “{sign}”.");
        let remedy = format!(
            "Write the first words of a simple command, as in {example}; a sign that stands for itself in quotes."
        );
        return Some((message, remedy));
    }
    if bare.contains(['*', '?']) {
        let message = format!("“{command}” has a sign that stands for others.");
        let remedy = "None is needed: the first words stand for whatever follows them.";
        return Some((message, remedy.to_owned()));
    }
    let is_uneven = bare.split(' ').any(str::is_empty) || command.contains(char::is_control);
    is_uneven.then(|| {
        let message = format!("The words of “{command}” are not one blank apart.");
        (message, format!("Write it like this: {example}"))
    })
}
