//! What commands leave on disk: a folder each, with what was asked for, the output and the receipt.
//! It lies on a mount that commands can't enter. It is not synced: it lives as long as the kernel
//! that ran the command does, and a command that is missing after that is not taken for one that
//! never ran, since the agent's life is another one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longrein_resident::wire::{End, Kept, RECORDS_MAX, Receipt, Stream, is_id};
use serde::{Deserialize, Serialize};

use super::job::Job;
use crate::{Failure, Trying};

const COMMANDS: &str = "commands";
const BEGUN: &str = "begun.json";
const RECEIPT: &str = "receipt.json";

/// What is known before a command starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) started_at_ms: u64,
    pub(crate) merged: bool,
}

pub(crate) fn folder(state: &Path, command: &str) -> PathBuf {
    state.join(COMMANDS).join(command)
}

/// The file of an output stream.
pub(crate) fn output(folder: &Path, stream: Stream) -> PathBuf {
    folder.join(match stream {
        Stream::Output => "output",
        Stream::Error => "error",
    })
}

/// Makes a command's folder, which must not be there, and notes that it begins.
pub(crate) fn begin(folder: &Path, begun: &Begun) -> io::Result<()> {
    fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    fs::create_dir(folder)?;
    fs::write(folder.join(BEGUN), serde_json::to_vec(begun)?)
}

/// Writes a receipt in one step.
pub(crate) fn conclude(folder: &Path, receipt: &Receipt) -> io::Result<()> {
    let partial = folder.join("receipt.partial");
    fs::write(&partial, serde_json::to_vec(receipt)?)?;
    fs::rename(partial, folder.join(RECEIPT))
}

/// The commands of earlier lives. One without a receipt is lost, and gets one that says so.
pub(crate) fn load(state: &Path) -> Result<BTreeMap<String, Arc<Job>>, Failure> {
    let commands = state.join(COMMANDS);
    fs::create_dir_all(&commands).trying(|| format!("making {}", commands.display()))?;
    let entries = fs::read_dir(&commands).trying(|| format!("reading {}", commands.display()))?;
    let mut jobs = BTreeMap::new();
    for entry in entries.take(RECORDS_MAX) {
        let entry = entry.trying(|| format!("reading {}", commands.display()))?;
        let folder = entry.path();
        let Some(id) = entry
            .file_name()
            .to_str()
            .filter(|id| is_id(id))
            .map(str::to_owned)
        else {
            continue;
        };
        let receipt = read_receipt(&folder).unwrap_or_else(|| lost(&folder, &id));
        jobs.insert(id, Arc::new(Job::finished(folder, receipt)));
    }
    Ok(jobs)
}

fn read_receipt(folder: &Path) -> Option<Receipt> {
    serde_json::from_slice(&fs::read(folder.join(RECEIPT)).ok()?).ok()
}

fn lost(folder: &Path, id: &str) -> Receipt {
    let begun = fs::read(folder.join(BEGUN)).ok();
    let begun = begun.and_then(|bytes| serde_json::from_slice::<Begun>(&bytes).ok());
    let started_at_ms = begun.map_or(0, |begun| begun.started_at_ms);
    let kept = |stream| {
        let bytes = fs::metadata(output(folder, stream)).map_or(0, |file| file.len());
        Kept {
            bytes,
            dropped_bytes: 0,
        }
    };
    let receipt = Receipt {
        command: id.to_owned(),
        end: End::Lost,
        started_at_ms,
        ended_at_ms: started_at_ms,
        working_ms: 0,
        output: kept(Stream::Output),
        error: kept(Stream::Error),
        memory_kills: 0,
        left_behind: 0,
    };
    // Where it can't be written, the next life finds the same.
    let _ = conclude(folder, &receipt);
    receipt
}
