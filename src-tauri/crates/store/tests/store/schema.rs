//! Folders of other versions, and first starts.

use std::io::Read;
use std::path::Path;
use std::sync::Barrier;

use longrein_protocol::event::RunCancelled;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_protocol::{Payload, RunId};
use longrein_store::{DamageKind, LockError, Log, LogError, Store, TreeLock};

use crate::support::{append, begun, block_on, raw};

#[test]
fn the_data_folder_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/data");
    let _store = Store::open(&data).unwrap();
    for part in ["", "blobs", "locks"] {
        let mode = data.join(part).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{part}");
    }
}

#[test]
fn an_open_data_folder_of_ours_is_closed_to_others_and_a_shared_one_is_left_alone() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    for (before, after) in [(0o755, 0o700), (0o777, 0o700), (0o1777, 0o1777)] {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(before)).unwrap();
        let _store = Store::open(folder.path()).unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, after, "{before:o}");
    }
}

#[test]
fn first_starts_at_the_same_moment_make_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(6);
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let (barrier, folder) = (&barrier, folder.path());
            scope.spawn(move || {
                barrier.wait();
                let store = Store::open(folder).unwrap();
                block_on(begun(&store, seed));
            });
        }
    });
    let store = Store::open(folder.path()).unwrap();
    let report = block_on(store.check(None)).unwrap();
    assert!(report.is_whole());
    assert_eq!(report.runs, 6);
}

#[test]
fn a_newer_folder_can_be_read_and_every_write_says_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let (mut sample, fence) = {
        let store = Store::open(folder.path()).unwrap();
        block_on(begun(&store, 1))
    };
    raw(folder.path())
        .pragma_update(None, "user_version", 99)
        .unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.newer_schema(), Some(99));
        assert_eq!(store.read(sample.run, 1, 10).await.unwrap().events.len(), 2);
        assert_eq!(store.runs(10, None).await.unwrap().len(), 1);
        let event = sample.event(RunCancelled {});
        let newer = |error| {
            matches!(
                error,
                LogError::Newer {
                    found: 99,
                    known: 1
                }
            )
        };
        let appended = store.append(append(fence, &sample, vec![event])).await;
        assert!(newer(appended.unwrap_err()));
        assert!(newer(store.take_fence(sample.run).await.unwrap_err()));
        assert!(newer(
            store
                .post_wish(sample.run, Wish::Pause, 1)
                .await
                .unwrap_err()
        ));
        let Err(LockError::Log(error)) = TreeLock::acquire(&store, sample.run).await else {
            panic!("it was locked");
        };
        assert!(newer(error));
    });
}

/// Unpacks a frozen database into a data folder.
fn thaw(frozen: &[u8], folder: &Path) {
    let mut bytes = Vec::new();
    zstd::stream::read::Decoder::new(frozen)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    std::fs::write(folder.join("longrein.db"), bytes).unwrap();
}

#[test]
fn a_folder_of_schema_1_opens_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    thaw(include_bytes!("frozen/schema-1.db.zst"), folder.path());
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let lines = store.runs(10, None).await.unwrap();
        let runs: Vec<RunId> = lines.iter().map(|line| line.run.parse().unwrap()).collect();
        let [future, malformed, whole] = runs[..] else {
            panic!("{runs:?}");
        };
        let (seq, hash) = store.head(whole).await.unwrap();
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((seq, hash.as_str()), (25, FROZEN_HEAD));
        let reading = store.read(whole, 1, 100).await.unwrap();
        assert_eq!((reading.events.len(), reading.damage), (25, None));
        assert!(matches!(reading.events[0].payload, Payload::RunCreated(_)));

        let damage = |run| {
            let store = store.clone();
            async move {
                let damage = store.read(run, 1, 100).await.unwrap().damage.unwrap();
                (damage.seq, damage.what)
            }
        };
        let unknown = DamageKind::UnknownType("moon.landed".to_owned());
        assert_eq!(damage(future).await, (3, unknown));
        assert_eq!(damage(malformed).await, (2, DamageKind::Payload));
        assert!(lines.iter().all(|line| line.state == RunState::Running));
        begun(&store, 9).await;
    });
}

/// The head of the frozen run: it vouches for every byte of it.
const FROZEN_HEAD: &str = "f02004c148009d18bbc32dfb6e4bac61db4fcbbce21f5cdbc6b82be8eb212a05";
