//! The mock provider as a process, as tests of the command and the window use it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// The process, with its address.
struct Provider {
    process: Child,
    address: String,
}

impl Provider {
    fn start(options: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_mock-provider"))
            .args(options)
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/v1")
            .unwrap();
        let address = address.to_owned();
        Self { process, address }
    }

    fn begin(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut answer = String::new();
        self.begin(method, path, body)
            .read_to_string(&mut answer)
            .unwrap();
        answer
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

#[test]
fn it_thinks_like_the_demonstration_model_and_tells_what_it_saw() {
    let provider = Provider::start(&["--brain", "demo", "--manner", "nasty"]);
    let body = r#"{"model":"any","tools":[{"function":{"name":"update_plan"}}],"messages":[{"role":"user","content":"Why?"}]}"#;
    let answer = provider.ask("POST", "/v1/chat/completions", body);
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("text/event-stream"),
        "{answer}"
    );
    assert!(
        provider
            .ask("GET", "/control/stats", "")
            .contains("\"requests\":1")
    );
    assert!(
        provider
            .ask("GET", "/control/requests/1", "")
            .ends_with(body)
    );
    assert!(
        provider
            .ask("GET", "/v1/models", "")
            .contains("\"id\":\"any\"")
    );
}

#[test]
fn a_request_is_held_in_the_middle_until_the_gate_is_opened() {
    let provider = Provider::start(&["--brain", "demo", "--hold-at", "1"]);
    let mut held = provider.begin("POST", "/v1/chat/completions", "{}");
    let mut begun = [0; 15];
    held.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200 Mo");
    provider.ask("POST", "/control/open", "");
    let mut rest = String::new();
    held.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("[DONE]"));
    assert!(
        provider
            .ask("GET", "/control/stats", "")
            .contains("\"held\":1")
    );
}

#[test]
fn wrong_options_are_told_with_the_right_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_mock-provider"))
        .arg("--brian")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("there is no option --brian") && told.contains("--script FILE"),
        "{told}"
    );
}
