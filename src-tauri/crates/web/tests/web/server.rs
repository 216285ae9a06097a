//! A web server on a free port, and a resolver that leads names to it.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use longrein_web::limits::Limits;
use longrein_web::{
    Cache, FetchError, Fetched, Fetcher, LoopbackPermit, Page, Request, ResolveHost, Settings,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The longest head of a request that the server reads.
const HEAD_LIMIT_BYTES: usize = 16 * 1024;
/// The time that every capture is said to have been made at.
pub const NOW_MS: u64 = 1_780_000_000_000;

/// What the server says to one path.
#[derive(Clone)]
pub enum Reply {
    /// A whole response.
    Whole(Vec<u8>),
    /// The same response for ever: head, and then a byte at a time.
    Drip(Vec<u8>),
    /// Nothing at all, with the connection kept open.
    Silence,
}

/// A response with headers, one a line, and a body.
pub fn reply(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let mut headers: String = headers
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\r\n"))
        .collect();
    if !headers.to_ascii_lowercase().contains("content-length") {
        headers.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    let mut whole =
        format!("HTTP/1.1 {status} Said\r\n{headers}connection: close\r\n\r\n").into_bytes();
    whole.extend_from_slice(body);
    Reply::Whole(whole)
}

pub fn html(body: &str) -> Reply {
    reply(200, "content-type: text/html; charset=utf-8", body)
}

pub fn text(body: &str) -> Reply {
    reply(200, "content-type: text/plain; charset=utf-8", body)
}

pub fn redirect(to: &str) -> Reply {
    reply(302, &format!("location: {to}"), "")
}

/// A server that runs as long as it is kept.
pub struct Server {
    pub port: u16,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    /// By host, which may be empty for any, and path.
    replies: HashMap<String, Reply>,
    requests: Mutex<Vec<String>>,
}

impl Server {
    /// A server that knows these paths, each with its query. A path may begin with a host.
    pub async fn with(replies: &[(&str, Reply)]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies = replies
            .iter()
            .map(|(path, reply)| ((*path).to_owned(), reply.clone()))
            .collect();
        let shared = Arc::new(Shared {
            replies,
            requests: Mutex::new(Vec::new()),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { port, shared, task }
    }

    /// The address of a path on the usual host.
    pub fn at(&self, path: &str) -> String {
        self.on("example.test", path)
    }

    pub fn on(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The paths of all requests so far, without those for `robots.txt`.
    pub fn paths(&self) -> Vec<String> {
        self.heads()
            .iter()
            .filter_map(|head| head.split(' ').nth(1).map(str::to_owned))
            .filter(|path| path != "/robots.txt")
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, Arc::clone(&shared)));
    }
}

async fn answer(mut stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_LIMIT_BYTES {
        let byte = stream.read_u8().await?;
        head.push(byte);
        if !head[0].is_ascii_uppercase() {
            // Somebody speaks TLS.
            stream.write_all(b"HTTP/1.1 400 No\r\n\r\n").await?;
            return stream.shutdown().await;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let host = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("host: ")
                .map(str::to_owned)
        })
        .unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    shared.requests.lock().unwrap().push(head);
    let reply = shared
        .replies
        .get(&format!("{host}{path}"))
        .or_else(|| shared.replies.get(&path))
        .cloned()
        .unwrap_or_else(|| reply(404, "", "nothing here"));
    match reply {
        Reply::Whole(bytes) => stream.write_all(&bytes).await?,
        Reply::Drip(head) => {
            stream.write_all(&head).await?;
            loop {
                stream.write_all(b"a").await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Reply::Silence => std::future::pending::<()>().await,
    }
    stream.shutdown().await
}

/// Leads names to addresses, one answer after the other; the last one stays.
#[derive(Default)]
pub struct Names {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn with(mut self, host: &str, answers: &[&[&str]]) -> Self {
        let answers = answers
            .iter()
            .map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect())
            .collect();
        self.answers.insert(host.to_owned(), answers);
        self
    }

    /// The hosts that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl ResolveHost for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.iter().filter(|known| *known == host).count();
        asked.push(host.to_owned());
        if let Some(answers) = self.answers.get(host) {
            return Ok(answers[before.min(answers.len() - 1)].clone());
        }
        if host.ends_with(".test") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Limits that a test can wait for.
pub fn limits() -> Limits {
    Limits {
        total: Duration::from_secs(20),
        ..Limits::default()
    }
}

pub fn fetcher(limits: Limits) -> Fetcher {
    fetcher_with(limits, Arc::new(Names::default()))
}

pub fn fetcher_with(limits: Limits, names: Arc<Names>) -> Fetcher {
    Fetcher::new(settings(limits, names))
}

pub fn settings(limits: Limits, names: Arc<Names>) -> Settings {
    Settings {
        limits,
        resolver: names,
        loopback: Some(LoopbackPermit::for_tests()),
        ..Settings::default()
    }
}

pub async fn fetch(address: &str) -> Result<Fetched, FetchError> {
    fetcher(limits())
        .fetch(&Request::new(address, NOW_MS), &Cache::new())
        .await
}

/// A page that a server of its own gives.
pub async fn page(given: Reply) -> Arc<Page> {
    page_of(given, longrein_web::Part::Main).await
}

pub async fn page_of(given: Reply, part: longrein_web::Part) -> Arc<Page> {
    let server = Server::with(&[("/page", given)]).await;
    let request = Request {
        part,
        ..Request::new(server.at("/page"), NOW_MS)
    };
    let fetched = fetcher(limits()).fetch(&request, &Cache::new()).await;
    fetched.unwrap().page
}

/// The whole of an HTML page.
pub async fn whole(body: &str) -> Arc<Page> {
    page_of(html(body), longrein_web::Part::Whole).await
}

/// The notes of a page in words.
pub fn notes(page: &Page) -> Vec<String> {
    page.notes.iter().map(ToString::to_string).collect()
}

/// A text of the page without the port, which differs from run to run.
pub fn without_port(page: &Page, text: &str) -> String {
    let port = page.capture.address.rsplit(':').next().unwrap_or_default();
    let port = port.split('/').next().unwrap_or_default();
    text.replace(&format!(":{port}"), "")
}
