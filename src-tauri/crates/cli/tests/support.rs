//! A home for the command, with everything that it may touch in one folder that goes away.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use longrein_testkit::provider::{MockProvider, Setup};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long anything that a test waits for may take before it fails.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked for.
const POLL: Duration = Duration::from_millis(10);

/// The model of the agents that tests write.
pub const MODEL: &str = "local/any";

/// An engine that is named and not there.
pub const NO_ENGINE: &str = "unix:///nowhere/at-all.sock";

/// The lines of a configuration by which boxes are made in this way.
pub fn sandbox(engine: &str) -> String {
    format!("\n[sandbox]\nengine = \"{engine}\"\n")
}

/// Waits until something can be seen.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "{what} did not come about within {LIMIT:?}"
        );
        thread::sleep(POLL);
    }
}

/// A provider on a free port, with a runtime of its own.
pub struct Provider {
    pub mock: MockProvider,
    runtime: Runtime,
}

impl Provider {
    pub fn start(setup: Setup) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mock = runtime.block_on(MockProvider::start(setup)).unwrap();
        Self { mock, runtime }
    }

    /// Waits until `count` replies are held at the gate, or have passed it.
    pub fn held(&self, count: u32) {
        self.runtime.block_on(self.mock.gate().reached(count));
    }

    /// The lines of a configuration.
    pub fn config(&self) -> String {
        config(&self.mock.base_url())
    }
}

pub fn config(base_url: &str) -> String {
    format!("[providers.local]\nformat = \"openai-chat\"\nbase_url = \"{base_url}\"\n")
}

/// Everything that a command may touch.
pub struct Home {
    folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(home.data()).unwrap();
        home
    }

    /// A home that knows a provider.
    pub fn with(provider: &Provider) -> Self {
        let home = Self::new();
        home.configure(&provider.config());
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn database(&self) -> PathBuf {
        self.data().join("longrein.db")
    }

    pub fn configure(&self, config: &str) {
        fs::write(self.data().join("config.toml"), config).unwrap();
    }

    /// Writes a file of this home and gives its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// An agent that has the file tools and these further lines.
    pub fn agent(&self, lines: &str) -> String {
        let text = format!("name = \"test\"\n\n[model]\nuse = [\"{MODEL}\"]\n\n{lines}");
        self.write("test.agent.toml", &text)
    }

    /// The command, on this home alone.
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_on(&self.data(), words)
    }

    pub fn command_on(&self, data: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_longrein"));
        command
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("LONGREIN_HOME", data)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, words: &[&str]) -> Outcome {
        self.spawn(words).outcome()
    }

    /// Starts the command.
    pub fn spawn(&self, words: &[&str]) -> Running {
        Running::start(self.command(words))
    }

    /// The runs of the list, newest first, without children.
    pub fn runs(&self) -> Vec<Value> {
        // More than any test begins; the command's own default is a screenful.
        let listed = self.run(&["runs", "--json", "--limit", "1000"]);
        assert_eq!(listed.status, 0, "{listed}");
        listed.json()
    }

    /// The only run.
    pub fn only_run(&self) -> String {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0]["run"].as_str().unwrap().to_owned()
    }

    /// The events of a run.
    pub fn events(&self, run: &str) -> Vec<Value> {
        let shown = self.run(&["show", run, "--json"]);
        assert_eq!(shown.status, 0, "{shown}");
        shown.json()
    }

    /// The events of the children of a run, in the order in which they were begun.
    pub fn events_of_children(&self, run: &[Value]) -> Vec<Vec<Value>> {
        let spawned = of_type(run, "child.spawned").into_iter();
        let children = spawned.map(|spawned| spawned["child"].as_str().unwrap().to_owned());
        children.map(|child| self.events(&child)).collect()
    }

    /// Checks that every chain of this home is whole, and that every run can be derived again.
    pub fn assert_whole(&self) {
        let derived = self.run(&["replay", "--verify"]);
        assert_eq!(derived.status, 0, "{derived}");
        let checked = self.run(&["log", "check"]);
        assert_eq!(checked.status, 0, "{checked}");
        assert!(checked.out.contains("every chain is whole"), "{checked}");
    }
}

/// What a command wrote, and how it ended.
#[derive(Debug)]
pub struct Outcome {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "status {}\n--- out\n{}--- err\n{}",
            self.status, self.out, self.err
        )
    }
}

impl Outcome {
    /// Each line of standard output as JSON.
    pub fn json(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// The run that it was about.
    pub fn run_id(&self) -> String {
        let mut lines = self.err.lines().chain(self.out.lines());
        lines
            .find_map(run_in)
            .unwrap_or_else(|| panic!("no run is named: {self}"))
    }

    /// The value behind a label of the summary.
    pub fn fact(&self, label: &str) -> String {
        let line = self
            .out
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(label));
        line.unwrap_or_else(|| panic!("no {label}: {self}"))
            .trim()
            .to_owned()
    }
}

fn run_in(line: &str) -> Option<String> {
    Some(line.trim().strip_prefix("run")?.trim().to_owned()).filter(|run| run.len() == 26)
}

/// A command that runs. It is killed when it is dropped.
pub struct Running {
    child: Child,
    out: Reader,
    err: Reader,
}

struct Reader {
    text: Arc<Mutex<String>>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn of(stream: impl std::io::Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let shared = text.clone();
        let thread = thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut bytes = Vec::new();
            while stream
                .read_until(b'\n', &mut bytes)
                .is_ok_and(|read| read > 0)
            {
                let mut text = shared.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&String::from_utf8_lossy(&bytes));
                bytes.clear();
            }
            // What follows a broken read is of no use to anybody.
            let _ = stream.read_to_end(&mut bytes);
        });
        Self { text, thread }
    }

    fn so_far(&self) -> String {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = Reader::of(child.stdout.take().unwrap());
        let err = Reader::of(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Standard output until now.
    pub fn out(&self) -> String {
        self.out.so_far()
    }

    /// Standard error until now.
    pub fn err(&self) -> String {
        self.err.so_far()
    }

    /// The run that it drives, as soon as it says so.
    pub fn run_id(&self) -> String {
        until("the run's id", || self.err().lines().find_map(run_in))
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn outcome(mut self) -> Outcome {
        let status = self.wait();
        let child = self.child.id();
        until("the end of its output", || {
            let done = self.out.thread.is_finished() && self.err.thread.is_finished();
            done.then_some(())
        });
        let (out, err) = (self.out(), self.err());
        let status = status
            .code()
            .unwrap_or_else(|| panic!("{child} was killed: {status} {err}"));
        Outcome { status, out, err }
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end, whatever it is.
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() > deadline {
                panic!(
                    "the command did not end within {LIMIT:?}: {}{}",
                    self.out(),
                    self.err()
                );
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended can't be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file of the repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .join(path)
}

/// The types of events, in order.
pub fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

/// The events of a type.
pub fn of_type<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

/// Checks that the events of a run are numbered from 1 without gap.
pub fn assert_gapless(events: &[Value]) {
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], place + 1, "{event}");
        assert_eq!(event["run"], events[0]["run"], "{event}");
    }
}
