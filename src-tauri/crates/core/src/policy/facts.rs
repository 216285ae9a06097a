//! What an action's arguments say of where it reaches.

use std::collections::HashSet;

use longrein_protocol::gate::{ActionFacts, PathFact, SecretFact, SkillFact, UrlFact};
use longrein_protocol::tool::Effect;
use longrein_protocol::{BlobHash, ToolSpec};
use serde_json::{Value, json};

use super::hosts::{self, Address};
use super::{paths, shell};

/// The most addresses of one action.
const URLS_LIMIT: usize = 64;
/// The longest address that is recorded and looked up.
const URL_LIMIT_BYTES: usize = 2_048;
/// The most reasons why something can't be made out that are kept; one is enough to ask.
const UNCLEAR_LIMIT: usize = 16;
/// How deep into the arguments addresses are looked for.
const NESTING_LIMIT: usize = 64;

/// What the driver looked up in the world.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Looked {
    /// Where the path arguments really lead. What is missing is judged by its words.
    pub paths: Vec<PathFact>,
    /// The secrets that the tool would be given.
    pub secrets: Vec<SecretFact>,
    /// The skill that it would load, if there is one to be loaded.
    pub skill: Option<SkillFact>,
    /// The addresses that occur word for word in a person's message, a fetched page or a search
    /// result.
    pub known_urls: HashSet<String>,
}

/// Every address in the arguments, as written, at most 64: what [`Looked::known_urls`] is asked
/// about.
pub fn urls_in(spec: &ToolSpec, arguments: &Value) -> Vec<String> {
    let addresses = Reached::by(spec, arguments).addresses;
    addresses.into_iter().map(|address| address.url).collect()
}

/// The facts that a decision rests on, without [`ActionFacts::binding`].
pub fn facts(spec: &ToolSpec, arguments: &Value, looked: Looked) -> ActionFacts {
    let reached = Reached::by(spec, arguments);
    let by_words = paths::by_words(spec, arguments, &looked.paths);
    let mut paths = looked.paths;
    paths.extend(by_words);
    let urls = reached.addresses.into_iter().map(|address| UrlFact {
        known: looked.known_urls.contains(&address.url),
        url: address.url,
        host: address.host,
    });
    ActionFacts {
        paths,
        urls: urls.collect(),
        commands: reached.commands,
        secrets: looked.secrets,
        skill: looked.skill,
        unclear: reached.unclear,
        binding: None,
    }
}

/// What an approval of an action rests on: the effective arguments, the tool's definition and
/// server, where its paths lead and what stands there, what the skill is made of that it loads. Anything else there, and it asks again.
pub fn binding(spec: &ToolSpec, arguments: BlobHash, facts: &ActionFacts) -> BlobHash {
    let paths: Vec<Value> = facts
        .paths
        .iter()
        .map(|fact| json!([fact.argument, fact.real, fact.content]))
        .collect();
    let mut bound = json!([arguments, spec.definition_hash(), spec.server(), paths,]);
    if let (Some(skill), Some(parts)) = (&facts.skill, bound.as_array_mut()) {
        parts.push(json!([skill.skill, skill.hash]));
    }
    BlobHash::of(bound.to_string().as_bytes())
}

/// The addresses in the arguments that are declared to be addresses, as [`UrlFact::url`] has them.
pub(super) fn declared_urls(spec: &ToolSpec, arguments: &Value) -> Vec<String> {
    let mut reached = Reached::default();
    for name in &spec.reach.urls {
        reached.declared(arguments.get(name));
    }
    let addresses = reached.addresses.into_iter();
    addresses.map(|address| address.url).collect()
}

#[derive(Default)]
struct Reached {
    addresses: Vec<Address>,
    commands: Vec<Vec<String>>,
    unclear: Vec<String>,
}

impl Reached {
    fn by(spec: &ToolSpec, arguments: &Value) -> Self {
        let mut reached = Self::default();
        let reach = &spec.reach;
        for name in &reach.urls {
            reached.declared(arguments.get(name));
        }
        for name in &reach.commands {
            reached.commands_in(arguments.get(name));
        }
        if !may_reach(spec) {
            return reached;
        }
        for (name, value) in arguments.as_object().into_iter().flatten() {
            if !reach.urls.contains(name) && !reach.commands.contains(name) {
                reached.within(value, 0);
            }
        }
        reached
    }

    fn unclear(&mut self, why: String) {
        if self.unclear.len() < UNCLEAR_LIMIT && !self.unclear.contains(&why) {
            self.unclear.push(why);
        }
    }

    fn address(&mut self, found: Result<Address, hosts::Unclear>) {
        match found {
            Err(why) => self.unclear(why.to_string()),
            Ok(address) if self.addresses.contains(&address) => {}
            Ok(address) if address.url.len() > URL_LIMIT_BYTES => {
                let host = &address.host;
                self.unclear(format!("an address at {host} is too long to be looked at"));
            }
            Ok(_) if self.addresses.len() == URLS_LIMIT => {
                self.unclear(format!("it names more than {URLS_LIMIT} addresses"));
            }
            Ok(address) => self.addresses.push(address),
        }
    }

    /// An argument that is an address, or a list of them.
    fn declared(&mut self, value: Option<&Value>) {
        match value {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.trim().is_empty() => {}
            Some(Value::String(text)) => self.address(hosts::declared(text)),
            Some(Value::Array(values)) => {
                values.iter().for_each(|value| self.declared(Some(value)));
            }
            Some(other) => {
                let why = format!("“{other}” is no address");
                self.unclear(super::text::short(&why));
            }
        }
    }

    /// An argument that is a shell command, or the words of one.
    fn commands_in(&mut self, value: Option<&Value>) {
        let read = match value {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => shell::read(text),
            Some(Value::Array(words)) if words.iter().all(Value::is_string) => {
                let words = words.iter().filter_map(Value::as_str);
                shell::read_words(words)
            }
            Some(_) => {
                self.unclear("the command is no text".to_owned());
                return;
            }
        };
        self.commands.extend(read.commands);
        read.unclear.into_iter().for_each(|why| self.unclear(why));
        read.addresses
            .into_iter()
            .for_each(|found| self.address(found));
    }

    /// Any other argument: addresses may stand anywhere in it, names of its parts included.
    fn within(&mut self, value: &Value, depth: usize) {
        if depth > NESTING_LIMIT {
            self.unclear("the arguments are nested too deeply to be looked at".to_owned());
            return;
        }
        match value {
            Value::String(text) => {
                hosts::found_in(text)
                    .into_iter()
                    .for_each(|found| self.address(found));
            }
            Value::Array(values) => values
                .iter()
                .for_each(|value| self.within(value, depth + 1)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    hosts::found_in(name)
                        .into_iter()
                        .for_each(|found| self.address(found));
                    self.within(value, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a tool may reach anything by what stands in its arguments. A built-in one that only
/// reads or changes the workspace says what it reaches: an address in a file that it writes is
/// words, and reaches nowhere.
fn may_reach(spec: &ToolSpec) -> bool {
    let reach = &spec.reach;
    spec.server().is_some()
        || spec.effect >= Effect::Reversible
        || reach.egress
        || !reach.urls.is_empty()
        || !reach.commands.is_empty()
}
