//! One request and its answer: no redirect is followed here, no proxy is used, and nothing is
//! connected to that the guard has not seen.

use std::error::Error as StdError;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderMap,
    HeaderName, LOCATION, RETRY_AFTER,
};
use reqwest::{Client, Response};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::{Instant, timeout_at};

use crate::address::Address;
use crate::body::{Body, BodyFault, ENCODINGS};
use crate::error::{FetchError, NetworkFault, Stage};
use crate::guard::Guard;
use crate::limits::Limits;
use crate::resolve::{GuardedResolver, ResolveFault, ResolveHost};
use crate::words::line;

/// The most headers of an answer.
const HEADERS_LIMIT: usize = 128;
/// How long a connection is kept for the next request to the same host.
const KEPT_OPEN: Duration = Duration::from_secs(15);
/// How many connections are kept for one host.
const KEPT_OPEN_PER_HOST: usize = 2;
/// The longest wait that a site may ask for and is believed.
const RETRY_AFTER_LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);

const WANTED: &str = "text/html,application/xhtml+xml,application/pdf;q=0.9,\
    text/markdown;q=0.9,text/plain;q=0.8,application/json;q=0.8,application/xml;q=0.8,*/*;q=0.3";

/// What is wanted of one request.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    /// The most bytes of the body.
    pub bytes: usize,
    /// Whether a longer body is cut there; else it is an error.
    pub cut: bool,
    /// When it must have ended, and how long that was from the beginning.
    pub deadline: Deadline,
}

/// When a fetch must have ended.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    pub fn after(limit: Duration) -> Self {
        Self {
            at: Instant::now() + limit,
            limit,
        }
    }

    /// What is waited for at this stage: the stage's own limit, or the whole's when it is nearer.
    fn stage(self, stage: Stage, limit: Duration) -> (Instant, Stage, Duration) {
        let own = Instant::now() + limit;
        if own < self.at {
            (own, stage, limit)
        } else {
            (self.at, Stage::Whole, self.limit)
        }
    }

    /// Waits at most as long as the stage or the whole may take.
    pub async fn wait<T>(
        self,
        address: &Address,
        stage: Stage,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Result<T, FetchError> {
        let (at, stage, limit) = self.stage(stage, limit);
        timeout_at(at, future)
            .await
            .map_err(|_| FetchError::TimedOut {
                address: address.shown(),
                stage,
                limit,
            })
    }

    /// Waits as long as the whole may take.
    pub async fn wait_whole<T>(
        self,
        address: &Address,
        stage: Stage,
        future: impl Future<Output = T>,
    ) -> Result<T, FetchError> {
        timeout_at(self.at, future)
            .await
            .map_err(|_| FetchError::TimedOut {
                address: address.shown(),
                stage,
                limit: self.limit,
            })
    }
}

/// What a server said.
pub(crate) struct Answer {
    pub status: u16,
    /// Where it sends on to.
    pub location: Option<String>,
    pub retry_after: Option<Duration>,
    pub content_type: Option<String>,
    /// The body, decompressed; empty unless the status is a success.
    pub bytes: Vec<u8>,
}

/// What makes requests.
pub(crate) struct Http {
    pub limits: Limits,
    pub guard: Guard,
    /// Whether the environment names a proxy.
    pub proxied: bool,
    user_agent: String,
    resolver: Arc<dyn ResolveHost>,
    /// Loading the system's certificates takes a while, which a run without pages need not pay.
    client: OnceLock<Client>,
}

impl Http {
    pub fn new(
        limits: Limits,
        guard: Guard,
        proxied: bool,
        user_agent: String,
        resolver: Arc<dyn ResolveHost>,
    ) -> Self {
        Self {
            limits,
            guard,
            proxied,
            user_agent,
            resolver,
            client: OnceLock::new(),
        }
    }

    fn client(&self) -> Result<&Client, Box<dyn StdError + Send + Sync>> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_platform_verifier()?
            .with_no_client_auth();
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .dns_resolver(Arc::new(GuardedResolver {
                resolver: Arc::clone(&self.resolver),
                guard: self.guard,
            }))
            .connect_timeout(self.limits.connect)
            .pool_idle_timeout(KEPT_OPEN)
            .pool_max_idle_per_host(KEPT_OPEN_PER_HOST)
            .http1_max_headers(HEADERS_LIMIT)
            .user_agent(self.user_agent.as_str())
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Asks for `address` and reads the answer.
    pub async fn get(&self, address: &Address, wish: Wish) -> Result<Answer, FetchError> {
        let client = self
            .client()
            .map_err(|error| self.network(address, NetworkFault::Secure(innermost(&*error))))?;
        let sent = client
            .get(address.url().clone())
            .header(ACCEPT, WANTED)
            .header(ACCEPT_ENCODING, ENCODINGS)
            .send();
        // A connection has its own, shorter limit inside the client.
        let response = wish
            .deadline
            .wait(
                address,
                Stage::Answer,
                self.limits.connect + self.limits.first_byte,
                sent,
            )
            .await?
            .map_err(|error| self.explain(address, &error))?;
        self.see_who_answered(address, &response)?;
        let mut answer = Answer {
            status: response.status().as_u16(),
            location: header(response.headers(), &LOCATION),
            retry_after: retry_after(response.headers()),
            content_type: header(response.headers(), &CONTENT_TYPE),
            bytes: Vec::new(),
        };
        if response.status().is_success() {
            answer.bytes = self.body(address, response, wish).await?;
        }
        Ok(answer)
    }

    /// A second look at the address that was connected to, should a client ever connect past the
    /// resolver.
    fn see_who_answered(&self, address: &Address, response: &Response) -> Result<(), FetchError> {
        let Some(peer) = response.remote_addr() else {
            return Ok(());
        };
        match self.guard.refuses(peer.ip()) {
            None => Ok(()),
            Some(kind) => Err(FetchError::PrivateAddress {
                host: address.host().to_owned(),
                address: peer.ip(),
                kind,
            }),
        }
    }

    async fn body(
        &self,
        address: &Address,
        mut response: Response,
        wish: Wish,
    ) -> Result<Vec<u8>, FetchError> {
        let encoding = header(response.headers(), &CONTENT_ENCODING);
        let fault = |fault: BodyFault| match fault {
            BodyFault::TooLarge => FetchError::TooLarge {
                address: address.shown(),
                limit_bytes: wish.bytes,
            },
            BodyFault::UnknownEncoding(_) => FetchError::UnsupportedType {
                address: address.shown(),
                media_type: fault.to_string(),
            },
            BodyFault::Damaged => self.network(address, NetworkFault::Damaged(fault.to_string())),
        };
        let announced = header(response.headers(), &CONTENT_LENGTH)
            .and_then(|length| length.parse::<usize>().ok());
        if !wish.cut && announced.is_some_and(|length| length > wish.bytes) {
            return Err(fault(BodyFault::TooLarge));
        }
        let mut body = Body::new(encoding.as_deref(), wish.bytes).map_err(fault)?;
        loop {
            let piece = wish
                .deadline
                .wait(address, Stage::Body, self.limits.idle, response.chunk())
                .await?
                .map_err(|error| self.explain(address, &error))?;
            let Some(piece) = piece else {
                return body.finish().map_err(fault);
            };
            match body.take(&piece) {
                Ok(()) => {}
                Err(BodyFault::TooLarge) if wish.cut => return Ok(body.so_far()),
                Err(error) => return Err(fault(error)),
            }
        }
    }

    fn network(&self, address: &Address, fault: NetworkFault) -> FetchError {
        FetchError::Network {
            host: address.host().to_owned(),
            fault,
            proxied: self.proxied,
        }
    }

    /// Puts a failed request into words.
    fn explain(&self, address: &Address, error: &reqwest::Error) -> FetchError {
        if let Some(fault) = find::<ResolveFault>(error) {
            return match fault {
                ResolveFault::NoSuchHost { .. } => self.network(address, NetworkFault::NoSuchHost),
                ResolveFault::Special {
                    host,
                    address,
                    kind,
                } => FetchError::PrivateAddress {
                    host: host.clone(),
                    address: *address,
                    kind: *kind,
                },
            };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return self.network(address, NetworkFault::Secure(line(&tls.to_string())));
        }
        if error.is_timeout() {
            return FetchError::TimedOut {
                address: address.shown(),
                stage: Stage::Connection,
                limit: self.limits.connect,
            };
        }
        let kind = find::<io::Error>(error).map(io::Error::kind);
        let fault = match kind {
            Some(io::ErrorKind::ConnectionRefused) => NetworkFault::Refused,
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
                NetworkFault::NoRoute
            }
            Some(
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => NetworkFault::CutOff,
            _ if error.is_body() || error.is_decode() => NetworkFault::CutOff,
            _ if error.is_connect() => NetworkFault::Other(line(&innermost(error))),
            _ => NetworkFault::Damaged(line(&innermost(error))),
        };
        self.network(address, fault)
    }
}

/// Whether the environment asks for a proxy for web addresses.
pub fn environment_names_a_proxy() -> bool {
    const VARIABLES: [&str; 6] = [
        "https_proxy",
        "HTTPS_PROXY",
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ];
    VARIABLES
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// A header as text; bytes that are none are replaced.
fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// How long the site asks to be left alone. A date is counted from the site's own date, so that
/// no clock of this machine matters.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = header(headers, &RETRY_AFTER)?;
    let value = value.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let then = httpdate::parse_http_date(value).ok()?;
            let now = httpdate::parse_http_date(header(headers, &DATE)?.trim()).ok()?;
            then.duration_since(now).unwrap_or_default()
        }
    };
    Some(wait.min(RETRY_AFTER_LIMIT))
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

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn waits(pairs: &[(HeaderName, &'static str)]) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
        retry_after(&headers).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_read_in_seconds_and_as_a_date() {
        const NOW: &str = "Wed, 21 Oct 2026 07:28:00 GMT";
        const THEN: &str = "Wed, 21 Oct 2026 07:30:00 GMT";
        assert_eq!(waits(&[(RETRY_AFTER, "120")]), Some(120));
        assert_eq!(waits(&[(RETRY_AFTER, THEN), (DATE, NOW)]), Some(120));
        assert_eq!(waits(&[(RETRY_AFTER, NOW), (DATE, THEN)]), Some(0));
        assert_eq!(waits(&[(RETRY_AFTER, THEN)]), None);
        assert_eq!(waits(&[(RETRY_AFTER, "soon")]), None);
        assert_eq!(waits(&[]), None);
        assert_eq!(
            waits(&[(RETRY_AFTER, "99999999999")]),
            Some(RETRY_AFTER_LIMIT.as_secs())
        );
    }
}
