//! Noticing what was committed, here or elsewhere.

use futures::FutureExt;
use longrein_store::{LogError, Store};

use crate::support::{begun, block_on, go_on};

#[test]
fn a_watch_tells_of_own_commits_and_of_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let other = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        let mut changes = store.watch().unwrap();
        assert!(
            changes.changed().now_or_never().is_none(),
            "nothing has happened yet"
        );
        go_on(&store, &mut sample, fence, 1).await;
        changes.changed().await.unwrap();
        assert!(
            changes.changed().now_or_never().is_none(),
            "all of it is one change"
        );
        begun(&other, 2).await;
        changes.changed().await.unwrap();
    });
}

#[test]
fn a_watch_ends_with_its_store() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let mut changes = store.watch().unwrap();
        drop(store);
        let end = loop {
            // Closing may itself touch the file; then the next answer is the end.
            if let Err(error) = changes.changed().await {
                break error;
            }
        };
        assert!(matches!(end, LogError::Closed));
    });
}
