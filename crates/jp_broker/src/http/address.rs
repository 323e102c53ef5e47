//! What kind of network an IP address belongs to. Does not know any grant.
//!
//! After the IANA registries of special-purpose addresses (RFC 6890 and its successors).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What may be behind an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The public internet.
    Public,
    /// This machine or a network near it.
    Private(&'static str),
    /// Not an address that a request could be meant for.
    Never(&'static str),
}

/// Reduces an address that only spells an IPv4 address (`::ffff:127.0.0.1`) to that address, so that
/// there is one spelling to check and to connect to.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Tells the class of an address.
pub(super) fn classify(address: IpAddr) -> Class {
    match canonical(address) {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> Class {
    match address.octets() {
        // Linux takes 0.0.0.0 for this machine.
        [0, ..] => Class::Never("an unspecified address"),
        [127, ..] => Class::Private("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Class::Private("a private address"),
        // Clouds serve credentials at 169.254.169.254.
        [169, 254, ..] => Class::Private("a link-local address"),
        [100, 64..=127, ..] => Class::Private("a carrier's shared address"),
        [198, 18..=19, ..] => Class::Private("an address for network tests"),
        [192, 0, 0, _] => Class::Never("an address for protocols"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Class::Never("an address for documentation")
        }
        [192, 88, 99, _] => Class::Never("a relay address"),
        [224..=239, ..] => Class::Never("a multicast address"),
        [240..=255, ..] => Class::Never("a reserved address"),
        _ => Class::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> Class {
    let [a, b, c, d, e, f, g, h] = address.segments();
    match [a, b, c, d, e, f, g, h] {
        [0, 0, 0, 0, 0, 0, 0, 0] => Class::Never("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Class::Private("a loopback address"),
        // A translator at these prefixes turns the end of the address into an IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [[w, x], [y, z]] = [high.to_be_bytes(), low.to_be_bytes()];
            classify_v4(Ipv4Addr::new(w, x, y, z))
        }
        [0x64, 0xff9b, 1, ..] => Class::Private("a translator's private address"),
        [0xfc00..=0xfdff, ..] => Class::Private("a private address"),
        [0xfe80..=0xfebf, ..] => Class::Private("a link-local address"),
        [0xfec0..=0xfeff, ..] => Class::Private("a site-local address"),
        [0xff00..=0xffff, ..] => Class::Never("a multicast address"),
        // Teredo among them, which hides an IPv4 address.
        [0x2001, 0..=0x1ff, ..] => Class::Never("an address for protocols"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Class::Never("an address for documentation")
        }
        [0x2002, ..] => Class::Never("a relay address"),
        [0x2000..=0x3fff, ..] => Class::Public,
        // `::127.0.0.1` and all that was never given out.
        _ => Class::Never("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match classify(text.parse().unwrap()) {
            Class::Public => "public",
            Class::Private(_) => "private",
            Class::Never(_) => "never",
        }
    }

    #[test]
    fn each_special_range_is_known_up_to_its_edges() {
        let cases = [
            (
                "private",
                "127.0.0.1 127.255.255.255 10.0.0.0 10.255.255.255",
            ),
            (
                "private",
                "172.16.0.0 172.31.255.255 192.168.0.1 192.168.255.255",
            ),
            (
                "private",
                "169.254.169.254 100.64.0.0 100.127.255.255 198.18.0.1 198.19.255.255",
            ),
            (
                "never",
                "0.0.0.0 0.255.255.255 192.0.0.8 192.0.2.1 198.51.100.7 203.0.113.255",
            ),
            (
                "never",
                "192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255",
            ),
            (
                "public",
                "1.1.1.1 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0 172.15.255.255",
            ),
            (
                "public",
                "172.32.0.0 169.253.0.1 169.255.0.1 100.63.255.255 100.128.0.0",
            ),
            (
                "public",
                "192.0.1.1 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255",
            ),
            (
                "private",
                "::1 fc00:: fd00:ec2::254 fe80::1 febf::1 fec0::1 64:ff9b:1::a00:1",
            ),
            (
                "never",
                ":: ff02::1 2001:db8::1 3fff::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2",
            ),
            (
                "never",
                "2002:7f00:1::1 ::127.0.0.1 ::8.8.8.8 100::1 4000::1 5f00::1",
            ),
            (
                "public",
                "2606:4700:4700::1111 2001:200::1 2001:db7::1 2001:db9::1 3fff:1000::1",
            ),
        ];
        for (expected, addresses) in cases {
            for address in addresses.split(' ') {
                assert_eq!(kind(address), expected, "{address}");
            }
        }
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_address_is_judged_as_itself() {
        for (inside, expected) in [
            ("127.0.0.1", "private"),
            ("169.254.169.254", "private"),
            ("0.0.0.0", "never"),
            ("1.1.1.1", "public"),
        ] {
            assert_eq!(kind(&format!("::ffff:{inside}")), expected);
            assert_eq!(kind(&format!("64:ff9b::{inside}")), expected);
        }
    }
}
