//! The host of an address, as the WHATWG URL standard reads it.
//!
//! Programs read addresses in different ways. Where they are known to disagree (a backslash, a tab,
//! a second `@`, an octal number), the host can't be made out, and a person is asked.

use url::{Host, Url};

use super::text::{is_invisible, short};

/// An address and the host that it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    /// As written.
    pub(super) url: String,
    /// See [`longrein_protocol::gate::UrlFact::host`].
    pub(super) host: String,
}

/// Why an address leads to no host that is known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the address “{address}”: {why}")]
pub(super) struct Unclear {
    /// Its beginning.
    address: String,
    /// What is wrong with it.
    why: NoHost,
}

/// What is wrong with an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
enum NoHost {
    #[error("it names no host")]
    Missing,
    #[error("it names a file of this machine")]
    File,
    #[error("it has no scheme")]
    Schemeless,
    #[error("it does not say where its host begins")]
    Beginless,
    #[error("it holds a space or a character that can't be seen")]
    Odd,
    #[error("programs read its host in different ways")]
    Forked,
    #[error("programs read the numbers of its host in different ways")]
    Octal,
    #[error("its host is not written out")]
    Unknown,
    #[error("its host can't be read")]
    Unreadable,
}

/// What stands for a part of an address that is only known when a command runs.
pub(super) const UNKNOWN: char = '\u{FFFC}';

/// The schemes whose addresses are found in any text.
const FOUND_SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp", "ftps"];

/// An argument that is said to be an address. One without a scheme is taken as a web address, and
/// `git@host:path` as it is usual.
pub(super) fn declared(text: &str) -> Result<Address, Unclear> {
    let text = text.trim_matches(' ');
    let host = if text.contains("://") {
        host_of(text)
    } else if let Some(host) = of_copy(text) {
        host_of(&format!("ssh://{host}"))
    } else if let Some(rest) = text.strip_prefix("//") {
        host_of(&format!("https://{rest}"))
    } else if is_bare(text) {
        host_of(&format!("https://{text}"))
    } else {
        Err(NoHost::Missing)
    };
    address(text, host)
}

/// An operand of a program that reaches a host: `example.org`, `http://example.org/x`.
pub(super) fn operand(text: &str, scheme: &str) -> Result<Address, Unclear> {
    if text.contains("://") {
        return address(text, host_of(text));
    }
    address(text, host_of(&format!("{scheme}://{text}")))
}

/// `user@host:path`, or with `any` also `host:path`, as copying programs write a place elsewhere.
pub(super) fn copied(text: &str, any: bool) -> Option<Result<Address, Unclear>> {
    let host = match of_copy(text) {
        Some(host) => host,
        None if any && !text.contains("://") => {
            let (host, _) = text.split_once(':')?;
            (!host.is_empty() && !host.contains('/')).then_some(host)?
        }
        None => return None,
    };
    Some(address(text, host_of(&format!("ssh://{host}"))))
}

/// Every address that stands in a text.
pub(super) fn found_in(text: &str) -> Vec<Result<Address, Unclear>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(colon) = text[from..].find(':').map(|at| from + at) {
        from = colon + 1;
        let Some(start) = scheme_before(text, colon) else {
            continue;
        };
        if !text[from..].starts_with(['/', '\\']) {
            continue;
        }
        let written = until_its_end(&text[start..]);
        let place = written.get(from - start..).unwrap_or_default();
        if place.chars().all(|letter| "/\\".contains(letter)) {
            // Only a scheme is spoken of.
            continue;
        }
        found.push(address(written, host_of(written)));
        from = from.max(start + written.len());
    }
    found
}

/// Where a scheme that is looked for begins, if one ends here.
fn scheme_before(text: &str, colon: usize) -> Option<usize> {
    let before = &text.as_bytes()[..colon];
    let letters = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric());
    let start = colon - letters.count();
    let scheme = text[start..colon].to_ascii_lowercase();
    FOUND_SCHEMES.contains(&scheme.as_str()).then_some(start)
}

/// Cuts what follows an address in running text: it ends at white space or a mark that no address
/// has, and not with punctuation. A backslash ends it, too, unless an `@` after it would make
/// another host of it for some.
fn until_its_end(text: &str) -> &str {
    let ends = |letter: char| {
        letter.is_whitespace() || letter.is_control() || "\"<>`{}|^“”„«»「」《》".contains(letter)
    };
    let whole = text.find(ends).map_or(text, |end| &text[..end]);
    let colon = whole.find(':').unwrap_or(0) + 1;
    let slashes = whole[colon..].find(|letter| !"/\\".contains(letter));
    let body = colon + slashes.unwrap_or(0);
    let cut = match whole[body..].find('\\').map(|at| body + at) {
        Some(at) if !whole[at..].contains('@') => &whole[..at],
        _ => whole,
    };
    let mut trimmed = cut.trim_end_matches(|letter| ".,;:!?'*_~\\…’。，、）".contains(letter));
    for (open, close) in [('(', ')'), ('[', ']')] {
        while trimmed.ends_with(close)
            && trimmed.matches(close).count() > trimmed.matches(open).count()
        {
            trimmed =
                trimmed[..trimmed.len() - 1].trim_end_matches(|letter| ".,;:!?'".contains(letter));
        }
    }
    trimmed
}

fn address(written: &str, host: Result<String, NoHost>) -> Result<Address, Unclear> {
    let shown = written.replace(UNKNOWN, "…");
    match host {
        Ok(host) => Ok(Address { url: shown, host }),
        Err(why) => Err(Unclear {
            address: short(&shown),
            why,
        }),
    }
}

/// `user@host:path`: the user and host.
fn of_copy(text: &str) -> Option<&str> {
    let (place, path) = text.split_once(':')?;
    let (user, host) = place.split_once('@')?;
    let is_user = !user.is_empty()
        && user
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "._-+".contains(letter));
    // Digits after the colon are a port, and `a@b:80` is a web address with a user.
    let is_path = !path.starts_with(|first: char| first.is_ascii_digit()) || path.contains('/');
    (is_user && is_path && !host.is_empty() && !host.contains('/')).then_some(place)
}

/// Whether a text without a scheme begins with something like a host.
fn is_bare(text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let host = &text[..end];
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "0"));
    let is_port = port.chars().all(|digit| digit.is_ascii_digit());
    is_port && !name.contains(':') && (name.contains('.') || name == "localhost")
}

/// The host of a whole address.
fn host_of(text: &str) -> Result<String, NoHost> {
    let odd = |letter: char| letter.is_control() || letter.is_whitespace() || is_invisible(letter);
    if text.contains(odd) {
        return Err(NoHost::Odd);
    }
    let (scheme, rest) = text.split_once(':').ok_or(NoHost::Schemeless)?;
    if scheme.eq_ignore_ascii_case("file") {
        return Err(NoHost::File);
    }
    let rest = rest.strip_prefix("//").ok_or(NoHost::Beginless)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let before_path = after.split('/').next().unwrap_or(after);
    let is_forked = before_path.contains('@') || authority.matches('@').count() > 1;
    if authority.is_empty() || text.contains('\\') || is_forked {
        return Err(NoHost::Forked);
    }
    if authority.contains(UNKNOWN) {
        return Err(NoHost::Unknown);
    }
    let named = authority.rsplit('@').next().unwrap_or(authority);
    if is_octal(named) {
        return Err(NoHost::Octal);
    }
    let url = Url::parse(text).map_err(|_| NoHost::Unreadable)?;
    let name = usual(&url)?;
    Ok(match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name,
    })
}

/// The host in its usual form: see [`longrein_protocol::gate::UrlFact::host`].
fn usual(url: &Url) -> Result<String, NoHost> {
    let unreadable = NoHost::Unreadable;
    match url.host().ok_or(NoHost::Missing)? {
        Host::Domain(name) if url_is_special(url) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_whole = !name.is_empty() && !name.ends_with('.');
            is_whole
                .then(|| name.to_ascii_lowercase())
                .ok_or(unreadable)
        }
        // Hosts of other schemes are kept as written; as that of a web address it is made usual.
        Host::Domain(name) => {
            let web = Url::parse(&format!("http://{name}")).map_err(|_| unreadable)?;
            let is_host_only = web.path() == "/" && web.username().is_empty();
            if is_host_only && web.host().is_some() {
                usual(&web)
            } else {
                Err(unreadable)
            }
        }
        Host::Ipv4(number) => Ok(number.to_string()),
        Host::Ipv6(number) => Ok(match number.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string(),
            None => format!("[{number}]"),
        }),
    }
}

fn url_is_special(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp")
}

/// Whether a host is a number with a part that begins with `0`: octal for some, decimal for others.
fn is_octal(named: &str) -> bool {
    let host = named.split(':').next().unwrap_or(named);
    let mut parts = host.split('.').filter(|part| !part.is_empty());
    let is_number = |part: &str| {
        let digits = part.trim_start_matches("0x").trim_start_matches("0X");
        digits.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    let padded = |part: &str| {
        part.len() > 1 && part.starts_with('0') && part.chars().all(|digit| digit.is_ascii_digit())
    };
    host.split('.')
        .filter(|part| !part.is_empty())
        .all(is_number)
        && parts.any(padded)
}

/// The host of a rule, and its port where it names one. `None` when it is anything else: a scheme,
/// a path, a user, a `*` within.
pub(super) fn of_rule(text: &str) -> Option<(String, Option<u16>)> {
    if text.is_empty() || text.contains(['/', '\\', '@', '?', '#', '*']) {
        return None;
    }
    let odd = |letter: char| letter.is_control() || letter.is_whitespace() || is_invisible(letter);
    if text.contains(odd) {
        return None;
    }
    // With this scheme, 80 is written like every other port.
    let url = Url::parse(&format!("https://{text}")).ok()?;
    let name = usual(&url).ok()?;
    let says_own = text.ends_with(":443").then_some(443);
    Some((name, url.port().or(says_own)))
}

/// Takes the port from a host as the facts have it.
pub(super) fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (host, None),
        },
        _ => (host, None),
    }
}

/// The port that an address has by its scheme.
pub(super) fn own_port(url: &str) -> Option<u16> {
    let (scheme, _) = url.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        "ssh" => Some(22),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_is_an_address_gives_its_real_host_or_none() {
        let rows: &[(&str, Result<&str, ()>)] = &[
            ("https://example.org/a", Ok("example.org")),
            ("HTTPS://EXAMPLE.ORG", Ok("example.org")),
            ("https://example.org.:443/", Ok("example.org")),
            ("https://example.org:8443/", Ok("example.org:8443")),
            ("http://example.org:80/", Ok("example.org")),
            ("http://example.org:443/", Ok("example.org:443")),
            ("https://good.com@evil.com/", Ok("evil.com")),
            ("https://good.com:pw@evil.com/", Ok("evil.com")),
            ("https://a@good.com@evil.com/", Err(())),
            ("https://evil.com#good.com", Ok("evil.com")),
            ("https://evil.com#@good.com/", Err(())),
            ("https://evil.com?@good.com/", Err(())),
            ("https://evil.com/?x=a@good.com", Ok("evil.com")),
            ("https://evil.com\\@good.com/", Err(())),
            ("https:\\\\evil.com/", Err(())),
            ("https:evil.com", Err(())),
            ("https:///evil.com", Err(())),
            ("https://evil\t.com/", Err(())),
            ("https://ev\nil.com/", Err(())),
            (" https://example.org ", Ok("example.org")),
            ("http://[::1]/", Ok("[::1]")),
            ("http://[::1]:8080/", Ok("[::1]:8080")),
            ("http://[::ffff:127.0.0.1]/", Ok("127.0.0.1")),
            ("http://2130706433/", Ok("127.0.0.1")),
            ("http://0x7f.1/", Ok("127.0.0.1")),
            ("http://0177.0.0.1/", Err(())),
            ("http://127.0.0.01/", Err(())),
            ("https://b\u{fc}cher.example/", Ok("xn--bcher-kva.example")),
            ("https://g\u{43e}\u{43e}d.com/", Ok("xn--gd-fmca.com")),
            ("https://\u{ff47}ood.com/", Ok("good.com")),
            ("https://go\u{200b}od.com/", Err(())),
            ("https://%67ood.com/", Ok("good.com")),
            ("git@example.org:repo.git", Ok("example.org")),
            ("ssh://git@EXAMPLE.org:2222/repo", Ok("example.org:2222")),
            ("ftp://example.org/f", Ok("example.org")),
            ("wss://example.org/s", Ok("example.org")),
            ("git://%65xample.org/x", Ok("example.org")),
            ("example.org/path", Ok("example.org")),
            ("localhost:3000/x", Ok("localhost:3000")),
            ("//example.org/x", Ok("example.org")),
            ("file:///etc/passwd", Err(())),
            ("data:text/plain,x", Err(())),
            ("javascript:alert(1)", Err(())),
            ("mailto:a@example.org", Err(())),
            ("notes", Err(())),
            ("https://", Err(())),
        ];
        for (text, expected) in rows {
            let host = declared(text).map(|address| address.host);
            let got = host.as_deref().map_err(|_| ());
            assert_eq!(got, *expected, "{text:?}: {host:?}");
        }
    }

    #[test]
    fn addresses_are_found_in_running_text_as_written() {
        for (text, expected) in [
            (
                "see https://a.org/x, and (http://b.org/y).",
                "https://a.org/x http://b.org/y",
            ),
            ("[x](https://a.org/w_(x))", "https://a.org/w_(x)"),
            ("{\"to\":\"wss://a.org\"}", "wss://a.org"),
            ("print('https://a.org/\\n')", "https://a.org/"),
            ("https://a.org\\@evil.com", "?"),
            ("http:/evil.com http:\\\\evil.com", "? ?"),
            ("xhttps://a.org shttp: //", ""),
            ("Http://A.org", "Http://A.org"),
            ("a: b: c://d", ""),
            ("links begin with https:// or http:\\\\", ""),
            ("http://{host}/x and <https://>", ""),
            (
                "“https://a.org/x”, https://b.org…",
                "https://a.org/x https://b.org",
            ),
        ] {
            let found: Vec<String> = found_in(text)
                .into_iter()
                .map(|found| found.map_or("?".to_owned(), |address| address.url))
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_names_a_host_and_nothing_more() {
        for (text, expected) in [
            ("Example.org", Some(("example.org", None))),
            ("example.org:8080", Some(("example.org", Some(8080)))),
            ("example.org:443", Some(("example.org", Some(443)))),
            ("[::1]:80", Some(("[::1]", Some(80)))),
            ("b\u{fc}cher.example", Some(("xn--bcher-kva.example", None))),
            ("https://example.org", None),
            ("example.org/x", None),
            ("a@example.org", None),
            ("exa*mple.org", None),
            ("", None),
        ] {
            let read = of_rule(text);
            let got = read.as_ref().map(|(name, port)| (name.as_str(), *port));
            assert_eq!(got, expected, "{text}");
        }
    }
}
