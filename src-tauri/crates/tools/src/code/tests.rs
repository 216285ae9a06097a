//! The package as Python itself sees it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use longrein_protocol::ToolSpec;
use serde_json::{Value, json};

use super::python_package;
use crate::tool::spec;

fn search() -> ToolSpec {
    let properties = json!({
        "query": {"type": "string", "description": "What to look for: \"exact\" words, or '''any'''."},
        "max-results": {"type": "integer"},
        "kind": {"enum": ["web", "news"]},
        "from": {"type": ["string", "null"]},
        "sites": {"type": "array", "items": {"type": "string"}},
    });
    let description = "Searches the web.\nGives at most ten results; a backslash \\ stays one.";
    spec("exa.search", description, properties, &["query"])
}

fn specs() -> Vec<ToolSpec> {
    let nothing = json!({});
    vec![
        search(),
        spec("exa.class", "Classes.", nothing.clone(), &[]),
        spec(
            "list_files",
            "Lists files.",
            json!({"path": {"type": "string"}}),
            &[],
        ),
        spec("finish", "Ends.", nothing.clone(), &[]),
        spec("run_code", "Runs.", nothing, &[]),
    ]
}

fn lay_out(folder: &Path) {
    for file in python_package(&specs()) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, file.text).expect("it is written");
    }
}

fn python(folder: &Path, program: &str, socket: Option<&Path>) -> Output {
    let mut command = Command::new("python3");
    command
        .args(["-W", "error", "-c", program])
        .env("PYTHONPATH", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder)
        .stdin(Stdio::null());
    if let Some(socket) = socket {
        command.env("LONGREIN_TOOLS", socket);
    }
    command.output().expect("python3 is there")
}

fn said(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Answers the line of each connection with what `answer` makes of it, and gives the lines that came.
fn serve(
    listener: UnixListener,
    calls: usize,
    answer: fn(&Value) -> Value,
) -> thread::JoinHandle<Vec<Value>> {
    thread::spawn(move || {
        let mut seen = Vec::new();
        for _ in 0..calls {
            let (mut stream, _) = listener.accept().expect("a program connects");
            let mut line = String::new();
            let mut reader = BufReader::new(&stream);
            reader.read_line(&mut line).expect("a call");
            let call: Value = serde_json::from_str(&line).expect("a line of JSON");
            writeln!(stream, "{}", answer(&call)).expect("it is answered");
            seen.push(call);
        }
        seen
    })
}

#[test]
fn help_tells_each_tool_with_its_arguments_their_types_and_what_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let program = "import tools, inspect\nhelp(tools.exa.search)\nprint(inspect.signature(tools.exa.search))\nhelp(tools)";
    let told = said(&python(folder.path(), program, None));
    for words in [
        "Searches the web.",
        "a backslash \\ stays one.",
        "query: What to look for: \"exact\" words, or '''any'''.",
        "(query: 'str', *, from_",
        "max_results: 'int' = <not given>",
        "from_: 'str | None' = <not given>",
        "sites: 'list[str]' = <not given>",
        "kind: \"Literal['web', 'news']\"",
        "exa: the 2 tools of exa",
        "list_files: Lists files.",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_module_lists_its_tools_and_nothing_that_it_is_made_with() {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let program = "\
import inspect, typing, tools
print(dir(tools))
print(dir(tools.exa))
for name in dir(tools.exa):
    print(name, '-', inspect.getdoc(getattr(tools.exa, name)).splitlines()[0])
print(typing.get_type_hints(tools.exa.search)['sites'])
from tools import *
print(list_files.__name__, exa.__name__)
try:
    tools.exa.serach
except AttributeError as error:
    print(error)
";
    let told = said(&python(folder.path(), program, None));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines,
        [
            "['ResultFile', 'ToolError', 'exa', 'list_files']",
            "['class_', 'search']",
            "class_ - Classes.",
            "search - Searches the web.",
            "list[str]",
            "list_files tools.exa",
            "module 'tools.exa' has no attribute 'serach'",
        ]
    );
}

#[test]
fn what_ends_the_run_or_begins_further_programs_is_not_there() {
    let package = python_package(&specs());
    let all: String = package.iter().map(|file| file.text.as_str()).collect();
    assert!(
        !all.contains("finish") && !all.contains("run_code"),
        "{all}"
    );
    let paths: Vec<&str> = package.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        ["tools/__init__.py", "tools/_call.py", "tools/exa.py"]
    );
    assert_eq!(package, python_package(&specs()));
}

#[test]
fn a_call_is_a_line_of_json_and_its_answer_comes_as_objects_files_or_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let socket = folder.path().join("tools.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    fs::write(folder.path().join("long.json"), "[1, 2]").expect("a file");
    let serving = serve(listener, 4, |call| {
        match call["arguments"]["query"].as_str() {
            Some("long") => json!({"file": {"path": "long.json", "bytes": 6, "preview": "[1"}}),
            Some("bad") => {
                json!({"error": {"class": "not_permitted", "message": "a rule says no"}})
            }
            _ => json!({"ok": {"hits": [{"title": "größe\u{2028}"}]}}),
        }
    });
    let program = "\
from tools import exa, ToolError
print(ascii(exa.search(query='kettle', max_results=3)['hits'][0]['title']))
long = exa.search(query='long')
print(repr(long), long.json())
try:
    exa.search(query='bad')
except ToolError as error:
    print(error.kind, '-', error)
try:
    exa.search(query={1, 2})
except ToolError as error:
    print(error.kind)
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, get_context('fork')) as pool:
    try:
        pool.submit(exa.search, 'bad').result()
    except ToolError as error:
        print(error.kind, '/', error.message)
";
    let told = said(&python(folder.path(), program, Some(&socket)));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines,
        [
            "'gr\\xf6\\xdfe\\u2028'",
            "<6 bytes in long.json; read them with .text() or .json()> [1, 2]",
            "not_permitted - not_permitted: a rule says no",
            "invalid_arguments",
            "not_permitted / a rule says no",
        ]
    );
    let seen = serving.join().expect("it served");
    assert_eq!(
        seen[0],
        json!({"tool": "exa.search", "arguments": {"query": "kettle", "max-results": 3}})
    );
}

#[test]
fn without_a_way_to_the_tools_a_call_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let program = "import tools\ntry:\n    tools.list_files()\nexcept tools.ToolError as error:\n    print(error)";
    let told = said(&python(folder.path(), program, None));
    assert_eq!(
        told.trim(),
        "not_permitted: this program was not given any tools"
    );
}

#[test]
fn names_that_python_keeps_and_names_that_become_the_same_are_told_apart() {
    let mut names = super::Names::default();
    let told: Vec<String> = [
        "from", "a-b", "a.b", "9", "", "_x", "class", "größe", "a_b_2",
    ]
    .into_iter()
    .map(|name| names.python(name))
    .collect();
    assert_eq!(
        told,
        [
            "from_", "a_b", "a_b_2", "t9", "t", "t_x", "class_", "gr__e", "a_b_2_2"
        ]
    );
}
