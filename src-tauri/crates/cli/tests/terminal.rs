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

use crate::counting::{Counting, MARK};
use crate::support::{Home, Provider, of_type, until};

const COLUMNS: u16 = 60;

/// A command on a terminal of its own.
pub struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    pub fn start(mut command: Command) -> Self {
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

    pub fn screen(&self) -> String {
        self.screen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn see(&self, words: &str) {
        until(words, || self.screen().contains(words).then_some(()));
    }

    /// Waits until words stand there so often.
    fn see_again(&self, words: &str, times: usize) {
        until(words, || {
            (self.screen().matches(words).count() >= times).then_some(())
        });
    }

    pub fn type_line(&mut self, line: &str) {
        writeln!(self.keys, "{line}").unwrap();
    }

    pub fn end(&mut self) -> i32 {
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
    terminal.see("Let it start? [a]pprove, [e]dit, [d]eny");
    assert!(
        terminal.screen().contains("\"path\": \"a.txt\""),
        "{}",
        terminal.screen()
    );
    terminal.type_line("");
    terminal.see_again("Let it start?", 2);
    assert!(
        terminal.screen().contains("An empty line is no answer."),
        "{}",
        terminal.screen()
    );
    terminal.type_line("y");
    terminal.see("“y” is no answer.");
    terminal.see_again("Let it start?", 3);
    terminal.type_line("a");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let events = home.events(&home.only_run());
    assert_eq!(of_type(&events, "action.started").len(), 1);
    assert!(
        of_type(&events, "run.resumed").is_empty(),
        "the run was not let go"
    );
}

#[test]
fn what_is_typed_before_a_question_is_seen_answers_nothing() {
    let manner = Manner {
        hold_after: Some(1),
        ..Manner::default()
    };
    let script = vec![
        call("write_file", json!({"path": "a.txt", "content": "x"})),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script).in_manner(manner));
    let home = Home::with(&provider);
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(ASK), "Write it."]));
    provider.held(1);
    terminal.type_line("a");
    provider.mock.gate().open();
    terminal.see("Let it start?");
    terminal.type_line("later");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    let events = home.events(&home.only_run());
    assert!(of_type(&events, "approval.resolved").is_empty());
}

#[test]
fn arguments_are_edited_in_the_editor_until_they_fit() {
    let (home, _provider) = asking();
    // Writes what does not fit the first time, and what does the second time.
    let editor = home.write(
        "editor.sh",
        "if [ -e \"$HOME/edited\" ]; then path='\"b.txt\"'; else path=7; fi\n\
         touch \"$HOME/edited\"\n\
         printf '{\"path\": %s, \"content\": \"edited\"}' \"$path\" > \"$1\"\n",
    );
    let mut command = home.command(&["run", &home.agent(ASK), "Write it."]);
    command.env("EDITOR", format!("sh {editor}"));
    let mut terminal = Terminal::start(command);
    terminal.see("Let it start?");
    terminal.type_line("e");
    terminal.see("Edit it once more? y/N:");
    assert!(terminal.screen().contains("/path"), "{}", terminal.screen());
    terminal.type_line("y");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let run = home.only_run();
    let file = home.path().join("data.work").join(&run).join("b.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "edited");
}

#[test]
fn always_on_a_terminal_shows_what_it_matches_and_asks_once_more() {
    let script = vec![
        call("write_file", json!({"path": "a.txt", "content": "x"})),
        call("write_file", json!({"path": "a.txt", "content": "y"})),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let reads = "[tools]\nallow = [\"files\"]\n\n[tools.write_file]\neffect = \"reversible\"\n";
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(reads), "Write it."]));
    terminal.see("a[l]ways");
    terminal.type_line("l");
    terminal.see("in this [r]un");
    terminal.type_line("r");
    terminal.see("From now on, in this run, this starts without asking:");
    terminal.see("Make this rule, and let it start? y/N:");
    terminal.type_line("");
    terminal.see_again("Let it start? [a]pprove", 2);
    terminal.type_line("l");
    terminal.see_again("in this [r]un", 2);
    terminal.type_line("r");
    terminal.see_again("Make this rule, and let it start? y/N:", 2);
    terminal.type_line("y");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let events = home.events(&home.only_run());
    assert_eq!(of_type(&events, "approval.requested").len(), 1);
    assert_eq!(of_type(&events, "action.started").len(), 2);
}

#[test]
fn approve_with_always_asks_on_a_terminal_and_no_is_the_answer_of_a_bare_enter() {
    let script = vec![call(MARK, json!({"label": "one"})), say("Marked.")];
    let counting = Counting::new(false, Setup::scripted(script));
    let home = &counting.home;
    let agent = home.agent("[tools]\nallow = [\"counter.*\"]\n");
    assert_eq!(home.run(&["run", &agent, "Mark it."]).status, 3);
    let waiting = home.run(&["approvals", "--json"]).json();
    let words = [
        "approve",
        waiting[0]["action"].as_str().unwrap(),
        "--always",
        "everywhere",
    ];
    for (typed, status, marks) in [("", 3, 0), ("y", 0, 1)] {
        let mut terminal = Terminal::start(home.command(&words));
        terminal.see("in every run of every agent");
        terminal.see("Make this rule, and let it start? y/N:");
        terminal.type_line(typed);
        assert_eq!(terminal.end(), status, "{}", terminal.screen());
        assert_eq!(counting.marks(), marks);
    }
    assert_eq!(
        home.run(&["rules", "--json"]).json()[0]["scope"],
        "everywhere"
    );
}

#[test]
fn a_question_is_answered_by_its_number_and_a_result_accepted_in_place() {
    let ask = json!({"question": "Which channel?", "options": ["#lab", "#ann"]});
    let provider = Provider::start(Setup::scripted(vec![call("ask_person", ask), say("Done.")]));
    let home = Home::with(&provider);
    let agent = home.agent("[[done_when]]\nperson = \"Is it right?\"\n");
    let mut terminal = Terminal::start(home.command(&["run", &agent, "Post it."]));
    terminal.see("A number, or your own words");
    terminal.type_line("2");
    terminal.see("Accept it? [a]ccept, [s]end back");
    terminal.type_line("a");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_eq!(provider.mock.seen()[1].last_result().unwrap(), "#ann");
    assert_eq!(home.runs()[0]["state"], "accepted");
}

#[test]
fn a_question_that_is_answered_elsewhere_is_no_longer_asked_here() {
    let (home, _provider) = asking();
    let mut terminal = Terminal::start(home.command(&["run", &home.agent(ASK), "Write it."]));
    terminal.see("Let it start?");
    let waiting = home.run(&["approvals", "--json"]).json();
    let approved = home.run(&["approve", waiting[0]["action"].as_str().unwrap()]);
    assert_eq!(approved.status, 0, "{approved}");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.see("It was answered elsewhere.");
}

#[test]
fn what_became_of_an_action_is_asked_in_place_and_the_run_goes_on() {
    let script = vec![call(MARK, json!({"label": "one"})), say("Marked.")];
    let counting = Counting::new(true, Setup::scripted(script));
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.agent("allow"), "Mark it."]);
    let run = driving.run_id();
    counting.held();
    driving.kill();
    counting.let_go();
    let mut terminal = Terminal::start(home.command(&["resume", &run]));
    terminal.see("What became of it? [h]appened");
    terminal.type_line("h");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_eq!(counting.labels(), ["one"]);
    assert_eq!(home.runs()[0]["state"], "unverified");
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
