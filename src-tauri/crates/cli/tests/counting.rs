//! A home with the counting server, whose effects are counted from outside of every process.

use longrein_testkit::provider::Setup;
use serde_json::json;

use crate::support::{Home, Provider, in_repository, until};

/// The counting tool's name on the wire.
pub const MARK: &str = "counter__mark";

/// A home with the counting server; its file of marks lies in the home.
pub struct Counting {
    pub home: Home,
    pub provider: Provider,
}

impl Counting {
    /// `held_after` holds the answer of `mark` after its effect.
    pub fn new(held_after: bool, setup: Setup) -> Self {
        let options: &[&str] = if held_after {
            &["--slow-gate-after", GATE]
        } else {
            &[]
        };
        Self::with(options, setup)
    }

    /// With these options of the server; `GATE` in them is the gate of this home.
    pub fn with(options: &[&str], setup: Setup) -> Self {
        let provider = Provider::start(setup);
        let home = Home::new();
        let server = in_repository("tests/fixtures/counter/counter.py");
        let marks = home.path().join("marks");
        let mut command = vec!["python3".to_owned(), path(&server), path(&marks)];
        command.extend(options.iter().map(|option| match *option {
            GATE => path(&home.path().join("gate")),
            option => option.to_owned(),
        }));
        let server = format!("\n[mcp.counter]\ncommand = {}\n", json!(command));
        home.configure(&format!("{}{server}", provider.config()));
        Self { home, provider }
    }

    pub fn agent(&self, decision: &str) -> String {
        self.home.agent(&format!(
            "[tools]\nallow = [\"counter.*\"]\n\n[[policy]]\ntool = \"counter.mark\"\ndecision = \"{decision}\"\n"
        ))
    }

    /// An agent with a tool of each repeatability, which starts without asking, and `mark`, which
    /// is asked. Needs the option `--kinds`.
    pub fn kinds(&self) -> String {
        self.home.agent(KINDS)
    }

    /// What was marked, in order.
    pub fn labels(&self) -> Vec<String> {
        let label = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        self.lines().iter().map(label).collect()
    }

    /// The lines of the file of marks: a label and a key each.
    pub fn lines(&self) -> Vec<String> {
        let marks = std::fs::read_to_string(self.home.path().join("marks"));
        marks
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Begins a new file of marks.
    pub fn forget(&self) {
        std::fs::write(self.home.path().join("marks"), "").unwrap();
    }

    pub fn marks(&self) -> usize {
        self.labels().len()
    }

    /// Waits until a call is held at the gate: before its effect or after it, as the server was
    /// told.
    pub fn held(&self) {
        let waiting = self.home.path().join("gate.waiting");
        until("the mark", || waiting.exists().then_some(()));
    }

    pub fn let_go(&self) {
        std::fs::write(self.home.path().join("gate"), "").unwrap();
    }

    /// Whether a server of this home lives.
    pub fn server_lives(&self) -> bool {
        let marks = path(&self.home.path().join("marks"));
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines =
            processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| {
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains("counter.py") && line.contains(&marks)
        })
    }
}

/// In the options of the server: the gate of this home.
pub const GATE: &str = "GATE";

const KINDS: &str = r#"
[tools]
allow = ["counter.*"]

[tools."counter.mark_again"]
effect = "workspace"
repeat = "repeatable"

[tools."counter.mark_keyed"]
effect = "workspace"
repeat = "keyed"
recovery = { key_argument = "key" }

[tools."counter.mark_asked"]
effect = "workspace"
repeat = "queryable"
recovery = { status_tool = "counter.status" }

[tools."counter.status"]
effect = "read"

[tools."counter.mark"]
effect = "irreversible"
repeat = "once"
recovery = { undo_tool = "counter.unmark", undo_argument = "receipt" }

[tools."counter.unmark"]
effect = "irreversible"

[[policy]]
tool = "counter.mark"
decision = "ask"
"#;

fn path(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
