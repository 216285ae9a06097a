//! What the driver is given for a run: its model, its tools, its verifier.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::run::{FINDING, FINISH, Run};
use longrein_keys::Masker;
use longrein_protocol::gate::{Always, PathFact, SecretFact, StandingRule};
use longrein_protocol::tool::{IndexLine, wire_name};
use longrein_protocol::{ActionId, ToolErrorClass, ToolSpec};

use crate::effects::parse_arguments;
use crate::ports::{
    BlobRead, CancellationToken, CommandEnd, LiveAction, LiveText, Model, ModelError, NoLiveAction,
    Tool, ToolError, Verifier,
};

mod looked;

pub use looked::{ModelFacts, NewSnapshot, OnDisk, SkillSeen, SnapshotOf, standing};

/// Everything outside that a run needs. The app has one, the tests have one.
#[async_trait]
pub trait World: Send + Sync {
    /// The model by its full name, `provider/model`.
    ///
    /// # Errors
    /// When there is no such provider or it has no key.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError>;

    /// What is known of a model besides how it is reached.
    fn model_facts(&self, _name: &str) -> ModelFacts {
        ModelFacts::default()
    }

    /// Opens the tools of a run: checks its folders, starts its servers. The same servers serve
    /// the whole tree.
    ///
    /// # Errors
    /// When something that the agent names can't be had; the run is handed off with this.
    async fn open_tools(&self, run: &Run) -> Result<ToolBox, Unavailable>;

    /// Where the path arguments of an action really lead, and the secrets that it would be given.
    async fn look(
        &self,
        _run: &Run,
        _spec: &ToolSpec,
        _arguments: &serde_json::Value,
    ) -> (Vec<PathFact>, Vec<SecretFact>) {
        (Vec::new(), Vec::new())
    }

    /// The skill that an action would load, as it is now, with what a person is shown where they
    /// have to look at it first; `None` where there is none to be loaded.
    async fn look_at_skill(&self, _run: &Run, _arguments: &serde_json::Value) -> Option<SkillSeen> {
        None
    }

    /// The rules that stand on disk for a run, as they are now; `None` where none are kept.
    ///
    /// # Errors
    /// When they can't be read: nothing is decided then.
    async fn policy(&self, _run: &Run) -> Result<Option<OnDisk>, Unavailable> {
        Ok(None)
    }

    /// Keeps the rules that an approval makes, as far as they reach beyond the run, and gives them
    /// their names. To do it twice is to do it once.
    ///
    /// # Errors
    /// When they can't be kept.
    async fn remember(
        &self,
        _run: &Run,
        always: &Always,
    ) -> Result<Vec<StandingRule>, Unavailable> {
        Ok(standing(always))
    }

    /// Looks at what a workspace holds, and gives what is to be recorded where that is not what the
    /// log says; `None` where it is, or where nothing is kept of files. The contents of files are
    /// durable when it returns.
    ///
    /// # Errors
    /// When the folder can't be read or its files can't be kept: the run is handed off with this.
    async fn snapshot(
        &self,
        _of: SnapshotOf,
        _blobs: Arc<dyn BlobRead>,
    ) -> Result<Option<NewSnapshot>, Unavailable> {
        Ok(None)
    }

    /// Makes a workspace hold again what `of.before` says that it held; what was never recorded,
    /// since a snapshot leaves it out, stays as it is. To do it twice is to do it once. What stood
    /// there instead was recorded before.
    ///
    /// # Errors
    /// When what is recorded can't be read any more, or files can't be written.
    async fn lay_back(&self, of: SnapshotOf, _blobs: Arc<dyn BlobRead>) -> Result<(), Unavailable> {
        match of.before {
            None => Ok(()),
            Some(_) => Err(Unavailable {
                message: "Nothing is kept of files here.".to_owned(),
                remedy: "Look at what the run's folder holds.".to_owned(),
            }),
        }
    }

    /// Lays a result down whole as a file of the run's workspace, under this name, and gives its path
    /// there; `None` where there is no workspace, or it can't be written. To do it twice is to do it
    /// once, and nothing depends on it: the log has the result.
    async fn keep_result(&self, _run: &Run, _name: &str, _bytes: Arc<[u8]>) -> Option<String> {
        None
    }

    /// Lays a file that a child delivered down at a path of the run's workspace, and gives the path;
    /// `None` where it can't be written. To do it twice is to do it once: the log has the file.
    async fn hand_up(&self, _run: &Run, _path: &str, _bytes: Arc<[u8]>) -> Option<String> {
        None
    }

    /// Checks the criteria.
    fn verifier(&self) -> Arc<dyn Verifier>;

    /// What masks the secrets that this process knows by now, in whatever becomes an event or is
    /// shown while it streams.
    fn masker(&self) -> Masker {
        Masker::default()
    }

    /// Takes the provisional text of a run's request.
    fn live(&self, run: &Run) -> Arc<dyn LiveText>;

    /// Takes what a running action of a run shows of itself.
    fn live_action(&self, _run: &Run, _action: &ActionId) -> Arc<dyn LiveAction> {
        Arc::new(NoLiveAction)
    }

    /// Runs a command of a check in a fresh box, on a copy of the run's workspace that it can only
    /// read, without a network.
    ///
    /// # Errors
    /// When there is no box, or nothing is known of how the command ended.
    async fn check_command(
        &self,
        _run: &Run,
        _command: &str,
        _cancel: CancellationToken,
    ) -> Result<CommandEnd, ToolError> {
        Err(ToolError::new(
            ToolErrorClass::NotPermitted,
            "There is no box for commands here.",
        ))
    }
}

/// Something that the agent names can't be had.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Unavailable {
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do, in a sentence.
    pub remedy: String,
}

/// Why a model's call can't be an action. The model is told.
#[derive(Debug, thiserror::Error)]
pub enum BadCall {
    /// No tool has this name.
    #[error("There is no tool {name}. There are: {known}.{hidden}")]
    NoTool {
        /// As the model named it.
        name: String,
        /// The names that there are.
        known: String,
        /// What is to be said of tools that don't stand in the request; empty without them.
        hidden: String,
    },
    /// `call_tool` without the name of a tool.
    #[error(
        "The name of the tool to be called is missing: call_tool takes {{\"name\": …, \"arguments\": {{…}}}}."
    )]
    NoName,
    /// The arguments are not JSON.
    #[error("The arguments are not valid JSON: {0}")]
    NotJson(serde_json::Error),
    /// The arguments are JSON, but no object.
    #[error("The arguments have to be a JSON object.")]
    NotAnObject,
    /// The arguments don't satisfy the schema.
    #[error("The arguments do not fit: {0}")]
    Schema(String),
}

impl BadCall {
    /// Of what kind it is, for whoever made the call.
    pub fn class(&self) -> ToolErrorClass {
        match self {
            Self::NoTool { .. } => ToolErrorClass::NotFound,
            Self::NoName | Self::NotJson(_) | Self::NotAnObject | Self::Schema(_) => {
                ToolErrorClass::InvalidArguments
            }
        }
    }
}

/// The tools of a run, with their schemas compiled.
#[derive(Default)]
pub struct ToolBox {
    tools: Vec<Entry>,
    by_wire_name: HashMap<String, usize>,
    index: Vec<IndexLine>,
    notes: Vec<String>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
    /// Whether the model has to look for it.
    hidden: bool,
    schema: jsonschema::Validator,
}

/// A tool that can't be offered.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BadTool {
    /// Its schema is none.
    #[error("the schema of {tool} is not valid: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// What the validator says.
        why: String,
    },
    /// Two tools have the same name on the wire.
    #[error("two tools are called {0} on the wire")]
    SameName(String),
}

impl ToolBox {
    /// Adds a tool, with what the agent's file says of it already in `spec`.
    ///
    /// # Errors
    /// [`BadTool`]; the other tools stay.
    pub fn add(&mut self, tool: Arc<dyn Tool>, spec: ToolSpec) -> Result<(), BadTool> {
        self.enter(tool, spec, false)
    }

    /// Adds a tool that does not stand in requests: the model looks for it and calls it through
    /// `call_tool`.
    ///
    /// # Errors
    /// [`BadTool`]; the other tools stay.
    pub fn hide(&mut self, tool: Arc<dyn Tool>, spec: ToolSpec) -> Result<(), BadTool> {
        self.enter(tool, spec, true)
    }

    fn enter(&mut self, tool: Arc<dyn Tool>, spec: ToolSpec, hidden: bool) -> Result<(), BadTool> {
        let wire = spec.wire_name();
        if self.by_wire_name.contains_key(&wire) {
            return Err(BadTool::SameName(wire));
        }
        let schema = jsonschema::validator_for(&spec.schema).map_err(|error| BadTool::Schema {
            tool: spec.name.clone(),
            why: error.to_string(),
        })?;
        self.by_wire_name.insert(wire, self.tools.len());
        self.tools.push(Entry {
            tool,
            spec,
            hidden,
            schema,
        });
        Ok(())
    }

    /// From here on `finish` takes a finding of this schema besides, and none without it.
    ///
    /// # Errors
    /// [`BadTool`] where the schema is none; `finish` stays as it was.
    pub fn with_finding(&mut self, finding: &serde_json::Value) -> Result<(), BadTool> {
        let Some(entry) = self
            .tools
            .iter_mut()
            .find(|entry| entry.spec.name == FINISH)
        else {
            return Ok(());
        };
        let mut schema = entry.spec.schema.clone();
        schema["properties"][FINDING] = finding.clone();
        match schema["required"].as_array_mut() {
            Some(required) => required.push(FINDING.into()),
            None => schema["required"] = serde_json::json!([FINDING]),
        }
        let compiled = jsonschema::validator_for(&schema).map_err(|error| BadTool::Schema {
            tool: FINISH.to_owned(),
            why: error.to_string(),
        })?;
        entry.schema = compiled;
        entry.spec.schema = schema;
        Ok(())
    }

    /// Adds a line to the index: something that the model is not shown before it asks.
    pub fn tell(&mut self, line: IndexLine) {
        self.index.push(line);
    }

    /// Adds something that the person should know of the tools. What is more than there is room
    /// for is counted.
    pub fn note(&mut self, note: &str) {
        if self.notes.iter().any(|known| known == note) {
            return;
        }
        match self.notes.len().cmp(&NOTES) {
            Ordering::Less => {
                let cut = note.floor_char_boundary(NOTE_BYTES);
                let more = if cut < note.len() { "…" } else { "" };
                self.notes.push(format!("{}{more}", &note[..cut]));
            }
            Ordering::Equal => self.notes.push(MORE_NOTES.to_owned()),
            Ordering::Greater => {}
        }
    }

    /// What the person should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The index, in order.
    pub fn index(&self) -> &[IndexLine] {
        &self.index
    }

    /// The specifications of what stands in requests, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let shown = self.tools.iter().filter(|entry| !entry.hidden);
        shown.map(|entry| entry.spec.clone()).collect()
    }

    /// A tool by its name on the wire.
    pub fn by_wire_name(&self, name: &str) -> Option<&ToolSpec> {
        self.by_wire_name
            .get(name)
            .map(|place| &self.tools[*place].spec)
    }

    /// The name on the wire of what a model calls by its own name, or by the one on the wire.
    pub fn wire_name_of(&self, name: &str) -> String {
        let inner = self.tools.iter().find(|entry| entry.spec.name == name);
        match inner {
            Some(entry) => entry.spec.wire_name(),
            None if self.by_wire_name.contains_key(name) => name.to_owned(),
            None => wire_name(name),
        }
    }

    /// A tool by its inner name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools
            .iter()
            .find(|entry| entry.spec.name == name)
            .map(|entry| &entry.tool)
    }

    /// Whether arguments satisfy the tool's schema.
    ///
    /// # Errors
    /// [`BadCall`], which says what is wrong, with the place.
    pub fn check(&self, name: &str, arguments: &serde_json::Value) -> Result<(), BadCall> {
        let Some(entry) = self.tools.iter().find(|entry| entry.spec.name == name) else {
            return Err(self.unknown(name));
        };
        satisfies(&entry.schema, arguments)
    }

    /// The tools whose names are nearest to one that is not there, as they are called inside.
    pub(crate) fn nearest(&self, name: &str, wanted: impl Fn(&ToolSpec) -> bool) -> Vec<String> {
        let specs = self.tools.iter().map(|entry| &entry.spec);
        let mut near: Vec<(f64, &str)> = specs
            .filter(|spec| wanted(spec))
            .map(|spec| (strsim::jaro_winkler(name, &spec.name), spec.name.as_str()))
            .collect();
        // The nearest first; of the same nearness the first by name.
        near.sort_by(|(left, one), (right, other)| right.total_cmp(left).then(one.cmp(other)));
        let names = near.into_iter().map(|(_, name)| name.to_owned());
        names.take(NEAR).collect()
    }

    /// What a model is told that named a tool which is not there.
    pub fn unknown(&self, name: &str) -> BadCall {
        let (mut known, mut hidden) = (Vec::new(), Vec::new());
        for entry in &self.tools {
            let wire = entry.spec.wire_name();
            match entry.hidden {
                false => known.push(wire),
                true => hidden.push((strsim::jaro_winkler(name, &wire), wire)),
            }
        }
        // The nearest first; of the same nearness the first by name.
        hidden.sort_by(|(left, one), (right, other)| right.total_cmp(left).then(one.cmp(other)));
        let near: Vec<String> = hidden
            .into_iter()
            .map(|(_, wire)| wire)
            .take(NEAR)
            .collect();
        BadCall::NoTool {
            name: name.to_owned(),
            known: known.join(", "),
            hidden: match near.is_empty() {
                true => String::new(),
                false => format!(
                    " Among those that find_tools finds, the nearest names are: {}.",
                    near.join(", ")
                ),
            },
        }
    }
}

/// What somebody wrote as the arguments of a tool, if they satisfy its schema. It is the check
/// that the driver makes, for whoever edits them before an answer goes to it.
///
/// # Errors
/// [`BadCall`], which says what is wrong, with the place.
pub fn check_arguments(spec: &ToolSpec, text: &str) -> Result<serde_json::Value, BadCall> {
    let arguments = parse_arguments(text)?;
    let schema = jsonschema::validator_for(&spec.schema)
        .map_err(|error| BadCall::Schema(error.to_string()))?;
    satisfies(&schema, &arguments)?;
    Ok(arguments)
}

fn satisfies(schema: &jsonschema::Validator, arguments: &serde_json::Value) -> Result<(), BadCall> {
    let wrong: Vec<String> = schema
        .iter_errors(arguments)
        .take(SCHEMA_ERRORS)
        .map(|error| {
            let place = error.instance_path().to_string();
            let mut words = error.to_string();
            if words.len() > SCHEMA_ERROR_BYTES {
                // What was given is long; what is wrong with it is not.
                words = error.masked().to_string();
            }
            if !place.is_empty() {
                words = format!("{place}: {words}");
            }
            words.truncate(words.floor_char_boundary(SCHEMA_ERROR_BYTES));
            words
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(BadCall::Schema(wrong.join("; ")))
}

/// How much a person is told of a run's tools at once, and the longest piece of it.
const NOTES: usize = 24;
const NOTE_BYTES: usize = 400;
const MORE_NOTES: &str = "There is more: look at each server with longrein mcp test.";
/// How many of the names that are near to one are told.
const NEAR: usize = 5;
/// The most faults of one call's arguments that the model is told at once.
const SCHEMA_ERRORS: usize = 4;
/// The most bytes of one of them.
const SCHEMA_ERROR_BYTES: usize = 1_000;
