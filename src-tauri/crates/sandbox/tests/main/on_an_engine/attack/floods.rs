//! Whoever uses up what there is harms themselves: the next command finds the box as it was, and
//! nobody else feels it.

use longrein_sandbox::usage::{UsageLimits, Watch, measure};
use longrein_sandbox::wire::{End, Receipt, Start};

use super::ground::{Ground, Inside};
use super::{on_all, on_engines};
use crate::on_an_engine::place::{until, within};

fn was_killed(receipt: &Receipt) -> bool {
    matches!(
        receipt.end,
        End::Signalled { signal: 9 } | End::Exited { status: 137 }
    )
}

/// A command with this much time.
fn timed(inside: &Inside, text: &str, time_ms: u64) -> Start {
    let mut start = inside.start_of(text);
    start.limits.time_ms = time_ms;
    start
}

async fn a_hog_of_memory_is_killed_and_nobody_else(ground: Ground) {
    let inside = ground.enter().await;
    let other =
        inside
            .begin(inside.start_of(
                "echo ready > ready; while ! [ -e go ]; do sleep 0.02; done; echo spared",
            ))
            .await;
    until(|| ground.path("ready").exists()).await;
    let hog = "python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 22))'";
    let (receipt, output) = inside.run(hog).await;
    if ground.has_engine() {
        assert!(was_killed(&receipt), "{receipt:?}");
        assert!(receipt.memory_kills > 0, "{receipt:?}");
    } else {
        assert!(output.contains("MemoryError"), "{receipt:?} {output}");
    }
    std::fs::write(ground.path("go"), b"").expect("it is ours");
    let (receipt, output) = inside.end(&other).await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 0 }, "spared\n")
    );
    ground.leave(inside).await;
}

async fn memory_of_files_without_a_name_counts_too(ground: Ground) {
    let inside = ground.enter().await;
    // Files without a name, which go with the command.
    let hog = "python3 -c 'import os\nkept = []\nfor n in range(64):\n  kept.append(os.memfd_create(\"x\"))\n  for m in range(16): os.write(kept[-1], bytes(1 << 20))\nprint(\"had it all\")'";
    let (receipt, output) = inside.run(hog).await;
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{output}");
    ground.leave(inside).await;
}

async fn a_fork_bomb_ends_with_its_time(ground: Ground) {
    let inside = ground.enter().await;
    let (receipt, _) = inside
        .run_start(timed(&inside, "b() { b | b & }; b; sleep 30", 1_500))
        .await;
    // Without a process to spare, the shell may give up before its time.
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{receipt:?}");
    ground.leave(inside).await;
}

async fn a_bomb_that_leaves_its_parents_behind_ends_and_spares_other_commands(ground: Ground) {
    let inside = ground.enter().await;
    let other = "echo ready > ready; while ! [ -e go ]; do sleep 0.02; done; echo spared";
    let other = inside.begin(inside.start_of(other)).await;
    until(|| ground.path("ready").exists()).await;
    let text = "while :; do (setsid sleep 0.05 &); (setsid sleep 0.05 &); done";
    let (receipt, _) = inside.run_start(timed(&inside, text, 1_500)).await;
    assert_eq!(receipt.end, End::TimedOut);
    std::fs::write(ground.path("go"), b"").expect("it is ours");
    let (receipt, _) = inside.end(&other).await;
    assert_eq!(receipt.end, End::Exited { status: 0 });
    ground.leave(inside).await;
}

async fn a_bomb_of_threads_is_held(ground: Ground) {
    let inside = ground.enter().await;
    let bomb = "python3 -c 'import threading, time\nthreading.stack_size(1 << 16)\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()'";
    let (receipt, output) = inside.run_start(timed(&inside, bomb, 20_000)).await;
    assert_eq!(receipt.end, End::Exited { status: 1 }, "{output}");
    assert!(output.contains("can't start new thread"), "{output}");
    ground.leave(inside).await;
}

async fn a_storm_of_orphans_is_ended(ground: Ground) {
    let inside = ground.enter().await;
    let storm = "i=0; while [ $i -lt 400 ]; do (true & ) ; i=$((i+1)); done; \
        for i in 1 2 3 4 5 6 7 8; do (setsid sleep 300 &); done; echo done";
    let (receipt, output) = inside.run(storm).await;
    assert_eq!(
        (receipt.end.clone(), output.as_str()),
        (End::Exited { status: 0 }, "done\n"),
        "{receipt:?}"
    );
    // Where no engine is, the system ends them before they are counted.
    assert!(
        !ground.has_engine() || receipt.left_behind >= 8,
        "{receipt:?}"
    );
    assert_eq!(left(&inside).await, "0");
    ground.leave(inside).await;
}

async fn a_storm_of_zombies_goes_with_its_parent(ground: Ground) {
    let inside = ground.enter().await;
    let storm = "python3 -c 'import os, time\n\
        for n in range(40):\n\
        \x20   if os.fork() == 0: os._exit(0)\n\
        open(\"up\", \"w\").write(\"up\")\n\
        time.sleep(300)'";
    let storm = inside.begin(inside.start_of(storm)).await;
    until(|| ground.path("up").exists()).await;
    inside.assert_well().await;
    let killed = within(inside.session.command(&storm).kill()).await;
    killed.expect("it is killed");
    let (receipt, _) = inside.end(&storm).await;
    assert_eq!(receipt.end, End::Killed);
    assert_eq!(left(&inside).await, "0");
    ground.leave(inside).await;
}

/// How many processes sleep, or have ended and are not reaped.
async fn left(inside: &Inside) -> String {
    let text = "for p in /proc/[0-9]*; do cat $p/stat; done 2>/dev/null | grep -cE '\\((sleep|python3)\\)|\\) Z ' || true";
    inside.say(text).await.trim().to_owned()
}

async fn a_full_tmp_is_full_for_the_box_alone(ground: Ground) {
    let inside = ground.enter().await;
    for folder in ["/tmp", "/dev/shm"] {
        let text =
            format!("[ -d {folder} ] || exit 1; dd if=/dev/zero of={folder}/big bs=1M count=80");
        let (receipt, output) = inside.run(&text).await;
        assert_ne!(receipt.end, End::Exited { status: 0 }, "{folder}: {output}");
        inside.run(&format!("rm -f {folder}/big")).await;
    }
    inside.say("echo x > /tmp/x && cat /tmp/x").await;
    ground.leave(inside).await;
}

async fn a_flood_of_names_in_tmp_ends_or_fits(ground: Ground) {
    let inside = ground.enter().await;
    let flood = "python3 -c 'import os\nfor n in range(200000): os.close(os.open(\"/tmp/%d\" % n, os.O_CREAT | os.O_WRONLY))'";
    let (receipt, _) = inside.run_start(timed(&inside, flood, 30_000)).await;
    // Names weigh as memory does: it may fit, and then it is gone with the box.
    assert!(
        !matches!(receipt.end, End::Lost | End::NotStarted { .. }),
        "{receipt:?}"
    );
    inside.run("find /tmp -mindepth 1 -delete").await;
    ground.leave(inside).await;
}

async fn a_file_grows_to_its_limit(ground: Ground) {
    let inside = ground.enter().await;
    let mut growing = inside.start_of("dd if=/dev/zero of=/workspace/big bs=1M count=8");
    growing.limits.file_bytes = 1 << 20;
    let (receipt, _) = inside.run_start(growing).await;
    assert_ne!(receipt.end, End::Exited { status: 0 });
    let size = ground.path("big").metadata().expect("it is there").len();
    assert_eq!(size, 1 << 20);
    ground.leave(inside).await;
}

/// Watches the workspace as the tools do, and ends a command when it is too much.
async fn watched(ground: &Ground, inside: &Inside, text: &str, limits: UsageLimits) {
    let mut watch = Watch::begin(ground.workspace(), limits);
    let flood = inside.begin(inside.start_of(text)).await;
    within(watch.beyond()).await;
    let used = measure(&ground.workspace(), u64::MAX).expect("it is there");
    assert!(used.is_beyond(&limits), "{used:?}");
    let killed = within(inside.session.command(&flood).kill()).await;
    killed.expect("it is killed");
    let (receipt, _) = inside.end(&flood).await;
    assert_eq!(receipt.end, End::Killed);
    let after = measure(&ground.workspace(), u64::MAX).expect("it is there");
    let again = measure(&ground.workspace(), u64::MAX).expect("it is there");
    assert_eq!(after, again, "it grows on");
}

/// More than anybody has.
const FAR: UsageLimits = UsageLimits {
    bytes: u64::MAX,
    entries: u64::MAX,
};

async fn a_flood_of_the_disk_is_seen_and_ended(ground: Ground) {
    let inside = ground.enter().await;
    let flood = "n=0; while :; do n=$((n+1)); (setsid head -c 4000000 /dev/zero > big$((n % 40)) &); sleep 0.02; done";
    let limits = UsageLimits {
        bytes: 48 << 20,
        ..FAR
    };
    watched(&ground, &inside, flood, limits).await;
    inside.say("rm -f big*").await;
    ground.leave(inside).await;
}

async fn a_flood_of_names_is_seen_and_ended(ground: Ground) {
    let inside = ground.enter().await;
    // Not without end, so that what it made is gone in a moment on a busy machine too.
    let flood = "python3 -c 'import os, time\nfor n in range(20000):\n  os.makedirs(\"d/%d/%d\" % (n % 50, n)); time.sleep(0.0005)\ntime.sleep(300)'";
    let limits = UsageLimits {
        entries: 3_000,
        ..FAR
    };
    watched(&ground, &inside, flood, limits).await;
    inside.say("rm -rf d").await;
    ground.leave(inside).await;
}

async fn a_flood_of_output_is_kept_to_its_limit(ground: Ground) {
    let inside = ground.enter().await;
    let mut flood = inside.start_of("head -c 50000000 /dev/zero");
    flood.limits.output_bytes = 2_000_000;
    let (receipt, output) = inside.run_start(flood).await;
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert_eq!(
        (receipt.output.bytes, receipt.output.dropped_bytes),
        (2_000_000, 48_000_000)
    );
    assert_eq!(output.len(), 2_000_000);
    ground.leave(inside).await;
}

async fn open_files_are_used_up_by_whoever_opens_them(ground: Ground) {
    let inside = ground.enter().await;
    let opening = "python3 -c 'kept = []\nwhile True: kept.append(open(\"/dev/null\"))'";
    let (receipt, output) = inside.run(opening).await;
    assert_eq!(receipt.end, End::Exited { status: 1 }, "{output}");
    assert!(output.contains("Too many open files"), "{output}");
    ground.leave(inside).await;
}

async fn whoever_takes_all_processors_stops_nobody(ground: Ground) {
    let inside = ground.enter().await;
    let spinning =
        "for n in 1 2 3 4 5 6; do (while :; do :; done &); done; echo up > up; while :; do :; done";
    let spinning = inside.begin(inside.start_of(spinning)).await;
    until(|| ground.path("up").exists()).await;
    inside.assert_well().await;
    let killed = within(inside.session.command(&spinning).kill()).await;
    killed.expect("it is killed");
    let (receipt, _) = inside.end(&spinning).await;
    assert_eq!(receipt.end, End::Killed);
    ground.leave(inside).await;
}

async fn whoever_ignores_signals_and_hides_is_ended_with_its_time(ground: Ground) {
    let inside = ground.enter().await;
    let text = "trap '' TERM INT HUP QUIT USR1; \
        (setsid sh -c 'trap \"\" TERM; echo up > up; while :; do date > alive; sleep 0.05; done' &) ; \
        while :; do sleep 1; done";
    let (receipt, _) = inside.run_start(timed(&inside, text, 1_500)).await;
    assert_eq!(receipt.end, End::TimedOut);
    assert!(ground.path("up").exists(), "it was there");
    std::fs::remove_file(ground.path("alive")).expect("it is there");
    inside.say("sleep 0.3; ! [ -e alive ]").await;
    ground.leave(inside).await;
}

on_all!(
    a_hog_of_memory_is_killed_and_nobody_else,
    a_fork_bomb_ends_with_its_time,
    a_bomb_of_threads_is_held,
    a_storm_of_orphans_is_ended,
    a_storm_of_zombies_goes_with_its_parent,
    a_full_tmp_is_full_for_the_box_alone,
    a_flood_of_names_in_tmp_ends_or_fits,
    a_file_grows_to_its_limit,
    a_flood_of_the_disk_is_seen_and_ended,
    a_flood_of_names_is_seen_and_ended,
    a_flood_of_output_is_kept_to_its_limit,
    open_files_are_used_up_by_whoever_opens_them,
    whoever_takes_all_processors_stops_nobody,
    whoever_ignores_signals_and_hides_is_ended_with_its_time,
);
on_engines!(
    memory_of_files_without_a_name_counts_too,
    a_bomb_that_leaves_its_parents_behind_ends_and_spares_other_commands,
);
