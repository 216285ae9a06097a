//! Commands: what they write, how they end, what outlives what.

use std::path::Path;

use longrein_resident::wire::{Code, End, Stream};

use super::{Agent, all, start, within};
use crate::SandboxError;

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
    limited.limits.time_ms = 2_000;
    session.start(limited).await.expect("it starts");
    let receipt = within(session.wait("slow")).await.expect("it ends");
    assert_eq!(receipt.end, End::TimedOut);
    assert!(receipt.working_ms >= 2_000, "{}", receipt.working_ms);
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
    within(session.start(reading)).await.expect("it starts");
    let command = session.command("cat");
    within(command.write(&vec![b'x'; 3_000_000], false))
        .await
        .expect("it is read");
    within(command.write(b"!", true)).await.expect("it is read");
    assert_eq!(all(&session, "cat", Stream::Output).await.trim(), "3000001");
    let refused = within(command.write(b"more", false)).await;
    assert_ended(refused);
}

fn assert_ended(written: Result<(), SandboxError>) {
    let refused = written.expect_err("it is read by nobody");
    let code = match refused {
        SandboxError::Refused { code, .. } => code,
        other => panic!("{other}"),
    };
    assert_eq!(code, Code::Ended);
}

#[tokio::test]
async fn input_that_nobody_reads_any_more_is_refused_and_so_is_what_waits_behind_it() {
    let agent = Agent::start();
    let (session, _incoming) = agent.connect().await;
    let gate = agent.path("gate");
    let script = format!(
        "head -c 1 >/dev/null; echo one; while ! [ -e {} ]; do sleep 0.01; done",
        gate.display()
    );
    let mut lazy = start("lazy", &script);
    lazy.input = true;
    within(session.start(lazy)).await.expect("it starts");
    let command = session.command("lazy");
    let large = vec![b'x'; 1_000_000];
    let mut first = std::pin::pin!(command.write(&large, true));
    assert!(futures::poll!(&mut first).is_pending());
    within(session.read("lazy", Stream::Output, 0, true))
        .await
        .expect("it reads a byte");
    // The rest fills the pipe, so this one waits; once a later ask is answered it is there.
    let mut second = std::pin::pin!(command.write(b"more", false));
    assert!(futures::poll!(&mut second).is_pending());
    within(session.state("lazy")).await.expect("it runs");
    std::fs::write(gate, b"").expect("the gate opens");
    assert_ended(within(first).await);
    assert_ended(within(second).await);
    assert_ended(within(command.write(b"more", false)).await);
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
