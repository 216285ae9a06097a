//! One connection of a command to the proxy: one request, or one tunnel.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use longrein_protocol::host_rule::with_port;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::head::{HEAD_MAX_BYTES, Head, end, parse};
use super::{Egress, EgressEvent, Refusal, Teller};
use crate::session::Tunnel;

/// How long a command may take to say what it wants.
const HEAD_LIMIT: Duration = Duration::from_secs(30);
/// How long resolving a name may take.
const RESOLVE_LIMIT: Duration = Duration::from_secs(15);
/// How long connecting to one address may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// How long neither side may say anything.
const IDLE_LIMIT: Duration = Duration::from_secs(180);
/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;
/// The bytes that are carried at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Carries one connection and says what came of it. Without anybody who takes what it says,
/// nothing is carried.
pub(super) async fn carry(request: u64, tunnel: Tunnel, egress: Arc<Egress>, tell: Teller) {
    let Tunnel {
        command,
        mut stream,
    } = tunnel;
    let Some((head, rest)) = read_head(&mut stream).await else {
        return;
    };
    let parsed = parse(&head);
    let addresses = match &parsed {
        Ok(head) => egress.addresses(head).await,
        Err(refusal) => Err(refusal.clone()),
    };
    let (method, host, port, path) = match &parsed {
        Ok(head) => (
            head.method.clone(),
            head.host.clone(),
            head.port,
            head.path.clone(),
        ),
        Err(_) => (String::new(), String::new(), 0, None),
    };
    let refused = addresses.as_ref().err().cloned();
    let decided = EgressEvent::Decided {
        request,
        command,
        method,
        host,
        port,
        path,
        refused,
    };
    if !tell(decided).await {
        return;
    }
    match (parsed, addresses) {
        (Ok(head), Ok(addresses)) => {
            let ended = exchange(request, stream, &head, rest, &addresses).await;
            // What happened is over either way.
            let _ = tell(ended).await;
        }
        (_, Err(refusal)) => {
            let status = match &refusal {
                Refusal::Malformed(_) => "400 Bad Request",
                Refusal::NotListed { .. } | Refusal::Address { .. } => "403 Forbidden",
                Refusal::Unresolved { .. } => "502 Bad Gateway",
            };
            say(&mut stream, status, &refusal.to_string()).await;
        }
        (Err(_), Ok(_)) => {}
    }
}

impl Egress {
    /// The addresses that a request may be carried to: all of them are allowed, or none is. What
    /// is connected to is one of these, so that a second answer of a name server changes nothing.
    async fn addresses(&self, head: &Head) -> Result<Vec<SocketAddr>, Refusal> {
        let (host, port) = (head.host.as_str(), head.port);
        if !self.hosts.iter().any(|rule| rule.covers(host, port)) {
            return Err(Refusal::NotListed {
                host: host.to_owned(),
                port,
            });
        }
        let unresolved = |why: String| Refusal::Unresolved {
            host: host.to_owned(),
            why,
        };
        let mut addresses = match host.parse() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => timeout(RESOLVE_LIMIT, (self.resolver)(host.to_owned(), port))
                .await
                .map_err(|_| unresolved(format!("no answer in {} s", RESOLVE_LIMIT.as_secs())))?
                .map_err(|error| unresolved(error.to_string()))?,
        };
        for address in &addresses {
            if let Some(why) = (self.guard)(address.ip()) {
                let address = address.ip();
                return Err(Refusal::Address {
                    host: host.to_owned(),
                    address,
                    why,
                });
            }
        }
        addresses.truncate(ADDRESSES_MAX);
        if addresses.is_empty() {
            return Err(unresolved("it has no address".to_owned()));
        }
        Ok(addresses)
    }
}

/// The head and what was read beyond it; `None` where no head comes.
async fn read_head(stream: &mut DuplexStream) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::new();
    let reading = async {
        loop {
            if let Some(at) = end(&head) {
                let rest = head.split_off(at);
                return Some((head, rest));
            }
            let room = HEAD_MAX_BYTES
                .checked_sub(head.len())
                .filter(|room| *room > 0)?;
            let mut piece = vec![0; room.min(PIECE_BYTES)];
            let count = stream
                .read(&mut piece)
                .await
                .ok()
                .filter(|count| *count > 0)?;
            head.extend_from_slice(&piece[..count]);
        }
    };
    timeout(HEAD_LIMIT, reading).await.ok().flatten()
}

async fn say(stream: &mut DuplexStream, status: &str, words: &str) {
    let body = format!("Longrein: {words}.\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A command that is gone needs no answer.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// Connects and carries both ways until both have ended.
async fn exchange(
    request: u64,
    mut stream: DuplexStream,
    head: &Head,
    rest: Vec<u8>,
    addresses: &[SocketAddr],
) -> EgressEvent {
    let (address, upstream) = match connect(addresses).await {
        Ok(connected) => connected,
        Err(error) => {
            let place = with_port(&head.host, head.port);
            let words = format!("{place} can't be reached: {error}");
            say(&mut stream, "502 Bad Gateway", &words).await;
            return EgressEvent::Ended {
                request,
                address: None,
                sent_bytes: 0,
                received_bytes: 0,
                failed: Some(error.to_string()),
            };
        }
    };
    let mut carried = Carried::default();
    let outcome = both_ways(stream, upstream, head, &rest, &mut carried).await;
    EgressEvent::Ended {
        request,
        address: Some(address),
        sent_bytes: carried.sent_bytes,
        received_bytes: carried.received_bytes,
        failed: outcome.err().map(|error| error.to_string()),
    }
}

#[derive(Default)]
struct Carried {
    sent_bytes: u64,
    received_bytes: u64,
}

async fn both_ways(
    stream: DuplexStream,
    upstream: TcpStream,
    head: &Head,
    rest: &[u8],
    carried: &mut Carried,
) -> io::Result<()> {
    let is_tunnel = head.path.is_none();
    let (mut from_command, mut to_command) = tokio::io::split(stream);
    let (mut from_host, mut to_host) = upstream.into_split();
    let Carried {
        sent_bytes,
        received_bytes,
    } = carried;
    let outward = async {
        to_host.write_all(&head.forward).await?;
        let limit = head.body_bytes.unwrap_or(u64::MAX);
        let first = rest.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        to_host.write_all(&rest[..first]).await?;
        *sent_bytes = first as u64;
        let left = limit - first as u64;
        copy(&mut from_command, &mut to_host, left, sent_bytes).await?;
        // A request's end is told by its length; a host may take an early end for a broken one.
        if head.body_bytes.is_none() {
            to_host.shutdown().await
        } else {
            Ok(())
        }
    };
    let inward = async {
        if is_tunnel {
            to_command
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?;
        }
        copy(&mut from_host, &mut to_command, u64::MAX, received_bytes).await?;
        to_command.shutdown().await
    };
    if is_tunnel {
        return tokio::try_join!(outward, inward).map(drop);
    }
    // A host may answer before it has read everything, and then it is over.
    tokio::pin!(inward);
    tokio::select! {
        done = &mut inward => done,
        sent = outward => match sent { Ok(()) => inward.await, Err(error) => Err(error) },
    }
}

async fn connect(addresses: &[SocketAddr]) -> io::Result<(SocketAddr, TcpStream)> {
    let mut failed = io::ErrorKind::AddrNotAvailable.into();
    for address in addresses {
        match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok((*address, stream)),
            Ok(Err(error)) => failed = error,
            Err(_) => failed = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failed)
}

/// Carries at most `left` bytes, to the end of what is read.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut left: u64,
    carried: &mut u64,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        let read = timeout(IDLE_LIMIT, from.read(&mut piece[..room])).await;
        let count = read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if count == 0 {
            break;
        }
        to.write_all(&piece[..count]).await?;
        *carried += count as u64;
        left -= count as u64;
    }
    Ok(())
}
