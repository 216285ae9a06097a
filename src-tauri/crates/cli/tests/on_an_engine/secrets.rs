//! What the app knows and a box must not.

use std::process::Command;

use longrein_testkit::reply::{call, say};
use serde_json::json;

use super::{Place, good, told};
use crate::support::Running;

on_all!(no_key_and_no_open_file_of_the_app_is_inside);

/// The key as the program has it, which may not say it; backwards.
const BACKWARDS: &str = "1000-edisni-nees-eb-ot-ton-yek-ks";

/// Looks wherever a program can look, and says where it found the key, or what lies in an open file.
const LOOKING: &str = r#"
import os
key = "BACKWARDS"[::-1].encode()
found = []
def look(path):
    try:
        with open(path, "rb") as file:
            if key in file.read(1 << 20):
                found.append(path)
    except OSError:
        pass
for process in filter(str.isdigit, os.listdir("/proc")):
    look(f"/proc/{process}/environ")
    look(f"/proc/{process}/cmdline")
for file in os.listdir("/proc/self/fd"):
    if int(file) > 2:
        look(f"/proc/self/fd/{file}")
for top in ["/workspace", "/tmp", "/var", "/run", "/longrein", "/etc", "/home", "/root", "/opt"]:
    for folder, _, files in os.walk(top):
        for name in files:
            look(os.path.join(folder, name))
print("looked and found", found)
"#;

fn no_key_and_no_open_file_of_the_app_is_inside(place: &Place) {
    let key: String = BACKWARDS.chars().rev().collect();
    let code = LOOKING.replace("BACKWARDS", BACKWARDS);
    let (home, provider) = place.home(vec![
        call("run_code", json!({"code": code, "intent": "Look for keys"})),
        call(
            "run_command",
            json!({"command": "env | cut -d= -f1 | sort | tr '\\n' ' '", "intent": "List"}),
        ),
        say("There are none."),
    ]);
    let agent = place.agent(&home, "", "");
    // A shell may leave a file open for whatever it starts.
    home.write("left-open", &key);
    let longrein = home.command(&["run", &agent, "Look for keys."]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 7<left-open; exec \"$@\"", "sh"]);
    shell.arg(longrein.get_program()).args(longrein.get_args());
    shell.env_clear().current_dir(home.path());
    for (name, value) in longrein.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.env("LONGREIN_LOCAL_API_KEY", &key);
    shell.stdin(std::process::Stdio::null());
    good(Running::start(shell).outcome());
    let bodies = provider.mock.seen();
    let said = String::from_utf8_lossy(&bodies[1].body).into_owned();
    assert!(said.contains("looked and found []"), "{said}");
    let names = told(&provider);
    for name in ["LONGREIN_LOCAL_API_KEY", "LONGREIN_HOME"] {
        assert!(!names.contains(name), "{names}");
    }
    assert!(names.contains("PATH"), "{names}");
    place.assert_gone(&home, &home.only_run());
}
