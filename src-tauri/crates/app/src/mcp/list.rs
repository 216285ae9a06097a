//! The servers as a window shows them: how each stands, what it is granted and what a look at it
//! found. No secret is among it.

use std::collections::{BTreeMap, BTreeSet};

use longrein_keys::Known;
use longrein_protocol::{Effect, Millis, Repeat};
use serde::Serialize;

use super::look::{Look, Outcome};
use super::presets::{PRESETS, Preset};
use super::{Change, Confinement, FlagKind, Looked, Standing};
use crate::Longrein;
use crate::config::{EnvValue, McpConfig};
use crate::error::AppError;

/// The servers of this machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ServerList {
    /// Those of the configuration, in order.
    pub servers: Vec<ServerLine>,
    /// Those that can be added by name, the best first. One that is there already is among them.
    pub presets: Vec<PresetLine>,
    /// Why programs are not kept away from the data folder on this machine; `None` when they are.
    pub unconfined: Option<String>,
}

/// One server.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ServerLine {
    /// Its name, which its tools begin with.
    pub name: String,
    /// The address, when it is no program.
    pub url: Option<String>,
    /// The program with its arguments, as a shell takes them.
    pub command: Option<String>,
    /// What every request to its address says besides.
    pub headers: Vec<GrantLine>,
    /// What its environment gets besides the usual.
    pub env: Vec<GrantLine>,
    /// Whether what it says of its tools is believed.
    pub trusted: bool,
    /// How it stands.
    pub state: ServerState,
    /// Whether the person has signed in; `None` for a program, and where it can't be told.
    pub signed_in: Option<bool>,
    /// The secrets and variables that it is to be given and that are not there.
    pub missing: Vec<EnvMissing>,
    /// How many of its tools were approved at some time; `None` when it was never met.
    pub approved: Option<u32>,
    /// What the last look found, since this process began.
    pub found: Option<FoundLine>,
    /// Why the last look failed, since this process began.
    pub failure: Option<ServerFailure>,
    /// When that look was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = Option<i32>))]
    pub looked_at: Option<Millis>,
}

/// How a server stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Nobody has looked at it yet.
    NeverTried,
    /// It was met before; nobody has looked at it since this process began.
    MetBefore,
    /// It answers, and says of its tools what was approved.
    Ready,
    /// It wants to know who asks.
    NeedsSignIn,
    /// It does not take the key that it was given.
    KeyRefused,
    /// A secret or a variable that it is to be given is not there.
    KeyMissing,
    /// It says something else of its tools than what was approved.
    Changed,
    /// It can't be started or reached.
    Failed,
}

/// A value that a server is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct GrantLine {
    /// The header's or the variable's name.
    pub name: String,
    /// What stands before the value in a header: `Bearer `, or nothing.
    pub before: String,
    /// Where the value comes from.
    pub from: GrantSource,
    /// The text, the variable, or the name that the secret is kept under.
    pub value: String,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum GrantSource {
    /// What is kept under a name.
    Secret,
    /// A variable of our own environment.
    Variable,
    /// Written as it is; no secret.
    Text,
}

/// Something that a server is to be given and that is not there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct EnvMissing {
    /// Whether it is a secret or a variable.
    pub from: GrantSource,
    /// Its name.
    pub name: String,
}

/// What a look at a server found.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FoundLine {
    /// The version of the protocol that is spoken.
    pub version: Option<String>,
    /// Its tools, in its own order.
    pub tools: Vec<FoundTool>,
    /// Tools that can't be used.
    pub problems: Vec<ToolTrouble>,
    /// Its prompts.
    pub prompts: Vec<PromptLine>,
    /// Why its program is not kept away from the data folder; `None` when it is, and for an
    /// address.
    pub unconfined: Option<String>,
    /// The memory that its program held (kibibytes), where that can be told.
    pub memory_kib: Option<u32>,
    /// What its program wrote to standard error, the end of it; empty when that was nothing.
    pub last_words: String,
    /// Names what this look saw, so that exactly that can be approved.
    pub seen: String,
}

/// A tool that a look found.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FoundTool {
    /// Its name, without the server's.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// What it counts as.
    pub effect: Effect,
    /// Whether it may be started again.
    pub repeat: Repeat,
    /// What is odd about its words.
    pub flags: Vec<FlagLine>,
    /// How it differs from what was approved.
    pub change: Option<ToolChange>,
}

/// What is odd about a tool's words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FlagLine {
    /// What kind of oddity it is.
    pub kind: FlagWord,
    /// What was found, safe to show.
    pub found: String,
}

/// The kinds of oddity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FlagWord {
    /// Its words hold characters that nobody sees.
    HiddenCharacters,
    /// Its words give orders.
    Instructions,
    /// Its words name a place where secrets lie.
    SecretPlace,
    /// Its name looks like that of another tool.
    Shadows,
}

/// How a tool differs from what was approved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ToolChange {
    /// The lines that differ, as a unified difference; `None` when the tool is new.
    pub difference: Option<String>,
}

/// A tool that can't be used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ToolTrouble {
    /// The tool.
    pub tool: String,
    /// Why.
    pub message: String,
}

/// A prompt that a server offers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct PromptLine {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// Why a server could not be looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ServerFailure {
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do; may be empty.
    pub remedy: String,
}

/// A server that can be added by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct PresetLine {
    /// Its name.
    pub name: String,
    /// What it does.
    pub what: String,
    /// What is needed for it on this machine; empty when that is nothing.
    pub program: String,
    /// Where it is, or the command that is run.
    pub place: String,
    /// Whether it is at an address.
    pub is_address: bool,
    /// Whether a key may be given for it. Without one the person signs in.
    pub takes_key: bool,
}

impl Longrein {
    /// The servers as they stand. Nothing is started and nobody is asked for anything.
    ///
    /// # Errors
    /// When the configuration, or what was approved, can't be read.
    pub async fn server_list(&self) -> Result<ServerList, AppError> {
        if let Some(problem) = self.config_problem() {
            return Err(AppError::new(
                crate::AppErrorCode::Io,
                problem.message,
                problem.remedy,
            ));
        }
        let config = self.config();
        let approved = self.approved()?;
        let mut missing = self.keys().missing_of_servers(&config).await;
        let mut servers = Vec::new();
        for (name, server) in &config.mcp {
            let signed_in = self.is_signed_in_to_server(name).await.unwrap_or(None);
            let standing = Told {
                missing: missing.remove(name).unwrap_or_default(),
                approved: approved.count(name),
                look: self.known_servers().looks().of(name),
                signed_in,
            };
            servers.push(line(name, server, standing));
        }
        tell_shadows(&mut servers);
        let unconfined = match Confinement::offered() {
            Confinement::None(why) => Some(why),
            Confinement::Bubblewrap(_) => None,
        };
        Ok(ServerList {
            servers,
            presets: PRESETS.iter().map(PresetLine::of).collect(),
            unconfined,
        })
    }
}

/// Tools of the servers that were looked at whose names look like one another.
fn tell_shadows(servers: &mut [ServerLine]) {
    let found = |server: &ServerLine| -> Vec<(String, String)> {
        let tools = server.found.iter().flat_map(|found| &found.tools);
        let pairs = tools.map(|tool| (server.name.clone(), tool.name.clone()));
        pairs.collect()
    };
    let offered: Vec<(String, String)> = servers.iter().flat_map(found).collect();
    let pairs = offered
        .iter()
        .map(|(server, tool)| (server.as_str(), tool.as_str()));
    for flag in longrein_mcp::shadows(pairs, &[]) {
        for server in servers.iter_mut() {
            let Some(own) = flag.tool.strip_prefix(&format!("{}.", server.name)) else {
                continue;
            };
            let tools = server.found.iter_mut().flat_map(|found| &mut found.tools);
            for tool in tools.filter(|tool| tool.name == own) {
                tool.flags.push(FlagLine {
                    kind: FlagWord::Shadows,
                    found: flag.found.clone(),
                });
            }
        }
    }
}

/// What is known of a server besides its configuration.
struct Told {
    missing: BTreeSet<EnvMissing>,
    approved: Option<usize>,
    look: Option<Look>,
    signed_in: Option<bool>,
}

fn line(name: &str, server: &McpConfig, told: Told) -> ServerLine {
    let mut line = ServerLine {
        name: name.to_owned(),
        url: server.url.clone(),
        command: (!server.command.is_empty()).then(|| as_shell(&server.command)),
        headers: server
            .headers
            .iter()
            .map(|(name, header)| grant(name, &header.before, &header.value))
            .collect(),
        env: server
            .env
            .iter()
            .map(|(name, value)| grant(name, "", value))
            .collect(),
        trusted: server.trusted,
        state: ServerState::NeverTried,
        signed_in: told.signed_in,
        missing: told.missing.into_iter().collect(),
        approved: told.approved.map(small),
        found: None,
        failure: None,
        looked_at: told.look.as_ref().map(|look| look.at),
    };
    let has_key = line
        .headers
        .iter()
        .any(|header| header.from != GrantSource::Text);
    line.state = match told.look.map(|look| look.outcome) {
        _ if !line.missing.is_empty() => ServerState::KeyMissing,
        Some(Outcome::Found { line: found, .. }) => {
            let changed = found.tools.iter().any(|tool| tool.change.is_some());
            line.found = Some(found);
            match changed {
                true => ServerState::Changed,
                false => ServerState::Ready,
            }
        }
        Some(Outcome::Failed { failure, who }) => {
            line.failure = Some(failure);
            match (who, has_key) {
                (true, true) => ServerState::KeyRefused,
                (true, false) => ServerState::NeedsSignIn,
                (false, _) => ServerState::Failed,
            }
        }
        None if line.approved.is_some() => ServerState::MetBefore,
        None => ServerState::NeverTried,
    };
    line
}

fn grant(name: &str, before: &str, value: &EnvValue) -> GrantLine {
    let (from, value) = match value {
        EnvValue::Plain(text) => (GrantSource::Text, text.clone()),
        EnvValue::Variable(variable) => (GrantSource::Variable, variable.clone()),
        EnvValue::Secret(secret) => (GrantSource::Secret, secret.to_string()),
    };
    GrantLine {
        name: name.to_owned(),
        before: before.to_owned(),
        from,
        value: Known::of_process().masked(value),
    }
}

/// A command as a person would type it.
pub(super) fn as_shell(command: &[String]) -> String {
    let words = command.iter().map(String::as_str);
    // Only a NUL can't be written for a shell, and no file of ours holds one.
    shlex::try_join(words).unwrap_or_else(|_| command.join(" "))
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl FoundLine {
    /// What a look found, as it is shown.
    pub(super) fn of(server: &str, looked: Looked, seen: String) -> Self {
        let mut flags: BTreeMap<String, Vec<FlagLine>> = BTreeMap::new();
        for flag in looked.flags {
            let kind = match flag.kind {
                FlagKind::HiddenCharacters => FlagWord::HiddenCharacters,
                FlagKind::Instructions => FlagWord::Instructions,
                FlagKind::SecretPlace => FlagWord::SecretPlace,
                FlagKind::Shadows => FlagWord::Shadows,
            };
            let line = FlagLine {
                kind,
                found: flag.found,
            };
            flags.entry(flag.tool).or_default().push(line);
        }
        let mut changes: BTreeMap<String, Change> = match looked.standing {
            Standing::Changed(changes) => changes.into_iter().collect(),
            Standing::First | Standing::Same => BTreeMap::new(),
        };
        let tools = looked.tools.into_iter().map(|tool| {
            let own = tool.name.strip_prefix(server).unwrap_or(&tool.name);
            let name = own.strip_prefix('.').unwrap_or(own).to_owned();
            FoundTool {
                flags: flags.remove(&name).unwrap_or_default(),
                change: changes.remove(&name).map(ToolChange::from),
                name,
                description: tool.description,
                effect: tool.effect,
                repeat: tool.repeat,
            }
        });
        Self {
            version: looked.version,
            tools: tools.collect(),
            problems: looked
                .problems
                .into_iter()
                .map(|problem| ToolTrouble {
                    tool: problem.tool,
                    message: problem.message,
                })
                .collect(),
            prompts: looked
                .prompts
                .into_iter()
                .map(|prompt| PromptLine {
                    name: prompt.name,
                    description: prompt.description,
                })
                .collect(),
            unconfined: match looked.confinement {
                Some(Confinement::None(why)) => Some(why),
                Some(Confinement::Bubblewrap(_)) | None => None,
            },
            memory_kib: looked
                .memory_bytes
                .map(|bytes| u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)),
            last_words: looked.last_words.unwrap_or_default(),
            seen,
        }
    }
}

impl From<Change> for ToolChange {
    fn from(change: Change) -> Self {
        Self {
            difference: match change {
                Change::New => None,
                Change::Changed { difference } => Some(difference),
            },
        }
    }
}

impl PresetLine {
    fn of(preset: &Preset) -> Self {
        let config = preset.config(None);
        Self {
            name: preset.name.to_owned(),
            what: preset.what.to_owned(),
            program: preset.program.to_owned(),
            is_address: config.url.is_some(),
            place: config.url.unwrap_or_else(|| as_shell(&config.command)),
            takes_key: preset.takes_key(),
        }
    }
}
