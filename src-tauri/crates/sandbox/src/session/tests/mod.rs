//! The agent as a plain process, without a box around: what it promises holds in every box.

mod commands;
mod gates;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use longrein_resident::wire::{Limits, SOCKET, Setup, Start, Stream};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::{Incoming, Session};
use crate::resident;

/// Long enough for a machine that is busy; nothing waits for it when all is well.
const LIMIT: Duration = Duration::from_secs(30);

struct Agent {
    folder: tempfile::TempDir,
    process: Child,
}

impl Agent {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let process = spawn(folder.path());
        Self { folder, process }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn connect(&self) -> (Session, Incoming) {
        let socket = self.path("state").join(SOCKET);
        let stream = within(async {
            loop {
                match UnixStream::connect(&socket).await {
                    Ok(stream) => return stream,
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        });
        let (reader, writer) = stream.await.into_split();
        Session::open(reader, writer)
            .await
            .expect("the agent answers")
    }

    async fn kill(&mut self) {
        self.process.kill().await.expect("the agent can be killed");
    }

    fn start_again(&mut self) {
        self.process = spawn(self.folder.path());
    }
}

fn spawn(folder: &Path) -> Child {
    let setup = Setup {
        state: folder.join("state"),
        run: folder.join("run"),
        run_inside: folder.join("run"),
        user: None,
        door: Vec::new(),
        idle_limit_ms: 0,
    };
    let binary = resident::put(folder).expect("the agent is carried");
    Command::new(binary)
        .arg("serve")
        .arg(serde_json::to_string(&setup).expect("it is plain"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the agent starts")
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work)
        .await
        .expect("it does not take that long")
}

fn start(id: &str, script: &str) -> Start {
    let path = std::env::var("PATH").expect("there is a path");
    Start {
        command: id.to_owned(),
        program: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: "/".to_owned(),
        environment: BTreeMap::from([("PATH".to_owned(), path)]),
        input: false,
        merged: false,
        egress: false,
        tools: false,
        limits: Limits {
            time_ms: 20_000,
            output_bytes: 1 << 20,
            file_bytes: 1 << 30,
            open_files: 256,
            address_space_bytes: None,
            processes: None,
        },
    }
}

async fn all(session: &Session, id: &str, stream: Stream) -> String {
    let bytes = within(session.command(id).read_all(stream, 1 << 24)).await;
    String::from_utf8(bytes.expect("it can be read")).expect("it is text")
}

#[tokio::test]
async fn an_agent_of_another_version_is_refused_and_said() {
    use longrein_resident::wire::{Answer, Said, VERSION, encode};
    use tokio::io::AsyncWriteExt;

    let (ours, mut theirs) = tokio::io::duplex(1 << 12);
    let answer = Answer::Hello {
        version: VERSION + 1,
        life: "x".to_owned(),
    };
    let frame = encode(&Said::Answer { id: 0, answer }, &[]).expect("it is short");
    theirs.write_all(&frame).await.expect("it is taken");
    let (reader, writer) = tokio::io::split(ours);
    let error = Session::open(reader, writer)
        .await
        .expect_err("it is another version");
    assert!(
        matches!(error, crate::SandboxError::OtherVersion { theirs } if theirs == VERSION + 1),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_says_nothing_is_not_waited_for_for_ever() {
    let (ours, _theirs) = tokio::io::duplex(1 << 12);
    let (reader, writer) = tokio::io::split(ours);
    let error = Session::open(reader, writer)
        .await
        .expect_err("it says nothing");
    assert!(
        matches!(error, crate::SandboxError::TimedOut { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_agent_ends_every_ask() {
    use tokio::io::AsyncWriteExt;

    let (ours, mut theirs) = tokio::io::duplex(1 << 12);
    theirs
        .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        .await
        .expect("it is taken");
    let (reader, writer) = tokio::io::split(ours);
    assert!(Session::open(reader, writer).await.is_err());
}
