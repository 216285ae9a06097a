//! Reads `config.toml`.

use std::collections::BTreeMap;

use longrein_core::agent_file::reader::{At, Fields, Key, Reader, join};
use longrein_core::agent_file::{Problem, Severity};
use longrein_keys::Backend;
use toml::Spanned;
use toml::de::DeValue;

use super::{
    Config, KeysConfig, SandboxConfig, SkillsConfig, Theme, UiConfig, WebConfig, models, provider,
    server,
};

const ROOT: &[Key] = &[
    Key::new("providers", "[providers.local]"),
    Key::new("mcp", "[mcp.counter]"),
    Key::new("models", "[models.\"local/any\"]"),
    Key::new("keys", "[keys]"),
    Key::new("skills", "[skills]"),
    Key::new("web", "[web]"),
    Key::new("sandbox", "[sandbox]"),
    Key::new("ui", "[ui]"),
];

const WEB: &[Key] = &[Key::new(
    "ignore_robots",
    "ignore_robots = [\"example.org\"]",
)];

const KEYS: &[Key] = &[Key::new("store", "store = \"file\"")];

const SKILLS: &[Key] = &[Key::new("claude", "claude = true")];
const SANDBOX: &[Key] = &[
    Key::new("engine", "engine = \"/run/podman/podman.sock\""),
    Key::new("base", "base = \"localhost/lab/base:1\""),
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
    ("cache_write_usd", "[models.\"provider/model\"]"),
    ("output_usd", "[models.\"provider/model\"]"),
    ("window_tokens", "[models.\"provider/model\"]"),
    ("max_output_tokens", "[models.\"provider/model\"]"),
    ("images", "[models.\"provider/model\"]"),
    ("thinking", "[models.\"provider/model\"]"),
    ("tool_mode", "[providers.NAME]"),
    ("store", "[keys]"),
    ("claude", "[skills]"),
    ("ignore_robots", "[web]"),
    ("engine", "[sandbox]"),
    ("base", "[sandbox]"),
    ("theme", "[ui]"),
];

const STORES: &[(&str, Backend)] = &[
    ("keychain", Backend::Keychain),
    ("file", Backend::File),
    ("memory", Backend::Memory),
];

const THEMES: &[(&str, Theme)] = &[
    ("system", Theme::System),
    ("light", Theme::Light),
    ("dark", Theme::Dark),
];

/// The longest name of a provider or a server.
const NAME_LETTERS_MAX: usize = 40;

/// What was read of the file.
#[derive(Clone, PartialEq, Debug)]
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
    let providers = named(&mut reader, root, ("providers", "provider"), provider::read);
    let config = Config {
        mcp: named(&mut reader, root, ("mcp", "server"), server::read),
        models: models::read(&mut reader, root, &providers),
        providers,
        keys: keys(&mut reader, root),
        skills: skills(&mut reader, root),
        web: web(&mut reader, root),
        sandbox: sandbox(&mut reader, root),
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
pub(super) struct Entry<'d> {
    pub name: At<String>,
    pub path: String,
    pub value: &'d Spanned<DeValue<'d>>,
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
fn is_sound_name(name: &str) -> bool {
    (1..=NAME_LETTERS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter))
}

fn keys(reader: &mut Reader<'_>, root: Fields<'_>) -> KeysConfig {
    let Some(value) = reader.value(root, "keys") else {
        return KeysConfig::default();
    };
    let Some(fields) = reader.table(value, "keys", KEYS) else {
        return KeysConfig::default();
    };
    KeysConfig {
        store: reader.choice(fields, "store", STORES, &[]),
    }
}

fn skills(reader: &mut Reader<'_>, root: Fields<'_>) -> SkillsConfig {
    let Some(value) = reader.value(root, "skills") else {
        return SkillsConfig::default();
    };
    let Some(fields) = reader.table(value, "skills", SKILLS) else {
        return SkillsConfig::default();
    };
    SkillsConfig {
        claude: reader.flag(fields, "claude").unwrap_or_default(),
    }
}

fn web(reader: &mut Reader<'_>, root: Fields<'_>) -> WebConfig {
    let Some(value) = reader.value(root, "web") else {
        return WebConfig::default();
    };
    let Some(fields) = reader.table(value, "web", WEB) else {
        return WebConfig::default();
    };
    let mut web = WebConfig::default();
    for host in reader.texts(fields, "ignore_robots").unwrap_or_default() {
        if longrein_core::policy::is_host(&host.value) {
            web.ignore_robots.push(host.value);
        } else {
            let message = format!("“{}” is no host.", host.value);
            let remedy = "Write a host without scheme, port and path, like example.org, or \
                *.example.org for it and the hosts beneath it.";
            reader.error(&host.span, "web.ignore_robots", message, remedy.to_owned());
        }
    }
    web
}

fn sandbox(reader: &mut Reader<'_>, root: Fields<'_>) -> SandboxConfig {
    let Some(value) = reader.value(root, "sandbox") else {
        return SandboxConfig::default();
    };
    let Some(fields) = reader.table(value, "sandbox", SANDBOX) else {
        return SandboxConfig::default();
    };
    let mut word = |key: &str| {
        let text = reader.text(fields, key)?;
        let is_word =
            !text.value.is_empty() && text.value.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_word {
            let example = SANDBOX.iter().find(|known| known.name == key);
            let example = example.map_or("", |known| known.example);
            let message = format!("“{}” can't be used here.", text.value);
            let remedy = format!("Write it like this: {example}");
            reader.error(&text.span, &fields.path_of(key), message, remedy);
        }
        is_word.then_some(text.value)
    };
    SandboxConfig {
        engine: word("engine"),
        base: word("base"),
    }
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
