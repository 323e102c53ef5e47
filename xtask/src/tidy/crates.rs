//! Rules about dependencies, from what `cargo metadata` says. The tables are in `walls`.

use super::Finding;
use super::walls::{TEST_KIT, Tables, Tests, Wall};
use crate::metadata::{Kind, Metadata, Package};

/// Every name in the tables is a crate, every crate is in the tables, and `coming` is up to date.
///
/// Without this a misspelt name would hold a wall around nothing.
pub(super) fn names_exist(metadata: &Metadata, tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = "xtask/src/tidy/walls.rs";
    for name in named(tables) {
        let is_coming = tables.coming.contains(&name);
        if !metadata.has(name) && !is_coming {
            findings.push(Finding::failure(
                place,
                format!("no crate is called `{name}`"),
            ));
        }
    }
    for name in tables.coming {
        if metadata.has(name) {
            let text = format!("`{name}` exists now; take it off the list of coming crates");
            findings.push(Finding::failure(place, text));
        }
        if !tables.inside.iter().any(|row| row.package == *name) {
            let text = format!("`{name}` is coming and has no row");
            findings.push(Finding::failure(place, text));
        }
    }
    for package in &metadata.packages {
        if !tables.inside.iter().any(|row| row.package == package.name) {
            let text = "has no row in xtask/src/tidy/walls.rs; say there what it may depend on";
            findings.push(Finding::failure(&package.name, text));
        }
    }
    findings
}

/// Returns all names of our own crates in the tables, each once.
fn named(tables: &Tables) -> Vec<&'static str> {
    let rooms = tables
        .outside
        .iter()
        .flat_map(|wall| wall.rooms)
        .map(|room| room.package);
    let rows = tables.inside.iter().flat_map(|row| {
        let lists = [row.normal, row.build, row.dev];
        lists.into_iter().flatten().copied().chain([row.package])
    });
    let forbidden = tables.forbidden.iter().map(|forbidden| forbidden.package);
    let mut names: Vec<_> = rooms.chain(rows).chain(forbidden).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Outside crates appear only behind their walls, and each wall has something behind it.
pub(super) fn outside_walls(metadata: &Metadata, tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for wall in tables.outside {
        let mut uses = 0;
        for package in &metadata.packages {
            for dependency in &package.dependencies {
                if !in_family(&dependency.name, wall.family) {
                    continue;
                }
                uses += 1;
                if !is_allowed(wall, package, dependency.kind) {
                    let rooms: Vec<_> = wall.rooms.iter().map(|room| room.package).collect();
                    let text = format!(
                        "depends on `{}`, which may appear in {} only",
                        dependency.name,
                        rooms.join(", ")
                    );
                    findings.push(Finding::failure(&package.name, text));
                }
            }
        }
        let has_room = wall.rooms.iter().any(|room| metadata.has(room.package));
        if uses == 0 && has_room {
            let text = format!("nothing uses `{}`; is it misspelt?", wall.family);
            findings.push(Finding::failure("xtask/src/tidy/walls.rs", text));
        }
    }
    findings
}

pub(super) fn in_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

fn is_allowed(wall: &Wall, package: &Package, kind: Kind) -> bool {
    let by_room = wall
        .rooms
        .iter()
        .any(|room| room.package == package.name && room.kinds.contains(&kind));
    by_room || (kind == Kind::Dev && wall.tests == Tests::Anywhere)
}

/// Our own crates depend on each other only as their rows say.
pub(super) fn inside_walls(metadata: &Metadata, tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(row) = tables.inside.iter().find(|row| row.package == package.name) else {
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|one| metadata.has(&one.name))
        {
            let name = dependency.name.as_str();
            let allowed = match dependency.kind {
                Kind::Normal => row.normal.contains(&name),
                Kind::Build => row.build.contains(&name),
                Kind::Dev => {
                    name == TEST_KIT || row.normal.contains(&name) || row.dev.contains(&name)
                }
            };
            if !allowed {
                let section = dependency.kind.section();
                let text = format!("must not have `{name}` in its {section}");
                findings.push(Finding::failure(&package.name, text));
            }
        }
    }
    findings
}

/// Crates that must not know I/O do not depend on it.
pub(super) fn forbidden(metadata: &Metadata, tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in tables.forbidden {
        let Some(package) = metadata.package(rule.package) else {
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|one| one.kind != Kind::Dev)
        {
            if rule
                .crates
                .iter()
                .any(|family| in_family(&dependency.name, family))
            {
                let text = format!("must not know `{}`", dependency.name);
                findings.push(Finding::failure(&package.name, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::walls::{Forbidden, Room, Row};
    use super::*;
    use std::fs;
    use std::path::Path;

    const TABLES: Tables = Tables {
        coming: &["later"],
        outside: &[
            Wall {
                family: "engine",
                rooms: &[
                    Room {
                        package: "low",
                        kinds: &[Kind::Normal],
                    },
                    Room {
                        package: "high",
                        kinds: &[Kind::Dev],
                    },
                ],
                tests: Tests::InRooms,
            },
            Wall {
                family: "loose",
                rooms: &[Room {
                    package: "low",
                    kinds: &[Kind::Normal],
                }],
                tests: Tests::Anywhere,
            },
        ],
        inside: &[
            Row {
                package: "low",
                normal: &[],
                build: &[],
                dev: &[],
            },
            Row {
                package: "high",
                normal: &["low"],
                build: &[],
                dev: &[],
            },
            Row {
                package: "later",
                normal: &[],
                build: &[],
                dev: &[],
            },
        ],
        forbidden: &[Forbidden {
            package: "high",
            crates: &["tokio"],
        }],
    };

    const LOW: &str = "[dependencies]\nengine-core = \"1\"\nloose = \"1\"";

    /// Makes a workspace of the given crates and returns all findings, one per line.
    fn check(crates: &[(&str, &str)], tables: &Tables) -> String {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let manifest = root.path().join("Cargo.toml");
        write(
            &manifest,
            "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n",
        );
        for (name, rest) in crates {
            let dir = root.path().join(name);
            let text = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}\n");
            write(&dir.join("Cargo.toml"), &text);
            write(&dir.join("src/lib.rs"), "");
        }
        let metadata = Metadata::read(root.path()).unwrap();
        let mut findings = names_exist(&metadata, tables);
        findings.extend(outside_walls(&metadata, tables));
        findings.extend(inside_walls(&metadata, tables));
        findings.extend(forbidden(&metadata, tables));
        let lines = findings
            .iter()
            .map(|found| format!("{}: {}", found.place, found.text));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_workspace_within_its_walls_has_no_findings() {
        let high = "[dependencies]\nlow.path = \"../low\"\n\
                    [dev-dependencies]\nengine = \"1\"\nloose = \"1\"\ntokio = \"1\"";
        assert_eq!(check(&[("low", LOW), ("high", high)], &TABLES), "");
    }

    #[test]
    fn an_outside_crate_beyond_its_wall_is_found_even_when_renamed() {
        let high = "[dependencies]\nharmless = { package = \"engine-wasi\", version = \"1\" }";
        let found = check(&[("low", LOW), ("high", high)], &TABLES);
        assert_eq!(
            found,
            "high: depends on `engine-wasi`, which may appear in low, high only"
        );
    }

    #[test]
    fn a_wall_with_nothing_behind_it_is_found() {
        let found = check(
            &[("low", "[dependencies]\nloose = \"1\""), ("high", "")],
            &TABLES,
        );
        assert_eq!(
            found,
            "xtask/src/tidy/walls.rs: nothing uses `engine`; is it misspelt?"
        );
    }

    #[test]
    fn a_dependency_against_the_direction_is_found() {
        let low = format!("{LOW}\nhigh.path = \"../high\"");
        let found = check(&[("low", &low), ("high", "")], &TABLES);
        assert_eq!(found, "low: must not have `high` in its dependencies");
    }

    #[test]
    fn a_build_dependency_needs_its_own_permission() {
        let high = "[build-dependencies]\nlow.path = \"../low\"";
        let found = check(&[("low", LOW), ("high", high)], &TABLES);
        assert_eq!(found, "high: must not have `low` in its build-dependencies");
    }

    #[test]
    fn a_forbidden_crate_is_found() {
        let high = "[dependencies]\ntokio-util = \"1\"";
        let found = check(&[("low", LOW), ("high", high)], &TABLES);
        assert_eq!(found, "high: must not know `tokio-util`");
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        let found = check(&[("low", LOW), ("hihg", "")], &TABLES);
        assert_eq!(
            found,
            "xtask/src/tidy/walls.rs: no crate is called `high`\n\
             hihg: has no row in xtask/src/tidy/walls.rs; say there what it may depend on"
        );
    }

    #[test]
    fn a_coming_crate_that_exists_must_leave_the_list() {
        let found = check(&[("low", LOW), ("high", ""), ("later", "")], &TABLES);
        assert!(found.contains("`later` exists now"), "{found}");
    }
}
