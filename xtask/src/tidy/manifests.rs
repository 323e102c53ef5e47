//! Rules about `Cargo.toml`, `Cargo.lock` and `clippy.toml`.

use toml::{Table, Value};

use super::Finding;
use super::tree::{File, Tree};
use super::walls::Forbidden;

/// Versions stand in the root manifest alone; members say `workspace = true`. A manifest that is a
/// workspace of its own is no member.
pub(super) fn versions_only_at_the_root(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.named("/Cargo.toml") {
        let manifest = match parse(file) {
            Ok(manifest) => manifest,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        if manifest.contains_key("workspace") {
            continue;
        }
        for (name, dependency) in dependencies(&manifest) {
            let inherits = dependency.get("workspace").and_then(Value::as_bool) == Some(true);
            if !inherits {
                let text = format!("`{name}` must come from [workspace.dependencies]");
                findings.push(Finding::failure(&file.path, text));
            }
        }
    }
    if let Some(Ok(root)) = tree.file("Cargo.toml").map(parse) {
        findings.extend(root_defaults(&root));
    }
    findings
}

/// Outside crates name the features they need.
fn root_defaults(root: &Table) -> Vec<Finding> {
    let Some(Value::Table(all)) = root
        .get("workspace")
        .and_then(|all| all.get("dependencies"))
    else {
        return Vec::new();
    };
    all.iter()
        .filter(|(_, dependency)| dependency.get("path").is_none())
        .filter(|(_, dependency)| {
            dependency.get("default-features").and_then(Value::as_bool) != Some(false)
        })
        .map(|(name, _)| {
            Finding::failure(
                "Cargo.toml",
                format!("`{name}` needs default-features = false"),
            )
        })
        .collect()
}

/// Returns the dependencies of all sections, also of `[target.…]`.
fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    [manifest]
        .into_iter()
        .chain(tables)
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|section| table.get(section).and_then(Value::as_table))
        })
        .flatten()
        .collect()
}

/// What the table of forbidden crates names is used somewhere, or it forbids nothing.
pub(super) fn forbidden_names_are_known(tree: &Tree, forbidden: &[Forbidden]) -> Vec<Finding> {
    let root = match tree.file("Cargo.toml").map(parse) {
        Some(Ok(root)) => root,
        Some(Err(finding)) => return vec![finding],
        None => return vec![Finding::failure("Cargo.toml", "is missing")],
    };
    let known = root
        .get("workspace")
        .and_then(|all| all.get("dependencies"));
    forbidden
        .iter()
        .flat_map(|rule| rule.crates)
        .filter(|name| known.and_then(|known| known.get(name)).is_none())
        .map(|name| {
            let text = format!("`{name}` is forbidden and unknown to Cargo.toml; is it misspelt?");
            Finding::failure("xtask/src/tidy/walls.rs", text)
        })
        .collect()
}

/// Every dependency that the root offers is taken by a member.
pub(super) fn offers_are_taken(tree: &Tree) -> Vec<Finding> {
    let Some(Ok(root)) = tree.file("Cargo.toml").map(parse) else {
        return Vec::new();
    };
    let members: Vec<Table> = tree
        .named("/Cargo.toml")
        .filter_map(|file| parse(file).ok())
        .collect();
    let taken: Vec<&String> = members
        .iter()
        .flat_map(|member| dependencies(member))
        .map(|(name, _)| name)
        .collect();
    let offered = root
        .get("workspace")
        .and_then(|all| all.get("dependencies"))
        .and_then(Value::as_table);
    offered
        .into_iter()
        .flat_map(Table::keys)
        .filter(|name| !taken.contains(name))
        .map(|name| Finding::failure("Cargo.toml", format!("no member uses `{name}`")))
        .collect()
}

/// A nested `clippy.toml` replaces the root's, so it must repeat it.
pub(super) fn clippy_repeats_the_root(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = match tree.file("clippy.toml").map(parse) {
        Some(Ok(root)) => root,
        Some(Err(finding)) => return vec![finding],
        None => return vec![Finding::failure("clippy.toml", "is missing at the root")],
    };
    for file in tree
        .named("/clippy.toml")
        .chain(tree.named("/.clippy.toml"))
    {
        match parse(file) {
            Ok(nested) => findings.extend(
                root.iter()
                    .filter(|(key, value)| !repeats(nested.get(*key), value))
                    .map(|(key, value)| {
                        let text = format!("must repeat the root's `{key} = {value}`");
                        Finding::failure(&file.path, text)
                    }),
            ),
            Err(finding) => findings.push(finding),
        }
    }
    findings
}

fn repeats(nested: Option<&Value>, root: &Value) -> bool {
    match (nested, root) {
        (Some(Value::Array(nested)), Value::Array(root)) => {
            root.iter().all(|entry| nested.contains(entry))
        }
        (nested, root) => nested == Some(root),
    }
}

/// The lock file holds no more packages than the ceiling.
pub(super) fn lock_ceiling(tree: &Tree, ceiling: usize) -> Vec<Finding> {
    let Some(lock) = tree.file("Cargo.lock") else {
        return vec![Finding::failure("Cargo.lock", "is missing")];
    };
    let count = lock
        .text
        .lines()
        .filter(|line| *line == "[[package]]")
        .count();
    if count > ceiling {
        let text = format!("holds {count} packages; the ceiling in walls.rs is {ceiling}");
        return vec![Finding::failure("Cargo.lock", text)];
    }
    Vec::new()
}

fn parse(file: &File) -> Result<Table, Finding> {
    file.text
        .parse()
        .map_err(|error| Finding::failure(&file.path, format!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    fn texts(findings: Vec<Finding>) -> Vec<String> {
        findings
            .into_iter()
            .map(|found| format!("{}: {}", found.place, found.text))
            .collect()
    }

    #[test]
    fn a_version_in_a_member_is_found_in_every_section() {
        let tree = planted(&[
            (
                "Cargo.toml",
                "[workspace.dependencies]\ngood = { version = \"1\", default-features = false }",
            ),
            (
                "a/Cargo.toml",
                "[dependencies]\ngood.workspace = true\nbad = \"1\"",
            ),
            (
                "b/Cargo.toml",
                "[target.'cfg(unix)'.dev-dependencies]\nworse = { version = \"1\" }",
            ),
            ("c/Cargo.toml", "[workspace]\n[dependencies]\nown = \"1\""),
        ]);
        assert_eq!(
            texts(versions_only_at_the_root(&tree)),
            [
                "a/Cargo.toml: `bad` must come from [workspace.dependencies]",
                "b/Cargo.toml: `worse` must come from [workspace.dependencies]",
            ]
        );
    }

    #[test]
    fn default_features_are_found() {
        let tree = planted(&[(
            "Cargo.toml",
            "[workspace.dependencies]\nours = { path = \"x\" }\ntheirs = \"1\"",
        )]);
        assert_eq!(
            texts(versions_only_at_the_root(&tree)),
            ["Cargo.toml: `theirs` needs default-features = false"]
        );
    }

    #[test]
    fn a_dependency_that_no_member_takes_is_found() {
        let tree = planted(&[
            (
                "Cargo.toml",
                "[workspace.dependencies]\nused = \"1\"\nbuilt = \"1\"\nleft = \"1\"",
            ),
            (
                "a/Cargo.toml",
                "[dependencies]\nused.workspace = true\n[build-dependencies]\nbuilt.workspace = true",
            ),
        ]);
        assert_eq!(
            texts(offers_are_taken(&tree)),
            ["Cargo.toml: no member uses `left`"]
        );
    }

    #[test]
    fn a_misspelt_forbidden_crate_is_found() {
        let tree = planted(&[(
            "Cargo.toml",
            "[workspace.dependencies]\ntokio = { path = \"x\" }",
        )]);
        let rules = [Forbidden {
            package: "pure",
            crates: &["tokio", "tokoi"],
        }];
        let found = texts(forbidden_names_are_known(&tree, &rules));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`tokoi`"), "{found:?}");
    }

    #[test]
    fn a_nested_clippy_toml_that_forgets_the_root_is_found() {
        let root = "allow-unwrap-in-tests = true\ndisallowed-methods = [\"a\"]";
        let good = format!("{}\n", root.replace("[\"a\"]", "[\"b\", \"a\"]"));
        let tree = planted(&[
            ("clippy.toml", root),
            ("good/clippy.toml", &good),
            ("bad/clippy.toml", "disallowed-methods = [\"b\"]"),
        ]);
        let found = texts(clippy_repeats_the_root(&tree));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().all(|text| text.starts_with("bad/clippy.toml")),
            "{found:?}"
        );
    }

    #[test]
    fn a_lock_file_over_the_ceiling_is_found() {
        let tree = planted(&[(
            "Cargo.lock",
            "[[package]]\nname = \"a\"\n\n[[package]]\nname = \"b\"\n",
        )]);
        assert!(lock_ceiling(&tree, 2).is_empty());
        assert_eq!(
            texts(lock_ceiling(&tree, 1)),
            ["Cargo.lock: holds 2 packages; the ceiling in walls.rs is 1"]
        );
    }
}
