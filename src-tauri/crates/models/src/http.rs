//! The HTTP client: built when it is first needed, with no redirects (a key must not follow
//! them) and with errors that say who did not answer and why.

use std::error::Error as StdError;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::ModelError;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use rustls_platform_verifier::BuilderVerifierExt;
use zeroize::Zeroizing;

use crate::fault::Provider;
use crate::format::ModelConfig;
use crate::secret::MASK;

/// Names and values behind the question mark of an address.
pub(crate) type Query = [(&'static str, &'static str)];

/// How the addresses and headers of a format look.
#[derive(Debug)]
pub(crate) struct Manners {
    /// The format's name.
    pub format: &'static str,
    /// The header that carries the key.
    pub key_header: KeyHeader,
    /// What every request says besides.
    pub headers: &'static [(&'static str, &'static str)],
    /// The version that base addresses end in. With `adds_version` it is added where it is
    /// missing, since the provider's own libraries do so and people copy addresses from them.
    pub version: &'static str,
    pub adds_version: bool,
}

/// The header that carries a key. Never the address: addresses get into logs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer …`
    Bearer,
    /// The key alone, under this name.
    Named(&'static str),
}

/// A provider's address with the client that talks to it.
pub(crate) struct Endpoint {
    pub provider: Provider,
    manners: &'static Manners,
    url: Option<Url>,
    connect_timeout: Duration,
    client: OnceLock<Client>,
}

/// The name of a host that the system does not know.
#[derive(Debug, thiserror::Error)]
#[error("there is no host {host}")]
struct NoSuchHost {
    host: String,
    source: io::Error,
}

impl Endpoint {
    /// Keeps the address; nothing is opened yet. An address that can't be read is reported with
    /// the first request.
    pub fn new(config: &ModelConfig, manners: &'static Manners) -> Self {
        let url = Url::parse(config.base_url.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let shown_url = url
            .as_ref()
            .map_or_else(|| "its base_url".to_owned(), shown);
        let provider = Provider {
            name: config.provider.clone(),
            model: config.model.clone(),
            shown_url,
            key: config.key.clone(),
            format: manners.format,
            address_hint: manners.version,
        };
        Self {
            provider,
            manners,
            url,
            connect_timeout: config.limits.connect,
            client: OnceLock::new(),
        }
    }

    /// The host of the address; empty where there is none.
    pub fn host(&self) -> &str {
        self.url
            .as_ref()
            .and_then(Url::host_str)
            .unwrap_or_default()
    }

    /// The port of the address.
    pub fn port(&self) -> Option<u16> {
        self.url.as_ref().and_then(Url::port_or_known_default)
    }

    /// A `GET` of a path beneath the base address.
    pub fn get(&self, path: &[&str], query: &Query) -> Result<RequestBuilder, ModelError> {
        let url = self.url_of(path, query)?;
        self.authorized(self.client()?.get(url))
    }

    /// A `POST` of JSON to a path beneath the base address.
    pub fn post(
        &self,
        path: &[&str],
        query: &Query,
        body: Vec<u8>,
    ) -> Result<RequestBuilder, ModelError> {
        let url = self.url_of(path, query)?;
        let request = self
            .client()?
            .post(url)
            .header("content-type", "application/json")
            .body(body);
        self.authorized(request)
    }

    fn url_of(&self, path: &[&str], query: &Query) -> Result<Url, ModelError> {
        let name = &self.provider.name;
        let version = self.manners.version;
        let mut url = self.url.clone().ok_or_else(|| {
            self.provider.fault(
                ModelErrorClass::BadRequest,
                format!("The base_url of provider {name} is not an http or https address."),
                format!("Write base_url of provider {name} like http://127.0.0.1:8080{version}."),
            )
        })?;
        let lacks_version = self.manners.adds_version && !ends_in_version(&url);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if lacks_version {
                segments.push(version.trim_start_matches('/'));
            }
            segments.extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    fn authorized(&self, mut request: RequestBuilder) -> Result<RequestBuilder, ModelError> {
        for (name, value) in self.manners.headers {
            request = request.header(*name, *value);
        }
        let Some(key) = &self.provider.key else {
            return Ok(request);
        };
        let (header, value) = match self.manners.key_header {
            KeyHeader::Bearer => (
                AUTHORIZATION,
                Zeroizing::new(format!("Bearer {}", key.expose())),
            ),
            KeyHeader::Named(name) => (
                HeaderName::from_static(name),
                Zeroizing::new(key.expose().to_owned()),
            ),
        };
        let name = &self.provider.name;
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            self.provider.fault(
                ModelErrorClass::Auth,
                format!("The key of provider {name} has characters that no key has."),
                format!("Copy the key of provider {name} again."),
            )
        })?;
        value.set_sensitive(true);
        Ok(request.header(header, value))
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.build().map_err(|error| {
            self.provider.fault(
                ModelErrorClass::Network,
                format!(
                    "No connection to {} can be set up ({}).",
                    self.provider.shown_url,
                    innermost(&*error)
                ),
                "Check that this system has its certificates (on Debian: ca-certificates)."
                    .to_owned(),
            )
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    fn build(&self) -> Result<Client, Box<dyn StdError + Send + Sync>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?;
        // Loading the system's certificates takes milliseconds that plain HTTP need not pay.
        let tls = match self.url.as_ref().map(Url::scheme) {
            Some("https") => tls.with_platform_verifier()?.with_no_client_auth(),
            _ => tls
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth(),
        };
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .dns_resolver(Arc::new(SystemResolver))
            .connect_timeout(self.connect_timeout)
            .tcp_nodelay(true)
            .user_agent(concat!("longrein/", env!("CARGO_PKG_VERSION")));
        if self.url.as_ref().is_some_and(is_near) {
            // A proxy of the environment is meant for the world outside.
            builder = builder.no_proxy();
        }
        Ok(builder.build()?)
    }

    /// Puts a failed request into words.
    pub fn explain(&self, error: &reqwest::Error) -> ModelError {
        let provider = &self.provider;
        let start = format!(
            "Start the server or correct base_url of provider {}.",
            provider.name
        );
        if let Some(unknown) = find::<NoSuchHost>(error) {
            let why = format!("there is no host {}", unknown.host);
            let remedy = format!(
                "Check the connection, or correct base_url of provider {}.",
                provider.name
            );
            return provider.unreachable(&why, remedy);
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            let why = provider.clean(&format!("the secure connection failed: {tls}"));
            let remedy = format!(
                "Check the certificate of provider {}, or its base_url.",
                provider.name
            );
            return ModelError {
                unreachable: false,
                ..provider.unreachable(&why, remedy)
            };
        }
        if error.is_connect() && error.is_timeout() {
            return provider.unreachable("no connection in time", start);
        }
        if error.is_connect() {
            let why = match find::<io::Error>(error).map(io::Error::kind) {
                Some(io::ErrorKind::ConnectionRefused) => "connection refused".to_owned(),
                Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                    "no way to it from this network".to_owned()
                }
                _ => provider.clean(&innermost(error)),
            };
            return provider.unreachable(&why, start);
        }
        provider.broken("broke the connection")
    }
}

/// Looks names up by the system, and says which one it did not find.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0))
                .await
                .map(Iterator::collect::<Vec<SocketAddr>>);
            match found {
                Ok(found) => Ok(Box::new(found.into_iter()) as Addrs),
                Err(source) => Err(NoSuchHost { host, source }.into()),
            }
        })
    }
}

/// The first cause of a kind. An `io::Error` may hide its cause inside itself.
fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        cause = match inner {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => error.source(),
        };
    }
    None
}

fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Whether an address is on this machine or in its own network.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Whether the last part of a path is a version: `v1`, `v1beta`, `v2`.
fn ends_in_version(url: &Url) -> bool {
    let path = url.path().trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let rest = last.strip_prefix('v').unwrap_or_default();
    rest.starts_with(|letter: char| letter.is_ascii_digit())
}

/// An address without what may be a key: names, passwords and the values of its query.
fn shown(url: &Url) -> String {
    let mut shown = format!("{}://", url.scheme());
    if !url.username().is_empty() || url.password().is_some() {
        shown += &format!("{MASK}@");
    }
    shown += url.host_str().unwrap_or_default();
    if let Some(port) = url.port() {
        shown += &format!(":{port}");
    }
    shown += url.path().trim_end_matches('/');
    let query: Vec<String> = url
        .query_pairs()
        .map(|(name, _)| format!("{name}={MASK}"))
        .collect();
    if !query.is_empty() {
        shown += &format!("?{}", query.join("&"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let show = |url: &str| shown(&Url::parse(url).unwrap());
        assert_eq!(
            show("http://127.0.0.1:8080/v1/"),
            "http://127.0.0.1:8080/v1"
        );
        assert_eq!(
            show("https://me:pw@host.example/v1?exaApiKey=k&v=2"),
            "https://•••@host.example/v1?exaApiKey=•••&v=•••"
        );
    }

    const PLAIN: Manners = Manners {
        format: "OpenAI Chat Completions",
        key_header: KeyHeader::Bearer,
        headers: &[],
        version: "/v1",
        adds_version: false,
    };

    const VERSIONED: Manners = Manners {
        adds_version: true,
        ..PLAIN
    };

    fn endpoint(url: &str, manners: &'static Manners) -> Endpoint {
        let config = ModelConfig {
            provider: "p".into(),
            model: "m".into(),
            base_url: url.into(),
            key: None,
            limits: crate::Limits::default(),
        };
        Endpoint::new(&config, manners)
    }

    #[test]
    fn paths_are_added_before_the_query() {
        let path = |url: &str| {
            endpoint(url, &PLAIN)
                .url_of(&["chat", "completions"], &[])
                .unwrap()
                .to_string()
        };
        assert_eq!(path("http://h/v1"), "http://h/v1/chat/completions");
        assert_eq!(path("http://h/v1/"), "http://h/v1/chat/completions");
        assert_eq!(path("http://h/a?v=2"), "http://h/a/chat/completions?v=2");
        let error = endpoint("127.0.0.1:80/key", &PLAIN).url_of(&[], &[]);
        let error = error.unwrap_err();
        assert_eq!(error.class, ModelErrorClass::BadRequest);
        assert!(!error.message.contains("key"), "{}", error.message);
    }

    #[test]
    fn a_version_is_added_where_the_format_has_one_and_the_address_has_none() {
        let path = |url: &str| {
            endpoint(url, &VERSIONED)
                .url_of(&["messages"], &[("alt", "sse")])
                .unwrap()
                .to_string()
        };
        assert_eq!(path("https://h"), "https://h/v1/messages?alt=sse");
        assert_eq!(path("https://h/v1/"), "https://h/v1/messages?alt=sse");
        assert_eq!(
            path("https://h/v1beta"),
            "https://h/v1beta/messages?alt=sse"
        );
        assert_eq!(
            path("https://h/vendor?a=1"),
            "https://h/vendor/v1/messages?a=1&alt=sse"
        );
    }

    #[test]
    fn a_proxy_is_not_asked_for_what_is_near() {
        for (url, near) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://192.168.1.4", true),
            ("http://localhost:11434", true),
            ("https://api.example", false),
            ("http://8.8.8.8", false),
        ] {
            assert_eq!(is_near(&Url::parse(url).unwrap()), near, "{url}");
        }
    }
}
