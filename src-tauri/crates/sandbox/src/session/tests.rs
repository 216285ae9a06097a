//! The agent as a plain process, without a box around: what it promises holds in every box.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use longrein_resident::wire::{Code, End, Limits, SOCKET, Setup, Start, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::{Incoming, Session};
use crate::{SandboxError, resident};

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
async fn what_a_command_writes_and_how_it_ends_is_known() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    assert!(
        session
            .start(start("one", "echo out; echo err >&2; exit 3"))
            .await
            .expect("it starts")
    );
    let receipt = within(session.wait("one")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 3 });
    assert_eq!((receipt.output.bytes, receipt.error.bytes), (4, 4));
    assert_eq!(all(&session, "one", Stream::Output).await, "out\n");
    assert_eq!(all(&session, "one", Stream::Error).await, "err\n");
}

#[tokio::test]
async fn merged_streams_are_in_the_order_of_writing() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let mut merged = start("one", "echo 1; echo 2 >&2; echo 3; echo 4 >&2");
    merged.merged = true;
    session.start(merged).await.expect("it starts");
    assert_eq!(all(&session, "one", Stream::Output).await, "1\n2\n3\n4\n");
    assert_eq!(all(&session, "one", Stream::Error).await, "");
}

#[tokio::test]
async fn a_command_is_started_once_however_often_it_is_asked_for() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let script = format!("echo x >> {}", agent.path("effect").display());
    let mut now = Vec::new();
    for _ in 0..3 {
        now.push(
            session
                .start(start("once", &script))
                .await
                .expect("it is known"),
        );
    }
    within(session.wait("once")).await.expect("it ends");
    assert_eq!(now, [true, false, false]);
    assert_eq!(
        std::fs::read_to_string(agent.path("effect")).expect("it is there"),
        "x\n"
    );
}

#[tokio::test]
async fn a_command_outlives_the_app_and_its_output_is_read_on() {
    let agent = Agent::start();
    let (session, incoming) = agent.connect().await;
    let gate = agent.path("gate");
    let script = format!(
        "echo before; while ! [ -e {} ]; do sleep 0.01; done; echo after",
        gate.display()
    );
    session
        .start(start("long", &script))
        .await
        .expect("it starts");
    let first = within(session.read("long", Stream::Output, 0, true))
        .await
        .expect("it writes");
    assert_eq!(first.bytes, b"before\n");
    let life = session.life().to_owned();
    drop((session, incoming));

    let (session, _incoming) = agent.connect().await;
    assert_eq!(session.life(), life);
    std::fs::write(gate, b"").expect("the gate opens");
    let rest = within(session.read("long", Stream::Output, 7, true))
        .await
        .expect("it goes on");
    assert_eq!(rest.bytes, b"after\n");
    let receipt = within(session.wait("long")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
}

#[tokio::test]
async fn a_second_app_takes_the_agent_over() {
    let agent = Agent::start();
    let (first, _one) = agent.connect().await;
    first
        .start(start("a", "sleep 20"))
        .await
        .expect("it starts");
    let waiting = first.clone();
    let waited = tokio::spawn(async move { waiting.wait("a").await });
    let (second, _two) = agent.connect().await;
    let lost = within(waited)
        .await
        .expect("no panic")
        .expect_err("its pipe ended");
    assert!(lost.is_gone(), "{lost}");
    assert!(!first.is_open());
    second.command("a").kill().await.expect("it is killed");
    assert_eq!(
        within(second.wait("a")).await.expect("it ends").end,
        End::Killed
    );
}

#[tokio::test]
async fn a_time_out_kills_what_left_its_group_and_session_too() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let pids = agent.path("pids");
    let script = format!(
        "setsid sh -c 'echo $$ >> {0}; setsid sh -c \"echo \\$\\$ >> {0}; sleep 60\" & sleep 60' & echo $$ >> {0}; sleep 60",
        pids.display()
    );
    let mut limited = start("slow", &script);
    limited.limits.time_ms = 700;
    session.start(limited).await.expect("it starts");
    let receipt = within(session.wait("slow")).await.expect("it ends");
    assert_eq!(receipt.end, End::TimedOut);
    assert!(receipt.working_ms >= 700, "{}", receipt.working_ms);
    let pids = std::fs::read_to_string(pids).expect("they wrote their ids");
    assert_eq!(pids.lines().count(), 3, "{pids}");
    for pid in pids.lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} lives");
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_killed_and_counted() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let script = "(setsid sleep 60 &) ; (sleep 60 &) ; exit 0";
    session
        .start(start("messy", script))
        .await
        .expect("it starts");
    let receipt = within(session.wait("messy")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert_eq!(receipt.left_behind, 2);
}

#[tokio::test]
async fn output_beyond_its_limit_is_counted_and_blocks_nobody() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let mut flood = start("flood", "head -c 3000000 /dev/zero; echo done >&2");
    flood.limits.output_bytes = 1_000_000;
    session.start(flood).await.expect("it starts");
    let receipt = within(session.wait("flood")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert_eq!(
        (receipt.output.bytes, receipt.output.dropped_bytes),
        (1_000_000, 2_000_000)
    );
    assert_eq!(all(&session, "flood", Stream::Error).await, "done\n");
}

#[tokio::test]
async fn input_reaches_a_command_whole_and_ends() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let mut reading = start("cat", "wc -c");
    reading.input = true;
    session.start(reading).await.expect("it starts");
    let command = session.command("cat");
    within(command.write(&vec![b'x'; 3_000_000], false))
        .await
        .expect("it is read");
    within(command.write(b"!", true)).await.expect("it is read");
    assert_eq!(all(&session, "cat", Stream::Output).await.trim(), "3000001");
    let refused = command
        .write(b"more", false)
        .await
        .expect_err("it is closed");
    assert!(
        matches!(
            refused,
            SandboxError::Refused {
                code: Code::Ended,
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_leaves_a_receipt_that_says_so() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let mut missing = start("missing", "");
    missing.program = vec!["no-such-program".to_owned()];
    session.start(missing).await.expect("the agent takes it");
    let receipt = within(session.wait("missing")).await.expect("it ends");
    let End::NotStarted { why } = receipt.end else {
        panic!("{:?}", receipt.end)
    };
    assert!(why.starts_with("no-such-program: "), "{why}");
}

#[tokio::test]
async fn a_signal_reaches_the_command_and_its_death_by_one_is_told() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    session
        .start(start(
            "trap",
            "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.01; done",
        ))
        .await
        .expect("it starts");
    within(session.read("trap", Stream::Output, 0, true))
        .await
        .expect("it is ready");
    session
        .command("trap")
        .signal(10)
        .await
        .expect("it is sent");
    let receipt = within(session.wait("trap")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 5 });
    session
        .start(start("own", "kill -SEGV $$"))
        .await
        .expect("it starts");
    let receipt = within(session.wait("own")).await.expect("it ends");
    assert_eq!(receipt.end, End::Signalled { signal: 11 });
}

#[tokio::test]
async fn after_the_agents_own_death_receipts_stay_and_what_ran_is_lost() {
    let mut agent = Agent::start();
    let (session, incoming) = agent.connect().await;
    session
        .start(start("done", "echo kept"))
        .await
        .expect("it starts");
    within(session.wait("done")).await.expect("it ends");
    session
        .start(start("open", "echo begun; sleep 60"))
        .await
        .expect("it starts");
    within(session.read("open", Stream::Output, 0, true))
        .await
        .expect("it writes");
    let life = session.life().to_owned();
    agent.kill().await;
    drop((session, incoming));
    agent.start_again();
    let (session, _incoming) = agent.connect().await;
    assert_ne!(session.life(), life);
    let states = session.list().await.expect("it lists");
    let ends: Vec<_> = states
        .iter()
        .map(|state| {
            (
                state.command.as_str(),
                state.receipt.as_ref().map(|receipt| &receipt.end),
            )
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("done", Some(&End::Exited { status: 0 })),
            ("open", Some(&End::Lost))
        ]
    );
    assert_eq!(all(&session, "done", Stream::Output).await, "kept\n");
    assert_eq!(all(&session, "open", Stream::Output).await, "begun\n");
}

#[tokio::test]
async fn what_is_forgotten_is_gone_and_what_runs_is_not_forgotten() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    session
        .start(start("a", "sleep 20"))
        .await
        .expect("it starts");
    let command = session.command("a");
    let refused = command.forget().await.expect_err("it runs");
    assert!(
        matches!(
            refused,
            SandboxError::Refused {
                code: Code::Running,
                ..
            }
        ),
        "{refused}"
    );
    command.kill().await.expect("it is killed");
    within(command.wait()).await.expect("it ends");
    command.forget().await.expect("it is forgotten");
    let unknown = command.state().await.expect_err("it is gone");
    assert!(
        matches!(
            unknown,
            SandboxError::Refused {
                code: Code::UnknownCommand,
                ..
            }
        ),
        "{unknown}"
    );
    assert!(!agent.path("state/commands/a").exists());
}

#[tokio::test]
async fn a_call_is_told_again_to_the_next_app_until_it_is_answered() {
    let agent = Agent::start();
    let (session, mut incoming) = agent.connect().await;
    let program = "import os, socket\n\
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ['LONGREIN_TOOLS'])\n\
        f = s.makefile('rw')\n\
        for n in range(2):\n    f.write('{\"n\": %d}\\n' % n); f.flush(); print(f.readline().strip(), flush=True)";
    let mut calling = start("code", "");
    calling.program = vec!["python3".to_owned(), "-c".to_owned(), program.to_owned()];
    calling.tools = true;
    session.start(calling).await.expect("it starts");
    let first = within(incoming.calls.recv()).await.expect("it calls");
    assert_eq!(
        (first.id.number, first.body.as_slice()),
        (1, b"{\"n\": 0}".as_slice())
    );
    drop((session, incoming));

    let (session, mut incoming) = agent.connect().await;
    let again = within(incoming.calls.recv())
        .await
        .expect("it is told again");
    assert_eq!(again, first);
    session
        .answer(again.id.clone(), b"{\"ok\": 1}")
        .await
        .expect("it is answered");
    session
        .answer(again.id, b"{\"ok\": \"twice\"}")
        .await
        .expect("that is let pass");
    let second = within(incoming.calls.recv()).await.expect("it calls on");
    assert_eq!(second.id.number, 2);
    session
        .answer(second.id, b"{\"ok\": 2}")
        .await
        .expect("it is answered");
    assert_eq!(
        all(&session, "code", Stream::Output).await,
        "{\"ok\": 1}\n{\"ok\": 2}\n"
    );
}

#[tokio::test]
async fn a_tunnel_carries_both_ways_more_than_its_window_and_half_closes() {
    let agent = Agent::start();
    let (session, mut incoming) = agent.connect().await;
    let program = "import os, socket, urllib.parse\n\
        u = urllib.parse.urlparse(os.environ['https_proxy'])\n\
        s = socket.create_connection((u.hostname, u.port))\n\
        s.sendall(b'x' * 2000000); s.shutdown(socket.SHUT_WR)\n\
        n = 0\n\
        while True:\n    d = s.recv(65536)\n    if not d: break\n    n += len(d)\n\
        print(n)";
    let mut reaching = start("net", "");
    reaching.program = vec!["python3".to_owned(), "-c".to_owned(), program.to_owned()];
    reaching.egress = true;
    session.start(reaching).await.expect("it starts");
    let mut tunnel = within(incoming.tunnels.recv()).await.expect("it connects");
    assert_eq!(tunnel.command, "net");
    let mut sent = Vec::new();
    within(tunnel.stream.read_to_end(&mut sent))
        .await
        .expect("it sends and ends");
    assert_eq!(sent.len(), 2_000_000);
    within(tunnel.stream.write_all(&vec![b'y'; 1_500_000]))
        .await
        .expect("it reads");
    drop(tunnel);
    assert_eq!(all(&session, "net", Stream::Output).await.trim(), "1500000");
}

#[tokio::test]
async fn without_anyone_to_carry_it_a_connection_is_closed() {
    let agent = Agent::start();
    let (session, incoming) = agent.connect().await;
    drop(incoming);
    let program = "import os, socket, urllib.parse\n\
        u = urllib.parse.urlparse(os.environ['http_proxy'])\n\
        print(len(socket.create_connection((u.hostname, u.port)).recv(1)))";
    let mut reaching = start("net", "");
    reaching.program = vec!["python3".to_owned(), "-c".to_owned(), program.to_owned()];
    reaching.egress = true;
    session.start(reaching).await.expect("it starts");
    assert_eq!(all(&session, "net", Stream::Output).await.trim(), "0");
}

#[tokio::test]
async fn files_go_in_and_out_with_the_commands_own_rights() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let binary = resident::put(agent.folder.path())
        .expect("it is there")
        .display()
        .to_string();
    let file = agent.path("deep/er/file").display().to_string();
    let mut putting = start("put", "");
    putting.program = vec![binary.clone(), "put".into(), file.clone(), "640".into()];
    putting.input = true;
    session.start(putting).await.expect("it starts");
    within(session.command("put").write(b"0123456789", true))
        .await
        .expect("it is taken");
    assert_eq!(
        within(session.wait("put")).await.expect("it ends").end,
        End::Exited { status: 0 }
    );
    let mut getting = start("get", "");
    getting.program = vec![binary.clone(), "get".into(), file, "3".into(), "4".into()];
    session.start(getting).await.expect("it starts");
    assert_eq!(all(&session, "get", Stream::Output).await, "3456");
    let fifo = agent.path("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .expect("mkfifo is there");
    assert!(made.success());
    let mut blocked = start("fifo", "");
    blocked.program = vec![
        binary,
        "get".into(),
        fifo.display().to_string(),
        "0".into(),
        "1".into(),
    ];
    session.start(blocked).await.expect("it starts");
    assert_eq!(
        within(session.wait("fifo")).await.expect("it ends").end,
        End::Exited { status: 1 }
    );
}
