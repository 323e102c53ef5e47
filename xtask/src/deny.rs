//! `cargo xtask deny`: licences, sources and duplicates of what comes from outside, as `deny.toml` says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::{Run, is_installed};
use crate::report::{Ran, Steps, say};

pub(crate) const HELP: &str = "\
checks licences, sources and duplicates of the dependencies

Reads deny.toml and what cargo metadata says. Where cargo-deny is installed it
checks the same once more, and the advisories if their database can be fetched;
otherwise the end says that advisories were not checked.";

/// Where every dependency comes from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `deny.toml` that is checked here.
#[derive(Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    skip: Vec<Skip>,
}

#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    package: String,
    #[serde(default)]
    reason: String,
}

/// What cargo knows of all packages, ours and others.
#[derive(Deserialize)]
struct Packages {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Nothing for our own.
    source: Option<String>,
}

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    let result = steps.run_partly("deny", || check(root));
    steps.summary();
    result
}

/// Checks what can be checked here, and tells what was left out.
pub(crate) fn check(root: &Path) -> Result<Ran> {
    let text = fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
    let rules: Rules = toml::from_str(&text).context("cannot read deny.toml")?;
    let run = Run::cargo("metadata --format-version 1 --locked", root);
    let targets = rules.graph.targets.iter();
    let run = targets.fold(run, |run, target| run.args(["--filter-platform", target]));
    let all: Packages =
        serde_json::from_str(&run.stdout()?).context("cannot read what cargo metadata printed")?;
    let problems = [
        licences(&all, &rules.licenses.allow),
        sources(&all),
        duplicates(&all, &rules.bans.skip),
    ]
    .concat();
    for problem in &problems {
        say(&format!("error: {problem}"));
    }
    if !problems.is_empty() {
        bail!(
            "{} of the dependencies' rules are broken; see deny.toml",
            problems.len()
        );
    }
    with_cargo_deny(root)
}

fn with_cargo_deny(root: &Path) -> Result<Ran> {
    if !is_installed("cargo-deny", "--version") {
        return Ok(Ran::Partly(
            "cargo-deny is not installed, so advisories were not checked".to_owned(),
        ));
    }
    Run::cargo("deny check licenses bans sources", root).run()?;
    match Run::cargo("deny fetch db", root).output()?.status.success() {
        true => Run::cargo("deny check advisories", root)
            .run()
            .map(|()| Ran::Fully),
        false => Ok(Ran::Partly(
            "the database of advisories cannot be fetched, so they were not checked".to_owned(),
        )),
    }
}

/// Every package from outside has a licence that is allowed, and every allowed one is needed.
fn licences(all: &Packages, allowed: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut needed = BTreeSet::new();
    for package in all
        .packages
        .iter()
        .filter(|package| package.source.is_some())
    {
        let expression = package.license.as_deref().unwrap_or_default();
        match chosen(expression, allowed) {
            Some(licences) => needed.extend(licences),
            None => problems.push(format!(
                "{} {} has the licence `{expression}`",
                package.name, package.version
            )),
        }
    }
    let unneeded = allowed.iter().filter(|licence| !needed.contains(*licence));
    problems.extend(unneeded.map(|licence| format!("no package needs the licence `{licence}`")));
    problems
}

/// Returns the allowed licences that satisfy an SPDX expression, if any do. Older packages write `/` for `OR`.
fn chosen(expression: &str, allowed: &[String]) -> Option<BTreeSet<String>> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let found = either(&mut words, allowed);
    // What is left over makes it no expression.
    found.filter(|_| words.next().is_none())
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

/// `a OR b`: of all that are allowed, those of the first are not more welcome than the others'.
fn either(words: &mut Words<'_>, allowed: &[String]) -> Option<BTreeSet<String>> {
    let mut found = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        let other = both(words, allowed);
        found = match (found, other) {
            (Some(one), Some(other)) => Some(one.into_iter().chain(other).collect()),
            (one, other) => one.or(other),
        };
    }
    found
}

/// `a AND b`.
fn both(words: &mut Words<'_>, allowed: &[String]) -> Option<BTreeSet<String>> {
    let mut found = single(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        let other = single(words, allowed);
        found = found
            .zip(other)
            .map(|(one, other)| one.into_iter().chain(other).collect());
    }
    found
}

/// A licence, one `WITH` an exception, or an expression in parentheses.
fn single(words: &mut Words<'_>, allowed: &[String]) -> Option<BTreeSet<String>> {
    let first = words.next()?;
    if first == "(" {
        let inner = either(words, allowed);
        return inner.filter(|_| words.next() == Some(")"));
    }
    let licence = match words.next_if_eq(&"WITH") {
        Some(_) => format!("{first} WITH {}", words.next()?),
        None => first.to_owned(),
    };
    allowed
        .contains(&licence)
        .then(|| BTreeSet::from([licence]))
}

/// Everything from outside comes from crates.io.
fn sources(all: &Packages) -> Vec<String> {
    let foreign = all.packages.iter().filter_map(|package| {
        let source = package
            .source
            .as_deref()
            .filter(|source| *source != CRATES_IO)?;
        Some(format!(
            "{} {} comes from {source}",
            package.name, package.version
        ))
    });
    foreign.collect()
}

/// A package has one version; each further one stands in `deny.toml` with a reason.
fn duplicates(all: &Packages, skipped: &[Skip]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &all.packages {
        versions
            .entry(&package.name)
            .or_default()
            .push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut problems = Vec::new();
    let is_skipped = |name: &str, version: &str| {
        skipped
            .iter()
            .any(|skip| skip.package == format!("{name}@{version}"))
    };
    for (name, versions) in &versions {
        let left: Vec<&&str> = versions
            .iter()
            .filter(|version| !is_skipped(name, version))
            .collect();
        if left.len() != 1 {
            problems.push(format!(
                "{name} has the versions {}; all but one need a line with a reason",
                versions.join(", ")
            ));
        }
    }
    for Skip { package, reason } in skipped {
        let needed = package.split_once('@').is_some_and(|(name, version)| {
            versions.get(name).is_some_and(|all| all.contains(&version))
        });
        if !needed {
            problems.push(format!(
                "`{package}` is no duplicate any more; take its line away"
            ));
        }
        if reason.is_empty() {
            problems.push(format!(
                "`{package}` may be a duplicate and does not say why"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, license: &str, source: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: Some(license.to_owned()).filter(|license| !license.is_empty()),
            source: source.map(str::to_owned),
        }
    }

    fn allowed() -> Vec<String> {
        ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn expressions_of_licences_mean_what_they_say() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/GPL-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "(GPL-3.0 OR ISC) AND MIT",
        ] {
            assert!(chosen(good, &allowed()).is_some(), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Apache-2.0",
            "(MIT",
            "MIT)",
            "MIT ISC",
            "MIT AND (GPL-3.0 OR X)",
        ] {
            let found = chosen(bad, &allowed());
            assert!(found.is_none(), "{bad}");
        }
    }

    #[test]
    fn a_licence_that_is_not_allowed_or_not_needed_is_found() {
        let all = Packages {
            packages: vec![
                package("fine", "1.0.0", "MIT OR ISC", Some(CRATES_IO)),
                package("viral", "1.0.0", "AGPL-3.0", Some(CRATES_IO)),
                package("silent", "1.0.0", "", Some(CRATES_IO)),
                package("ours", "1.0.0", "whatever", None),
            ],
        };
        assert_eq!(
            licences(&all, &allowed()),
            [
                "viral 1.0.0 has the licence `AGPL-3.0`",
                "silent 1.0.0 has the licence ``",
                "no package needs the licence `Apache-2.0 WITH LLVM-exception`",
            ]
        );
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let all = Packages {
            packages: vec![
                package("fine", "1.0.0", "MIT", Some(CRATES_IO)),
                package("ours", "1.0.0", "MIT", None),
                package(
                    "forked",
                    "1.0.0",
                    "MIT",
                    Some("git+https://example.com/forked"),
                ),
            ],
        };
        assert_eq!(
            sources(&all),
            ["forked 1.0.0 comes from git+https://example.com/forked"]
        );
    }

    #[test]
    fn a_duplicate_without_a_reason_and_a_reason_without_a_duplicate_are_found() {
        let skip = |package: &str, reason: &str| Skip {
            package: package.to_owned(),
            reason: reason.to_owned(),
        };
        let all = Packages {
            packages: ["1.0.0", "2.0.0", "3.0.0"]
                .into_iter()
                .flat_map(|version| {
                    [
                        package("known", version, "", None),
                        package("new", version, "", None),
                    ]
                })
                .collect(),
        };
        let skipped = [
            skip("known@1.0.0", "old"),
            skip("known@2.0.0", ""),
            skip("gone@1.0.0", "x"),
            skip("new@1.0.0", "x"),
        ];
        assert_eq!(
            duplicates(&all, &skipped),
            [
                "new has the versions 1.0.0, 2.0.0, 3.0.0; all but one need a line with a reason",
                "`known@2.0.0` may be a duplicate and does not say why",
                "`gone@1.0.0` is no duplicate any more; take its line away",
            ]
        );
    }
}
