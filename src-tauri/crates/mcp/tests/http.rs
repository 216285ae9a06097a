//! Servers at an address: a few lines of HTTP that answer as a test wants them to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use longrein_keys::SecretText;
use longrein_mcp::{AddressConfig, Limits, McpError, McpServer, Reach, ServerConfig};
use longrein_protocol::ToolErrorClass;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{run, text_of};

/// The longest request that is read.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// What came in: the request's head and its body.
#[derive(Clone)]
pub struct Came {
    pub head: String,
    pub body: Value,
}

type Answers = dyn Fn(&Came) -> String + Send + Sync;

/// An address with what it was asked.
pub struct Address {
    pub url: String,
    pub came: Arc<Mutex<Vec<Came>>>,
}

impl Address {
    pub async fn new(answers: impl Fn(&Came) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let came: Arc<Mutex<Vec<Came>>> = Arc::default();
        let answers: Arc<Answers> = Arc::new(answers);
        let seen = came.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answers.clone(), seen.clone()));
            }
        });
        Self { url, came }
    }

    pub fn config(&self) -> ServerConfig {
        ServerConfig {
            name: "web".to_owned(),
            reach: Reach::Address(AddressConfig {
                url: self.url.clone(),
                headers: BTreeMap::from([(
                    "x-api-key".to_owned(),
                    SecretText::exact("sesame-open"),
                )]),
                sign_in: None,
            }),
            trusted: false,
            workspace: std::env::temp_dir(),
            limits: Limits::default(),
        }
    }
}

async fn serve(mut stream: TcpStream, answers: Arc<Answers>, came: Arc<Mutex<Vec<Came>>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.trim().parse().unwrap());
            if body.len() >= length {
                let request = Came {
                    head: head.to_owned(),
                    body: serde_json::from_str(body).unwrap_or(Value::Null),
                };
                came.lock().unwrap().push(request.clone());
                let _ = stream.write_all(answers(&request).as_bytes()).await;
                let _ = stream.shutdown().await;
                return;
            }
        }
        if count == 0 || bytes.len() > REQUEST_BYTES_MAX {
            return;
        }
    }
}

pub fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// A server of the older handshake with one tool that repeats a header.
pub fn good(came: &Came) -> String {
    let id = &came.body["id"];
    let result = match came.body["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [
            {"name": "key", "inputSchema": {"type": "object"}},
            {"name": "gone", "inputSchema": {"type": "object"}},
        ]}),
        Some("tools/call") if came.body["params"]["name"] == "gone" => return String::new(),
        Some("tools/call") => {
            let key = came.head.lines().find(|line| line.starts_with("x-api-key"));
            json!({"content": [{"type": "text", "text": key}]})
        }
        Some(method) if method.starts_with("notifications/") => {
            return answer("202 Accepted", "", "");
        }
        _ if came.body.is_null() => return answer("405 Method Not Allowed", "", ""),
        _ => {
            let error = json!({"code": -32601, "message": "no"});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
            return answer("200 OK", "Content-Type: application/json\r\n", &body);
        }
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    answer("200 OK", "Content-Type: application/json\r\n", &body)
}

#[tokio::test]
async fn a_key_travels_in_its_header_and_is_masked_in_what_comes_back() {
    let address = Address::new(good).await;
    let server = McpServer::start(address.config()).await.unwrap();
    assert_eq!(server.protocol_version().as_deref(), Some("2025-11-25"));
    let output = run(&server, "web.key", json!({})).await.unwrap();
    assert_eq!(text_of(&output), "x-api-key: •••");
    let came = address.came.lock().unwrap();
    assert!(came.iter().all(|came| came.head.contains("sesame-open")));
}

#[tokio::test]
async fn a_connection_that_breaks_during_a_call_leaves_it_uncertain() {
    let address = Address::new(good).await;
    let server = McpServer::start(address.config()).await.unwrap();
    let error = run(&server, "web.gone", json!({})).await.unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Failed, true)
    );
    assert!(!error.message.contains("sesame"), "{}", error.message);
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let target = Address::new(good).await;
    let to = target.url.clone();
    let address =
        Address::new(move |_| answer("307 Temporary Redirect", &format!("Location: {to}\r\n"), ""))
            .await;
    assert!(McpServer::start(address.config()).await.is_err());
    assert!(target.came.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_older_way_is_refused_with_a_clear_word() {
    let address = Address::new(|came| {
        if came.head.starts_with("GET") {
            let body = "event: endpoint\ndata: /messages\n\n";
            answer("200 OK", "Content-Type: text/event-stream\r\n", body)
        } else {
            answer("405 Method Not Allowed", "", "")
        }
    })
    .await;
    let error = McpServer::start(address.config()).await.err().unwrap();
    assert!(matches!(error, McpError::OldWay { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_asks_says_how_to_sign_in() {
    let address = Address::new(|_| {
        answer(
            "401 Unauthorized",
            "WWW-Authenticate: Bearer scope=\"search\"\r\n",
            "",
        )
    })
    .await;
    let error = McpServer::start(address.config()).await.err().unwrap();
    let McpError::SignIn { challenge, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(challenge.as_deref(), Some("Bearer scope=\"search\""));
    assert!(error.to_string().contains("longrein mcp login web"));
}

#[tokio::test]
async fn nothing_at_an_address_is_said_with_the_address() {
    let mut config = Address::new(good).await.config();
    let free = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let place = free.local_addr().unwrap();
    drop(free);
    if let Reach::Address(address) = &mut config.reach {
        address.url = format!("http://{place}/mcp?key=sesame-two");
    }
    let error = McpServer::start(config).await.err().unwrap();
    assert!(matches!(error, McpError::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains("sesame"), "{error}");
}
