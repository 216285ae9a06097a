//! What a step costs on disk, and that it costs the same at the end as at the beginning.

use longrein_store::Store;

use crate::support::{begun, block_on, run_on};

/// What a step of seven events may take on disk, indexes and all.
const BYTES_PER_STEP_LIMIT: u64 = 1_536;

#[test]
fn ten_thousand_appends_grow_by_the_same_bytes_per_step() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    block_on(async {
        let (mut sample, fence) = begun(&store, 1).await;
        let mut sizes = Vec::new();
        for _ in 0..3 {
            store.checkpoint().await.unwrap();
            sizes.push(store.bytes_on_disk());
            run_on(&store, &mut sample, fence, 1_200).await;
        }
        store.checkpoint().await.unwrap();
        sizes.push(store.bytes_on_disk());
        let steps: Vec<u64> = sizes
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) / 1_200)
            .collect();
        println!("bytes per step: {steps:?}");
        assert!(
            steps.iter().all(|bytes| *bytes < BYTES_PER_STEP_LIMIT),
            "{steps:?}"
        );
        let (first, last) = (steps[0], steps[2]);
        assert!(
            last < first + first / 10,
            "a step grows from {first} to {last} bytes"
        );
    });
}
