//! What is allowed or declared and not used: edges of the walls, rooms, dependencies.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use super::crates::in_family;
use super::modules::{self, Modules};
use super::tokens::{self, Kind as Token};
use super::tree::Tree;
use super::walls::Tables;
use crate::metadata::{Dependency, Kind, Metadata, Package};

const TABLE: &str = "xtask/src/tidy/walls.rs";

/// Every edge that the walls allow is there, and every room is lived in.
pub(super) fn edges(metadata: &Metadata, tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in tables.inside {
        let Some(package) = metadata.package(row.package) else {
            continue;
        };
        let lists = [
            (Kind::Normal, row.normal),
            (Kind::Build, row.build),
            (Kind::Dev, row.dev),
        ];
        for (kind, names) in lists {
            let has = |name: &str| {
                package
                    .dependencies
                    .iter()
                    .any(|one| one.kind == kind && one.name == name)
            };
            let unused = names
                .iter()
                .filter(|name| !tables.coming.contains(name) && !has(name));
            findings.extend(unused.map(|name| {
                let text = format!(
                    "`{}` may have `{name}` in its {}, and does not; take it away",
                    row.package,
                    kind.section()
                );
                Finding::failure(TABLE, text)
            }));
        }
    }
    for wall in tables.outside {
        for room in wall.rooms {
            let Some(package) = metadata.package(room.package) else {
                continue;
            };
            let lives = |one: &Dependency| {
                in_family(&one.name, wall.family) && room.kinds.contains(&one.kind)
            };
            if !package.dependencies.iter().any(lives) {
                let text = format!(
                    "`{}` may use `{}`, and does not; take it away",
                    room.package, wall.family
                );
                findings.push(Finding::failure(TABLE, text));
            }
        }
    }
    findings
}

/// Packages whose library has a name that cannot be made from theirs.
const LIBRARIES: &[(&str, &str)] = &[("md-5", "md5")];

/// Every dependency is named in the sources of its section: the crate and its examples without tests, its
/// build script, or anything at all. `kept` names a crate, its dependency, and thereby a reason beside it.
pub(super) fn dependencies(
    tree: &Tree,
    root: &Path,
    metadata: &Metadata,
    kept: &[(&str, &str)],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let words = Words::of(tree, root, package);
        let is_kept = |name: &str| kept.contains(&(package.name.as_str(), name));
        for dependency in package
            .dependencies
            .iter()
            .filter(|one| !is_kept(&one.name))
        {
            let name = library(dependency);
            let words = match dependency.kind {
                Kind::Normal => &words.product,
                Kind::Build => &words.build,
                Kind::Dev => &words.all,
            };
            if !words.contains(&name) {
                let section = dependency.kind.section();
                let text = format!(
                    "does not use `{}`, which is in its {section}",
                    dependency.name
                );
                findings.push(Finding::failure(&package.name, text));
            }
        }
    }
    for (package, name) in kept {
        let found = metadata
            .package(package)
            .is_some_and(|one| one.dependencies.iter().any(|one| one.name == *name));
        if !found {
            findings.push(Finding::failure(
                TABLE,
                format!("`{package}` does not depend on `{name}`"),
            ));
        }
    }
    findings
}

/// Returns what sources call a dependency.
fn library(dependency: &Dependency) -> String {
    let renamed = dependency.rename.as_ref();
    let known = LIBRARIES
        .iter()
        .find(|(package, _)| *package == dependency.name);
    match (renamed, known) {
        (Some(name), _) => name.replace('-', "_"),
        (None, Some((_, name))) => (*name).to_owned(),
        (None, None) => dependency.name.replace('-', "_"),
    }
}

/// The words of a package's sources.
#[derive(Default)]
struct Words {
    product: BTreeSet<String>,
    build: BTreeSet<String>,
    all: BTreeSet<String>,
}

impl Words {
    fn of(tree: &Tree, root: &Path, package: &Package) -> Self {
        let dir = package
            .dir()
            .strip_prefix(root)
            .unwrap_or(package.dir())
            .display()
            .to_string();
        let mut words = Self::default();
        let sources = modules::sources(tree, &format!("{dir}/src/"));
        for module in &Modules::parse(&sources).all {
            words.product.extend(names(&module.tokens));
        }
        for file in tree
            .named(".rs")
            .filter(|file| file.path.starts_with(&format!("{dir}/")))
        {
            let found = tokens::tokens(file.code());
            if file.path == format!("{dir}/build.rs") {
                words.build.extend(names(&found));
            }
            if file.path.starts_with(&format!("{dir}/examples/")) {
                words.product.extend(names(&found));
            }
            words.all.extend(names(&found));
        }
        words
    }
}

/// Returns the words that may name a crate: before `::`, or right behind `use` or `extern crate`.
fn names(tokens: &[tokens::Token<'_>]) -> impl Iterator<Item = String> {
    let names_a_crate = |at: usize| {
        let before = at.checked_sub(1).map(|before| tokens[before].kind);
        let after = tokens.get(at + 1).map(|token| token.kind);
        after == Some(Token::Colons) || matches!(before, Some(Token::Word("use" | "crate")))
    };
    tokens
        .iter()
        .enumerate()
        .filter_map(move |(at, token)| match token.kind {
            Token::Word(word) if names_a_crate(at) => Some(word.to_owned()),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::super::walls::{Room, Row, Tests, Wall};
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>, Kind)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, rename, kind)| Dependency {
            name: (*name).to_owned(),
            rename: rename.map(str::to_owned),
            kind: *kind,
        });
        Package {
            name: name.to_owned(),
            manifest_path: format!("/ws/{name}/Cargo.toml").into(),
            dependencies: dependencies.collect(),
            targets: Vec::new(),
        }
    }

    fn workspace(packages: Vec<Package>) -> Metadata {
        Metadata {
            packages,
            target_directory: "/ws/target".into(),
        }
    }

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings
            .iter()
            .map(|found| format!("{}: {}", found.place, found.text))
            .collect()
    }

    #[test]
    fn an_edge_and_a_room_that_nobody_uses_are_found() {
        const TABLES: Tables = Tables {
            coming: &["later"],
            outside: &[Wall {
                family: "engine",
                rooms: &[
                    Room {
                        package: "high",
                        kinds: &[Kind::Normal],
                    },
                    Room {
                        package: "low",
                        kinds: &[Kind::Dev],
                    },
                ],
                tests: Tests::InRooms,
            }],
            inside: &[
                Row {
                    package: "low",
                    normal: &[],
                    build: &[],
                    dev: &[],
                },
                Row {
                    package: "high",
                    normal: &["low", "later"],
                    build: &["low"],
                    dev: &[],
                },
                Row {
                    package: "later",
                    normal: &["low"],
                    build: &[],
                    dev: &[],
                },
            ],
            forbidden: &[],
        };
        let high = package(
            "high",
            &[
                ("low", None, Kind::Normal),
                ("engine-core", None, Kind::Normal),
            ],
        );
        let found = edges(&workspace(vec![package("low", &[]), high]), &TABLES);
        assert_eq!(
            texts(&found),
            [
                format!(
                    "{TABLE}: `high` may have `low` in its build-dependencies, and does not; take it away"
                ),
                format!("{TABLE}: `low` may use `engine`, and does not; take it away"),
            ]
        );
    }

    #[test]
    fn a_dependency_that_no_source_names_is_found_in_its_section() {
        let tree = planted(&[
            (
                "a/src/lib.rs",
                "//! A.\nuse used_one::x; fn f(unused: u8) {} // unused::x\n#[cfg(test)] mod tests { use only_tests::x; }",
            ),
            ("a/build.rs", "fn main() { built::x(); }"),
            ("a/tests/it.rs", "use tested::x; use renamed::y;"),
        ]);
        let metadata = workspace(vec![package(
            "a",
            &[
                ("used-one", None, Kind::Normal),
                ("unused", None, Kind::Normal),
                ("only_tests", None, Kind::Normal),
                ("for-features", None, Kind::Normal),
                ("built", None, Kind::Build),
                ("used-one", None, Kind::Build),
                ("tested", None, Kind::Dev),
                ("other", Some("renamed"), Kind::Dev),
            ],
        )]);
        let kept = [("a", "for-features"), ("a", "gone")];
        let found = dependencies(&tree, Path::new("/ws"), &metadata, &kept);
        assert_eq!(
            texts(&found),
            [
                "a: does not use `unused`, which is in its dependencies".to_owned(),
                "a: does not use `only_tests`, which is in its dependencies".to_owned(),
                "a: does not use `used-one`, which is in its build-dependencies".to_owned(),
                format!("{TABLE}: `a` does not depend on `gone`"),
            ]
        );
    }
}
