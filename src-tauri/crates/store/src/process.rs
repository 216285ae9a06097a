//! Processes of this machine: who is alive, and ending those that have to end.

/// What tells one process from a later one with the same number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    /// When it started, in clock ticks since the machine did.
    pub start_time: u64,
    /// Its process group.
    pub group: i32,
    /// Whether it has ended and only waits to be collected.
    pub ended: bool,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{Handle, environment_has, host, members, see};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Seen;

    /// Looks at a process; `None` when there is none.
    pub(crate) fn see(pid: i32) -> Option<Seen> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, so it is skipped from the end.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Seen {
            // Fields 3, 5 and 22 of proc(5).
            ended: matches!(*fields.first()?, "Z" | "X" | "x"),
            group: fields.get(2)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
        })
    }

    /// The living processes of a group.
    pub(crate) fn members(group: i32) -> Vec<i32> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pids = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| see(*pid).is_some_and(|seen| seen.group == group && !seen.ended))
            .collect()
    }

    /// Whether a process was started with this entry (`NAME=value`) in its environment.
    pub(crate) fn environment_has(pid: i32, entry: &str) -> bool {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
            return false;
        };
        environment
            .split(|byte| *byte == 0)
            .any(|found| found == entry.as_bytes())
    }

    /// The name of this machine.
    pub(crate) fn host() -> String {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        name.trim().to_owned()
    }

    /// A process that can't be mistaken for a later one with the same number.
    pub(crate) struct Handle(OwnedFd);

    impl Handle {
        /// Takes hold of the process that started at `start_time`; `None` when it has ended.
        pub(crate) fn take(pid: i32, start_time: u64) -> std::io::Result<Option<Self>> {
            let Some(number) = Pid::from_raw(pid).filter(|_| pid > 0) else {
                return Ok(None);
            };
            let handle = match pidfd_open(number, PidfdFlags::empty()) {
                Ok(handle) => Self(handle),
                Err(rustix::io::Errno::SRCH) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            // Looked at only now: from here on the handle means this process and no later one.
            let same = see(pid).is_some_and(|seen| seen.start_time == start_time && !seen.ended);
            Ok(same.then_some(handle))
        }

        /// Ends it at once, stopped or not; one that has ended already is fine.
        pub(crate) fn kill(&self) -> std::io::Result<()> {
            match pidfd_send_signal(&self.0, Signal::KILL) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }

        /// Waits until it has ended, at most `limit`, and says whether it has.
        pub(crate) fn wait(&self, limit: Duration) -> std::io::Result<bool> {
            let begin = Instant::now();
            loop {
                let left = limit.saturating_sub(begin.elapsed());
                let left = Timespec {
                    tv_sec: left.as_secs() as i64,
                    tv_nsec: left.subsec_nanos().into(),
                };
                let mut ends = [PollFd::new(&self.0, PollFlags::IN)];
                match poll(&mut ends, Some(&left)) {
                    Ok(ready) => return Ok(ready > 0),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Handle, environment_has, host, members, see};

/// Elsewhere the lock alone speaks: nobody is known to be alive, and nobody is ended.
#[cfg(not(target_os = "linux"))]
mod other {
    use std::time::Duration;

    use super::Seen;

    pub(crate) fn see(_pid: i32) -> Option<Seen> {
        None
    }

    pub(crate) fn members(_group: i32) -> Vec<i32> {
        Vec::new()
    }

    pub(crate) fn environment_has(_pid: i32, _entry: &str) -> bool {
        false
    }

    pub(crate) fn host() -> String {
        String::new()
    }

    pub(crate) struct Handle;

    impl Handle {
        pub(crate) fn take(_pid: i32, _start_time: u64) -> std::io::Result<Option<Self>> {
            Err(std::io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn kill(&self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn wait(&self, _limit: Duration) -> std::io::Result<bool> {
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }
}
