//! Disks that are full, slow to let go, or torn in the middle of a write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use futures::FutureExt;
use longrein_protocol::event::RunCancelled;
use longrein_store::file_system::is_network_file_system;
use longrein_store::{Log, LogError, Store};

use crate::support::{append, begun, block_on, go_on, noise, raw};

/// A small disk of its own, where this process may make one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=1m", "longrein-test"])
            .arg(folder.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Self(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

/// Takes all the space that is left; it comes back when the file is removed.
fn fill(folder: &Path) -> PathBuf {
    let file = folder.join("ballast");
    let mut size = 1 << 20;
    let mut written = Vec::new();
    while size >= 512 {
        written.resize(written.len() + size, 0xaa);
        if fs::write(&file, &written).is_err() {
            written.truncate(written.len() - size);
            size /= 2;
        }
    }
    let _ = fs::write(&file, vec![0xaa; written.len() + 4_096]);
    file
}

#[test]
fn a_full_disk_loses_nothing_and_the_store_goes_on_when_there_is_space() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("not run: this process may not mount a small disk");
        return;
    };
    block_on(async {
        let store = Store::open(disk.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        go_on(&store, &mut sample, fence, 5).await;
        let head = store.head(sample.run).await.unwrap();
        let ballast = fill(disk.0.path());
        let event = sample.event(RunCancelled {});
        for blob in [noise(1, 30_000), noise(2, 200_000)] {
            let mut with = append(fence, &sample, vec![event.clone()]);
            with.blobs = vec![blob];
            let refused = store.append(with).await;
            assert!(matches!(refused, Err(LogError::Full { .. })), "{refused:?}");
        }
        assert_eq!(store.head(sample.run).await.unwrap(), head);
        assert!(store.check(None).await.unwrap().is_whole());

        fs::remove_file(ballast).unwrap();
        store
            .append(append(fence, &sample, vec![event]))
            .await
            .unwrap();
        assert!(store.check(None).await.unwrap().is_whole());
    });
}

#[test]
fn a_store_on_a_full_disk_says_so_when_it_is_opened() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("not run: this process may not mount a small disk");
        return;
    };
    fs::create_dir_all(disk.path()).unwrap();
    fill(disk.0.path());
    let outcome = Store::open(disk.path()).map(|_| ());
    assert!(matches!(outcome, Err(LogError::Full { .. })), "{outcome:?}");
}

#[test]
fn a_file_that_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("longrein.db"), vec![b'x'; 20_000]).unwrap();
    let Err(LogError::Damaged { path, message }) = Store::open(folder.path()).map(|_| ()) else {
        panic!("it was opened");
    };
    assert!(path.ends_with("longrein.db"), "{path}");
    assert_eq!(message, "this file is not a database of Longrein");
}

#[test]
fn a_database_that_was_cut_off_is_damaged_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async { begun(&Store::open(folder.path()).unwrap(), 1).await });
    let file = folder.path().join("longrein.db");
    let cut = fs::metadata(&file).unwrap().len() / 2;
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(cut)
        .unwrap();
    let outcome = Store::open(folder.path()).map(|_| ());
    assert!(
        matches!(outcome, Err(LogError::Damaged { .. })),
        "{outcome:?}"
    );
    assert_eq!(fs::metadata(&file).unwrap().len(), cut);
}

#[test]
fn a_folder_that_can_not_be_written_can_be_read() {
    for is_open_elsewhere in [false, true] {
        read_what_can_not_be_written(is_open_elsewhere);
    }
}

/// A copy that is made while the folder is open has a write-ahead log that counts.
fn read_what_can_not_be_written(is_open_elsewhere: bool) {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("not run: this process may not mount a small disk");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut sample, fence) = block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let begun = begun(&store, 1).await;
        if !is_open_elsewhere {
            store.checkpoint().await.unwrap();
        }
        fs::create_dir(disk.path()).unwrap();
        for suffix in ["", "-wal", "-shm"] {
            let name = format!("longrein.db{suffix}");
            if suffix.is_empty() || is_open_elsewhere {
                fs::copy(folder.path().join(&name), disk.path().join(&name)).unwrap();
            }
        }
        begun
    });
    let mut remount = Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(disk.0.path());
    assert!(remount.status().unwrap().success());
    block_on(async {
        let store = Store::open(disk.path()).unwrap();
        assert!(store.is_read_only());
        assert_eq!(store.read(sample.run, 1, 10).await.unwrap().events.len(), 2);
        assert_eq!(store.runs(10, None).await.unwrap().len(), 1);
        assert!(store.check(None).await.unwrap().is_whole());
        store.watch().unwrap();
        let event = sample.event(RunCancelled {});
        let refused = store.append(append(fence, &sample, vec![event])).await;
        assert!(
            matches!(refused, Err(LogError::ReadOnly { .. })),
            "{refused:?}"
        );
    });
}

#[test]
fn a_locked_database_is_waited_for_and_readers_never_wait() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        let stranger = raw(folder.path());
        stranger
            .execute_batch("BEGIN IMMEDIATE; DELETE FROM inbox")
            .unwrap();

        let event = sample.event(RunCancelled {});
        let mut waiting = store.append(append(fence, &sample, vec![event]));
        assert!(
            waiting.as_mut().now_or_never().is_none(),
            "the stranger has the lock"
        );
        assert_eq!(store.read(sample.run, 1, 10).await.unwrap().events.len(), 2);
        assert_eq!(store.runs(10, None).await.unwrap().len(), 1);

        stranger.execute_batch("COMMIT").unwrap();
        waiting.await.unwrap();
        assert_eq!(store.read(sample.run, 1, 10).await.unwrap().events.len(), 3);
    });
}

#[test]
fn a_write_ahead_log_that_is_cut_anywhere_opens_with_what_was_whole() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        store.checkpoint().await.unwrap();
        go_on(&store, &mut sample, fence, 3).await;
        let whole = store.read(sample.run, 1, 1_000).await.unwrap().events;
        let wal = fs::read(folder.path().join("longrein.db-wal")).unwrap();
        let mut lengths = Vec::new();
        for cut in (0..=wal.len()).step_by(2_777).chain([wal.len()]) {
            let torn = tempfile::tempdir().unwrap();
            fs::copy(
                folder.path().join("longrein.db"),
                torn.path().join("longrein.db"),
            )
            .unwrap();
            fs::write(torn.path().join("longrein.db-wal"), &wal[..cut]).unwrap();
            let store = Store::open(torn.path()).unwrap();
            assert!(store.check(None).await.unwrap().is_whole(), "cut at {cut}");
            let events = store.read(sample.run, 1, 1_000).await.unwrap().events;
            assert_eq!(events, whole[..events.len()], "cut at {cut}");
            lengths.push(events.len());
        }
        assert!(lengths.is_sorted(), "{lengths:?}");
        assert_eq!(
            (lengths.first(), lengths.last()),
            (Some(&2), Some(&whole.len()))
        );
    });
}

#[test]
fn a_disk_of_this_machine_is_no_network_file_system() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(is_network_file_system(folder.path()), Some(false));
    assert_eq!(is_network_file_system(&folder.path().join("missing")), None);
}
