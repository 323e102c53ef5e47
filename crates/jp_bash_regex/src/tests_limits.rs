//! That searches ask at a bounded distance and hold no more than they say, for every engine.

use jp_bash_system::Limit;

use super::meter::record;
use super::tests::{Ends, Free, free, made};
use super::*;

/// The most bytes and steps between two asks.
const MOST: (usize, usize) = (64 << 10, 10_000);

/// Patterns that keep an engine busy, each with a name for it.
const BUSY: &[(&str, Flavor, &str)] = &[
    ("literal", Flavor::Basic, "aaaaaaab"),
    ("literal, always", Flavor::Basic, "a"),
    ("automaton", Flavor::Extended, "a*x|a"),
    ("automaton, no match", Flavor::Extended, "[^x]*y"),
    (
        "automaton, many states",
        Flavor::Extended,
        "(a|b)*a(a|b){12}x",
    ),
    (
        "automaton that gives up",
        Flavor::Extended,
        "(a|b)*a(a|b){200}x",
    ),
    ("automaton, counted", Flavor::Extended, "[ab]{2,400}x"),
    ("groups", Flavor::Extended, "(.)(.)"),
    (
        "groups, one long match",
        Flavor::Extended,
        "((a|b|\u{e9})*)(a*)",
    ),
    ("simulation", Flavor::Extended, "\\b(a|b|\u{e9})*x"),
    ("back-reference", Flavor::Extended, "(a*)\\1x"),
    ("back-reference, each", Flavor::Extended, "(.)\\1"),
    ("perl, regular", Flavor::Perl, "(a+)+x|a??b"),
    ("perl, behind", Flavor::Perl, "(?<=b)a+(?!b)"),
    ("perl, atomic", Flavor::Perl, "(?>a*)x|(?=.*x)a"),
    ("perl, nested", Flavor::Perl, "(?:(a|aa)+)+\\1x"),
    ("perl, recursive", Flavor::Perl, "a\\g<0>?x"),
];

fn texts() -> Vec<Vec<u8>> {
    let mut random = 7_u32;
    let mixed = (0..200_000).map(|_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { b'a' } else { b'b' }
    });
    vec![
        vec![b'a'; 300_000],
        mixed.collect(),
        "\u{e9}a".repeat(50_000).into_bytes(),
        "ab\n".repeat(60_000).into_bytes(),
    ]
}

/// Goes through all matches, as `s///g` does.
fn each(regex: &Regex, asks: &mut dyn Asks, text: &[u8], groups: bool) -> Result<(), MatchError> {
    let mut asks = asks;
    let (mut at, mut found) = (0, Vec::new());
    while at <= text.len() {
        let whole = if groups {
            regex.captures_at(&mut asks, text, at, &mut found)?;
            found.first().copied().flatten()
        } else {
            regex.find_at(&mut asks, text, at)?
        };
        let Some((from, to)) = whole else {
            break;
        };
        at = usize::max(to, at) + usize::from(from == to);
    }
    Ok(())
}

fn flags() -> Flags {
    Flags {
        utf8: true,
        ..Flags::default()
    }
}

#[test]
fn every_engine_asks_at_a_bounded_distance() {
    let texts = texts();
    for (name, flavor, pattern) in BUSY {
        for text in &texts {
            for groups in [false, true] {
                let run = || {
                    let mut asks = Ends(1500);
                    let regex = Regex::new(&mut asks, pattern.as_bytes(), *flavor, flags());
                    let regex = regex.expect("time to compile").expect("a valid pattern");
                    let done = each(&regex, &mut asks, text, groups);
                    let _ = regex.is_match_at(&mut asks, text, 0);
                    done
                };
                let (_, most, all) = record::of(run);
                let seen = format!("{name}: {most:?} of {all:?}");
                assert!(most.0 <= MOST.0 && most.1 <= MOST.1, "{seen}");
                assert!(all.0 + all.1 >= text.len() / 4, "{seen}");
            }
        }
    }
}

#[test]
fn lines_are_searched_in_pieces_that_are_announced() {
    let mut texts = texts();
    texts.push(b"some words, and the fox 42 is among them\n".repeat(9_000));
    for (name, flavor, pattern) in BUSY {
        if *flavor == Flavor::Perl {
            continue;
        }
        for text in &texts {
            let flags = Flags {
                lines: Some(b'\n'),
                ..flags()
            };
            let run = || {
                let mut asks = Ends(1500);
                let regex = Regex::new(&mut asks, pattern.as_bytes(), *flavor, flags);
                let regex = regex.expect("time to compile").expect("a valid pattern");
                let mut at = 0;
                while let Ok(Some(found)) = regex.line_at(&mut asks, text, at, b'\n') {
                    let rest = text.get(found..).unwrap_or_default();
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        break;
                    };
                    at = found + end + 1;
                }
            };
            let (_, most, all) = record::of(run);
            let seen = format!("{name}: {most:?} of {all:?}");
            assert!(most.0 <= MOST.0 && most.1 <= MOST.1, "{seen}");
        }
    }
}

#[test]
fn a_search_ends_when_the_run_does() {
    let text = vec![b'a'; 300_000];
    for (name, flavor, pattern) in BUSY {
        let regex = made(pattern.as_bytes(), *flavor, flags()).expect("a valid pattern");
        let done = each(&regex, &mut Ends(40), &text, true);
        assert_eq!(
            done,
            Err(MatchError::Stop(Stop::Limit(Limit::Time))),
            "{name}"
        );
    }
}

#[test]
fn huge_patterns_are_refused_before_they_are_held() {
    let many = |part: &str| part.repeat((20 << 20) / part.len()).into_bytes();
    for (flavor, pattern) in [
        (Flavor::Extended, many("a*")),
        (Flavor::Extended, many("[[:alpha:]]")),
        (Flavor::Extended, many("a|")),
        (Flavor::Basic, many("\\(a\\)")),
        (Flavor::Basic, many("[ab]\\{9\\}")),
        (Flavor::Perl, many("a")),
        (Flavor::Extended, b"((a{1,1000}){1,1000}){1,1000}".to_vec()),
        (Flavor::Extended, b"[[:alpha:]]{30000}".to_vec()),
    ] {
        let mut asks = free();
        let shown = String::from_utf8_lossy(pattern.get(..9).unwrap_or_default()).into_owned();
        let made = Regex::new(&mut asks, &pattern, flavor, flags()).expect("no stop");
        assert_eq!(made.err(), Some(RegexError::TooBig), "{shown}");
        assert!(asks.most < 64 << 20, "{shown} took {}", asks.most);
        assert_eq!(asks.held, 0, "{shown}");
        let mut long = [b"[", pattern.as_slice(), b"]"].concat();
        long.retain(|byte| byte.is_ascii_lowercase());
        let mut asks = Free {
            limit: 1 << 20,
            ..free()
        };
        let made = Regex::new(&mut asks, &pattern, flavor, flags());
        assert!(
            matches!(made, Err(Stop::Limit(Limit::Memory)) | Ok(Err(_))),
            "{shown}"
        );
        assert_eq!(asks.held, 0, "{shown}");
    }
}

#[test]
fn braces_that_are_no_intervals_are_read_in_linear_time() {
    let dialect = Dialect::Grep;
    let flags = Flags { dialect, ..flags() };
    for part in ["a{1", "a{", "a{x,"] {
        let pattern = part.repeat((8 << 20) / part.len());
        let made = Regex::new(&mut free(), pattern.as_bytes(), Flavor::Extended, flags);
        let made = made.expect("no stop");
        assert_eq!(made.err(), Some(RegexError::TooBig), "{part}");
    }
}

#[test]
fn nested_loops_before_a_look_ahead_are_linear() {
    let text = format!("{}!", "a".repeat(20_000));
    for pattern in ["^(a+)+(?=b)$", "(a*)*(?=b)", "(?:a|aa)+(?!!)(?=b)"] {
        let regex = made(pattern.as_bytes(), Flavor::Perl, flags()).expect(pattern);
        let found = regex.find_at(&mut free(), &text.as_bytes()[..300], 0);
        assert_eq!(found, Ok(None), "{pattern}");
        let found = regex.find_at(&mut free(), text.as_bytes(), 19_000);
        assert_eq!(found, Ok(None), "{pattern}");
    }
}

#[test]
fn a_long_plain_text_is_no_pattern_and_stays_one() {
    let text = vec![b'a'; 3 << 20];
    let mut asks = free();
    let regex = Regex::new(&mut asks, &text, Flavor::Extended, flags());
    let regex = regex.expect("no stop").expect("a text");
    assert!(asks.most < 4 << 20);
    let run = || regex.find_at(&mut free(), &text, 0);
    let (found, most, _) = record::of(run);
    assert_eq!(found, Ok(Some((0, text.len()))));
    assert!(most.0 <= MOST.0);
    let longer = [&text[1..], b"b", &text].concat();
    assert_eq!(
        regex.find_at(&mut Ends(u64::MAX), &longer, text.len() - 9),
        Ok(Some((text.len(), 2 * text.len())))
    );
}

#[test]
fn what_searches_hold_is_counted() {
    let text: Vec<u8> = texts().swap_remove(1);
    for pattern in ["(a|b)*a(a|b){12}x", "((a|b)*)(a*)$", "\\b(a|b|\u{e9})*x"] {
        let mut asks = free();
        let regex = Regex::new(&mut asks, pattern.as_bytes(), Flavor::Extended, flags());
        let regex = regex.expect("no stop").expect("a valid pattern");
        let compiled = asks.held;
        assert!(compiled > 0, "{pattern}");
        let mut groups = Vec::new();
        regex
            .captures_at(&mut asks, &text, 0, &mut groups)
            .expect("an answer");
        assert!(asks.held > compiled, "{pattern}");
        assert_eq!(regex.size(), asks.held, "{pattern}");
        regex.settle(&mut asks);
        assert_eq!(asks.held, 0, "{pattern}");
    }
}

#[test]
fn perl_patterns_match_as_pcre_does() {
    let flags = flags();
    for (pattern, text, expected) in [
        ("foo(?=bar)", "foo foobar", Some((4, 7))),
        ("foo(?!bar)", "foobar foo", Some((7, 10))),
        ("(?<=\\d)a", "a1a", Some((2, 3))),
        ("(?<!\\d)a", "1aa", Some((2, 3))),
        ("(?<=ab|c)x", "xabx", Some((3, 4))),
        ("k=\\K\\w+", "xk=val", Some((3, 6))),
        ("(?>a+)b", "aab", Some((0, 3))),
        ("(?>a+)ab", "aab", None),
        ("a++b|a", "aac", Some((0, 1))),
        ("(a)?(?(1)b|c)", "c", Some((0, 1))),
        ("^(a)?(?(1)b|c)$", "ab", Some((0, 2))),
        ("\\((?:[^()]|\\g<0>)*\\)", "x(a(b)c)(", Some((1, 8))),
        ("(?<n>[ab])\\k<n>", "abb", Some((1, 3))),
        ("(?i)(\u{e9})\\1", "\u{e9}\u{c9}", Some((0, 4))),
        ("a.*?b", "xaabb", Some((1, 4))),
        ("(?!a)\\w", "ab", Some((1, 2))),
        ("\\bfoo\\b", "afoo foo", Some((5, 8))),
        ("(?s)a.b", "a\nb", Some((0, 3))),
        ("a\\Rb", "a\r\nb", Some((0, 4))),
        ("(?=a(?=b))ab", "aab", Some((1, 3))),
        ("((?:a|b)(?<!b))+", "aab", Some((0, 2))),
        ("x*", "aaa", Some((0, 0))),
    ] {
        let regex = made(pattern.as_bytes(), Flavor::Perl, flags).expect(pattern);
        let found = regex.find_at(&mut free(), text.as_bytes(), 0);
        assert_eq!(found, Ok(expected), "{pattern}");
    }
    for (pattern, expected) in [
        ("(?<=a+)b", "lookbehind assertion is not fixed length"),
        ("(a)\\2", "reference to non-existent subpattern"),
        ("(a", "missing closing parenthesis"),
    ] {
        let error = made(pattern.as_bytes(), Flavor::Perl, flags).err();
        assert_eq!(
            error.map(|error| error.to_string()),
            Some(expected.to_owned()),
            "{pattern}"
        );
    }
}
