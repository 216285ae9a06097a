//! Several processes on one data folder. The others are this test program itself, started with
//! a task in its environment.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use longrein_protocol::RunId;
use longrein_store::groups::{MARK, groups_file, mark_value, note_group};
use longrein_store::{Store, TreeLock};

use crate::sample::Sample;
use crate::support::{TOPIC, append, block_on, go_on};

const TASK: &str = "LONGREIN_TEST_TASK";
const FOLDER: &str = "LONGREIN_TEST_FOLDER";
const SEED: &str = "LONGREIN_TEST_SEED";

/// What another process says when it is ready, before its numbers.
const READY: &str = "ready:";

/// How many steps each of several processes takes.
const STEPS: u32 = 40;

/// Another process; ended when it is dropped.
pub struct Other {
    pub child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Other {
    /// Starts this program with a task.
    pub fn start(task: &str, folder: &Path, seed: u64) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([
            "--exact",
            "processes::what_another_process_does",
            "--nocapture",
        ]);
        command
            .env(TASK, task)
            .env(FOLDER, folder)
            .env(SEED, seed.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until it says that it is ready, and returns what it says with it.
    pub fn ready(&mut self) -> Vec<i32> {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            // The test harness writes on the same line.
            if let Some((_, numbers)) = line.split_once(READY) {
                let numbers = numbers.split_whitespace().map(|number| number.parse());
                return numbers.collect::<Result<_, _>>().unwrap();
            }
            line.clear();
        }
        panic!("the other process ended before it was ready");
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The run that another process with this seed drives.
pub fn run_of_seed(seed: u64) -> RunId {
    Sample::new(seed, TOPIC).run
}

/// Nothing, unless this process was started by another test.
#[test]
fn what_another_process_does() {
    let Ok(task) = env::var(TASK) else { return };
    let folder = env::var(FOLDER).unwrap();
    let seed = env::var(SEED).unwrap().parse().unwrap();
    let store = Store::open(&folder).unwrap();
    match task.as_str() {
        "steps" => block_on(take_steps(&store, seed, STEPS)),
        "steps without end" => block_on(take_steps(&store, seed, u32::MAX)),
        "hold" => block_on(hold(&store, seed)),
        "hold with servers" => {
            let (mut server, pids) = start_server(Path::new(&folder));
            let _lock = block_on(TreeLock::acquire(&store, run_of_seed(seed))).unwrap();
            println!("{READY} {} {}", pids[0], pids[1]);
            until_told();
            server.kill().unwrap();
            server.wait().unwrap();
        }
        other => panic!("no task is called {other}"),
    }
}

async fn take_steps(store: &Store, seed: u64, steps: u32) {
    let mut sample = Sample::new(seed, TOPIC);
    let (_lock, fence) = TreeLock::acquire(store, sample.run).await.unwrap();
    println!("{READY}");
    let events = sample.beginning();
    let first = append(fence, &sample, events);
    longrein_store::Log::append(store, first).await.unwrap();
    for _ in 0..steps {
        go_on(store, &mut sample, fence, 1).await;
    }
}

async fn hold(store: &Store, seed: u64) {
    let (_lock, _) = TreeLock::acquire(store, run_of_seed(seed)).await.unwrap();
    let (_second, _) = TreeLock::acquire(store, run_of_seed(seed + 1))
        .await
        .unwrap();
    println!("{READY}");
    until_told();
}

/// Waits until the other side closes our input or ends us.
fn until_told() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Starts a server with a child of its own, in a group of its own, and notes it.
fn start_server(folder: &Path) -> (Child, [i32; 2]) {
    let mut server = Command::new("sh");
    server.args(["-c", "sleep 600 > /dev/null & echo $!; wait"]);
    server
        .env(MARK, mark_value(std::process::id()))
        .process_group(0);
    let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
    let file = groups_file(folder, std::process::id());
    note_group(&file, server.id()).unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pids = [
        server.id().try_into().unwrap(),
        line.trim().parse().unwrap(),
    ];
    (server, pids)
}

#[test]
fn four_processes_append_to_their_trees_at_once_and_every_chain_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut others: Vec<Other> = (0..4)
        .map(|seed| Other::start("steps", folder.path(), seed))
        .collect();
    for other in &mut others {
        other.ready();
        // What the harness says after that has to go somewhere.
        std::io::copy(&mut other.output, &mut std::io::sink()).unwrap();
        assert!(other.child.wait().unwrap().success());
    }
    let store = Store::open(folder.path()).unwrap();
    let report = block_on(store.check(None)).unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(
        (report.runs, report.events),
        (4, 4 * (2 + 7 * u64::from(STEPS)))
    );
}

#[test]
fn a_process_that_is_killed_in_the_middle_leaves_whole_steps() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..5 {
        let mut other = Other::start("steps without end", folder.path(), seed);
        other.ready();
        let store = Store::open(folder.path()).unwrap();
        let mut changes = store.watch().unwrap();
        block_on(async {
            // Some commits later than the last time.
            for _ in 0..=seed {
                changes.changed().await.unwrap();
            }
        });
        other.child.kill().unwrap();
        other.child.wait().unwrap();
        let report = block_on(store.check(None)).unwrap();
        assert!(report.is_whole(), "{report:?}");
        block_on(TreeLock::acquire(&store, run_of_seed(seed))).unwrap();
    }
}
