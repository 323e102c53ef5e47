//! `ARCHITECTURE.md` names files that are there and tests that exist. Its tables are made elsewhere.

use super::Finding;
use super::tree::Tree;

const DOCUMENT: &str = "ARCHITECTURE.md";
/// The part whose every point names a test.
const INVARIANTS: &str = "## Invariants";
/// What a name ends with that is a file's.
const ENDINGS: &[&str] = &[".rs", ".md", ".wit", ".toml", "/"];
/// How many lines may stand between `#[test]` and `fn`.
const ATTRIBUTES: usize = 6;

/// Every file and directory that the document names exists.
pub(super) fn files_exist(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.file(DOCUMENT) else {
        return vec![Finding::failure(DOCUMENT, "is missing")];
    };
    let mut findings = Vec::new();
    let mut in_fence = false;
    let mut in_tables = false;
    for (number, line) in (1..).zip(document.text.lines()) {
        if line.starts_with("```") {
            in_fence = !in_fence;
        }
        in_tables =
            (in_tables || line.starts_with("<!-- walls:")) && line != "<!-- end of walls -->";
        if in_tables {
            continue;
        }
        let words: Vec<&str> = if in_fence {
            line.split_whitespace().collect()
        } else {
            spans(line)
        };
        // Names without a path lie beside the last one with a path in the same line, or above it.
        let mut beside = None;
        for name in words
            .into_iter()
            .filter(|word| is_file_name(word))
            .flat_map(expand)
        {
            let found = match full(&name) {
                Some(path) => {
                    let found = exists(tree, &path);
                    beside = path.rsplit_once('/').map(|(dir, _)| dir.to_owned());
                    found
                }
                None => match &beside {
                    Some(dir) => ancestors(dir).any(|dir| exists(tree, &format!("{dir}/{name}"))),
                    None => tree
                        .files
                        .iter()
                        .any(|file| file.path.ends_with(&format!("/{name}"))),
                },
            };
            if !found {
                findings.push(Finding::failure(
                    format!("{DOCUMENT}:{number}"),
                    format!("there is no file `{name}`"),
                ));
            }
        }
    }
    findings
}

/// Every test that the invariants name exists, and every invariant names one, or how it is checked.
pub(super) fn tests_exist(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.file(DOCUMENT) else {
        return vec![Finding::failure(DOCUMENT, "is missing")];
    };
    let Some((before, invariants)) = document.text.split_once(INVARIANTS) else {
        return vec![Finding::failure(
            DOCUMENT,
            format!("has no part `{INVARIANTS}`"),
        )];
    };
    let mut findings = Vec::new();
    let mut point = 0;
    let mut is_proven = true;
    for (number, line) in (before.lines().count() + 1..).zip(invariants.lines()) {
        let starts = line
            .split_once(". ")
            .and_then(|(start, _)| start.parse::<usize>().ok());
        let ends = starts.is_some() || line.starts_with("## ");
        if ends && !is_proven {
            findings.push(Finding::failure(
                DOCUMENT,
                format!("invariant {point} names no test"),
            ));
        }
        if line.starts_with("## ") {
            is_proven = true;
            break;
        }
        if let Some(next) = starts {
            (point, is_proven) = (next, false);
        }
        for name in spans(line) {
            is_proven |= is_test_name(name) || is_file_name(name) || name.starts_with("cargo ");
            if is_test_name(name) && !is_test(tree, name) {
                findings.push(Finding::failure(
                    format!("{DOCUMENT}:{number}"),
                    format!("there is no test `{name}`"),
                ));
            }
        }
    }
    if !is_proven {
        findings.push(Finding::failure(
            DOCUMENT,
            format!("invariant {point} names no test"),
        ));
    }
    findings
}

/// Returns what a line says between backticks.
fn spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

fn is_file_name(word: &str) -> bool {
    let word = word.trim_end_matches(',');
    let is_plain = !word.contains([' ', ':', '"']) && !word.starts_with('/');
    let is_path = word.contains('/')
        && word
            .split('/')
            .next()
            .is_some_and(|first| first.starts_with("jp_") || first == "crates");
    is_plain && (is_path || (word.len() > 1 && ENDINGS.iter().any(|end| word.ends_with(end))))
}

/// Returns the names that `a/{b,c}.rs` stands for.
fn expand(word: &str) -> Vec<String> {
    let word = word.trim_end_matches(',');
    match (word.split_once('{'), word.split_once('}')) {
        (Some((before, _)), Some((head, after))) => {
            let choices = head.rsplit('{').next().unwrap_or_default();
            choices
                .split(',')
                .map(|choice| format!("{before}{choice}{after}"))
                .collect()
        }
        _ => vec![word.to_owned()],
    }
}

/// Returns the path from the root, if the name has one.
fn full(name: &str) -> Option<String> {
    let first = name.split_once('/')?.0;
    match first {
        "crates" | "xtask" | "docs" | "benches" | "schemas" => Some(name.to_owned()),
        first if first.starts_with("jp_") => Some(format!("crates/{name}")),
        _ => None,
    }
}

/// Returns whether a file, a directory or something that fits `*` exists.
fn exists(tree: &Tree, path: &str) -> bool {
    let dir = format!("{}/", path.trim_end_matches('/'));
    tree.files.iter().any(|file| match path.split_once('*') {
        Some((start, end)) => file.path.starts_with(start) && file.path.ends_with(end),
        None => file.path == path || file.path.starts_with(&dir),
    })
}

/// Returns a directory and those above it, up to `src`.
fn ancestors(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |dir| {
        dir.rsplit_once('/').map(|(above, _)| above)
    })
    .take_while(|dir| dir.contains("/src"))
}

/// Tests are sentences: words in lower case with underscores between them.
fn is_test_name(word: &str) -> bool {
    let is_plain = word
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_plain && word.matches('_').count() > 1 && !word.starts_with("jp_")
}

fn is_test(tree: &Tree, name: &str) -> bool {
    let declared = format!("fn {name}(");
    tree.rust()
        .filter(|file| file.text.contains(&declared))
        .any(|file| {
            let lines: Vec<&str> = file.code().lines().collect();
            let mut places = lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.contains(&declared));
            places.any(|(at, _)| {
                let above = &lines[at.saturating_sub(ATTRIBUTES)..at];
                let own = above
                    .iter()
                    .rev()
                    .take_while(|line| !line.starts_with('}') && !line.contains("fn "));
                own.into_iter()
                    .any(|line| line.contains("test]") || line.contains("test("))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings
            .iter()
            .map(|found| format!("{}: {}", found.place, found.text))
            .collect()
    }

    #[test]
    fn a_file_that_is_gone_is_found() {
        let document = "\
# A
| x | `crates/jp_a/src/one.rs`, then `two.rs`, `gone.rs`, `sub/` |
| y | `crates/jp_a/src/sub/three.rs`, `one.rs`; `jp_a/src/lost` |
`one.rs` alone, `never.rs`, `jp_a::one`, `/tmp`, `cargo a/b c`
<!-- walls: x -->
`not_judged.rs`
<!-- end of walls -->
```text
 ─▶ jp_a/src/{one,four}.rs, jp_a/src/*.rs  jp_a/lib/*.rs
```
";
        let tree = planted(&[
            (DOCUMENT, document),
            ("crates/jp_a/src/one.rs", ""),
            ("crates/jp_a/src/two.rs", ""),
            ("crates/jp_a/src/sub/three.rs", ""),
        ]);
        assert_eq!(
            texts(&files_exist(&tree)),
            [
                "ARCHITECTURE.md:2: there is no file `gone.rs`",
                "ARCHITECTURE.md:3: there is no file `jp_a/src/lost`",
                "ARCHITECTURE.md:4: there is no file `never.rs`",
                "ARCHITECTURE.md:9: there is no file `jp_a/src/four.rs`",
                "ARCHITECTURE.md:9: there is no file `jp_a/lib/*.rs`",
            ]
        );
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        let document = "\
# A
`not_in_the_invariants`
## Invariants
Each names a test.
1. One: `this_one_exists` and
   `this_one_is_gone` (jp_a).
2. Two: `no_test_at_all`.
3. Three.
4. Four: `cargo xtask tidy`, `jp_a/src/a.rs`.
5. Five: `asynchronous_ones_count`
";
        let code = "//! A.\n#[test]\nfn this_one_exists() {}\n\nfn no_test_at_all() {}\n\
                    #[tokio::test(flavor = \"x\")]\n#[cfg(unix)]\nasync fn asynchronous_ones_count() {}\n\
                    // fn this_one_is_gone() {}\n";
        let tree = planted(&[(DOCUMENT, document), ("crates/jp_a/src/a.rs", code)]);
        assert_eq!(
            texts(&tests_exist(&tree)),
            [
                "ARCHITECTURE.md:6: there is no test `this_one_is_gone`",
                "ARCHITECTURE.md:7: there is no test `no_test_at_all`",
                "ARCHITECTURE.md: invariant 3 names no test",
            ]
        );
    }
}
