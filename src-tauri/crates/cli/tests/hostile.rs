//! Servers that do what they should not, in whole runs: the run survives, policy holds, and the
//! person is told.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider, in_repository, of_type, until};

/// Tools of the server that only read, as its agent says, so that they start without asking.
const READING: [&str; 11] = [
    "plain",
    "big",
    "flood",
    "forever",
    "model",
    "order",
    "change",
    "ask_secret",
    "busy",
    "poison",
    "read_fi1e",
];

/// A home with the hostile server, which is called `h`.
pub struct Hostile {
    pub home: Home,
    pub provider: Provider,
}

impl Hostile {
    pub fn new(options: &[&str], setup: Setup) -> Self {
        let provider = Provider::start(setup);
        let home = Home::new();
        let hostile = Self { home, provider };
        hostile.configure(&hostile.command(options));
        hostile
    }

    fn command(&self, options: &[&str]) -> Vec<String> {
        let server = in_repository("tests/fixtures/hostile/hostile.py");
        let (server, notes) = (server.to_str().unwrap(), self.home.path().to_str().unwrap());
        let words = ["python3", server, notes].into_iter();
        words
            .chain(options.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    fn configure(&self, command: &[String]) {
        let server = format!("\n[mcp.h]\ncommand = {}\n", json!(command));
        self.home
            .configure(&format!("{}{server}", self.provider.config()));
    }

    /// An agent with all of its tools; those that only read start without asking, and what asks
    /// the person does too.
    pub fn agent(&self, lines: &str) -> String {
        let reads = READING.map(|tool| format!("[tools.\"h.{tool}\"]\neffect = \"read\"\n"));
        let asks = ["ask", "ask_page"]
            .map(|tool| format!("[[policy]]\ntool = \"h.{tool}\"\ndecision = \"allow\"\n"));
        let preload = json!(READING.map(|tool| format!("h.{tool}")));
        self.home.agent(&format!(
            "[tools]\nallow = [\"h.*\", \"read_file\"]\npreload = {preload}\n\n{}\n{}\n{lines}",
            reads.concat(),
            asks.concat()
        ))
    }

    pub fn run(&self) -> Outcome {
        self.home.run(&["run", &self.agent(""), "Do it."])
    }

    /// What a person sees of the run.
    fn shown(&self, ended: &Outcome) -> String {
        self.home.run(&["show", &ended.run_id()]).out
    }

    pub fn notes(&self) -> String {
        std::fs::read_to_string(self.home.path().join("notes")).unwrap_or_default()
    }

    /// The results that the model was shown, in order.
    fn results(&self) -> Vec<String> {
        let seen = self.provider.mock.seen();
        seen.iter().filter_map(|seen| seen.last_result()).collect()
    }
}

fn calling(tools: &[&str]) -> Vec<Scripted> {
    let calls = tools.iter().map(|tool| call(tool, json!({})));
    calls.chain([say("Done.")]).collect()
}

fn whole(options: &[&str], tools: &[&str]) -> (Hostile, Outcome, Vec<Value>) {
    let hostile = Hostile::new(options, Setup::scripted(calling(tools)));
    let ended = hostile.run();
    let events = hostile.home.events(&ended.run_id());
    hostile.home.assert_whole();
    (hostile, ended, events)
}

#[test]
fn malformed_schemas_lose_their_tools_and_not_the_run_and_the_person_is_told() {
    let (hostile, ended, _) = whole(&["--schemas"], &["h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    let seen = hostile.provider.mock.seen();
    let offered = seen[0].text();
    assert!(offered.contains("h__plain"));
    for lost in ["h__malformed", "h__bomb", "h__circle"] {
        assert!(!offered.contains(lost), "{lost}");
        let told = format!("{} is left out: ", lost.replace("__", "."));
        assert!(hostile.shown(&ended).contains(&told), "{told}");
    }
}

#[test]
fn orders_and_hidden_characters_in_a_description_are_told_to_the_person() {
    let (hostile, ended, _) = whole(&["--words"], &["h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    let shown = hostile.shown(&ended);
    for told in [
        "h.poison is described with orders to the model: ",
        "h.poison is described with characters that nobody sees: ",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let request = &hostile.provider.mock.seen()[0];
    assert!(!request.contains("\u{200b}"), "{}", request.text());
}

#[test]
fn a_name_that_looks_like_that_of_a_built_in_tool_is_told_to_the_person() {
    let (hostile, ended, _) = whole(&["--shadows"], &["h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    let shown = hostile.shown(&ended);
    let told = "The tool h.read_fi1e has a name like that of read_file.";
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn a_result_of_fifty_megabytes_fails_its_action_and_the_next_call_goes_on() {
    let (hostile, ended, events) = whole(&[], &["h__big", "h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    let finished = of_type(&events, "action.finished");
    assert_eq!(finished[0]["error"], "failed", "{}", finished[0]);
    assert!(hostile.results()[0].contains("it sent a line longer than"));
    assert_eq!(finished[1]["error"], Value::Null);
}

#[test]
fn a_definition_that_changed_since_the_last_run_stops_the_next_one_with_the_difference() {
    let hostile = Hostile::new(&[], Setup::scripted(calling(&["h__plain"])));
    assert_eq!(hostile.run().status, 0);
    hostile.home.write("words", "Sends everything away.");
    let stopped = hostile.run();
    assert_eq!(stopped.status, 3, "{stopped}");
    for words in ["Sends everything away", "longrein mcp approve h"] {
        assert!(stopped.out.contains(words), "{words}: {stopped}");
    }
    assert_eq!(hostile.notes().matches("called plain").count(), 1);
}

#[test]
fn a_definition_that_changes_in_the_middle_of_a_run_is_not_called_as_what_it_was() {
    let (hostile, ended, events) = whole(&[], &["h__change", "h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    let finished = of_type(&events, "action.finished");
    assert_eq!(finished[1]["error"], "conflict", "{}", finished[1]);
    assert!(!hostile.notes().contains("called plain"));
}

#[test]
fn orders_in_a_result_are_data_and_what_reaches_outside_then_asks() {
    let hostile = Hostile::new(&[], Setup::scripted(calling(&["h__order", "h__post"])));
    let allowed = "[[policy]]\ntool = \"h.post\"\ndecision = \"allow\"\n";
    let agent = hostile.agent(allowed);
    let parked = hostile.home.run(&["run", &agent, "Read it."]);
    assert_eq!(
        parked.status, 3,
        "a person is asked in spite of the rule: {parked}"
    );
    let events = hostile.home.events(&parked.run_id());
    assert_eq!(of_type(&events, "action.finished")[0]["trust"], "untrusted");
    let asked = of_type(&events, "action.decided");
    assert_eq!(asked.last().unwrap()["decision"], "ask");
    assert!(!hostile.notes().contains("called post"));
    let shown = hostile.results().pop().unwrap();
    assert!(shown.contains("Ignore all previous instructions"));
    assert!(
        shown.contains("untrusted"),
        "it is labelled as data: {shown}"
    );
}

#[test]
fn a_form_for_a_password_never_reaches_the_person_who_is_told() {
    let (hostile, ended, events) = whole(&[], &["h__ask_secret"]);
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.results()[0].contains("decline"));
    assert!(of_type(&events, "question.asked").is_empty());
    let refused = of_type(&events, "question.refused");
    let why = refused[0]["why"].as_str().unwrap();
    assert!(why.contains("It asks for a secret (“password”)"), "{why}");
    assert!(
        ended.err.contains("asked for what it does not get"),
        "{ended}"
    );
}

#[test]
fn a_server_that_wants_a_model_gets_none_and_the_person_is_told() {
    let (hostile, ended, events) = whole(&[], &["h__model"]);
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.results()[0].contains("lends no model"));
    assert_eq!(of_type(&events, "question.refused").len(), 1);
    assert_eq!(hostile.provider.mock.count(), 2);
}

#[test]
fn a_flood_on_standard_error_holds_up_nothing() {
    let (hostile, ended, _) = whole(&[], &["h__flood"]);
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.results()[0].contains("flooded"));
    assert!(ended.err.len() < 100_000, "it is not passed on");
}

#[test]
fn progress_without_end_does_not_keep_a_call_alive_for_ever() {
    let hostile = Hostile::new(&[], Setup::scripted(calling(&["h__forever"])));
    let agent = hostile.agent("");
    let text = std::fs::read_to_string(&agent).unwrap();
    let limited = text.replace(
        "[tools.\"h.forever\"]\n",
        "[tools.\"h.forever\"]\ntimeout_seconds = 2\n",
    );
    std::fs::write(&agent, limited).unwrap();
    let ended = hostile.home.run(&["run", &agent, "Wait."]);
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.results()[0].contains("did not answer within 2 s"));
}

#[test]
fn a_list_without_end_is_given_up_and_the_run_says_so() {
    let (hostile, ended, _) = whole(&["--pages"], &["h__plain"]);
    // The first tools are used; that there were more than can be is said.
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.shown(&ended).contains(" is left out: "), "{ended}");
}

#[test]
fn names_without_measure_lose_their_tools() {
    let (hostile, ended, _) = whole(&["--names"], &["h__plain"]);
    assert_eq!(ended.status, 0, "{ended}");
    assert!(hostile.provider.mock.seen()[0].text().len() < 200_000);
}

/// A server over HTTP that sends whoever asks it on to another address; gives its own address.
fn redirecting(to: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let mut begun = [0; 4_096];
            let _ = stream.read(&mut begun);
            let answer = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/mcp")
}

#[test]
fn a_redirect_to_another_address_of_this_machine_is_not_followed() {
    let private = TcpListener::bind("127.0.0.1:0").unwrap();
    let inside = format!("http://{}/latest/meta-data", private.local_addr().unwrap());
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = hits.clone();
    std::thread::spawn(move || {
        for _ in private.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let provider = Provider::start(Setup::scripted(calling(&["h__plain"])));
    let home = Home::with(&provider);
    let server = format!("\n[mcp.h]\nurl = \"{}\"\n", redirecting(inside));
    home.configure(&format!("{}{server}", provider.config()));
    let agent = home.agent("[tools]\nallow = [\"h.*\"]\n");
    let stopped = home.run(&["run", &agent, "Ask it."]);
    assert_eq!(stopped.status, 3, "{stopped}");
    assert!(
        stopped.out.to_lowercase().contains("redirect"),
        "the remedy names it: {stopped}"
    );
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

/// Processes that belong to this home, by what stands in their command lines and surroundings.
fn living(home: &Home) -> usize {
    let mark = home.path().to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|entry| {
        let file = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let line = String::from_utf8_lossy(&file("cmdline")).into_owned();
        let folder = std::fs::read_link(entry.path().join("cwd"));
        let works_here = folder.is_ok_and(|folder| folder.starts_with(home.path()));
        let is_number = entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        is_number && (line.contains(&mark) || works_here)
    });
    ours.count()
}

#[test]
fn after_kill_nine_nothing_of_six_busy_servers_is_left_at_the_next_start() {
    let busy = (1..6).fold(call("h0__busy", json!({})), |said, number| {
        let arguments = json!({"grandchildren": number == 1});
        said.and_call(&format!("h{number}__busy"), arguments)
    });
    let script = vec![busy, say("Done.")];
    let hostile = Hostile::new(&[], Setup::scripted(script));
    let plain = hostile.command(&[]);
    let mut config = hostile.provider.config();
    let mut agent =
        "[tools]\nallow = [\"h0.*\", \"h1.*\", \"h2.*\", \"h3.*\", \"h4.*\", \"h5.*\"]\n"
            .to_owned();
    for number in 0..6 {
        let script = match number {
            0 => "trap '' TERM INT HUP; exec \"$@\"",
            2 => "setsid sleep 600 & exec \"$@\"",
            _ => "exec \"$@\"",
        };
        let command: Vec<&str> = ["sh", "-c", script, "sh"]
            .into_iter()
            .chain(plain.iter().map(String::as_str))
            .collect();
        config.push_str(&format!(
            "\n[mcp.h{number}]\ncommand = {}\n",
            json!(command)
        ));
        agent.push_str(&format!(
            "\n[tools.\"h{number}.busy\"]\neffect = \"read\"\n"
        ));
    }
    hostile.home.configure(&config);
    let agent = hostile.home.agent(&agent);
    let running = hostile.home.spawn(&["run", &agent, "Be busy."]);
    running.run_id();
    until("six busy servers", || {
        (hostile.notes().matches("busy\n").count() >= 12).then_some(())
    });
    let before = living(&hostile.home);
    assert!(
        before >= 8,
        "six servers, what they started, and the command: {before}"
    );
    running.kill();
    // Any command that opens the data folder sweeps.
    hostile.home.run(&["runs"]);
    until("the end of the servers", || {
        (living(&hostile.home) == 0).then_some(())
    });
    println!("{before} processes before, {} after", living(&hostile.home));
}
