//! Following a command to its end: output shown and kept, limits held, the whole tree killed when
//! it is to end.

use std::sync::Arc;

use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::{ToolCall, ToolError, ToolOutput};
use tokio::task::JoinSet;

use super::keep::Kept;
use super::plain::Pieces;
use super::programs::Calls;
use super::start::{RECONNECTS_MAX, Wanted, stopped};
use super::station::{Lease, Make, Station};
use crate::SandboxError;
use crate::container;
use crate::session::Piece;
use crate::usage::{Over, Usage, UsageLimits, Watch, now};
use crate::wire::{Code, End, Receipt, Stream};

/// What is told of a number of bytes.
const MEBIBYTE: f64 = (1_u64 << 20) as f64;
/// The signal of Linux for a file that grows beyond its limit.
const FILE_TOO_LARGE: i32 = 25;
/// What shells add to the number of a signal to say that it ended what they started.
const SHELLS_SIGNALS: i32 = 128;
/// What helps a workspace that holds too much.
const LESS: &str = "delete what is not needed first, which commands may, or have the person raise disk under [sandbox]";

/// How a command ended, with what it said.
pub(super) struct Ended {
    pub receipt: Receipt,
    pub text: String,
    /// The file beneath the workspace that has all of it, where the text has not.
    pub file: Option<String>,
    /// Why it was ended from here, in words.
    pub killed: Option<String>,
    /// What else the model is told of it.
    pub notes: Vec<String>,
}

/// Follows the command of an action to its end, from its first byte on. Where its program may call
/// tools, its calls are carried.
pub(super) async fn follow(
    station: &Arc<Station>,
    call: &ToolCall,
    lease: Lease,
    wanted: &Wanted,
    mut watch: Watch,
) -> Result<Ended, ToolError> {
    let command = wanted.command.as_str();
    let mut kept = Kept::new(&station.spec().workspace, command);
    let mut following = Following {
        station,
        call,
        command,
        lease,
        offset: 0,
        reconnects: 0,
        pieces: Pieces::default(),
    };
    // Asked for at once, so that it comes with the last of the output.
    let session = following.lease.session.clone();
    let mut ending = JoinSet::new();
    ending.spawn({
        let command = command.to_owned();
        async move { session.wait(&command).await }
    });
    let mut calls = following.calls(wanted.tools);
    let mut killed = None;
    loop {
        let piece = tokio::select! {
            biased;
            () = call.cancel.cancelled() => return following.cancelled(&calls).await,
            () = carried(&mut calls) => continue,
            over = watch.beyond(), if killed.is_none() => {
                killed = Some(too_much(&over, watch.limits()));
                let killing = following.lease.session.command(command).kill().await;
                killing.map_err(unknown)?;
                continue;
            }
            piece = following.next() => piece?,
        };
        kept.push(&piece.bytes).await;
        if piece.ended {
            break;
        }
    }
    drop(calls);
    let receipt = match ending.join_next().await {
        Some(Ok(Ok(receipt))) => receipt,
        // Its pipe ended; the box may know all the same.
        _ => following.receipt().await?,
    };
    station.routes().close(command);
    station.has_ended(command);
    let mut notes = Vec::new();
    notes.extend(mended(station));
    notes.extend(too_large(&receipt.end, watch.limits()));
    notes.extend(is_full(station, &watch, killed.is_some()).await);
    let (text, file) = kept.end().await;
    Ok(Ended {
        receipt,
        text,
        file,
        killed,
        notes,
    })
}

/// Opens a workspace again that a command closed to its own user: nothing else of the run could go
/// on.
fn mended(station: &Station) -> Option<String> {
    match container::mend(&station.spec().workspace) {
        Ok(false) => None,
        Ok(true) => Some(
            "the workspace was closed to those who work in it, and has been opened again; leave its own mode as it is"
                .to_owned(),
        ),
        Err(error) => Some(format!("the workspace can't be used as it is: {error}")),
    }
}

/// What is said where the system ended a command, or what a shell started, for the size of a file.
fn too_large(end: &End, limits: &UsageLimits) -> Option<String> {
    let is_so = match end {
        End::Signalled { signal } => *signal == FILE_TOO_LARGE,
        End::Exited { status } => *status == SHELLS_SIGNALS + FILE_TOO_LARGE,
        _ => false,
    };
    is_so.then(|| {
        let most = limits.bytes as f64 / MEBIBYTE;
        format!(
            "a file may not grow beyond {most:.1} MiB, which is all that the workspace may hold"
        )
    })
}

/// What is said of a workspace that held too much when it was looked at, and does now.
async fn is_full(station: &Station, watch: &Watch, is_killed: bool) -> Option<String> {
    watch.is_over()?;
    let limits = *watch.limits();
    let workspace = station.spec().workspace.clone();
    let usage = now(workspace, limits).await.ok()?;
    // Why it was ended says the same.
    let is_news = usage.is_beyond(&limits) && !is_killed;
    is_news.then(|| {
        let holds = holds(&usage, &limits);
        format!("the workspace {holds}; what makes it grow is ended: {LESS}")
    })
}

struct Following<'a> {
    station: &'a Arc<Station>,
    call: &'a ToolCall,
    command: &'a str,
    lease: Lease,
    offset: u64,
    reconnects: u32,
    pieces: Pieces,
}

impl Following<'_> {
    /// The next piece of output, over as many pipes as it takes. Cancel-safe.
    async fn next(&mut self) -> Result<Piece, ToolError> {
        loop {
            let read = self
                .lease
                .session
                .read(self.command, Stream::Output, self.offset, true)
                .await;
            match read {
                Ok(piece) => {
                    self.offset = piece.offset + piece.bytes.len() as u64;
                    let shown = self.pieces.push(&piece.bytes);
                    if !shown.is_empty() {
                        self.call.beside.live.output(&shown);
                    }
                    return Ok(piece);
                }
                Err(error) if error.is_gone() => self.reconnect(error).await?,
                Err(error) => return Err(unknown(error)),
            }
        }
    }

    async fn receipt(&mut self) -> Result<Receipt, ToolError> {
        loop {
            match self.lease.session.wait(self.command).await {
                Ok(receipt) => return Ok(receipt),
                Err(error) if error.is_gone() => self.reconnect(error).await?,
                Err(error) => return Err(unknown(error)),
            }
        }
    }

    async fn reconnect(&mut self, why: SandboxError) -> Result<(), ToolError> {
        if self.reconnects == RECONNECTS_MAX {
            return Err(unknown(why));
        }
        self.reconnects += 1;
        let entered = self
            .station
            .enter(Make::AsItIs, &*self.call.beside.live)
            .await;
        match entered {
            Ok(Some(lease)) => {
                self.lease = lease;
                Ok(())
            }
            Ok(None) => Err(gone(why)),
            // Whether it is there at all is seen when it is looked for again.
            Err(error) if self.reconnects < RECONNECTS_MAX => {
                tracing::debug!(%error, "a box can't be entered");
                Ok(())
            }
            Err(error) => Err(unknown(error)),
        }
    }

    fn calls(&self, tools: bool) -> Option<Calls> {
        tools.then(|| Calls::of(self.station, self.call, self.command, &self.lease))
    }

    /// Who let the driver go wants nothing to end, and a program that waits for an answer stands
    /// still until it can get one; whoever else cancels wants an end.
    async fn cancelled(&self, calls: &Option<Calls>) -> Result<Ended, ToolError> {
        let let_go = self.call.beside.let_go.is_cancelled();
        if let Some(calls) = calls {
            calls.stand(let_go && calls.are_open()).await;
        }
        if !self.call.beside.let_go.is_cancelled() {
            let command = self.lease.session.command(self.command);
            if let Err(error) = command.kill().await {
                tracing::warn!(%error, "a command can't be killed");
            }
            self.station.routes().close(self.command);
        }
        Err(stopped())
    }
}

/// Carries the calls of a program, if it may make any; without end.
async fn carried(calls: &mut Option<Calls>) {
    match calls {
        Some(calls) => calls.carry().await,
        None => std::future::pending().await,
    }
}

/// Why a command was ended that filled its workspace.
pub(super) fn too_much(over: &Over, limits: &UsageLimits) -> String {
    match over {
        Over::Full(usage) => {
            let holds = holds(usage, limits);
            format!("the workspace {holds}, and it grew; {LESS}")
        }
        Over::Unseen(why) => format!("the workspace can't be looked at: {why}"),
    }
}

fn holds(usage: &Usage, limits: &UsageLimits) -> String {
    if usage.entries > limits.entries {
        return format!(
            "holds {} files and folders and may hold {}",
            usage.entries, limits.entries
        );
    }
    format!(
        "holds {:.1} MiB and may hold {:.1} MiB",
        usage.bytes as f64 / MEBIBYTE,
        limits.bytes as f64 / MEBIBYTE
    )
}

/// The command was begun; without the box nobody knows how it ended.
fn unknown(error: SandboxError) -> ToolError {
    let message = format!("The command runs or ran in its box, which is lost: {error}.");
    match error {
        // Another agent is there than the one that was given it.
        SandboxError::Refused {
            code: Code::UnknownCommand,
            ..
        } => ToolError::gone(message),
        _ => ToolError::uncertain(message),
    }
}

fn gone(error: SandboxError) -> ToolError {
    ToolError::gone(format!(
        "The command ran in its box, which is gone: {error}."
    ))
}

impl Ended {
    /// What the model is told, and what the person sees.
    pub(super) fn output(self) -> Result<ToolOutput, ToolError> {
        let how = in_words(&self.receipt.end, self.killed.as_deref());
        match &self.receipt.end {
            End::NotStarted { why } => {
                let message = format!("The command could not be started: {why}.");
                return Err(ToolError::new(ToolErrorClass::Failed, message));
            }
            End::Lost => {
                return Err(ToolError::gone(
                    "The box ended before the command did, and how the command ended is not known.",
                ));
            }
            _ => {}
        }
        let mut text = self.text;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let seconds = self.receipt.working_ms as f64 / 1_000.0;
        text.push_str(&format!("[{how}, after {seconds:.1} s]"));
        let mut add = |words: String| text.push_str(&format!("\n[{words}]"));
        if self.receipt.memory_kills > 0 {
            add("the system killed a process for its memory; use less, or have the person raise memory under [sandbox]".to_owned());
        }
        match self.receipt.left_behind {
            0 => {}
            1 => add(
                "1 process that it left behind was ended; use background for what is to go on"
                    .to_owned(),
            ),
            left => add(format!(
                "{left} processes that it left behind were ended; use background for what is to go on"
            )),
        }
        match self.receipt.output.dropped_bytes {
            0 => {}
            1 => add("1 byte of output beyond the limit was not kept".to_owned()),
            dropped => add(format!(
                "{dropped} bytes of output beyond the limit were not kept"
            )),
        }
        self.notes.into_iter().for_each(add);
        Ok(ToolOutput {
            receipt: Some(how.clone()),
            file: self.file,
            ..ToolOutput::text(text, how)
        })
    }
}

/// How a command ended, in a few words.
pub(super) fn in_words(end: &End, killed: Option<&str>) -> String {
    match (end, killed) {
        (End::Exited { status }, _) => format!("exit status {status}"),
        (End::Signalled { signal }, _) => format!("ended by signal {signal}"),
        (End::NotStarted { why }, _) => format!("not started: {why}"),
        (End::TimedOut, _) => "ended, since its time was used up".to_owned(),
        (End::Killed, Some(why)) => format!("ended, since {why}"),
        (End::Killed, None) => "ended on demand".to_owned(),
        (End::Stopped, _) => "ended with its box".to_owned(),
        (End::Lost, _) => "how it ended is not known".to_owned(),
    }
}
