//! Files, devices, mounts and roots: what lies around the workspace.

use std::path::Path;

use super::ground::Ground;
use super::{on_all, on_engines};

/// Folders that programs know, and those that the box itself has.
const FOLDERS: &str = "/ /bin /boot /dev /etc /home /lib /longrein /longrein/state /media /mnt /opt \
    /proc /root /run /run/longrein /sbin /srv /sys /usr /usr/bin /usr/local /var /var/log";

async fn the_workspace_and_its_own_tmp_are_all_that_a_command_can_write_to(ground: Ground) {
    let inside = ground.enter().await;
    let mark = ground.mark();
    let text = format!(
        "for d in {FOLDERS}; do \
           (echo x > $d/{mark}) 2>/dev/null && echo \"wrote to $d\"; \
           mkdir $d/{mark}-d 2>/dev/null && echo \"made a folder in $d\"; \
           ln -s /tmp $d/{mark}-l 2>/dev/null && echo \"made a link in $d\"; \
         done; \
         (echo x > ../{mark}) 2>/dev/null && echo wrote above; \
         for f in /longrein/resident /etc/passwd /bin/sh /usr/bin/env; do \
           [ ! -w $f ] || echo \"may change $f\"; mv $f $f-{mark} 2>/dev/null && echo \"moved $f\"; \
           rm $f 2>/dev/null && echo \"removed $f\"; \
         done; \
         echo x > /workspace/{mark} && echo x > /tmp/{mark} && cp /bin/sh /tmp/sh && /tmp/sh -c 'echo done'"
    );
    assert_eq!(inside.say(&text).await, "done\n");
    for folder in FOLDERS.split_whitespace().chain(["/tmp"]) {
        for name in [mark.clone(), format!("{mark}-d"), format!("{mark}-l")] {
            let path = Path::new(folder).join(name);
            assert!(path.symlink_metadata().is_err(), "{}", path.display());
        }
    }
    assert!(!ground.folder().join(&mark).exists());
    assert!(ground.path(&mark).exists(), "the workspace is the run's");
    ground.leave(inside).await;
}

async fn the_root_is_mounted_to_be_read(ground: Ground) {
    let inside = ground.enter().await;
    let root = "awk '$5 == \"/\" { print $6 }' /proc/self/mountinfo";
    let options = inside.say(root).await;
    assert!(
        options.split(',').any(|option| option.trim() == "ro"),
        "{options}"
    );
    // What else can be written to is the run's, and of a size.
    let writable = "awk '$6 ~ /^rw/ { print $5 }' /proc/self/mountinfo | \
        while read d; do [ ! -d $d ] || ! (: > $d/probe) 2>/dev/null || { rm $d/probe; echo $d; }; done | sort";
    let writable = inside.say(writable).await;
    let ours = ["/dev/mqueue", "/dev/shm", "/tmp", "/var/tmp", "/workspace"];
    for folder in writable.lines() {
        assert!(ours.contains(&folder), "{folder} can be written to");
    }
    let sizes = "for d in /tmp /var/tmp /dev/shm; do [ ! -w $d ] || df -k $d | awk 'NR == 2 { print $2 }'; done";
    let sizes = inside.say(sizes).await;
    for kibibytes in sizes.lines() {
        let kibibytes: u64 = kibibytes.parse().expect("a number");
        assert!(kibibytes <= 64 << 10, "{sizes}");
    }
    ground.leave(inside).await;
}

async fn what_lies_beside_the_workspace_on_this_machine_is_not_there(ground: Ground) {
    let inside = ground.enter().await;
    let secret = ground.secret_file().display().to_string();
    let folder = ground.folder().display().to_string();
    let text = format!(
        "cat {secret} ../secret /proc/self/cwd/../secret /workspace/../secret /proc/self/root/{secret}; \
         ls {folder} /root /home /var/lib /var/log /boot; cat /etc/shadow /etc/gshadow; \
         ln -s {secret} link; cat link; ln -s {folder} above; ls above/; \
         find / -xdev -name secret; true"
    );
    let said = inside.say(&format!("({text}) 2>/dev/null")).await;
    assert_eq!(said.trim(), "", "something of this machine is seen");
    ground.leave(inside).await;
}

async fn no_process_is_a_way_to_another_root(ground: Ground) {
    let inside = ground.enter().await;
    let secret = ground.secret_file().display().to_string();
    let text = format!(
        "for p in /proc/[0-9]*; do cat $p/root{secret} $p/cwd/secret $p/cwd/../secret; \
           for f in $p/fd/*; do cat $f/../secret $f{secret}; done; done 2>/dev/null; true"
    );
    let mut limited = inside.start_of(&text);
    // One of the files may be a pipe that nobody writes to: then it waits.
    limited.limits.time_ms = 5_000;
    let (_, said) = inside.run_start(limited).await;
    assert!(!said.contains(ground.secret()), "{said}");
    ground.leave(inside).await;
}

async fn the_first_process_shows_nothing_of_itself(ground: Ground) {
    let inside = ground.enter().await;
    inside
        .assert_refused(&[
            ("its root", "ls /proc/1/root/"),
            ("its folder", "ls /proc/1/cwd/"),
            ("its environment", "cat /proc/1/environ"),
            ("its memory", "head -c 1 /proc/1/mem"),
            ("its files", "ls /proc/1/fd/"),
            ("its program", "cat /proc/1/exe"),
            ("its system calls", "cat /proc/1/syscall"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn no_device_is_made_or_read(ground: Ground) {
    let inside = ground.enter().await;
    inside
        .assert_refused(&[
            ("a block device", "mknod /workspace/block b 8 0"),
            ("a character device", "mknod /workspace/character c 1 1"),
            ("one in /tmp", "mknod /tmp/d b 254 0"),
            ("the machine's memory", "head -c 1 /dev/mem"),
            ("the kernel's memory", "head -c 1 /proc/kcore"),
            ("the kernel's messages", "head -c 1 /dev/kmsg"),
            ("the kernel's log", "dmesg"),
            (
                "its disks",
                "head -c 1 /dev/sda || head -c 1 /dev/vda || head -c 1 /dev/nvme0n1",
            ),
            ("its layered disks", "ls /dev/mapper/* /dev/loop* /dev/dm-*"),
            ("its virtual machines", "test -e /dev/kvm"),
            ("its file systems by program", "test -e /dev/fuse"),
            ("its tunnels", "test -e /dev/net/tun"),
            ("its terminal", "echo x > /dev/tty"),
            ("its input", "ls /dev/input /dev/uinput"),
        ])
        .await;
    for name in ["block", "character"] {
        assert!(ground.path(name).symlink_metadata().is_err(), "{name}");
    }
    ground.leave(inside).await;
}

async fn nothing_is_mounted_or_unmounted(ground: Ground) {
    let inside = ground.enter().await;
    let mark = ground.mark();
    let before = inside.say("cut -d' ' -f5- /proc/self/mountinfo").await;
    inside.say(&format!("mkdir {mark}")).await;
    let ways = [
        ("a tmpfs", format!("mount -t tmpfs none {mark}")),
        ("a folder elsewhere", format!("mount --bind /tmp {mark}")),
        ("processes", format!("mount -t proc proc {mark}")),
        ("devices", format!("mount -t devtmpfs none {mark}")),
        (
            "a layered folder",
            format!("mount -t overlay -o lowerdir=/etc,upperdir=/tmp,workdir=/tmp none {mark}"),
        ),
        ("a file by a program", format!("mount -t fuse none {mark}")),
        (
            "the root, to be written",
            "mount -o remount,rw /".to_owned(),
        ),
        (
            "the agent, to be written",
            "mount -o remount,rw /longrein/resident".to_owned(),
        ),
        (
            "/proc, to be written",
            "mount -o remount,rw /proc".to_owned(),
        ),
        ("the workspace away", "umount -l /workspace".to_owned()),
        ("what hides /proc away", "umount -l /proc/kcore".to_owned()),
    ];
    let ways: Vec<(&str, &str)> = ways
        .iter()
        .map(|(what, text)| (*what, text.as_str()))
        .collect();
    inside.assert_refused(&ways).await;
    assert_eq!(
        inside.say("cut -d' ' -f5- /proc/self/mountinfo").await,
        before
    );
    let ours = std::fs::read_to_string("/proc/self/mountinfo").expect("it is there");
    assert!(!ours.contains(&mark), "{ours}");
    ground.leave(inside).await;
}

async fn no_other_root_is_taken(ground: Ground) {
    let inside = ground.enter().await;
    std::fs::create_dir(ground.path("jail")).expect("it is ours");
    inside
        .assert_refused(&[
            ("the root itself", "chroot / true"),
            ("a folder", "chroot /workspace/jail /sh"),
            (
                "by call",
                "python3 -c 'import os; os.chroot(\"/workspace\")'",
            ),
            ("the root of the first process", "chroot /proc/1/root true"),
            ("a turn of roots", "pivot_root /workspace /workspace/jail"),
        ])
        .await;
    ground.leave(inside).await;
}

async fn no_socket_of_this_machine_is_inside(ground: Ground) {
    let inside = ground.enter().await;
    let found = inside
        .say("find / -xdev -type s 2>/dev/null; ls /run/longrein; ls -d /var/run/docker* /run/docker* /run/podman* /run/user /run/dbus /run/systemd /tmp/.X11-unix 2>/dev/null; true")
        .await;
    assert_eq!(found, "");
    ground.leave(inside).await;
}

on_all!(
    the_workspace_and_its_own_tmp_are_all_that_a_command_can_write_to,
    the_root_is_mounted_to_be_read,
    what_lies_beside_the_workspace_on_this_machine_is_not_there,
    no_process_is_a_way_to_another_root,
    no_device_is_made_or_read,
    nothing_is_mounted_or_unmounted,
    no_other_root_is_taken,
    no_socket_of_this_machine_is_inside,
);
on_engines!(the_first_process_shows_nothing_of_itself);
