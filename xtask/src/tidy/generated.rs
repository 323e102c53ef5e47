//! The tables of `ARCHITECTURE.md` that are made from the walls.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Finding;
use super::touches::{Right, Row};
use super::tree::Tree;
use super::walls::{Tables, Tests};

/// The document with the tables.
const DOCUMENT: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- walls: written by `cargo xtask tidy --write` -->\n";
const END: &str = "<!-- end of walls -->\n";

/// The tables in the document are those of the walls.
pub(super) fn tables_are_current(tree: &Tree, tables: &Tables, rows: &[Row]) -> Vec<Finding> {
    let Some(document) = tree.file(DOCUMENT) else {
        return vec![Finding::failure(DOCUMENT, "is missing")];
    };
    match replaced(&document.text, &render(tables, rows)) {
        Some(text) if text == document.text => Vec::new(),
        Some(_) => vec![Finding::failure(
            DOCUMENT,
            "its tables differ from the walls; type: cargo xtask tidy --write",
        )],
        None => vec![Finding::failure(
            DOCUMENT,
            format!(
                "has no lines `{}` and `{}`",
                BEGIN.trim_end(),
                END.trim_end()
            ),
        )],
    }
}

/// Writes the tables into the document.
pub(super) fn write(root: &Path, tables: &Tables, rows: &[Row]) -> Result<()> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let Some(text) = replaced(&text, &render(tables, rows)) else {
        bail!("{DOCUMENT} has no lines for the tables");
    };
    fs::write(&path, text).with_context(|| format!("cannot write {DOCUMENT}"))
}

/// Returns the document with `table` between its two marks.
fn replaced(document: &str, table: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

fn render(tables: &Tables, rows: &[Row]) -> String {
    let mut text = String::from("| crate | holds | knows | may touch |\n|---|---|---|---|\n");
    for row in rows {
        let known = tables
            .inside
            .iter()
            .find(|known| known.package == row.package);
        let known = known.map_or_else(Vec::new, |known| {
            known
                .normal
                .iter()
                .filter(|name| !tables.coming.contains(name))
                .collect()
        });
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let touches = match row.rights {
            None => "anything; it ships in nothing".to_owned(),
            Some(rights) => touches(rights),
        };
        let line = format!(
            "| `{}` | {} | {} | {touches} |\n",
            row.package,
            row.holds,
            or_dash(known.join(", "))
        );
        text.push_str(&line);
    }
    text.push_str("\n| outside crates | only in |\n|---|---|\n");
    for wall in tables.outside {
        let rooms = wall
            .rooms
            .iter()
            .map(|room| room.package)
            .filter(|name| !tables.coming.contains(name));
        let mut rooms: Vec<String> = rooms.map(|name| format!("`{name}`")).collect();
        if wall.tests == Tests::Anywhere {
            rooms.push("tests".to_owned());
        }
        text.push_str(&format!(
            "| `{}` and its family | {} |\n",
            wall.family,
            rooms.join(", ")
        ));
    }
    text
}

/// Names each part of the machine once, with the files it is kept to.
fn touches(rights: &[Right]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (index, right) in rights.iter().enumerate() {
        if rights[..index]
            .iter()
            .any(|earlier| earlier.touch == right.touch)
        {
            continue;
        }
        let same = rights
            .iter()
            .filter(|other| other.touch == right.touch && !other.room.is_empty());
        let rooms: Vec<String> = same.map(|other| format!("`{}`", other.room)).collect();
        parts.push(if rooms.is_empty() {
            right.touch.to_string()
        } else {
            format!("{} in {}", right.touch, rooms.join(", "))
        });
    }
    or_dash(parts.join("; "))
}

fn or_dash(text: String) -> String {
    if text.is_empty() {
        "–".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::touches::Touch;
    use super::super::tree::planted;
    use super::super::walls;
    use super::*;

    const TABLES: Tables = Tables {
        coming: &["later"],
        outside: &[walls::Wall {
            family: "engine",
            rooms: &[],
            tests: Tests::Anywhere,
        }],
        inside: &[walls::Row {
            package: "high",
            normal: &["low", "later"],
            build: &[],
            dev: &[],
        }],
        forbidden: &[],
    };

    const ROWS: &[Row] = &[
        Row {
            package: "high",
            holds: "things",
            rights: Some(&[
                Right {
                    touch: Touch::Files,
                    room: "a.rs",
                },
                Right {
                    touch: Touch::Clock,
                    room: "",
                },
                Right {
                    touch: Touch::Files,
                    room: "b/",
                },
            ]),
        },
        Row {
            package: "low",
            holds: "less",
            rights: Some(&[]),
        },
        Row {
            package: "kit",
            holds: "tests",
            rights: None,
        },
    ];

    #[test]
    fn a_table_that_differs_is_found_and_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(DOCUMENT);
        fs::write(&path, format!("before\n{BEGIN}old\n{END}after\n")).unwrap();
        let check = || tables_are_current(&Tree::read(dir.path()).unwrap(), &TABLES, ROWS);
        assert_eq!(check().len(), 1);
        write(dir.path(), &TABLES, ROWS).unwrap();
        assert!(check().is_empty());
        let text = fs::read_to_string(&path).unwrap();
        for line in [
            "before",
            "| `high` | things | `low` | files in `a.rs`, `b/`; the clock |",
            "| `low` | less | – | – |",
            "| `kit` | tests | – | anything; it ships in nothing |",
            "| `engine` and its family | tests |",
            "after",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }

    #[test]
    fn every_crate_of_ours_knows_only_those_above_it() {
        let order: Vec<&str> = super::super::touches::ROWS
            .iter()
            .map(|row| row.package)
            .collect();
        let place = |name: &str| order.iter().position(|other| *other == name);
        let tables = &walls::TABLES;
        for row in tables
            .inside
            .iter()
            .filter(|row| !tables.coming.contains(&row.package))
        {
            for known in row
                .normal
                .iter()
                .filter(|name| !tables.coming.contains(name))
            {
                assert!(
                    place(known) < place(row.package),
                    "{} knows {known}",
                    row.package
                );
            }
        }
    }

    #[test]
    fn a_document_without_the_marks_is_found() {
        let tree = planted(&[(DOCUMENT, "# A\n")]);
        assert!(
            tables_are_current(&tree, &TABLES, ROWS)[0]
                .text
                .contains("has no lines")
        );
    }
}
