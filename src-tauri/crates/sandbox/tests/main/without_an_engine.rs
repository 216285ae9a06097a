//! What trials found in the box without an engine; it takes bubblewrap alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use longrein_sandbox::bubblewrap::Bubblewrap;
use longrein_sandbox::code::Closing;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::on_an_engine::code::{Bench, command, seen, text};
use crate::on_an_engine::place::within;

/// More than a result holds.
const MUCH: &str = "seq 1 200000";

fn mode(path: &Path) -> u32 {
    let metadata = fs::metadata(path).expect("it is there");
    metadata.permissions().mode() & 0o777
}

#[tokio::test]
async fn a_short_command_leaves_nothing_behind_and_what_a_command_leaves_is_counted() {
    let bench = Bench::without().await;
    let process = bench.process();
    for number in 0..12 {
        let action = format!("A{number}");
        let said = process.text("run_command", &action, command("true")).await;
        assert!(!said.contains("left behind"), "{number}: {said}");
    }
    let one = process.text("run_command", "B1", command("sleep 300 & true"));
    let one = one.await;
    assert!(
        one.contains("[1 process that it left behind was ended; "),
        "{one}"
    );
    let two = "(setsid sleep 300 &); (sleep 301 &); true";
    let two = process.text("run_command", "B2", command(two)).await;
    assert!(
        two.contains("[2 processes that it left behind were ended; "),
        "{two}"
    );
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

#[tokio::test]
async fn how_a_command_ended_is_said_as_it_was() {
    let bench = Bench::without().await;
    let process = bench.process();
    let said = process
        .text("run_command", "A1", command("kill -9 $$"))
        .await;
    assert!(said.starts_with("[ended by signal 9"), "{said}");
    let said = process.text("run_command", "A2", command("exit 77")).await;
    assert!(said.starts_with("[exit status 77"), "{said}");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

#[tokio::test]
async fn nothing_of_the_caller_is_held_by_the_box_or_seen_inside() {
    let bench = Bench::without().await;
    let place = bench.workspace().with_file_name("lock");
    let held = fs::File::create(&place).expect("ours");
    flock(&held, FlockOperation::NonBlockingLockExclusive).expect("it is free");
    // As a shell hands a file to what it starts.
    fcntl_setfd(&held, FdFlags::empty()).expect("it is open");
    let process = bench.process();
    let line = "ls /proc/self/fd | wc -l; ls /proc/1/fd 2>/dev/null | wc -l";
    let said = process.text("run_command", "A1", command(line)).await;
    drop(held);
    // Three streams, and the folder that is read.
    assert!(said.starts_with("4\n0\n"), "{said}");
    let again = fs::File::open(&place).expect("it is there");
    flock(&again, FlockOperation::NonBlockingLockExclusive).expect("the box does not hold it");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

/// Answers every request on a port of this machine.
async fn host() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4_096];
            let _ = stream.read(&mut request).await;
            let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
            let _ = stream.write_all(answer).await;
        }
    });
    port
}

#[tokio::test]
async fn listed_hosts_are_reached_and_no_others_and_each_request_is_told() {
    let mut bench = Bench::without().await;
    let port = host().await;
    bench.settings.hosts = vec![format!("localhost:{port}")];
    let process = bench.process();
    let code = format!(
        "import socket, urllib.request, urllib.error\n\
         for at in ['localhost:{port}', 'other.test:80']:\n    \
             try:\n        \
                 print(urllib.request.urlopen(f'http://{{at}}/', timeout=20).read().decode())\n    \
             except urllib.error.HTTPError as error:\n        \
                 print(error.code)\n\
         try:\n    \
             socket.create_connection(('127.0.0.1', {port}), 5)\n    \
             print('a way around')\n\
         except OSError:\n    \
             print('no way around')\n"
    );
    let said = process
        .text("run_code", "A1", json!({"code": code, "intent": "a test"}))
        .await;
    assert!(
        said.starts_with("hello\n403\nno way around\n[exit status 0"),
        "{said}"
    );
    let facts = process.facts();
    assert!(
        facts.contains(&format!("GET localhost:{port} ")),
        "{facts:?}"
    );
    assert!(
        facts
            .iter()
            .any(|fact| fact.starts_with("GET other.test:80 ") && fact.len() > 20),
        "{facts:?}"
    );
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

/// Whoever is not root is their own box's user, and comes to their folders anyway.
#[tokio::test]
async fn a_folder_that_nobody_else_enters_keeps_no_command_from_its_workspace() {
    let bench = Bench::without().await;
    let closed = bench
        .workspace()
        .parent()
        .expect("it lies in one")
        .to_owned();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("ours");
    let process = bench.process();
    let said = process.text(
        "run_command",
        "A1",
        command("echo there > file; cat file; ls /mnt"),
    );
    let said = said.await;
    assert!(said.starts_with("there\n"), "{said}");
    let code = json!({"code": "import tools; print(tools.call('lab.double', n=4)['ok'])",
        "intent": "a test"});
    let said = process.text("run_code", "A2", code).await;
    assert!(said.starts_with("8\n[exit status 0"), "{said}");
    let nobody = longrein_runtime::ports::NoLiveAction;
    let ready = process.boxes.ready(process.spec(), &nobody);
    within(ready)
        .await
        .expect("what is tried out is what runs have");
    assert_eq!(mode(&closed), 0o700, "nothing was opened for that");
    let file = fs::read_to_string(bench.workspace().join("file"));
    assert_eq!(file.expect("it is here"), "there\n");
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

#[tokio::test]
async fn a_full_workspace_ends_what_fills_it_and_can_be_tidied_up() {
    let mut bench = Bench::without().await;
    bench.settings.disk = "4MiB".parse().expect("a size");
    let process = bench.process();
    let filling = "n=0; while :; do n=$((n+1)); head -c 1000000 /dev/zero > f$n; sleep 0.05; done";
    let said = process.text("run_command", "A1", command(filling)).await;
    assert!(said.contains("may hold 4.0 MiB"), "{said}");
    assert!(said.contains("delete what is not needed first"), "{said}");
    let held = fs::read_dir(bench.workspace())
        .expect("it is there")
        .count();
    let mebibytes = held as f64 * 1_000_000.0 / f64::from(1 << 20);
    let told = said.split_once("holds ").expect("it is said").1;
    let told: f64 = told
        .split(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert!(
        (told - mebibytes).abs() < 3.0,
        "{told} of {mebibytes}: {said}"
    );
    let said = process.text("run_command", "A2", command("ls | head -n 1; sleep 1.5"));
    let said = said.await;
    assert!(said.starts_with("f1\n[exit status 0"), "{said}");
    assert!(said.contains("what makes it grow is ended"), "{said}");
    let said = process.text("run_command", "A3", command(filling)).await;
    assert!(said.contains("may hold 4.0 MiB"), "{said}");
    let said = process
        .text("run_command", "A4", command("rm f*; sleep 1.5; ls"))
        .await;
    assert!(said.starts_with("[exit status 0"), "{said}");
    assert!(!said.contains("may hold"), "{said}");
    let large = command("head -c 8000000 /dev/zero > large");
    let said = process.text("run_command", "A5", large).await;
    assert!(
        said.contains("[a file may not grow beyond 4.0 MiB"),
        "{said}"
    );
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

#[tokio::test]
async fn whatever_a_command_does_to_its_workspace_its_result_is_told_and_the_next_one_runs() {
    let bench = Bench::without().await;
    let process = bench.process();
    let spoiled = [
        ("a file", "rm -rf results; echo x > results"),
        ("a link", "rm -rf results; ln -s /nowhere results"),
        ("a pipe", "rm -rf results; mkfifo results"),
        ("a closed folder", "rm -rf results; mkdir -m 000 results"),
        ("our own name", "rm -rf .longrein; echo x > .longrein"),
        ("the folder itself", "chmod 000 /workspace"),
    ];
    for (number, (what, line)) in spoiled.into_iter().enumerate() {
        let line = format!("{line}; {MUCH}");
        let said = process
            .text("run_command", &format!("A{number}"), command(&line))
            .await;
        assert!(
            said.starts_with("1\n2\n") && said.contains("200000\n[exit"),
            "{what}: {said}"
        );
        assert!(said.contains("all of it is in results"), "{what}: {said}");
        let opened = said.contains("has been opened again");
        assert_eq!(opened, what == "the folder itself", "{what}: {said}");
        let code = json!({"code": "import tools; print(6 * 7)", "intent": "a test"});
        let said = process.text("run_code", &format!("B{number}"), code).await;
        assert!(said.starts_with("42\n[exit status 0"), "{what}: {said}");
    }
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

#[tokio::test]
async fn who_ends_a_run_ends_what_another_process_began() {
    let bench = Bench::without().await;
    let first = bench.process();
    let begun = bench.workspace().join("begun");
    let call = first.call(
        "A1",
        command("(setsid sleep 300 &); echo $$ > begun; sleep 300"),
    );
    let running = tokio::spawn(async move { text(first.run("run_command", call).await) });
    seen(&begun).await;
    running.abort();
    let beats = bench.workspace().join("beats");
    assert!(!beats.exists());
    let other = bench.process();
    let run = bench.run.to_string();
    within(other.boxes.stop_left(bench.run))
        .await
        .expect("it stops");
    let left = within(other.boxes.left()).await.expect("it lists");
    assert!(left.contains(&run), "it is kept: {left:?}");
    let said = other.text(
        "run_command",
        "A2",
        command("echo beats > beats; ls /proc | grep -c '^[0-9]'"),
    );
    let said = said.await;
    assert!(said.contains("exit status 0"), "{said}");
    within(other.boxes.remove_left(&run))
        .await
        .expect("it goes");
    let gone = async {
        while !processes_of(&bench.workspace()).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(gone).await;
    bench.clear().await;
}

/// Such as one of another version, or one that hangs.
#[tokio::test]
async fn an_agent_that_is_not_ended_by_a_word_is_killed() {
    let state = tempfile::tempdir().expect("a folder");
    let receipts = state.path().join("receipts");
    fs::create_dir(&receipts).expect("ours");
    let lock = receipts.join("lock");
    let holding = "import fcntl, sys, time; held = open(sys.argv[1], 'w'); \
        fcntl.flock(held, fcntl.LOCK_EX); print('held', flush=True); time.sleep(300)";
    let mut agent = tokio::process::Command::new("python3")
        .args(["-c", holding])
        .arg(&lock)
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut said = [0; 5];
    let output = agent.stdout.as_mut().expect("it is piped");
    output
        .read_exact(&mut said)
        .await
        .expect("it holds its folder");
    let listener = tokio::net::UnixListener::bind(receipts.join("agent.sock")).expect("ours");
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    within(Bubblewrap::stop(state.path()))
        .await
        .expect("it ends");
    let ended = agent.wait().await.expect("it has ended");
    assert_eq!(ended.signal(), Some(9));
}

/// Processes of this machine that have a path in their arguments.
fn processes_of(path: &Path) -> Vec<String> {
    let path = path.display().to_string();
    let entries = fs::read_dir("/proc").expect("it is there").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(&path)).collect()
}
