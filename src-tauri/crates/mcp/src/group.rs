//! The process group of a server. It ends when its connection ends, whatever happens to us: a
//! watchdog outlives this process by a moment and ends the group. (The store's list of groups is
//! there for what even that missed.)

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Waits until its standard input ends, which the kernel does for us when this process dies in any
/// way, and then ends the group. It gets the group only after the server has been started, and
/// ends at once when it is never told one. It is a process rather than `PR_SET_PDEATHSIG`, because
/// that signal reaches only the server and not what the server started, and is sent already when
/// the *thread* that started the server ends.
const WATCHDOG: &str = r#"
trap "" HUP INT TERM
read -r group || exit 0
read -r _
kill -s KILL -- "-$group"
"#;

/// Starts a watchdog that knows no group yet.
pub(crate) fn start_watchdog() -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", WATCHDOG])
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// The process group of one server, alive until [`Group::end`] or drop.
pub(crate) struct Group {
    leader: Pid,
    /// Gone once the group was ended, so that an id that is used again is never signalled.
    watchdog: Mutex<Option<Child>>,
}

impl Group {
    /// Takes over the group that `leader` leads and hands it to the watchdog.
    pub(crate) fn guard(leader: Pid, watchdog: Child) -> Self {
        let group = Self {
            leader,
            watchdog: Mutex::new(Some(watchdog)),
        };
        group.tell_watchdog();
        group
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.leader.as_raw_nonzero().get().cast_unsigned()
    }

    fn tell_watchdog(&self) {
        let mut watchdog = self.watchdog.lock().unwrap_or_else(PoisonError::into_inner);
        let stdin = watchdog.as_mut().and_then(|child| child.stdin.as_mut());
        let told = stdin.map(|stdin| writeln!(stdin, "{}", self.leader.as_raw_nonzero()));
        if !matches!(told, Some(Ok(()))) {
            // The list of groups is still there for the next start.
            tracing::warn!(group = %self.leader.as_raw_nonzero(), "the watchdog of a server is gone");
        }
    }

    /// Kills every process of the group. Later calls do nothing. Must first be called before the
    /// leader is reaped: until then its id can't belong to anybody else.
    pub(crate) fn end(&self) {
        let mut watchdog = self.watchdog.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut watchdog) = watchdog.take() else {
            return;
        };
        if let Err(error) = kill_process_group(self.leader, Signal::KILL)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(%error, "the process group of a server can't be ended");
        }
        // Killed before its input ends, so that it does not signal the group a second time.
        let ended = watchdog.kill().and_then(|()| watchdog.wait());
        if let Err(error) = ended {
            tracing::warn!(%error, "the watchdog of a server can't be ended");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_ended_once_and_the_second_time_nobody_is() {
        let mut child = Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap();
        let group = Group::guard(Pid::from_child(&child), start_watchdog().unwrap());
        assert!(child.try_wait().unwrap().is_none());
        group.end();
        assert!(!child.wait().unwrap().success());
        group.end();
    }
}
