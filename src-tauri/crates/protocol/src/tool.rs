//! What the harness has to know of a tool before it may be called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The built-in tool that loads skills. Which ones an agent may load, its file says.
pub const LOAD_SKILL: &str = "load_skill";
/// The built-in tool that reads on in results which were too long to be shown.
pub const READ_RESULT: &str = "read_result";
/// The built-in tool that looks for tools which don't stand in the request.
pub const FIND_TOOLS: &str = "find_tools";
/// The built-in tool through which those are called. No action is ever of it: the harness takes
/// out the call that it holds.
pub const CALL_TOOL: &str = "call_tool";

/// What an action may do to the world.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads, changes nothing.
    Read,
    /// Changes files of the run's own workspace only.
    Workspace,
    /// Changes something outside that can be taken back.
    Reversible,
    /// Changes something outside for good. What is undeclared counts as this.
    Irreversible,
}

/// Whether an action whose outcome is unknown may be started again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Doing it twice is the same as doing it once.
    Repeatable,
    /// It takes a key: two calls with the same key are one, for as long as a key is valid.
    Keyed,
    /// Another tool says whether it happened.
    Queryable,
    /// Never by itself: a person is asked.
    Once,
    /// What it started goes on without this process: starting it again finds it by the action's id
    /// and begins nothing twice. Only built-in tools are so.
    #[schemars(skip)]
    Reattach,
    /// The same; and where what it started is gone for certain, it is begun anew on the files as
    /// they were before, and what its program asked for already is answered from the record.
    #[schemars(skip)]
    Replay,
}

impl Repeat {
    /// Whether starting it again can't do it twice, whatever became of it.
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Repeatable | Self::Reattach | Self::Replay)
    }
}

/// Why an action failed, in a form that a model can act on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorClass {
    /// The arguments do not fit; another call may.
    InvalidArguments,
    /// Policy or the system refuses.
    NotPermitted,
    /// The thing named is not there.
    NotFound,
    /// The thing is not in the state that the call expects.
    Conflict,
    /// Later it may work.
    Temporary,
    /// It was tried and did not work.
    Failed,
    /// It was stopped before it ended.
    Cancelled,
}

impl ToolErrorClass {
    /// What a call that can't be made is, where nothing more is known.
    pub(crate) fn of_a_call() -> Self {
        Self::InvalidArguments
    }

    pub(crate) fn is_of_a_call(&self) -> bool {
        *self == Self::of_a_call()
    }
}

/// How an unknown outcome of a tool is found out, and what takes it back.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Recovery {
    /// For a keyed tool: the argument that takes the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_argument: Option<String>,
    /// For a keyed tool: how long a key is valid, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_valid_seconds: Option<u32>,
    /// For a queryable tool: the reading tool that says what became of it. It is called with the
    /// arguments of the action, of which it takes those that its schema names, and the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_tool: Option<String>,
    /// The JSON pointer into the status tool's answer; what stands there is `done`, `not_done`
    /// (finally) or anything else, which is unknown. Without it the whole answer is the word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_pointer: Option<String>,
    /// The tool that takes the effect back; called with the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_tool: Option<String>,
    /// The argument of the undo tool that takes the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_argument: Option<String>,
}

impl Recovery {
    /// How long a key is valid when the tool does not say: a day.
    pub const KEY_VALID_SECONDS: u32 = 86_400;
}

/// Which arguments reach somewhere, and what the tool needs for it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// Names of the arguments that are addresses. Addresses in other arguments are found too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// Names of the arguments that are shell commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Names of the secrets that its server needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Whether what it runs can reach the network.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub egress: bool,
    /// Whether its results are the person's own (library, attachment) and not public.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// One tool as the run knows it: what the model is shown and what the gate decides by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `name` of a built-in, `server.name` of an MCP tool.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema (draft 2020-12) of the arguments.
    pub schema: serde_json::Value,
    /// What it may do to the world.
    pub effect: Effect,
    /// Whether it may be started again after a crash.
    pub repeat: Repeat,
    /// How long one call may take; 0 where the tool holds a limit of its own.
    pub timeout_ms: u32,
    /// How much of a result the model is shown, in estimated tokens.
    pub result_tokens: u32,
    /// Names of the arguments that are paths beneath the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_arguments: Vec<String>,
    /// Whether what it returns is untrusted text (from a library, a server, a page).
    #[serde(default)]
    pub untrusted: bool,
    /// Which arguments reach somewhere.
    #[serde(default)]
    pub reach: Reach,
    /// How an unknown outcome is found out, and what takes it back.
    #[serde(default)]
    pub recovery: Recovery,
}

/// A line of the index: something that a model is not shown before it asks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IndexLine {
    /// What it is of.
    pub kind: IndexKind,
    /// The name of the server or of the skill.
    pub name: String,
    /// What it is, in one line. The words are the harness's or of what a person approved; of
    /// whoever else it holds names alone.
    pub text: String,
}

/// What a line of the index is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// A server with tools that are not in the request.
    Server,
    /// A skill whose body is not in the request.
    Skill,
    /// Tools that the agent is granted and that can't be had here, with the reason.
    Off,
}

impl ToolSpec {
    /// The longest name that providers accept.
    pub const WIRE_NAME_LIMIT: usize = 64;

    /// The name on the wire: `server__tool`, letters, digits, `_` and `-`, shortened with a hash
    /// when it would be too long.
    pub fn wire_name(&self) -> String {
        wire_name(&self.name)
    }

    /// The server that offers it; `None` for a built-in.
    pub fn server(&self) -> Option<&str> {
        self.name.split_once('.').map(|(server, _)| server)
    }

    /// A hash of everything that an approval of this tool rests on.
    pub fn definition_hash(&self) -> crate::BlobHash {
        let definition = serde_json::json!([self.name, self.description, self.schema, self.effect]);
        crate::BlobHash::of(definition.to_string().as_bytes())
    }
}

/// See [`ToolSpec::wire_name`].
pub fn wire_name(name: &str) -> String {
    let mut wire = String::with_capacity(name.len() + 1);
    for letter in name.chars() {
        match letter {
            '.' => wire.push_str("__"),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => wire.push(letter),
            _ => wire.push('_'),
        }
    }
    if wire.len() > ToolSpec::WIRE_NAME_LIMIT || wire.contains("___") {
        let hash = crate::BlobHash::of(name.as_bytes()).to_string();
        wire.truncate(ToolSpec::WIRE_NAME_LIMIT - 9);
        wire = format!("{wire}_{}", &hash[..8]);
    }
    wire
}
