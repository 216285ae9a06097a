//! Following a command to its end: output shown and kept, limits held, the whole tree killed when
//! it is to end.

use std::sync::Arc;

use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::{ToolCall, ToolError, ToolOutput};

use super::keep::Kept;
use super::plain::Pieces;
use super::programs::Calls;
use super::start::{RECONNECTS_MAX, failed, stopped};
use super::station::{Lease, Make, Station};
use crate::SandboxError;
use crate::session::Piece;
use crate::usage::{Usage, UsageLimits, beyond};
use crate::wire::{End, Receipt, Stream};

/// Files, folders and everything else that a workspace may hold.
const ENTRIES_MAX: u64 = 1_000_000;
/// What is told of a number of bytes.
const MEBIBYTE: u64 = 1 << 20;

/// How a command ended, with what it said.
pub(super) struct Ended {
    pub receipt: Receipt,
    pub text: String,
    /// Why it was ended from here, in words.
    pub killed: Option<String>,
}

/// Follows the command of an action to its end, from its first byte on. Where its program may call
/// tools, its calls are carried.
pub(super) async fn follow(
    station: &Arc<Station>,
    call: &ToolCall,
    lease: Lease,
    tools: bool,
) -> Result<Ended, ToolError> {
    let command = call.action.0.as_str();
    let mut kept = Kept::new(&station.spec().workspace, command).map_err(failed)?;
    let limits = UsageLimits {
        bytes: station.spec().settings.disk.0,
        entries: ENTRIES_MAX,
    };
    let mut full = std::pin::pin!(beyond(station.spec().workspace.clone(), limits));
    let mut following = Following {
        station,
        call,
        lease,
        offset: 0,
        reconnects: 0,
        pieces: Pieces::default(),
    };
    let mut calls = following.calls(tools);
    let mut killed = None;
    loop {
        let piece = tokio::select! {
            biased;
            () = call.cancel.cancelled() => return following.cancelled(&calls).await,
            () = carried(&mut calls) => continue,
            used = &mut full, if killed.is_none() => {
                killed = Some(too_much(used));
                let killing = following.lease.session.command(command).kill().await;
                killing.map_err(unknown)?;
                continue;
            }
            piece = following.next() => piece?,
        };
        kept.push(&piece.bytes).await.map_err(failed)?;
        if piece.ended {
            break;
        }
    }
    drop(calls);
    let receipt = following.receipt().await?;
    station.routes().close(command);
    station.has_ended(command);
    Ok(Ended {
        receipt,
        text: kept.end().await.map_err(failed)?,
        killed,
    })
}

struct Following<'a> {
    station: &'a Arc<Station>,
    call: &'a ToolCall,
    lease: Lease,
    offset: u64,
    reconnects: u32,
    pieces: Pieces,
}

impl Following<'_> {
    /// The next piece of output, over as many pipes as it takes. Cancel-safe.
    async fn next(&mut self) -> Result<Piece, ToolError> {
        loop {
            let command = &self.call.action.0;
            let read = self
                .lease
                .session
                .read(command, Stream::Output, self.offset, true)
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
            match self.lease.session.wait(&self.call.action.0).await {
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
            Ok(None) => Err(unknown(why)),
            Err(error) => Err(unknown(error)),
        }
    }

    fn calls(&self, tools: bool) -> Option<Calls> {
        tools.then(|| Calls::of(self.station, self.call, &self.lease))
    }

    /// Who let the driver go wants nothing to end, and a program that waits for an answer stands
    /// still until it can get one; whoever else cancels wants an end.
    async fn cancelled(&self, calls: &Option<Calls>) -> Result<Ended, ToolError> {
        let let_go = self.call.beside.let_go.is_cancelled();
        if let Some(calls) = calls {
            calls.stand(let_go && calls.are_open()).await;
        }
        if !self.call.beside.let_go.is_cancelled() {
            let command = self.lease.session.command(&self.call.action.0);
            if let Err(error) = command.kill().await {
                tracing::warn!(%error, "a command can't be killed");
            }
            self.station.routes().close(&self.call.action.0);
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

fn too_much(used: Result<Usage, SandboxError>) -> String {
    match used {
        Ok(Usage { bytes, entries }) if entries > ENTRIES_MAX => {
            format!(
                "the workspace holds {entries} files, which are too many, in {} MiB",
                bytes / MEBIBYTE
            )
        }
        Ok(Usage { bytes, .. }) => format!(
            "the workspace holds {} MiB, which is more than it may",
            bytes / MEBIBYTE
        ),
        Err(error) => format!("the workspace can't be looked at: {error}"),
    }
}

/// The command was begun; without the box nobody knows how it ended.
fn unknown(error: SandboxError) -> ToolError {
    ToolError::uncertain(format!(
        "The command runs or ran in its box, which is lost: {error}."
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
                return Err(ToolError::uncertain(
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
        if self.receipt.left_behind > 0 {
            let left = self.receipt.left_behind;
            add(format!(
                "{left} processes that it left behind were ended; use background for what is to go on"
            ));
        }
        if self.receipt.output.dropped_bytes > 0 {
            let dropped = self.receipt.output.dropped_bytes;
            add(format!(
                "{dropped} bytes of output beyond the limit were not kept"
            ));
        }
        Ok(ToolOutput {
            receipt: Some(how.clone()),
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
