//! Beginning a command, or finding again the one that an earlier attempt began.

use std::sync::Arc;

use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::Progress;
use longrein_runtime::ports::{ToolCall, ToolError};

use super::boxes::hand_over;
use super::station::{Lease, Make, Station};
use crate::SandboxError;
use crate::wire::{Code, Limits, Start};

/// How often a pipe that ends is opened anew for one command.
pub(super) const RECONNECTS_MAX: u32 = 5;
/// The bytes of a command's output that the box keeps.
const OUTPUT_MAX_BYTES: u64 = 256 << 20;
/// The files that a process may hold open.
const OPEN_FILES: u64 = 4_096;
/// Where commands start.
pub(super) const DIRECTORY: &str = crate::container::WORKSPACE;

/// A command as a tool wants it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// What it is known by in the box.
    pub command: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// Variables beside those of the box.
    pub variables: Vec<(String, String)>,
    /// How long it may run.
    pub time_ms: u64,
    /// Whether its program may call tools.
    pub tools: bool,
}

/// What the command of an action is known by in the box, when what it had begun was gone so often:
/// what is begun anew is another command.
pub(super) fn command_of(call: &ToolCall, lives: u32) -> String {
    match lives {
        0 => call.action.0.clone(),
        lives => format!("{}-{}", call.action, lives + 1),
    }
}

/// Begins the command of an action: once, however often this is called
/// and whatever ends meanwhile.
pub(super) async fn begin(
    station: &Arc<Station>,
    call: &ToolCall,
    wanted: &Wanted,
) -> Result<Lease, ToolError> {
    // A program that was left behind calls as soon as its box is entered.
    station
        .routes()
        .open(&wanted.command, call.beside.tells.clone());
    let begun = begin_with(station, call, wanted).await;
    if begun.is_err() {
        station.routes().close(&wanted.command);
    }
    begun
}

async fn begin_with(
    station: &Arc<Station>,
    call: &ToolCall,
    wanted: &Wanted,
) -> Result<Lease, ToolError> {
    let mut life = call.beside.life.clone();
    for _ in 0..=RECONNECTS_MAX {
        let lease = match &life {
            None => enter_anew(station, call).await?,
            Some(before) => match again(station, call, before, &wanted.command).await? {
                Again::Runs(lease) => return Ok(lease),
                Again::NeverRan(lease) => lease,
            },
        };
        if life.is_none() {
            hand_over(&station.spec().workspace).await.map_err(failed)?;
            station.forget_ended(&lease.session);
            end_earlier(&lease, call).await;
            let boxed = Progress::Boxed {
                life: lease.session.life().to_owned(),
            };
            if !call.beside.tells.progress(boxed).await {
                return Err(stopped());
            }
        }
        life = Some(lease.session.life().to_owned());
        match lease.session.start(of(station, &lease, wanted)).await {
            Ok(_) => return Ok(lease),
            // It may have been begun: the next round looks.
            Err(error) if error.is_gone() => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(ToolError::uncertain(
        "The way into the box ended again and again while the command was given to it.",
    ))
}

async fn enter_anew(station: &Arc<Station>, call: &ToolCall) -> Result<Lease, ToolError> {
    let entering = station.enter(Make::Anew, &*call.beside.live);
    let entered = tokio::select! {
        biased;
        () = call.cancel.cancelled() => return Err(stopped()),
        entered = entering => entered.map_err(failed)?,
    };
    entered.ok_or_else(|| ToolError::new(ToolErrorClass::Failed, "There is no box."))
}

/// What became of a command that was given to a box.
enum Again {
    /// It runs, or has ended, and the box knows how.
    Runs(Lease),
    /// The box that was to begin it never did.
    NeverRan(Lease),
}

async fn again(
    station: &Arc<Station>,
    call: &ToolCall,
    life: &str,
    command: &str,
) -> Result<Again, ToolError> {
    let in_words = |why: String| {
        format!("The command was given to a box, and what became of it is not known: {why}.")
    };
    let unknown = |why: String| ToolError::uncertain(in_words(why));
    let gone = |why: &str| ToolError::gone(in_words(why.to_owned()));
    let entered = station.enter(Make::AsItIs, &*call.beside.live).await;
    let lease = match entered {
        Ok(Some(lease)) => lease,
        Ok(None) => return Err(gone("the box is gone")),
        Err(error) => return Err(unknown(error.to_string())),
    };
    match lease.session.state(command).await {
        Ok(_) => Ok(Again::Runs(lease)),
        Err(SandboxError::Refused {
            code: Code::UnknownCommand,
            ..
        }) if lease.session.life() == life => Ok(Again::NeverRan(lease)),
        Err(SandboxError::Refused {
            code: Code::UnknownCommand,
            ..
        }) => Err(gone("the box was started anew since")),
        Err(error) => Err(unknown(error.to_string())),
    }
}

/// What was begun for the action before, and may be there all the same when a person said that it is
/// to be begun anew, is ended.
async fn end_earlier(lease: &Lease, call: &ToolCall) {
    for lives in 0..call.beside.lives {
        let command = lease.session.command(&command_of(call, lives));
        if let Err(error) = command.kill().await {
            tracing::debug!(%error, "what was begun before is not there");
        }
    }
}

fn of(station: &Station, lease: &Lease, wanted: &Wanted) -> Start {
    let mut environment = lease.environment();
    environment.extend(wanted.variables.iter().cloned());
    Start {
        command: wanted.command.clone(),
        program: wanted.program.clone(),
        directory: DIRECTORY.to_owned(),
        environment,
        input: false,
        merged: true,
        egress: station.has_egress() && lease.carries_network(),
        tools: wanted.tools,
        limits: lease.limits(Limits {
            time_ms: wanted.time_ms,
            output_bytes: OUTPUT_MAX_BYTES,
            file_bytes: station.spec().settings.disk.0,
            open_files: OPEN_FILES,
            address_space_bytes: None,
            processes: None,
        }),
    }
}

/// An error before the command can have begun, or of a box that said no.
pub(super) fn failed(error: SandboxError) -> ToolError {
    let class = match &error {
        SandboxError::Unusable { .. } | SandboxError::NoResident { .. } => {
            ToolErrorClass::NotPermitted
        }
        SandboxError::Unreachable { .. } | SandboxError::TimedOut { .. } => {
            ToolErrorClass::Temporary
        }
        _ => ToolErrorClass::Failed,
    };
    let mut message = error.to_string();
    if !message.ends_with('.') {
        message.push('.');
    }
    ToolError::new(class, message)
}

pub(super) fn stopped() -> ToolError {
    ToolError::new(ToolErrorClass::Cancelled, "It was stopped before it ended.")
}
