//! A full disk: runs stop with a word and lose nothing.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use longrein_testkit::provider::{Answer, Manner, Setup};

use crate::support::{Home, Provider, Running, config};

/// A small disk of its own, where this process may mount one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf, megabytes: u32) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "longrein-test"])
            .arg(&at)
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Self(at))
    }

    /// Takes all the space that is left.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            let block = vec![0_u8; size];
            while file.write_all(&block).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that was killed just now may still hold a file.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_in_the_middle_parks_the_run_and_loses_nothing() {
    let demo = Setup::demo().brain;
    let provider = Provider::start(Setup::of(move |request| {
        let hold_after = (request.number == 3).then_some(1);
        let manner = Manner {
            hold_after,
            ..Manner::default()
        };
        Answer {
            manner: Some(manner),
            ..demo(request)
        }
    }));
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(home.path().join("disk"), 8) else {
        eprintln!("skipped: a small disk can't be mounted here");
        return;
    };
    let data = disk.0.join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("config.toml"), config(&provider.mock.base_url())).unwrap();
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let words = [
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ];
    let running = Running::start(home.command_on(&data, &words));
    let run = running.run_id();
    provider.held(1);
    let filler = disk.fill();
    provider.mock.gate().open();
    let parked = running.outcome();
    assert_eq!(parked.status, 3, "{parked}");
    assert!(parked.out.contains("is full"), "{parked}");
    assert!(parked.out.contains("Free some space"), "{parked}");
    assert!(
        parked.out.contains(&format!("longrein resume {run}")),
        "{parked}"
    );

    fs::remove_file(filler).unwrap();
    let on_disk = |words: &[&str]| Running::start(home.command_on(&data, words)).outcome();
    let resumed = on_disk(&["resume", &run]);
    assert_eq!(resumed.status, 0, "{resumed}");
    let checked = on_disk(&["log", "check"]);
    assert_eq!(checked.status, 0, "{checked}");
}

#[test]
fn a_data_folder_that_can_not_be_written_is_read_and_says_so() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(home.path().join("disk"), 8) else {
        eprintln!("skipped: a small disk can't be mounted here");
        return;
    };
    let data = disk.0.join("data");
    let on_disk = |words: &[&str]| Running::start(home.command_on(&data, words)).outcome();
    let run = on_disk(&["demo"]).run_id();
    // Left by a process that is no more.
    fs::create_dir_all(data.join("blobs/unfinished")).unwrap();
    fs::write(data.join("blobs/unfinished/nobody"), "").unwrap();
    let mut remount = Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(&disk.0);
    assert!(remount.status().unwrap().success());
    for words in [&["runs"][..], &["show", &run], &["log", "check"]] {
        let read = on_disk(words);
        assert_eq!(read.status, 0, "{read}");
    }
    let watched = on_disk(&["watch", &run]);
    assert_eq!(watched.status, 0, "{watched}");
    let doctor = on_disk(&["doctor"]);
    assert_eq!(doctor.status, 1, "{doctor}");
    assert!(doctor.out.contains("limited  data folder"), "{doctor}");
    let refused = on_disk(&["steer", &run, "More."]);
    assert_ne!(refused.status, 0, "{refused}");
    assert!(
        refused.err.contains("can be read but not written"),
        "{refused}"
    );
    assert!(refused.err.contains("--data-dir"), "{refused}");
}

#[test]
fn a_full_disk_before_the_run_began_is_a_failure_with_a_word() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(home.path().join("disk"), 1) else {
        eprintln!("skipped: a small disk can't be mounted here");
        return;
    };
    disk.fill();
    let demo = Running::start(home.command_on(&disk.0.join("data"), &["demo"])).outcome();
    assert_eq!(demo.status, 1, "{demo}");
    assert!(
        demo.err.contains("full") || demo.err.contains("No space"),
        "{demo}"
    );
}
