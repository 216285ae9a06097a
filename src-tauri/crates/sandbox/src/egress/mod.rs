//! The way to the network: commands have none but a proxy, whose other end is here. It reaches
//! listed hosts only, resolves their names here, refuses addresses that are nobody's business, and
//! says of each request what came of it.

mod head;
mod proxy;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use longrein_resident::wire::TUNNELS_MAX;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use longrein_protocol::host_rule::with_port;
pub use longrein_protocol::host_rule::{HostRule, NoHostRule};

use crate::session::Tunnel;

/// Why an address may not be reached; `None` where it may. What an app gives here refuses private,
/// loopback, link-local and metadata addresses.
pub type Guard = fn(IpAddr) -> Option<String>;

/// How names become addresses.
pub type Resolver =
    Arc<dyn Fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// The machine's own way to resolve names.
pub fn system_resolver() -> Resolver {
    Arc::new(|host, port| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), port)).await?;
            Ok(found.collect())
        })
    })
}

/// What an agent's commands may reach.
#[derive(Clone)]
pub struct Egress {
    /// The listed hosts.
    pub hosts: Vec<HostRule>,
    /// Which addresses are refused whatever name led to them.
    pub guard: Guard,
    /// How names become addresses.
    pub resolver: Resolver,
}

impl fmt::Debug for Egress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Egress")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// Takes what the proxy says of requests, in order. True: it is kept. An allowed request leaves only
/// after that, and one that nobody keeps does not leave.
pub type Teller = Arc<dyn Fn(EgressEvent) -> BoxFuture<'static, bool> + Send + Sync>;

/// A teller that passes everything on to a channel.
pub fn told_to(events: mpsc::Sender<EgressEvent>) -> Teller {
    Arc::new(move |event| {
        let events = events.clone();
        Box::pin(async move { events.send(event).await.is_ok() })
    })
}

/// What the proxy says of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EgressEvent {
    /// A request was decided; if it is allowed, it leaves now.
    Decided {
        /// Counts the requests of one proxy, from 1.
        request: u64,
        /// The command that may use the proxy.
        command: String,
        /// Its method: `CONNECT` for everything that is encrypted.
        method: String,
        /// The host, as it was asked for.
        host: String,
        /// The port.
        port: u16,
        /// The path, where it can be seen; never the query, which may hold a secret.
        path: Option<String>,
        /// Why it is refused; `None` where it is allowed.
        refused: Option<Refusal>,
    },
    /// An allowed request is over.
    Ended {
        /// Which.
        request: u64,
        /// The address that was reached.
        address: Option<SocketAddr>,
        /// Bytes that the command sent.
        sent_bytes: u64,
        /// Bytes that it received.
        received_bytes: u64,
        /// What went wrong, if anything.
        failed: Option<String>,
    },
}

/// Why a request does not leave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no request that the proxy takes.
    #[error("the proxy does not understand the request: {0}")]
    Malformed(&'static str),
    /// The host, or its port, is not on the agent's list.
    #[error("{} is not among the hosts that this agent may reach", with_port(host, *port))]
    NotListed {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The name leads to where nothing may be reached.
    #[error("{host} leads to {address}, which is {why}")]
    Address {
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
        /// What the address is.
        why: String,
    },
    /// The name leads nowhere.
    #[error("{host} can't be resolved: {why}")]
    Unresolved {
        /// The host.
        host: String,
        /// What resolving said.
        why: String,
    },
}

/// Carries tunnels until there are no more. Dropping it closes those that are open.
pub async fn serve(mut tunnels: mpsc::Receiver<Tunnel>, egress: Egress, tell: Teller) {
    let egress = Arc::new(egress);
    let mut open = JoinSet::new();
    let mut last = 0;
    loop {
        let tunnel = tokio::select! {
            Some(_) = open.join_next(), if !open.is_empty() => continue,
            tunnel = tunnels.recv(), if open.len() < TUNNELS_MAX => tunnel,
        };
        let Some(tunnel) = tunnel else { break };
        last += 1;
        open.spawn(proxy::carry(
            last,
            tunnel,
            Arc::clone(&egress),
            Arc::clone(&tell),
        ));
    }
    while open.join_next().await.is_some() {}
}
