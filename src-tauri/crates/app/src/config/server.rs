//! `[mcp.NAME]`: the servers whose tools agents may use.

use std::collections::BTreeMap;
use std::ops::Range;

use longrein_core::agent_file::reader::{Fields, Key, Reader};
use toml::Spanned;
use toml::de::DeValue;
use url::Url;

use super::read::Entry;
use super::secret::{SecretReference, is_variable_name, reference};
use super::{EnvValue, HeaderText, McpConfig, SignInConfig};

pub(super) const SERVER: &[Key] = &[
    Key::new("command", "command = [\"python3\", \"server.py\"]"),
    Key::new("env", "env = { TOKEN = \"secret:TOKEN\" }"),
    Key::new("url", "url = \"https://mcp.exa.ai/mcp\""),
    Key::new("headers", "headers = { \"x-api-key\" = \"secret:exa\" }"),
    Key::new("sign_in", "sign_in = { client_id = \"…\" }"),
    Key::new("start_seconds", "start_seconds = 60"),
    Key::new("trusted", "trusted = false"),
];

const SIGN_IN: &[Key] = &[
    Key::new("client_id", "client_id = \"my-client\""),
    Key::new("client_secret", "client_secret = \"secret:my-client\""),
    Key::new("scopes", "scopes = [\"search\"]"),
];

/// What may stand before a secret in a header.
const BEARER: &str = "Bearer ";

/// The longest start that is waited for, in seconds.
const START_SECONDS_MAX: u32 = 600;

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
    let headers = match reader.value(fields, "headers") {
        Some(value) => headers(reader, &fields.path_of("headers"), value),
        None => BTreeMap::new(),
    };
    let sign_in = match reader.value(fields, "sign_in") {
        Some(value) => sign_in(reader, &fields.path_of("sign_in"), value),
        None => SignInConfig::default(),
    };
    let trusted = reader.flag(fields, "trusted").unwrap_or(false);
    let start_seconds = reader.whole(fields, "start_seconds", &(1..=START_SECONDS_MAX));
    let (has_command, has_url) = (
        reader.value(fields, "command").is_some(),
        reader.value(fields, "url").is_some(),
    );
    if !has_command && !has_url && !reader.is_broken() {
        let message = format!(
            "The server {} has neither a command nor a url.",
            entry.name.value
        );
        let remedy = "Write one: command = [\"python3\", \"server.py\"], or url = \"https://mcp.exa.ai/mcp\".";
        let path = fields.path_of("command");
        reader.error(&entry.name.span, &path, message, remedy);
    }
    if has_command && has_url {
        let message = format!("The server {} has a command and a url.", entry.name.value);
        let remedy = "Keep the one that is meant.";
        reader.error(&entry.name.span, &fields.path_of("url"), message, remedy);
    }
    let url = url(reader, fields);
    let command = match has_command {
        true => command(reader, fields)?,
        false => Vec::new(),
    };
    Some(McpConfig {
        command,
        env,
        url,
        headers,
        sign_in,
        start_seconds,
        trusted,
    })
}

/// The address. A key among what stands behind its question mark would be in the file.
fn url(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<String> {
    let value = reader.value(fields, "url")?;
    let written = reader.text(fields, "url")?.value;
    let path = fields.path_of("url");
    let Some(parsed) = Url::parse(written.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    else {
        let message = "That is not an address.";
        let remedy = "Write it like this: url = \"https://mcp.exa.ai/mcp\"";
        reader.error(&value.span(), &path, message, remedy);
        return None;
    };
    let holds_key = parsed.query_pairs().any(|(name, _)| is_secret_name(&name));
    if holds_key || parsed.password().is_some() {
        let remedy = "Take it out, keep it with longrein keys set NAME, and write headers = { \"x-api-key\" = \"secret:NAME\" }, or sign in with: longrein mcp login";
        reader.error(&value.span(), &path, NO_SECRETS, remedy);
        return None;
    }
    Some(written.trim().to_owned())
}

fn headers(
    reader: &mut Reader<'_>,
    path: &str,
    value: &Spanned<DeValue<'_>>,
) -> BTreeMap<String, HeaderText> {
    let mut told = BTreeMap::new();
    let Some(fields) = reader.open_table(value, path, &[]) else {
        return told;
    };
    for (name, span, value) in fields.entries() {
        let path = fields.path_of(name);
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
        if !is_name {
            let message = format!("“{name}” can't be the name of a header.");
            reader.error(&span, &path, message, "Use letters, digits and “-”.");
            continue;
        }
        let Some(text) = value.get_ref().as_str() else {
            let message = format!("The value of {name} must be a text.");
            let remedy = format!("Write it like this: \"{name}\" = \"secret:NAME\"");
            reader.error(&value.span(), &path, message, remedy);
            continue;
        };
        let (before, text) = match text.strip_prefix(BEARER) {
            Some(rest) => (BEARER, rest),
            None => ("", text),
        };
        if let Some(value) = env_value(reader, (name, &path), &value.span(), text) {
            let before = before.to_owned();
            told.insert(name.to_owned(), HeaderText { before, value });
        }
    }
    told
}

fn sign_in(reader: &mut Reader<'_>, path: &str, value: &Spanned<DeValue<'_>>) -> SignInConfig {
    let Some(fields) = reader.open_table(value, path, SIGN_IN) else {
        return SignInConfig::default();
    };
    let client_secret = reader.value(fields, "client_secret").and_then(|value| {
        let text = reader.text(fields, "client_secret")?.value;
        let path = fields.path_of("client_secret");
        match reference(reader, (&path, &value.span()), &text) {
            Some(read) => read,
            None => {
                let remedy = "Keep it with longrein keys set NAME, and write client_secret = \"secret:NAME\".";
                reader.error(&value.span(), &path, NO_SECRETS, remedy);
                None
            }
        }
    });
    SignInConfig {
        client_id: reader.text(fields, "client_id").map(|id| id.value),
        client_secret,
        scopes: reader
            .texts(fields, "scopes")
            .unwrap_or_default()
            .into_iter()
            .map(|scope| scope.value)
            .collect(),
    }
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
    if is_secret_name(name) {
        let remedy = format!(
            "Write {name} = \"secret:{name}\" and keep it with: longrein keys set {name}. Or write {name} = \"env:{name}\" and set the variable {name}."
        );
        reader.error(span, path, NO_SECRETS, remedy);
        return None;
    }
    Some(EnvValue::Plain(text.to_owned()))
}

const NO_SECRETS: &str =
    "A secret must not stand in this file, which gets copied, shared and backed up.";

fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word))
}
