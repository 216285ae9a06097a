//! An address that may be fetched, as far as its letters say.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use crate::error::{AddressFault, FetchError};
use crate::guard::Guard;
use crate::limits::ADDRESS_LIMIT_BYTES;
use crate::words::{line, shown};

/// Ports on which other protocols listen, which a web address must not talk to: the list of the
/// Fetch standard, "bad port".
const PORTS_OF_OTHERS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// A web address without a fragment, whose host is not seen to be forbidden. What a name leads to
/// is checked when it is resolved.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(Url);

impl Address {
    /// Reads what somebody wrote.
    pub fn parse(text: &str, guard: Guard) -> Result<Self, FetchError> {
        let text = text.trim();
        if text.len() > ADDRESS_LIMIT_BYTES {
            return Err(invalid(&line(text), AddressFault::TooLong));
        }
        let url = Url::parse(text).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => invalid(&line(text), AddressFault::NoScheme),
            error => invalid(&line(text), AddressFault::Malformed(error.to_string())),
        })?;
        Self::of(url, guard)
    }

    /// Where a page at this address sends on to.
    pub fn join(&self, location: &str, guard: Guard) -> Result<Self, FetchError> {
        let location = location.trim();
        if location.len() > ADDRESS_LIMIT_BYTES {
            return Err(invalid(&line(location), AddressFault::TooLong));
        }
        let url = self.0.join(location).map_err(|error| {
            invalid(&line(location), AddressFault::Malformed(error.to_string()))
        })?;
        Self::of(url, guard)
    }

    fn of(mut url: Url, guard: Guard) -> Result<Self, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme().to_owned();
            return Err(invalid(&shown(&url), AddressFault::Scheme(scheme)));
        }
        if !url.username().is_empty() || url.password().is_some() {
            // The name and the password are not repeated.
            let host = url.host_str().unwrap_or_default();
            return Err(invalid(host, AddressFault::UserInfo));
        }
        if let Some(port) = url.port().filter(|port| PORTS_OF_OTHERS.contains(port)) {
            return Err(invalid(&shown(&url), AddressFault::Port(port)));
        }
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(invalid(&shown(&url), AddressFault::NoHost)),
        };
        if let Some(address) = literal
            && let Some(kind) = guard.refuses(address)
        {
            return Err(FetchError::PrivateAddress {
                host: url.host_str().unwrap_or_default().to_owned(),
                address,
                kind,
            });
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Host and port, as the authority of its `robots.txt`.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The address for a message: one line of bounded length.
    pub fn shown(&self) -> String {
        shown(&self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

fn invalid(address: &str, fault: AddressFault) -> FetchError {
    FetchError::InvalidAddress {
        address: address.to_owned(),
        fault,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::guard::{LoopbackPermit, Special};

    const SHUT: Guard = Guard { loopback: None };

    #[track_caller]
    fn refused(text: &str, expected: &Expect) {
        let error = Address::parse(text, SHUT).map(|address| address.to_string());
        expected.assert_eq(&error.expect_err(text).to_string());
    }

    #[test]
    fn a_host_written_as_a_number_is_the_address_that_it_is() {
        for (text, expected) in [
            ("http://127.0.0.1/", Special::Loopback),
            ("http://2130706433/", Special::Loopback),
            ("http://0x7f000001/", Special::Loopback),
            ("http://0x7f.1/", Special::Loopback),
            ("http://017700000001/", Special::Loopback),
            ("http://0177.0.0.01/", Special::Loopback),
            ("http://127.1/", Special::Loopback),
            ("http://①②⑦.0.0.1/", Special::Loopback),
            ("http://0/", Special::Unspecified),
            ("http://[::1]/", Special::Loopback),
            ("http://[::ffff:7f00:1]/", Special::Embedded),
            ("http://[::ffff:127.0.0.1]:8080/", Special::Embedded),
            ("http://[64:ff9b::a9fe:a9fe]/", Special::Metadata),
            ("http://[2002:7f00:1::]/", Special::Embedded),
            (
                "http://169.254.169.254/latest/meta-data/",
                Special::Metadata,
            ),
            ("https://3232235777/", Special::Private),
        ] {
            match Address::parse(text, SHUT) {
                Err(FetchError::PrivateAddress { kind, .. }) => {
                    assert_eq!(kind, expected, "{text}");
                }
                other => panic!("{text}: {:?}", other.map(|address| address.to_string())),
            }
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused_in_words() {
        refused(
            "ftp://example.org/file",
            &expect![
                "ftp://example.org/file is not an address of a page: ftp is neither http nor https."
            ],
        );
        refused(
            "file:///etc/passwd",
            &expect![
                "file:///etc/passwd is not an address of a page: file is neither http nor https."
            ],
        );
        refused(
            "javascript:alert(1)",
            &expect![
                "javascript:alert(1) is not an address of a page: javascript is neither http nor https."
            ],
        );
        refused(
            "example.org/page",
            &expect![
                "example.org/page is not an address of a page: it does not begin with https:// or http://."
            ],
        );
        refused(
            "https://",
            &expect!["https:// is not an address of a page: empty host."],
        );
        refused(
            "http://[::1",
            &expect!["http://[::1 is not an address of a page: invalid IPv6 address."],
        );
        refused(
            "https://example.org:22/",
            &expect![
                "https://example.org:22/ is not an address of a page: port 22 belongs to another protocol."
            ],
        );
        refused(
            "https://user:secret@example.org/",
            &expect!["example.org is not an address of a page: it carries a name or a password."],
        );
    }

    #[test]
    fn an_address_without_end_is_refused_and_shown_short() {
        let long = format!("https://example.org/{}", "a".repeat(ADDRESS_LIMIT_BYTES));
        let error = Address::parse(&long, SHUT).err().unwrap().to_string();
        assert!(error.len() < 400, "{error}");
    }

    #[test]
    fn a_redirect_is_held_to_the_same_rules() {
        let from = Address::parse("https://example.org/a/b#part", SHUT).unwrap();
        assert_eq!(from.to_string(), "https://example.org/a/b");
        let to = from.join("../c?d#e", SHUT).unwrap();
        assert_eq!(to.to_string(), "https://example.org/c?d");
        for bad in ["http://10.0.0.1/", "//127.0.0.1/", "gopher://example.org/"] {
            assert!(from.join(bad, SHUT).is_err(), "{bad}");
        }
    }

    #[test]
    fn ordinary_addresses_and_ports_pass() {
        for text in [
            "http://example.org",
            "https://example.org:8443/x",
            " https://bücher.example/ ",
            "http://8.8.8.8/",
            "https://[2606:4700::1111]/",
        ] {
            assert!(Address::parse(text, SHUT).is_ok(), "{text}");
        }
        let open = Guard {
            loopback: Some(LoopbackPermit::for_tests()),
        };
        assert!(Address::parse("http://127.0.0.1:4711/", open).is_ok());
    }
}
