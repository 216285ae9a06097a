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
        let provider = Provider::start(setup);
        let home = Home::new();
        let server = in_repository("tests/fixtures/counter/counter.py");
        let marks = home.path().join("marks");
        let mut command = vec!["python3".to_owned(), path(&server), path(&marks)];
        if held_after {
            command.extend([
                "--slow-gate-after".to_owned(),
                path(&home.path().join("gate")),
            ]);
        }
        let server = format!("\n[mcp.counter]\ncommand = {}\n", json!(command));
        home.configure(&format!("{}{server}", provider.config()));
        Self { home, provider }
    }

    pub fn agent(&self, decision: &str) -> String {
        self.home.agent(&format!(
            "[tools]\nallow = [\"counter.*\"]\n\n[[policy]]\ntool = \"counter.mark\"\ndecision = \"{decision}\"\n"
        ))
    }

    /// What was marked, in order.
    pub fn labels(&self) -> Vec<String> {
        let marks = std::fs::read_to_string(self.home.path().join("marks"));
        let label = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        marks.unwrap_or_default().lines().map(label).collect()
    }

    /// Begins a new file of marks.
    pub fn forget(&self) {
        std::fs::write(self.home.path().join("marks"), "").unwrap();
    }

    pub fn marks(&self) -> usize {
        self.labels().len()
    }

    /// Waits until the effect has happened and its answer is held.
    pub fn held(&self) {
        let waiting = self.home.path().join("gate.waiting");
        until("the mark", || waiting.exists().then_some(()));
    }

    pub fn let_go(&self) {
        std::fs::write(self.home.path().join("gate"), "").unwrap();
    }
}

fn path(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
