//! From the button to the page.

use serde_json::Value;

use crate::window::Window;

#[tokio::test]
async fn the_demo_runs_from_its_button_to_a_page_with_its_evidence() {
    let window = Window::open(&[]).await;
    window.picture("first-start").await;
    window.press("run-demo").await;
    window.find_css("[data-testid=tool-card]").await;
    window.picture("running").await;
    window
        .find_css("[data-testid=run-end][data-state=accepted]")
        .await;
    window.picture("accepted").await;

    window.press("artifact-open").await;
    window.find("artifact-frame").await;
    window.find("ledger").await;
    let claims = window
        .eval("return document.querySelectorAll('[data-testid=claim]').length")
        .await;
    let held = window
        .eval("return document.querySelectorAll('[data-testid=claim][data-state=verbatim]').length")
        .await;
    assert!(claims.as_u64() > Some(0), "no claim is listed");
    assert_eq!(claims, held, "the demo quotes verbatim");

    window.enter_artifact().await;
    window
        .until_script(
            "the page is loaded",
            "return document.readyState === 'complete'",
        )
        .await;
    let heading = window
        .eval("return document.querySelector('h1')?.innerText ?? ''")
        .await;
    assert!(
        heading.as_str().is_some_and(|words| !words.is_empty()),
        "the page has no heading"
    );
    // Every citation leads to an entry of the reference list, which the app has rendered.
    let loose = window
        .eval(
            "const cited = [...document.querySelectorAll('a[href^=\"#\"]')];
             const loose = cited.filter((link) => !document.getElementById(decodeURIComponent(link.hash.slice(1))));
             return cited.length === 0 ? ['no citation'] : loose.map((link) => link.outerHTML);",
        )
        .await;
    assert_eq!(loose, Value::Array(Vec::new()));
    window.leave_frame().await;
    window.picture("artifact").await;
    window.close().await;
}

#[tokio::test]
async fn started_with_demo_it_shows_the_run_finishing() {
    let window = Window::open(&["--demo"]).await;
    window
        .find_css("[data-testid=run-end][data-state=accepted]")
        .await;
    window.close().await;
}
