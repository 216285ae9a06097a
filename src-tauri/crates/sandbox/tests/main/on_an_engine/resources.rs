//! Whoever uses up what there is harms themselves, and the next command finds the box as it was.

use longrein_sandbox::wire::{End, Receipt};

use super::on_both;
use super::place::{Inside, Place, script, within};

/// The box is still one: a command runs and is told of.
async fn is_well(inside: &Inside, place: &Place) {
    let (receipt, output) = inside.run(&place.id(), "echo well").await;
    assert_eq!(
        (receipt.end, output.as_str()),
        (End::Exited { status: 0 }, "well\n")
    );
}

/// Enters, and goes no further where limits don't hold: what comes next would be felt by the whole
/// machine.
async fn enter_limited(place: &Place) -> Inside {
    let inside = place.enter().await;
    let (_, measured) = inside.run("measure", "/longrein/resident measure").await;
    for limit in ["memory_bytes", "processes"] {
        assert!(
            !measured.contains(&format!("\"{limit}\":null")),
            "no limit holds: {measured}"
        );
    }
    inside
}

fn was_killed(receipt: &Receipt) -> bool {
    matches!(
        receipt.end,
        End::Signalled { signal: 9 } | End::Exited { status: 137 }
    )
}

async fn a_hog_of_memory_is_killed_and_nobody_else(place: Place) {
    let inside = enter_limited(&place).await;
    let hog = "python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 22))'";
    let (receipt, _) = inside.run("hog", hog).await;
    assert!(was_killed(&receipt), "{receipt:?}");
    assert!(receipt.memory_kills > 0, "{receipt:?}");
    is_well(&inside, &place).await;
    place.clear().await;
}

async fn a_fork_bomb_ends_with_its_time(place: Place) {
    let inside = enter_limited(&place).await;
    let mut bomb = script(
        "bomb",
        inside.container.environment(),
        "b() { b | b & }; b; sleep 30",
    );
    bomb.limits.time_ms = 1_500;
    let (receipt, _) = inside.run_start(bomb).await;
    assert_eq!(receipt.end, End::TimedOut);
    is_well(&inside, &place).await;
    place.clear().await;
}

async fn a_bomb_that_leaves_its_parents_behind_ends_and_spares_other_commands(place: Place) {
    let inside = enter_limited(&place).await;
    let other = "echo ready; while ! [ -e go ]; do sleep 0.02; done; echo spared";
    let other = script("other", inside.container.environment(), other);
    inside.session.start(other).await.expect("it starts");
    let text = "while :; do (setsid sleep 0.05 &); (setsid sleep 0.05 &); done";
    let mut bomb = script("bomb", inside.container.environment(), text);
    bomb.limits.time_ms = 1_500;
    let (receipt, _) = inside.run_start(bomb).await;
    assert_eq!(receipt.end, End::TimedOut);
    std::fs::write(place.workspace().join("go"), b"").expect("it is ours");
    let receipt = within(inside.session.wait("other"))
        .await
        .expect("it goes on");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    is_well(&inside, &place).await;
    place.clear().await;
}

async fn a_storm_of_orphans_is_reaped(place: Place) {
    let inside = enter_limited(&place).await;
    let storm = "i=0; while [ $i -lt 400 ]; do (true & ) ; i=$((i+1)); done; \
        for i in 1 2 3 4 5 6 7 8; do (setsid sleep 300 &); done; echo done";
    let (receipt, output) = inside.run("storm", storm).await;
    assert_eq!(
        (receipt.end.clone(), output.as_str()),
        (End::Exited { status: 0 }, "done\n"),
        "{receipt:?}"
    );
    assert!(receipt.left_behind >= 8, "{receipt:?}");
    let (_, left) = inside
        .run("left", "ps -o pid,comm,stat | grep -cE 'sleep|Z' || true")
        .await;
    assert_eq!(left.trim(), "0");
    place.clear().await;
}

async fn full_folders_are_full_for_the_command_alone(place: Place) {
    let inside = place.enter().await;
    let (receipt, output) = inside
        .run("fill", "dd if=/dev/zero of=/tmp/big bs=1M count=64 2>&1")
        .await;
    assert_ne!(receipt.end, End::Exited { status: 0 }, "{output}");
    let (receipt, _) = inside.run("files", "ulimit -c; cd /tmp && rm -f big && i=0; while [ $i -lt 300 ]; do : > f$i || exit 1; i=$((i+1)); done").await;
    assert_eq!(receipt.end, End::Exited { status: 0 });
    is_well(&inside, &place).await;
    place.clear().await;
}

async fn a_file_grows_to_its_limit(place: Place) {
    let inside = place.enter().await;
    let mut growing = script(
        "grow",
        inside.container.environment(),
        "dd if=/dev/zero of=/workspace/big bs=1M count=8",
    );
    growing.limits.file_bytes = 1 << 20;
    let (receipt, _) = inside.run_start(growing).await;
    assert_ne!(receipt.end, End::Exited { status: 0 });
    let size = std::fs::metadata(place.workspace().join("big"))
        .expect("it is there")
        .len();
    assert_eq!(size, 1 << 20);
    place.clear().await;
}

async fn a_flood_of_output_is_kept_to_its_limit(place: Place) {
    let inside = place.enter().await;
    let mut flood = script(
        "flood",
        inside.container.environment(),
        "head -c 50000000 /dev/zero",
    );
    flood.limits.output_bytes = 2_000_000;
    let (receipt, output) = inside.run_start(flood).await;
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert_eq!(
        (receipt.output.bytes, receipt.output.dropped_bytes),
        (2_000_000, 48_000_000)
    );
    assert_eq!(output.len(), 2_000_000);
    place.clear().await;
}

on_both!(
    a_hog_of_memory_is_killed_and_nobody_else,
    a_fork_bomb_ends_with_its_time,
    a_bomb_that_leaves_its_parents_behind_ends_and_spares_other_commands,
    a_storm_of_orphans_is_reaped,
    full_folders_are_full_for_the_command_alone,
    a_file_grows_to_its_limit,
    a_flood_of_output_is_kept_to_its_limit,
);
