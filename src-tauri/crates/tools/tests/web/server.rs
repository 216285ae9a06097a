//! A web server on a free port, and a resolver that leads names to it.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use longrein_tools::Web;
use longrein_web::{Cache, LoopbackPermit, ResolveHost, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The longest head of a request that the server reads.
const HEAD_LIMIT_BYTES: usize = 16 * 1024;

/// What the server says to one path: a status, headers, and a body.
pub struct Reply(u16, String, Vec<u8>);

pub fn html(body: &str) -> Reply {
    Reply(
        200,
        "content-type: text/html; charset=utf-8".into(),
        body.into(),
    )
}

pub fn redirect(to: &str) -> Reply {
    Reply(302, format!("location: {to}"), Vec::new())
}

pub fn typed(media_type: &str, body: &str) -> Reply {
    Reply(200, format!("content-type: {media_type}"), body.into())
}

pub fn status(status: u16) -> Reply {
    Reply(status, "x-test: 1".into(), Vec::new())
}

/// A server that runs as long as it is kept.
pub struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// A server that knows these paths, on whatever host.
    pub async fn with(make: impl FnOnce(u16) -> Vec<(&'static str, Reply)>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies: HashMap<String, Reply> = make(port)
            .into_iter()
            .map(|(path, reply)| (path.to_owned(), reply))
            .collect();
        let (replies, asked) = (Arc::new(replies), Arc::new(Mutex::default()));
        let seen = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&replies), Arc::clone(&seen)));
            }
        });
        Self { port, asked, task }
    }

    /// What was asked for, `host path`, without `robots.txt`.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|asked| !asked.ends_with(" /robots.txt"))
            .cloned()
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    mut stream: TcpStream,
    replies: Arc<HashMap<String, Reply>>,
    asked: Arc<Mutex<Vec<String>>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_LIMIT_BYTES {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let host = head.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.and_then(|host| host.split(':').next()).unwrap_or("");
    asked.lock().unwrap().push(format!("{host} {path}"));
    let missing = status(404);
    let Reply(status, headers, body) = replies.get(path).unwrap_or(&missing);
    let head = format!(
        "HTTP/1.1 {status} Said\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

/// Leads every host that ends with `.test` to this machine, and `inside.test` into a private
/// network.
struct Names;

#[async_trait]
impl ResolveHost for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        match host {
            "inside.test" => Ok(vec![Ipv4Addr::new(10, 0, 0, 5).into()]),
            host if host.ends_with(".test") => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// A way to the web that ends at this machine's own servers.
pub fn web() -> Web {
    Web {
        fetcher: Arc::new(longrein_tools::fetcher(Settings {
            resolver: Arc::new(Names),
            loopback: Some(LoopbackPermit::for_tests()),
            ..Settings::default()
        })),
        cache: Arc::new(Cache::new()),
        ignore_robots: Vec::new(),
    }
}
