//! `[mcp.NAME]`: the servers whose tools agents may use.

use std::collections::BTreeMap;
use std::ops::Range;

use longrein_core::agent_file::reader::{Fields, Key, Reader};
use toml::Spanned;
use toml::de::DeValue;

use super::read::Entry;
use super::secret::{SecretReference, is_variable_name, reference};
use super::{EnvValue, McpConfig};

pub(super) const SERVER: &[Key] = &[
    Key::new("command", "command = [\"python3\", \"server.py\"]"),
    Key::new("env", "env = { TOKEN = \"secret:TOKEN\" }"),
    Key::new("trusted", "trusted = false"),
    Key::later("url"),
    Key::later("headers"),
];

/// Words in the name of a variable that say that its value is a secret.
const SECRET_WORDS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "AUTH",
];

pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<McpConfig> {
    let fields = reader.table(entry.value, &entry.path, SERVER)?;
    let env = match reader.value(fields, "env") {
        Some(value) => env(reader, &fields.path_of("env"), value),
        None => BTreeMap::new(),
    };
    let trusted = reader.flag(fields, "trusted").unwrap_or(false);
    let is_remote = reader.value(fields, "url").is_some();
    if !is_remote && !reader.is_broken() && reader.value(fields, "command").is_none() {
        let message = format!("The server {} has no command.", entry.name.value);
        let remedy = "Write it like this: command = [\"python3\", \"server.py\"]";
        let path = fields.path_of("command");
        reader.error(&entry.name.span, &path, message, remedy);
    }
    let command = command(reader, fields)?;
    Some(McpConfig {
        command,
        env,
        trusted,
    })
}

/// The command; unlike other lists it may say the same twice.
fn command(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<Vec<String>> {
    let value = reader.value(fields, "command")?;
    let parts = match value.get_ref() {
        DeValue::Array(items) => {
            let texts: Option<Vec<String>> = items
                .iter()
                .map(|item| item.get_ref().as_str().map(str::to_owned))
                .collect();
            texts.filter(|parts| {
                parts
                    .first()
                    .is_some_and(|program| !program.trim().is_empty())
            })
        }
        _ => None,
    };
    if parts.is_none() {
        let message = "The command must be a list of texts, the program first.";
        let remedy = "Write it like this: command = [\"python3\", \"server.py\"]";
        reader.error(&value.span(), &fields.path_of("command"), message, remedy);
    }
    parts
}

fn env(
    reader: &mut Reader<'_>,
    path: &str,
    value: &Spanned<DeValue<'_>>,
) -> BTreeMap<String, EnvValue> {
    let mut granted = BTreeMap::new();
    let Some(fields) = reader.open_table(value, path, &[]) else {
        return granted;
    };
    for (name, span, value) in fields.entries() {
        let path = fields.path_of(name);
        if !is_variable_name(name) {
            let message = format!("“{name}” can't be the name of a variable.");
            reader.error(&span, &path, message, "Use letters, digits and “_”.");
            continue;
        }
        match value.get_ref().as_str() {
            Some(text) => {
                if let Some(read) = env_value(reader, (name, &path), &value.span(), text) {
                    granted.insert(name.to_owned(), read);
                }
            }
            None => {
                let message = format!("The value of {name} must be a text.");
                let remedy = format!("Write it like this: {name} = \"env:{name}\"");
                reader.error(&value.span(), &path, message, remedy);
            }
        }
    }
    granted
}

fn env_value(
    reader: &mut Reader<'_>,
    (name, path): (&str, &str),
    span: &Range<usize>,
    text: &str,
) -> Option<EnvValue> {
    if let Some(read) = reference(reader, (path, span), text) {
        return Some(match read? {
            SecretReference::Variable(variable) => EnvValue::Variable(variable),
            SecretReference::Kept(secret) => EnvValue::Secret(secret),
        });
    }
    let upper = name.to_ascii_uppercase();
    if SECRET_WORDS.iter().any(|word| upper.contains(word)) {
        let message =
            "A secret must not stand in this file, which gets copied, shared and backed up.";
        let remedy = format!(
            "Write {name} = \"secret:{name}\" and keep it with: longrein keys set {name}. Or write {name} = \"env:{name}\" and set the variable {name}."
        );
        reader.error(span, path, message, remedy);
        return None;
    }
    Some(EnvValue::Plain(text.to_owned()))
}
