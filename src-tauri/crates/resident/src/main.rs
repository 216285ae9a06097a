//! The resident agent. One binary, several parts, told by its first argument:
//!
//! - `serve`: process 1 of the container. Starts commands, keeps their output and receipts.
//! - `relay`: what an exec starts; carries frames between the app and `serve`.
//! - `supervise`: the parent of one command, so that whatever it starts stays its descendant.
//! - `inside`: process 1 of a box that another program makes around one command.
//! - `halt`: stops all of the commands' user at once, or lets it go on.
//! - `put`, `get`: a file in or out, with the rights of whoever starts them.
//! - `measure`: says what holds here, as JSON.

#[cfg(target_os = "linux")]
mod door;
#[cfg(target_os = "linux")]
mod halt;
#[cfg(target_os = "linux")]
mod handing;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod limit;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod supervise;
#[cfg(target_os = "linux")]
mod transfer;
#[cfg(target_os = "linux")]
mod tree;

use std::process::ExitCode;

/// Where programs find the way to the network. Both spellings: they know one or the other.
#[cfg(target_os = "linux")]
const PROXY_VARIABLES: [&str; 4] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];
/// The status of a call that is wrong in itself.
const USAGE: u8 = 2;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let part = arguments.next().unwrap_or_default();
    let rest: Vec<std::ffi::OsString> = arguments.collect();
    let outcome = match part.to_str() {
        Some("serve") => serve::main(&rest),
        Some("relay") => relay::main(&rest),
        Some("supervise") => supervise::main(),
        Some("halt") => halt::main(&rest),
        Some("inside") => inside::main(),
        Some("put") => transfer::put(&rest),
        Some("get") => transfer::get(&rest),
        Some("measure") => measure::main(&rest),
        _ => Err(Failure::Usage(
            "serve | relay | supervise | inside | halt | put | get | measure",
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("longrein-resident: {failure}");
            match failure {
                Failure::Usage(_) => ExitCode::from(USAGE),
                Failure::Io { .. } => ExitCode::FAILURE,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("longrein-resident: it runs inside of a Linux container only");
    ExitCode::from(USAGE)
}

/// Why a part of the agent ended without success.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// It was called in a way that it does not know.
    #[error("usage: longrein-resident {0}")]
    Usage(&'static str),
    /// The system refused something.
    #[error("{what}: {error}")]
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Says what was tried when the system refuses it.
#[cfg(target_os = "linux")]
trait Trying<T> {
    fn trying(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

#[cfg(target_os = "linux")]
impl<T, E: Into<std::io::Error>> Trying<T> for Result<T, E> {
    fn trying(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| Failure::Io {
            what: what(),
            error: error.into(),
        })
    }
}
