//! Which hosts an agent's commands may reach.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

/// The ports of a rule that names none.
const PORTS: [u16; 2] = [80, 443];
/// The longest host name.
const HOST_MAX_CHARS: usize = 253;

/// One line of an agent's list: `example.org`, `example.org:8443`, or `*.example.org` for all
/// names below it and not itself. Without a port: 80 and 443.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    host: String,
    /// Whether it stands for the names below.
    below: bool,
    port: Option<u16>,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{line}' names no host: {why}")]
pub struct NoHostRule {
    line: String,
    why: &'static str,
}

impl FromStr for HostRule {
    type Err = NoHostRule;

    fn from_str(line: &str) -> Result<Self, NoHostRule> {
        let fault = |why| NoHostRule {
            line: line.to_owned(),
            why,
        };
        // An address with colons and without a port needs no brackets.
        let (host, port) = match line.parse::<Ipv6Addr>() {
            Ok(_) => (line, None),
            Err(_) => split(line).ok_or_else(|| fault("its port is none"))?,
        };
        let (below, host) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, host),
        };
        let host = normal(host).ok_or_else(|| {
            fault("write it as 'example.org', with no address path, in ASCII (xn--)")
        })?;
        if below && (!host.contains('.') || host.parse::<Ipv4Addr>().is_ok()) {
            return Err(fault("a star stands only before a name with a dot"));
        }
        Ok(Self { host, below, port })
    }
}

impl HostRule {
    /// Whether a host, as [`normal`] gives it, and a port are meant.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let is_host = if self.below {
            let name = host.strip_suffix(self.host.as_str());
            name.is_some_and(|name| name.len() > 1 && name.ends_with('.'))
        } else {
            host == self.host
        };
        is_host && self.port.map_or(PORTS.contains(&port), |only| only == port)
    }
}

impl HostRule {
    /// Whether all that this means is meant by another.
    pub fn is_within(&self, other: &Self) -> bool {
        let same = self.host == other.host && self.below == other.below;
        let above = other.below && {
            let name = self.host.strip_suffix(other.host.as_str());
            name.is_some_and(|name| name.len() > 1 && name.ends_with('.'))
        };
        let ports = match (self.port, other.port) {
            (own, of) if own == of => true,
            (Some(port), None) => PORTS.contains(&port),
            _ => false,
        };
        (same || above) && ports
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        match self.port {
            Some(port) => write!(out, "{star}{}", with_port(&self.host, port)),
            None => write!(out, "{star}{}", self.host),
        }
    }
}

/// A host with a port as it is written: an address with colons stands in brackets.
pub fn with_port(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// Host and port of `host`, `host:port`, `[v6]` or `[v6]:port`.
pub fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (
                host,
                rest.strip_prefix(':')
                    .or_else(|| rest.is_empty().then_some(""))?,
            )
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if port.is_empty() {
        return Some((host, None)).filter(|_| !text.ends_with(':'));
    }
    // A sign would be taken as a part of the number.
    let port = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some((host, Some(port.parse().ok().filter(|port| *port != 0)?)))
}

/// A host in the one form in which hosts are compared: lower case, without the last dot, addresses
/// as they are usually written. `None` for what is no host.
pub fn normal(host: &str) -> Option<String> {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return Some(address.to_string());
    }
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let fits = host.len() <= HOST_MAX_CHARS && host.split('.').all(is_label);
    // `127.1` and `0x7f.1` are addresses to some resolvers; as a name they mean nothing.
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (fits && (!is_number || host.parse::<Ipv4Addr>().is_ok())).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(rule: &str, host: &str, port: u16) -> bool {
        let host = normal(host).expect("it is a host");
        rule.parse::<HostRule>()
            .expect("it is a rule")
            .covers(&host, port)
    }

    #[test]
    fn a_host_is_meant_in_every_spelling_and_nothing_beside_it() {
        assert!(covers("Example.org", "example.ORG.", 443));
        assert!(covers("example.org", "example.org", 80));
        assert!(!covers("example.org", "example.org", 8080));
        assert!(covers("example.org:8080", "example.org", 8080));
        assert!(!covers("example.org:8080", "example.org", 443));
        assert!(!covers("example.org", "a.example.org", 443));
        assert!(!covers("example.org", "example.org.evil.net", 443));
    }

    #[test]
    fn a_star_stands_for_the_names_below_and_not_for_a_longer_word() {
        assert!(covers("*.example.org", "a.b.example.org", 443));
        assert!(!covers("*.example.org", "example.org", 443));
        assert!(!covers("*.example.org", "badexample.org", 443));
    }

    #[test]
    fn what_is_no_host_is_no_rule() {
        for line in [
            "",
            "*",
            "*.org",
            "a b",
            "http://a.org",
            "a.org/x",
            "a.org:",
            "a.org:0",
            "a.org:+80",
            "a.org:99999",
            "b\u{fc}cher.de",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "[::1",
            "a..b",
            "user@a.org",
            "*.1.2.3.4",
        ] {
            assert!(line.parse::<HostRule>().is_err(), "{line}");
        }
    }

    #[test]
    fn a_rule_is_shown_as_it_is_written() {
        for line in [
            "example.org",
            "*.example.org:8443",
            "10.0.0.1:80",
            "[2001:db8::1]:8443",
            "2001:db8::1",
        ] {
            let rule: HostRule = line.parse().expect("it is a rule");
            assert_eq!(rule.to_string(), line);
            assert_eq!(rule.to_string().parse(), Ok(rule), "and is read so again");
        }
        let bracketed: HostRule = "[2001:DB8::1]".parse().expect("it is a rule");
        assert_eq!(bracketed.to_string(), "2001:db8::1");
    }
}
