//! Stops, or lets go on, everything that the user of commands runs in the container: one word to
//! the kernel reaches all of it at once, however fast it forks. A look at the processes, one by
//! one, never catches up with that.

use std::ffi::OsString;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{Failure, Trying};

/// `halt STOP` or `halt CONT`, as the user of commands. Root is refused: it would reach the agent.
pub(crate) fn main(arguments: &[OsString]) -> Result<(), Failure> {
    const USAGE: &str = "halt STOP|CONT, not as root";
    let signal = match arguments {
        [word] if word == "STOP" => Signal::STOP,
        [word] if word == "CONT" => Signal::CONT,
        _ => return Err(Failure::Usage(USAGE)),
    };
    if rustix::process::geteuid().is_root() {
        return Err(Failure::Usage(USAGE));
    }
    // The group of process 1 stands for all processes that may be signalled, but oneself.
    match kill_process_group(Pid::INIT, signal) {
        // There is none.
        Err(rustix::io::Errno::SRCH) | Ok(()) => Ok(()),
        Err(error) => Err(error).trying(|| "signalling".to_owned()),
    }
}
