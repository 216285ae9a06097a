//! Limits that a process carries with it, and the program that runs under them.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use longrein_resident::wire::Limits;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{Failure, Trying};

/// Sets the limits of one command for this process and all that it will start. Hard limits are
/// lowered with the soft ones: nobody inside can raise them again.
pub(crate) fn set(limits: &Limits) -> Result<(), Failure> {
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Nofile, limits.open_files)?;
    if let Some(bytes) = limits.address_space_bytes {
        lower(Resource::As, bytes)?;
    }
    if let Some(processes) = limits.processes {
        lower(Resource::Nproc, processes)?;
    }
    Ok(())
}

fn lower(resource: Resource, to: u64) -> Result<(), Failure> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let to = hard.map_or(to, |hard| hard.min(to));
    let limit = Rlimit {
        current: Some(to),
        maximum: Some(to),
    };
    setrlimit(resource, limit).trying(|| format!("limiting {resource:?} to {to}"))
}

/// `limit LIMITS PROGRAM [ARGUMENT…]`, with the limits as JSON: for a box whose door is another
/// program, so that the limits do not bind the door.
pub(crate) fn main(arguments: &[OsString]) -> Result<(), Failure> {
    const USAGE: &str = "limit LIMITS PROGRAM [ARGUMENT…]";
    let [limits, program, rest @ ..] = arguments else {
        return Err(Failure::Usage(USAGE));
    };
    let limits = limits
        .to_str()
        .and_then(|json| serde_json::from_str(json).ok());
    set(&limits.ok_or(Failure::Usage(USAGE))?)?;
    let error = Command::new(program).args(rest).exec();
    Err(error).trying(|| format!("starting {}", program.display()))
}
