//! What paths are accepted, and that sets of file rules agree with asking path by path.

use alloc::{format, string::ToString, vec::Vec};

use proptest::prelude::*;

use super::*;
use crate::testing::{all_paths, any_files, any_rules, expected_access, path};

#[test]
fn absolute_paths_without_tricks_are_accepted_as_they_are() {
    for good in [
        "/",
        "/data",
        "/data/x.txt",
        "/...",
        "/.hidden",
        "/a..b",
        "/a b",
        "/ä",
        "/~",
        "/a:b",
    ] {
        assert_eq!(GuestPath::new(good).unwrap().as_str(), good);
        assert_eq!(good.parse::<GuestPath>().unwrap().to_string(), good);
    }
}

#[test]
fn relative_and_empty_paths_are_refused() {
    for bad in [
        "", ".", "..", "data", "./data", "../data", " /data", "C:\\data", "\0/",
    ] {
        let relative = GuestPathError::Relative {
            path: bad.to_string(),
        };
        assert_eq!(GuestPath::new(bad), Err(relative), "{bad:?}");
    }
}

#[test]
fn parts_that_could_lead_elsewhere_are_refused() {
    let bad = [
        "//",
        "//data",
        "/data/",
        "/data//x",
        "/.",
        "/..",
        "/data/..",
        "/data/../etc",
        "/./data",
        "/data/.",
        "/\0",
        "/data\0",
        "/data/x\0.txt",
        "/data/..\0",
    ];
    for bad in bad {
        let part = GuestPathError::Part {
            path: bad.to_string(),
        };
        assert_eq!(GuestPath::new(bad), Err(part), "{bad:?}");
    }
}

#[test]
fn length_is_counted_in_bytes_and_ends_at_4096() {
    let of_length = |length: usize| format!("/{}", "a".repeat(length - 1));
    assert!(GuestPath::new(&of_length(4096)).is_ok());
    let error = GuestPath::new(&of_length(4097)).unwrap_err();
    assert_eq!(error, GuestPathError::TooLong { length: 4097 });
    assert_eq!(
        error.to_string(),
        "path too long: expected at most 4096 bytes, found 4097"
    );
    assert!(GuestPath::new(&format!("/{}", "ä".repeat(2048))).is_err());
}

#[test]
fn deep_paths_are_compared_to_their_end() {
    let deep = path(&"/d".repeat(300));
    let deeper = path(&"/d".repeat(2048));
    assert!(deeper.is_within(&deep) && !deep.is_within(&deeper));
    let files = Files::one(deep.clone(), Access::Read);
    assert_eq!(files.access(&deeper), Some(Access::Read));
    assert_eq!(files.access(&path(&"/d".repeat(299))), None);
}

#[test]
fn path_errors_show_no_raw_control_characters() {
    let error = |text: &str| GuestPath::new(text).unwrap_err().to_string();
    assert_eq!(
        error("data"),
        "invalid path `data`: expected an absolute path"
    );
    assert_eq!(
        error("\u{1b}[2J"),
        "invalid path `\\u{1b}[2J`: expected an absolute path"
    );
    assert_eq!(
        error("/a/../b"),
        "invalid path `/a/../b`: it has an empty, `.`, `..` or NUL part"
    );
    assert_eq!(
        error("/\0\n"),
        "invalid path `/\\u{0}\\n`: it has an empty, `.`, `..` or NUL part"
    );
}

#[test]
fn sibling_with_the_same_beginning_is_not_within() {
    let cases = [
        ("/data", "/data", true),
        ("/data/x", "/data", true),
        ("/data", "/", true),
        ("/", "/", true),
        ("/", "/data", false),
        ("/data-secret", "/data", false),
        ("/data-secret/x", "/data", false),
        ("/database", "/data", false),
        ("/data.bak", "/data", false),
        ("/Data/x", "/data", false),
        ("/x/data", "/data", false),
    ];
    for (inner, outer, within) in cases {
        assert_eq!(
            path(inner).is_within(&path(outer)),
            within,
            "{inner} in {outer}"
        );
        let access = Files::one(path(outer), Access::Read).access(&path(inner));
        assert_eq!(access.is_some(), within, "{inner} in {outer}");
    }
}

#[test]
fn redundant_rules_go_and_wider_access_below_stays() {
    let rule = |text: &str, access| FileRule {
        path: path(text),
        access,
    };
    let files = Files::new([
        rule("/data/x", Access::Read),
        rule("/data/y", Access::ReadWrite),
        rule("/data-secret", Access::Read),
        rule("/data", Access::Read),
        rule("/data", Access::Read),
        rule("/tmp", Access::Read),
        rule("/tmp", Access::ReadWrite),
    ]);
    let shown: Vec<_> = files.rules().iter().map(ToString::to_string).collect();
    let expected = [
        "/data:read",
        "/data-secret:read",
        "/data/y:read-write",
        "/tmp:read-write",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_hundred_thousand_rules_are_quick() {
    let rules = |side: &str| {
        let rule = |n| FileRule {
            path: path(&format!("/{side}/{n}")),
            access: Access::Read,
        };
        Files::new((0..100_000).map(rule))
    };
    let (files, others) = (rules("a"), rules("b"));
    assert_eq!(files.intersect(&files), files);
    assert_eq!(files.intersect(&others), Files::default());
    assert_eq!(files.missing(&others), others.rules().first());
}

proptest! {
    #[test]
    fn no_text_makes_a_path_panic(text in "[/.a\0\\PC]{0,20}") {
        if let Ok(path) = GuestPath::new(&text) {
            prop_assert_eq!(path.as_str(), text.as_str());
            prop_assert!(!text.split('/').any(|part| part == ".."));
        }
    }

    #[test]
    fn dropping_redundant_rules_changes_no_access(rules in any_rules()) {
        let files = Files::new(rules.clone());
        for at in all_paths() {
            prop_assert_eq!(files.access(&at), expected_access(&rules, &at), "{}", at);
        }
        prop_assert_eq!(&Files::new(files.rules().to_vec()), &files);
    }

    #[test]
    fn intersection_allows_at_each_path_what_both_allow(a in any_files(), b in any_files()) {
        let both = a.intersect(&b);
        for at in all_paths() {
            prop_assert_eq!(both.access(&at), a.access(&at).min(b.access(&at)), "{}", at);
        }
    }

    #[test]
    fn missing_agrees_with_asking_path_by_path(a in any_files(), b in any_files()) {
        let within = all_paths().iter().all(|at| b.access(at) <= a.access(at));
        prop_assert_eq!(a.covers(&b), within);
        if let Some(rule) = a.missing(&b) {
            prop_assert!(b.rules().contains(rule));
            prop_assert!(a.access(&rule.path) < Some(rule.access));
        }
    }
}
