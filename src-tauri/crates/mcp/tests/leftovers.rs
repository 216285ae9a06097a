//! Nothing of a server is left when the process that started it is killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use longrein_mcp::{Confinement, Limits, McpServer, ProcessConfig, Reach, ServerConfig};
use longrein_runtime::ports::CancellationToken;
use longrein_store::groups::{MARK, groups_file, mark_value, sweep};
use serde_json::json;

use crate::support::{call, wait_until};

const HOLD: &str = "LONGREIN_TEST_HOLD_SIX";
const STARTED: &str = "six servers are busy";
const SERVERS: usize = 6;

/// How the server of this number is started: the first ignores the signal to end, the second has
/// children and their children, one of which leaves its group.
fn command(number: usize, folder: &Path) -> Vec<String> {
    let server = env!("CARGO_BIN_EXE_scripted-server").to_owned();
    let folder = folder.to_str().unwrap().to_owned();
    let leaves = match Confinement::offered() {
        Confinement::Bubblewrap(_) => "setsid sleep 600 &",
        Confinement::None(_) => "",
    };
    let script = match number {
        0 => "trap '' TERM INT HUP; exec \"$@\"".to_owned(),
        1 => format!("(sleep 600 & sleep 600) & {leaves} exec \"$@\""),
        _ => "exec \"$@\"".to_owned(),
    };
    let shell = ["sh", "-c", script.as_str(), "sh"].map(str::to_owned);
    shell.into_iter().chain([server, folder]).collect()
}

fn config(number: usize, data: &Path) -> ServerConfig {
    let workspace = data.join(format!("work-{number}"));
    std::fs::create_dir_all(&workspace).unwrap();
    ServerConfig {
        name: "s".to_owned(),
        reach: Reach::Process(ProcessConfig {
            command: command(number, &workspace),
            env: BTreeMap::new(),
            groups_file: groups_file(data, std::process::id()),
            hidden: Vec::new(),
        }),
        trusted: false,
        workspace,
        limits: Limits::default(),
    }
}

/// Not a test of its own: with the variable set it starts six servers, keeps each busy, and waits
/// until it is killed.
#[tokio::test]
async fn holder_of_six() {
    let Ok(data) = std::env::var(HOLD).map(PathBuf::from) else {
        return;
    };
    let mut servers = Vec::new();
    for number in 0..SERVERS {
        let config = config(number, &data);
        let notes = config.workspace.join("notes");
        let server = Arc::new(McpServer::start(config).await.unwrap());
        let tools = server.tools(&BTreeMap::new());
        let forever = tools
            .into_iter()
            .find(|tool| tool.spec().name == "s.forever")
            .unwrap();
        tokio::spawn(async move {
            let _ = forever.run(call(json!({}), CancellationToken::new())).await;
        });
        wait_until(|| notes.exists()).await;
        servers.push(server);
    }
    println!("{STARTED}");
    std::future::pending::<()>().await;
}

/// Living processes that were started by the servers of a process.
fn started_by(process: u32) -> usize {
    let mark = format!("{MARK}={}", mark_value(process));
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|process| crate::support::is_alive(*process))
        .filter(|process| {
            let environment = std::fs::read(format!("/proc/{process}/environ"));
            environment
                .unwrap_or_default()
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
        })
        .count()
}

#[tokio::test]
async fn after_a_kill_no_process_of_six_busy_servers_is_left_at_the_next_start() {
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir(data.path().join("locks")).unwrap();
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::holder_of_six", "--nocapture"])
        .env(HOLD, data.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let started = lines
        .map_while(Result::ok)
        .any(|line| line.contains(STARTED));
    assert!(started, "the servers did not start");
    // Each server, and two children of one: a shell may become its last child.
    wait_until(|| started_by(holder.id()) >= SERVERS + 2).await;
    holder.kill().unwrap();
    holder.wait().unwrap();
    sweep(data.path()).unwrap();
    wait_until(|| started_by(holder.id()) == 0).await;
    assert!(!groups_file(data.path(), holder.id()).exists());
}
