//! Where the browser brings the answer of a sign-in: a listener on the loopback address, on a port
//! that the system chooses, for one answer.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use super::SignInError;
use crate::clean::{head, plain};

/// The path that the answer comes to.
const PATH: &str = "/callback";

/// The longest head of a request that is read.
const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// How long one request may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// The most requests that are looked at: browsers ask for icons, others try their luck.
const REQUESTS_MAX: usize = 64;

/// The longest reason that is shown.
const REASON_BYTES: usize = 300;

const DONE: &str = "You are signed in. You can close this page and go back to Longrein.";
const REFUSED: &str = "You are not signed in. You can close this page and go back to Longrein.";
const NOTHING: &str = "There is nothing here.";

/// The listener.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

impl Callback {
    /// Begins to listen.
    pub(super) async fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address that the browser is sent to.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer that belongs to `page`, and returns the whole address that it came to.
    /// What belongs to no sign-in of ours is answered and forgotten.
    pub(super) async fn answer(self, page: &Url) -> Result<String, SignInError> {
        let state = page
            .query_pairs()
            .find(|(name, _)| name == "state")
            .map(|(_, value)| value.into_owned());
        for _ in 0..REQUESTS_MAX {
            let (mut stream, _) = self
                .listener
                .accept()
                .await
                .map_err(SignInError::Loopback)?;
            let target = match timeout(REQUEST_LIMIT, read_target(&mut stream, self.port)).await {
                Ok(Ok(Some(target))) => target,
                _ => {
                    let _ = timeout(REQUEST_LIMIT, reply(&mut stream, 404, NOTHING)).await;
                    continue;
                }
            };
            let address = format!("http://127.0.0.1:{}{target}", self.port);
            let Some(url) = Url::parse(&address).ok().filter(|url| url.path() == PATH) else {
                let _ = timeout(REQUEST_LIMIT, reply(&mut stream, 404, NOTHING)).await;
                continue;
            };
            let query = |name: &str| {
                let mut pairs = url.query_pairs();
                let found = pairs.find(|(key, _)| key == name);
                found.map(|(_, value)| value.into_owned())
            };
            if state.is_none() || query("state") != state {
                let _ = timeout(REQUEST_LIMIT, reply(&mut stream, 400, NOTHING)).await;
                continue;
            }
            if let Some(error) = query("error") {
                let _ = timeout(REQUEST_LIMIT, reply(&mut stream, 200, REFUSED)).await;
                let why = query("error_description").unwrap_or(error);
                return Err(SignInError::Refused(head(&plain(&why), REASON_BYTES)));
            }
            let _ = timeout(REQUEST_LIMIT, reply(&mut stream, 200, DONE)).await;
            return Ok(address);
        }
        Err(SignInError::Refused(format!(
            "{REQUESTS_MAX} requests came to the address of the answer, and none was it"
        )))
    }
}

/// The target of a `GET` that was meant for this address; `None` for anything else. A page of
/// another name that leads here (DNS rebinding) says another host.
async fn read_target(stream: &mut TcpStream, port: u16) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        if count == 0 || head.len() + count > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (first.next(), first.next());
    let own = format!("127.0.0.1:{port}");
    let host = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim().to_owned());
    let meant = method == Some("GET") && host.as_deref() == Some(own.as_str());
    Ok(target.filter(|_| meant).map(str::to_owned))
}

async fn reply(stream: &mut TcpStream, status: u16, words: &str) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        _ => "Not Found",
    };
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>Longrein</title><p style=\"font:18px sans-serif;margin:4em\">{words}"
    );
    let response = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(address: &str, host: Option<&str>) -> String {
        let url = Url::parse(address).unwrap();
        let own = format!("127.0.0.1:{}", url.port().unwrap());
        let mut stream = TcpStream::connect(&own).await.unwrap();
        let target = &address[address.find(&own).unwrap() + own.len()..];
        let host = host.unwrap_or(&own);
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn only_the_answer_of_this_sign_in_is_taken() {
        let callback = Callback::listen().await.unwrap();
        let own = callback.address();
        let page = Url::parse("https://login.example/authorize?state=s1").unwrap();
        let waiting = tokio::spawn(async move { callback.answer(&page).await });
        let origin = own.trim_end_matches(PATH).to_owned();
        assert!(
            get(&format!("{origin}/favicon.ico"), None)
                .await
                .contains("404")
        );
        assert!(
            get(&format!("{own}?code=x&state=s2"), None)
                .await
                .contains("400")
        );
        let foreign = get(&format!("{own}?code=x&state=s1"), Some("evil.example")).await;
        assert!(foreign.contains("404"));
        let right = format!("{own}?code=abc&state=s1&iss=https://login.example");
        assert!(get(&right, None).await.contains("signed in"));
        assert_eq!(waiting.await.unwrap().unwrap(), right);
    }

    #[tokio::test]
    async fn a_refusal_says_why() {
        let callback = Callback::listen().await.unwrap();
        let own = callback.address();
        let page = Url::parse("https://login.example/authorize?state=s1").unwrap();
        let waiting = tokio::spawn(async move { callback.answer(&page).await });
        get(
            &format!("{own}?error=access_denied&error_description=Not%20today&state=s1"),
            None,
        )
        .await;
        let error = waiting.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "Signing in was refused: Not today.");
    }
}
