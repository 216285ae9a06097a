//! A server on a socket that gives scripted answers to any path, and keeps what it was asked.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use longrein_models::{Format, Limits, ModelConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// What a request to the server was.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The method and the path with its query.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Seen {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub end: End,
}

/// What happens behind the last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The connection is closed: the body was whole.
    Close,
    /// The connection is closed though more was announced.
    Drop,
    /// Nothing, and the connection stays open.
    Silence,
}

impl Answer {
    /// A good answer.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body)
    }

    /// An answer with a status.
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            end: End::Close,
        }
    }

    /// The same with another header.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same with another end.
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// How an answer is chosen.
type Choose = Arc<dyn Fn(&Seen) -> Answer + Send + Sync>;

/// The server. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    accepting: AbortHandle,
}

impl Server {
    /// A server that answers by a rule.
    pub async fn answering(choose: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let choose: Choose = Arc::new(choose);
        let kept = seen.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, choose.clone(), kept.clone()));
            }
        });
        Self {
            address,
            seen,
            accepting: accepting.abort_handle(),
        }
    }

    /// A server that always gives the same answer.
    pub async fn giving(answer: Answer) -> Self {
        Self::answering(move |_| answer.clone()).await
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A model behind it.
    pub fn config(&self, model: &str) -> ModelConfig {
        ModelConfig {
            provider: "mine".into(),
            model: model.into(),
            base_url: format!("http://{}", self.address),
            key: None,
            limits: Limits::default(),
        }
    }

    /// What it was asked, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, choose: Choose, kept: Arc<Mutex<Vec<Seen>>>) {
    let Some(seen) = read_request(&mut stream).await else {
        return;
    };
    let answer = choose(&seen);
    kept.lock().unwrap().push(seen);
    let mut head = format!(
        "HTTP/1.1 {} Whatever\r\nconnection: close\r\n",
        answer.status
    );
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match answer.end {
        End::Drop => head.push_str(&format!(
            "content-length: {}\r\n\r\n",
            answer.body.len() + 1
        )),
        End::Close | End::Silence => head.push_str("\r\n"),
    }
    // A client that has gone needs no answer.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&answer.body).await;
    let _ = stream.flush().await;
    if answer.end == End::Silence {
        // Until the client has enough.
        let _ = stream.read(&mut [0]).await;
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4_096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let seen = Seen {
        line,
        headers,
        body: Vec::new(),
    };
    let length: usize = seen.header("content-length").unwrap_or("0").parse().ok()?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    Some(Seen { body, ..seen })
}

/// A short recorded stream of a format, with one word as its answer.
pub fn stream(format: Format) -> Vec<&'static str> {
    match format {
        Format::OpenAiChat => vec![
            r#"{"id":"r","choices":[{"index":0,"delta":{"role":"assistant","content":"Grü"}}]}"#,
            r#"{"id":"r","choices":[{"index":0,"delta":{"content":"ße"},"finish_reason":"stop"}]}"#,
            r#"{"id":"r","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#,
            "[DONE]",
        ],
        Format::OpenAiResponses => vec![
            r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Grü"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"ße"}"#,
            r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Grüße"}]}],"usage":{"input_tokens":9,"output_tokens":3}}}"#,
        ],
        Format::Anthropic => vec![
            r#"{"type":"message_start","message":{"id":"r","usage":{"input_tokens":9,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grü"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ße"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        Format::Gemini => vec![
            r#"{"candidates":[{"content":{"parts":[{"text":"Grü"}],"role":"model"}}],"responseId":"r"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"ße"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3},"responseId":"r"}"#,
        ],
    }
}

/// Events as they go over the wire.
pub fn events(events: &[&str]) -> String {
    events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}
