//! Which addresses are the public internet. Everything else is refused, so that no page, no
//! redirect and no name server can lead a fetch into the person's own network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Lets a [`crate::Fetcher`] reach this machine's own addresses. It is for tests with a server of
/// their own: nothing that ships may make one.
#[derive(Clone, Copy, Debug)]
pub struct LoopbackPermit(());

impl LoopbackPermit {
    /// Says in the code of a test that its server stands on this machine.
    pub const fn for_tests() -> Self {
        Self(())
    }
}

/// Why an address is not on the public internet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Special {
    /// No address: `0.0.0.0`, `::`, and the network they stand for.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network (RFC 1918).
    Private,
    /// This link only (RFC 3927, RFC 4291).
    LinkLocal,
    /// A private network of IPv6 (RFC 4193, and the older site-local addresses).
    UniqueLocal,
    /// Between a provider and its customers (RFC 6598).
    Shared,
    /// Where a cloud tells its machines their secrets.
    Metadata,
    /// For examples in documents.
    Documentation,
    /// For measuring networks (RFC 2544, RFC 5180).
    Benchmark,
    /// Many receivers at once, broadcast included.
    Multicast,
    /// An IPv4 address inside an IPv6 one, which another machine would take apart.
    Embedded,
    /// Set aside by IANA for something that is no host.
    Reserved,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "no address of a host",
            Self::Loopback => "this machine itself",
            Self::Private => "a private network",
            Self::LinkLocal => "the local link",
            Self::UniqueLocal => "a private IPv6 network",
            Self::Shared => "a provider's own network",
            Self::Metadata => "where a cloud keeps its machines' secrets",
            Self::Documentation => "an address for examples only",
            Self::Benchmark => "a network for measurements",
            Self::Multicast => "a group of receivers",
            Self::Embedded => "an IPv4 address hidden in an IPv6 one",
            Self::Reserved => "an address set aside by IANA",
        })
    }
}

/// IANA's special-purpose IPv4 addresses, and Azure's, which stands among the public ones.
const SPECIAL_V4: &[(Ipv4Addr, u32, Special)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, Special::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Special::Private),
    (Ipv4Addr::new(100, 100, 100, 200), 32, Special::Metadata),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Special::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Special::Loopback),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Special::Metadata),
    (Ipv4Addr::new(169, 254, 169, 254), 32, Special::Metadata),
    (Ipv4Addr::new(169, 254, 170, 2), 32, Special::Metadata),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Special::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Special::Private),
    (Ipv4Addr::new(192, 0, 0, 192), 32, Special::Metadata),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Special::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Special::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Special::Reserved),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Special::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Special::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Special::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Special::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Special::Multicast),
    (Ipv4Addr::new(255, 255, 255, 255), 32, Special::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Special::Reserved),
];

/// IANA's special-purpose IPv6 addresses. What is outside `2000::/3` is refused without a line.
const SPECIAL_V6: &[(Ipv6Addr, u32, Special)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Special::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Special::Loopback),
    // Compatible, mapped, translated: all of ::/32 that says an IPv4 address.
    (Ipv6Addr::UNSPECIFIED, 32, Special::Embedded),
    // NAT64 inside one network (RFC 8215), where the IPv4 address may stand anywhere.
    (v6([0x64, 0xff9b, 1, 0]), 48, Special::Embedded),
    (v6([0x100, 0, 0, 0]), 32, Special::Reserved),
    // Teredo.
    (v6([0x2001, 0, 0, 0]), 32, Special::Embedded),
    (v6([0x2001, 2, 0, 0]), 48, Special::Benchmark),
    (v6([0x2001, 0xdb8, 0, 0]), 32, Special::Documentation),
    (v6([0x2001, 0, 0, 0]), 23, Special::Reserved),
    // 6to4.
    (v6([0x2002, 0, 0, 0]), 16, Special::Embedded),
    (v6([0x3fff, 0, 0, 0]), 20, Special::Documentation),
    (
        Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
        128,
        Special::Metadata,
    ),
    (v6([0xfc00, 0, 0, 0]), 7, Special::UniqueLocal),
    (v6([0xfe80, 0, 0, 0]), 10, Special::LinkLocal),
    (v6([0xfec0, 0, 0, 0]), 10, Special::UniqueLocal),
    (v6([0xff00, 0, 0, 0]), 8, Special::Multicast),
];

/// Where networks without IPv4 find the IPv4 internet (RFC 6052): the last 32 bits count.
const NAT64: (Ipv6Addr, u32) = (v6([0x64, 0xff9b, 0, 0]), 96);
/// What IANA gives out to hosts.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (v6([0x2000, 0, 0, 0]), 3);

const fn v6(start: [u16; 4]) -> Ipv6Addr {
    Ipv6Addr::new(start[0], start[1], start[2], start[3], 0, 0, 0, 0)
}

/// Why this address is not on the public internet; `None` when it is.
pub fn special(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Special> {
    SPECIAL_V4
        .iter()
        .find(|(network, prefix, _)| {
            address.to_bits() >> (32 - prefix) == network.to_bits() >> (32 - prefix)
        })
        .map(|(_, _, kind)| *kind)
}

fn special_v6(address: Ipv6Addr) -> Option<Special> {
    let within = |(network, prefix): (Ipv6Addr, u32)| {
        address.to_bits() >> (128 - prefix) == network.to_bits() >> (128 - prefix)
    };
    if within(NAT64) {
        let [.., a, b, c, d] = address.octets();
        return special_v4(Ipv4Addr::new(a, b, c, d));
    }
    SPECIAL_V6
        .iter()
        .find(|(network, prefix, _)| within((*network, *prefix)))
        .map(|(_, _, kind)| *kind)
        .or_else(|| (!within(GLOBAL_UNICAST)).then_some(Special::Reserved))
}

/// What a fetcher lets through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub loopback: Option<LoopbackPermit>,
}

impl Guard {
    /// Why this address may not be reached; `None` when it may.
    pub fn refuses(self, address: IpAddr) -> Option<Special> {
        let kind = special(address)?;
        let permitted = kind == Special::Loopback && self.loopback.is_some();
        (!permitted).then_some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cases: &[(&str, Option<Special>)]) {
        for (text, expected) in cases {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(special(address), *expected, "{text}");
        }
    }

    #[test]
    fn no_ipv4_address_that_is_not_public_is_let_through() {
        check(&[
            ("0.0.0.0", Some(Special::Unspecified)),
            ("0.255.255.255", Some(Special::Unspecified)),
            ("1.0.0.0", None),
            ("9.255.255.255", None),
            ("10.0.0.0", Some(Special::Private)),
            ("10.255.255.255", Some(Special::Private)),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.64.0.0", Some(Special::Shared)),
            ("100.100.100.200", Some(Special::Metadata)),
            ("100.127.255.255", Some(Special::Shared)),
            ("100.128.0.0", None),
            ("126.255.255.255", None),
            ("127.0.0.1", Some(Special::Loopback)),
            ("127.255.255.255", Some(Special::Loopback)),
            ("128.0.0.0", None),
            ("168.63.129.16", Some(Special::Metadata)),
            ("169.253.255.255", None),
            ("169.254.0.0", Some(Special::LinkLocal)),
            ("169.254.169.254", Some(Special::Metadata)),
            ("169.254.170.2", Some(Special::Metadata)),
            ("169.255.0.0", None),
            ("172.15.255.255", None),
            ("172.16.0.0", Some(Special::Private)),
            ("172.31.255.255", Some(Special::Private)),
            ("172.32.0.0", None),
            ("192.0.0.8", Some(Special::Reserved)),
            ("192.0.0.192", Some(Special::Metadata)),
            ("192.0.2.1", Some(Special::Documentation)),
            ("192.88.99.1", Some(Special::Reserved)),
            ("192.167.255.255", None),
            ("192.168.0.1", Some(Special::Private)),
            ("192.169.0.0", None),
            ("198.17.255.255", None),
            ("198.18.0.0", Some(Special::Benchmark)),
            ("198.19.255.255", Some(Special::Benchmark)),
            ("198.51.100.7", Some(Special::Documentation)),
            ("203.0.113.7", Some(Special::Documentation)),
            ("223.255.255.255", None),
            ("224.0.0.1", Some(Special::Multicast)),
            ("239.255.255.255", Some(Special::Multicast)),
            ("240.0.0.1", Some(Special::Reserved)),
            ("255.255.255.255", Some(Special::Multicast)),
        ]);
    }

    #[test]
    fn no_ipv6_address_that_is_not_public_is_let_through() {
        check(&[
            ("::", Some(Special::Unspecified)),
            ("::1", Some(Special::Loopback)),
            // Compatible, mapped and translated forms, also of public addresses.
            ("::127.0.0.1", Some(Special::Embedded)),
            ("::8.8.8.8", Some(Special::Embedded)),
            ("::ffff:127.0.0.1", Some(Special::Embedded)),
            ("::ffff:8.8.8.8", Some(Special::Embedded)),
            ("::ffff:0:10.0.0.1", Some(Special::Embedded)),
            // NAT64: the address inside decides.
            ("64:ff9b::8.8.8.8", None),
            ("64:ff9b::10.0.0.1", Some(Special::Private)),
            ("64:ff9b::169.254.169.254", Some(Special::Metadata)),
            ("64:ff9b::127.0.0.1", Some(Special::Loopback)),
            ("64:ff9b:1::8.8.8.8", Some(Special::Embedded)),
            ("100::1", Some(Special::Reserved)),
            ("2001::1", Some(Special::Embedded)),
            ("2001:2::1", Some(Special::Benchmark)),
            ("2001:20::1", Some(Special::Reserved)),
            ("2001:1ff::1", Some(Special::Reserved)),
            ("2001:200::1", None),
            ("2001:db8::1", Some(Special::Documentation)),
            ("2001:4860:4860::8888", None),
            ("2002:7f00:1::", Some(Special::Embedded)),
            ("2002:808:808::", Some(Special::Embedded)),
            ("2606:4700::1111", None),
            ("3fff::1", Some(Special::Documentation)),
            ("3fff:1000::1", None),
            ("4000::1", Some(Special::Reserved)),
            ("5f00::1", Some(Special::Reserved)),
            ("fc00::1", Some(Special::UniqueLocal)),
            ("fd00:ec2::254", Some(Special::Metadata)),
            ("fd12:3456::1", Some(Special::UniqueLocal)),
            ("fe80::1", Some(Special::LinkLocal)),
            ("fec0::1", Some(Special::UniqueLocal)),
            ("ff02::1", Some(Special::Multicast)),
        ]);
    }

    #[test]
    fn the_permit_of_a_test_opens_this_machine_and_nothing_else() {
        let guard = Guard {
            loopback: Some(LoopbackPermit::for_tests()),
        };
        for (text, refused) in [
            ("127.0.0.1", None),
            ("::1", None),
            ("10.0.0.1", Some(Special::Private)),
            ("::ffff:127.0.0.1", Some(Special::Embedded)),
            // It is another machine that would take this apart, not this one.
            ("64:ff9b::10.0.0.1", Some(Special::Private)),
        ] {
            assert_eq!(guard.refuses(text.parse().unwrap()), refused, "{text}");
        }
        let shut = Guard { loopback: None };
        assert_eq!(
            shut.refuses(Ipv4Addr::LOCALHOST.into()),
            Some(Special::Loopback)
        );
    }
}
