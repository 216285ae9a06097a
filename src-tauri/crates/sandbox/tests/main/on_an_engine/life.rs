//! What outlives whom.

use std::collections::HashSet;

use longrein_sandbox::container::{Container, ContainerState, reap};
use longrein_sandbox::engine::{Lacking, Wanted};
use longrein_sandbox::wire::{End, Stream};

use super::on_both;
use super::place::{Place, script, within};

async fn a_command_goes_on_without_the_app_and_is_taken_up_whole(place: Place) {
    let inside = place.enter().await;
    let environment = inside.container.environment().clone();
    let text = "for n in 1 2 3 4 5 6 7 8 9 10; do echo $n; echo $n >> effect; \
        while [ $n = 5 ] && ! [ -e go ]; do sleep 0.02; done; done";
    within(inside.session.start(script("count", &environment, text)))
        .await
        .expect("it starts");
    let first = within(inside.session.read("count", Stream::Output, 0, true)).await;
    assert!(first.expect("it counts").bytes.starts_with(b"1\n"));
    let life = inside.session.life().to_owned();
    drop(inside);

    let inside = place.enter().await;
    assert_eq!(inside.session.life(), life);
    // Asked for again, as after a crash: it is known and not started twice.
    let again = script("count", &environment, text);
    assert!(
        !within(inside.session.start(again))
            .await
            .expect("it is known")
    );
    std::fs::write(place.workspace().join("go"), b"").expect("it is ours");
    let receipt = within(inside.session.wait("count")).await.expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    let whole = within(
        inside
            .session
            .command("count")
            .read_all(Stream::Output, 1 << 20),
    )
    .await;
    let expected = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    assert_eq!(
        String::from_utf8_lossy(&whole.expect("it is kept")),
        expected
    );
    let effect = std::fs::read_to_string(place.workspace().join("effect")).expect("it is there");
    assert_eq!(effect, expected);
    place.clear().await;
}

async fn a_stopped_container_keeps_receipts_and_starts_again(place: Place) {
    let inside = place.enter().await;
    let (receipt, _) = inside.run("before", "echo kept; exit 4").await;
    assert_eq!(receipt.end, End::Exited { status: 4 });
    let environment = inside.container.environment().clone();
    within(
        inside
            .session
            .start(script("cut", &environment, "echo begun; sleep 300")),
    )
    .await
    .expect("it starts");
    within(inside.session.read("cut", Stream::Output, 0, true))
        .await
        .expect("it writes");
    within(inside.container.stop()).await.expect("it stops");
    assert_eq!(
        inside.container.state().await.expect("it is there"),
        ContainerState::Stopped
    );
    assert!(!inside.session.is_open());

    let (session, _incoming) = within(inside.container.connect())
        .await
        .expect("it starts again");
    assert_ne!(session.life(), inside.session.life());
    let receipt = within(session.wait("before")).await.expect("it is kept");
    assert_eq!(receipt.end, End::Exited { status: 4 });
    let receipt = within(session.wait("cut")).await.expect("it is kept");
    assert_eq!(receipt.end, End::Stopped);
    place.clear().await;
}

async fn what_a_killed_container_ran_is_lost_and_said_to_be(place: Place) {
    let inside = place.enter().await;
    let environment = inside.container.environment().clone();
    within(
        inside
            .session
            .start(script("cut", &environment, "echo begun; sleep 300")),
    )
    .await
    .expect("it starts");
    within(inside.session.read("cut", Stream::Output, 0, true))
        .await
        .expect("it writes");
    within(inside.container.kill()).await.expect("it dies");
    let (session, _incoming) = within(inside.container.connect())
        .await
        .expect("it starts again");
    let receipt = within(session.wait("cut")).await.expect("it is known");
    assert_eq!((receipt.end, receipt.output.bytes), (End::Lost, 6));
    place.clear().await;
}

async fn time_that_a_container_stands_still_is_not_working_time(place: Place) {
    let inside = place.enter().await;
    let environment = inside.container.environment().clone();
    let mut limited = script(
        "paused",
        &environment,
        "echo ready; while ! [ -e go ]; do sleep 0.02; done",
    );
    limited.limits.time_ms = 6_000;
    within(inside.session.start(limited))
        .await
        .expect("it starts");
    within(inside.session.read("paused", Stream::Output, 0, true))
        .await
        .expect("it writes");
    within(inside.container.pause())
        .await
        .expect("it stands still");
    assert_eq!(
        inside.container.state().await.expect("it is there"),
        ContainerState::Paused
    );
    // Longer than the command's own limit: that is what is tested.
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    within(inside.container.unpause())
        .await
        .expect("it goes on");
    std::fs::write(place.workspace().join("go"), b"").expect("it is ours");
    let receipt = within(inside.session.wait("paused"))
        .await
        .expect("it ends");
    assert_eq!(receipt.end, End::Exited { status: 0 });
    assert!(receipt.working_ms < 6_000, "{}", receipt.working_ms);
    place.clear().await;
}

async fn what_no_run_needs_is_reaped_running_or_not(place: Place) {
    let one = place.enter_spec(&place.spec("one")).await;
    let environment = one.container.environment().clone();
    within(one.session.start(script("a", &environment, "sleep 300")))
        .await
        .expect("it starts");
    let two = place.enter_spec(&place.spec("two")).await;
    within(two.container.stop()).await.expect("it stops");
    let three = place.enter_spec(&place.spec("three")).await;
    // Another app's, on the same engine.
    let mut foreign = place.spec("foreign");
    foreign.owner.instance = format!("{}-other", place.instance);
    let foreign_inside = place.enter_spec(&foreign).await;

    let keep = HashSet::from([place.spec("three").owner.run]);
    let reaped = within(reap(&place.engine, &place.instance, &keep))
        .await
        .expect("it is removed");
    assert_eq!((reaped.containers, reaped.volumes), (2, 2));
    assert!(three.session.is_open() && foreign_inside.session.is_open());
    assert!(one.container.state().await.is_err(), "it is gone");
    let none = within(reap(&place.engine, &place.instance, &keep))
        .await
        .expect("nothing is left");
    assert_eq!((none.containers, none.volumes), (0, 0));
    within(reap(
        &place.engine,
        &foreign.owner.instance,
        &HashSet::new(),
    ))
    .await
    .expect("it is removed");
    place.clear().await;
}

async fn another_setup_makes_another_container_and_keeps_the_receipts(place: Place) {
    let inside = place.enter().await;
    inside.run("before", "exit 7").await;
    let mut spec = place.spec("a");
    spec.limits.memory_bytes /= 2;
    // What an earlier app left can be taken up without being made anew.
    let found = within(Container::find(&place.engine, &spec.owner))
        .await
        .expect("it answers");
    let found = found.expect("it is there");
    assert_eq!(
        found.state().await.expect("it is there"),
        ContainerState::Running
    );
    assert_eq!(found.environment(), inside.container.environment());
    assert!(inside.session.is_open());
    let inside = place.enter_spec(&spec).await;
    let receipt = within(inside.session.wait("before"))
        .await
        .expect("it is kept");
    assert_eq!(receipt.end, End::Exited { status: 7 });
    let same = within(Container::ensure(&place.engine, &spec))
        .await
        .expect("it is the same");
    assert_eq!(
        same.state().await.expect("it is there"),
        ContainerState::Running
    );
    assert!(inside.session.is_open());
    place.clear().await;
}

async fn a_read_only_workspace_can_be_read_and_not_written(place: Place) {
    std::fs::write(place.workspace().join("in"), b"seen").expect("it is ours");
    let mut spec = place.spec("check");
    spec.read_only = true;
    let inside = place.enter_spec(&spec).await;
    let (receipt, output) = inside.run("a", "cat in; echo x > in").await;
    assert_ne!(receipt.end, End::Exited { status: 0 });
    assert!(output.starts_with("seen"), "{output}");
    place.clear().await;
}

async fn a_probe_finds_that_all_limits_hold(place: Place) {
    let wanted = Wanted {
        instance: place.instance.clone(),
        image: place.image.clone(),
        limits: Place::limits(),
        shared: place.folder().join("shared"),
        scratch: place.folder().to_owned(),
    };
    let probe = within(place.engine.probe(&wanted))
        .await
        .expect("it can be measured");
    let lacks: Vec<Lacking> = probe.lacks.iter().map(|lack| lack.what).collect();
    assert_eq!(lacks, [], "{probe:?}");
    probe.usable().expect("it is a box");
    let left = within(reap(&place.engine, &place.instance, &HashSet::new())).await;
    assert_eq!(left.expect("it lists").containers, 0);
}

async fn an_image_that_is_not_there_is_named(place: Place) {
    let mut spec = place.spec("a");
    spec.image = "longrein/none:here".to_owned();
    let error = within(Container::ensure(&place.engine, &spec))
        .await
        .expect_err("it is not there");
    assert!(
        error
            .to_string()
            .starts_with("the image longrein/none:here is not usable"),
        "{error}"
    );
}

on_both!(
    a_command_goes_on_without_the_app_and_is_taken_up_whole,
    a_stopped_container_keeps_receipts_and_starts_again,
    what_a_killed_container_ran_is_lost_and_said_to_be,
    time_that_a_container_stands_still_is_not_working_time,
    what_no_run_needs_is_reaped_running_or_not,
    another_setup_makes_another_container_and_keeps_the_receipts,
    a_read_only_workspace_can_be_read_and_not_written,
    a_probe_finds_that_all_limits_hold,
    an_image_that_is_not_there_is_named,
);
