//! What holds where this runs, for whoever runs it: `measure FOLDER…` prints JSON. The app reads it
//! from a probe, since what an engine says about its limits is not always so.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::{Failure, Trying};

/// Above this a limit is none: version 1 of control groups says "no limit" with a huge number.
const NO_LIMIT: u64 = 1 << 60;

#[derive(Serialize)]
struct Measured {
    user: u32,
    memory_bytes: Option<u64>,
    processes: Option<u64>,
    cpus_milli: Option<u64>,
    seccomp: bool,
    no_new_privileges: bool,
    capabilities: String,
    /// Unknown where the image has no program to try with.
    user_namespaces: Option<bool>,
    root_writable: bool,
    interfaces: Vec<String>,
    control_groups: u8,
    writable: Vec<bool>,
    openable: Vec<bool>,
}

pub(crate) fn main(folders: &[OsString]) -> Result<(), Failure> {
    let status =
        fs::read_to_string("/proc/self/status").trying(|| "reading the status".to_owned())?;
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|value| value.trim().to_owned())
            .unwrap_or_default()
    };
    let groups = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        2
    } else {
        1
    };
    let measured = Measured {
        user: rustix::process::geteuid().as_raw(),
        memory_bytes: limit("memory.max", "memory/memory.limit_in_bytes"),
        processes: limit("pids.max", "pids/pids.max"),
        cpus_milli: cpus(),
        seccomp: field("Seccomp:") == "2",
        no_new_privileges: field("NoNewPrivs:") == "1",
        capabilities: field("CapEff:"),
        interfaces: interfaces(),
        root_writable: !is_read_only_root(),
        control_groups: groups,
        writable: folders
            .iter()
            .map(|folder| can_write(Path::new(folder)))
            .collect(),
        openable: folders
            .iter()
            .map(|folder| fs::read_dir(folder).is_ok())
            .collect(),
        user_namespaces: user_namespaces(),
    };
    let json = serde_json::to_string(&measured).map_err(std::io::Error::from);
    println!(
        "{}",
        json.trying(|| "writing what was measured".to_owned())?
    );
    Ok(())
}

/// Whether a user namespace of one's own can be made, in which one would have every capability.
fn user_namespaces() -> Option<bool> {
    let mut command = Command::new("unshare");
    command
        .args(["-U", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().ok().map(|status| status.success())
}

fn group_file(second: &str, first: &str) -> Option<String> {
    fs::read_to_string(format!("/sys/fs/cgroup/{second}"))
        .or_else(|_| fs::read_to_string(format!("/sys/fs/cgroup/{first}")))
        .ok()
}

fn limit(second: &str, first: &str) -> Option<u64> {
    group_file(second, first)?
        .trim()
        .parse()
        .ok()
        .filter(|limit| *limit < NO_LIMIT)
}

/// Thousandths of a processor.
fn cpus() -> Option<u64> {
    if let Ok(text) = fs::read_to_string("/sys/fs/cgroup/cpu.max") {
        let (quota, period) = text.trim().split_once(' ')?;
        return milli(quota.parse().ok()?, period.parse().ok()?);
    }
    let read = |name: &str| {
        let text = fs::read_to_string(format!("/sys/fs/cgroup/cpu/{name}"));
        text.ok().and_then(|text| text.trim().parse::<u64>().ok())
    };
    milli(read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
}

fn milli(quota: u64, period: u64) -> Option<u64> {
    quota.checked_mul(1000)?.checked_div(period)
}

fn can_write(folder: &Path) -> bool {
    let probe = folder.join(format!(".longrein-probe-{}", std::process::id()));
    let written = fs::write(&probe, b"x").is_ok();
    written && fs::remove_file(&probe).is_ok()
}

/// What is mounted as the root, by the options of the mount that lies on top: that somebody can't
/// write there may have other reasons.
fn is_read_only_root() -> bool {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    read_only_root(&text)
}

fn read_only_root(mounts: &str) -> bool {
    let options = mounts.lines().rev().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        (fields.next() == Some("/"))
            .then(|| fields.next())
            .flatten()
    });
    options.is_some_and(|options| options.split(',').any(|option| option == "ro"))
}

fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| name != "lo")
        .collect()
}

/// How often the system has killed a process of this container for its memory.
pub(crate) fn memory_kills() -> u64 {
    let text = group_file("memory.events", "memory/memory.oom_control").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("oom_kill "))
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_on_top_says_whether_the_root_can_be_written_to() {
        let below = "1 0 0:1 / / rw,relatime - overlay overlay rw\n";
        let above =
            "2 1 0:2 / / ro,relatime - overlay overlay rw\n3 2 0:3 / /tmp rw - tmpfs t rw\n";
        assert!(!read_only_root(below));
        assert!(read_only_root(&format!("{below}{above}")));
        assert!(!read_only_root(""));
    }
}
