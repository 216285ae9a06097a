//! The workspace as a trap for whoever reads it on this machine: links, pipes, holes and names.

use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use longrein_sandbox::container::hand_over;
use longrein_sandbox::snapshot::{
    Contents, ContentsFolder, Entry, Manifest, SnapshotLimits, SnapshotRules, Why, restore, take,
};
use longrein_sandbox::usage::measure;

use super::ground::Ground;
use super::on_all;
use crate::on_an_engine::place::{until, within};

/// How often the host reads while a command changes what it reads.
const ROUNDS: usize = 60;

fn rules() -> SnapshotRules {
    SnapshotRules::new([], SnapshotLimits::default()).expect("no pattern")
}

/// A snapshot of the workspace, taken as the app takes it: off the threads that drive runs.
async fn snapshot(ground: &Ground) -> (Manifest, ContentsFolder) {
    let (workspace, kept) = (ground.workspace(), ground.folder().join("contents"));
    let taking = tokio::task::spawn_blocking(move || {
        let contents = ContentsFolder::at(kept);
        (take(&workspace, None, &rules(), &contents), contents)
    });
    let (manifest, contents) = within(taking).await.expect("it ends");
    (manifest.expect("it can be read"), contents)
}

/// Everything that snapshots kept.
fn kept(ground: &Ground) -> Vec<u8> {
    let mut all = Vec::new();
    let mut open = vec![ground.folder().join("contents")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                all.extend(std::fs::read(entry.path()).expect("it is ours"));
            }
        }
    }
    all
}

fn contains(all: &[u8], words: &str) -> bool {
    all.windows(words.len())
        .any(|some| some == words.as_bytes())
}

async fn a_link_that_swaps_while_it_is_read_leads_nowhere(ground: Ground) {
    let inside = ground.enter().await;
    // The secret lies beside the workspace under the name that the swapping folder has inside.
    let outside = ground.folder().join("outside");
    std::fs::create_dir(&outside).expect("it is ours");
    std::fs::write(outside.join("file"), ground.secret()).expect("it is ours");
    let swapping = format!(
        "import os\n\
         os.mkdir('d'); open('d/file', 'w').write('mine'); open('f', 'w').write('mine')\n\
         os.symlink('{0}', 'l'); os.symlink('{0}/file', 'g'); open('up', 'w').write('up')\n\
         while True:\n\
         \x20   for a, b in (('d', 'l'), ('f', 'g')):\n\
         \x20       os.rename(a, 'aside'); os.rename(b, a); os.rename('aside', b)\n",
        outside.display()
    );
    std::fs::write(ground.path("swap.py"), swapping).expect("it is ours");
    hand_over(&ground.workspace()).expect("it is ours");
    let swap = inside.begin(inside.start_of("exec python3 swap.py")).await;
    until(|| ground.path("up").exists()).await;
    for _ in 0..ROUNDS {
        snapshot(&ground).await;
        measure(&ground.workspace(), u64::MAX).expect("it is there");
        hand_over(&ground.workspace()).expect("it is ours");
    }
    within(inside.session.command(&swap).kill())
        .await
        .expect("it is killed");
    inside.end(&swap).await;
    let all = kept(&ground);
    assert!(contains(&all, "mine"), "something was read");
    assert!(!contains(&all, ground.secret()), "the secret was read");
    for path in [outside.clone(), outside.join("file"), ground.secret_file()] {
        let owner = path.metadata().expect("it is there").uid();
        let ours = ground.folder().metadata().expect("it is ours").uid();
        assert_eq!(owner, ours, "{} was given away", path.display());
    }
    ground.leave(inside).await;
}

async fn a_snapshot_of_links_is_restored_as_links(ground: Ground) {
    let inside = ground.enter().await;
    let folder = ground.folder().display().to_string();
    inside
        .say(&format!(
            "ln -s {folder} out; ln -s / root; ln -s ../secret up; ln -s out/secret through; ln -s loop loop; \
             mkdir d; ln -s ../d d/again"
        ))
        .await;
    let (manifest, contents) = snapshot(&ground).await;
    let links = manifest.entries.values();
    let links = links
        .filter(|entry| matches!(entry, Entry::Link { .. }))
        .count();
    assert_eq!((links, manifest.entries.len()), (6, 7), "{manifest:?}");
    let to = ground.folder().join("restored");
    restore(&manifest, &contents, &to).expect("it is new");
    let out = to.join("out").symlink_metadata().expect("it is there");
    assert!(out.file_type().is_symlink());
    assert!(!contains(&kept(&ground), ground.secret()));
    ground.leave(inside).await;
}

async fn a_hard_link_to_what_lies_outside_is_not_made(ground: Ground) {
    let inside = ground.enter().await;
    let secret = ground.secret_file().display().to_string();
    let ways = [
        ("to the agent", "ln /longrein/resident hard".to_owned()),
        ("to a program", "ln /bin/sh hard || ln /bin/busybox hard || ln /usr/bin/env hard".to_owned()),
        ("to who is here", "ln /etc/passwd hard".to_owned()),
        ("to what is not there", format!("ln {secret} hard")),
        ("by a process", "ln /proc/1/exe hard || ln -L /proc/self/exe hard".to_owned()),
        ("by an open file", "python3 -c 'import os; f = os.open(\"/bin/sh\", os.O_RDONLY); os.link(\"/proc/self/fd/%d\" % f, \"hard\", follow_symlinks=True)'".to_owned()),
        ("from /tmp", "echo x > /tmp/x && ln /tmp/x hard".to_owned()),
    ];
    let ways: Vec<(&str, &str)> = ways
        .iter()
        .map(|(what, text)| (*what, text.as_str()))
        .collect();
    inside.assert_refused(&ways).await;
    assert!(ground.path("hard").symlink_metadata().is_err());
    ground.leave(inside).await;
}

async fn hard_links_that_come_and_go_while_they_are_read_harm_nobody(ground: Ground) {
    let inside = ground.enter().await;
    let swapping = "import os\n\
        open('a', 'w').write('first'); open('b', 'w').write('second'); open('up', 'w').write('up')\n\
        while True:\n\
        \x20   for n in ('a', 'b'):\n\
        \x20       os.link(n, 'x'); os.rename('x', 'c'); os.link(n, 'e'); os.unlink('e')\n";
    std::fs::write(ground.path("swap.py"), swapping).expect("it is ours");
    hand_over(&ground.workspace()).expect("it is ours");
    let swap = inside.begin(inside.start_of("exec python3 swap.py")).await;
    until(|| ground.path("up").exists()).await;
    for _ in 0..ROUNDS {
        let (manifest, contents) = snapshot(&ground).await;
        // What was kept is whole, whatever name it had.
        for (path, entry) in &manifest.entries {
            let Entry::File { hash, bytes, .. } = entry else {
                continue;
            };
            let mut content = Vec::new();
            let read = contents
                .open(*hash)
                .expect("it is kept")
                .read_to_end(&mut content);
            assert_eq!(read.expect("it can be read") as u64, *bytes, "{path}");
        }
        hand_over(&ground.workspace()).expect("it is ours");
    }
    within(inside.session.command(&swap).kill())
        .await
        .expect("it is killed");
    inside.end(&swap).await;
    ground.leave(inside).await;
}

async fn pipes_and_sockets_in_the_workspace_block_nobody(ground: Ground) {
    let inside = ground.enter().await;
    let text = "mkfifo pipe; mkdir d; mkfifo d/pipe; echo x > file; \
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'; \
        ln -s pipe link";
    inside.say(text).await;
    assert!(
        ground
            .path("pipe")
            .metadata()
            .expect("it is there")
            .file_type()
            .is_fifo()
    );
    let (manifest, _) = snapshot(&ground).await;
    assert_eq!(
        manifest.left_out.by.get(&Why::Special),
        Some(&3),
        "{manifest:?}"
    );
    assert!(manifest.entries.contains_key("file"));
    hand_over(&ground.workspace()).expect("it is ours");
    measure(&ground.workspace(), u64::MAX).expect("it is there");
    // One that becomes a pipe between the look and the reading.
    let swapping = "import os\n\
        open('s', 'w').write('x'); os.mkfifo('p'); open('up', 'w').write('up')\n\
        while True: os.rename('s', 't'); os.rename('p', 's'); os.rename('t', 'p')\n";
    std::fs::write(ground.path("swap.py"), swapping).expect("it is ours");
    let swap = inside.begin(inside.start_of("exec python3 swap.py")).await;
    until(|| ground.path("up").exists()).await;
    for _ in 0..ROUNDS {
        snapshot(&ground).await;
    }
    within(inside.session.command(&swap).kill())
        .await
        .expect("it is killed");
    inside.end(&swap).await;
    ground.leave(inside).await;
}

async fn a_terabyte_of_nothing_takes_no_room_and_no_time(ground: Ground) {
    let inside = ground.enter().await;
    let mut making = inside.start_of("python3 -c 'import os; os.truncate(os.open(\"sparse\", os.O_CREAT | os.O_WRONLY), 1 << 40)'");
    making.limits.file_bytes = 1 << 41;
    inside.run_start(making).await;
    let sparse = ground.path("sparse").metadata().expect("it is there");
    assert_eq!(sparse.len(), 1 << 40);
    let (manifest, _) = snapshot(&ground).await;
    assert_eq!(
        manifest.left_out.by.get(&Why::TooLarge),
        Some(&1),
        "{manifest:?}"
    );
    assert!(kept(&ground).len() < 1 << 20);
    let used = measure(&ground.workspace(), u64::MAX).expect("it is there");
    assert!(used.bytes < 1 << 20, "{used:?}");
    // Within the limit of a file it is not even made.
    inside
        .assert_refused(&[("more than a file may have", "python3 -c 'import os; os.truncate(os.open(\"more\", os.O_CREAT | os.O_WRONLY), 1 << 40)'")])
        .await;
    ground.leave(inside).await;
}

async fn a_file_that_is_written_without_end_is_left_out(ground: Ground) {
    let inside = ground.enter().await;
    let writing = "echo begun > log; echo up > up; while :; do echo more >> log; done";
    let mut writing = inside.start_of(writing);
    writing.limits.file_bytes = 32 << 20;
    let writing = inside.begin(writing).await;
    until(|| ground.path("up").exists()).await;
    for _ in 0..ROUNDS / 4 {
        let (manifest, _) = snapshot(&ground).await;
        // Whole or not at all.
        let is_told = manifest
            .left_out
            .listed
            .iter()
            .any(|(path, _)| path == "log");
        assert!(
            manifest.entries.contains_key("log") || is_told,
            "{manifest:?}"
        );
    }
    within(inside.session.command(&writing).kill())
        .await
        .expect("it is killed");
    inside.end(&writing).await;
    ground.leave(inside).await;
}

async fn folders_without_bottom_and_wild_names_are_read_and_removed(ground: Ground) {
    let inside = ground.enter().await;
    let making = "import os\n\
        for name in [b'new\\nline', b'\\xff\\xfe', b'-rf', b' ', b'\\x1b[2J', b'a' * 255, '\\u202eexe.txt'.encode()]:\n\
        \x20   open(b'/workspace/' + name, 'w').write('x')\n\
        for n in range(180): os.mkdir('d'); os.chdir('d')\n\
        os.chdir('/workspace'); os.mkdir('closed'); os.chmod('closed', 0)\n";
    std::fs::write(ground.path("make.py"), making).expect("it is ours");
    inside.say("python3 make.py").await;
    let (manifest, contents) = snapshot(&ground).await;
    assert!(
        manifest.left_out.by.get(&Why::Name) == Some(&1),
        "{:?}",
        manifest.left_out
    );
    assert!(
        manifest.left_out.by.contains_key(&Why::TooDeep),
        "{:?}",
        manifest.left_out
    );
    assert!(manifest.entries.contains_key("new\nline"));
    measure(&ground.workspace(), u64::MAX).expect("it is there");
    hand_over(&ground.workspace()).expect("it is ours");
    restore(&manifest, &contents, &ground.folder().join("restored")).expect("it is new");
    assert_eq!(read(&ground.folder().join("restored/-rf")), "x");
    inside.say("chmod 700 closed; rm -rf d closed").await;
    ground.leave(inside).await;
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

on_all!(
    a_link_that_swaps_while_it_is_read_leads_nowhere,
    a_snapshot_of_links_is_restored_as_links,
    a_hard_link_to_what_lies_outside_is_not_made,
    hard_links_that_come_and_go_while_they_are_read_harm_nobody,
    pipes_and_sockets_in_the_workspace_block_nobody,
    a_terabyte_of_nothing_takes_no_room_and_no_time,
    a_file_that_is_written_without_end_is_left_out,
    folders_without_bottom_and_wild_names_are_read_and_removed,
);
