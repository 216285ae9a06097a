//! A folder with a counting server, and what a test asks of the system.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use longrein_mcp::{Limits, McpServer, ProcessConfig, Reach, ServerConfig};
use longrein_protocol::agent::ToolSettings;
use longrein_protocol::{ActionId, BlobHash, RunId, ToolErrorClass};
use longrein_runtime::ports::{
    BlobRead, CancellationToken, NobodyThere, Part, RunContext, ToolCall, ToolError, ToolOutput,
};

/// How long a condition is waited for before a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked at.
const POLL: Duration = Duration::from_millis(5);

pub struct World {
    pub folder: tempfile::TempDir,
    pub config: ServerConfig,
}

impl World {
    /// A counting server with these options; `GATE` stands for the path of the gate.
    pub fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../tests/fixtures/counter/counter.py");
        let mut command = vec![
            "python3".to_owned(),
            script.to_str().unwrap().to_owned(),
            path("marks"),
        ];
        for option in options {
            command.push(if *option == "GATE" {
                path("gate")
            } else {
                (*option).to_owned()
            });
        }
        let config = ServerConfig {
            name: "counter".to_owned(),
            reach: Reach::Process(ProcessConfig {
                command,
                env: BTreeMap::new(),
                groups_file: folder.path().join("1.groups"),
                hidden: Vec::new(),
            }),
            trusted: false,
            workspace: folder.path().to_owned(),
            limits: Limits::default(),
        };
        Self { folder, config }
    }

    /// How its program is started.
    pub fn process(&mut self) -> &mut ProcessConfig {
        match &mut self.config.reach {
            Reach::Process(process) => process,
            Reach::Address(_) => panic!("a program expected"),
        }
    }

    fn started(&self) -> &ProcessConfig {
        match &self.config.reach {
            Reach::Process(process) => process,
            Reach::Address(_) => panic!("a program expected"),
        }
    }

    pub async fn start(&self) -> McpServer {
        McpServer::start(self.config.clone()).await.unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The lines that the server has written.
    pub fn marks(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file("marks")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub async fn wait_for_held_call(&self) {
        let waiting = self.file("gate.waiting");
        wait_until(|| waiting.exists()).await;
    }

    pub fn open_gate(&self) {
        std::fs::write(self.file("gate"), "").unwrap();
    }

    /// The process id of the server that was noted last.
    pub fn leader(&self) -> u32 {
        let noted = std::fs::read_to_string(&self.started().groups_file).unwrap();
        let last = noted.lines().last().unwrap();
        last.split(':').next().unwrap().parse().unwrap()
    }

    /// The process id of the server's child. It notes its own, which is another where the server
    /// has a process namespace of its own.
    pub fn child(&self) -> u32 {
        let noted = std::fs::read_to_string(self.file("marks.child")).unwrap();
        let leader = self.leader().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut names = processes.filter_map(|entry| entry.file_name().into_string().ok());
        let is_it = |name: &String| {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{name}/{file}"));
            let (Ok(stat), Ok(status)) = (read("stat"), read("status")) else {
                return false;
            };
            let group = stat
                .rsplit_once(") ")
                .and_then(|(_, fields)| fields.split(' ').nth(2));
            let own = status
                .lines()
                .find_map(|line| line.strip_prefix("NSpid:"))
                .and_then(|numbers| numbers.split_whitespace().last());
            group == Some(leader.as_str()) && own == Some(noted.as_str())
        };
        names.find(is_it).unwrap().parse().unwrap()
    }

    /// Starts the server in a process of its own (this test binary again) and returns once it
    /// runs.
    pub fn start_in_another_process(&self) -> Child {
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "support::holder",
                "--nocapture",
                "--include-ignored",
            ])
            .env(HOLD, self.started().command.join("\n"))
            .env(HOLD_GROUPS, &self.started().groups_file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let started = lines
            .map_while(Result::ok)
            .any(|line| line.contains(STARTED));
        assert!(started, "the other process did not start its server");
        holder
    }
}

const HOLD: &str = "LONGREIN_TEST_HOLD";
const HOLD_GROUPS: &str = "LONGREIN_TEST_HOLD_GROUPS";
const STARTED: &str = "server started";

/// Not a test of its own: with the variables set it starts a server and holds it until it is
/// killed.
#[tokio::test]
async fn holder() {
    let (Ok(command), Ok(groups)) = (std::env::var(HOLD), std::env::var(HOLD_GROUPS)) else {
        return;
    };
    let groups_file = PathBuf::from(groups);
    let config = ServerConfig {
        name: "counter".to_owned(),
        trusted: false,
        workspace: groups_file.parent().unwrap().to_owned(),
        limits: Limits::default(),
        reach: Reach::Process(ProcessConfig {
            command: command.lines().map(str::to_owned).collect(),
            env: BTreeMap::new(),
            groups_file,
            hidden: Vec::new(),
        }),
    };
    let _server = McpServer::start(config).await.unwrap();
    println!("{STARTED}");
    std::future::pending::<()>().await;
}

struct NoBlobs;

#[async_trait]
impl BlobRead for NoBlobs {
    async fn read(&self, hash: BlobHash) -> Result<Arc<[u8]>, ToolError> {
        Err(ToolError::new(
            ToolErrorClass::NotFound,
            format!("no blob {hash}"),
        ))
    }
}

pub fn call(arguments: serde_json::Value, cancel: CancellationToken) -> ToolCall {
    ToolCall {
        run: RunId::from_parts(0, 1),
        action: ActionId::from_random(1),
        key: "key-1".to_owned(),
        attempt: 1,
        onward: Arc::default(),
        arguments,
        facts: longrein_protocol::gate::ActionFacts::default(),
        context: Arc::new(RunContext {
            workspace: PathBuf::new(),
            sources: Vec::new(),
            artifacts: Vec::new(),
            plan: Vec::new(),
            jobs: Vec::new(),
            results: Vec::new(),
            notes: Vec::new(),
            blobs: Arc::new(NoBlobs),
            past: Arc::new(longrein_runtime::ports::NoPast),
        }),
        person: Arc::new(NobodyThere),
        cancel,
        beside: longrein_runtime::ports::Beside::default(),
    }
}

pub async fn run(
    server: &McpServer,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<ToolOutput, ToolError> {
    let call = call(arguments, CancellationToken::new());
    run_with(server, &BTreeMap::new(), tool, call).await
}

pub async fn run_with(
    server: &McpServer,
    settings: &BTreeMap<String, ToolSettings>,
    tool: &str,
    call: ToolCall,
) -> Result<ToolOutput, ToolError> {
    let tools = server.tools(settings);
    let tool = tools
        .iter()
        .find(|known| known.spec().name == tool)
        .unwrap();
    tool.run(call).await
}

pub fn text_of(output: &ToolOutput) -> &str {
    match output.parts.as_slice() {
        [Part::Text(text)] => text,
        parts => panic!("one text expected, not {parts:?}"),
    }
}

pub fn kill(process: u32) {
    let status = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Whether a process runs. One that has ended and that nobody has reaped does not: its parent may
/// be a process 1 that never does.
pub fn is_alive(process: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, fields)| fields.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

pub async fn is_gone(process: u32) {
    wait_until(|| !is_alive(process)).await;
}

pub async fn wait_until(mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < limit, "waited {PATIENCE:?} in vain");
        tokio::time::sleep(POLL).await;
    }
}
