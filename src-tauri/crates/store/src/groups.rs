//! Process groups that a driver started (its servers), noted in `locks/<pid>.groups`, so that
//! whoever comes after it can end them: one line `group:start time of its leader` each.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::blobs::UNFINISHED;
use crate::fault;
use crate::file_system;
use crate::log::LogError;
use crate::process::{self, Handle};

/// The variable that every server is started with. When the leader of a group has ended, this
/// tells what is left of it from a stranger who was given the same number.
pub const MARK: &str = "LONGREIN_SERVER_OF";

/// The most groups that a file is read for.
const GROUPS_LIMIT: usize = 1_024;

/// How often a group is walked, and how long each killed member may take to end.
const ROUNDS_LIMIT: u32 = 8;
const MEMBER_WAIT: Duration = Duration::from_secs(2);

/// The value of [`MARK`] for servers of the process `pid`.
pub fn mark_value(pid: u32) -> String {
    pid.to_string()
}

/// Where the groups of a process are noted.
pub fn groups_file(data_dir: &Path, pid: u32) -> PathBuf {
    data_dir.join("locks").join(format!("{pid}.groups"))
}

/// Notes a group whose leader this process has just started; before anything is asked of it.
///
/// # Errors
/// Those of the file system, and `NotFound` when the leader has ended already.
pub fn note_group(file: &Path, group: u32) -> io::Result<()> {
    let leader = i32::try_from(group).ok().and_then(process::see);
    let leader = leader.ok_or(io::ErrorKind::NotFound)?;
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One write of a short line: appends of several threads don't mix.
    options
        .open(file)?
        .write_all(format!("{group}:{}\n", leader.start_time).as_bytes())
}

/// A group as its line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Group {
    number: i32,
    leader_start_time: u64,
}

impl Group {
    fn parse(line: &str) -> Option<Self> {
        let (number, start_time) = line.trim().split_once(':')?;
        let group = Self {
            number: number.parse().ok()?,
            leader_start_time: start_time.parse().ok()?,
        };
        // 0 and 1 would mean ourselves and everyone.
        (group.number > 1).then_some(group)
    }

    /// Whether its leader is the process that it was.
    fn leader_lives(&self) -> bool {
        process::see(self.number).is_some_and(|seen| seen.start_time == self.leader_start_time)
    }
}

/// What is noted of a process, looked at while it is known to be the one that wrote it.
pub(crate) struct Noted {
    file: PathBuf,
    pid: u32,
    /// Each with whether its leader was there.
    groups: Vec<(Group, bool)>,
}

impl Noted {
    /// Reads the groups of a process; none when it noted none.
    pub(crate) fn of(data_dir: &Path, pid: u32) -> Self {
        let file = groups_file(data_dir, pid);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let groups = text.lines().filter_map(Group::parse).take(GROUPS_LIMIT);
        Self {
            groups: groups.map(|group| (group, group.leader_lives())).collect(),
            file,
            pid,
        }
    }

    /// Whether the process that has this number now is younger than a server that it is said
    /// to have started, so that it must be another one.
    fn number_was_given_again(&self) -> bool {
        let now = i32::try_from(self.pid).ok().and_then(process::see);
        now.is_none_or(|now| {
            now.ended
                || self
                    .groups
                    .iter()
                    .any(|(group, _)| group.leader_start_time < now.start_time)
        })
    }

    /// Ends every process of the groups, waits until they are gone, and forgets them.
    pub(crate) fn end(self) -> Result<(), LogError> {
        for (group, leader_was_there) in &self.groups {
            self.end_group(group, *leader_was_there);
        }
        let removed = fs::remove_file(&self.file).or_else(file_system::if_missing);
        removed.map_err(|error| fault::file(&self.file, &error))
    }

    fn end_group(&self, group: &Group, leader_was_there: bool) {
        let ours = leader_was_there || group.leader_lives();
        let mark = format!("{MARK}={}", mark_value(self.pid));
        // More than one round, since a process may have a child while its group is walked.
        for _ in 0..ROUNDS_LIMIT {
            let members = process::members(group.number);
            let killed: Vec<Handle> = members
                .into_iter()
                .filter(|pid| ours || process::environment_has(*pid, &mark))
                .filter_map(|pid| kill_member(pid, group.number))
                .collect();
            if killed.is_empty() {
                return;
            }
            for member in killed {
                // One that hangs in the kernel does nothing more; it is not waited for longer.
                let _ = member.wait(MEMBER_WAIT);
            }
        }
    }
}

/// Ends one member; looked at once more under its handle, since its number may be another's now.
fn kill_member(pid: i32, group: i32) -> Option<Handle> {
    let seen = process::see(pid).filter(|seen| seen.group == group)?;
    // One that can't be ended (another user's) was not started by us.
    let member = Handle::take(pid, seen.start_time).ok().flatten()?;
    member.kill().is_ok().then_some(member)
}

/// Clears away what processes that have ended left behind: their servers, and files that they
/// did not finish. Called at the start, before anything is driven.
///
/// # Errors
/// [`LogError::Io`] when the folder can't be read; what can be swept is swept.
pub fn sweep(data_dir: &Path) -> Result<(), LogError> {
    // Who may only read leaves it to who may write.
    if file_system::is_read_only(data_dir) {
        return Ok(());
    }
    let mut outcome = Ok(());
    for (name, _) in files(&data_dir.join("locks"))? {
        let Some(pid) = name
            .strip_suffix(".groups")
            .and_then(|pid| pid.parse().ok())
        else {
            continue;
        };
        let noted = Noted::of(data_dir, pid);
        if noted.number_was_given_again() {
            outcome = outcome.and(noted.end());
        }
    }
    let mut unfinished = files(&data_dir.join("blobs").join(UNFINISHED))?;
    unfinished.extend(files(&data_dir.join("files").join(UNFINISHED))?);
    for (name, path) in unfinished {
        let pid = name
            .split_once('-')
            .and_then(|(pid, _)| pid.parse::<i32>().ok());
        if pid.is_none_or(|pid| process::see(pid).is_none_or(|seen| seen.ended)) {
            let removed = fs::remove_file(&path).or_else(file_system::if_missing);
            outcome = outcome.and(removed.map_err(|error| fault::file(&path, &error)));
        }
    }
    outcome
}

fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, LogError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault::file(folder, &error)),
    };
    let named = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
    Ok(entries.flatten().filter_map(named).collect())
}
