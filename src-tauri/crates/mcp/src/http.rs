//! Reaching a server at an address, over streamable HTTP.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::time::Duration;

use futures::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    HttpStatusError, StreamableHttpClientTransportConfig,
};
use tokio::time::timeout;
use url::Url;

use crate::auth::Signed;
use crate::config::{AddressConfig, shown};
use crate::error::McpError;

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How many redirects of one request are followed.
const REDIRECTS_MAX: usize = 5;

/// The largest message, as over standard input and output.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How long the look for the older way of speaking may take, and how much of it is read.
const OLD_WAY_LIMIT: Duration = Duration::from_secs(5);
const OLD_WAY_BYTES: usize = 4 * 1024;

/// How a stream of the older way begins.
const OLD_WAY_MARK: &str = "event: endpoint";

/// What is spoken over.
pub(crate) type Transport = StreamableHttpClientTransport<Signed>;

/// Makes the way to an address. Nothing is sent yet.
pub(crate) fn transport(name: &str, config: &AddressConfig) -> Result<Transport, McpError> {
    let url = config.parsed(name)?;
    let http = client().map_err(|error| McpError::Address {
        server: name.to_owned(),
        url: shown(&config.url),
        why: format!("no connection can be set up ({})", innermost(&error)),
    })?;
    let told = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers(name, config)?)
        .max_sse_event_size(MESSAGE_BYTES_MAX)
        .max_json_response_size(MESSAGE_BYTES_MAX);
    Ok(StreamableHttpClientTransport::with_client(
        Signed::new(http, config.sign_in.clone()),
        told,
    ))
}

fn headers(
    name: &str,
    config: &AddressConfig,
) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let mut headers = HashMap::new();
    for (header, value) in &config.headers {
        let fault = || McpError::Header {
            server: name.to_owned(),
            header: header.clone(),
        };
        let key = HeaderName::try_from(header.as_str()).map_err(|_| fault())?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| fault())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

/// A client that gives what it carries to nobody else: a redirect is followed only where it keeps
/// to the same origin and repeats the request as it was. So one to an address of this machine or
/// of its network is not followed either.
fn client() -> reqwest::Result<reqwest::Client> {
    // What signs requests by TLS has to be chosen once for the process; a choice that was made
    // before stands.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let same_origin = Policy::custom(|attempt| {
        let from = attempt.previous().last().map(Url::origin);
        let keeps = from == Some(attempt.url().origin())
            && matches!(attempt.status().as_u16(), 307 | 308)
            && attempt.previous().len() <= REDIRECTS_MAX;
        if keeps {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    reqwest::Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .tcp_nodelay(true)
        // A connection with an unread rest of an answer stalls the next request on it.
        .pool_max_idle_per_host(0)
        .redirect(same_origin)
        .user_agent(concat!("longrein/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Whether a server that did not understand us speaks the older way, HTTP with server-sent events
/// (2024-11-05), which is not spoken here.
pub(crate) async fn speaks_the_old_way(name: &str, config: &AddressConfig) -> bool {
    timeout(OLD_WAY_LIMIT, look_for_the_old_way(name, config))
        .await
        .unwrap_or(false)
}

async fn look_for_the_old_way(name: &str, config: &AddressConfig) -> bool {
    let (Ok(url), Ok(http), Ok(headers)) = (config.parsed(name), client(), headers(name, config))
    else {
        return false;
    };
    let mut request = http.get(url).header(ACCEPT, "text/event-stream");
    for (header, value) in headers {
        request = request.header(header, value);
    }
    let Ok(answer) = request.send().await else {
        return false;
    };
    let kind = answer.headers().get(CONTENT_TYPE);
    let streams = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/event-stream"));
    if !answer.status().is_success() || !streams {
        return false;
    }
    let mut begun = Vec::new();
    let mut body = answer.bytes_stream();
    while let Some(Ok(more)) = body.next().await {
        begun.extend_from_slice(&more);
        if String::from_utf8_lossy(&begun).contains(OLD_WAY_MARK) {
            return true;
        }
        if begun.len() > OLD_WAY_BYTES {
            return false;
        }
    }
    false
}

/// What is known of a request that failed on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reached {
    /// It never reached the server, or the server refused it before it did anything.
    No,
    /// Nobody knows.
    Perhaps,
}

/// Whether the server answered that whoever asks is not known to it, or may not. It looks at that
/// before it does anything.
pub(crate) fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(status) = error.downcast_ref::<HttpStatusError>() {
            return matches!(status.status, 401 | 403);
        }
        cause = error.source();
    }
    false
}

/// Reads from a failure's causes whether the request reached the server.
pub(crate) fn reached(error: &(dyn StdError + 'static)) -> Reached {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return if error.is_connect() || error.is_builder() {
                Reached::No
            } else {
                Reached::Perhaps
            };
        }
        if let Some(status) = error.downcast_ref::<HttpStatusError>() {
            // 429 and 503 are answered by those who guard the door.
            return if matches!(status.status, 429 | 503) {
                Reached::No
            } else {
                Reached::Perhaps
            };
        }
        cause = error.source();
    }
    Reached::Perhaps
}

/// The first cause of a failure, in its own words.
pub(crate) fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
