//! Nothing is left of runs that are over, however they ended.

use std::collections::HashSet;
use std::path::Path;

use longrein_sandbox::container::reap;

use super::on_both;
use super::place::{Place, script, within};

const RUNS: usize = 12;

/// The processes in whose view of the file system a folder is mounted.
fn processes_with(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("it is there").flatten() {
        let mounts = std::fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        if mounts.lines().any(|line| line.contains(&folder)) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

async fn after_many_runs_half_of_them_killed_nothing_is_left(place: Place) {
    for run in 0..RUNS {
        let inside = place.enter_spec(&place.spec(&run.to_string())).await;
        let start = script(
            "busy",
            inside.container.environment(),
            "(setsid sleep 300 &); sleep 300",
        );
        within(inside.session.start(start))
            .await
            .expect("it starts");
        match run % 4 {
            0 => within(inside.container.kill()).await.expect("it dies"),
            1 => within(inside.container.stop()).await.expect("it stops"),
            2 => within(inside.container.pause())
                .await
                .expect("it stands still"),
            // Left as it is, like an app that was killed.
            _ => {}
        }
    }
    assert!(
        !processes_with(&place.workspace()).is_empty(),
        "some still run"
    );
    let reaped = within(reap(&place.engine, &place.instance, &HashSet::new())).await;
    let reaped = reaped.expect("the engine removes");
    assert_eq!((reaped.containers, reaped.volumes), (RUNS, RUNS));
    assert_eq!(processes_with(&place.workspace()), Vec::<String>::new());
    let left = std::fs::read_dir(place.folder())
        .expect("it is ours")
        .flatten();
    let mut left: Vec<String> = left
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["shared", "workspace"]);
    place.clear().await;
}

on_both!(after_many_runs_half_of_them_killed_nothing_is_left);
