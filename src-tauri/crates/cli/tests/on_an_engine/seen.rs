//! What is seen of boxes from outside: what engines list, and processes of this machine.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

/// How long an engine may take to answer.
const ENGINE_LIMIT: Duration = Duration::from_secs(20);

/// What the environment says of the engines of a test.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by scripts/sandbox-tests"))
}

/// Asks an engine for something.
pub fn get(engine: &str, path: &str) -> Value {
    let body = ask(engine, "GET", path);
    serde_json::from_str(&body).unwrap_or_else(|_| panic!("not JSON: {body}"))
}

/// Asks an engine to do something, and gives the body of its answer.
pub fn ask(engine: &str, method: &str, path: &str) -> String {
    ask_once(engine, method, path).unwrap_or_else(|answer| panic!("{answer}"))
}

/// The same where it may refuse: then its whole answer.
pub fn ask_once(engine: &str, method: &str, path: &str) -> Result<String, String> {
    let address = variable(engine);
    let mut engine = UnixStream::connect(address.strip_prefix("unix://").unwrap()).unwrap();
    engine.set_read_timeout(Some(ENGINE_LIMIT)).unwrap();
    write!(engine, "{method} {path} HTTP/1.0\r\nHost: engine\r\n\r\n").unwrap();
    let mut answer = String::new();
    engine.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let well = [" 200 ", " 204 "]
        .iter()
        .any(|status| head.contains(status));
    match well {
        true => Ok(body.to_owned()),
        false => Err(answer),
    }
}

/// The containers of a run, as an engine lists them.
pub fn boxes_of(engine: &str, run: &str) -> Vec<Value> {
    let containers = get(engine, "/containers/json?all=1");
    let mut containers = containers.as_array().unwrap().clone();
    containers.retain(|found| found["Labels"]["longrein.run"] == run);
    containers
}

/// The id of the one container that a run has.
pub fn only_box_of(engine: &str, run: &str) -> String {
    let boxes = boxes_of(engine, run);
    assert_eq!(boxes.len(), 1, "{boxes:?}");
    boxes[0]["Id"].as_str().unwrap().to_owned()
}

/// Processes of this machine that have the run in their arguments.
pub fn processes_of(run: &str) -> Vec<String> {
    let found = processes_with(run).into_iter();
    found.map(|(_, line)| line).collect()
}

/// The same with their numbers.
pub fn processes_with(run: &str) -> Vec<(i32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some((process, String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(|(_, line)| line.contains(run)).collect()
}

/// How many processes of this machine have something mounted from beneath a folder.
pub fn mounted(folder: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mounts =
        entries.filter_map(|entry| fs::read_to_string(entry.path().join("mountinfo")).ok());
    mounts.filter(|mounts| mounts.contains(folder)).count()
}
