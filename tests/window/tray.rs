//! A tray for the test's session bus: a stand-in that takes the app's icon, reads its menu and
//! presses what is asked.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the menu may take to say what is waited for.
const APPEAR_LIMIT: Duration = Duration::from_secs(30);
/// How often it is read.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The stand-in, a process of its own. It ends with this.
pub struct Tray {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Tray {
    /// Puts a tray on the session bus.
    pub fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/window/tray.py");
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is installed");
        let questions = child.stdin.take().expect("it was asked for");
        let answers = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut tray = Self {
            child,
            questions,
            answers,
        };
        assert_eq!(tray.line(), "ready");
        tray
    }

    /// The words of the menu's items, from the top.
    pub fn menu(&mut self) -> Vec<String> {
        let answer = self.ask("menu");
        answer
            .split('\t')
            .filter(|words| !words.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Waits until the menu is as is asked.
    pub async fn until(&mut self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let menu = self.menu();
            if is_so(&menu) {
                return menu;
            }
            assert!(
                begun.elapsed() < APPEAR_LIMIT,
                "it did not come about that {what}: {menu:?}"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Chooses the item that begins like this.
    pub fn choose(&mut self, words: &str) {
        assert_eq!(self.ask(&format!("choose {words}")), "chosen");
    }

    fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").expect("the tray listens");
        self.line()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the tray answers");
        line.trim_end_matches('\n').to_owned()
    }
}

impl Drop for Tray {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
