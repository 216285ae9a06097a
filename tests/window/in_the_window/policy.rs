//! What the window itself refuses, whatever gets into its page.

use serde_json::json;

use crate::window::Window;

/// Puts in what must not work, and notes which rule of the policy refused it.
const BREACHES: &str = "
    window.refused = [];
    addEventListener('securitypolicyviolation', (event) => window.refused.push(event.effectiveDirective));
    const add = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields));
    add('script', { textContent: 'window.ran = true' });
    add('img', { src: 'http://127.0.0.1:9/picture.png' });
    add('object', { data: 'http://127.0.0.1:9/object' });
    fetch('http://127.0.0.1:9/').catch(() => undefined);
    return true;";

const REFUSED: &str = "return ['script-src', 'img-src', 'object-src', 'connect-src']
    .every((rule) => window.refused.some((refused) => refused.startsWith(rule)));";

#[tokio::test]
async fn the_window_runs_no_inline_script_and_asks_no_host() {
    let window = Window::open(&[]).await;
    window.eval(BREACHES).await;
    window
        .until_script("each is refused by its rule", REFUSED)
        .await;
    assert_eq!(
        window.eval("return window.ran ?? false").await,
        json!(false)
    );
    window.close().await;
}

#[tokio::test]
async fn the_window_is_left_for_no_other_address_and_opens_no_other_window() {
    let window = Window::open(&[]).await;
    window.find("runs").await;
    assert_eq!(
        window
            .eval("return window.open('https://example.org/') === null")
            .await,
        json!(true)
    );
    for address in [
        "https://example.org/",
        "data:text/html,elsewhere",
        "file:///etc/hostname",
    ] {
        window
            .eval(&format!("location.href = '{address}'; return true"))
            .await;
        // The page is still there and still works.
        window.press("rail-settings").await;
        window.find("settings").await;
        window.press("rail-runs").await;
        window.find("runs").await;
    }
    assert_eq!(
        window.eval("return location.protocol").await,
        json!("tauri:")
    );
    window.close().await;
}
