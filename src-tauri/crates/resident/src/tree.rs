//! Processes by descent. A supervisor adopts whatever a command leaves behind, so that descent
//! names all that a command started, whatever groups and sessions it made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process};

/// How often a tree is looked at again before it is given up; with the pause, two seconds.
const PASSES: usize = 400;
/// How long the dying are given between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// How often one look stops what is new, before it kills: what forks faster than it is found must
/// be still first.
const STOPS: usize = 16;

/// A living process, by its id, and whether it only waits to be reaped.
struct Process {
    parent: i32,
    is_dead: bool,
}

/// All processes that can be seen.
fn processes() -> io::Result<BTreeMap<i32, Process>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(entry) = entry else { continue };
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // It may have ended in between.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if let Some(process) = parsed(&stat) {
            found.insert(pid, process);
        }
    }
    Ok(found)
}

/// State and parent stand behind the name, which may hold anything, parentheses too.
fn parsed(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Some(Process {
        parent,
        is_dead: matches!(state, "Z" | "X"),
    })
}

/// The living descendants of a process, without those of `spared`.
fn descendants(of: i32, spared: &BTreeSet<i32>) -> io::Result<BTreeSet<i32>> {
    let all = processes()?;
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, process) in &all {
        children.entry(process.parent).or_default().push(*pid);
    }
    let mut found = BTreeSet::new();
    let mut open = vec![of];
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if !spared.contains(child) && found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found.retain(|pid| all.get(pid).is_some_and(|process| !process.is_dead));
    Ok(found)
}

fn signal(pids: &BTreeSet<i32>, signal: Signal) {
    for pid in pids.iter().copied().filter_map(Pid::from_raw) {
        // What is gone already needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Reaps every child that has ended, and tells of each; says whether one may be left.
pub(crate) fn reap(mut tell: impl FnMut(Pid, rustix::process::WaitStatus)) -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => tell(pid, status),
            Err(rustix::io::Errno::CHILD) => return false,
            Ok(None) | Err(_) => return true,
        }
    }
}

/// How many living processes there are beside this one: where it is process 1, what is left inside.
pub(crate) fn others() -> u32 {
    let this = getpid().as_raw_nonzero().get();
    let all = processes().unwrap_or_default();
    let living = all
        .iter()
        .filter(|(pid, one)| **pid != this && !one.is_dead);
    u32::try_from(living.count()).unwrap_or(u32::MAX)
}

/// Kills all descendants of this process but those below `spared`, and says how many it found
/// and whether none is left. `halt` is called when they are more than can be stopped one by one.
pub(crate) fn kill_descendants(
    spared: &BTreeSet<i32>,
    mut halt: impl FnMut(),
    mut tell: impl FnMut(Pid, rustix::process::WaitStatus),
) -> (u32, bool) {
    let this = getpid().as_raw_nonzero().get();
    // Whoever adopts orphans and has no child has no descendant; most commands leave nothing, and
    // there may be many processes to look through.
    if !reap(&mut tell) {
        return (0, true);
    }
    let mut killed = BTreeSet::new();
    for _ in 0..PASSES {
        let Ok(mut found) = descendants(this, spared) else {
            break;
        };
        if found.is_empty() {
            reap(&mut tell);
            return (u32::try_from(killed.len()).unwrap_or(u32::MAX), true);
        }
        let mut is_still = false;
        for _ in 0..STOPS {
            signal(&found, Signal::STOP);
            let Ok(now) = descendants(this, spared) else {
                break;
            };
            is_still = now.is_subset(&found);
            if is_still {
                break;
            }
            found.extend(now);
        }
        if !is_still {
            halt();
        }
        signal(&found, Signal::KILL);
        killed.extend(found);
        reap(&mut tell);
        std::thread::sleep(PAUSE);
    }
    (u32::try_from(killed.len()).unwrap_or(u32::MAX), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_hides_no_parent() {
        let process = parsed("12 (a) S 1) R 7 12 12 0").expect("it is a stat");
        assert_eq!((process.parent, process.is_dead), (7, false));
        assert!(parsed("12 (x) Z 7 12").is_some_and(|process| process.is_dead));
        assert!(parsed("12 (x").is_none());
    }
}
