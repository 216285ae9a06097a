//! Lets another process work on a store: this test program itself, with a script in its
//! environment. A keychain is found by the environment of a process, which a test can't change
//! for itself.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use longrein_keys::{Backend, KeyError, KeyStore, Known, Passphrase, SecretName, SecretText};

const SCRIPT: &str = "LONGREIN_KEYS_TEST_SCRIPT";
const FOLDER: &str = "LONGREIN_KEYS_TEST_FOLDER";

/// What every line begins with that the script says; the test harness says others.
const SAYS: &str = "> ";

/// The test that works through the script.
const TEST: &str = "script::a_script_in_the_environment_is_worked_through";

/// A process that works through a script.
pub struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Begins a script. `environment` is all that the process is given besides.
    pub fn begin(script: &str, folder: &Path, environment: &[(&str, &str)]) -> Self {
        let own = std::env::current_exe().unwrap();
        let mut child = Command::new(own)
            .args(["--exact", TEST, "--nocapture"])
            .env_clear()
            .env(SCRIPT, script)
            .env(FOLDER, folder)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
        }
    }

    /// What the script says until it pauses or ends, a line for each of its own.
    pub fn says(&mut self) -> String {
        let mut said = String::new();
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            // The harness begins the line with the name of the test.
            if let Some((_, says)) = line.split_once(SAYS) {
                if says == "pause\n" {
                    return said;
                }
                said.push_str(says);
            }
            line.clear();
        }
        assert!(self.child.wait().unwrap().success(), "{said}");
        said
    }

    /// Lets a script go on that paused.
    pub fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other process, which does what a test has written down.
#[tokio::test]
async fn a_script_in_the_environment_is_worked_through() {
    let Ok(script) = std::env::var(SCRIPT) else {
        // Nobody asked for anything: this is the test program itself.
        return;
    };
    let folder = std::env::var(FOLDER).unwrap();
    let mut lines = script.lines().map(str::trim);
    let backend = Backend::named(lines.next().unwrap()).unwrap();
    let store = KeyStore::new(backend, Path::new(&folder), Known::default());
    for line in lines.filter(|line| !line.is_empty()) {
        let said = match line {
            "pause" => {
                println!("{SAYS}pause");
                std::io::stdin().read_line(&mut String::new()).unwrap();
                continue;
            }
            line => said(work(&store, line).await),
        };
        println!("{SAYS}{line}: {said}");
    }
}

/// The first word is what is done, the next a name, the rest a text.
async fn work(store: &KeyStore, line: &str) -> Result<String, KeyError> {
    let mut words = line.splitn(3, ' ');
    let (act, first, rest) = (words.next(), words.next(), words.next());
    let first = first.unwrap_or_default();
    let name = || SecretName::new(first);
    let phrase = || Passphrase::new(first);
    let done = |()| "done".to_owned();
    match act.unwrap_or_default() {
        "look" => store.look().await.map(|standing| format!("{standing:?}")),
        "get" => {
            let secret = store.get(&name()?).await?;
            Ok(secret.map_or("none".to_owned(), |secret| secret.expose().to_owned()))
        }
        "set" => {
            let secret = SecretText::exact(rest.unwrap_or_default());
            store.set(&name()?, &secret).await.map(done)
        }
        "long" => {
            let secret = SecretText::exact("k".repeat(longrein_keys::check::SECRET_MAX_BYTES));
            store.set(&name()?, &secret).await?;
            let kept = store.get(&name()?).await?;
            Ok((kept == Some(secret)).to_string())
        }
        "remove" => store.remove(&name()?).await.map(|was| was.to_string()),
        "names" => {
            let names = store.names().await?;
            let names: Vec<&str> = names.iter().map(SecretName::as_str).collect();
            Ok(names.join(", "))
        }
        "begin" => store.begin(phrase()).await.map(done),
        "unlock" => store.unlock(phrase()).await.map(done),
        #[cfg(target_os = "linux")]
        "twin" => {
            crate::session::twin(first, rest.unwrap_or_default());
            Ok("done".to_owned())
        }
        other => panic!("a script can't {other}"),
    }
}

fn said(result: Result<String, KeyError>) -> String {
    match result {
        Ok(said) => said,
        Err(error) => format!("{:?}: {error}", error.class()),
    }
}
