//! `cargo xtask tidy`: the rules that no compiler lint can hold. Each is a function from a tree to findings.

mod architecture;
mod code;
mod conditions;
mod crates;
mod documents;
mod errors;
mod generated;
mod ground;
mod manifests;
mod modules;
mod offers;
mod rust;
mod tokens;
mod touch;
mod touches;
mod tree;
mod unused;
mod uses;
mod walls;

use std::path::Path;

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::report::{data, say};
use tree::Tree;

pub(crate) const HELP: &str = "\
checks the walls between crates and the rules for files

Reads cargo metadata and all text files; needs no build. Who may know whom is
in xtask/src/tidy/walls.rs, what a crate may touch of the machine in
xtask/src/tidy/touches.rs.

  --write    writes the tables of ARCHITECTURE.md anew
  --offers   prints how many public items each library has, and checks nothing";

/// Something that breaks a rule, or is about to.
#[derive(Debug)]
struct Finding {
    severity: Severity,
    /// The file or crate.
    place: String,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Failure,
    Warning,
}

impl Finding {
    fn failure(place: impl ToString, text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Failure,
            place: place.to_string(),
            text: text.into(),
        }
    }

    fn warning(place: impl ToString, text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            place: place.to_string(),
            text: text.into(),
        }
    }
}

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        [] => {}
        ["--write"] => generated::write(root, &walls::TABLES, touches::ROWS)?,
        ["--offers"] => return print_offers(root),
        [other, ..] => bail!("unknown option `{other}`; try: cargo xtask tidy --help"),
    }
    let findings = check(root)?;
    let failures = findings
        .iter()
        .filter(|found| found.severity == Severity::Failure)
        .count();
    for Finding {
        severity,
        place,
        text,
    } in &findings
    {
        let label = if *severity == Severity::Failure {
            "error"
        } else {
            "warning"
        };
        say(&format!("{label}: {place}: {text}"));
    }
    match failures {
        0 => Ok(()),
        1 => bail!("tidy found 1 broken rule"),
        count => bail!("tidy found {count} broken rules"),
    }
}

fn print_offers(root: &Path) -> Result<()> {
    let counts = offers::counts(&Tree::read(root)?, root, &Metadata::read(root)?);
    for (name, count) in counts {
        data(&format!("{count:>5} {name}"));
    }
    Ok(())
}

fn check(root: &Path) -> Result<Vec<Finding>> {
    let metadata = Metadata::read(root)?;
    let tree = Tree::read(root)?;
    let mut findings = Vec::new();
    findings.extend(crates::names_exist(&metadata, &walls::TABLES));
    findings.extend(crates::outside_walls(&metadata, &walls::TABLES));
    findings.extend(crates::inside_walls(&metadata, &walls::TABLES));
    findings.extend(crates::forbidden(&metadata, &walls::TABLES));
    findings.extend(unused::edges(&metadata, &walls::TABLES));
    findings.extend(unused::dependencies(
        &tree,
        root,
        &metadata,
        walls::FOR_FEATURES,
    ));
    findings.extend(manifests::versions_only_at_the_root(&tree));
    findings.extend(manifests::offers_are_taken(&tree));
    findings.extend(manifests::forbidden_names_are_known(
        &tree,
        walls::TABLES.forbidden,
    ));
    findings.extend(manifests::clippy_repeats_the_root(&tree));
    findings.extend(manifests::lock_ceiling(&tree, walls::LOCK_CEILING));
    findings.extend(touch::within_rows(&tree, root, &metadata, touches::ROWS));
    findings.extend(rust::no_std(&tree, walls::NO_STD));
    findings.extend(rust::one_ambient_authority(&tree, root, &metadata));
    findings.extend(rust::unsafe_only_where_audited(&tree, walls::UNSAFE));
    findings.extend(conditions::ceilings(&tree, walls::CONDITIONS));
    findings.extend(rust::sizes(&tree));
    findings.extend(rust::headers(&tree));
    findings.extend(rust::banned_words(&tree));
    findings.extend(ground::one_table_of_hidden_characters(&tree));
    findings.extend(ground::one_way_to_write_files(&tree, walls::WHOLE_FILES));
    let counts = offers::counts(&tree, root, &metadata);
    findings.extend(offers::within_ceilings(&counts, offers::CEILINGS));
    findings.extend(offers::are_used(&tree, root, &metadata, offers::UNCHECKED));
    findings.extend(errors::are_typed(&tree, errors::TEXTS));
    findings.extend(architecture::files_exist(&tree));
    findings.extend(architecture::tests_exist(&tree));
    findings.extend(generated::tables_are_current(
        &tree,
        &walls::TABLES,
        touches::ROWS,
    ));
    findings.extend(documents::machine_paths(&tree, root));
    findings.extend(documents::links(&tree, root));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_is_readable_and_rules_find_places_in_it() {
        // That it is tidy is for `cargo xtask tidy` to say; here: the rules run on the real thing.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let findings = check(root).unwrap();
        assert!(
            findings
                .iter()
                .all(|found| !found.place.is_empty() && !found.text.is_empty())
        );
    }
}
