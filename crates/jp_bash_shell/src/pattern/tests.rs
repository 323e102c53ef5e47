//! What globs match, and that hostile ones come to an end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jp_bash_system::Bounds;
use proptest::prelude::*;

use super::*;

const ALL: PatternOptions = PatternOptions {
    extglob: true,
    fold: false,
    utf8: true,
};

fn budget() -> Budget {
    Budget::new(
        Bounds::default(),
        Arc::new(AtomicBool::new(false)),
        Arc::new(|| Duration::ZERO),
    )
}

fn is_match(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern.as_bytes(), ALL)
        .matches(text.as_bytes(), &budget())
        .unwrap()
}

#[test]
fn patterns_match_as_in_bash() {
    for (pattern, text, want) in [
        ("", "", true),
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a?c", "a\u{e9}c", true),
        ("[!a-c]", "d", true),
        ("[^a-c]", "b", false),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[[:digit:][:upper:]]", "X", true),
        ("[[=a=]b]", "a", true),
        ("[[.-.]a]", "-", true),
        ("[a", "[a", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false),
        ("@(a|b)c", "bc", true),
        ("@(a|b", "@(a|b", true),
        ("?(a)b", "b", true),
        ("*(ab|c)d", "abcabd", true),
        ("+(a|b)", "", false),
        ("!(a|b)", "a", false),
        ("!(a|b)", "ab", true),
        ("!(*.c)", "x.c", false),
        ("*!(.c)", "x.c", true),
        ("+(+(a))", "aaaa", true),
        ("a@(b|@(c|d)e)f", "adef", true),
        ("[z-a]", "m", false),
        ("\\", "\\", true),
    ] {
        assert_eq!(is_match(pattern, text), want, "{pattern} on {text}");
    }
}

#[test]
fn hostile_patterns_take_no_time() {
    let many = "a".repeat(60);
    assert!(!is_match("+(+(a))b", &many));
    assert!(!is_match(
        &format!("{}b", "*a".repeat(30)),
        &"a".repeat(5000)
    ));
    assert!(!is_match(&"@(".repeat(5000), &many));
    assert!(!is_match(&"[".repeat(50_000), &many));
    assert!(is_match("!(!(!(a)))", &"b".repeat(300)));
    let deep = format!("{}a{}", "@(".repeat(5000), ")".repeat(5000));
    // Too deep to nest may count as no match; it must only come to an end.
    let _either = is_match(&deep, "a");
}

#[test]
fn ends_are_found_by_length() {
    let find = |pattern: &str, text: &str| {
        let pattern = Pattern::new(pattern.as_bytes(), ALL);
        let text = text.as_bytes();
        let budget = budget();
        [
            pattern.prefix(text, Length::Shortest, &budget).unwrap(),
            pattern.prefix(text, Length::Longest, &budget).unwrap(),
            pattern.suffix(text, Length::Shortest, &budget).unwrap(),
            pattern.suffix(text, Length::Longest, &budget).unwrap(),
        ]
    };
    assert_eq!(find("*/", "a/b/c")[..2], [Some(2), Some(4)]);
    assert_eq!(find("/*", "a/b/c")[2..], [Some(3), Some(1)]);
    assert_eq!(
        find("?", "\u{e9}x\u{e9}"),
        [Some(2), Some(2), Some(3), Some(3)]
    );
    assert_eq!(
        find("+([0-9])", "12a34"),
        [Some(1), Some(2), Some(4), Some(3)]
    );
    assert_eq!(find("*", "abc"), [Some(0), Some(3), Some(3), Some(0)]);
}

/// The reference: all ways, by plain recursion.
fn reference(nodes: &[Node], text: &[u8]) -> bool {
    let Some((node, rest)) = nodes.split_first() else {
        return text.is_empty();
    };
    (0..=text.len()).any(|n| spans(node, &text[..n]) && reference(rest, &text[n..]))
}

fn spans(node: &Node, text: &[u8]) -> bool {
    match node {
        Node::Star => true,
        Node::Ext(kind, alternatives) => {
            let once = |text: &[u8]| alternatives.iter().any(|alt| reference(alt, text));
            match kind {
                b'@' => once(text),
                b'?' => text.is_empty() || once(text),
                b'!' => !once(text),
                _ => {
                    (text.is_empty() && *kind == b'*')
                        || once(text)
                        || (1..text.len()).any(|n| once(&text[..n]) && spans(node, &text[n..]))
                }
            }
        }
        single => text.len() == 1 && simple::one(single, u32::from(text[0]), false),
    }
}

proptest! {
    #[test]
    fn patterns_agree_with_the_reference(pattern in "[ab?*()|@+!\\[\\]^-]{0,9}", text in "[ab]{0,6}") {
        let compiled = Pattern::new(pattern.as_bytes(), ALL);
        let text = text.as_bytes();
        prop_assert_eq!(compiled.matches(text, &budget()).unwrap(), reference(&compiled.nodes, text));
        let longest = (0..=text.len()).rev().find(|n| reference(&compiled.nodes, &text[..*n]));
        prop_assert_eq!(compiled.prefix(text, Length::Longest, &budget()).unwrap(), longest);
        let shortest = (0..=text.len()).rev().find(|n| reference(&compiled.nodes, &text[*n..]));
        prop_assert_eq!(compiled.suffix(text, Length::Shortest, &budget()).unwrap(), shortest);
        let first = (0..text.len()).find_map(|n| {
            (n..=text.len()).rev().find(|m| reference(&compiled.nodes, &text[n..*m])).map(|m| (n, m))
        });
        let found = compiled.find(text, Replace::First, &budget()).unwrap().spans.first().copied();
        if !text.is_empty() && first.is_some_and(|(n, m)| n < m) {
            prop_assert_eq!(found, first);
        }
    }
}
