//! Reads `config.toml`.

use std::collections::BTreeMap;
use std::ops::Range;

use longrein_core::agent_file::reader::{At, Fields, Key, Reader, join};
use longrein_core::agent_file::{Problem, Severity};
use toml::Spanned;
use toml::de::DeValue;
use url::{Host, Url};

use super::{
    Config, EnvValue, McpConfig, ProviderConfig, ProviderFormat, Theme, UiConfig, own_variable,
    prices,
};

const ROOT: &[Key] = &[
    Key::new("providers", "[providers.local]"),
    Key::new("mcp", "[mcp.counter]"),
    Key::new("models", "[models.\"local/any\"]"),
    Key::new("ui", "[ui]"),
];

const PROVIDER: &[Key] = &[
    Key::new("format", "format = \"openai-chat\""),
    Key::new("base_url", "base_url = \"http://127.0.0.1:8080/v1\""),
    Key::new("key", "key = \"env:NAME\""),
    Key::later("tool_mode"),
];

const SERVER: &[Key] = &[
    Key::new("command", "command = [\"python3\", \"server.py\"]"),
    Key::new("env", "env = { TOKEN = \"env:TOKEN\" }"),
    Key::new("trusted", "trusted = false"),
    Key::later("url"),
    Key::later("headers"),
];

const UI: &[Key] = &[Key::new("theme", "theme = \"dark\"")];

/// Where a key belongs that stands elsewhere.
const PLACES: &[(&str, &str)] = &[
    ("format", "[providers.NAME]"),
    ("base_url", "[providers.NAME]"),
    ("key", "[providers.NAME]"),
    ("command", "[mcp.NAME]"),
    ("env", "[mcp.NAME]"),
    ("trusted", "[mcp.NAME]"),
    ("input_usd", "[models.\"provider/model\"]"),
    ("cached_usd", "[models.\"provider/model\"]"),
    ("output_usd", "[models.\"provider/model\"]"),
    ("theme", "[ui]"),
];

const FORMATS: &[(&str, ProviderFormat)] = &[("openai-chat", ProviderFormat::OpenAiChat)];
const LATER_FORMATS: &[&str] = &["openai-responses", "anthropic", "gemini"];

const THEMES: &[(&str, Theme)] = &[
    ("system", Theme::System),
    ("light", Theme::Light),
    ("dark", Theme::Dark),
];

/// Names that stand for something else.
pub(super) const RESERVED_PROVIDERS: &[(&str, &str)] = &[("demo", "the demonstration model")];

/// The longest name of a provider or a server.
pub(super) const NAME_LETTERS_MAX: usize = 40;

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

/// What was read of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The configuration; `None` when a problem is an error.
    pub config: Option<Config>,
    /// Every mistake, in the order of the file. None of them repeats a value.
    pub problems: Vec<Problem>,
}

/// Reads the text of a configuration.
pub fn check(text: &str) -> Checked {
    let (document, mut reader) = Reader::open(text, PLACES);
    let root = reader.root(&document, ROOT);
    let providers = named(&mut reader, root, ("providers", "provider"), provider);
    let config = Config {
        mcp: named(&mut reader, root, ("mcp", "server"), server),
        models: prices::read(&mut reader, root, &providers),
        providers,
        ui: ui(&mut reader, root),
    };
    let problems = reader.into_problems();
    let usable = problems
        .iter()
        .all(|problem| problem.severity != Severity::Error);
    Checked {
        config: usable.then_some(config),
        problems,
    }
}

/// A value with its place, on the way to be read as one entry of a table of tables.
struct Entry<'d> {
    name: At<String>,
    path: String,
    value: &'d Spanned<DeValue<'d>>,
}

fn named<T>(
    reader: &mut Reader<'_>,
    root: Fields<'_>,
    (key, kind): (&str, &str),
    read: impl Fn(&mut Reader<'_>, &Entry<'_>) -> Option<T>,
) -> BTreeMap<String, T> {
    let mut found = BTreeMap::new();
    let Some(value) = reader.value(root, key) else {
        return found;
    };
    let Some(fields) = reader.open_table(value, key, &[]) else {
        return found;
    };
    for (name, span, value) in fields.entries() {
        let entry = Entry {
            name: At {
                value: name.to_owned(),
                span,
            },
            path: join(key, name),
            value,
        };
        if !is_sound_name(name) {
            let message = format!("“{name}” can't be the name of a {kind}.");
            let remedy = format!("Use letters, digits, “-” and “_”, at most {NAME_LETTERS_MAX}.");
            reader.error(&entry.name.span, &entry.path, message, remedy);
        } else if let Some(value) = read(reader, &entry) {
            found.insert(entry.name.value, value);
        }
    }
    found
}

/// Whether a text can be the name of a provider or a server.
pub(super) fn is_sound_name(name: &str) -> bool {
    (1..=NAME_LETTERS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter))
}

fn provider(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<ProviderConfig> {
    let name = entry.name.value.as_str();
    if let Some((_, meaning)) = RESERVED_PROVIDERS
        .iter()
        .find(|(reserved, _)| *reserved == name)
    {
        let message = format!("“{name}” stands for {meaning}.");
        reader.error(
            &entry.name.span,
            &entry.path,
            message,
            "Choose another name.",
        );
    }
    let fields = reader.table(entry.value, &entry.path, PROVIDER)?;
    let format = reader.choice(fields, "format", FORMATS, LATER_FORMATS);
    let key_variable = reader
        .text(fields, "key")
        .and_then(|key| key_variable(reader, name, &entry.path, &key));
    let is_missing =
        |reader: &Reader<'_>, key| !reader.is_broken() && reader.value(fields, key).is_none();
    if is_missing(reader, "base_url") {
        let message = format!("The provider {name} has no base_url.");
        let remedy = "Write it like this: base_url = \"http://127.0.0.1:8080/v1\"";
        reader.error(
            &entry.name.span,
            &fields.path_of("base_url"),
            message,
            remedy,
        );
    }
    if is_missing(reader, "format") {
        let message = format!("The provider {name} has no format.");
        let remedy = "Write format = \"openai-chat\"; most servers speak it.";
        reader.error(&entry.name.span, &fields.path_of("format"), message, remedy);
    }
    let written = reader.text(fields, "base_url")?;
    let base_url = base_url(reader, &fields.path_of("base_url"), &written)?;
    Some(ProviderConfig {
        format: format?,
        base_url,
        key_variable,
    })
}

/// The variable that a key comes from. A key itself is refused, and not repeated.
fn key_variable(
    reader: &mut Reader<'_>,
    provider: &str,
    path: &str,
    key: &At<String>,
) -> Option<String> {
    let path = join(path, "key");
    let own = own_variable(provider);
    if let Some(variable) = key.value.strip_prefix("env:") {
        return checked_variable(reader, &path, &key.span, variable);
    }
    if key.value.starts_with("secret:") {
        let message = "Keys from the keychain are not built yet.";
        reader.error(
            &key.span,
            &path,
            message,
            format!("Take this line out and set the variable {own}."),
        );
    } else {
        let message = "A key must not stand in this file, which gets copied, shared and backed up.";
        let remedy = format!(
            "Take it out and set the variable {own}, or write key = \"env:NAME\". If the file was shared, replace the key."
        );
        reader.error(&key.span, &path, message, remedy);
    }
    None
}

fn checked_variable(
    reader: &mut Reader<'_>,
    path: &str,
    span: &Range<usize>,
    name: &str,
) -> Option<String> {
    if is_variable_name(name) {
        return Some(name.to_owned());
    }
    let message = "What stands behind “env:” is not the name of a variable.";
    reader.error(
        span,
        path,
        message,
        "Use letters, digits and “_”, as in \"env:MY_KEY\".",
    );
    None
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

/// Checks an address and takes the slash off its end. An address with a password or a query is
/// refused, since it is shown in many places.
fn base_url(reader: &mut Reader<'_>, path: &str, written: &At<String>) -> Option<String> {
    let remedy = "Write it like this: base_url = \"http://127.0.0.1:8080/v1\"";
    let parsed = Url::parse(written.value.trim()).ok();
    let Some(url) = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    else {
        reader.error(
            &written.span,
            path,
            "This is not an http or https address.",
            remedy,
        );
        return None;
    };
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        let message = "The address carries a name, a password or a query, which may be a secret.";
        reader.error(
            &written.span,
            path,
            message,
            "Give the plain address here and the key by a variable.",
        );
        return None;
    }
    if url.scheme() == "http" && !is_loopback(&url) {
        let message = "Over http, questions and keys can be read on the way.";
        reader.warning(
            &written.span,
            path,
            message,
            "Use https, or a server on this machine.",
        );
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn server(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<McpConfig> {
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
        reader.error(
            &entry.name.span,
            &fields.path_of("command"),
            message,
            remedy,
        );
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
    if let Some(variable) = text.strip_prefix("env:") {
        return checked_variable(reader, path, span, variable).map(EnvValue::Variable);
    }
    let remedy = format!("Write {name} = \"env:{name}\" and set the variable {name}.");
    if text.starts_with("secret:") {
        reader.error(
            span,
            path,
            "Secrets from the keychain are not built yet.",
            remedy,
        );
        return None;
    }
    let upper = name.to_ascii_uppercase();
    if SECRET_WORDS.iter().any(|word| upper.contains(word)) {
        let message =
            "A secret must not stand in this file, which gets copied, shared and backed up.";
        reader.error(span, path, message, remedy);
        return None;
    }
    Some(EnvValue::Plain(text.to_owned()))
}

fn ui(reader: &mut Reader<'_>, root: Fields<'_>) -> UiConfig {
    let Some(value) = reader.value(root, "ui") else {
        return UiConfig::default();
    };
    let Some(fields) = reader.table(value, "ui", UI) else {
        return UiConfig::default();
    };
    UiConfig {
        theme: reader
            .choice(fields, "theme", THEMES, &[])
            .unwrap_or_default(),
    }
}
