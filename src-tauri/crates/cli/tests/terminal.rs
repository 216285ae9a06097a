//! On a terminal: one line that is rewritten in place, and questions that are asked there.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use longrein_testkit::provider::{Manner, Setup};
use longrein_testkit::{call, say};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::support::{Home, Provider, of_type, until};

const COLUMNS: u16 = 60;

/// A command on a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let open = || {
            let user = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
            Stdio::from(user.unwrap())
        };
        command
            .env("TERM", "xterm")
            .stdin(open())
            .stdout(open())
            .stderr(open());
        let child = command.spawn().unwrap();
        // The command holds ends of the terminal too, which would keep its reader waiting.
        drop(command);
        let keys = File::from(controller);
        let mut reader = keys.try_clone().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let shared = screen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the last end of the terminal is closed.
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let mut screen = shared.lock().unwrap_or_else(PoisonError::into_inner);
                screen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Self {
            child,
            keys,
            screen,
        }
    }

    fn screen(&self) -> String {
        self.screen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn see(&self, words: &str) {
        until(words, || self.screen().contains(words).then_some(()));
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.keys, "{line}").unwrap();
    }

    fn end(&mut self) -> i32 {
        let status = until("the end", || self.child.try_wait().unwrap());
        status.code().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended can't be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ASK: &str =
    "[tools]\nallow = [\"files\"]\n\n[[policy]]\ntool = \"write_file\"\ndecision = \"ask\"\n";

fn asking() -> (Home, Provider) {
    let script = vec![
        call("write_file", json!({"path": "a.txt", "content": "x"})),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    (Home::with(&provider), provider)
}

#[test]
fn an_action_is_approved_where_the_run_is_watched_and_never_by_a_bare_enter() {
    let (home, _provider) = asking();
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(ASK), "Write it."]));
    terminal.see("Let it start?");
    assert!(
        terminal.screen().contains("\"path\": \"a.txt\""),
        "{}",
        terminal.screen()
    );
    terminal.type_line("");
    until("the question again", || {
        (terminal.screen().matches("Let it start?").count() == 2).then_some(())
    });
    assert!(
        terminal.screen().contains("An empty line is no answer."),
        "{}",
        terminal.screen()
    );
    terminal.type_line("y");
    terminal.see("“y” is no answer: yes and later are whole words");
    terminal.type_line("yes");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let events = home.events(&home.only_run());
    assert_eq!(of_type(&events, "action.started").len(), 1);
    assert!(
        of_type(&events, "run.resumed").is_empty(),
        "the run was not let go"
    );
}

#[test]
fn an_answer_that_is_put_off_parks_the_run() {
    let (home, _provider) = asking();
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(ASK), "Write it."]));
    terminal.see("Let it start?");
    terminal.type_line("later");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    terminal.see("longrein approve");
    assert_eq!(home.runs()[0]["state"], "waiting");
}

#[test]
fn one_line_is_rewritten_and_never_wider_than_the_terminal() {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    let provider = Provider::start(Setup::scripted([say("Done.")]).in_manner(manner));
    let home = Home::with(&provider);
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(""), "Say it."]));
    provider.held(1);
    terminal.see("asking the model");
    provider.mock.gate().open();
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.see("Finished");
    let screen = terminal.screen();
    let rewritten = screen
        .split('\r')
        .filter(|part| part.contains("asking the model"));
    for part in rewritten {
        let line = part.split("\u{1b}[K").next().unwrap();
        let line = line.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
        assert!(line.chars().count() < usize::from(COLUMNS), "{line:?}");
    }
    assert!(
        screen.contains("\u{1b}[K"),
        "the line is taken away at the end: {screen:?}"
    );
}

#[test]
fn no_color_is_obeyed() {
    let home = Home::new();
    let mut command = home.command(&["demo"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.see("Accepted");
    let screen = terminal.screen().replace("\u{1b}[K", "");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}

#[test]
fn ctrl_c_at_the_question_leaves_it_open_and_ends_as_an_interrupt_does() {
    let (home, _provider) = asking();
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(ASK), "Write it."]));
    terminal.see("Let it start?");
    kill_process(Pid::from_child(&terminal.child), Signal::INT).unwrap();
    assert_eq!(terminal.end(), 130, "{}", terminal.screen());
    assert_eq!(home.runs()[0]["state"], "waiting");
}
