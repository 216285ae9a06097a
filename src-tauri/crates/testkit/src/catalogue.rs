//! The catalogue of 600 invented tools beneath `tests/fixtures/catalogue`, as specifications.

use std::collections::BTreeMap;

use longrein_protocol::ToolSpec;
use longrein_protocol::tool::{Effect, Reach, Recovery, Repeat};
use serde_json::{Map, Value, json};

const TOOLS: &str = include_str!("../../../../tests/fixtures/catalogue/tools.tsv");
const SERVERS: &str = include_str!("../../../../tests/fixtures/catalogue/servers.tsv");
const QUERIES: &str = include_str!("../../../../tests/fixtures/catalogue/queries.tsv");

const LATER: &str = include_str!("../../../../tests/fixtures/catalogue/later-queries.tsv");

/// The tools, server by server.
pub fn tools() -> Vec<ToolSpec> {
    TOOLS.lines().map(tool).collect()
}

/// The names of the servers, once for each tool.
pub fn names() -> impl Iterator<Item = &'static str> {
    TOOLS
        .lines()
        .filter_map(|line| Some(line.split_once('\t')?.0))
}

/// What each server says that it is for, by its name.
pub fn about() -> BTreeMap<String, String> {
    let servers = SERVERS.lines().map(|line| {
        let (server, about) = line.split_once('\t').expect("a server and its words");
        (server.to_owned(), about.to_owned())
    });
    servers.collect()
}

/// What somebody may want done, each with the names of the tools that do it.
pub fn queries() -> Vec<(&'static str, Vec<&'static str>)> {
    asked(QUERIES)
}

/// The same of somebody else, written when the search was there and without a look at it.
pub fn later_queries() -> Vec<(&'static str, Vec<&'static str>)> {
    asked(LATER)
}

fn asked(list: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let queries = list.lines().map(|line| {
        let (query, right) = line.split_once('\t').expect("a query and its tools");
        (query, right.split(' ').collect())
    });
    queries.collect()
}

fn tool(line: &str) -> ToolSpec {
    let mut parts = line.split('\t');
    let mut part = || parts.next().expect("five parts");
    let (server, name, effect, arguments, description) = (part(), part(), part(), part(), part());
    ToolSpec {
        name: format!("{server}.{name}"),
        description: description.to_owned(),
        schema: schema(arguments),
        effect: match effect {
            "read" => Effect::Read,
            "write" => Effect::Reversible,
            _ => Effect::Irreversible,
        },
        repeat: Repeat::Once,
        timeout_ms: 60_000,
        result_tokens: 4_000,
        path_arguments: Vec::new(),
        untrusted: true,
        reach: Reach::default(),
        recovery: Recovery::default(),
    }
}

fn schema(arguments: &str) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments.split(',').filter(|argument| !argument.is_empty()) {
        let (name, kind) = argument.split_once(':').expect("a name and a type");
        let plain = name.trim_end_matches('?');
        if plain == name {
            required.push(plain);
        }
        properties.insert(plain.to_owned(), json!({"type": kind}));
    }
    json!({"type": "object", "properties": properties, "required": required})
}
