//! As much of HTTP/1.1 as a client needs, with every byte that is sent in our hands.

use std::io;

use longrein_models::Format;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The longest line of a request's head, in bytes.
const LINE_LIMIT: u64 = 64 * 1024;
/// The most header lines.
const HEADERS_LIMIT: usize = 100;
/// The largest body, in bytes.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// A request, read to its end.
#[derive(Debug)]
pub(super) struct Request {
    pub method: String,
    pub path: String,
    /// The format of which its headers are.
    pub format: Format,
    pub key: Option<String>,
    pub body: Vec<u8>,
}

/// One client.
pub(super) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        // Every write is to be a packet of its own.
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// The next request; `None` when the client is done.
    pub async fn request(&mut self) -> io::Result<Option<Request>> {
        let buffered = self.0.fill_buf().await?;
        let Some(first) = buffered.first() else {
            return Ok(None);
        };
        if !first.is_ascii_uppercase() {
            // Whoever speaks TLS to a server without it hears this.
            let refusal = b"HTTP/1.1 400 Mock\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
            self.send(refusal).await?;
            return Ok(None);
        }
        let first = self.line().await?;
        let mut words = first.split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let mut request = Request {
            method: method.to_owned(),
            path: path.split('?').next().unwrap_or(path).to_owned(),
            format: Format::OpenAiChat,
            key: None,
            body: Vec::new(),
        };
        if request.path.starts_with("/v1beta") {
            request.format = Format::Gemini;
        }
        let mut length = 0;
        for _ in 0..HEADERS_LIMIT {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "authorization" => {
                    request.key = value.trim().strip_prefix("Bearer ").map(str::to_owned)
                }
                "x-api-key" | "anthropic-version" => {
                    request.format = Format::Anthropic;
                    if name.eq_ignore_ascii_case("x-api-key") {
                        request.key = Some(value.trim().to_owned());
                    }
                }
                "x-goog-api-key" => {
                    request.format = Format::Gemini;
                    request.key = Some(value.trim().to_owned());
                }
                "expect" => self.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?,
                _ => {}
            }
        }
        if length > BODY_LIMIT {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the body is too large",
            ));
        }
        request.body.resize(length, 0);
        self.0.read_exact(&mut request.body).await?;
        Ok(Some(request))
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut self.0)
            .take(LINE_LIMIT)
            .read_until(b'\n', &mut line)
            .await?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes).await
    }

    /// Sends a whole response.
    pub async fn respond(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {status} Mock\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.send(&[head.as_bytes(), body].concat()).await
    }

    /// Begins a response of unknown length.
    pub async fn begin_stream(&mut self) -> io::Result<()> {
        self.send(b"HTTP/1.1 200 Mock\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .await
    }

    /// Sends a piece of it. A chunk of its own, so that the client sees it cut just here.
    pub async fn send_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let head = format!("{:x}\r\n", bytes.len());
        self.send(&[head.as_bytes(), bytes, b"\r\n"].concat()).await
    }

    /// Ends it.
    pub async fn end_stream(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n").await
    }
}
