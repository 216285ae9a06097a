//! The head of a request to the proxy: what is asked for, and what goes on from it.

use super::Refusal;
use longrein_protocol::host_rule::{normal, split, with_port};

/// The most bytes of a head.
pub(super) const HEAD_MAX_BYTES: usize = 64 * 1024;
/// The most headers.
const HEADERS_MAX: usize = 128;
/// What is between the command and the proxy only.
const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "upgrade",
    "host",
];

/// What a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// In the form in which hosts are compared.
    pub(super) host: String,
    pub(super) port: u16,
    /// Without the query; `None` for a tunnel.
    pub(super) path: Option<String>,
    /// What the host is sent in place of the head; empty for a tunnel.
    pub(super) forward: Vec<u8>,
    /// How many bytes of a body follow; `None` where only the end says so.
    pub(super) body_bytes: Option<u64>,
}

/// Where a head ends in what has been read so far.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|at| at + 4)
}

/// Reads a head that is whole.
pub(super) fn parse(bytes: &[u8]) -> Result<Head, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let parsed = request.parse(bytes);
    let is_whole = parsed
        .map_err(|_| Refusal::Malformed("it is no HTTP"))?
        .is_complete();
    let (true, Some(method), Some(target)) = (is_whole, request.method, request.path) else {
        return Err(Refusal::Malformed("its head is not whole"));
    };
    if method == "CONNECT" {
        return connect(target);
    }
    plain(method, target, request.headers)
}

fn connect(target: &str) -> Result<Head, Refusal> {
    let (host, port) = split(target).ok_or(Refusal::Malformed("it names no host and port"))?;
    let port = port.ok_or(Refusal::Malformed("it names no port"))?;
    Ok(Head {
        method: "CONNECT".to_owned(),
        host: normal(host).ok_or(Refusal::Malformed("its host is none"))?,
        port,
        path: None,
        forward: Vec::new(),
        body_bytes: None,
    })
}

fn plain(method: &str, target: &str, headers: &[httparse::Header<'_>]) -> Result<Head, Refusal> {
    let rest = target
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let rest = rest.map(|_| &target[7..]);
    let rest = rest.ok_or(Refusal::Malformed(
        "a proxy is asked for a whole http:// address",
    ))?;
    let (authority, target) = match rest.find(['/', '?', '#']) {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    if authority.contains('@') {
        return Err(Refusal::Malformed("the address holds a user's name"));
    }
    let (host, port) = split(authority).ok_or(Refusal::Malformed("its port is none"))?;
    let host = normal(host).ok_or(Refusal::Malformed("its host is none"))?;
    let port = port.unwrap_or(80);
    let slash = if target.starts_with('/') { "" } else { "/" };
    let target = format!("{slash}{}", target.split('#').next().unwrap_or_default());
    let body_bytes = body(headers)?;
    Ok(Head {
        method: method.to_owned(),
        path: Some(target.split('?').next().unwrap_or_default().to_owned()),
        forward: forward(method, &target, (&host, port), headers),
        host,
        port,
        body_bytes,
    })
}

/// How long the body is. A head that says it in two ways could mean another request to the host
/// than to us.
fn body(headers: &[httparse::Header<'_>]) -> Result<Option<u64>, Refusal> {
    const TWICE: Refusal = Refusal::Malformed("it says its length in more than one way");
    let mut length = None;
    let mut is_chunked = false;
    for header in headers {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).unwrap_or_default().trim();
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<u64>().ok().filter(|_| is_number);
            let number = number.ok_or(Refusal::Malformed("its length is no number"))?;
            if length.replace(number).is_some() {
                return Err(TWICE);
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked = true;
        }
    }
    match (length, is_chunked) {
        (Some(_), true) => Err(TWICE),
        (_, true) => Ok(None),
        (length, false) => Ok(Some(length.unwrap_or(0))),
    }
}

/// The request as the host gets it: its own host, whatever the command wrote; one request only.
fn forward(
    method: &str,
    target: &str,
    (host, port): (&str, u16),
    headers: &[httparse::Header<'_>],
) -> Vec<u8> {
    let authority = with_port(host, port);
    let authority = authority.strip_suffix(":80").unwrap_or(&authority);
    let mut head =
        format!("{method} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n")
            .into_bytes();
    for header in headers {
        let is_ours = HOP_BY_HOP
            .iter()
            .any(|name| header.name.eq_ignore_ascii_case(name));
        if !is_ours {
            head.extend_from_slice(header.name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(header.value);
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head, Refusal> {
        parse(text.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn a_plain_request_is_sent_on_with_its_own_host_and_without_the_proxys_words() {
        let head = head(
            "GET http://Example.org:8080/a?key=x#y HTTP/1.1\nHost: other.org\nProxy-Authorization: z\nAccept: */*\n\n",
        )
        .expect("it is understood");
        assert_eq!((head.host.as_str(), head.port), ("example.org", 8080));
        assert_eq!(head.path.as_deref(), Some("/a"));
        let forward = String::from_utf8(head.forward).expect("it is text");
        let expected = "GET /a?key=x HTTP/1.1\r\nHost: example.org:8080\r\nConnection: close\r\nAccept: */*\r\n\r\n";
        assert_eq!(forward, expected);
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let found = head("CONNECT [2001:DB8::1]:443 HTTP/1.1\n\n").expect("it is understood");
        assert_eq!((found.host.as_str(), found.port), ("2001:db8::1", 443));
        assert!(head("CONNECT example.org HTTP/1.1\n\n").is_err());
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for text in [
            "GET / HTTP/1.1\nHost: a.org\n\n",
            "GET https://a.org/ HTTP/1.1\n\n",
            "GET http://a.org@b.org/ HTTP/1.1\n\n",
            "GET http://127.1/ HTTP/1.1\n\n",
            "POST http://a.org/ HTTP/1.1\nContent-Length: 3\nContent-Length: 4\n\n",
            "POST http://a.org/ HTTP/1.1\nContent-Length: 3\nTransfer-Encoding: chunked\n\n",
            "POST http://a.org/ HTTP/1.1\nContent-Length: +3\n\n",
            "nonsense\n\n",
        ] {
            assert!(head(text).is_err(), "{text}");
        }
    }
}
