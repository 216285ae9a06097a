//! Ways out of the box, as a table: each is tried by a command, and none may succeed.

use std::fmt::Write;
use std::net::TcpListener;

use longrein_sandbox::wire::End;

use super::on_both;
use super::place::Place;

/// A kernel call by its number; succeeds when the call was not refused by a filter or for want of
/// a right. Wrong arguments, which a call that is let through complains of, are no refusal.
const SYSCALL: &str = "import ctypes, sys\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    result = libc.syscall(*[ctypes.c_long(int(word, 0)) for word in sys.argv[1:]])\n\
    error = ctypes.get_errno()\n\
    print(result, error)\n\
    sys.exit(1 if result < 0 and error in (1, 38) else 0)\n";

/// What must work, so that a way out is not refused for want of a program.
const WORKS: &[(&str, &str)] = &[
    (
        "the workspace can be written to",
        "echo x > /workspace/x && [ \"$(cat /workspace/x)\" = x ]",
    ),
    (
        "/tmp can be written to and run from",
        "cp /bin/busybox /tmp/busybox && /tmp/busybox true",
    ),
    (
        "Python runs, with threads and processes",
        "python3 -c 'import threading, os; t = threading.Thread(target=print); t.start(); t.join(); os.waitpid(os.spawnv(os.P_NOWAIT, \"/bin/true\", [\"true\"]), 0)'",
    ),
    (
        "a program that would make root of us runs",
        "rootly -c 'print(1)'",
    ),
    (
        "a kernel call by its number goes through",
        "python3 syscall.py 39",
    ),
    (
        "sockets on the loopback work",
        "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); c = socket.create_connection(s.getsockname())'",
    ),
    (
        "commands are who the workspace belongs to",
        "[ \"$(id -u)\" = \"$(stat -c %u /workspace)\" ]",
    ),
    ("the image's path is there", "[ \"$PATH\" = /bin ]"),
];

/// What must fail.
const REFUSED: &[(&str, &str)] = &[
    ("being root", "[ \"$(id -u)\" = 0 ]"),
    ("becoming root", "python3 -c 'import os; os.setuid(0)'"),
    (
        "becoming a member of root's group",
        "python3 -c 'import os; os.setgid(0)'",
    ),
    (
        "a program that would make root of us",
        "[ \"$(rootly -c 'import os; print(os.geteuid())')\" = 0 ]",
    ),
    (
        "having capabilities",
        "grep -qE 'Cap(Prm|Eff|Amb|Inh):.*[1-9a-f]' /proc/self/status",
    ),
    (
        "privileges by other programs",
        "grep -q 'NoNewPrivs:.*0' /proc/self/status",
    ),
    (
        "calls without a filter",
        "grep -q 'Seccomp:.*0' /proc/self/status",
    ),
    ("writing to /etc", "echo x > /etc/x"),
    ("writing to /bin", "echo x > /bin/x"),
    ("writing to /", "mkdir /x"),
    ("making the root writable", "mount -o remount,rw /"),
    ("mounting", "mount -t tmpfs none /tmp"),
    (
        "mounting a folder elsewhere",
        "mount --bind /tmp /workspace",
    ),
    ("unmounting", "umount /workspace"),
    ("another root", "chroot /tmp /busybox true"),
    ("a user namespace", "unshare -U true"),
    ("a user namespace with root", "unshare -r true"),
    ("a mount namespace", "unshare -m true"),
    ("a network namespace", "unshare -n true"),
    ("entering a namespace", "nsenter -t 1 -m true"),
    (
        "a namespace by clone",
        "python3 syscall.py 56 0x10000011 0 0 0 0",
    ),
    ("a namespace by clone3", "python3 syscall.py 435 0 0"),
    (
        "a namespace by unshare",
        "python3 syscall.py 272 0x10000000",
    ),
    ("setns", "python3 syscall.py 308 -1 0"),
    ("io_uring", "python3 syscall.py 425 1 0"),
    ("keyctl", "python3 syscall.py 250 0 0 0"),
    ("add_key", "python3 syscall.py 248 0 0 0 0 0"),
    ("request_key", "python3 syscall.py 249 0 0 0 0"),
    ("ptrace", "python3 syscall.py 101 0 0 0 0"),
    (
        "reading another process's memory",
        "python3 syscall.py 310 1 0 0 0 0 0",
    ),
    (
        "writing another process's memory",
        "python3 syscall.py 311 1 0 0 0 0 0",
    ),
    (
        "taking another process's files",
        "python3 syscall.py 438 -1 0 0",
    ),
    ("bpf", "python3 syscall.py 321 0 0 0"),
    ("perf_event_open", "python3 syscall.py 298 0 0 -1 -1 0"),
    ("userfaultfd", "python3 syscall.py 323 0"),
    ("opening by handle", "python3 syscall.py 304 -1 0 0"),
    ("loading a module", "python3 syscall.py 175 0 0 0"),
    ("another kernel", "python3 syscall.py 246 0 0 0 0"),
    ("rebooting", "python3 syscall.py 169 0 0 0 0"),
    ("swapping", "python3 syscall.py 167 0 0"),
    ("fsopen", "python3 syscall.py 430 0 0"),
    ("open_tree", "python3 syscall.py 428 -1 0 0"),
    ("another execution domain", "python3 syscall.py 135 8"),
    (
        "setting the clock",
        "! date -s 2001-01-01 2>&1 | grep -q not.permitted",
    ),
    ("setting the clock by call", "python3 syscall.py 227 0 0"),
    ("setting the host's name", "hostname other"),
    (
        "a raw socket",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
    ),
    (
        "a packet socket",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
    ),
    (
        "a socket to the machine below",
        "python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)'",
    ),
    (
        "the kernel's ciphers",
        "python3 -c 'import socket; socket.socket(38, socket.SOCK_SEQPACKET)'",
    ),
    (
        "an interface beside the loopback",
        "grep -v lo: /proc/net/dev | grep -q :",
    ),
    (
        "resolving a name",
        "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
    ),
    ("a block device", "mknod /workspace/d b 8 0"),
    ("a character device", "mknod /tmp/d c 1 1"),
    ("the machine's memory", "head -c 1 /dev/mem"),
    ("the kernel's log", "dmesg"),
    ("the first process's root", "ls /proc/1/root/"),
    ("the first process's folder", "ls /proc/1/cwd/"),
    ("the first process's environment", "cat /proc/1/environ"),
    ("the first process's memory", "head -c 1 /proc/1/mem"),
    ("the first process's files", "ls /proc/1/fd/"),
    ("writing to /proc/sys", "echo 1 > /proc/sys/kernel/panic"),
    (
        "where cores go",
        "echo '|/workspace/x' > /proc/sys/kernel/core_pattern",
    ),
    ("sysrq", "echo b > /proc/sysrq-trigger"),
    ("writing to /sys", "echo 1 > /sys/kernel/uevent_helper"),
    (
        "a control group of one's own",
        "mkdir /sys/fs/cgroup/x || mkdir /sys/fs/cgroup/pids/x",
    ),
    (
        "lifting the limit of processes",
        "echo max > /sys/fs/cgroup/pids.max || echo max > /sys/fs/cgroup/pids/pids.max",
    ),
    (
        "leaving the control group",
        "echo $$ > /sys/fs/cgroup/cgroup.procs || echo $$ > /sys/fs/cgroup/pids/cgroup.procs",
    ),
    (
        "a program for emptied groups",
        "echo /workspace/x > /sys/fs/cgroup/memory/release_agent",
    ),
    ("the receipts", "ls /longrein/state"),
    (
        "forging a receipt",
        "mkdir -p /longrein/state/commands/forged && echo '{}' > /longrein/state/commands/forged/receipt.json",
    ),
    (
        "the agent's socket",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/longrein/state/agent.sock\")'",
    ),
    ("another agent", "echo x > /longrein/resident"),
    ("the folder of sockets", "touch /run/longrein/x"),
    ("ending the agent", "kill -9 1"),
    ("stopping the agent", "kill -STOP 1"),
    ("ending one's supervisor", "kill -9 $PPID"),
    ("tracing one's supervisor", "head -c 1 /proc/$PPID/mem"),
    (
        "giving a file away",
        "touch /workspace/mine && chown 0 /workspace/mine",
    ),
    ("raising one's limits", "ulimit -H -n 1000000"),
    ("a higher priority", "nice -n -5 true"),
];

async fn no_way_out_is_open(place: Place) {
    std::fs::write(place.workspace().join("syscall.py"), SYSCALL).expect("it is ours");
    let inside = place.enter().await;
    let mut wrong = String::new();
    for (what, script) in WORKS {
        let (receipt, output) = inside.run(&place.id(), script).await;
        if receipt.end != (End::Exited { status: 0 }) {
            let _ = writeln!(wrong, "does not work: {what}: {:?} {output}", receipt.end);
        }
    }
    for (what, script) in REFUSED {
        let (receipt, output) = inside.run(&place.id(), script).await;
        if receipt.end == (End::Exited { status: 0 }) {
            let _ = writeln!(wrong, "succeeds: {what}: {output}");
        }
    }
    assert!(inside.session.is_open());
    assert!(wrong.is_empty(), "{wrong}");
    place.clear().await;
}

async fn a_listener_on_this_machine_is_out_of_reach(place: Place) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let addresses = "127.0.0.1 10.0.2.2 host.containers.internal host.docker.internal 172.17.0.1";
    let inside = place.enter().await;
    let script = format!(
        "for a in {addresses}; do nc -w 1 $a {port} </dev/null && echo reached $a; done; true"
    );
    let (_, output) = inside.run("reach", &script).await;
    assert!(!output.contains("reached"), "{output}");
    place.clear().await;
}

on_both!(
    no_way_out_is_open,
    a_listener_on_this_machine_is_out_of_reach
);
