//! What crates offer to others: how many public items each has, and that somebody uses them.
//!
//! The count is of the text, without tests: functions, methods, types, traits, constants and modules that are
//! `pub` without restriction. Fields, variants, re-exports and what a macro makes are not counted. The compiler's
//! `unreachable_pub` sees to it that what is `pub` can be reached at all, so it is not followed here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Finding;
use super::modules::{self, Modules};
use super::tokens::{self, Kind, Token};
use super::tree::Tree;
use crate::metadata::Metadata;
use Kind::{Sign, Word};

/// The most public items of a crate whose façade is to stay small. A change that raises one says for what.
pub(super) const CEILINGS: &[(&str, usize)] = &[("jp_registry", 174)];

/// Crates whose public items need no user here.
pub(super) const UNCHECKED: &[&str] = &[
    // Those who call them are elsewhere: authors of guests, fronts, hosts of one tool.
    "jp_bash",
    "jp_tool",
    "jp_host",
    "jp_wasm",
    // What nobody uses in these is still to be narrowed.
    "jp_broker",
    "jp_llm",
    "jp_mcp",
];

/// A public item.
struct Item<'s> {
    keyword: &'s str,
    name: &'s str,
    line: usize,
}

/// Counts the public items of each library.
pub(super) fn counts(tree: &Tree, root: &Path, metadata: &Metadata) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for package in &metadata.packages {
        let dir = below(root, package.dir());
        if tree.file(&format!("{dir}/src/lib.rs")).is_some() {
            let count = each(tree, &dir, |_, items| items.len()).iter().sum();
            counts.insert(package.name.clone(), count);
        }
    }
    counts
}

/// No façade has more public items than its ceiling allows.
pub(super) fn within_ceilings(
    counts: &BTreeMap<String, usize>,
    ceilings: &[(&str, usize)],
) -> Vec<Finding> {
    let over = |(name, most): &(&str, usize)| {
        let count = *counts.get(*name)?;
        let text = format!(
            "has {count} public items, and the ceiling in xtask/src/tidy/offers.rs is {most}"
        );
        (count > *most).then(|| Finding::failure(name, text))
    };
    ceilings.iter().filter_map(over).collect()
}

/// Each public function and constant is named outside of its crate: by another one, or by a test, an example or
/// a program beside it. (A type may have to be public for the sake of a function, whoever names it.)
pub(super) fn are_used(
    tree: &Tree,
    root: &Path,
    metadata: &Metadata,
    unchecked: &[&str],
) -> Vec<Finding> {
    let dirs: Vec<String> = metadata
        .packages
        .iter()
        .map(|package| below(root, package.dir()))
        .collect();
    let named = Named::read(tree, &dirs);
    let mut findings = Vec::new();
    for (package, dir) in metadata.packages.iter().zip(&dirs) {
        let is_library = tree.file(&format!("{dir}/src/lib.rs")).is_some();
        if !is_library || unchecked.contains(&package.name.as_str()) {
            continue;
        }
        let unused = each(tree, dir, |path, items| {
            let unused = items.iter().filter(|item| {
                matches!(item.keyword, "fn" | "const" | "static") && !named.outside(dir, item.name)
            });
            let text = |item: &Item<'_>| {
                let (keyword, name, line) = (item.keyword, item.name, item.line);
                format!(
                    "line {line}: `pub {keyword} {name}` is used by nobody outside; make it `pub(crate)`"
                )
            };
            let unused = unused.map(|item| Finding::failure(path, text(item)));
            unused.collect::<Vec<_>>()
        });
        findings.extend(unused.into_iter().flatten());
    }
    findings
}

/// Does something with the public items of each file of a library.
fn each<T>(tree: &Tree, dir: &str, run: impl Fn(&str, &[Item<'_>]) -> T) -> Vec<T> {
    let sources = modules::sources(tree, &format!("{dir}/src/"));
    let all = Modules::parse(&sources).all;
    let modules = all.iter().filter(|module| is_library(module.below));
    modules
        .map(|module| run(module.path, &items(&module.tokens)))
        .collect()
}

/// Tells whether a file below `src/` is the library's, and not a program's beside it.
fn is_library(below: &str) -> bool {
    below != "main.rs" && !below.starts_with("bin/")
}

/// Finds the public items of a file.
fn items<'s>(tokens: &[Token<'s>]) -> Vec<Item<'s>> {
    let word = |at: usize| match tokens.get(at).map(|token| token.kind) {
        Some(Word(word)) => Some(word),
        _ => None,
    };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Word("pub") || tokens.get(at + 1).map(|next| next.kind) == Some(Sign('('))
        {
            continue;
        }
        let mut next = at + 1;
        while let Some("async" | "unsafe" | "extern") = word(next) {
            next += 1;
        }
        if word(next) == Some("const") && matches!(word(next + 1), Some("fn" | "async" | "unsafe"))
        {
            next += 1;
            while let Some("async" | "unsafe") = word(next) {
                next += 1;
            }
        }
        let (Some(keyword), Some(name)) = (word(next), word(next + 1)) else {
            continue;
        };
        if KEYWORDS.contains(&keyword) {
            found.push(Item {
                keyword,
                name,
                line: token.line,
            });
        }
    }
    found
}

const KEYWORDS: &[&str] = &[
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod",
];

/// The words of all sources, by the library they are in.
struct Named<'t> {
    /// Those of a library; under an empty name, those of everything else.
    by: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Named<'t> {
    fn read(tree: &'t Tree, dirs: &'t [String]) -> Self {
        let mut by: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in tree.named(".rs") {
            let library = dirs.iter().find(|dir| {
                let below = file.path.strip_prefix(&format!("{dir}/src/"));
                below.is_some_and(is_library)
            });
            let words = by.entry(library.map_or("", String::as_str)).or_default();
            let found = tokens::tokens(file.code()).into_iter();
            words.extend(found.filter_map(|token| match token.kind {
                Word(word) => Some(word),
                _ => None,
            }));
        }
        Self { by }
    }

    fn outside(&self, library: &str, name: &str) -> bool {
        let others = self.by.iter().filter(|(other, _)| **other != library);
        others.into_iter().any(|(_, words)| words.contains(name))
    }
}

fn below(root: &Path, dir: &Path) -> String {
    dir.strip_prefix(root).unwrap_or(dir).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;
    use crate::metadata::Package;

    fn workspace(names: &[&str]) -> Metadata {
        let package = |name: &&str| Package {
            name: (*name).to_owned(),
            manifest_path: format!("/ws/crates/{name}/Cargo.toml").into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        };
        Metadata {
            packages: names.iter().map(package).collect(),
            target_directory: "/ws/target".into(),
        }
    }

    const LIBRARY: &str = "//! A.\n\
        pub mod inner;\n\
        pub use inner::Thing;\n\
        pub const fn made() -> u8 { 0 }\n\
        pub(crate) fn hidden() {}\n\
        pub const MOST: u8 = 1;\n\
        pub async unsafe fn told() { /* pub fn comment() {} */ }\n\
        #[cfg(test)]\nmod tests { pub fn only_tests() {} }\n";
    const INNER: &str = "//! B.\npub struct Thing { pub field: u8 }\n\
        impl Thing { pub fn lonely(&self) {} pub fn tested(&self) {} }\n";

    fn tree(outside: &str) -> Tree {
        planted(&[
            ("crates/a/src/lib.rs", LIBRARY),
            ("crates/a/src/inner.rs", INNER),
            ("crates/a/src/bin/program.rs", "fn main() { a::made(); }"),
            ("crates/a/tests/it.rs", "fn test() { thing.tested(); }"),
            ("crates/b/src/main.rs", outside),
        ])
    }

    #[test]
    fn public_items_are_counted_without_fields_re_exports_and_tests() {
        let counts = counts(&tree(""), Path::new("/ws"), &workspace(&["a", "b"]));
        let expected = BTreeMap::from([("a".to_owned(), 7)]);
        assert_eq!(counts, expected);
        assert!(within_ceilings(&counts, &[("a", 7)]).is_empty());
        let found = within_ceilings(&counts, &[("a", 6)]);
        assert!(found[0].text.contains("has 7 public items"), "{found:?}");
    }

    #[test]
    fn what_nobody_outside_names_is_found() {
        let (root, metadata) = (Path::new("/ws"), workspace(&["a", "b"]));
        let found = |outside: &str, unchecked: &[&str]| -> Vec<String> {
            are_used(&tree(outside), root, &metadata, unchecked)
                .iter()
                .map(|found| format!("{}: {}", found.place, found.text))
                .collect()
        };
        let unused = found("fn main() { a::told(); } // lonely", &[]);
        let instead = "is used by nobody outside; make it `pub(crate)`";
        assert_eq!(
            unused,
            [
                format!("crates/a/src/inner.rs: line 3: `pub fn lonely` {instead}"),
                format!("crates/a/src/lib.rs: line 6: `pub const MOST` {instead}"),
            ]
        );
        assert!(found("fn main() { told(MOST).lonely() }", &[]).is_empty());
        assert!(found("", &["a"]).is_empty());
    }
}
