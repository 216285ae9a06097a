//! Keeping a server away from what is not its business: the data folder with the configuration and
//! the keys in it, and the session bus, over which it could ask the keychain.
//!
//! Under bubblewrap it gets the file system as the person has it, with those places empty, and a
//! process namespace of its own, so that it sees no process but its own and nothing that it
//! started outlives it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What keeps servers apart.
const BUBBLEWRAP: &str = "bwrap";

/// How long the look whether it works may take.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// How often that look is looked after.
const LOOK_POLL: Duration = Duration::from_millis(5);

/// What a shell, and bubblewrap, add to the number of a signal that ended a program.
const SIGNAL_STATUS: i32 = 128;

/// The highest number of a signal.
const SIGNALS_MAX: i32 = 64;

/// Whether servers of this machine are confined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Confinement {
    /// They are, by this program.
    Bubblewrap(PathBuf),
    /// They are not; why, and what would help, in a sentence.
    None(String),
}

impl Confinement {
    /// What this machine offers. Looked at once.
    pub fn offered() -> Self {
        offered()
    }
}

/// What this machine offers. Looked at once.
pub(crate) fn offered() -> Confinement {
    static OFFERED: OnceLock<Confinement> = OnceLock::new();
    OFFERED.get_or_init(look).clone()
}

fn look() -> Confinement {
    if !cfg!(target_os = "linux") {
        return Confinement::None(
            "MCP servers are not confined: this system offers no way that this version knows."
                .to_owned(),
        );
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(BUBBLEWRAP))
        .find(|program| program.is_file());
    let Some(program) = found else {
        return Confinement::None(
            "MCP servers are not confined, because bubblewrap is missing. Install the package bubblewrap."
                .to_owned(),
        );
    };
    if works(&program) {
        Confinement::Bubblewrap(program)
    } else {
        Confinement::None(format!(
            "MCP servers are not confined, because {} does not work on this system (it needs user namespaces).",
            program.display()
        ))
    }
}

fn works(program: &Path) -> bool {
    let started = Command::new(program)
        .args(arguments(&[], Path::new("/")))
        .args(["--", "/bin/sh", "-c", "exit 0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        return false;
    };
    let limit = Instant::now() + LOOK_LIMIT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < limit => std::thread::sleep(LOOK_POLL),
            _ => {
                let _ = child.kill().and_then(|()| child.wait());
                return false;
            }
        }
    }
}

/// What bubblewrap is told. The server stays in the process group that it was started in, so that
/// ending the group ends it: not `--new-session`, and not `--die-with-parent`, which goes by the
/// thread that started it. Its terminal is taken away by hiding the device instead.
pub(crate) fn arguments(hidden: &[PathBuf], folder: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["--bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        .map(OsString::from)
        .into();
    let mut pair = |flag: &str, path: &Path| {
        arguments.push(flag.into());
        arguments.push(path.into());
    };
    for place in hidden.iter().cloned().chain(session_folders()) {
        // A place that is not there has nothing to hide, and can't be covered.
        let Ok(real) = place.canonicalize() else {
            continue;
        };
        if real.is_dir() && !folder.starts_with(&real) && real.parent().is_some() {
            pair("--tmpfs", &real);
        }
    }
    for socket in session_sockets() {
        arguments.extend(["--ro-bind", "/dev/null"].map(OsString::from));
        arguments.push(socket.into());
    }
    arguments.extend(["--ro-bind", "/dev/null", "/dev/tty"].map(OsString::from));
    arguments.extend(["--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"].map(OsString::from));
    arguments.push("--chdir".into());
    arguments.push(folder.into());
    arguments
}

/// Where the session bus, the keyring and their like have their sockets.
fn session_folders() -> Vec<PathBuf> {
    let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    #[cfg(unix)]
    let usual = Some(PathBuf::from(format!(
        "/run/user/{}",
        rustix::process::getuid().as_raw()
    )));
    #[cfg(not(unix))]
    let usual = None;
    given.into_iter().chain(usual).collect()
}

/// The session bus where it has an address of its own.
fn session_sockets() -> Vec<PathBuf> {
    let address = std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap_or_default();
    let folders: Vec<PathBuf> = session_folders()
        .into_iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .collect();
    address
        .split([';', ','])
        .filter_map(|part| part.trim_start_matches("unix:").strip_prefix("path="))
        .filter_map(|path| Path::new(path).canonicalize().ok())
        .filter(|path| !folders.iter().any(|folder| path.starts_with(folder)))
        .collect()
}

/// How a program ended. Bubblewrap tells the signal that ended what it ran as a number.
pub(crate) fn in_words(status: ExitStatus) -> String {
    let signal = status
        .code()
        .map(|code| code - SIGNAL_STATUS)
        .filter(|signal| (1..=SIGNALS_MAX).contains(signal));
    match (offered(), signal) {
        (Confinement::Bubblewrap(_), Some(signal)) => format!("signal: {signal}"),
        _ => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_covered_and_the_workspace_never_is() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let work = folder.path().join("work");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        let hidden = [data.clone(), folder.path().to_owned(), data.join("missing")];
        let told = arguments(&hidden, &work.canonicalize().unwrap());
        let covered: Vec<PathBuf> = told
            .windows(2)
            .filter(|pair| pair[0] == "--tmpfs")
            .map(|pair| PathBuf::from(&pair[1]))
            .collect();
        assert!(covered.contains(&data.canonicalize().unwrap()));
        assert!(!covered.contains(&folder.path().canonicalize().unwrap()));
    }
}
