//! The image, built by the engine on a base that was made on this machine.

use longrein_sandbox::SandboxError;
use longrein_sandbox::image::{ImageSource, ensure};
use tokio::sync::mpsc;

use super::on_both;
use super::place::{Place, variable, within};

async fn the_shipped_image_is_built_once_and_commands_run_in_it(mut place: Place) {
    let source = ImageSource::Shipped {
        base: Some(variable("LONGREIN_TEST_BASE")),
        offline: true,
    };
    let (progress, mut lines) = mpsc::channel(1_000);
    let name = within(ensure(&place.engine, &source, &progress))
        .await
        .expect("it is built");
    let mut steps = Vec::new();
    while let Ok(line) = lines.try_recv() {
        steps.push(line);
    }
    let again = within(ensure(&place.engine, &source, &progress))
        .await
        .expect("it is there");
    assert_eq!(
        (again, lines.try_recv().is_err()),
        (name.clone(), true),
        "it is not built twice"
    );
    place.image = name;
    let inside = place.enter().await;
    let (_, output) = inside
        .run("a", "python3 -c 'print(6 * 7)'; echo $PYTHONUNBUFFERED")
        .await;
    assert_eq!(output, "42\n1\n");
    place.clear().await;
}

async fn a_build_that_fails_says_why(place: Place) {
    let base = Some("localhost/longrein/none:here".to_owned());
    let source = ImageSource::Shipped {
        base,
        offline: true,
    };
    let (progress, _lines) = mpsc::channel(1_000);
    let error = within(ensure(&place.engine, &source, &progress))
        .await
        .expect_err("no such base");
    assert!(matches!(error, SandboxError::Image { .. }), "{error}");
}

on_both!(
    the_shipped_image_is_built_once_and_commands_run_in_it,
    a_build_that_fails_says_why
);
