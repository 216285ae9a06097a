//! What a command asks of the kernel: namespaces, keys, rings, traces, clocks and settings.

use std::time::{Duration, Instant, SystemTime};

use super::ground::{Ground, Inside};
use super::{on_all, on_engines};

/// A kernel call by its number; succeeds when the call was not refused by a filter or for want of
/// a right. Wrong arguments, which a call that is let through complains of, are no refusal.
const SYSCALL: &str = "import ctypes, sys\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    result = libc.syscall(*[ctypes.c_long(int(word, 0)) for word in sys.argv[1:]])\n\
    error = ctypes.get_errno()\n\
    print(result, error)\n\
    sys.exit(1 if result < 0 and error in (1, 38) else 0)\n";

/// The box with the program for calls by number, whose numbers are those of x86-64.
async fn enter_with_calls(ground: &Ground) -> Inside {
    std::fs::write(ground.path("call.py"), SYSCALL).expect("it is ours");
    let inside = ground.enter().await;
    // Asking for one's own number is let through: so a refusal is one.
    inside.say("python3 call.py 39").await;
    inside
}

async fn no_program_makes_or_enters_a_namespace(ground: Ground) {
    let inside = ground.enter().await;
    inside
        .assert_refused(&[
            ("of users", "unshare -U true"),
            ("of users, as root", "unshare -r true"),
            ("of mounts", "unshare -m true"),
            ("of networks", "unshare -n true"),
            ("of processes", "unshare -f -p true"),
            ("of queues", "unshare -i true"),
            ("of names", "unshare -u true"),
            ("of control groups", "unshare -C true"),
            ("of users and mounts at once", "unshare -r -m true"),
            ("that of the first process", "nsenter -t 1 -m true"),
            (
                "that of the first process's network",
                "nsenter -t 1 -n true",
            ),
        ])
        .await;
    ground.leave(inside).await;
}

async fn no_call_makes_or_enters_a_namespace(ground: Ground) {
    let inside = enter_with_calls(&ground).await;
    inside
        .assert_refused(&[
            ("users, by clone", "python3 call.py 56 0x10000011 0 0 0 0"),
            ("mounts, by clone", "python3 call.py 56 0x00020011 0 0 0 0"),
            (
                "processes, by clone",
                "python3 call.py 56 0x20000011 0 0 0 0",
            ),
            (
                "networks, by clone",
                "python3 call.py 56 0x40000011 0 0 0 0",
            ),
            ("anything, by clone3", "python3 call.py 435 0 0"),
            ("users, by unshare", "python3 call.py 272 0x10000000"),
            ("clocks, by unshare", "python3 call.py 272 0x80"),
            ("entering, by setns", "python3 call.py 308 -1 0"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn calls_that_reach_beyond_a_process_are_refused(ground: Ground) {
    let inside = enter_with_calls(&ground).await;
    inside
        .assert_refused(&[
            ("mount", "python3 call.py 165 0 0 0 0 0"),
            ("umount2", "python3 call.py 166 0 0"),
            ("pivot_root", "python3 call.py 155 0 0"),
            ("chroot", "python3 call.py 161 0"),
            ("open_tree", "python3 call.py 428 -1 0"),
            ("move_mount", "python3 call.py 429 -1 0 -1 0 0"),
            ("fsopen", "python3 call.py 430 0 0"),
            ("mount_setattr", "python3 call.py 442 -1 0 0 0 0"),
            ("open_by_handle_at", "python3 call.py 304 -1 0 0"),
            ("name_to_handle_at", "python3 call.py 303 -1 0 0 0 0"),
            ("bpf", "python3 call.py 321 0 0 0"),
            ("perf_event_open", "python3 call.py 298 0 0 -1 -1 0"),
            ("userfaultfd", "python3 call.py 323 0"),
            ("fanotify_init", "python3 call.py 300 0 0"),
            ("init_module", "python3 call.py 175 0 0 0"),
            ("finit_module", "python3 call.py 313 -1 0 0"),
            ("delete_module", "python3 call.py 176 0 0"),
            ("kexec_load", "python3 call.py 246 0 0 0 0"),
            ("reboot", "python3 call.py 169 0 0 0 0"),
            ("swapon", "python3 call.py 167 0 0"),
            ("acct", "python3 call.py 163 0"),
            ("quotactl", "python3 call.py 179 0 0 0 0"),
            ("iopl", "python3 call.py 172 3"),
            ("ioperm", "python3 call.py 173 0 0 0"),
            ("modify_ldt", "python3 call.py 154 0 0 0"),
            ("syslog", "python3 call.py 103 3 0 0"),
            ("vhangup", "python3 call.py 153"),
            ("personality", "python3 call.py 135 8"),
            ("pidfd_getfd", "python3 call.py 438 -1 0 0"),
            ("kcmp", "python3 call.py 312 1 1 0 0 0"),
            ("process_madvise", "python3 call.py 440 -1 0 0 0 0"),
            ("lookup_dcookie", "python3 call.py 212 0 0 0"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn rings_of_the_kernel_are_refused(ground: Ground) {
    let inside = enter_with_calls(&ground).await;
    inside
        .assert_refused(&[
            ("io_uring_setup", "python3 call.py 425 1 0"),
            ("io_uring_enter", "python3 call.py 426 -1 0 0 0 0 0"),
            ("io_uring_register", "python3 call.py 427 -1 0 0 0"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn keys_of_the_kernel_are_out_of_reach(ground: Ground) {
    let inside = enter_with_calls(&ground).await;
    let mark = ground.mark();
    let adding = format!(
        "python3 -c 'import ctypes, sys; libc = ctypes.CDLL(None); \
         sys.exit(0 if libc.syscall(248, b\"user\", b\"{mark}\", b\"x\", 1, -4) > 0 else 1)'"
    );
    inside
        .assert_refused(&[
            ("adding one", adding.as_str()),
            ("add_key", "python3 call.py 248 0 0 0 0 0"),
            ("request_key", "python3 call.py 249 0 0 0 0"),
            ("keyctl", "python3 call.py 250 0 0 0"),
        ])
        .await;
    // It lists those of all whose keys may be seen, which for root are all of the machine's.
    let keys = std::fs::read_to_string("/proc/keys").unwrap_or_default();
    assert!(!keys.contains(&mark), "{keys}");
    ground.leave(inside).await;
}

async fn no_process_is_traced_or_read(ground: Ground) {
    let inside = enter_with_calls(&ground).await;
    inside
        .assert_refused(&[
            ("ptrace", "python3 call.py 101 0 0 0 0"),
            ("reading memory", "python3 call.py 310 1 0 0 0 0 0"),
            ("writing memory", "python3 call.py 311 1 0 0 0 0 0"),
            ("the supervisor's memory", "head -c 1 /proc/$PPID/mem"),
            ("the supervisor's environment", "cat /proc/$PPID/environ"),
            ("the supervisor's files", "ls /proc/$PPID/fd/"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn the_clock_of_this_machine_goes_on(ground: Ground) {
    let (clock, begun) = (SystemTime::now(), Instant::now());
    let inside = ground.enter().await;
    // Not far off, so that nobody is harmed where it should succeed.
    inside
        .assert_refused(&[
            ("by program", "! date -s @$(date +%s) 2>&1 | grep -q -i -E 'permitted|denied'"),
            ("by call", "python3 -c 'import time; time.clock_settime(time.CLOCK_REALTIME, time.time())'"),
            ("its speed", "python3 -c 'import ctypes, sys; b = ctypes.create_string_buffer(256); b[0] = b\"\\1\"; sys.exit(ctypes.CDLL(None).adjtimex(b) < 0)'"),
        ])
        .await;
    let passed = clock.elapsed().expect("it goes forward");
    let drift = passed.abs_diff(begun.elapsed());
    assert!(drift < Duration::from_secs(1), "{drift:?}");
    ground.leave(inside).await;
}

/// Settings of the kernel that lead out of a box or harm its machine, where they can be changed.
const SETTINGS: [&str; 10] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/panic",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/fs/suid_dumpable",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/module/kernel/parameters/panic",
];

async fn no_setting_of_the_kernel_is_changed(ground: Ground) {
    let read = || SETTINGS.map(|path| std::fs::read(path).unwrap_or_default());
    let before = read();
    let inside = ground.enter().await;
    // What stands there is written again, so that nobody is harmed where it should succeed.
    let text = format!(
        "for f in {}; do [ -e $f ] || continue; v=$(cat $f 2>/dev/null); \
           (echo \"$v\" > $f) 2>/dev/null && echo \"wrote $f\"; done; \
         (echo h > /proc/sysrq-trigger) 2>/dev/null && echo sysrq; \
         (echo 0 > /proc/self/oom_score_adj && echo -1000 > /proc/self/oom_score_adj) 2>/dev/null && echo oom; \
         (echo 1 > /proc/irq/default_smp_affinity) 2>/dev/null && echo irq; \
         (echo x > /proc/scsi/scsi) 2>/dev/null && echo scsi; \
         hostname other 2>/dev/null && echo hostname; true",
        SETTINGS.join(" ")
    );
    assert_eq!(inside.say(&text).await, "");
    assert_eq!(read(), before);
    ground.leave(inside).await;
}

async fn the_control_group_is_neither_left_nor_changed(ground: Ground) {
    let inside = ground.enter().await;
    let mark = ground.mark();
    let before = inside.say("cat /proc/self/cgroup").await;
    let ways = [
        ("a group of its own", format!("find /sys/fs/cgroup -type d -exec mkdir {{}}/{mark} \\; ; find /sys/fs/cgroup -name {mark} | grep .")),
        ("lifting a limit", "for f in $(find /sys/fs/cgroup -name pids.max -o -name memory.max -o -name memory.limit_in_bytes -o -name cpu.max -o -name cpu.cfs_quota_us); do echo max > $f && exit 0; echo -1 > $f && exit 0; done; false".to_owned()),
        ("another group", "for f in $(find /sys/fs/cgroup -name cgroup.procs -o -name tasks); do echo $$ > $f && exit 0; done; false".to_owned()),
        ("a program for emptied groups", "for f in $(find /sys/fs/cgroup -name release_agent -o -name notify_on_release); do echo /workspace/x > $f && exit 0; done; false".to_owned()),
        ("devices", "for f in $(find /sys/fs/cgroup -name devices.allow); do echo a > $f && exit 0; done; false".to_owned()),
        ("standing still", "for f in $(find /sys/fs/cgroup -name cgroup.freeze -o -name freezer.state); do echo FROZEN > $f && exit 0; echo 1 > $f && exit 0; done; false".to_owned()),
    ];
    let ways: Vec<(&str, &str)> = ways
        .iter()
        .map(|(what, text)| (*what, text.as_str()))
        .collect();
    inside.assert_refused(&ways).await;
    assert_eq!(inside.say("cat /proc/self/cgroup").await, before);
    ground.leave(inside).await;
}

on_all!(
    no_program_makes_or_enters_a_namespace,
    the_clock_of_this_machine_goes_on,
    no_setting_of_the_kernel_is_changed,
    the_control_group_is_neither_left_nor_changed,
);
on_engines!(
    no_call_makes_or_enters_a_namespace,
    calls_that_reach_beyond_a_process_are_refused,
    rings_of_the_kernel_are_refused,
    keys_of_the_kernel_are_out_of_reach,
    no_process_is_traced_or_read,
);
