//! Images that a person gives with words, from the command line to the provider.

use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::say;

use crate::support::{Home, Provider, of_type};

/// The head of a PNG of 3 × 2 pixels: as much as tells its size.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\0\0\0\0\xb8\x1f\x39\xc6\0\0\0\0IDAT";

#[test]
fn an_image_that_is_attached_reaches_the_provider_and_is_on_record() {
    let provider = Provider::start(Setup::scripted([say("Grey.")]));
    let home = Home::with(&provider);
    let image = home.path().join("chart.png");
    fs::write(&image, PNG).unwrap();
    let image = image.to_string_lossy();
    let run = home.run(&["run", &home.agent(""), "What is it?", "--attach", &image]);
    assert_eq!(run.status, 0, "{run}");
    let request = provider.mock.seen()[0].json().to_string();
    assert!(
        request.contains("data:image/png;base64,iVBORw0KGgo"),
        "{request}"
    );
    let events = home.events(&run.run_id());
    let given = &of_type(&events, "turn.started")[0]["attachments"][0];
    assert_eq!(given["name"], "chart.png");
    assert_eq!((&given["width"], &given["height"]), (&3.into(), &2.into()));
    let shown = home.run(&["show", &run.run_id()]);
    assert!(shown.out.contains("chart.png, 3 × 2 pixels"), "{shown}");
}

#[test]
fn what_no_model_can_be_shown_is_refused_before_anything_begins() {
    let provider = Provider::start(Setup::scripted([say("Grey.")]));
    let home = Home::with(&provider);
    let text = home.write("notes.txt", "Words.\n");
    let folder = home.path().to_string_lossy().into_owned();
    for (file, says) in [
        (text.as_str(), "is neither an image"),
        (folder.as_str(), "is not a file"),
        ("/nowhere/x.png", "can't be read"),
    ] {
        let run = home.run(&["run", &home.agent(""), "What?", "--attach", file]);
        assert_eq!(run.status, 2, "{run}");
        assert!(run.err.contains(says), "{run}");
    }
    assert_eq!(home.runs().len(), 0);
    assert_eq!(provider.mock.seen().len(), 0);
}
