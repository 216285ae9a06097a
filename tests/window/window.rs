//! The window as a person has it: what is there, what can be pressed, what it shows.

use std::process::Command;
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::desk::given;

/// How long anything may take to appear, on a machine that is busy with other things.
pub const APPEAR_LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked for.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often an element is pressed that can't be pressed yet.
const PRESS_ATTEMPTS: u32 = 20;

/// The app, started by this test.
pub struct Window {
    client: Client,
}

impl Window {
    /// Starts the app and waits for its first picture.
    pub async fn open(arguments: &[&str]) -> Self {
        let options = json!({"application": given("LONGREIN_DESKTOP"), "args": arguments});
        let mut capabilities = Capabilities::new();
        capabilities.insert("browserName".to_owned(), json!("wry"));
        capabilities.insert("tauri:options".to_owned(), options);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&given("LONGREIN_WEBDRIVER"))
            .await
            .expect("the driver starts the app");
        let window = Self { client };
        window
            .until("the window is on the screen", window_on_screen)
            .await;
        window
    }

    /// Ends the app from outside, as a test's last act.
    pub async fn close(self) {
        self.client.close().await.expect("the driver ends the app");
    }

    /// Lets go of an app that has ended by itself, so that another can be started.
    pub async fn let_go(self) {
        // The driver may have noticed already.
        let _ = self.client.close().await;
    }

    /// The element of this test id, as soon as it is there.
    pub async fn find(&self, id: &str) -> Element {
        self.find_css(&format!("[data-testid=\"{id}\"]")).await
    }

    /// The first element of a selector, as soon as it is there.
    pub async fn find_css(&self, selector: &str) -> Element {
        let wait = self.client.wait().at_most(APPEAR_LIMIT).every(LOOK_EVERY);
        match wait.for_element(Locator::Css(selector)).await {
            Ok(element) => element,
            Err(error) => panic!(
                "{selector} did not appear: {error}\n{}",
                self.page_text().await
            ),
        }
    }

    /// Presses an element. While the window is still being drawn, what was found may be replaced or
    /// moved before it is pressed: then it is looked for again.
    pub async fn press(&self, id: &str) {
        let mut refused = None;
        for _ in 0..PRESS_ATTEMPTS {
            match self.find(id).await.click().await {
                Ok(()) => return,
                Err(error) => refused = Some(error),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        panic!("{id} can't be pressed: {refused:?}");
    }

    /// Presses an element that takes the window away: the driver would wait in vain for a
    /// window that is hidden, or for an app that has ended, to say that it was pressed.
    pub async fn press_last(&self, id: &str) {
        self.find(id).await;
        let press = format!("document.querySelector('[data-testid={id}]').click()");
        // The app may be gone before the driver has its answer.
        let script = format!("setTimeout(() => {press}, 0); return true");
        let _ = self.client.execute(&script, Vec::new()).await;
    }

    /// Presses keys, wherever the focus is.
    pub async fn press_keys(&self, keys: &str) {
        let body = self.find_css("body").await;
        body.send_keys(keys)
            .await
            .unwrap_or_else(|error| panic!("keys can't be pressed: {error}"));
    }

    /// Puts a text into an element, in place of what is there.
    pub async fn fill(&self, id: &str, text: &str) {
        let element = self.find(id).await;
        element
            .clear()
            .await
            .unwrap_or_else(|error| panic!("{id} can't be cleared: {error}"));
        self.type_into(id, text).await;
    }

    /// Types into an element.
    pub async fn type_into(&self, id: &str, text: &str) {
        self.find(id)
            .await
            .send_keys(text)
            .await
            .unwrap_or_else(|error| panic!("{id} takes no text: {error}"));
    }

    /// What a script answers.
    pub async fn eval(&self, script: &str) -> Value {
        self.client
            .execute(script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// What a script hands to its last argument, which is a function.
    pub async fn eval_later(&self, script: &str) -> Value {
        self.client
            .execute_async(script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Loads the page again, as a person does who presses F5.
    pub async fn reload(&self) {
        self.client
            .refresh()
            .await
            .expect("the page can be loaded again");
    }

    /// Goes into the frame of the artifact; everything later is asked of it.
    pub async fn enter_artifact(&self) {
        let frame = self.find("artifact-frame").await;
        frame.enter_frame().await.expect("the frame can be entered");
    }

    /// Leaves the frame.
    pub async fn leave_frame(&self) {
        self.client
            .clone()
            .enter_parent_frame()
            .await
            .expect("the frame can be left");
    }

    /// Everything that is written in the window.
    pub async fn page_text(&self) -> String {
        let text = self
            .client
            .execute("return document.body.innerText", Vec::new())
            .await;
        text.ok()
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// The run as the window shows it: its knots, then its rows, each as its words.
    pub async fn run_as_shown(&self) -> Vec<String> {
        let shown = self
            .eval(
                "const words = (query) => [...document.querySelectorAll(query)].map((part) => part.innerText.trim());
                 return [...words('[data-testid=rein] button'), ...words('[data-testid=conversation] .slot')];",
            )
            .await;
        let texts = shown.as_array().into_iter().flatten();
        texts
            .filter_map(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Waits until `is_so` answers yes.
    pub async fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(
                begun.elapsed() < APPEAR_LIMIT,
                "it did not come about that {what}"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until a script answers `true`.
    pub async fn until_script(&self, what: &str, script: &str) {
        let begun = Instant::now();
        while self.eval(script).await != Value::Bool(true) {
            let page = self.page_text().await;
            assert!(
                begun.elapsed() < APPEAR_LIMIT,
                "it did not come about that {what}:\n{page}"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Keeps a picture of the whole display, once what is there is drawn.
    pub async fn picture(&self, name: &str) {
        self.eval_later("const done = arguments[arguments.length - 1]; document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));").await;
        let place = format!("{}/{name}.png", given("LONGREIN_SHOTS"));
        let taken = Command::new("import")
            .args(["-window", "root", &place])
            .status();
        assert!(
            taken.is_ok_and(|status| status.success()),
            "no picture {name}"
        );
    }
}

/// What a command of the display says; empty when it says nothing.
fn told(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}

/// Whether the window is on the screen.
pub fn window_on_screen() -> bool {
    !told(
        "xdotool",
        &["search", "--onlyvisible", "--name", "^Longrein$"],
    )
    .trim()
    .is_empty()
}

/// The middle of the window on the screen, in dots from the upper left.
pub fn middle() -> (i32, i32) {
    let search: &[&str] = &["search", "--onlyvisible", "--name", "^Longrein$"];
    let measured = told(
        "xdotool",
        &[search, &["getwindowgeometry", "--shell"]].concat(),
    );
    let dots = |name: &str| -> i32 {
        let line = measured.lines().find_map(|line| line.strip_prefix(name));
        let value = line.and_then(|rest| rest.strip_prefix('=')?.parse().ok());
        value.unwrap_or_else(|| panic!("no {name} of the window among:\n{measured}"))
    };
    (
        dots("X") + dots("WIDTH") / 2,
        dots("Y") + dots("HEIGHT") / 2,
    )
}

/// Closes the window as its cross does.
pub fn close_by_its_cross() {
    let closed = Command::new("wmctrl")
        .args(["-F", "-c", "Longrein"])
        .status();
    assert!(
        closed.is_ok_and(|status| status.success()),
        "the window can't be closed"
    );
}

/// The process that owns the window. The window manager may list it a moment after its page is
/// there.
pub fn process() -> u32 {
    let begun = Instant::now();
    loop {
        let windows = told("wmctrl", &["-lp"]);
        let line = windows.lines().find(|line| line.ends_with(" Longrein"));
        if let Some(id) = line.and_then(|line| line.split_whitespace().nth(2)?.parse().ok()) {
            return id;
        }
        assert!(
            begun.elapsed() < APPEAR_LIMIT,
            "no window of the app among:\n{windows}"
        );
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Whether a process is gone, or only waits to be taken note of.
pub fn is_gone(process: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{process}/stat")) {
        Ok(stat) => stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('Z')),
        Err(_) => true,
    }
}
