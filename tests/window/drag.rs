//! Dragging a folder or a file from another program onto the window, with a real pointer. Nothing is
//! done before the one before it has come about: the program says what it sees, the page what it
//! shows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::window::{APPEAR_LIMIT, LOOK_EVERY, Window, middle};

/// How far the pointer moves at a time, in dots, and how often in one direction: a drag begins
/// only once it has gone some way with its button down.
const NUDGE: i32 = 4;
const NUDGES: i32 = 8;

/// Whether the page says that something is held over it.
const HOVERS: &str = "return document.querySelector('[data-testid=drop-veil]') !== null";

/// Whether it no longer does.
const LEFT: &str = "return document.querySelector('[data-testid=drop-veil]') === null";

/// The program that is dragged from. It ends with this, if not before.
struct Source {
    child: Child,
    said: Receiver<String>,
    begun: bool,
    taken: bool,
}

impl Source {
    /// Starts it, and says where its pointer goes down.
    fn start(path: &Path) -> (Self, (i32, i32)) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/window/drag.py");
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is installed");
        let lines = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        let (saying, said) = mpsc::channel();
        // It ends with the program.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if saying.send(line).is_err() {
                    break;
                }
            }
        });
        let source = Self {
            child,
            said,
            begun: false,
            taken: false,
        };
        let ready = source.next();
        let places: Vec<i32> = ready
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        match places[..] {
            [x, y] => (source, (x, y)),
            _ => panic!("the program to drag from says {ready:?}"),
        }
    }

    fn next(&self) -> String {
        self.said
            .recv_timeout(APPEAR_LIMIT)
            .expect("the program to drag from says something")
    }

    /// Takes note of all that it has said by now.
    fn hear(&mut self) {
        while let Ok(line) = self.said.try_recv() {
            match line.as_str() {
                "begun" => self.begun = true,
                "taken" => self.taken = true,
                "not taken" => self.taken = false,
                other => panic!("the drag ended before its time: {other}"),
            }
        }
    }

    fn until_dropped(&self) {
        loop {
            match self.next().as_str() {
                "dropped" => return,
                "taken" => {}
                other => panic!("it was let go, and the program says: {other}"),
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // One that has ended can't be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Drags a folder or a file over the middle of the window; `held` looks at the window before it is
/// dropped there.
pub async fn drop_on(window: &Window, path: &Path, held: impl AsyncFnOnce(&Window)) {
    let (mut source, from) = Source::start(path);
    move_to(from);
    pointer(&["mousedown", "1"]);
    let begun = Instant::now();
    for nudge in (1..=NUDGES).cycle() {
        move_to((from.0 + nudge * NUDGE, from.1));
        source.hear();
        if source.begun {
            break;
        }
        assert!(begun.elapsed() < APPEAR_LIMIT, "no drag begins");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let over = middle();
    // A pointer that stands still says nothing.
    for nudge in (1..=NUDGES).cycle() {
        move_to((over.0 + nudge * NUDGE, over.1));
        let hovers = window.eval(HOVERS).await == Value::Bool(true);
        source.hear();
        if hovers && source.taken {
            break;
        }
        assert!(
            begun.elapsed() < APPEAR_LIMIT,
            "the page shows that something is held over it: {hovers}; it would be taken: {}",
            source.taken
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
    held(window).await;
    pointer(&["mouseup", "1"]);
    source.until_dropped();
    window
        .until_script("the page shows that nothing is held any more", LEFT)
        .await;
}

fn move_to((x, y): (i32, i32)) {
    pointer(&["mousemove", &x.to_string(), &y.to_string()]);
}

fn pointer(words: &[&str]) {
    let moved = Command::new("xdotool").args(words).output();
    let moved = moved.expect("xdotool runs");
    assert!(moved.status.success(), "xdotool {words:?}: {moved:?}");
}
