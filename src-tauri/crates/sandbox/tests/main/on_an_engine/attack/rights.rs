//! Who a command is and what it may become.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::ground::Ground;
use super::{on_all, on_engines};

/// The numbers of the capabilities that a container's agent has: to end processes and to become
/// another user and group. Commands inherit the bound and none of them.
const AGENTS: u64 = 0b1110_0000;

/// A field of a command's own status.
fn field(status: &str, name: &str) -> String {
    let prefix = format!("{name}:");
    let line = status.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap_or_else(|| panic!("no {name}: {status}"))
        .trim()
        .to_owned()
}

async fn a_command_has_no_capability_and_no_privilege(ground: Ground) {
    let inside = ground.enter().await;
    let status = inside.say("cat /proc/self/status").await;
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(field(&status, set), "0000000000000000", "{set}");
    }
    let bound = u64::from_str_radix(&field(&status, "CapBnd"), 16).expect("a number");
    let most = if ground.has_engine() { AGENTS } else { 0 };
    assert_eq!(bound & !most, 0, "{bound:x}");
    assert_eq!(field(&status, "NoNewPrivs"), "1");
    assert_eq!(field(&status, "TracerPid"), "0");
    ground.leave(inside).await;
}

async fn a_command_runs_behind_a_filter_of_calls(ground: Ground) {
    let inside = ground.enter().await;
    let status = inside.say("cat /proc/self/status").await;
    assert_eq!(field(&status, "Seccomp"), "2");
    ground.leave(inside).await;
}

async fn a_command_is_whom_the_workspace_belongs_to_and_nobody_else(ground: Ground) {
    let inside = ground.enter().await;
    let said = inside
        .say("id -u; stat -c %u /workspace; grep -E '^(Uid|Gid|Groups):' /proc/self/status")
        .await;
    let lines: Vec<&str> = said.lines().collect();
    let owner = ground.workspace().metadata().expect("it is there").uid();
    assert_ne!(owner, 0);
    assert_eq!(lines[0], owner.to_string());
    assert_eq!(lines[1], lines[0]);
    for line in &lines[2..] {
        let mut ids = line.split_whitespace().skip(1);
        assert!(ids.all(|id| id != "0"), "{line}");
    }
    inside
        .assert_refused(&[
            ("being root", "[ \"$(id -u)\" = 0 ]"),
            ("becoming root", "python3 -c 'import os; os.setuid(0)'"),
            ("becoming root in part", "python3 -c 'import os; os.setresuid(-1, 0, -1)'"),
            ("becoming somebody else", "python3 -c 'import os; os.setuid(1000)'"),
            ("root's group", "python3 -c 'import os; os.setgid(0)'"),
            ("more groups", "python3 -c 'import os; os.setgroups([0, 6, 44])'"),
            ("giving a file away", "touch mine && chown 0 mine"),
            ("a file's group", "touch mine && chgrp 0 mine"),
            ("capabilities of a file", "python3 -c 'import os; os.setxattr(\"mine\", \"security.capability\", b\"\\1\\0\\0\\2\" + b\"\\xff\" * 4 + b\"\\0\" * 12)'"),
        ])
        .await;
    assert_eq!(
        ground.path("mine").metadata().expect("it is there").uid(),
        owner
    );
    ground.leave(inside).await;
}

async fn no_program_makes_root_of_a_command(ground: Ground) {
    let inside = ground.enter().await;
    let program = ground.path("rootly");
    // As somebody of this machine might leave one; what is handed over loses it.
    std::fs::copy("/usr/bin/python3", &program).expect("it is ours");
    let rootly = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(&program, rootly).expect("it is ours");
    assert_eq!(program.metadata().expect("it is there").uid(), 0);
    let me = inside.say("id -u").await;
    let asking = "-c 'import os; print(os.geteuid())'";
    assert_eq!(inside.say(&format!("./rootly {asking}")).await, me);
    // Those that the system brings.
    let found = "for f in $(find /bin /usr/bin /usr/sbin /usr/lib -perm -4000 -user 0 2>/dev/null); do \
        [ $(basename $f) != rootly ] || $f -c 'import os; print(os.geteuid())'; done; \
        su -c id root </dev/null 2>/dev/null | grep uid=0; sudo -n id 2>/dev/null | grep uid=0; true";
    for user in inside.say(found).await.lines() {
        assert_eq!(user, me.trim());
    }
    // What is made by a command is a command's.
    let made =
        "cp /bin/busybox mine 2>/dev/null || cp /bin/sh mine; chmod 6755 mine && stat -c %u mine";
    assert_eq!(inside.say(made).await, me);
    ground.leave(inside).await;
}

async fn limits_and_priorities_only_go_down(ground: Ground) {
    let inside = ground.enter().await;
    inside
        .assert_refused(&[
            ("more open files", "ulimit -H -n 1000000"),
            ("larger files", "ulimit -H -f unlimited"),
            ("leaving cores", "ulimit -H -c unlimited"),
            ("a higher priority", "nice -n -5 true 2>&1 | grep . && exit 1; nice -n -5 sh -c '[ $(cut -d\" \" -f19 /proc/self/stat) -lt 0 ]'"),
            ("real time", "python3 -c 'import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))'"),
        ])
        .await;
    if ground.has_engine() {
        // Without one, the first process is a command's own.
        let others =
            "python3 -c 'import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (64, 64))'";
        inside
            .assert_refused(&[("the agent's limits", others)])
            .await;
    }
    ground.leave(inside).await;
}

async fn what_is_run_inside_leaves_no_core(ground: Ground) {
    let inside = ground.enter().await;
    assert_eq!(inside.say("ulimit -c; ulimit -H -c").await, "0\n0\n");
    inside.run("kill -SEGV $$").await;
    let left = std::fs::read_dir(ground.workspace())
        .expect("it is ours")
        .count();
    assert_eq!(left, 0);
    ground.leave(inside).await;
}

on_all!(
    a_command_has_no_capability_and_no_privilege,
    a_command_is_whom_the_workspace_belongs_to_and_nobody_else,
    no_program_makes_root_of_a_command,
    limits_and_priorities_only_go_down,
    what_is_run_inside_leaves_no_core,
);
on_engines!(a_command_runs_behind_a_filter_of_calls);
