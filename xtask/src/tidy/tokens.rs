//! Cuts Rust source into words and signs, and leaves out what only tests compile. Enough to follow
//! paths; no parser of the language.

use super::code;

/// A word or a sign, and the line it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind<'s>,
    /// Counted from one.
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'s> {
    /// A name, keyword or number; `r#fs` is `fs`.
    Word(&'s str),
    /// `::`
    Colons,
    Sign(char),
}

use Kind::{Colons, Sign, Word};

/// Words that begin an item, in which a comma ends nothing.
const ITEMS: &[&str] = &[
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
    "use",
    "async",
    "let",
];

/// A module that exists in tests alone, as `#[cfg(test)] mod NAME;` declares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TestModule {
    pub(super) name: String,
    /// The line of its `#[path = …]`, if it has one.
    pub(super) path_line: Option<usize>,
}

/// What is left of a file without its tests.
pub(super) struct Product<'s> {
    pub(super) tokens: Vec<Token<'s>>,
    pub(super) test_modules: Vec<TestModule>,
}

/// Cuts source whose comments and literals are blanked out.
pub(super) fn tokens(blanked: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (index, line) in blanked.lines().enumerate() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let kind;
            (kind, rest) = if code::is_word(first) {
                word(rest)
            } else if let Some(after) = rest.strip_prefix("::") {
                (Some(Colons), after)
            } else if first == '\'' {
                // A lifetime names nothing that could be called.
                (None, rest[1..].trim_start_matches(code::is_word))
            } else {
                let sign = (!first.is_whitespace()).then_some(Sign(first));
                (sign, &rest[first.len_utf8()..])
            };
            found.extend(kind.map(|kind| Token {
                kind,
                line: index + 1,
            }));
        }
    }
    found
}

fn word(text: &str) -> (Option<Kind<'_>>, &str) {
    let text = text.strip_prefix("r#").unwrap_or(text);
    let end = text.find(|c| !code::is_word(c)).unwrap_or(text.len());
    (Some(Word(&text[..end])), &text[end..])
}

/// Leaves out every item under `#[cfg(test)]`.
pub(super) fn product(all: Vec<Token<'_>>) -> Product<'_> {
    let mut left = Product {
        tokens: Vec::new(),
        test_modules: Vec::new(),
    };
    let mut at = 0;
    while at < all.len() {
        let Some((end, is_test)) = attribute(&all, at) else {
            left.tokens.push(all[at]);
            at += 1;
            continue;
        };
        let is_inner = all.get(at + 1).is_some_and(|token| token.kind == Sign('!'));
        if is_test && is_inner {
            return left;
        }
        if !is_test {
            left.tokens.extend(&all[at..end]);
            at = end;
            continue;
        }
        let (item, path_line) = attributes(&all, at);
        left.test_modules
            .extend(declared_module(&all, item, path_line));
        at = item_end(&all, item);
    }
    left
}

/// If an attribute starts at `at`, returns where it ends and whether it keeps its item to tests.
fn attribute(all: &[Token<'_>], at: usize) -> Option<(usize, bool)> {
    let kind = |index: usize| all.get(index).map(|token| token.kind);
    if kind(at)? != Sign('#') {
        return None;
    }
    let open = if kind(at + 1)? == Sign('!') {
        at + 2
    } else {
        at + 1
    };
    if kind(open)? != Sign('[') {
        return None;
    }
    let end = closing(all, open);
    let inside = &all[open + 1..end.max(open + 1)];
    let says = |word: &str| inside.iter().any(|token| token.kind == Word(word));
    let is_cfg = inside
        .first()
        .is_some_and(|token| token.kind == Word("cfg"));
    Some((end, is_cfg && says("test") && !says("any") && !says("not")))
}

/// Skips the attributes from `at` on; returns where the item begins, and the line of a `#[path]`.
fn attributes(all: &[Token<'_>], mut at: usize) -> (usize, Option<usize>) {
    let mut path_line = None;
    while let Some((end, _)) = attribute(all, at) {
        let path = all[at..end].iter().find(|token| token.kind == Word("path"));
        path_line = path_line.or(path.map(|token| token.line));
        at = end;
    }
    (at, path_line)
}

fn declared_module(all: &[Token<'_>], at: usize, path_line: Option<usize>) -> Option<TestModule> {
    let item: Vec<_> = all[at..].iter().take(8).map(|token| token.kind).collect();
    let start = item.iter().position(|kind| *kind == Word("mod"))?;
    match item[start + 1..] {
        [Word(name), Sign(';'), ..] => Some(TestModule {
            name: name.to_owned(),
            path_line,
        }),
        _ => None,
    }
}

/// Returns where the item, field, arm or statement at `at` ends.
fn item_end(all: &[Token<'_>], at: usize) -> usize {
    let is_item = all.get(at).is_some_and(|token| match token.kind {
        Word(word) => ITEMS.contains(&word),
        _ => false,
    });
    let mut index = at;
    while let Some(token) = all.get(index) {
        match token.kind {
            Sign('{') => return closing(all, index),
            Sign('(' | '[') => index = closing(all, index),
            Sign(';') => return index + 1,
            Sign(',') if !is_item => return index + 1,
            Sign(')' | ']' | '}') => return index,
            _ => index += 1,
        }
    }
    index
}

/// Returns the place behind the bracket that closes the one at `open`.
fn closing(all: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in all.iter().enumerate().skip(open) {
        match token.kind {
            Sign('(' | '[' | '{') => depth += 1,
            Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    all.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(source: &str) -> String {
        let blanked = code::blank(source);
        let product = product(tokens(&blanked));
        let words = product.tokens.iter().filter_map(|token| match token.kind {
            Word(word) => Some(word.to_owned()),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_only_tests_compile_is_left_out_and_nothing_behind_it() {
        let cases = [
            ("a; #[cfg(test)] mod tests { b } c", "a c"),
            ("#[cfg(test)] mod tests; a", "a"),
            ("#[cfg(test)]\nuse b::{c, d}; a", "a"),
            ("#[cfg(test)] fn f<A, B>(x: [u8; 3]) { b } a", "a"),
            ("struct S { #[cfg(test)] b: u8, a: u8 }", "struct S a u8"),
            ("match x { #[cfg(test)] B => b, A => a }", "match x A a"),
            ("#[cfg(all(test, unix))] const B: u8 = 1; a", "a"),
            ("#[cfg(not(test))] a", "cfg not test a"),
            ("#[cfg(any(test, unix))] a", "cfg any test unix a"),
            ("#![cfg(test)] b", ""),
            ("r#fs 'life a", "fs a"),
        ];
        for (source, expected) in cases {
            assert_eq!(left(source), expected, "{source}");
        }
    }

    #[test]
    fn modules_of_tests_are_named_with_the_line_of_their_path() {
        let source = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n#[cfg(test)]\npub(crate) mod kit;\nmod real;\n";
        let blanked = code::blank(source);
        let found = product(tokens(&blanked)).test_modules;
        let module = |name: &str, path_line| TestModule {
            name: name.to_owned(),
            path_line,
        };
        assert_eq!(found, [module("tests", Some(2)), module("kit", None)]);
    }
}
