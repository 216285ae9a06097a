//! Limits that a process carries with it.

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
