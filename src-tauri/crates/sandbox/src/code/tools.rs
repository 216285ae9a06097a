//! The tools as a model sees them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_protocol::tool::{Reach, Recovery};
use longrein_protocol::{Effect, Repeat, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::{Value, json};

use super::follow::follow;
use super::job;
use super::keep::{FOLDER, names};
use super::programs::{written, written_package};
use super::start::{DIRECTORY, Wanted, begin, command_of, failed};
use super::station::Station;
use crate::usage::{UsageLimits, Watch};
use crate::wire::End;
use crate::{SandboxError, container};

/// Files, folders and everything else that a workspace may hold.
const ENTRIES_MAX: u64 = 1_000_000;
/// How much of a result the model is shown, in estimated tokens; what is kept in memory fits.
const RESULT_TOKENS: u32 = 9_000;
/// The most letters of a command.
const COMMAND_LETTERS: usize = 100_000;
/// The most letters of a program.
const CODE_LETTERS: usize = 400_000;
/// The longest that is waited for a job's end.
const WAIT_SECONDS_MAX: u64 = 300;
/// The longest that a tool without a command of its own may take.
const SHORT_MS: u32 = 360_000;
/// Where the package of a run's tools lies in its workspace.
pub const PACKAGES: &str = ".longrein";
/// What the model is told of a program that was begun anew.
const ANEW: &str = "it was begun anew on the files as they were before it, since what it had begun was lost; what it had asked for already was answered from the record";
/// Milliseconds of a second.
const MS_PER_SECOND: u64 = 1_000;

/// What the tools of a run work with.
#[derive(Clone)]
pub struct CodeConfig {
    /// The run's box.
    pub station: Arc<Station>,
    /// The run's other tools as a Python package: paths beneath its folder, and texts. Programs call
    /// none where it is empty.
    pub package: Vec<(String, String)>,
}

/// The tools that run commands: `run_command`, `run_code`, `job_output`, `job_stop`.
pub fn code_tools(config: &CodeConfig) -> Vec<Arc<dyn Tool>> {
    [Kind::Command, Kind::Code, Kind::Output, Kind::Stop]
        .map(|kind| {
            let tool: Arc<dyn Tool> = Arc::new(CodeTool {
                spec: kind.spec(config),
                kind,
                config: config.clone(),
            });
            tool
        })
        .to_vec()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Command,
    Code,
    Output,
    Stop,
}

struct CodeTool {
    kind: Kind,
    spec: ToolSpec,
    config: CodeConfig,
}

#[derive(Deserialize)]
struct CommandArguments {
    command: String,
    intent: String,
    timeout_seconds: Option<u64>,
    #[serde(default)]
    background: bool,
}

#[derive(Deserialize)]
struct CodeArguments {
    code: String,
    timeout_seconds: Option<u64>,
}

#[derive(Deserialize)]
struct OutputArguments {
    job: String,
    from_byte: Option<u64>,
    #[serde(default)]
    wait_seconds: u64,
}

#[derive(Deserialize)]
struct StopArguments {
    job: String,
}

impl Kind {
    fn spec(self, config: &CodeConfig) -> ToolSpec {
        let settings = &config.station.spec().settings;
        let seconds = settings.timeout_seconds;
        let egress = !settings.hosts.is_empty();
        let network = match egress {
            true => format!("reaches only {}", settings.hosts.join(", ")),
            false => "has no network".to_owned(),
        };
        let calls = match config.package.is_empty() {
            true => "",
            false => {
                " The other tools are functions of its package tools: import tools; help(tools). What they return comes to the program and not to you, so call many and print what counts."
            }
        };
        let intent = json!({"type": "string", "minLength": 1, "maxLength": 200,
            "description": "What it is for, in one line; the person sees it."});
        let timeout = json!({"type": "integer", "minimum": 1, "maximum": seconds,
            "description": format!("The longest that it may run; {seconds} unless said otherwise.")});
        let (name, description, properties, required): (_, _, _, &[&str]) = match self {
            Self::Command => (
                "run_command",
                format!("Runs a command line with bash in a box, in the workspace ({DIRECTORY}). It is not root and {network}; /tmp can be written to. Both output streams come back, with the exit status; long output is whole in a file."),
                json!({
                    "command": {"type": "string", "minLength": 1, "maxLength": COMMAND_LETTERS},
                    "intent": intent,
                    "timeout_seconds": timeout,
                    "background": {"type": "boolean", "description": "Leave it running beside the steps, for servers and long work; read it with job_output, end it with job_stop."},
                }),
                &["command", "intent"],
            ),
            Self::Code => (
                "run_code",
                format!("Runs a Python 3 program in the same box as run_command, in the workspace ({DIRECTORY}). It {network}. Print what is to be seen; keep the rest in files.{calls}"),
                json!({
                    "code": {"type": "string", "minLength": 1, "maxLength": CODE_LETTERS},
                    "intent": intent,
                    "timeout_seconds": timeout,
                }),
                &["code", "intent"],
            ),
            Self::Output => (
                "job_output",
                "Shows what a job that run_command left running has written, and whether it still runs.".to_owned(),
                json!({
                    "job": {"type": "string", "description": "Its name, as in J1."},
                    "from_byte": {"type": "integer", "minimum": 0, "description": "Where to begin; the last part unless said otherwise."},
                    "wait_seconds": {"type": "integer", "minimum": 0, "maximum": WAIT_SECONDS_MAX, "description": "How long to wait for its end first."},
                }),
                &["job"],
            ),
            Self::Stop => (
                "job_stop",
                "Ends a job with all that it started.".to_owned(),
                json!({"job": {"type": "string", "description": "Its name, as in J1."}}),
                &["job"],
            ),
        };
        self.with_limits(name, description, properties, required, egress)
    }

    fn with_limits(
        self,
        name: &str,
        description: String,
        properties: Value,
        required: &[&str],
        egress: bool,
    ) -> ToolSpec {
        let runs = matches!(self, Self::Command | Self::Code);
        let commands = match self {
            Self::Command => vec!["command".to_owned()],
            _ => Vec::new(),
        };
        ToolSpec {
            name: name.to_owned(),
            description,
            schema: json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            effect: match self {
                Self::Output => Effect::Read,
                _ => Effect::Workspace,
            },
            repeat: match self {
                Self::Code => Repeat::Replay,
                Self::Command => Repeat::Reattach,
                Self::Output | Self::Stop => Repeat::Repeatable,
            },
            // What runs in the box is held to its time there.
            timeout_ms: if runs { 0 } else { SHORT_MS },
            result_tokens: RESULT_TOKENS,
            path_arguments: Vec::new(),
            reach: Reach {
                commands,
                egress: egress && runs,
                ..Reach::default()
            },
            recovery: Recovery::default(),
            untrusted: egress,
        }
    }
}

#[async_trait]
impl Tool for CodeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let station = &self.config.station;
        match self.kind {
            Kind::Command => self.command(&call).await,
            Kind::Code => self.code(&call).await,
            Kind::Output => {
                let arguments: OutputArguments = arguments(&call)?;
                let found = job::find(&call, &arguments.job)?;
                let wait = Duration::from_secs(arguments.wait_seconds.min(WAIT_SECONDS_MAX));
                job::output(station, &call, found, arguments.from_byte, wait).await
            }
            Kind::Stop => {
                let arguments: StopArguments = arguments(&call)?;
                let found = job::find(&call, &arguments.job)?;
                job::stop(station, &call, found).await
            }
        }
    }
}

impl CodeTool {
    async fn command(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let arguments: CommandArguments = arguments(call)?;
        let station = &self.config.station;
        let wanted = Wanted {
            command: match arguments.background {
                // By this name its job is known.
                true => call.action.0.clone(),
                false => command_of(call, call.beside.lives),
            },
            program: vec!["bash".to_owned(), "-c".to_owned(), arguments.command],
            variables: Vec::new(),
            time_ms: match arguments.background {
                true => job::JOB_MS,
                false => self.time_ms(arguments.timeout_seconds),
            },
            tools: false,
        };
        let watch = watch(station);
        if !arguments.background {
            let lease = begin(station, call, &wanted).await?;
            return follow(station, call, lease, &wanted, watch).await?.output();
        }
        let name = job::named(call, &arguments.intent).await?;
        let lease = begin(station, call, &wanted).await?;
        let (command, tells) = (call.action.0.clone(), call.beside.tells.clone());
        job::watch(
            station.clone(),
            (command, name.clone()),
            lease,
            (watch, tells),
        );
        let text = format!(
            "It runs as job {name}. Read its output with job_output, end it with job_stop; it ends with the run."
        );
        Ok(ToolOutput::text(text, format!("runs as {name}")))
    }

    async fn code(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let arguments: CodeArguments = arguments(call)?;
        let station = &self.config.station;
        let tools = !self.config.package.is_empty();
        let place = self.placed(call, &arguments.code).await.map_err(failed)?;
        let wanted = Wanted {
            command: command_of(call, call.beside.lives),
            program: vec![
                "python3".to_owned(),
                format!("{DIRECTORY}/{}", place.program),
            ],
            variables: vec![(
                "PYTHONPATH".to_owned(),
                format!("{DIRECTORY}:{DIRECTORY}/{}", place.packages),
            )],
            time_ms: self.time_ms(arguments.timeout_seconds),
            tools,
        };
        let watch = watch(station);
        let lease = begin(station, call, &wanted).await?;
        let mut ended = follow(station, call, lease, &wanted, watch).await?;
        if ended.receipt.end == End::Stopped {
            return Err(ToolError::gone(
                "The box was stopped before the program ended.",
            ));
        }
        if call.beside.lives > 0 {
            ended.notes.push(ANEW.to_owned());
        }
        ended.output()
    }

    /// Lays a program and the package of the run's tools where it runs; says where they are.
    async fn placed(&self, call: &ToolCall, code: &str) -> Result<Place, SandboxError> {
        let workspace = &self.config.station.spec().workspace;
        let name = format!("{}.py", call.action);
        // Where an earlier attempt gave it to the box, its file is there, and may be in use.
        if call.beside.life.is_some() {
            let found = |folder: &String| workspace.join(folder).join(&name).is_file();
            let folder = names(FOLDER).find(found);
            return Ok(Place {
                program: format!("{}/{name}", folder.as_deref().unwrap_or(FOLDER)),
                packages: PACKAGES.to_owned(),
            });
        }
        container::mend(workspace)?;
        let program = written(workspace, FOLDER, &name, code.as_bytes()).await?;
        let packages = match self.config.package.is_empty() {
            true => PACKAGES.to_owned(),
            false => written_package(workspace, PACKAGES, &self.config.package).await?,
        };
        Ok(Place { program, packages })
    }

    fn time_ms(&self, seconds: Option<u64>) -> u64 {
        let most = u64::from(self.config.station.spec().settings.timeout_seconds);
        seconds.unwrap_or(most).min(most) * MS_PER_SECOND
    }
}

/// Where a program and its package lie, from the workspace.
struct Place {
    program: String,
    packages: String,
}

/// Looks at what the workspace holds while a command runs.
fn watch(station: &Station) -> Watch {
    let limits = UsageLimits {
        bytes: station.spec().settings.disk.0,
        entries: ENTRIES_MAX,
    };
    Watch::begin(station.spec().workspace.clone(), limits)
}

fn arguments<T: serde::de::DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    serde_json::from_value(call.arguments.clone()).map_err(|error| {
        let message = format!("The arguments do not fit: {error}.");
        ToolError::new(ToolErrorClass::InvalidArguments, message)
    })
}
