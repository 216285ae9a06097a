//! What a tool tells while it runs, kept for a test to look at.

use std::sync::Mutex;

use async_trait::async_trait;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::{JobFinished, Progress};
use longrein_runtime::ports::{CallEnd, LiveAction, Tells, ToolError};
use serde_json::Value;

/// A package of tools that makes its calls by hand.
pub(super) const PACKAGE: &str = r#"
import json, os, socket
_lines = socket.socket(socket.AF_UNIX)
_lines.connect(os.environ["LONGREIN_TOOLS"])
_lines = _lines.makefile("rw")

def call(tool, **arguments):
    print(json.dumps({"tool": tool, "arguments": arguments}), file=_lines, flush=True)
    return json.loads(_lines.readline())
"#;

#[derive(Default)]
pub(super) struct Told {
    pub(super) facts: Mutex<Vec<String>>,
    pub(super) life: Mutex<Option<String>>,
    pub(super) shown: Mutex<String>,
}

#[async_trait]
impl Tells for Told {
    async fn progress(&self, what: Progress) -> bool {
        let fact = match what {
            Progress::Boxed { life } => {
                *self.life.lock().unwrap() = Some(life);
                "boxed".to_owned()
            }
            Progress::Requested(asked) => format!(
                "{} {}:{} {}",
                asked.method,
                asked.host,
                asked.port,
                asked.refused.unwrap_or_default()
            ),
            Progress::Answered(_) => "answered".to_owned(),
            Progress::Replayed(replayed) => format!("{} again", replayed.number),
        };
        self.facts.lock().unwrap().push(fact);
        true
    }

    async fn job_started(&self, job: String, intent: String) -> bool {
        self.facts
            .lock()
            .unwrap()
            .push(format!("{job} runs: {intent}"));
        true
    }

    async fn call(&self, number: u32, tool: String, arguments: String) -> Option<CallEnd> {
        self.facts
            .lock()
            .unwrap()
            .push(format!("{number}: {tool} {arguments}"));
        match tool.as_str() {
            "lab.double" => {
                let arguments: Value = serde_json::from_str(&arguments).unwrap();
                Some(Ok((arguments["n"].as_u64().unwrap() * 2).to_string()))
            }
            "lab.long" => Some(Ok(format!("[\"{}\"]", "x".repeat(100_000)))),
            _ => Some(Err(ToolError::new(
                ToolErrorClass::NotPermitted,
                "Not that one.",
            ))),
        }
    }

    async fn job_finished(&self, finished: JobFinished) -> bool {
        let fact = format!("{} ended: {}", finished.job, finished.outcome);
        self.facts.lock().unwrap().push(fact);
        true
    }
}

impl LiveAction for Told {
    fn output(&self, more: &str) {
        self.shown.lock().unwrap().push_str(more);
    }

    fn doing(&self, _words: &str) {}
}
