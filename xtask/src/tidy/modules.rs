//! The modules of one crate, without its tests, and what a path in one of them stands for: through
//! imports, renamings, globs and other modules of the crate.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{self, Kind, Product, Token};
use super::tree::{File, Tree};
use super::uses::{self, GLOB, Name, Segments};

/// How many imports of imports are followed.
const DEPTH: usize = 6;

/// A source file of a crate.
pub(super) struct Source<'t> {
    file: &'t File,
    /// Its path below `src/`.
    below: &'t str,
}

/// One file of a crate as a module.
pub(super) struct Module<'s> {
    /// Its path in the repository.
    pub(super) path: &'s str,
    /// Its path below `src/`.
    pub(super) below: &'s str,
    pub(super) place: Segments,
    pub(super) tokens: Vec<Token<'s>>,
    pub(super) names: Vec<Name>,
}

/// The modules of a crate that are compiled into it.
pub(super) struct Modules<'s> {
    pub(super) all: Vec<Module<'s>>,
    by_place: BTreeMap<Segments, Vec<usize>>,
}

/// Reads the sources below `dir`, which is a crate's `src/`.
pub(super) fn sources<'t>(tree: &'t Tree, dir: &str) -> Vec<Source<'t>> {
    let below = |file: &'t File| Some((file, file.path.strip_prefix(dir)?));
    tree.named(".rs")
        .filter_map(below)
        .map(|(file, below)| Source { file, below })
        .collect()
}

impl<'s> Modules<'s> {
    /// Parses the sources and leaves out what only tests compile.
    pub(super) fn parse(sources: &'s [Source<'_>]) -> Self {
        let mut tests = BTreeSet::new();
        let mut parsed = Vec::new();
        for source in sources {
            let Product {
                tokens,
                test_modules,
            } = tokens::product(tokens::tokens(source.file.code()));
            for module in test_modules {
                let path = module
                    .path_line
                    .and_then(|line| quoted(&source.file.text, line));
                tests.insert(child(source.below, &module.name, path));
            }
            parsed.push((source, tokens));
        }
        let is_test = |below: &str| {
            let stem = below.trim_end_matches(".rs");
            tests.iter().any(|test| {
                let rest = stem.strip_prefix(test.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut modules = Self {
            all: Vec::new(),
            by_place: BTreeMap::new(),
        };
        for (source, tokens) in parsed {
            if is_test(source.below) {
                continue;
            }
            let names = uses::names(&tokens);
            let place = place(source.below);
            modules
                .by_place
                .entry(place.clone())
                .or_default()
                .push(modules.all.len());
            modules.all.push(Module {
                path: &source.file.path,
                below: source.below,
                place,
                tokens,
                names,
            });
        }
        modules
    }

    /// Returns everything that `path`, written in `module`, may stand for.
    pub(super) fn meanings(&self, module: &Module<'_>, path: &[String]) -> Vec<Segments> {
        let mut found = Vec::new();
        self.outside(&module.place, path, DEPTH, &mut found);
        found
    }

    /// Follows a path from a place inside the crate until it leaves the crate.
    fn outside(&self, place: &[String], path: &[String], depth: usize, found: &mut Vec<Segments>) {
        let Some(next) = depth.checked_sub(1) else {
            return;
        };
        match path {
            [first, rest @ ..] if first == "crate" => self.inside(&[], rest, next, found),
            [first, rest @ ..] if first == "self" => self.inside(place, rest, next, found),
            [first, rest @ ..] if first == "super" => {
                let above = &place[..place.len().saturating_sub(1)];
                match rest {
                    [again, ..] if again == "super" => self.outside(above, rest, depth, found),
                    _ => self.inside(above, rest, next, found),
                }
            }
            _ => {
                // A name of ours hides a crate of the same name; nobody gets to hide `std`.
                if !self.names_itself(place, path) {
                    found.push(path.to_vec());
                }
                self.inside(place, path, next, found);
            }
        }
    }

    fn names_itself(&self, place: &[String], path: &[String]) -> bool {
        let Some(first) = path.first().filter(|first| *first != "std") else {
            return false;
        };
        let here = self.by_place.get(place).into_iter().flatten();
        let mut names = here.flat_map(|index| &self.all[*index].names);
        let child = [place, std::slice::from_ref(first)].concat();
        names.any(|name| name.name == *first && name.path != path[..1])
            || self.by_place.contains_key(&child)
    }

    /// Looks a path up among the names and modules at a place.
    fn inside(&self, place: &[String], path: &[String], depth: usize, found: &mut Vec<Segments>) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let deeper = [place, std::slice::from_ref(first)].concat();
        if self.by_place.contains_key(&deeper) && depth > 0 {
            self.inside(&deeper, rest, depth, found);
        }
        let here = self.by_place.get(place).into_iter().flatten();
        for name in here.flat_map(|index| &self.all[*index].names) {
            if name.name == *first && name.path != path {
                self.outside(place, &[&name.path, rest].concat(), depth, found);
            } else if name.name == GLOB {
                self.outside(place, &[&name.path[..], path].concat(), depth, found);
            }
        }
    }

    /// Returns the names of the functions that the crate defines.
    pub(super) fn functions(&self) -> BTreeSet<&'s str> {
        let mut found = BTreeSet::new();
        for module in &self.all {
            for pair in module.tokens.windows(2) {
                if let (Kind::Word("fn"), Kind::Word(name)) = (pair[0].kind, pair[1].kind) {
                    found.insert(name);
                }
            }
        }
        found
    }
}

/// Returns the first quoted text of a line.
fn quoted(text: &str, line: usize) -> Option<&str> {
    text.lines().nth(line.checked_sub(1)?)?.split('"').nth(1)
}

/// Returns where a child module lies below `src/`, without its ending.
fn child(parent: &str, name: &str, path: Option<&str>) -> String {
    let (dir, file) = parent
        .rsplit_once('/')
        .map_or(("", parent), |(dir, file)| (dir, file));
    let dir = if dir.is_empty() {
        String::new()
    } else {
        format!("{dir}/")
    };
    if let Some(path) = path {
        return format!("{dir}{}", path.trim_end_matches(".rs"));
    }
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{dir}{name}"),
        file => format!("{dir}{}/{name}", file.trim_end_matches(".rs")),
    }
}

/// Returns the module that a file below `src/` holds.
fn place(below: &str) -> Segments {
    let stem = below.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" | "mod" => Segments::new(),
        stem => stem.split('/').map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    #[test]
    fn modules_of_tests_are_left_out_wherever_they_lie() {
        let tree = planted(&[
            (
                "a/src/lib.rs",
                "#[cfg(test)] mod tests; #[cfg(test)] mod kit; mod b; mod odd_tests;",
            ),
            ("a/src/tests.rs", ""),
            ("a/src/kit/mod.rs", ""),
            ("a/src/kit/deep.rs", ""),
            (
                "a/src/b.rs",
                "#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n#[cfg(test)] mod more;",
            ),
            ("a/src/b_tests.rs", ""),
            ("a/src/b/more.rs", ""),
            ("a/src/b/kept.rs", ""),
            ("a/src/odd_tests.rs", ""),
        ]);
        let sources = sources(&tree, "a/src/");
        let modules = Modules::parse(&sources);
        let left: Vec<_> = modules.all.iter().map(|module| module.below).collect();
        assert_eq!(left, ["b.rs", "b/kept.rs", "lib.rs", "odd_tests.rs"]);
    }

    #[test]
    fn a_path_is_followed_through_the_crate() {
        let tree = planted(&[
            ("a/src/lib.rs", "use std::fs as disk; mod b; mod c;"),
            ("a/src/b.rs", "use crate::c::*; pub(crate) use std as s;"),
            ("a/src/b/deep.rs", ""),
            ("a/src/c.rs", "pub(crate) use tokio::process;"),
        ]);
        let sources = sources(&tree, "a/src/");
        let modules = Modules::parse(&sources);
        let means = |below: &str, path: &str, meaning: &str| {
            let module = modules
                .all
                .iter()
                .find(|module| module.below == below)
                .unwrap();
            let path: Segments = path.split("::").map(str::to_owned).collect();
            let found = modules.meanings(module, &path);
            assert!(
                found.iter().any(|one| one.join("::") == meaning),
                "{path:?} in {below}: {found:?}"
            );
        };
        means("lib.rs", "disk::read", "std::fs::read");
        means("b.rs", "super::disk::read", "std::fs::read");
        means("b/deep.rs", "super::super::disk::read", "std::fs::read");
        means("b.rs", "crate::disk::read", "std::fs::read");
        means("b.rs", "s::fs::read", "std::fs::read");
        means("b/deep.rs", "super::s::fs", "std::fs");
        means("b.rs", "process::Command", "tokio::process::Command");
        means("lib.rs", "c::process::id", "tokio::process::id");
    }
}
