//! Names become addresses once, and the addresses that were checked are the ones connected to:
//! no second question to a name server stands between the check and the connection.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::guard::{Guard, Special};

/// How many addresses of one host are tried. All of them are checked.
const ADDRESSES_LIMIT: usize = 16;

/// Asks for the addresses of a host.
#[async_trait]
pub trait ResolveHost: Send + Sync {
    /// All addresses of `host`, in the order in which they are to be tried.
    ///
    /// # Errors
    /// When there is no such host, or nobody can be asked.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own way to find a host.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemResolver;

#[async_trait]
impl ResolveHost for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Why a host has no address to connect to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveFault {
    #[error("there is no host {host}")]
    NoSuchHost {
        host: String,
        #[source]
        source: Option<io::Error>,
    },
    #[error("{host} leads to {address}, which is {kind}")]
    Special {
        host: String,
        address: IpAddr,
        kind: Special,
    },
}

/// Stands between the HTTP client and the resolver: it hands on what it has checked, or nothing.
pub(crate) struct GuardedResolver {
    pub resolver: Arc<dyn ResolveHost>,
    pub guard: Guard,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let (resolver, guard) = (Arc::clone(&self.resolver), self.guard);
        Box::pin(async move {
            let found = match resolver.resolve(&host).await {
                Ok(found) => checked(host, found, guard)?,
                Err(error) => {
                    return Err(ResolveFault::NoSuchHost {
                        host,
                        source: Some(error),
                    }
                    .into());
                }
            };
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// A host with one forbidden address is forbidden: which one is connected to is chance.
fn checked(
    host: String,
    found: Vec<IpAddr>,
    guard: Guard,
) -> Result<Vec<SocketAddr>, ResolveFault> {
    let refused = found
        .iter()
        .find_map(|address| guard.refuses(*address).map(|kind| (*address, kind)));
    if let Some((address, kind)) = refused {
        return Err(ResolveFault::Special {
            host,
            address,
            kind,
        });
    }
    if found.is_empty() {
        return Err(ResolveFault::NoSuchHost { host, source: None });
    }
    Ok(found
        .into_iter()
        .take(ADDRESSES_LIMIT)
        .map(|address| SocketAddr::new(address, 0))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHUT: Guard = Guard { loopback: None };

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn one_private_address_among_many_refuses_the_host() {
        let mixed = addresses(&["93.184.215.14", "2606:4700::1111", "10.0.0.7"]);
        assert!(matches!(
            checked("example.org".to_owned(), mixed, SHUT),
            Err(ResolveFault::Special {
                kind: Special::Private,
                ..
            })
        ));
        let public = addresses(&["93.184.215.14", "2606:4700::1111"]);
        assert_eq!(
            checked("example.org".to_owned(), public, SHUT)
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn a_forbidden_address_far_down_the_list_is_found() {
        let mut many = vec![IpAddr::from([93, 184, 215, 14]); ADDRESSES_LIMIT * 4];
        assert_eq!(
            checked("example.org".to_owned(), many.clone(), SHUT)
                .unwrap()
                .len(),
            ADDRESSES_LIMIT
        );
        many.push(IpAddr::from([127, 0, 0, 1]));
        assert!(checked("example.org".to_owned(), many, SHUT).is_err());
    }

    #[test]
    fn a_host_without_addresses_is_none() {
        assert!(matches!(
            checked("example.org".to_owned(), Vec::new(), SHUT),
            Err(ResolveFault::NoSuchHost { .. })
        ));
    }
}
