//! What host patterns are accepted, and that sets of them agree with asking host by host.

use alloc::{format, string::ToString, vec::Vec};

use proptest::prelude::*;

use super::*;
use crate::testing::{all_addresses, any_net, expected_reach, host};

fn net(hosts: &[&str]) -> Net {
    Net::hosts(hosts.iter().map(|text| host(text)))
}

#[test]
fn canonical_hosts_are_accepted_and_shown_as_written() {
    let good = [
        "localhost",
        "example.com",
        "api.example.com",
        "*.example.com",
        "*.com",
        "example.com:1",
        "example.com:65535",
        "*.example.com:8443",
        "xn--bcher-kva.example",
        "a_b.example",
        "1.example",
        "127.0.0.1",
        "127.0.0.1:8080",
        "r3---sn.example",
        "0xfoo.example",
        "0xyz",
    ];
    for good in good {
        assert_eq!(host(good).to_string(), good);
    }
}

#[test]
fn second_spellings_and_non_hosts_are_refused() {
    let bad = [
        "",
        "*",
        "*.",
        "*.*",
        "*.*.x",
        "**.x",
        "a.*.x",
        "*x",
        "x.*",
        ".",
        ".x",
        "x.",
        "a..x",
        "*..x",
        "Example.com",
        "EXAMPLE.COM",
        "*.Example.com",
        "example.com.",
        "example.com.:443",
        "user@example.com",
        "user:pw@example.com",
        "user:80@example.com:80",
        "https://example.com",
        "example.com/path",
        "example.com?q",
        "example.com#f",
        "exa mple.com",
        " example.com",
        "example.com\n",
        "example.com\0",
        "::1",
        "[::1]",
        "[::1]:80",
        "::ffff:127.0.0.1",
        "fe80::1%eth0",
        "fd00::",
        "example.com:",
        "example.com:0",
        "example.com:00",
        "example.com:080",
        "example.com:+80",
        "example.com:-1",
        "example.com:65536",
        "example.com:80:80",
        "example.com:8o",
        "example.com: 80",
        ":80",
        ":",
        "*:80",
        "*.:80",
        "bücher.example",
        "ｅxample.com",
        "еxample.com",
        "example\u{3002}com",
        "-x.example",
        "x-.example",
        "%65xample.com",
        "a,b",
    ];
    for bad in bad {
        assert!(bad.parse::<HostPattern>().is_err(), "{bad:?}");
    }
}

#[test]
fn other_spellings_of_an_address_are_refused() {
    let bad = [
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "127.0.0.0x1",
        "127.0.0.0x",
        "256.0.0.1",
        "1.2.3.4.5",
        "127.0.0.01",
        "*.0.0.1",
        "*.1",
        "*.127.0.0.1",
        "example.1",
    ];
    for bad in bad {
        assert!(bad.parse::<HostPattern>().is_err(), "{bad:?}");
    }
}

#[test]
fn names_end_at_253_bytes_and_labels_at_63() {
    let label = |length| "a".repeat(length);
    assert!(label(63).parse::<HostPattern>().is_ok());
    assert!(label(64).parse::<HostPattern>().is_err());
    let long = [label(63), label(63), label(63), label(61)].join(".");
    assert_eq!(long.len(), 253);
    assert!(long.parse::<HostPattern>().is_ok());
    assert!(format!("{long}a").parse::<HostPattern>().is_err());
}

#[test]
fn host_errors_are_short_and_show_no_raw_control_characters() {
    let error = |text: &str| text.parse::<HostPattern>().unwrap_err().to_string();
    let rest = "expected a name such as `api.example.com`, `*.example.com` or `example.com:8443`";
    assert_eq!(
        error("Example.com"),
        format!("invalid host `Example.com`: {rest}")
    );
    assert_eq!(
        error("\u{1b}]0;x\u{7}"),
        format!("invalid host `\\u{{1b}}]0;x\\u{{7}}`: {rest}")
    );
    assert_eq!(
        error(&"A".repeat(100_000)),
        format!("invalid host `{}…`: {rest}", "A".repeat(79))
    );
}

#[test]
fn wildcards_cover_whole_labels_below_them_and_ports_must_agree() {
    let cases = [
        ("example.com", "example.com", true),
        ("example.com", "a.example.com", false),
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "*.example.com", true),
        ("*.example.com", "*.a.example.com", true),
        ("*.a.example.com", "*.example.com", false),
        ("*.example.com", "example.com", false),
        ("*.example.com", "evilexample.com", false),
        ("*.example.com", "example.com.evil", false),
        ("a.example.com", "*.example.com", false),
        ("*.com", "example.com", true),
        ("example.com", "example.com:443", true),
        ("example.com:443", "example.com", false),
        ("example.com:443", "example.com:443", true),
        ("example.com:443", "example.com:8443", false),
        ("*.example.com:443", "a.example.com:443", true),
        ("*.example.com:443", "a.example.com", false),
        ("*.example.com", "a.example.com:443", true),
    ];
    for (wide, narrow, covers) in cases {
        assert_eq!(
            host(wide).covers(&host(narrow)),
            covers,
            "{wide} over {narrow}"
        );
        let missing = net(&[wide]).missing(&net(&[narrow]));
        assert_eq!(
            missing,
            (!covers).then(|| narrow.to_string()),
            "{wide} over {narrow}"
        );
    }
}

#[test]
fn patterns_meet_even_when_neither_covers_the_other() {
    let both = net(&["*.example.com:8443"]).intersect(&net(&["a.example.com", "b.example.org"]));
    assert_eq!(both, net(&["a.example.com:8443"]));
    let apart = net(&["*.example.com:8443"]).intersect(&net(&["a.example.com:443"]));
    assert_eq!(apart, Net::None);
}

#[test]
fn redundant_patterns_go() {
    let hosts = [
        "*.example.com",
        "a.example.com:80",
        "*.a.example.com",
        "example.com",
        "example.com:1",
    ];
    assert_eq!(net(&hosts).to_string(), "*.example.com,example.com");
}

#[test]
fn an_empty_list_of_hosts_grants_no_network() {
    let empty = Net::Hosts(BTreeSet::new());
    assert_eq!(net(&[]), Net::None);
    assert!(empty.is_none() && Net::None.is_none() && !Net::Any.is_none());
    assert_eq!(empty.to_string(), "none");
    assert_eq!(empty.intersect(&Net::Any), Net::None);
    assert_eq!(Net::None.missing(&empty), None);
    assert_eq!(empty.missing(&net(&["x"])), Some("x".to_string()));
}

#[test]
fn any_network_is_missing_from_every_list() {
    assert_eq!(net(&["*.com"]).missing(&Net::Any), Some("*".to_string()));
    assert_eq!(Net::None.missing(&Net::Any), Some("*".to_string()));
    assert_eq!(Net::Any.missing(&Net::Any), None);
    assert_eq!(Net::Any.to_string(), "*");
}

#[test]
fn a_hundred_thousand_hosts_within_others_are_quick() {
    let many = |port| Net::hosts((0..100_000).map(|n| host(&format!("h{n}.example{port}"))));
    let (narrow, wide) = (many(":443"), many(""));
    assert_eq!(wide.intersect(&narrow), narrow);
    assert_eq!(narrow.intersect(&wide), narrow);
}

proptest! {
    #[test]
    fn an_accepted_host_is_shown_as_written(text in "[*.a-z0:1@\\PC]{0,12}") {
        if let Ok(pattern) = text.parse::<HostPattern>() {
            prop_assert_eq!(pattern.to_string(), text);
        }
    }

    #[test]
    fn intersection_reaches_what_both_reach(a in any_net(), b in any_net()) {
        let both = a.intersect(&b);
        for at in all_addresses() {
            let expected = expected_reach(&a, &at) && expected_reach(&b, &at);
            prop_assert_eq!(expected_reach(&both, &at), expected, "{:?}", at);
        }
    }

    #[test]
    fn missing_agrees_with_asking_host_by_host(a in any_net(), b in any_net()) {
        let reached = |at: &_| expected_reach(&b, at) <= expected_reach(&a, at);
        let within = all_addresses().iter().all(reached);
        prop_assert_eq!(a.missing(&b).is_none(), within);
    }

    #[test]
    fn covering_pairs_are_those_that_wider_lists(a in any_net(), b in any_net()) {
        let hosts = |net: &Net| match net {
            Net::Hosts(hosts) => hosts.iter().cloned().collect(),
            Net::None | Net::Any => Vec::new(),
        };
        for (x, y) in hosts(&a).iter().flat_map(|x| hosts(&b).into_iter().map(move |y| (x, y))) {
            prop_assert_eq!(x.covers(&y), y.wider().any(|wide| wide == *x));
        }
    }
}
