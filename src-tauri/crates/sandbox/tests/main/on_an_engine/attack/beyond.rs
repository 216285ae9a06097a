//! Whom a command can reach: this machine's network and processes, other runs, and the agent of its
//! own box.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use longrein_sandbox::SandboxError;
use longrein_sandbox::wire::{Code, End};

use super::ground::Ground;
use super::{on_all, on_engines};
use crate::on_an_engine::place::{until, within};

/// Where engines put this machine, as seen from inside.
const ADDRESSES: &str = "127.0.0.1 0.0.0.0 ::1 10.0.2.2 10.88.0.1 172.17.0.1 169.254.1.2 \
    host.containers.internal host.docker.internal gateway.docker.internal localhost";

async fn nothing_that_listens_on_this_machine_is_reached(ground: Ground) {
    let tcp = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    let udp = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    let name = SocketAddr::from_abstract_name(ground.mark()).expect("a name");
    let unnamed = UnixListener::bind_addr(&name).expect("it is free");
    let named = UnixListener::bind(ground.folder().join("socket")).expect("it is free");
    let ports = [&tcp.local_addr(), &udp.local_addr()].map(|at| at.as_ref().expect("bound").port());
    let inside = ground.enter().await;
    let program = format!(
        "import socket, sys\n\
         def reach(kind, family, way, address):\n\
         \x20   try:\n\
         \x20       s = socket.socket(family, way); s.settimeout(1); s.connect(address); s.send(b'x')\n\
         \x20       if way == socket.SOCK_STREAM: print('reached', kind, address)\n\
         \x20   except OSError: pass\n\
         for host in '{ADDRESSES}'.split():\n\
         \x20   try: found = socket.getaddrinfo(host, {}, type=socket.SOCK_STREAM)\n\
         \x20   except OSError: continue\n\
         \x20   for family, _, _, _, address in found:\n\
         \x20       reach('tcp', family, socket.SOCK_STREAM, address)\n\
         \x20       reach('udp', family, socket.SOCK_DGRAM, (address[0], {}))\n\
         reach('abstract', socket.AF_UNIX, socket.SOCK_STREAM, '\\0{}')\n\
         reach('file', socket.AF_UNIX, socket.SOCK_STREAM, '{}')\n",
        ports[0],
        ports[1],
        ground.mark(),
        ground.folder().join("socket").display()
    );
    std::fs::write(ground.path("reach.py"), program).expect("it is ours");
    assert_eq!(inside.say("python3 reach.py").await, "");
    tcp.set_nonblocking(true).expect("it is ours");
    udp.set_nonblocking(true).expect("it is ours");
    unnamed.set_nonblocking(true).expect("it is ours");
    named.set_nonblocking(true).expect("it is ours");
    assert!(tcp.accept().is_err() && udp.recv(&mut [0]).is_err());
    assert!(unnamed.accept().is_err() && named.accept().is_err());
    ground.leave(inside).await;
}

async fn there_is_no_network_but_the_loopback_and_no_name_is_resolved(ground: Ground) {
    let inside = ground.enter().await;
    inside.say("python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname())'").await;
    inside
        .assert_refused(&[
            ("an interface beside the loopback", "grep -v lo: /proc/net/dev | grep -q :"),
            ("a route", "tail -n +2 /proc/net/route | grep -q ."),
            ("resolving a name", "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'"),
            ("asking a name server", "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"8.8.8.8\", 53))'"),
            ("asking the one that is named", "python3 -c 'import socket\nfor line in open(\"/etc/resolv.conf\"):\n  if line.startswith(\"nameserver\") and not line.split()[1].startswith(\"127.\"):\n    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (line.split()[1], 53)); break\nelse: raise SystemExit(1)'"),
            ("an address of the internet", "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 80), 2)'"),
            ("where clouds keep secrets", "python3 -c 'import socket; socket.create_connection((\"169.254.169.254\", 80), 2)'"),
            ("an interface of one's own", "ip link add x type dummy"),
            ("raising one", "ip link set lo mtu 1400"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn no_socket_goes_past_the_network(ground: Ground) {
    let inside = ground.enter().await;
    inside
        .assert_refused(&[
            (
                "raw",
                "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
            ),
            (
                "raw, of version 6",
                "python3 -c 'import socket; socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)'",
            ),
            (
                "of packets",
                "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
            ),
            (
                "of packets, without heads",
                "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)'",
            ),
        ])
        .await;
    ground.leave(inside).await;
}

async fn no_socket_of_another_kind_is_had(ground: Ground) {
    let inside = ground.enter().await;
    // Amateur radio to XDP, the machine below (40) and the kernel's ciphers (38) among them. Which
    // addresses there are (16) may be asked.
    let program = "import socket\n\
        for family in range(3, 50):\n\
        \x20   for kind in range(1, 6):\n\
        \x20       if family in (socket.AF_INET6, 16): continue\n\
        \x20       try: socket.socket(family, kind)\n\
        \x20       except OSError: continue\n\
        \x20       print(family, kind)\n";
    std::fs::write(ground.path("kinds.py"), program).expect("it is ours");
    assert_eq!(inside.say("python3 kinds.py").await, "");
    ground.leave(inside).await;
}

/// A process of this machine that commands would like to meet.
struct Neighbour(Child);

impl Neighbour {
    fn start(mark: &str) -> Self {
        let child = Command::new("sleep")
            .args(["300"])
            .env("NEIGHBOUR", mark)
            .stdout(Stdio::null())
            .spawn();
        Self(child.expect("it starts"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn processes_of_this_machine_are_neither_seen_nor_touched(ground: Ground) {
    let mut neighbour = Neighbour::start(&ground.mark());
    let pid = neighbour.0.id();
    let inside = ground.enter().await;
    let text = format!(
        "kill -9 {pid}; kill -STOP {pid}; kill -9 -{pid}; kill -9 {}; \
         python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(16, {pid}, 0, 0)'; \
         cat /proc/*/environ; ls -d /proc/{pid} && cat /proc/{pid}/cmdline; true",
        std::process::id()
    );
    let said = inside.say(&format!("({text}) 2>/dev/null")).await;
    assert!(!said.contains(&ground.mark()), "{said}");
    assert!(
        neighbour.0.try_wait().expect("it is ours").is_none(),
        "it was ended"
    );
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    assert!(
        status.contains("TracerPid:\t0") && !status.contains("State:\tT"),
        "{status}"
    );
    ground.leave(inside).await;
}

async fn nothing_of_the_app_comes_in_with_a_command(ground: Ground) {
    // As a shell might leave one open for whatever it starts.
    let open = std::fs::File::open(ground.secret_file()).expect("it is ours");
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).expect("it is ours");
    let inside = ground.enter().await;
    let said = inside
        .say("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; true")
        .await;
    let known = [
        "HOME", "LANG", "LC_CTYPE", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_",
    ];
    for line in said.lines() {
        let (name, value) = line.split_once('=').unwrap_or_default();
        assert!(known.contains(&name), "{line}");
        let ours = std::env::var(name).unwrap_or_default();
        assert!(
            ["LANG", "LC_CTYPE", "SHLVL", "_"].contains(&name)
                || value != ours
                || !value.contains("cargo"),
            "{line}"
        );
    }
    // Three streams and what lists them; none of the agent's pipes.
    let files = inside
        .say("cd /proc/self/fd && for f in *; do [ ! -e $f ] || echo $f; done")
        .await;
    let mut files: Vec<&str> = files.lines().collect();
    files.sort_unstable();
    assert!(
        files.iter().all(|file| ["0", "1", "2"].contains(file)),
        "{files:?}"
    );
    inside
        .assert_refused(&[("a terminal", "python3 -c 'open(\"/dev/tty\")'")])
        .await;
    ground.leave(inside).await;
}

async fn the_box_of_another_run_is_out_of_reach(ground: Ground) {
    let inside = ground.enter().await;
    let other = ground.enter_another().await;
    let mark = ground.mark();
    let serving = format!(
        "echo {mark} > {mark}; python3 -c 'import socket, time\n\
         s = socket.create_server((\"127.0.0.1\", 48123))\nopen(\"up\", \"w\").write(\"up\")\ntime.sleep(300)' {mark}"
    );
    let served = other.begin(other.start_of(&serving)).await;
    let up = ground.folder().join("other/up");
    until(|| up.exists()).await;
    let text = format!(
        "cat /workspace/{mark} ../other/{mark} {0}/other/{mark} 2>/dev/null; \
         find / -xdev -name '{mark}*' 2>/dev/null; ps 2>/dev/null | grep -v grep | grep 48123; \
         python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 48123), 2); print(\"reached\")' 2>/dev/null; true",
        ground.folder().display()
    );
    let said = inside.say(&text).await;
    // The words of the command itself stand in its own arguments.
    let said: Vec<&str> = said
        .lines()
        .filter(|line| !line.contains("create_connection"))
        .collect();
    assert_eq!(said, Vec::<&str>::new());
    let served_on = within(other.session.state(&served)).await;
    assert!(
        served_on.expect("it is known").receipt.is_none(),
        "it goes on"
    );
    other
        .session
        .command(&served)
        .kill()
        .await
        .expect("it is killed");
    other.end(&served).await;
    ground.leave(inside).await;
}

async fn the_agent_is_neither_ended_nor_stopped(ground: Ground) {
    let inside = ground.enter().await;
    let text = "for p in 1 $PPID $(ls /proc | grep '^[0-9]*$'); do [ $p = $$ ] || \
        { kill -STOP $p; kill -TERM $p; kill -INT $p; kill -9 $p; }; done 2>/dev/null; \
        echo survived; kill -9 -1";
    inside.run(text).await;
    inside.assert_well().await;
    // Whoever ends all that it may end is still told of.
    let (receipt, _) = inside.run("(sleep 300 &); kill -9 -1; echo alone").await;
    assert!(
        matches!(receipt.end, End::Signalled { .. } | End::Exited { .. }),
        "{receipt:?}"
    );
    ground.leave(inside).await;
}

async fn the_agents_own_things_are_out_of_reach(ground: Ground) {
    let inside = ground.enter().await;
    let state = ground.state().display().to_string();
    let receipts = format!(
        "ls {state} || ls {state}/receipts || cat {state}/receipts/commands/c0/receipt.json"
    );
    let socket = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/longrein/state/agent.sock\")'";
    let theirs = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{state}/receipts/agent.sock\")'"
    );
    inside
        .assert_refused(&[
            ("its receipts", "ls /longrein/state"),
            ("those without an engine", receipts.as_str()),
            ("its socket", socket),
            ("that without an engine", theirs.as_str()),
            ("its program", "echo x > /longrein/resident"),
            ("another one in its place", "mv /longrein/resident /tmp/x || cp /bin/sh /longrein/resident"),
            ("the folder of sockets", "touch /run/longrein/x"),
            ("being a second one", "/longrein/resident serve '{\"state\":\"/longrein/state\",\"run\":\"/run/longrein\",\"run_inside\":\"/run/longrein\",\"user\":null,\"door\":[],\"idle_limit_ms\":0}'"),
            ("being its relay", "/longrein/resident relay /longrein/state/agent.sock </dev/null"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn a_receipt_is_not_forged(ground: Ground) {
    let inside = ground.enter().await;
    let state = ground.state().display().to_string();
    let text = format!(
        "for d in /longrein/state {state}/receipts; do mkdir -p $d/commands/forged && \
           echo '{{\"command\":\"forged\",\"end\":{{\"exited\":{{\"status\":0}}}}}}' > $d/commands/forged/receipt.json; \
           for c in $d/commands/*; do (echo x > $c/receipt.json); (true > $c/output); rm -rf $c; done; done 2>/dev/null; \
         for f in /proc/$PPID/fd/0 /proc/$PPID/fd/3 /proc/$PPID/fd/4; do \
           (echo '{{\"ended\":{{\"status\":0,\"signal\":null}}}}' > $f); done 2>/dev/null; \
         echo told; exit 9"
    );
    let (receipt, output) = inside.run(&text).await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 9 }, "told\n")
    );
    // Read again from where receipts lie, by an agent that starts anew.
    within(inside.sandbox().stop()).await.expect("it stops");
    let (session, _) = within(inside.sandbox().connect())
        .await
        .expect("it starts again");
    let known = within(session.list()).await.expect("it lists");
    assert!(
        known.iter().all(|state| state.command.starts_with('c')),
        "{known:?}"
    );
    let forged = within(session.state("forged"))
        .await
        .expect_err("nobody ran it");
    assert!(
        matches!(
            forged,
            SandboxError::Refused {
                code: Code::UnknownCommand,
                ..
            }
        ),
        "{forged}"
    );
    let ends: Vec<&End> = known
        .iter()
        .filter_map(|state| Some(&state.receipt.as_ref()?.end))
        .collect();
    assert!(ends.contains(&&End::Exited { status: 9 }), "{ends:?}");
    drop(session);
    ground.remove(inside).await;
}

async fn a_filled_pipe_of_the_agent_stops_nobody(ground: Ground) {
    let inside = ground.enter().await;
    // One command that nobody listens to, and that listens to nobody, beside another one.
    let mut deaf = inside.start_of("yes | head -c 20000000; echo up > up; exec sleep 300");
    deaf.input = true;
    deaf.limits.output_bytes = 1 << 20;
    let deaf = inside.begin(deaf).await;
    let command = inside.session.command(&deaf);
    let unread = vec![0; 300_000];
    let writing = tokio::time::timeout(Duration::from_millis(200), command.write(&unread, false));
    assert!(writing.await.is_err(), "nobody reads it");
    let up = ground.path("up");
    until(|| up.exists()).await;
    inside.assert_well().await;
    within(command.kill()).await.expect("it is killed");
    let (receipt, _) = inside.end(&deaf).await;
    assert_eq!(receipt.end, End::Killed);
    ground.leave(inside).await;
}

on_all!(
    nothing_that_listens_on_this_machine_is_reached,
    there_is_no_network_but_the_loopback_and_no_name_is_resolved,
    no_socket_goes_past_the_network,
    processes_of_this_machine_are_neither_seen_nor_touched,
    nothing_of_the_app_comes_in_with_a_command,
    the_box_of_another_run_is_out_of_reach,
    the_agent_is_neither_ended_nor_stopped,
    the_agents_own_things_are_out_of_reach,
    a_receipt_is_not_forged,
    a_filled_pipe_of_the_agent_stops_nobody,
);
on_engines!(no_socket_of_another_kind_is_had);
