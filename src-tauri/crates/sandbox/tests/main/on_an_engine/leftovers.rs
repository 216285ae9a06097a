//! Nothing is left of runs that are over, however they ended.

use std::collections::HashSet;
use std::path::Path;

use longrein_sandbox::Backing;
use longrein_sandbox::code::{Boxes, BoxesConfig};
use longrein_sandbox::container::{RunBox, reap};
use longrein_sandbox::egress::system_resolver;
use longrein_sandbox::engine::{Places, is_left_probe};

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

/// The id of a process that is gone.
fn gone() -> u32 {
    let mut process = std::process::Command::new("true")
        .spawn()
        .expect("it starts");
    let id = process.id();
    process.wait().expect("it ends");
    id
}

async fn what_a_process_left_that_was_killed_while_it_measured_is_found_and_removed(place: Place) {
    let boxes = Boxes::of(
        BoxesConfig {
            places: Places::default(),
            instance: place.instance.clone(),
            folder: place.folder().join("boxes"),
            base: None,
            guard: |_| None,
            resolver: system_resolver(),
        },
        Backing::Engine(place.engine.clone()),
    );
    let name = format!("probe-{}-0-{}", gone(), place.instance);
    let mut spec = place.spec("a");
    spec.owner.run.clone_from(&name);
    spec.owner.purpose = RunBox::Probe;
    spec.workspace = place.folder().join("boxes").join(&name);
    std::fs::create_dir_all(&spec.workspace).expect("it is ours");
    let inside = place.enter_spec(&spec).await;
    // Killed before it came to a container.
    let early = format!("probe-{}-1-{}", gone(), place.instance);
    std::fs::create_dir(place.folder().join("boxes").join(&early)).expect("it is ours");
    let left = within(boxes.left()).await.expect("it lists");
    assert_eq!(left, HashSet::from([name.clone(), early.clone()]));
    for name in &left {
        assert!(is_left_probe(name), "{name}");
        within(boxes.remove_left(name)).await.expect("it removes");
        assert!(!place.folder().join("boxes").join(name).exists());
    }
    assert!(inside.container.state().await.is_err(), "it is gone");
    let left = within(boxes.left()).await.expect("it lists");
    assert!(left.is_empty(), "{left:?}");
    place.clear().await;
}

on_both!(
    after_many_runs_half_of_them_killed_nothing_is_left,
    what_a_process_left_that_was_killed_while_it_measured_is_found_and_removed,
);
