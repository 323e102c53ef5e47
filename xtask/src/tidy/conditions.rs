//! How often a feature is asked for: what it brings hides behind one trait, and few places choose.

use super::Finding;
use super::tree::Tree;

/// Refuses more conditions on a feature than its ceiling, in the sources and tests of the crates.
pub(super) fn ceilings(tree: &Tree, ceilings: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (feature, ceiling) in ceilings {
        let condition = format!("feature = \"{feature}\"");
        let places: Vec<String> = tree
            .rust()
            .filter(|file| file.path.starts_with("crates/"))
            .flat_map(|file| {
                let lines = file.text.lines().enumerate();
                let found = lines.filter(|(_, line)| line.contains(&condition));
                found.map(|(number, _)| format!("{}:{}", file.path, number + 1))
            })
            .collect();
        if places.len() > *ceiling {
            let text = format!(
                "is asked for at {} places, at most {ceiling} are allowed: {}",
                places.len(),
                places.join(", ")
            );
            findings.push(Finding::failure(format!("feature `{feature}`"), text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::planted;
    use super::*;

    #[test]
    fn more_conditions_than_the_ceiling_are_refused_with_their_places() {
        let twice =
            "//! A.\n#[cfg(feature = \"x\")]\nmod a;\n#[cfg(not(feature = \"x\"))]\nmod b;\n";
        let tree = planted(&[
            ("crates/a/src/lib.rs", twice),
            ("crates/a/tests/it.rs", "#![cfg(feature = \"x\")]\n"),
            ("crates/a/src/other.rs", "#[cfg(feature = \"xy\")]\n"),
            ("xtask/src/main.rs", "#[cfg(feature = \"x\")]\n"),
        ]);
        assert!(ceilings(&tree, &[("x", 3)]).is_empty());
        let found = ceilings(&tree, &[("x", 2), ("xy", 1)]);
        let text = "is asked for at 3 places, at most 2 are allowed: crates/a/src/lib.rs:2, \
                    crates/a/src/lib.rs:4, crates/a/tests/it.rs:1";
        let [found] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (found.place.as_str(), found.text.as_str()),
            ("feature `x`", text)
        );
    }
}
