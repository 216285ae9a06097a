//! Servers of drivers that are gone.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use longrein_store::groups::{MARK, groups_file, mark_value, sweep};
use longrein_store::lock::end_holder;
use longrein_store::{Store, TreeLock};
use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{Other, run_of_seed};

/// How long a process may take to be gone after it was killed.
const GONE_WAIT: Duration = Duration::from_secs(20);

/// Whether a process runs: one that only waits to be collected does not.
fn runs(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn assert_gone(pids: &[i32]) {
    let begin = Instant::now();
    while pids.iter().any(|pid| runs(*pid)) {
        assert!(begin.elapsed() < GONE_WAIT, "{pids:?} still run");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A leader that ends at once and leaves a child in its group; returns both.
fn orphan(mark: Option<&str>) -> (u32, i32) {
    let mut leader = Command::new("sh");
    leader
        .args(["-c", "sleep 600 > /dev/null & echo $!"])
        .process_group(0);
    if let Some(mark) = mark {
        leader.env(MARK, mark);
    }
    let mut leader = leader.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(leader.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    leader.wait().unwrap();
    (leader.id(), line.trim().parse().unwrap())
}

/// The number of a process that has ended.
fn dead_pid() -> u32 {
    let mut process = Command::new("true").spawn().unwrap();
    process.wait().unwrap();
    process.id()
}

struct Stranger(Child);

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ending_a_holder_ends_its_servers_and_their_children() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let mut other = Other::start("hold with servers", folder.path(), 1);
    let servers = other.ready();
    assert!(servers.iter().all(|pid| runs(*pid)));
    let holder = TreeLock::holder(folder.path(), run_of_seed(1)).unwrap();
    end_holder(folder.path(), &holder).unwrap();
    assert_gone(&servers);
    assert!(!groups_file(folder.path(), holder.pid).exists());
}

#[test]
fn a_sweep_ends_servers_of_a_driver_that_was_killed_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let mut killed = Other::start("hold with servers", folder.path(), 1);
    let mut living = Other::start("hold with servers", folder.path(), 3);
    let (orphans, servers) = (killed.ready(), living.ready());
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    sweep(folder.path()).unwrap();
    assert_gone(&orphans);
    assert!(!groups_file(folder.path(), killed.pid()).exists());
    assert!(servers.iter().all(|pid| runs(*pid)));

    living.child.kill().unwrap();
    living.child.wait().unwrap();
    sweep(folder.path()).unwrap();
    assert_gone(&servers);
}

#[test]
fn what_is_left_of_a_group_is_known_by_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let driver = dead_pid();
    let (group, server) = orphan(Some(&mark_value(driver)));
    let (strange_group, stranger) = orphan(None);
    let file = groups_file(folder.path(), driver);
    fs::write(
        &file,
        format!("{group}:1\nnonsense\n0:1\n1:1\n{strange_group}:1\n"),
    )
    .unwrap();
    sweep(folder.path()).unwrap();
    assert_gone(&[server]);
    assert!(runs(stranger), "it only has the number");
    kill_process(Pid::from_raw(stranger).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_group_whose_leader_is_another_process_now_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let mut stranger = Stranger(
        Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap(),
    );
    let file = groups_file(folder.path(), dead_pid());
    fs::write(&file, format!("{}:1\n", stranger.0.id())).unwrap();
    sweep(folder.path()).unwrap();
    assert!(stranger.0.try_wait().unwrap().is_none());
    assert!(!file.exists());
}

#[test]
fn a_sweep_removes_what_dead_processes_did_not_finish() {
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open(folder.path()).unwrap();
    let unfinished = folder.path().join("blobs/unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    let dead = unfinished.join(format!("{}-0", dead_pid()));
    let mine = unfinished.join(format!("{}-0", std::process::id()));
    for file in [&dead, &mine] {
        fs::write(file, b"half").unwrap();
    }
    sweep(folder.path()).unwrap();
    assert!(!dead.exists());
    assert!(mine.exists());
}
