//! Keys from each source: they reach their provider, and nothing else.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use longrein_testkit::provider::{Manner, Setup};
use longrein_testkit::{call, say};
use serde_json::json;

use crate::keyring::Keyring;
use crate::support::{Home, Outcome, Provider, Running, in_repository, until};
use crate::terminal::Terminal;

/// A key whose characters differ in an address, in JSON and in both alphabets of base64.
const KEY: &str = "sk-K3y>>/with+signs?\"quoted\\and=wxyz";
const OTHER_KEY: &str = "sk-another-0123456789-9876";
const PASSPHRASE: &str = "four words of it";
/// A secret of a server, which is not a provider's.
const TOKEN: &str = "t0ken?of+the/counter\"server";

/// How a text may stand in a file.
fn forms(secret: &str) -> Vec<(&'static str, Vec<u8>)> {
    let quoted = json!(secret).to_string();
    let escaped: String = secret
        .bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect();
    // The middle of it is the same wherever the text stands in what was encoded, by three shifts.
    let middles = (0..3).map(|shift| {
        let bytes = &secret.as_bytes()[shift..];
        let whole = &bytes[..bytes.len() / 3 * 3];
        ("base64", STANDARD.encode(whole).into_bytes())
    });
    let url_safe = URL_SAFE_NO_PAD.encode(&secret.as_bytes()[..secret.len() / 3 * 3]);
    let plain = [
        ("plain", secret.as_bytes().to_vec()),
        ("JSON", quoted.trim_matches('"').as_bytes().to_vec()),
        ("address", escaped.into_bytes()),
        ("base64 for addresses", url_safe.into_bytes()),
    ];
    plain.into_iter().chain(middles).collect()
}

/// Fails when a secret stands in these bytes in any form.
fn assert_without(secret: &str, bytes: &[u8], place: &str) {
    for (form, text) in forms(secret) {
        let found = bytes.windows(text.len()).any(|window| window == text);
        assert!(!found, "{place} holds the key ({form})");
    }
}

fn assert_nowhere(secret: &str, folder: &Path, except: &[&str]) {
    let mut folders = vec![folder.to_path_buf()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !except.iter().any(|name| path.ends_with(name)) {
                folders.push(path);
            } else if kind.is_file() && !except.iter().any(|name| path.ends_with(name)) {
                files += 1;
                let bytes = fs::read(&path).unwrap();
                assert_without(secret, &bytes, &path.display().to_string());
            }
        }
    }
    assert!(files > 3, "only {files} files were looked at");
}

/// Runs a command with something on its standard input.
pub fn given(mut command: Command, input: &str) -> Outcome {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses does not read it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Outcome {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A provider that wants this key, and whose model repeats it in every form.
fn echoing(key: &str) -> Provider {
    let mut told: Vec<String> = forms(key)
        .into_iter()
        .filter(|(form, _)| !form.starts_with("base64"))
        .map(|(form, text)| format!("{form}: {}", String::from_utf8(text).unwrap()))
        .collect();
    // Wherever it stands in what was encoded.
    told.extend(["", "a", "ab"].map(|before| STANDARD.encode(format!("{before}{key}"))));
    told.push(URL_SAFE_NO_PAD.encode(key));
    let told = told.join("\n");
    let mut setup = Setup::scripted([
        call(
            "write_file",
            json!({"path": "said.txt", "content": told.clone()}),
        ),
        call("counter__mark", json!({"label": "seen"})),
        say(&told),
    ])
    .in_manner(Manner {
        by_character: true,
        ..Manner::default()
    });
    setup.key = Some(key.to_owned());
    Provider::start(setup)
}

/// A home with this provider, a server that is granted a token, and an agent that may use both.
fn home_of(provider: &Provider, lines: &str) -> (Home, String) {
    let home = Home::new();
    let server = in_repository("tests/fixtures/counter/counter.py");
    let marks = home.path().join("marks");
    let command = json!([
        "python3",
        server,
        marks,
        "--slow-gate-after",
        home.path().join("gate")
    ]);
    home.configure(&format!(
        "{}\n[mcp.counter]\ncommand = {command}\nenv = {{ TOKEN = \"secret:counter-token\" }}\n\n{lines}",
        provider.config()
    ));
    let agent = home.agent(
        "[tools]\nallow = [\"files\", \"counter.*\"]\n\n[[policy]]\ntool = \"counter.mark\"\ndecision = \"allow\"\n",
    );
    (home, agent)
}

/// What each process that belongs to a home was started with: its id, its arguments, its
/// environment.
fn processes_of(home: &Home) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let mark = home.path().display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let seen = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let read = |name: &str| fs::read(entry.path().join(name)).ok();
        Some((pid, read("cmdline")?, read("environ").unwrap_or_default()))
    });
    seen.filter(|(_, line, environment)| {
        let belongs = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&mark);
        belongs(line) || belongs(environment)
    })
    .collect()
}

/// Drives a run with a key, and looks everywhere while its server works and after it has ended.
fn run_and_look(home: &Home, agent: &str, prepare: &dyn Fn(&mut Command), in_environment: bool) {
    let command = |words: &[&str]| {
        let mut command = home.command(words);
        prepare(&mut command);
        command
    };
    let running = Running::start(command(&["run", agent, "What does it say?"]));
    let waiting = home.path().join("gate.waiting");
    until("the server's work", || waiting.exists().then_some(()));
    let own = running.pid();
    let processes = processes_of(home);
    assert!(processes.len() > 1, "the server was not seen");
    for (pid, line, environment) in processes {
        assert_without(KEY, &line, &format!("the arguments of process {pid}"));
        assert_without(TOKEN, &line, &format!("the arguments of process {pid}"));
        // Only a key that came in a variable is in the environment of the command itself.
        if pid != own || !in_environment {
            assert_without(KEY, &environment, &format!("the environment of {pid}"));
        }
    }
    fs::write(home.path().join("gate"), "").unwrap();
    let ended = running.outcome();
    assert_eq!(ended.status, 0, "{ended}");
    assert_without(KEY, ended.out.as_bytes(), "standard output");
    assert_without(KEY, ended.err.as_bytes(), "standard error");
    let run = ended.run_id();
    let shown = Running::start(command(&["show", &run, "--json"])).outcome();
    assert_eq!(shown.status, 0, "{shown}");
    assert!(shown.out.contains("plain: ****"), "{shown}");
    assert_without(KEY, shown.out.as_bytes(), "what is shown");
    let file = home.path().join("exported.jsonl");
    let exported = Running::start(command(&["export", &run, "--to", file.to_str().unwrap()]));
    assert_eq!(exported.outcome().status, 0);
    assert_nowhere(KEY, &home.data(), &[]);
    for secret in [KEY, TOKEN] {
        assert_without(secret, &fs::read(&file).unwrap(), "the export");
        assert_nowhere(secret, home.path(), &["session", "passphrase"]);
    }
}

pub fn passphrase_in(home: &Home) -> PathBuf {
    PathBuf::from(home.write("passphrase", &format!("{PASSPHRASE}\n")))
}

#[test]
fn a_key_from_a_variable_reaches_its_provider_and_nothing_else() {
    let provider = echoing(KEY);
    let (home, agent) = home_of(&provider, "[keys]\nstore = \"file\"\n");
    let passphrase = passphrase_in(&home);
    let prepare = |command: &mut Command| {
        command
            .env("LONGREIN_LOCAL_API_KEY", KEY)
            .env("ANTHROPIC_API_KEY", OTHER_KEY)
            .env("LONGREIN_PASSPHRASE_FILE", &passphrase);
    };
    let mut set = home.command(&["keys", "set", "counter-token", "--stdin"]);
    prepare(&mut set);
    let set = given(set, TOKEN);
    assert_eq!(set.status, 0, "{set}");
    run_and_look(&home, &agent, &prepare, true);
}

#[test]
fn a_key_from_the_encrypted_file_reaches_its_provider_and_nothing_else() {
    let provider = echoing(KEY);
    let (home, agent) = home_of(&provider, "[keys]\nstore = \"file\"\n");
    let passphrase = passphrase_in(&home);
    let prepare = |command: &mut Command| {
        command.env("LONGREIN_PASSPHRASE_FILE", &passphrase);
    };
    for (name, secret) in [("local", KEY), ("counter-token", TOKEN)] {
        let mut set = home.command(&["keys", "set", name, "--stdin"]);
        prepare(&mut set);
        let set = given(set, &format!("{secret}\n"));
        assert_eq!(set.status, 0, "{set}");
        assert_without(secret, set.out.as_bytes(), "standard output");
    }
    assert!(home.data().join("secrets.age").exists());
    run_and_look(&home, &agent, &prepare, false);
    // Without its passphrase a run that must have a key is not begun, and it is said why.
    home.configure(&format!(
        "{}key = \"secret:local\"\n\n[keys]\nstore = \"file\"\n",
        provider.config()
    ));
    let closed = home.run(&["run", &agent, "Again?"]);
    assert_eq!(closed.status, 2, "{closed}");
    assert!(closed.err.contains("passphrase is needed"), "{closed}");
}

#[test]
fn a_key_in_the_keychain_is_set_used_replaced_and_removed() {
    let provider = echoing(KEY);
    let (home, agent) = home_of(&provider, "");
    let Some(session) = Keyring::start(&home) else {
        return;
    };
    let prepare = |command: &mut Command| session.enter(command);
    let keys = |words: &[&str], input: &str| {
        let mut command = home.command(&[&["keys"], words].concat());
        prepare(&mut command);
        given(command, input)
    };
    // One that the provider does not take.
    let set = keys(&["set", "local", "--stdin"], OTHER_KEY);
    assert_eq!(set.status, 0, "{set}");
    assert!(set.out.contains("Kept in the keychain: local"), "{set}");
    let listed = keys(&["list"], "");
    assert!(
        listed.out.contains("…9876") && listed.out.contains("keychain"),
        "{listed}"
    );
    let refused = keys(&["test", "local"], "");
    assert_eq!(refused.status, 1, "{refused}");
    let replaced = keys(&["set", "local", "--stdin"], KEY);
    assert!(
        replaced.out.contains("Replaced in the keychain: local"),
        "{replaced}"
    );
    let tested = keys(&["test", "local"], "");
    assert_eq!(tested.status, 0, "{tested}");
    assert!(
        tested
            .out
            .contains("the keychain (ends in wxyz), and lists 1 model"),
        "{tested}"
    );
    assert_eq!(keys(&["set", "counter-token", "--stdin"], TOKEN).status, 0);
    run_and_look(&home, &agent, &prepare, false);
    let removed = keys(&["remove", "local"], "");
    assert_eq!(removed.status, 0, "{removed}");
    assert_eq!(keys(&["remove", "local"], "").status, 2);
    let json = keys(&["--json"], "");
    let line = &json.json()[0];
    assert_eq!(line["name"], "local", "{line}");
    assert!(line["found"].is_null() && line["can_set"] == true, "{line}");
}

#[test]
fn without_a_bus_a_sentence_says_so_and_both_other_places_work() {
    let mut setup = Setup::scripted([say("Done."), say("Done.")]);
    setup.key = Some(KEY.to_owned());
    let provider = Provider::start(setup);
    let home = Home::with(&provider);
    let agent = home.agent("");
    let keys = |words: &[&str], input: &str| {
        let mut command = home.command(&[&["keys"], words].concat());
        command.env("XDG_RUNTIME_DIR", home.path());
        given(command, input)
    };
    let refused = keys(&["set", "local", "--stdin"], KEY);
    assert_eq!(refused.status, 2, "{refused}");
    assert!(
        refused.err.contains("this session has no D-Bus"),
        "{refused}"
    );
    assert!(
        refused.err.contains("longrein keys store file"),
        "{refused}"
    );
    let doctor = home.run(&["doctor"]);
    assert!(
        doctor.out.contains("The keychain can't be reached"),
        "{doctor}"
    );

    let nobody = keys(&["store", "file"], "");
    assert_eq!(nobody.status, 2, "{nobody}");
    let passphrase = passphrase_in(&home);
    let with_file = |words: &[&str], input: &str| {
        let mut command = home.command(words);
        command.env("LONGREIN_PASSPHRASE_FILE", &passphrase);
        given(command, input)
    };
    let chosen = with_file(&["keys", "store", "file"], "");
    assert_eq!(chosen.status, 0, "{chosen}");
    assert_eq!(
        with_file(&["keys", "set", "local", "--stdin"], KEY).status,
        0
    );
    let ran = with_file(&["run", &agent, "Well?"], "");
    assert_eq!(ran.status, 0, "{ran}");

    let chosen = with_file(&["keys", "store", "memory", "--leave"], "");
    assert_eq!(chosen.status, 0, "{chosen}");
    let refused = keys(&["set", "local", "--stdin"], KEY);
    assert_eq!(refused.status, 2, "{refused}");
    assert!(refused.err.contains("LONGREIN_LOCAL_API_KEY"), "{refused}");
    let mut command = home.command(&["run", &agent, "Well?"]);
    command.env("LONGREIN_LOCAL_API_KEY", KEY);
    let ran = Running::start(command).outcome();
    assert_eq!(ran.status, 0, "{ran}");
}

#[test]
fn secrets_go_along_to_another_place_when_that_is_said() {
    let home = Home::new();
    let Some(session) = Keyring::start(&home) else {
        return;
    };
    let passphrase = passphrase_in(&home);
    let keys = |words: &[&str], input: &str| {
        let mut command = home.command(&[&["keys"], words].concat());
        session.enter(&mut command);
        command.env("LONGREIN_PASSPHRASE_FILE", &passphrase);
        given(command, input)
    };
    assert_eq!(keys(&["set", "exa", "--stdin"], TOKEN).status, 0);
    let unsaid = keys(&["store", "file"], "");
    assert_eq!(unsaid.status, 2, "{unsaid}");
    assert!(
        unsaid.err.contains("--move") && unsaid.err.contains("--leave"),
        "{unsaid}"
    );
    let moved = keys(&["store", "file", "--move"], "");
    assert!(
        moved.out.contains("1 secret moved from the keychain"),
        "{moved}"
    );
    assert!(keys(&["list"], "").out.contains("encrypted file"));
    let back = keys(&["store", "keychain", "--move"], "");
    assert!(
        back.out.contains("1 secret moved from the encrypted file"),
        "{back}"
    );
}

#[test]
fn a_key_is_never_taken_as_an_argument_and_not_repeated() {
    let home = Home::new();
    for words in [
        &["keys", "set", "anthropic", OTHER_KEY][..],
        &["keys", "set", OTHER_KEY],
        &["keys", "set", "anthropic", "--stdin", OTHER_KEY],
        &["keys", "test", OTHER_KEY],
        &["keys", "remove", OTHER_KEY],
        &["models", OTHER_KEY],
        &["models", "add", OTHER_KEY],
        &["models", "test", OTHER_KEY],
        &["run", "research", "Well?", "--model", OTHER_KEY],
    ] {
        let refused = home.run(words);
        assert_eq!(refused.status, 2, "{refused}");
        assert!(
            refused.err.contains("must not stand on the command line"),
            "{refused}"
        );
        assert_without(OTHER_KEY, refused.err.as_bytes(), "standard error");
    }
}

#[test]
fn on_a_terminal_a_key_and_its_passphrase_are_asked_for_and_not_shown() {
    let mut setup = Setup::scripted([say("Done.")]);
    setup.key = Some(KEY.to_owned());
    let provider = Provider::start(setup);
    let home = Home::new();
    home.configure(&format!(
        "{}\n[keys]\nstore = \"file\"\n",
        provider.config()
    ));
    let mut terminal = Terminal::start(home.command(&["keys", "set", "local"]));
    terminal.see("New passphrase:");
    terminal.type_line(PASSPHRASE);
    terminal.see("The same again:");
    terminal.type_line(PASSPHRASE);
    terminal.see("which is not shown:");
    // A slip is taken back, as in any other line.
    terminal.type_line(&format!("{KEY}x\u{7f}"));
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_without(KEY, terminal.screen().as_bytes(), "the terminal");
    assert!(
        !terminal.screen().contains(PASSPHRASE),
        "{}",
        terminal.screen()
    );
    let agent = home.agent("");
    let mut terminal = Terminal::start(home.command(&["run", &agent, "Well?"]));
    terminal.see("Passphrase of the file of secrets:");
    terminal.type_line("not this one");
    terminal.see("does not open");
    terminal.type_line(PASSPHRASE);
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let mut terminal = Terminal::start(home.command(&["keys", "set", "local"]));
    terminal.see("Passphrase of the file of secrets:");
    terminal.type_line("\u{3}");
    assert_eq!(terminal.end(), 130, "{}", terminal.screen());
}

#[test]
fn a_provider_that_repeats_the_key_in_its_refusal_is_masked() {
    let setup = Setup::of(|_| {
        longrein_testkit::provider::Content::Status {
            status: 400,
            headers: Vec::new(),
            body: json!({"error": {"message": format!("bad request with {KEY}")}}).to_string(),
        }
        .into()
    });
    let provider = Provider::start(setup);
    let home = Home::with(&provider);
    let agent = home.agent("");
    let mut command = home.command(&["run", &agent, "Well?"]);
    command.env("LONGREIN_LOCAL_API_KEY", KEY);
    let ended = Running::start(command).outcome();
    assert_ne!(ended.status, 0, "{ended}");
    assert_without(KEY, ended.err.as_bytes(), "standard error");
    assert_without(KEY, ended.out.as_bytes(), "standard output");
    assert_nowhere(KEY, &home.data(), &[]);
}
