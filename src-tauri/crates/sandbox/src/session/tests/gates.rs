//! What goes in and out beside the streams: calls, tunnels, files.

use longrein_resident::wire::{End, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Agent, all, start, within};
use crate::resident;

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
